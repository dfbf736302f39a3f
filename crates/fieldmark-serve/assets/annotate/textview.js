// A text with marks, and a range of its tokens that is chosen by mouse, touch or keyboard. Selections snap to tokens;
// tokens are the server's, in UTF-16 units, so that offsets are never counted here.
import { h } from "./dom.js";
import { colourOf } from "./state.js";
import { percent } from "./words.js";

const AT_ONCE = 150;

// Controls that would be invisible, or would move what stands around them, in one character each.
const visible = (text) =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/gu, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));

export class TextView {
  // `onselect(range)` is called when the reader has chosen another range.
  constructor({ label, onselect = () => {}, tags = true }) {
    this.onselect = onselect;
    this.tags = tags;
    this.parts = [];
    this.range = null;
    this.anchor = null;
    this.element = h("div", {
      class: "text",
      dir: "auto",
      tabindex: "0",
      role: "application",
      "aria-label": label,
      onclick: (event) => this.#click(event),
    });
    this.#followPointer();
  }

  // Shows parts of a text: { text, tokens, start, spans, outside, gap }. `gap` is the text before a part.
  show(parts) {
    this.parts = parts;
    this.elements = new Map();
    this.range = null;
    this.anchor = null;
    this.element.replaceChildren();
    this.#append(0);
  }

  #append(from) {
    const parts = this.parts;
    const until = Math.min(from + AT_ONCE, parts.length);
    for (let index = from; index < until; index++) {
      const part = parts[index];
      if (part.gap) this.element.append(visible(part.gap));
      part.element = h("span", { class: "part" });
      this.#draw(part);
      this.element.append(part.element);
    }
    if (until < parts.length) setTimeout(() => this.parts === parts && this.#append(until), 0);
    this.#drawRange();
  }

  partAt(token) {
    return this.parts.find((part) => part.start <= token && token < part.start + part.tokens.length) ?? null;
  }

  // Draws new marks for the part that begins with a token.
  mark(start, { spans, outside = new Set() }) {
    const part = this.parts.find((part) => part.start === start);
    if (!part) return;
    part.spans = spans;
    part.outside = outside;
    // What looks the same stays as it is: drawing it again would end a selection that somebody is making.
    if (part.element && part.looks !== looksOf(part)) this.#draw(part);
    this.#drawRange();
  }

  get spans() {
    return this.parts.flatMap((part) => part.spans);
  }

  spanAt(token) {
    return this.partAt(token)?.spans.find((span) => span.start <= token && token < span.end) ?? null;
  }

  get first() {
    return this.parts.length ? this.parts[0].start : 0;
  }

  get last() {
    const part = this.parts.at(-1);
    return part ? part.start + part.tokens.length - 1 : -1;
  }

  textOf({ start, end }) {
    let text = "";
    for (const part of this.parts) {
      const from = Math.max(start, part.start) - part.start;
      const to = Math.min(end, part.start + part.tokens.length) - part.start;
      if (from >= to) continue;
      if (text) text += part.gap ?? "";
      text += part.text.slice(part.tokens[from][0], part.tokens[to - 1][1]);
    }
    return text;
  }

  #draw(part) {
    const { text, tokens, start } = part;
    const borders = wholeGraphemes(text, tokens);
    part.looks = looksOf(part);
    part.element.replaceChildren();
    let at = 0;
    let inside = null;
    let spans = part.spans.values();
    let span = spans.next().value;
    for (let index = 0; index < tokens.length; index++) {
      const token = start + index;
      const [from, to] = borders[index];
      const gap = text.slice(at, from);
      while (span && !inside && span.end <= token) span = spans.next().value;
      if (gap) (inside ?? part.element).append(h("span", { class: "gap", "data-after": token - 1 }, visible(gap)));
      if (!inside && span && span.start <= token) {
        inside = this.#mark(span);
        part.element.append(inside);
      }
      const element = h("span", { class: this.#tokenClass(part, token), "data-token": token }, visible(text.slice(from, to)));
      this.elements.set(token, element);
      (inside ?? part.element).append(element);
      at = to;
      if (inside && span.end === token + 1) {
        if (this.tags) inside.append(this.#tag(span));
        inside = null;
        span = spans.next().value;
      }
    }
    part.element.append(visible(text.slice(at)));
  }

  #tokenClass(part, token) {
    const names = ["token"];
    if (part.outside?.has(token)) names.push("outside");
    if (part.noted?.has(token)) names.push("noted");
    return names.join(" ");
  }

  #mark(span) {
    const names = [colourOf(span.type), span.how];
    if (span.open) names.push("open");
    if (span.how === "suggested" && span.probability < 0.5) names.push("doubt");
    const mark = h("mark", { class: names.join(" ") });
    if (Number.isFinite(span.probability)) mark.style.setProperty("--sure", span.probability.toFixed(3));
    return mark;
  }

