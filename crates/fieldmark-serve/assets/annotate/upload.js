// Documents into the project: files by button or drop, or a text that is pasted.
import { loadProject, upload } from "./api.js";
import { announce, button, fill, h } from "./dom.js";
import { count } from "./words.js";

// A box that takes files; calls `added` when there are new documents.
export function uploader(added) {
  const said = h("div", { class: "said", role: "status" });
  const picker = h("input", { type: "file", multiple: true, class: "unseen", id: "files", tabindex: "-1", onchange: () => take([...picker.files]) });
  const name = h("input", { placeholder: "Name", "aria-label": "Name of the text", value: "", dir: "auto" });
  const text = h("textarea", { class: "wide", rows: "4", placeholder: "Paste a text", "aria-label": "Text", dir: "auto" });

  async function take(files) {
    let sum = 0;
    const notes = [];
    for (const file of files) {
      fill(said, h("p", { class: "soft" }, `Reading ${file.name} …`));
      try {
        const answer = await upload(`/api/documents?name=${encodeURIComponent(file.name)}`, file);
        sum += answer.added;
        notes.push(...(answer.notes ?? []));
      } catch (error) {
        notes.push(`${file.name}: ${error.message}`);
      }
    }
    await loadProject();
    const words = `${count(sum, "document")} added.`;
    fill(said, h("p", {}, words), notes.map((note) => h("p", { class: "note", dir: "auto" }, note)));
    announce(words);
    picker.value = "";
    added();
  }

  const box = h(
    "div",
    {
      class: "upload",
      ondragover: (event) => (event.preventDefault(), box.classList.add("over")),
      ondragleave: () => box.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        box.classList.remove("over");
        take([...event.dataTransfer.files]);
      },
    },
    h("p", { class: "row" }, button("Choose files …", () => picker.click(), { kind: "primary" }), picker, h("span", { class: "soft" }, "or drop them here")),
    h(
      "details",
      {},
      h("summary", {}, "or paste a text"),
      h(
        "form",
        {
          onsubmit: async (event) => {
            event.preventDefault();
            if (!text.value.trim()) return text.focus();
            const called = name.value.trim() || "pasted";
            await take([new File([text.value], called.endsWith(".txt") ? called : `${called}.txt`)]);
            text.value = "";
            name.value = "";
          },
        },
        name,
        text,
        h("button", {}, "Add this text"),
      ),
    ),
    said,
  );
  return box;
}
