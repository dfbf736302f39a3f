// A learning curve, drawn by hand as SVG: values in percent over the number of labels.
import { h, svg } from "./dom.js";

// Letters do not grow with the drawing, so that on a phone it has fewer points across.
const narrow = () => window.innerWidth < 640;
const HEIGHT = 300;
const LEFT = 46;
const RIGHT = 14;
const TOP = 12;
const FOOT = 44;

// Round numbers for an axis: about `wanted` of them from `low` to `high`.
export function ticks(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const all = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at++) all.push(at * step + 0);
  return all;
}

// `series` are { name, colour, points: [[x, share]] }; `next` is { from: [x, share], x, low, mid, high } or null.
export function learningCurve(title, xTitle, series, next) {
  const xs = series.flatMap(({ points }) => points.map(([x]) => x)).concat(next ? [next.x] : []);
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y)).concat(next ? [next.low, next.high] : []);
  const right = Math.max(1, ...xs);
  const low = Math.max(0, Math.floor(Math.min(...ys, 1) * 10 - 0.5) / 10);
  const high = Math.min(1, Math.ceil(Math.max(...ys, 0) * 10 + 0.2) / 10);
  const width = narrow() ? 350 : 560;
  const x = (value) => LEFT + (value / right) * (width - LEFT - RIGHT);
  const y = (value) => TOP + ((high - value) / (high - low || 1)) * (HEIGHT - TOP - FOOT);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": title });
  drawing.append(axes({ x, y, width, right, low, high, xTitle }));
  if (next) drawing.append(outlook(next, x, y));
  for (const { colour, points } of series) drawing.append(curve(colour, points, x, y));
  const legend = series.map(({ name, colour }) => h("li", {}, h("span", { class: `sample ${colour}`, "aria-hidden": "true" }), name));
  if (next) legend.push(h("li", {}, h("span", { class: "sample guess c3", "aria-hidden": "true" }), "what may come"));
  return h("figure", { class: "plot" }, drawing, h("figcaption", {}, h("ul", {}, legend)));
}

function axes({ x, y, width, right, low, high, xTitle }) {
  const group = svg("g", { class: "axes" });
  const text = (at, words) => {
    const element = svg("text", at);
    element.textContent = words;
    group.append(element);
  };
  for (const value of ticks(low, high, 5)) {
    group.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
    text({ class: "left", x: LEFT - 8, y: y(value) + 4 }, `${Math.round(value * 100)}`);
  }
  for (const value of ticks(0, right, 5).filter(Number.isInteger)) text({ x: x(value), y: HEIGHT - FOOT + 18 }, value.toLocaleString("en"));
  text({ class: "title", x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6 }, xTitle);
  return group;
}

function curve(colour, points, x, y) {
  const group = svg("g", { class: `series ${colour}` });
  if (points.length > 1) group.append(svg("polyline", { points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }));
  // Many points would hide the line.
  const shown = points.length <= 40 ? points : points.slice(-1);
  for (const [a, b] of shown) {
    const title = svg("title");
    title.textContent = `${a.toLocaleString("en")}: ${(b * 100).toFixed(1)}`;
    group.append(svg("circle", { cx: x(a), cy: y(b), r: 4 }, title));
  }
  return group;
}

function outlook({ from, x: at, low, mid, high }, x, y) {
  const [x0, y0] = [x(from[0]), y(from[1])];
  const group = svg("g", { class: "series guess c3" });
  group.append(
    svg("polygon", { class: "band", points: `${x0},${y0} ${x(at)},${y(high)} ${x(at)},${y(low)}` }),
    svg("polyline", { points: `${x0},${y0} ${x(at)},${y(mid)}` }),
  );
  return group;
}