  #tag(span) {
    const tag = h("span", { class: "tag" }, h("bdi", {}, span.type));
    if (span.how === "suggested") tag.append(h("span", { class: "sure" }, ` ${percent(span.probability)}`));
    return tag;
  }

  // The range.

  select(start, end, { anchor = start, quiet = false, scroll = true } = {}) {
    this.range = { start, end };
    this.anchor = anchor;
    this.#drawRange();
    if (scroll) this.elements.get(end - 1)?.scrollIntoView({ block: "nearest" });
    if (!quiet) this.onselect(this.range);
  }

  clearRange() {
    this.range = null;
    this.#drawRange();
  }

  // Shows which tokens the question is about.
  ask({ start, end }) {
    for (let token = start; token < end; token++) this.elements.get(token)?.classList.add("asked");
    for (const [token, name] of [[start, "first"], [end - 1, "final"]]) this.elements.get(token)?.classList.add(`asked-${name}`);
  }

  #drawRange() {
    for (const element of this.element.querySelectorAll(".chosen")) {
      element.classList.remove("chosen", "chosen-first", "chosen-final");
    }
    if (!this.range) return;
    const { start, end } = this.range;
    for (let token = start; token < end; token++) {
      const element = this.elements.get(token);
      if (!element) continue;
      element.classList.add("chosen");
      const gap = element.nextElementSibling;
      if (token + 1 < end && gap?.classList.contains("gap")) gap.classList.add("chosen");
    }
    this.elements.get(start)?.classList.add("chosen-first");
    this.elements.get(end - 1)?.classList.add("chosen-final");
  }

  #choose(range) {
    // A click on a mark means the whole of it.
    const span = range.end - range.start === 1 ? this.spanAt(range.start) : null;
    const { start, end } = span ?? range;
    this.select(start, end, { scroll: false });
    this.element.focus({ preventScroll: true });
  }

  #click(event) {
    if (this.dragged || !getSelection().isCollapsed) return;
    const token = event.target.closest?.("[data-token]") ?? event.target.closest?.("mark")?.querySelector("[data-token]");
    if (!token) return;
    const start = Number(token.dataset.token);
    if (event.shiftKey && this.range) {
      const anchor = Math.min(this.anchor, this.last);
      this.select(Math.min(anchor, start), Math.max(anchor, start) + 1, { anchor, scroll: false });
      return;
    }
    this.#choose({ start, end: start + 1 });
  }

  // Fingers select with the handles of the system, so that pages can still be scrolled.
  #followPointer() {
    let timer = null;
    const follow = () => {
      if (!this.element.isConnected) return document.removeEventListener("selectionchange", follow);
      clearTimeout(timer);
      timer = setTimeout(() => this.#takeSelection({ keep: true }), 250);
    };
    this.pressed = false;
    this.element.addEventListener("pointerdown", (event) => {
      this.pressed = true;
      if (event.pointerType === "touch") document.addEventListener("selectionchange", follow);
      else document.removeEventListener("selectionchange", follow);
      const from = event.pointerType === "touch" ? null : tokenUnder(event);
      const release = (event) => {
        const to = tokenUnder(event);
        this.dragged = from !== null && to !== null && from !== to;
        const ends = this.dragged ? [from, to] : [];
        // The browser has not made up its mind about the selection yet.
        setTimeout(() => {
          this.pressed = false;
          if (event.pointerType !== "touch") this.#takeSelection({ ends });
        }, 0);
      };
      for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, { once: true });
    });
  }

  // Takes what the browser has selected, with the tokens under the pointer when it was pressed and let go: the browser
  // leaves out the first character if it is hit on its right half.
  #takeSelection({ keep = false, ends = [] } = {}) {
    const selection = getSelection();
    const selected = selection.rangeCount && !selection.isCollapsed ? this.#tokensOf(selection.getRangeAt(0)) : null;
    const all = [...ends.map((token) => ({ start: token, end: token + 1 })), ...(selected ? [selected] : [])];
    if (!all.length) return;
    const start = Math.min(...all.map((range) => range.start));
    const end = Math.max(...all.map((range) => range.end));
    if (!keep) selection.removeAllRanges();
    this.select(start, end, { scroll: false });
    if (!keep) this.element.focus({ preventScroll: true });
  }

  // The tokens of which at least one character is selected.
  #tokensOf(selected) {
    if (!selected.intersectsNode(this.element)) return null;
    const tokens = [...this.element.querySelectorAll("[data-token]")];
    const isBefore = (element) => selected.comparePoint(element, element.childNodes.length) < 0;
    const isAfter = (element) => selected.comparePoint(element, 0) > 0;
    let first = partition(tokens, isBefore);
    let last = partition(tokens, (element) => !isAfter(element)) - 1;
    while (first <= last && !overlaps(selected, tokens[first])) first++;
    while (first <= last && !overlaps(selected, tokens[last])) last--;
    if (first > last) return null;
    return { start: Number(tokens[first].dataset.token), end: Number(tokens[last].dataset.token) + 1 };
  }

  // The keyboard.

  get rightToLeft() {
    return getComputedStyle(this.element).direction === "rtl";
  }

  // Moves or changes the range; `from` is where it begins if there is none.
  move(key, from = null) {
    const shift = key.startsWith("shift+");
    const arrow = key.slice(shift ? 6 : 0);
    let step = { ArrowLeft: -1, ArrowRight: 1 }[arrow] ?? 0;
    if (this.rightToLeft) step = -step;
    const none = !this.range;
    const range = this.range ?? from ?? { start: this.first, end: this.first + 1 };
    if (this.last < this.first) return;
    if (none && !shift && !from) return this.select(range.start, range.end);
    if (shift && step) this.#stretch(range, none ? range.start : this.anchor, step);
    else if (shift) this.#moveStart(range, arrow === "ArrowUp" ? -1 : 1);
    else if (step) this.#goTo(step > 0 ? range.end : range.start - 1);
    else this.#goTo(this.#inLine(range, arrow === "ArrowUp" ? -1 : 1));
  }

  #goTo(token) {
    const to = Math.max(this.first, Math.min(token, this.last));
    this.select(to, to + 1);
  }

  // The end that is not the anchor moves.
  #stretch({ start, end }, anchor, step) {
    const fixed = Math.max(start, Math.min(anchor, end - 1));
    const moving = fixed === start ? end - 1 : start;
    const to = Math.max(this.first, Math.min(moving + step, this.last));
    this.select(Math.min(fixed, to), Math.max(fixed, to) + 1, { anchor: fixed });
  }

  #moveStart({ start, end }, step) {
    const to = Math.max(this.first, Math.min(start + step, end - 1));
    this.select(to, end, { anchor: to });
  }

  // The token above or below, by what stands on the screen.
  #inLine({ start, end }, step) {
    const from = step < 0 ? start : end - 1;
    const box = this.elements.get(from)?.getClientRects()[0];
    if (!box) return from;
    const middle = (box.left + box.right) / 2;
    let best = from;
    let line = null;
    let nearest = Infinity;
    for (let token = from + step; this.elements.has(token); token += step) {
      const other = this.elements.get(token).getClientRects()[0];
      if (!other || Math.abs(other.top - box.top) < box.height / 2) continue;
      if (line !== null && Math.abs(other.top - line) > other.height / 2) break;
      line ??= other.top;
      const distance = Math.abs((other.left + other.right) / 2 - middle);
      if (distance < nearest) [best, nearest] = [token, distance];
    }
    return best;
  }
}

