// How far annotators agree, and where they do not.
import { get } from "./api.js";
import { fill, h } from "./dom.js";
import { colourOf, state } from "./state.js";
import { count, score } from "./words.js";

export class AgreementView {
  title = "Agreement";

  enter() {
    this.body = h("div");
    this.element = h("section", { class: "narrow" }, h("h2", { class: "view" }, "Agreement"), this.body);
    this.#load();
  }

  leave() {}

  commands() {
    return [];
  }

  async #load() {
    try {
      const { pairs, documents } = await get("/api/agreement");
      fill(this.body, this.#pairs(pairs), this.#documents(documents));
    } catch (error) {
      fill(this.body, h("p", { role: "alert" }, `Agreement cannot be shown: ${error.message}.`));
    }
  }

  #pairs(pairs) {
    if (!pairs.length) {
      const users = state.project.users ?? [];
      const words =
        users.length < 2
          ? "There is one annotator. Another one gets a link from: "
          : "No two annotators have labelled the same tokens yet. A part of the text is shared between all; it comes up by itself.";
      return h("div", { class: "card" }, h("p", {}, words, users.length < 2 && h("code", {}, "fieldmark annotate PROJECT --add-user NAME")));
    }
    return pairs.map((pair) =>
      h(
        "section",
        { class: "card" },
        h("h3", {}, h("bdi", {}, pair.a), " and ", h("bdi", {}, pair.b)),
        h("p", { class: "soft" }, `${count(pair.tokens, "token")} of ${count(pair.documents, "document")} that both have labelled.`),
        h(
          "dl",
          { class: "figures" },
          h("div", {}, h("dt", {}, "κ of tokens"), h("dd", {}, kappa(pair.kappa))),
          h("div", {}, h("dt", {}, "F1 of spans"), h("dd", {}, score(pair.f1))),
        ),
        pair.types.length > 0 &&
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ["Type", "Tokens", "κ", "F1"].map((name, at) => h("th", { scope: "col", class: at ? "number" : "" }, name)))),
            h("tbody", {}, pair.types.map(row)),
          ),
      ),
    );
  }

  #documents(documents) {
    const open = documents.filter(({ conflicts }) => conflicts > 0);
    if (!documents.length) return null;
    return h(
      "section",
      { class: "card" },
      h("h3", {}, "Documents of several annotators"),
      !open.length && h("p", { class: "soft" }, "No conflict is open."),
      h(
        "ul",
        { class: "documents" },
        documents.map(({ id, name, conflicts, annotators, adjudicated }) =>
          h(
            "li",
            {},
            h("a", { class: "name", href: `#adjudicate/${id}` }, h("bdi", {}, name)),
            h(
              "span",
              { class: "facts" },
              conflicts > 0 && h("span", { class: "chip warn" }, count(conflicts, "conflict")),
              adjudicated > 0 && h("span", { class: "chip is-done" }, adjudicated === true ? "adjudicated" : `${adjudicated} adjudicated`),
            ),
            h("span", { class: "soft people" }, annotators.join(", ")),
          ),
        ),
      ),
    );
  }
}

const kappa = (value) => (Number.isFinite(value) ? value.toFixed(2) : "–");

function row({ name, tokens, kappa: agreed, f1 }) {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("span", { class: `kind ${colourOf(name)}`, dir: "auto" }, name)),
    h("td", { class: "number" }, tokens.toLocaleString("en")),
    h("td", { class: "number" }, kappa(agreed)),
    h("td", { class: "number" }, score(f1)),
  );
}
