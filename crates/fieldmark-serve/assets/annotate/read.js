// Read mode: a whole document, to be marked like a text with a pen.
import { act } from "./actions.js";
import { get } from "./api.js";
import { askText, askWhich } from "./dialogs.js";
import { announce, button, cap, fill, h, isolated, toast } from "./dom.js";
import { assertionsFor, bare, marksOf } from "./marks.js";
import { colourOf, state, watch } from "./state.js";
import { TextView } from "./textview.js";
import { count, excerpt, percent } from "./words.js";

export class ReadView {
  title = "Read";

  constructor(id, token) {
    this.id = Number(id);
    this.goTo = token === undefined ? null : Number(token);
    this.text = new TextView({ label: "The document", onselect: () => this.#selected() });
    this.head = h("header", { class: "what" });
    this.side = h("aside", { class: "side card", "aria-label": "The chosen range" });
    this.notes = h("section", { class: "notes", "aria-label": "Comments" });
    this.paper = h("article", { class: "card paper" }, this.head, this.text.element, this.notes);
    this.element = h("section", { class: "read" }, this.paper, this.side);
  }

  enter() {
    this.unwatch = watch((what, detail) => {
      if (what === "model") this.#renew();
      if (what === "types") this.#drawSide();
      if (what === "turned") this.#turned(detail);
    });
    this.#load();
  }

  leave() {
    this.unwatch();
  }

  async #load() {
    try {
      this.#show(await get(`/api/documents/${encodeURIComponent(this.id)}`));
    } catch (error) {
      fill(this.head, h("p", { role: "alert" }, `The document cannot be shown: ${error.message}.`));
    }
  }

  #show(document) {
    this.document = document;
    this.text.show(partsOf(document));
    this.#drawHead();
    this.#drawNotes();
    if (this.goTo !== null && this.goTo <= this.text.last) {
      // The part that was asked for may not be drawn yet.
      const wanted = this.goTo;
      setTimeout(() => this.#visit(wanted), 50);
      this.goTo = null;
    }
    this.#drawSide();
    this.text.element.focus({ preventScroll: true });
  }

  #visit(token) {
    const span = this.text.spanAt(token);
    this.text.select(span?.start ?? token, span?.end ?? token + 1);
    this.text.elements.get(token)?.scrollIntoView({ block: "center" });
  }

  #drawHead() {
    const { name, flagged, tokens } = this.document;
    const labelled = this.#labelled();
    const status = this.document.status === "new" && labelled ? "begun" : this.document.status;
    fill(
      this.head,
      h("h2", {}, isolated(name)),
      h(
        "span",
        { class: "from" },
        flagged && h("span", { class: "chip warn" }, "flagged"),
        h("span", { class: `chip is-${status}` }, status),
        h("span", {}, `${percent(tokens.length ? labelled / tokens.length : 0)} labelled`),
        h("a", { href: `#ask/${this.id}` }, "ask"),
        h("a", { href: "#documents" }, "documents"),
        button("next document", () => this.#nextDocument(), { key: ".", kind: "plain" }),
      ),
    );
  }

