// What leaves the project: annotations in any format, and the model.
import { download } from "./api.js";
import { announce, button, h } from "./dom.js";
import { state } from "./state.js";

export class TakeView {
  title = "Take away";

  enter() {
    this.said = h("p", { role: "status", class: "soft" });
    this.element = h("section", { class: "narrow" }, h("h2", { class: "view" }, "Take away"), this.#model(), this.#annotations(), this.said);
  }

  leave() {}

  commands() {
    return [];
  }

  #model() {
    return h(
      "div",
      { class: "card" },
      h("h3", {}, "The model"),
      h("p", { class: "soft" }, "One file that marks raw text: ", h("code", {}, "fieldmark tag model.fmk TEXTS"), " or ", h("code", {}, "fieldmark serve model.fmk"), "."),
      button("Save model.fmk", () => this.#save("/api/model", "model.fmk", "the model"), { kind: "primary" }),
    );
  }

  #annotations() {
    const fill = h("input", { type: "checkbox" });
    const labelled = h("input", { type: "checkbox" });
    const people = state.project.users ?? [];
    const user = h("select", {}, h("option", { value: "" }, "everybody"), people.map((name) => h("option", { value: name }, name)));
    const save = (format) => {
      const query = new URLSearchParams({ format, fill: fill.checked, labelled: labelled.checked, user: user.value });
      this.#save(`/api/export?${query}`, `annotations.${format}`, format);
    };
    return h(
      "div",
      { class: "card" },
      h("h3", {}, "The annotations"),
      h("p", { class: "soft" }, "What was decided where annotators differ, and what they say elsewhere."),
      h(
        "div",
        { class: "options" },
        h("label", {}, fill, " filled up by the model where nobody has said anything"),
        h("label", {}, labelled, " only documents with labels"),
        people.length > 1 && h("label", {}, "labels of ", user),
      ),
      h("div", { class: "formats" }, (state.project.formats ?? []).map((format) => button(format, () => save(format)))),
    );
  }

  async #save(path, name, what) {
    this.said.textContent = `Preparing ${what} …`;
    try {
      const { saved, warning } = await download(path, name);
      this.said.textContent = `Saved as ${saved}.${warning ? ` But ${warning}.` : ""}`;
    } catch (error) {
      this.said.textContent = `Not saved: ${error.message}.`;
    }
    announce(this.said.textContent);
  }
}
