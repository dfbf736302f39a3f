// Elements without markup: data come into the page as text nodes and attributes, never as HTML.

// h("p", { class: "lead", onclick: f }, "text", child, null) makes an element.
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

// The same for drawings; attributes only.
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Puts new children into an element.
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// A key cap.
export function cap(key) {
  return h("kbd", {}, keyName(key));
}

const KEY_NAMES = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "↵",
  Backspace: "⌫",
  Escape: "Esc",
  shift: "⇧",
  ctrl: "Ctrl",
};

// How a key is written on its cap: `shift+z` is ⇧Z.
export function keyName(key) {
  if (key === "+") return key;
  const name = (part) => KEY_NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part);
  return key.split("+").map(name).join("");
}

// A button with the key that does the same.
export function button(label, run, { key, kind = "", title } = {}) {
  const inside = key ? [cap(key), " ", label] : [label];
  return h("button", { type: "button", class: kind, onclick: run, title }, inside);
}

// Text of unknown direction inside of a sentence of ours.
export function isolated(text, properties = {}) {
  return h("bdi", properties, text);
}

const live = () => document.getElementById("live");

// Tells those who do not see the page what has happened.
export function announce(text) {
  // The same words twice are silent unless the region was empty in between.
  live().textContent = "";
  setTimeout(() => (live().textContent = text), 20);
}

// A note that goes away by itself; `action` is [label, function].
export function toast(text, action = null, seconds = 6) {
  const box = document.getElementById("toasts");
  const note = h("div", { class: "toast" }, h("span", { dir: "auto" }, text));
  const close = () => note.remove();
  if (action) {
    const [label, run] = action;
    note.append(button(label, () => (close(), run()), { kind: "plain" }));
  }
  note.append(h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: close }, "×"));
  // The last one is the one that matters; more would cover the text.
  box.replaceChildren(note);
  if (seconds) setTimeout(close, seconds * 1000);
  return note;
}
