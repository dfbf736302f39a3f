// What stands in the place of a question when there is none: the first steps of a project, or the last.
import { h } from "./dom.js";
import { state } from "./state.js";
import { typeEditor } from "./types.js";
import { uploader } from "./upload.js";
import { count } from "./words.js";

// `again` asks for a question once more.
export function setup(reason, document, again) {
  if (reason === "no documents" || reason === "no types") return firstSteps(again);
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, document ? "No question is left in this document." : "Everything is labelled."),
    h(
      "p",
      { class: "row" },
      document && h("a", { class: "button primary", href: "#ask" }, "Ask about all documents"),
      h("a", { class: "button", href: "#progress" }, "See what was gained"),
      h("a", { class: "button", href: "#doubts" }, "Review doubtful labels"),
      h("a", { class: "button", href: "#take" }, "Take the model"),
    ),
  );
}

function firstSteps(again) {
  const { documents = 0, sentences = 0 } = state.project;
  const begin = h("button", { type: "button", class: "primary", onclick: again }, "Begin");
  const refresh = () => (begin.disabled = !state.types.length || !state.project.documents);
  const has = h("p", { class: "soft" }, documents ? `${count(documents, "document")}, ${count(sentences, "sentence")}.` : "Plain text, PDF, PubMed XML, CoNLL, brat, BioC, doccano, and others.");
  const box = h(
    "div",
    { class: "welcome" },
    h("h2", {}, "Two steps, and the questions begin"),
    h("ol", { class: "steps" },
      h("li", {}, h("h3", {}, "Texts"), has, uploader(() => {
        has.textContent = `${count(state.project.documents, "document")}, ${count(state.project.sentences, "sentence")}.`;
        refresh();
      })),
      h("li", {}, h("h3", {}, "What to mark"), h("p", { class: "soft" }, "Name the types of things that you look for, such as DRUG or PROBLEM."), typeEditor(refresh)),
    ),
    h("p", { class: "row" }, begin),
  );
  refresh();
  return box;
}
