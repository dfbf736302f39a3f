// Windows over the page: they take the keyboard until they are closed, and give it back.
import { button, cap, fill, h } from "./dom.js";

function open(title, build) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const heading = h("h2", { id: "dialog-title" }, title);
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, heading);
    let value = null;
    const close = (result) => {
      value = result;
      dialog.close();
    };
    dialog.append(...build(close));
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.({ preventScroll: true });
      resolve(value);
    });
    // A click beside the window closes it.
    dialog.addEventListener("click", (event) => event.target === dialog && close(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Asks for a text; null if the reader changed his mind.
export function askText(title, { about = "", value = "", long = false, label = "Save" } = {}) {
  return open(title, (close) => {
    const field = h(long ? "textarea" : "input", { class: "wide", dir: "auto", rows: long ? "4" : null, value, "aria-label": title });
    const form = h("form", {
      method: "dialog",
      onsubmit: (event) => {
        event.preventDefault();
        if (field.value.trim()) close(field.value.trim());
      },
    });
    if (long) {
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      });
    }
    fill(
      form,
      about && h("p", { class: "soft", dir: "auto" }, about),
      field,
      h(
        "p",
        { class: "row end" },
        long && h("span", { class: "soft hint" }, cap("ctrl"), cap("Enter"), " saves"),
        button("Cancel", () => close(null)),
        h("button", { class: "primary" }, label),
      ),
    );
    setTimeout(() => field.focus(), 0);
    return [form];
  });
}

// Asks which of several; options are [label, value].
export function askWhich(title, about, options) {
  return open(title, (close) => [
    h("p", { class: "soft", dir: "auto" }, about),
    h(
      "p",
      { class: "row" },
      options.map(([label, value], index) => {
        const choice = button(label, () => close(value), { kind: index ? "" : "primary" });
        if (!index) setTimeout(() => choice.focus(), 0);
        return choice;
      }),
      button("Cancel", () => close(null)),
    ),
  ]);
}

// All keys of a view.
export function showHelp(commands) {
  return open("Shortcuts", (close) => {
    const rows = commands
      .filter(({ label }) => label)
      .map(({ keys, label }) =>
        h("div", {}, h("dt", {}, keys.slice(0, 3).flatMap((key, index) => [index ? " " : "", cap(key)])), h("dd", {}, label)),
      );
    const done = button("Close", () => close(null), { kind: "primary" });
    setTimeout(() => done.focus(), 0);
    return [h("dl", { class: "shortcuts" }, rows), h("p", { class: "row end" }, done)];
  });
}
