// Documents into the project: files by button or drop, or a text that is pasted.
import { loadProject, upload } from "./api.js";
import { announce, button, fill, h } from "./dom.js";
import { count } from "./words.js";

const sendOne = (file) => upload(`/api/documents?name=${encodeURIComponent(file.name)}`, file);

// Several files at once, all or nothing: a text and its annotations belong together. First their names and sizes, then
// what is in them.
function sendAll(files) {
  const head = JSON.stringify(files.map(({ name, size }) => ({ name, size })));
  return upload("/api/files", new Blob([`${head}\n`, ...files]));
}

// A box that takes files; calls `added` when there are new documents.
export function uploader(added) {
  const said = h("div", { class: "said", role: "status" });
  const picker = h("input", { type: "file", multiple: true, class: "unseen", id: "files", tabindex: "-1", onchange: () => take([...picker.files]) });
  const name = h("input", { placeholder: "Name", "aria-label": "Name of the text", value: "", dir: "auto" });
  const text = h("textarea", { class: "wide", rows: "4", placeholder: "Paste a text", "aria-label": "Text", dir: "auto" });

  async function take(files) {
    if (!files.length) return;
    let words;
    let notes = [];
    const what = files.length === 1 ? files[0].name : count(files.length, "file");
    fill(said, h("p", { class: "soft" }, `Reading ${what} …`));
    try {
      const answer = await (files.length === 1 ? sendOne(files[0]) : sendAll(files));
      words = `${count(answer.added, "document")} added.`;
      notes = answer.notes ?? [];
    } catch (error) {
      words = `Nothing of ${what} was added: ${error.message}`;
    }
    await loadProject();
    fill(said, h("p", { class: "note", dir: "auto" }, words), notes.map((note) => h("p", { class: "note", dir: "auto" }, note)));
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
    h("p", { class: "soft hint" }, "Files that belong together are chosen together, such as the .txt and .ann files of brat; or their .tar or .tar.gz."),
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
