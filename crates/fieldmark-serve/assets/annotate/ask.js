// Ask mode: the model asks, one key answers and brings the next question.
import { act, undo } from "./actions.js";
import { get } from "./api.js";
import { askText } from "./dialogs.js";
import { announce, button, cap, fill, h, isolated, toast } from "./dom.js";
import { bare, marksOf, replaced } from "./marks.js";
import { colourOf, state, watch } from "./state.js";
import { Stopwatch } from "./stopwatch.js";
import { TextView } from "./textview.js";
import { setup } from "./setup.js";
import { excerpt, percent } from "./words.js";

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

const clock = new Stopwatch();

export class AskView {
  title = "Ask";

  constructor(document) {
    this.document = document;
    this.question = null;
    this.waiting = false;
    this.text = new TextView({ label: "The sentence in question", onselect: () => this.#drawChoices() });
    this.last = h("section", { class: "last", "aria-label": "Last answer", hidden: true });
    this.card = h("article", { class: "card question" });
    this.choices = h("div", { class: "choices", role: "group", "aria-label": "Answers" });
    this.tools = h("div", { class: "tools", role: "group", "aria-label": "Other commands" });
    this.element = h("section", { class: "ask" }, this.card, h("div", { class: "dock" }, this.choices, this.tools), this.last);
  }

  enter() {
    this.unwatch = watch((what, detail) => {
      if (what === "types" && this.question) this.#drawChoices();
      if (what === "turned") this.#turned(detail);
      // Whoever had nothing to answer may have something now.
      if (what === "news" && !this.question && !this.waiting && this.reason === "everything is labelled") this.#load();
    });
    this.#load();
  }

  leave() {
    this.unwatch();
  }

  async #load() {
    this.waiting = true;
    try {
      const place = this.document ? `?document=${encodeURIComponent(this.document)}` : "";
      const { question, reason } = await get(`/api/question${place}`);
      this.waiting = false;
      this.#show(question, reason);
    } catch (error) {
      this.waiting = false;
      fill(this.card, h("p", { role: "alert" }, `No question: ${error.message}.`), button("Try again", () => this.#load()));
    }
  }

  // Shows a question, or why there is none.
  #show(question, reason) {
    this.question = question;
    this.reason = reason;
    this.card.classList.remove("saving");
    this.card.dataset.shown = Number(this.card.dataset.shown ?? 0) + 1;
    this.element.classList.toggle("idle", !question);
    if (!question) {
      fill(this.choices);
      fill(this.tools);
      fill(this.card, setup(reason, this.document, () => this.#load()));
      return;
    }
    const { sentence } = question;
    const marks = marksOf(sentence);
    this.draft = question.kind === "sentence" ? drafts(marks.spans) : null;
    this.text.show([{ text: sentence.text, tokens: sentence.tokens, start: sentence.start, ...this.#marks(question, marks) }]);
    if (question.kind === "token") this.text.ask(question.target);
    fill(
      this.card,
      this.#heading(question),
      h(
        "div",
        { class: "passage" },
        context(sentence.before, "before"),
        this.text.element,
        context(sentence.after, "after"),
      ),
    );
    this.#drawChoices();
    this.#drawTools();
    clock.start();
    const active = document.activeElement;
    if (!active || active === document.body || this.element.contains(active) || active.id === "main") {
      this.text.element.focus({ preventScroll: true });
    }
    announce(this.#spoken(question));
  }

  #marks(question, marks) {
    if (this.draft) return { spans: this.draft, outside: new Set() };
    const { suggestion } = question;
    const free = suggestion.type && !marks.spans.some((span) => span.start < suggestion.end && suggestion.start < span.end);
    if (free) marks.spans.push({ ...suggestion, how: "suggested" });
    marks.spans.sort((a, b) => a.start - b.start);
    return marks;
  }

  #heading(question) {
    const { document: from, sentence } = question;
    const origin = { dictionary: "by dictionary", pattern: "by pattern" }[sentence.origin];
    return h(
      "header",
      { class: "what" },
      h("h2", {}, this.#words(question)),
      h(
        "span",
        { class: "from" },
        question.kind === "sentence" && h("span", { class: "chip held" }, question.test ? "test sentence" : "whole sentence"),
        question.why && h("span", { title: "why this is asked" }, question.why),
        origin && h("span", {}, `suggested ${origin}`),
        h("a", { href: `#read/${from.id}/${sentence.start}`, title: "Read the whole document" }, isolated(from.name)),
      ),
    );
  }

  #words({ kind, suggestion, target }) {
    if (kind === "sentence") return ["Is every span of this sentence right?"];
    const quoted = (range) => ["“", isolated(excerpt(this.text.textOf(range), 60)), "”"];
    if (!suggestion.type && suggestion.probability < 0.5) return ["What is ", ...quoted(target), "?"];
    if (!suggestion.type) return ["Is ", ...quoted(target), " outside of all types?"];
    return ["Is ", ...quoted(suggestion), " a ", isolated(suggestion.type, { class: `kind ${colourOf(suggestion.type)}` }), "?"];
  }

  #spoken(question) {
    const words = this.#words(question).map((word) => word.textContent ?? word);
    return `${words.join("")} ${question.sentence.text}`;
  }

  // What an answer would be about: the range that was chosen by hand, or what was asked.
  get #subject() {
    return this.text.range ?? this.question.target;
  }

  #drawChoices() {
    if (!this.question) return;
    fill(this.choices, this.draft ? this.#sentenceChoices() : this.#tokenChoices());
  }

  #tokenChoices() {
    const { suggestion, choices = [] } = this.question;
    const share = (type) => choices.find((choice) => choice.type === type)?.probability;
    const range = this.text.range;
    const accepted = suggestion.type ?? "outside";
    const about = range ?? (suggestion.type ? suggestion : this.question.target);
    return [
      h(
        "button",
        { type: "button", class: `accept ${suggestion.type ? colourOf(suggestion.type) : "c6"}`, onclick: () => this.#accept() },
        cap("Enter"),
        h("span", { class: "said", dir: "auto" }, h("q", {}, excerpt(this.text.textOf(about), 32)), " is ", isolated(accepted)),
        !range && h("span", { class: "share" }, percent(suggestion.probability)),
      ),
      h("div", { class: "types" }, ...this.#typeButtons(share), this.#outsideButton(share(null))),
    ];
  }

  #sentenceChoices() {
    const range = this.text.range;
    return [
      h(
        "button",
        { type: "button", class: "accept", onclick: () => this.#accept() },
        cap("Enter"),
        h("span", { class: "said" }, "The whole sentence is right now"),
      ),
      range
        ? h("div", { class: "types" }, ...this.#typeButtons(() => undefined), this.#outsideButton(undefined))
        : h("p", { class: "soft hint" }, "To change a span, click it or go there with ", cap("n"), " or the arrow keys; then press the key of its type."),
    ];
  }

  #typeButtons(share) {
    return state.types.map((type) => {
      const choice = h(
        "button",
        { type: "button", class: `type ${colourOf(type.name)}`, onclick: () => this.#answer(type.name) },
        type.key && cap(type.key),
        h("span", { class: "name", dir: "auto" }, type.name),
        share(type.name) !== undefined && h("span", { class: "share" }, percent(share(type.name))),
      );
      if (share(type.name) !== undefined) choice.style.setProperty("--share", share(type.name).toFixed(3));
      return choice;
    });
  }

  #outsideButton(share) {
    const choice = h(
      "button",
      { type: "button", class: "type none", onclick: () => this.#answer(null) },
      cap("o"),
      h("span", { class: "name" }, "outside"),
      share !== undefined && h("span", { class: "share" }, percent(share)),
    );
    if (share !== undefined) choice.style.setProperty("--share", share.toFixed(3));
    return choice;
  }

  #drawTools() {
    fill(
      this.tools,
      this.draft && button("remove all", () => this.#removeAll(), { key: "Backspace", kind: "small" }),
      button("skip", () => this.#skip(), { key: "s", kind: "small" }),
      button("flag", () => this.#flag(), { key: "f", kind: "small" }),
      button("comment", () => this.#comment(), { key: "c", kind: "small" }),
      button("undo", undo, { key: "u", kind: "small" }),
      h("span", { class: "soft hint" }, cap("shift"), cap("ArrowLeft"), cap("ArrowRight"), " change the range"),
      h("a", { class: "soft", href: "#types" }, "types"),
    );
  }

  commands() {
    if (!this.question) return [];
    const whole = Boolean(this.draft);
    const arrows = (keys, label) => ({ keys, label, repeats: true, run: (event) => this.#move(event) });
    return [
      { keys: ["Enter"], label: whole ? "the whole sentence is right" : "accept the suggestion", run: () => this.#accept() },
      ...state.types
        .filter(({ key }) => key)
        .map(({ key, name }) => ({ keys: [key.toLowerCase()], label: `it is ${name}`, run: () => this.#answer(name) })),
      { keys: ["o", "0"], label: "it is outside of all types", run: () => this.#answer(null) },
      ...(whole
        ? [
            { keys: ["n"], label: "next span", run: () => this.#jump(1) },
            { keys: ["p"], label: "previous span", run: () => this.#jump(-1) },
            { keys: ["Backspace", "Delete"], label: "remove all spans", run: () => this.#removeAll() },
          ]
        : []),
      { keys: ["s"], label: "skip the question", run: () => this.#skip() },
      { keys: ["f"], label: "flag the document", run: () => this.#flag() },
      { keys: ["c"], label: "write a comment", run: () => this.#comment() },
      arrows(["ArrowLeft", "ArrowRight"], "choose another token"),
      arrows(["shift+ArrowLeft", "shift+ArrowRight"], "move the end of the range"),
      arrows(["shift+ArrowUp", "shift+ArrowDown"], "move the start of the range"),
      { keys: ["Escape"], label: "back to what was asked", run: () => this.#reset() },
    ];
  }

  #move(event) {
    const name = (event.shiftKey ? "shift+" : "") + event.key;
    if (!ARROWS.includes(event.key) || this.waiting) return;
    const { suggestion, target } = this.question;
    this.text.move(name, this.draft ? null : suggestion.type && event.shiftKey ? plain(suggestion) : target);
    const range = this.text.range;
    if (range) announce(this.text.textOf(range));
  }

  #jump(step) {
    const { range } = this.text;
    const spans = step > 0 ? this.draft : [...this.draft].reverse();
    const next = spans.find((span) => !range || (step > 0 ? span.start >= range.end : span.end <= range.start)) ?? spans[0];
    if (!next) return;
    this.text.select(next.start, next.end);
    announce(`${this.text.textOf(next)}, ${next.type}`);
  }

  // Where a young model sees spans everywhere, it is faster to begin with none.
  #removeAll() {
    this.draft = [];
    this.text.mark(this.question.sentence.start, { spans: [] });
    announce("No spans");
  }

  #reset() {
    this.text.clearRange();
    this.#drawChoices();
  }

  #accept() {
    const { suggestion, target, sentence } = this.question;
    if (this.draft) {
      const { start, end } = sentence;
      return this.#send({ kind: "sentence", start, end, spans: bare(this.draft) }, "the whole sentence");
    }
    const range = this.text.range ?? (suggestion.type ? plain(suggestion) : target);
    this.#assert(range, suggestion.type, "exact");
  }

  #answer(type) {
    if (!this.question || this.waiting) return;
    if (this.draft) return this.#edit(type);
    const { suggestion } = this.question;
    const range = this.text.range;
    // The same type as suggested, without another range, is the same as Enter.
    if (type !== null && type === suggestion.type && !range) return this.#accept();
    this.#assert(this.#subject, type, range ? "exact" : "open");
  }

  #edit(type) {
    const { range } = this.text;
    if (!range) return toast("First choose a word: click it, or press n or an arrow key.", null, 4);
    this.draft = replaced(this.draft, range, type);
    this.text.mark(this.question.sentence.start, { spans: this.draft });
    this.#drawChoices();
    announce(`${this.text.textOf(range)} is ${type ?? "outside"}`);
  }

  #assert({ start, end }, type, borders) {
    const words = `“${excerpt(this.text.textOf({ start, end }))}” is ${type ?? "outside"}`;
    this.#send({ kind: "assert", assertions: [{ start, end, type, borders }] }, words);
  }

  #skip() {
    this.#send({ kind: "skip" }, "skipped");
  }

  // Sends an answer; the next question comes with the word that it is stored.
  async #send(body, words) {
    if (this.waiting || !this.question) return;
    const { id, document: from, sentence } = this.question;
    this.waiting = true;
    this.card.classList.add("saving");
    const answer = await act({ ...body, document: from.id, question: id, seconds: clock.seconds() });
    this.waiting = false;
    if (!this.element.isConnected) return;
    if (!answer) return this.#load();
    const next = this.document ? null : answer.next;
    this.#showLast(answer, words, sentence, next);
    if (next) this.#show(next);
    else await this.#load();
  }

  // The sentence that was answered, as the model sees it now; nothing twice if the next question is about it, too.
  #showLast(answer, words, before, next) {
    const touched = (answer.sentences ?? []).find(({ start }) => start === before.start) ?? null;
    const again = next && next.sentence.start === before.start && next.document.id === answer.action?.document;
    const line = h("p", { class: "done" }, h("span", { class: "tick", "aria-hidden": "true" }, "✓"), " Saved: ", isolated(words));
    this.last.hidden = false;
    fill(this.last, line);
    if (touched && !again) {
      const view = new TextView({ label: "The last sentence, as the model sees it now" });
      view.element.removeAttribute("tabindex");
      view.element.setAttribute("role", "group");
      view.show([{ text: touched.text, tokens: touched.tokens, start: touched.start, ...marksOf(touched) }]);
      this.last.append(view.element);
    }
  }

  async #flag() {
    const { document: from } = this.question;
    const answer = await act({ kind: "flag", document: from.id, on: true });
    if (answer) toast(`“${from.name}” is flagged.`, null, 3);
  }

  async #comment() {
    const { document: from } = this.question;
    const range = this.#subject;
    const text = await askText("Comment", { about: `On “${excerpt(this.text.textOf(range))}”`, long: true });
    if (!text) return;
    const answer = await act({ kind: "comment", document: from.id, ...range, text });
    if (answer) toast("Comment saved.", null, 3);
  }

  // An answer was taken back: its question comes again. One that was given again may be the one on the screen.
  #turned(answer) {
    this.last.hidden = true;
    if (answer.next) this.#show(answer.next);
    else this.#load();
  }
}

const plain = ({ start, end }) => ({ start, end });

const drafts = (spans) => spans.map((span) => ({ ...span, how: span.how === "known" ? "draft" : "suggested" }));

const CONTEXT = 220;

// A little of the text around the sentence, cut between words.
function context(text = "", side) {
  const flat = text.replace(/\n\s*\n+/gu, "\n").trim();
  if (!flat) return null;
  const before = side === "before";
  let words = flat;
  if (flat.length > CONTEXT) {
    const kept = before ? flat.slice(-CONTEXT).replace(/^\S*\s/u, "") : flat.slice(0, CONTEXT).replace(/\s\S*$/u, "");
    words = before ? `… ${kept}` : `${kept} …`;
  }
  return h("p", { class: "context", dir: "auto" }, words);
}
