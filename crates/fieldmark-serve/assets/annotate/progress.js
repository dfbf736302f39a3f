// What was gained so far, and what more answers may bring.
import { get } from "./api.js";
import { fill, h } from "./dom.js";
import { learningCurve } from "./plot.js";
import { colourOf, state, watch } from "./state.js";
import { count, score, seconds } from "./words.js";

export class ProgressView {
  title = "Progress";

  enter() {
    this.body = h("div");
    this.element = h("section", { class: "narrow" }, h("h2", { class: "view" }, "Progress"), this.body);
    const unwatch = watch((what) => ["model", "turned"].includes(what) && this.#load());
    // A phone that is turned has room for another drawing.
    const narrow = window.matchMedia("(max-width: 640px)");
    const again = () => this.#load();
    narrow.addEventListener("change", again);
    this.unwatch = () => {
      unwatch();
      narrow.removeEventListener("change", again);
    };
    this.#load();
  }

  leave() {
    this.unwatch();
  }

  commands() {
    return [];
  }

  async #load() {
    try {
      this.#draw(await get("/api/progress"));
    } catch (error) {
      fill(this.body, h("p", { role: "alert" }, `Progress cannot be shown: ${error.message}.`));
    }
  }

  #draw({ curve, held_out, types, weak, next, seconds: times = [] }) {
    const { progress = {}, model = {} } = state.project;
    const figure = (name, value, note) => h("div", {}, h("dt", {}, name), h("dd", {}, value), note && h("dd", { class: "aside" }, note));
    const early = times.length > 1 ? `${seconds(times[0].seconds)} at first` : null;
    fill(
      this.body,
      h(
        "dl",
        { class: "figures" },
        figure("Answers", (progress.answers ?? 0).toLocaleString("en")),
        figure("Labelled tokens", (progress.labelled_tokens ?? 0).toLocaleString("en"), `of ${(state.project.tokens ?? 0).toLocaleString("en")}`),
        figure("Time per answer", progress.seconds_per_answer ? seconds(progress.seconds_per_answer) : "–", early),
        figure("Model", model.version ? `${model.version}` : "none yet", model.version ? `trained in ${seconds(model.seconds)}` : null),
      ),
      model.problem && h("p", { class: "card", role: "alert" }, `There is no newer model: ${model.problem}`),
      h("section", { class: "card" }, h("h3", {}, "Learning curve"), this.#curve(curve, held_out, next)),
      h("section", { class: "card" }, h("h3", {}, "By type"), this.#types(types, weak)),
    );
  }

  #curve(curve, heldOut, next) {
    if (!curve.length) {
      const words = heldOut.sentences
        ? "A point is added with each new model; the first model comes after some answers."
        : "Now and then a whole sentence is asked: it is held out to measure the model. There is none yet.";
      return h("p", { class: "soft" }, words);
    }
    const last = curve.at(-1);
    const pick = (name) => curve.filter((point) => Number.isFinite(point[name])).map((point) => [point.answers, point[name]]);
    const series = [
      { name: "token F1", colour: "c3", points: pick("token_f1") },
      { name: "span F1", colour: "c5", points: pick("span_f1") },
    ];
    const guess = next && Array.isArray(next.token_f1) ? { from: [last.answers, last.token_f1], x: last.answers + next.answers, low: next.token_f1[0], mid: next.token_f1[1], high: next.token_f1[2] } : null;
    return [
      h("p", { class: "soft" }, `Scores on ${count(heldOut.sentences, "sentence")} (${count(heldOut.tokens, "token")}) of ${heldOut.of ?? heldOut.sentences} that are held out: the model does not learn from them.`),
      learningCurve(`Token F1 ${score(last.token_f1)} and span F1 ${score(last.span_f1)} after ${count(last.answers, "answer")}`, "Answers", series, guess),
      h("p", { class: "gain" }, this.#gain(curve, next)),
    ];
  }

  #gain(curve, next) {
    const last = curve.at(-1);
    const first = curve[0];
    const now = `Token F1 is ${score(last.token_f1)}`;
    const since = curve.length > 1 ? `, ${score(first.token_f1)} at first` : "";
    if (!next) return `${now}${since}. A few more points are needed to guess what the next answers bring.`;
    const [low, mid, high] = next.token_f1;
    return `${now}${since}. The next ${next.answers} answers may bring it to about ${score(mid)} (${score(low)} to ${score(high)}).`;
  }

  #types(types, weak) {
    if (!types.length) return h("p", { class: "soft" }, "No type was labelled yet.");
    const cell = (value) => {
      const made = h("td", { class: "number bar" }, score(value));
      made.style.setProperty("--share", Number.isFinite(value) ? value.toFixed(3) : "0");
      return made;
    };
    return h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores by type" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Type", "Labelled", "Precision", "Recall", "F1"].map((name, at) => h("th", { scope: "col", class: at ? "number" : "" }, name)))),
        h(
          "tbody",
          {},
          types.map((type) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, h("span", { class: `kind ${colourOf(type.name)}`, dir: "auto" }, type.name), weak.includes(type.name) && h("span", { class: "chip warn" }, "weak")),
              h("td", { class: "number" }, type.labelled.toLocaleString("en")),
              cell(type.precision),
              cell(type.recall),
              cell(type.f1),
            ),
          ),
        ),
      ),
    );
  }
}
