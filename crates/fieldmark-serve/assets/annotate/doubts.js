// Labels that a model, trained without them, does not believe: to be fixed or kept.
import { act } from "./actions.js";
import { get, start } from "./api.js";
import { announce, button, cap, fill, h, isolated } from "./dom.js";
import { marksOf } from "./marks.js";
import { colourOf, state, watch } from "./state.js";
import { TextView } from "./textview.js";
import { count, excerpt, percent } from "./words.js";

export class DoubtsView {
  title = "Doubts";

  enter() {
    this.at = 0;
    this.doubts = [];
    this.body = h("div");
    this.element = h("section", { class: "narrow" }, h("h2", { class: "view" }, "Doubtful labels"), this.body);
    this.unwatch = watch((what) => what === "turned" && this.#load());
    this.#load();
  }

  leave() {
    clearTimeout(this.timer);
    this.unwatch();
  }

  async #load() {
    try {
      const { state: now, doubts, total, problem } = await get("/api/doubts");
      if (!this.element.isConnected) return;
      this.doubts = doubts ?? [];
      this.at = Math.min(this.at, Math.max(0, this.doubts.length - 1));
      this.more = (total ?? this.doubts.length) - this.doubts.length;
      this.#draw(now, problem);
      if (now === "running") this.timer = setTimeout(() => this.#load(), 1000);
    } catch (error) {
      fill(this.body, h("p", { role: "alert" }, `Doubts cannot be shown: ${error.message}.`));
    }
  }

  async #start() {
    try {
      await start("/api/doubts");
    } catch (error) {
      return fill(this.body, h("p", { role: "alert" }, `Not started: ${error.message}.`), button("Try again", () => this.#load()));
    }
    this.#load();
  }

  #draw(now, problem) {
    const lead = h("p", { class: "soft" }, "The labels are split into parts; a model that has not seen a part says how likely its labels are. The least likely come first: often they are mistakes.");
    const fresh = now === "none" || now === "outdated";
    const again = button(now === "none" ? "Look for doubtful labels" : "Look again", () => this.#start(), { kind: fresh ? "primary" : "small" });
    if (now === "running") return fill(this.body, lead, h("div", { class: "card", role: "status" }, h("p", {}, "Looking …"), h("div", { class: "busy" })));
    if (!this.doubts.length) return fill(this.body, lead, h("div", { class: "card" }, problem && h("p", { role: "alert" }, asSentence(problem)), now === "ready" && !problem && h("p", {}, "No label is doubtful."), again));
    fill(this.body, lead, this.#card(), h("div", { class: "dock" }, this.#choices()), this.#list(), h("p", { class: "row" }, this.more > 0 && h("span", { class: "soft" }, `${count(this.more, "more doubt")} when these are settled.`), again));
  }

  #card() {
    const doubt = this.doubts[this.at];
    const { sentence } = doubt;
    this.text = new TextView({ label: "The sentence of the doubtful label" });
    const marks = marksOf({ known: sentence.known, suggestions: [] });
    this.text.show([{ text: sentence.text, tokens: sentence.tokens, start: sentence.start, ...marks }]);
    this.text.ask(doubt);
    const words = this.text.textOf(doubt);
    announce(`${words}, labelled ${labelOf(doubt)}, probability ${percent(doubt.probability)}, the model suggests ${suggestionOf(doubt) ?? "outside"}`);
    return h(
      "article",
      { class: "card question" },
      h(
        "header",
        { class: "what" },
        h("h2", {}, "Is ", "“", isolated(excerpt(words)), "” really ", isolated(labelOf(doubt) ?? "outside"), "?"),
        h("span", { class: "from" }, h("span", {}, `${this.at + 1} of ${this.doubts.length}`), h("span", {}, `probability ${percent(doubt.probability)}`), h("a", { href: `#read/${doubt.document.id}/${doubt.start}` }, isolated(doubt.document.name))),
      ),
      this.text.element,
    );
  }

  #choices() {
    const doubt = this.doubts[this.at];
    const fixed = suggestionOf(doubt);
    return h(
      "div",
      { class: "choices", role: "group", "aria-label": "Decisions" },
      h("button", { type: "button", class: `accept ${fixed ? colourOf(fixed) : "c6"}`, onclick: () => this.#fix() }, cap("Enter"), h("span", { class: "said" }, "Fix: it is ", isolated(fixed ?? "outside")), h("span", { class: "share" }, percent(doubt.suggestion?.probability))),
      h(
        "div",
        { class: "types" },
        h("button", { type: "button", class: "type none", onclick: () => this.#keep() }, cap("k"), h("span", { class: "name" }, "keep ", isolated(labelOf(doubt) ?? "outside"))),
        state.types.map((type) => h("button", { type: "button", class: `type ${colourOf(type.name)}`, onclick: () => this.#say(type.name) }, type.key && cap(type.key), h("span", { class: "name", dir: "auto" }, type.name))),
        h("button", { type: "button", class: "type none", onclick: () => this.#say(null) }, cap("o"), h("span", { class: "name" }, "outside")),
      ),
    );
  }

  #list() {
    return h(
      "ol",
      { class: "doubts card" },
      this.doubts.map((doubt, index) =>
        h(
          "li",
          { "aria-current": index === this.at ? "true" : null },
          h(
            "button",
            { type: "button", class: "plain", onclick: () => this.#go(index) },
            h("span", { class: "number" }, percent(doubt.probability)),
            h("q", { dir: "auto" }, excerpt(words(doubt), 36)),
            h("span", { class: `kind ${labelOf(doubt) ? colourOf(labelOf(doubt)) : "c6"}` }, labelOf(doubt) ?? "outside"),
            " → ",
            h("span", { class: `kind ${suggestionOf(doubt) ? colourOf(suggestionOf(doubt)) : "c6"}` }, suggestionOf(doubt) ?? "outside"),
          ),
        ),
      ),
    );
  }

  commands() {
    if (!this.doubts.length) return [];
    return [
      { keys: ["Enter"], label: "fix: take what the model suggests", run: () => this.#fix() },
      { keys: ["k"], label: "keep the label", run: () => this.#keep() },
      ...state.types
        .filter(({ key }) => key)
        .map(({ key, name }) => ({ keys: [key.toLowerCase()], label: `it is ${name}`, run: () => this.#say(name) })),
      { keys: ["o", "0"], label: "it is outside of all types", run: () => this.#say(null) },
      { keys: ["n", "ArrowDown"], label: "next doubt", repeats: true, run: () => this.#go(this.at + 1) },
      { keys: ["p", "ArrowUp"], label: "previous doubt", repeats: true, run: () => this.#go(this.at - 1) },
    ];
  }

  #go(index) {
    if (index < 0 || index >= this.doubts.length) return;
    this.at = index;
    this.#draw("ready");
  }

  #fix() {
    const { suggestion, start, end } = this.doubts[this.at];
    this.#send({ start: suggestion.start ?? start, end: suggestion.end ?? end, type: suggestionOf(this.doubts[this.at]), borders: "exact" });
  }

  #keep() {
    const { start, end, label } = this.doubts[this.at];
    this.#send({ start: label?.start ?? start, end: label?.end ?? end, type: labelOf(this.doubts[this.at]), borders: "exact" }, { review: true });
  }

  #say(type) {
    const { start, end } = this.doubts[this.at];
    this.#send({ start, end, type, borders: "exact" });
  }

  async #send(assertion, more = {}) {
    if (this.waiting) return;
    this.waiting = true;
    const doubt = this.doubts[this.at];
    const answer = await act({ kind: "assert", document: doubt.document.id, assertions: [assertion], ...more });
    this.waiting = false;
    if (!answer) return;
    this.doubts.splice(this.at, 1);
    this.at = Math.min(this.at, Math.max(0, this.doubts.length - 1));
    this.#draw("ready");
    announce(`Saved. ${count(this.doubts.length, "doubt")} left.`);
  }
}

const asSentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
const labelOf = ({ label }) => (label && typeof label === "object" ? label.type : label) ?? null;
const suggestionOf = ({ suggestion }) => suggestion?.type ?? null;

function words({ sentence, start, end }) {
  const at = start - sentence.start;
  return sentence.text.slice(sentence.tokens[at][0], sentence.tokens[end - 1 - sentence.start][1]);
}
