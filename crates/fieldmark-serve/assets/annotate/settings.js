// Settings of the project, which can be changed at any time; how texts are cut cannot.
import { refused } from "./actions.js";
import { get, loadProject, send } from "./api.js";
import { announce, button, fill, h, isolated } from "./dom.js";
import { count } from "./words.js";

const ORDERS = ["0", "1", "2", "3"];

export class SettingsView {
  title = "Settings";

  enter() {
    this.body = h("div");
    this.said = h("p", { role: "status", class: "soft" });
    this.element = h("section", { class: "narrow" }, h("h2", { class: "view" }, "Settings"), this.body, this.said);
    this.#load();
  }

  leave() {}

  commands() {
    return [];
  }

  async #load() {
    try {
      this.#draw(await get("/api/settings"));
    } catch (error) {
      fill(this.body, h("p", { role: "alert" }, `The settings cannot be shown: ${error.message}.`));
    }
  }

  #draw(settings) {
    this.settings = settings;
    const { strategies, units, held_out_of } = settings;
    this.fields = {};
    const choice = (name, options) => {
      const now = String(settings[name]);
      const list = h("select", { name }, options.map(([value, label]) => h("option", { value, selected: value === now }, label)));
      this.fields[name] = { field: list, read: () => list.value };
      return list;
    };
    const number = (name, attributes) => {
      const field = h("input", { name, type: "number", required: true, value: String(settings[name]), ...attributes });
      this.fields[name] = { field, read: () => field.valueAsNumber };
      return field;
    };
    const patterns = h("textarea", { name: "patterns", class: "wide", rows: "3", dir: "ltr", spellcheck: "false", value: settings.patterns.map((pair) => pair.join("=")).join("\n") });
    this.fields.patterns = { field: patterns, read: () => patternsOf(patterns.value) };
    const form = h(
      "form",
      { class: "settings", onsubmit: (event) => this.#save(event) },
      group(
        "Questions",
        row("What is asked next", choice("strategy", strategies.map(([name, title]) => [name, `${name}: ${title}`]))),
        row("A question is about", choice("unit", units.map((unit) => [unit, unit === "token" ? "one word" : "a whole sentence"]))),
      ),
      group(
        "Parts",
        row("Held out", number("held_out", { min: "0", max: "0.9", step: "any" }), `The part of the ${held_out_of} to measure models on, from 0 to 0.9. With another part, scores before and after are not to be compared.`),
        row("Shared", number("shared", { min: "0", max: "1", step: "any" }), `The part of the ${held_out_of} that everybody annotates, from 0 to 1.`),
        row("Seed", number("seed", { min: "0", step: "1" }), "Decides what is random: which parts are held out and shared, and what is asked first."),
      ),
      group(
        "Training",
        row("Answers between two trainings", number("batch", { min: "1", step: "1" })),
        row("Order", choice("order", ORDERS.map((order) => [order, order])), "Labels before a label that it depends on."),
        row("c2", number("c2", { min: "0", step: "any" }), "The coefficient of the squared L2 norm: the more, the less a model trusts single answers."),
        row("c1", number("c1", { min: "0", step: "any" }), "The coefficient of the L1 norm: above 0, many weights become 0."),
      ),
      group(
        "Suggestions before there is a model",
        row("Patterns", patterns, "A type, = and a regular expression in each line, such as NUMBER=[0-9]+."),
        this.#dictionaries(settings.dictionaries),
      ),
      h("p", { class: "row" }, h("button", { class: "primary" }, "Save"), button("Undo changes", () => this.#draw(this.settings))),
    );
    fill(
      this.body,
      form,
      h(
        "p",
        { class: "soft" },
        "Texts stay cut into the tokens that they have (tokenizer: ",
        h("code", {}, settings.tokenizer),
        "), because every answer is about them. For other tokens, make a new project and add an export of this one.",
      ),
    );
  }

  #dictionaries(dictionaries) {
    if (!dictionaries.length) return h("p", { class: "soft" }, "No lists of names; ", h("code", {}, "fieldmark annotate PROJECT --dictionary TYPE=FILE"), " adds one.");
    const gone = dictionaries.map(([type, names]) => {
      const box = h("input", { type: "checkbox" });
      return { type, box, label: h("label", {}, box, " remove the list of ", isolated(type), `, ${count(names, "name")}`) };
    });
    this.fields.dictionaries = {
      field: null,
      read: () => {
        const removed = gone.filter(({ box }) => box.checked).map(({ type }) => [type, ""]);
        return removed.length ? removed : this.settings.dictionaries;
      },
    };
    return h("div", { class: "options" }, gone.map(({ label }) => label));
  }

  async #save(event) {
    event.preventDefault();
    const change = {};
    for (const [name, { read }] of Object.entries(this.fields)) {
      const value = name === "order" ? Number(read()) : read();
      if (JSON.stringify(value) !== JSON.stringify(this.settings[name])) change[name] = value;
    }
    if (!Object.keys(change).length) return this.#tell("Nothing has changed.");
    try {
      const settings = await send("/api/settings", { change });
      await loadProject();
      this.#draw(settings);
      this.#tell("Saved.");
    } catch (error) {
      refused(error);
      this.#tell(`Not saved: ${error.message}.`);
    }
  }

  #tell(words) {
    this.said.textContent = words;
    announce(words);
  }
}

function group(title, ...rows) {
  return h("fieldset", { class: "card" }, h("legend", {}, title), rows);
}

function row(label, field, hint = null) {
  const id = `setting-${field.getAttribute("name")}`;
  field.id = id;
  field.setAttribute("aria-label", label);
  if (hint) field.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "setting" }, h("label", { for: id }, label), field, hint && h("p", { class: "soft hint", id: `${id}-hint` }, hint));
}

// Lines of TYPE=EXPRESSION; an expression may hold the sign itself.
function patternsOf(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
}
