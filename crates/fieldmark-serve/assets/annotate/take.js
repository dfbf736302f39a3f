// What leaves the project: annotations in any format, and the model.
import { download } from "./api.js";
import { announce, button, h } from "./dom.js";
import { state } from "./state.js";

export class TakeView {
  title = "Take away";

  enter() {
    const said = h("p", { role: "status", class: "soft" });
    const save = async (path, name, what) => {
      said.textContent = `Preparing ${what} …`;
      try {
        const got = await download(path, name);
        said.textContent = `Saved as ${got}.`;
      } catch (error) {
        said.textContent = `Not saved: ${error.message}.`;
      }
      announce(said.textContent);
    };
    const formats = state.project.formats ?? [];
    this.element = h(
      "section",
      { class: "narrow" },
      h("h2", { class: "view" }, "Take away"),
      h(
        "div",
        { class: "card" },
        h("h3", {}, "The model"),
        h("p", { class: "soft" }, "One file that tags raw text: ", h("code", {}, "fieldmark tag --model model.fmk TEXTS"), " or ", h("code", {}, "fieldmark serve model.fmk"), "."),
        button("Save model.fmk", () => save("/api/model", "model.fmk", "the model"), { kind: "primary" }),
      ),
      h(
        "div",
        { class: "card" },
        h("h3", {}, "The annotations"),
        h("p", { class: "soft" }, "All documents, with what was decided and what annotators agree on."),
        h("div", { class: "formats" }, formats.map((format) => button(format, () => save(`/api/export?format=${encodeURIComponent(format)}`, `annotations.${format}`, format)))),
      ),
      said,
    );
  }

  leave() {}

  commands() {
    return [];
  }
}
