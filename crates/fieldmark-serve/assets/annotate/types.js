// Types of spans: made, renamed, recoloured, given keys.
import { refused } from "./actions.js";
import { send } from "./api.js";
import { askWhich } from "./dialogs.js";
import { announce, fill, h } from "./dom.js";
import { RESERVED } from "./keys.js";
import { setTypes, state, watch } from "./state.js";

const SLOTS = 10;

export class TypesView {
  title = "Types";

  enter() {
    const editor = typeEditor(() => {});
    this.element = h(
      "section",
      { class: "narrow" },
      h("h2", { class: "view" }, "Types"),
      h("p", { class: "soft" }, "What is looked for. A key answers with that type; the letters ", RESERVED.slice(0, -1).join(" "), " and 0 are commands."),
      h("div", { class: "card" }, editor),
    );
  }

  commands() {
    return [];
  }

  leave() {}
}

async function change(path, body) {
  try {
    const { types } = await send(path, body);
    setTypes(types);
    return true;
  } catch (error) {
    refused(error);
    setTypes(state.types);
    return false;
  }
}

// A list with all types and a field for a new one; calls `changed` after each change.
export function typeEditor(changed) {
  const list = h("ul", { class: "typelist" });
  const name = h("input", { placeholder: "New type", "aria-label": "Name of the new type", maxlength: "100", dir: "auto", autocomplete: "off" });
  const form = h(
    "form",
    {
      class: "row",
      onsubmit: async (event) => {
        event.preventDefault();
        const called = name.value.trim();
        if (!called) return name.focus();
        if (await change("/api/types", { name: called })) {
          name.value = "";
          announce(`${called} is a type now`);
        }
        name.focus();
      },
    },
    name,
    h("button", {}, "Add"),
  );
  const box = h("div", {}, list, form);
  const draw = () => {
    fill(list, state.types.map((type) => row(type)));
    changed();
  };
  const stop = watch((what) => {
    if (what !== "types") return;
    if (box.isConnected) draw();
    else stop();
  });
  fill(list, state.types.map((type) => row(type)));
  return box;
}

function row(type) {
  const path = `/api/types/${encodeURIComponent(type.id)}`;
  const name = h("input", { value: type.name, "aria-label": `Name of ${type.name}`, maxlength: "100", dir: "auto", onchange: () => name.value.trim() && change(path, { name: name.value.trim() }) });
  const key = h("input", {
    class: "key",
    value: type.key ?? "",
    maxlength: "1",
    "aria-label": `Key of ${type.name}`,
    autocomplete: "off",
    onchange: () => setKey(type, key),
  });
  return h(
    "li",
    { class: `c${type.colour}` },
    colourPicker(type, (colour) => change(path, { colour })),
    name,
    h("label", { class: "keyed" }, h("span", { class: "soft" }, "key "), key),
    h("button", { type: "button", class: "small round", "aria-label": `Remove ${type.name}`, title: `Remove ${type.name}; answers stay in the store`, onclick: () => remove(type, path) }, "×"),
  );
}

// What was marked with a type is kept, but out of use: the server says how much that is, and wants to hear it twice.
async function remove(type, path) {
  try {
    const { types } = await send(path, { removed: true });
    setTypes(types);
  } catch (error) {
    if (error.status !== 409) return refused(error);
    const sure = await askWhich(`Remove ${type.name}?`, `${error.message}.`, [["Remove", true]]);
    if (sure && (await change(path, { removed: true, force: true }))) announce(`${type.name} is removed`);
  }
}

function setKey(type, field) {
  const key = field.value.trim().toLowerCase();
  const taken = state.types.find((other) => other.id !== type.id && other.key === key && key);
  const problem = RESERVED.includes(key)
    ? `${key} is a command. Choose a digit or another letter.`
    : taken
      ? `${key} is the key of ${taken.name}.`
      : "";
  field.setCustomValidity(problem);
  if (problem) return field.reportValidity();
  change(`/api/types/${encodeURIComponent(type.id)}`, { key });
}

function colourPicker(type, choose) {
  const options = Array.from({ length: SLOTS }, (_, slot) =>
    h("button", {
      type: "button",
      class: `swatch c${slot}`,
      "aria-label": `Colour ${slot + 1}`,
      "aria-pressed": String(slot === type.colour),
      onclick: () => choose(slot),
    }),
  );
  return h("details", { class: "colours" }, h("summary", { class: `swatch c${type.colour}`, "aria-label": `Colour of ${type.name}` }), h("div", {}, options));
}
