// Where annotators differ: all versions side by side, one key decides.
import { act } from "./actions.js";
import { get } from "./api.js";
import { announce, button, cap, fill, h, isolated } from "./dom.js";
import { colourOf, state, watch } from "./state.js";
import { marksOf } from "./marks.js";
import { partsOf } from "./read.js";
import { TextView } from "./textview.js";
import { count, excerpt } from "./words.js";

const LETTERS = [..."abcdef"];

export class AdjudicateView {
  title = "Adjudication";

  constructor(id) {
    this.id = Number(id);
    this.at = 0;
    this.head = h("header", { class: "what" });
    this.columns = h("div", { class: "versions" });
    this.choices = h("div", { class: "choices", role: "group", "aria-label": "Decisions" });
    this.element = h("section", { class: "adjudicate" }, h("div", { class: "card" }, this.head), this.columns, h("div", { class: "dock" }, this.choices));
  }

  enter() {
    this.unwatch = watch((what) => what === "turned" && this.#load());
    this.#load();
  }

  leave() {
    this.unwatch();
  }

  async #load() {
    try {
      const data = await get(`/api/adjudication/${encodeURIComponent(this.id)}`);
      this.data = { ...data, conflicts: data.conflicts.filter(({ decided }) => !decided) };
      this.#draw();
    } catch (error) {
      fill(this.head, h("p", { role: "alert" }, `The versions cannot be shown: ${error.message}.`));
    }
  }

  get #conflict() {
    return this.data?.conflicts[this.at] ?? null;
  }

  #draw() {
    const { name, conflicts, versions } = this.data;
    this.at = Math.max(0, Math.min(this.at, conflicts.length - 1));
    fill(
      this.head,
      h("h2", {}, isolated(name)),
      h("span", { class: "from" }, h("span", { class: "chip" }, conflicts.length ? `conflict ${this.at + 1} of ${conflicts.length}` : "no open conflict"), h("a", { href: "#agreement" }, "agreement"), h("a", { href: `#read/${this.id}` }, "read")),
    );
    this.texts = versions.map((version) => this.#version(version));
    fill(
      this.columns,
      versions.map(({ user }, index) =>
        h("article", { class: "card version" }, h("h3", {}, LETTERS[index] && cap(LETTERS[index]), " ", isolated(user)), this.texts[index].element),
      ),
    );
    this.#drawChoices();
    this.#show();
  }

  // Only the sentences around a conflict matter; the rest of the document is a click away.
  #version({ user, known }) {
    const text = new TextView({ label: `The version of ${user}` });
    const conflict = this.#conflict;
    const { sentences } = this.data;
    const here = conflict ? sentences.findIndex(([start, end]) => start <= conflict.start && conflict.start < end) : 0;
    const near = conflict ? sentences.slice(Math.max(0, here - 1), here + 2) : sentences;
    const parts = partsOf({ ...this.data, sentences: near, known, suggestions: [] });
    if (parts.length) parts[0].gap = "";
    text.show(parts);
    return text;
  }

  #show() {
    const conflict = this.#conflict;
    if (!conflict) return announce("No conflict is open");
    for (const text of this.texts) text.ask(conflict);
    announce(`“${this.texts[0].textOf(conflict)}”: ${this.#values(conflict).map(({ user, words }) => `${user} says ${words}`).join(", ")}`);
  }

  // What each annotator says about a conflict.
  #values(conflict) {
    return this.data.versions.map(({ user }) => {
      const assertions = conflict.values.filter((value) => value.user === user).map(({ assertion }) => assertion);
      const { spans } = marksOf({ known: assertions });
      const words = spans.map((span) => `${span.type} “${excerpt(this.texts[0].textOf(span), 24)}”`).join(", ");
      return { user, assertions, type: spans[0]?.type ?? null, words: words || (assertions.length ? "outside" : "nothing") };
    });
  }

  #drawChoices() {
    const conflict = this.#conflict;
    if (!conflict) return fill(this.choices, h("p", {}, "All conflicts of this document are decided."), h("a", { class: "button primary", href: "#agreement" }, "Back to agreement"));
    const values = this.#values(conflict);
    fill(
      this.choices,
      h(
        "div",
        { class: "types versions" },
        values.map(({ user, type, words, assertions }, index) =>
          h(
            "button",
            { type: "button", class: `type version-choice ${type ? colourOf(type) : "c6"}`, disabled: !assertions.length, onclick: () => this.#take(index) },
            LETTERS[index] && cap(LETTERS[index]),
            h("span", { class: "name", dir: "auto" }, words),
            h("span", { class: "share" }, isolated(user)),
          ),
        ),
      ),
      h("p", { class: "soft hint" }, "or neither: ", h("q", { dir: "auto" }, excerpt(this.texts[0].textOf(conflict))), " is"),
      h(
        "div",
        { class: "types" },
        state.types.map((type) =>
          h("button", { type: "button", class: `type ${colourOf(type.name)}`, onclick: () => this.#decide(type.name) }, type.key && cap(type.key), h("span", { class: "name", dir: "auto" }, type.name)),
        ),
        h("button", { type: "button", class: "type none", onclick: () => this.#decide(null) }, cap("o"), h("span", { class: "name" }, "outside")),
      ),
      h("div", { class: "tools" }, button("next conflict", () => this.#step(1), { key: "n", kind: "small" }), button("previous", () => this.#step(-1), { key: "p", kind: "small" })),
    );
  }

  commands() {
    if (!this.#conflict) return [];
    return [
      ...this.data.versions
        .slice(0, LETTERS.length)
        .map(({ user }, index) => ({ keys: [LETTERS[index]], label: `${user} is right`, run: () => this.#take(index) })),
      ...state.types
        .filter(({ key }) => key)
        .map(({ key, name }) => ({ keys: [key.toLowerCase()], label: `it is ${name}`, run: () => this.#decide(name) })),
      { keys: ["o", "0"], label: "it is outside of all types", run: () => this.#decide(null) },
      { keys: ["n", "ArrowRight"], label: "next conflict", run: () => this.#step(1) },
      { keys: ["p", "ArrowLeft"], label: "previous conflict", run: () => this.#step(-1) },
    ];
  }

  #step(by) {
    const to = this.at + by;
    if (to < 0 || to >= this.data.conflicts.length) return;
    this.at = to;
    this.#draw();
  }

  #take(index) {
    const { assertions, user } = this.#values(this.#conflict)[index];
    if (assertions.length) this.#send(assertions, `${user} is right`);
  }

  #decide(type) {
    const { start, end } = this.#conflict;
    this.#send([{ start, end, type, borders: "exact" }], type ?? "outside");
  }

  async #send(assertions, words) {
    if (this.waiting) return;
    this.waiting = true;
    const answer = await act({ kind: "adjudicate", document: this.id, assertions });
    this.waiting = false;
    if (!answer) return;
    await this.#load();
    announce(`Saved: ${words}. ${count(this.data.conflicts.length, "conflict")} left.`);
  }
}