// The token under the pointer.
function tokenUnder(event) {
  const element = event.target.closest?.("[data-token]");
  return element ? Number(element.dataset.token) : null;
}

// Everything that a part is drawn from, besides its text.
function looksOf({ start, tokens, spans, outside, noted }) {
  const own = (all) => tokens.map((_, index) => start + index).filter((token) => all?.has(token));
  return JSON.stringify([spans, own(outside), own(noted), spans.map(({ type }) => colourOf(type))]);
}

// The number of leading elements for which a test holds.
function partition(elements, holds) {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(elements[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

function overlaps(selected, element) {
  const own = document.createRange();
  own.selectNodeContents(element);
  if (selected.compareBoundaryPoints(Range.START_TO_START, own) > 0) own.setStart(selected.startContainer, selected.startOffset);
  if (selected.compareBoundaryPoints(Range.END_TO_END, own) < 0) own.setEnd(selected.endContainer, selected.endOffset);
  return own.toString() !== "";
}

// Tokens as they are drawn: a border inside of a grapheme goes to its end, so that no character falls apart.
export function wholeGraphemes(text, tokens) {
  if (/^[\u0000-\u007f]*$/u.test(text)) return tokens;
  const inside = new Map();
  for (const { index, segment } of new Intl.Segmenter().segment(text)) {
    for (let at = index + 1; at < index + segment.length; at++) inside.set(at, index + segment.length);
  }
  const whole = (at) => inside.get(at) ?? at;
  return tokens.map(([from, to]) => [whole(from), whole(to)]);
}
