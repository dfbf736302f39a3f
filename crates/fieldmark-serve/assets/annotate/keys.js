// One key, one command. Each view has a list of commands; what is in it works, stands in the help, and can be
// shown as buttons.

// Letters that are commands in some view; types get other keys.
export const RESERVED = [..."abcdefknopsuxz0"];

let current = () => [];

export function setCommands(commands) {
  current = commands;
}

export const commands = () => current();

// The name of a pressed key: `a`, `shift+z`, `?`, `shift+ArrowLeft`.
export function nameOf(event) {
  let key = event.key;
  // Keyboards of other scripts: the letter that stands at the same place.
  if (key.length === 1 && key > "\u007f" && /^Key[A-Z]$/u.test(event.code)) key = event.code.slice(3);
  if (key.length === 1) {
    const letter = /[a-z]/iu.test(key);
    key = key.toLowerCase();
    // Where digits and signs need the shift key, it says nothing.
    if (!letter) return key;
  }
  return event.shiftKey ? `shift+${key}` : key;
}

const WRITING = "input, textarea, select, [contenteditable]";

export function handle(event) {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.target.matches?.(WRITING)) return;
  let name = nameOf(event);
  if (event.ctrlKey || event.metaKey) {
    const known = { z: "u", "shift+z": "shift+z", y: "shift+z" };
    if (!(name in known) || event.altKey) return;
    name = known[name];
  } else if (event.altKey) {
    return;
  }
  // Buttons and links keep the keys that press them.
  if ((name === "Enter" || name === " ") && event.target.closest?.("button, a, summary")) return;
  const command = current().find(({ keys }) => keys.includes(name));
  if (!command) return;
  event.preventDefault();
  if (event.repeat && !command.repeats) return;
  command.run(event);
}

export function install() {
  document.addEventListener("keydown", handle);
}