  // How many tokens somebody has said something about.
  #labelled() {
    let sum = 0;
    for (const { start, tokens, spans, outside } of this.text.parts) {
      for (const span of spans) if (span.how === "known") sum += span.end - span.start;
      for (let token = start; token < start + tokens.length; token++) if (outside.has(token)) sum += 1;
    }
    return sum;
  }

  #drawNotes() {
    const { comments = [], metadata } = this.document;
    const facts = Object.entries(metadata ?? {});
    fill(
      this.notes,
      comments.length > 0 && h("h3", {}, "Comments"),
      comments.map(({ user, start, end, text }) =>
        h(
          "p",
          { class: "note" },
          Number.isInteger(start) && end > start
            ? button(`“${excerpt(this.text.textOf({ start, end }), 30)}”`, () => this.text.select(start, end), { kind: "plain" })
            : null,
          h("span", { dir: "auto" }, text),
          h("span", { class: "soft" }, " – ", isolated(user)),
        ),
      ),
      facts.length > 0 &&
        h(
          "details",
          {},
          h("summary", {}, "About the document"),
          h("dl", { class: "facts" }, facts.map(([key, value]) => [h("dt", { dir: "auto" }, key), h("dd", { dir: "auto" }, typeof value === "string" ? value : JSON.stringify(value))])),
        ),
    );
  }

  // The chosen range: what it is, and what can be done with it.
  #drawSide() {
    if (!this.document) return;
    const { range } = this.text;
    fill(
      this.side,
      range ? this.#about(range) : h("p", { class: "soft" }, "Choose words with the mouse or the arrow keys, or go from suggestion to suggestion with ", cap("n"), "."),
      h(
        "div",
        { class: "types" },
        state.types.map((type) =>
          h(
            "button",
            { type: "button", class: `type ${colourOf(type.name)}`, disabled: !range, onclick: () => this.#label(type.name) },
            type.key && cap(type.key),
            h("span", { class: "name", dir: "auto" }, type.name),
          ),
        ),
      ),
      this.#drawTools(range),
    );
  }

  #about(range) {
    const span = this.#spanOf(range);
    const facts = [];
    if (span?.how === "suggested") facts.push(h("span", { class: "number" }, percent(span.probability)), " suggested");
    if (span?.how === "known") facts.push(span.open ? "labelled; borders open" : "labelled");
    const outside = !span && this.text.partAt(range.start)?.outside?.has(range.start);
    return h(
      "div",
      { class: "about" },
      h("p", { class: "quote", dir: "auto" }, excerpt(this.text.textOf(range), 120)),
      h(
        "p",
        {},
        span && h("span", { class: `kind ${colourOf(span.type)}`, dir: "auto" }, span.type),
        " ",
        h("span", { class: "soft" }, facts.length ? facts : outside ? "outside, labelled" : span ? "" : "no mark"),
      ),
    );
  }

  #drawTools(range) {
    const span = range && this.#spanOf(range);
    const tool = (label, key, run, disabled = false, kind = "small") => {
      const made = button(label, run, { key, kind });
      made.disabled = disabled;
      return made;
    };
    const { flagged, status } = this.document;
    return h(
      "div",
      { class: "tools" },
      tool("accept", "Enter", () => this.#accept(), !span),
      tool("reject", "x", () => this.#label(null), !range),
      tool("all equal", "e", () => this.#equal(), !span),
      tool("comment", "c", () => this.#comment()),
      tool("next", "n", () => this.#jump(1)),
      tool("accept all", "a", () => this.#acceptAll()),
      tool(flagged ? "unflag" : "flag", "f", () => this.#flag()),
      tool(status === "done" ? "not done" : "done", "d", () => this.#done()),
      tool("skip", "s", () => this.#skip()),
    );
  }

  commands() {
    if (!this.document) return [];
    const arrows = (keys, label) => ({ keys, label, repeats: true, run: (event) => this.#move(event) });
    return [
      { keys: ["Enter"], label: "accept the suggestion, or the changed borders, and go to the next", run: () => this.#accept() },
      ...state.types
        .filter(({ key }) => key)
        .map(({ key, name }) => ({ keys: [key.toLowerCase()], label: `the range is ${name}`, run: () => this.#label(name) })),
      { keys: ["x", "o", "0"], label: "reject: the range is outside of all types", run: () => this.#label(null) },
      { keys: ["Backspace", "Delete"], label: "forget what was said about the range", run: () => this.#clear() },
      { keys: ["n"], label: "next suggestion", repeats: true, run: () => this.#jump(1) },
      { keys: ["p"], label: "previous suggestion", repeats: true, run: () => this.#jump(-1) },
      { keys: ["e"], label: "label all equal strings", run: () => this.#equal() },
      { keys: ["a"], label: "accept all: the document is right as it stands", run: () => this.#acceptAll() },
      { keys: ["c"], label: "comment on the range", run: () => this.#comment() },
      { keys: ["f"], label: "flag the document", run: () => this.#flag() },
      { keys: ["d"], label: "done with the document", run: () => this.#done() },
      { keys: ["s"], label: "skip the document", run: () => this.#skip() },
      { keys: ["."], label: "next document that is not done", run: () => this.#nextDocument() },
      arrows(["ArrowLeft", "ArrowRight"], "go to another token"),
      arrows(["ArrowUp", "ArrowDown"], "go to another line"),
      arrows(["shift+ArrowLeft", "shift+ArrowRight"], "move the end of the range"),
      arrows(["shift+ArrowUp", "shift+ArrowDown"], "move the start of the range"),
      { keys: ["Escape"], label: "choose nothing", run: () => (this.text.clearRange(), (this.source = null), this.#drawSide()) },
    ];
  }

  // A mark whose borders are being changed stays the one that the range came from.
  #selected(moving = false) {
    const { range } = this.text;
    if (!moving) this.source = range && this.#exactSpan(range);
    this.#drawSide();
    if (!range) return;
    const span = this.#spanOf(range);
    const what = span ? `, ${span.type}${span.how === "suggested" ? ` ${percent(span.probability)}` : ""}` : "";
    announce(`${excerpt(this.text.textOf(range), 80)}${what}`);
  }

  #exactSpan(range) {
    return this.text.spans.find((span) => span.start === range.start && span.end === range.end) ?? null;
  }

  // The mark that a range is about.
  #spanOf(range) {
    return this.#exactSpan(range) ?? this.source ?? (range.end - range.start === 1 ? this.text.spanAt(range.start) : null);
  }

  #move(event) {
    const shift = event.shiftKey;
    const onselect = this.text.onselect;
    if (shift) {
      const within = this.text.range && this.#spanOf(this.text.range);
      if (within && !this.#exactSpan(this.text.range)) this.source ??= within;
      this.text.onselect = () => this.#selected(true);
    }
    this.text.move((shift ? "shift+" : "") + event.key);
    this.text.onselect = onselect;
  }

  #jump(step) {
    const spans = this.text.spans.filter(({ how }) => how === "suggested");
    const { range } = this.text;
    const ahead = (span) => !range || (step > 0 ? span.start >= range.end : span.end <= range.start);
    const next = step > 0 ? spans.find(ahead) : spans.findLast(ahead);
    if (!next) {
      announce("No more suggestions");
      return toast(step > 0 ? "No suggestion follows." : "No suggestion before this.", null, 2);
    }
    this.text.select(next.start, next.end);
  }

  #accept() {
    const { range } = this.text;
    const span = range && this.#spanOf(range);
    if (!span) return toast("There is no suggestion here: press the key of a type.", null, 3);
    this.#assert(range, span.type, this.#cut(span), true);
  }

  // What changing the borders of a mark cuts off is outside.
  #cut(span) {
    return this.source && span === this.source ? [span] : [];
  }

  #label(type) {
    const { range } = this.text;
    if (!range) return toast("First choose a range: click a word, or press an arrow key.", null, 3);
    const cut = type !== null && this.source ? [this.source] : [];
    this.#assert(range, type, cut, type === null && Boolean(this.#exactSpan(range)));
  }

  async #assert(range, type, cut, goOn) {
    const part = this.text.partAt(range.start);
    const known = part ? part.spans : [];
    const assertions = assertionsFor(range, type, known, cut);
    this.source = null;
    this.#preview(range, type);
    if (goOn) this.#jump(1);
    else this.text.select(range.start, range.end, { scroll: false });
    await this.#do({ kind: "assert", assertions }, `“${excerpt(this.text.textOf(range))}” is ${type ?? "outside"}`);
  }

  // Shows at once what was said, as not yet saved.
  #preview(range, type) {
    const part = this.text.partAt(range.start);
    if (!part) return;
    const spans = part.spans.filter((span) => span.end <= range.start || range.end <= span.start);
    if (type !== null) spans.push({ ...range, type, how: "sent" });
    spans.sort((a, b) => a.start - b.start);
    this.text.mark(part.start, { spans, outside: part.outside });
  }

  #clear() {
    const { range } = this.text;
    if (range) this.#do({ kind: "clear", ...range }, "Forgotten");
  }

  async #equal() {
    const { range } = this.text;
    const span = range && this.#spanOf(range);
    if (!span) return toast("First choose a mark, or give the range a type.", null, 3);
    const words = this.text.textOf(range);
    const scope = await askWhich("Label all equal strings", `“${excerpt(words, 60)}” is ${span.type}`, [
      ["In this document", "document"],
      ["In all documents", "project"],
    ]);
    if (!scope) return;
    const answer = await this.#do({ kind: "equal", ...range, type: span.type, scope }, "Labelled");
    if (answer) toast(answer.action.summary ?? "Labelled.", null, 5);
  }

  async #acceptAll() {
    const spans = bare(this.text.spans);
    const answer = await this.#do({ kind: "document", spans }, "The document is accepted");
    if (!answer) return;
    toast(`Accepted: ${count(spans.length, "span")}, everything else outside.`, ["Undo", () => document.getElementById("undo").click()]);
    await this.#load();
  }

  async #comment() {
    const { range } = this.text;
    const about = range ? `On “${excerpt(this.text.textOf(range))}”` : "On the document";
    const text = await askText("Comment", { about, long: true });
    if (text && (await this.#do({ kind: "comment", ...(range ?? {}), text }, "Comment saved"))) await this.#reload();
  }

  async #flag() {
    if (await this.#do({ kind: "flag", on: !this.document.flagged }, this.document.flagged ? "Not flagged" : "Flagged")) await this.#reload();
  }

  async #done() {
    const on = this.document.status !== "done";
    if (!(await this.#do({ kind: "done", on }, on ? "Done" : "Not done"))) return;
    if (on) toast("Done.", ["Next document", () => this.#nextDocument()]);
    await this.#reload();
  }

  // The first document after this one that wants to be read, else the first of all.
  async #nextDocument() {
    const found = [];
    for (const status of ["begun", "new"]) {
      const { documents } = await get(`/api/documents?status=${status}&search=&page=1`);
      found.push(...documents.map(({ id }) => id).filter((id) => id !== this.id));
    }
    found.sort((a, b) => a - b);
    const next = found.find((id) => id > this.id) ?? found[0];
    if (next === undefined) return toast("No other document is open.", null, 3);
    location.hash = `#read/${next}`;
  }

  async #skip() {
    if (!(await this.#do({ kind: "skip" }, "Skipped"))) return;
    toast("Skipped.", null, 2);
    await this.#reload();
  }

  async #do(body, words) {
    const answer = await act({ ...body, document: this.id });
    if (!this.element.isConnected) return null;
    if (answer) {
      this.#take(answer);
      announce(`Saved: ${words}`);
    } else {
      await this.#reload();
    }
    return answer;
  }

  // Sentences as the model sees them now.
  #take(answer) {
    for (const sentence of answer.sentences ?? []) {
      this.#mark(sentence);
    }
    this.#drawHead();
    this.#drawSide();
  }

  #mark(sentence) {
    const part = this.text.partAt(sentence.start);
    // Sentences of other documents have other tokens.
    if (!part || part.start !== sentence.start || part.text !== sentence.text.slice(sentence.tokens[0][0], sentence.tokens.at(-1)[1])) return;
    this.text.mark(part.start, marksOf(sentence));
  }

  // Fresh marks in the same place, without touching range or scroll.
  async #reload() {
    const document = await get(`/api/documents/${encodeURIComponent(this.id)}`);
    if (!this.element.isConnected) return;
    this.document = document;
    const parts = partsOf(document);
    for (const part of parts) {
      const drawn = this.text.parts.find(({ start }) => start === part.start);
      if (drawn) drawn.noted = part.noted;
      this.text.mark(part.start, part);
    }
    this.#drawHead();
    this.#drawNotes();
    this.#drawSide();
  }

  // A new model sees the document with new eyes.
  #renew() {
    if (!this.document || !this.element.isConnected) return;
    // Not under the hand of somebody who is selecting.
    if (this.text.pressed) setTimeout(() => this.#renew(), 300);
    else this.#reload().catch(() => {});
  }

  #turned(answer) {
    if (!this.document) return;
    const elsewhere = answer.action?.document;
    if (elsewhere !== undefined && elsewhere !== null && elsewhere !== this.id) {
      toast("That was in another document.", ["Go there", () => (location.hash = `#read/${elsewhere}`)]);
    }
    this.#renew();
  }
}

// A document as parts for the text view: one for each sentence.
export function partsOf({ text, tokens, sentences, known, suggestions, comments = [] }) {
  const noted = new Set();
  for (const { start, end } of comments) for (let token = start ?? 0; token < (end ?? 0); token++) noted.add(token);
  const { spans, outside } = marksOf({ known, suggestions });
  let at = 0;
  let next = 0;
  return sentences
    .filter(([start, end]) => start < end)
    .map(([start, end]) => {
      const from = tokens[start][0];
      const to = tokens[end - 1][1];
      const own = [];
      while (next < spans.length && spans[next].start < end) own.push(spans[next++]);
      const part = {
        gap: text.slice(at, from),
        text: text.slice(from, to),
        tokens: tokens.slice(start, end).map(([a, b]) => [a - from, b - from]),
        start,
        spans: own,
        outside,
        noted,
      };
      at = to;
      return part;
    });
}
