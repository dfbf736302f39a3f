// Draws marked text. Whatever comes from the text or the model becomes text nodes, never HTML.

const COLOURS = 10;

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A probability in whole percent; what is not quite certain is not shown as 0% or 100%.
export function percent(probability) {
  if (probability > 0 && probability < 0.01) return "<1%";
  if (probability > 0.99 && probability < 1) return ">99%";
  return `${Math.round(probability * 100)}%`;
}

// Gives each type the colour that its name hashes to, or the next free one, as the pages of `fieldmark tag` do.
export function palette(kinds) {
  const slots = new Map();
  const taken = new Set();
  for (const kind of [...new Set(kinds)].sort()) {
    const preferred = hash(kind) % COLOURS;
    let slot = preferred;
    for (let step = 0; step < COLOURS && taken.has(slot); step += 1) {
      slot = (preferred + step + 1) % COLOURS;
    }
    if (taken.has(slot)) slot = preferred;
    taken.add(slot);
    slots.set(kind, slot);
  }
  return (kind) => `c${slots.get(kind) ?? 0}`;
}

// FNV-1a over UTF-8, with the upper half folded in.
function hash(name) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return (value ^ (value >>> 16)) >>> 0;
}

// Text with marks, nested as they are. A mark that crosses the end of another goes on after it.
export function draw(text, spans, colour, choose) {
  const pieces = spans.map((span, number) => ({ ...span, number, begins: true }));
  const out = document.createDocumentFragment();
  drawRange(out, text, 0, text.length, pieces, colour, choose);
  return out;
}

function drawRange(out, text, start, end, pieces, colour, choose) {
  const queue = [...pieces].sort((a, b) => a.start - b.start || b.end - a.end || a.number - b.number);
  let at = start;
  while (queue.length > 0) {
    const piece = queue.shift();
    const inner = [];
    const rest = [];
    for (const other of queue) {
      if (other.start >= piece.end) {
        rest.push(other);
      } else if (other.end <= piece.end) {
        inner.push(other);
      } else {
        inner.push({ ...other, end: piece.end });
        rest.push({ ...other, start: piece.end, begins: false });
      }
    }
    queue.splice(0, queue.length, ...rest.sort((a, b) => a.start - b.start || b.end - a.end || a.number - b.number));
    out.append(text.slice(at, piece.start));
    const mark = makeMark(piece, colour(piece.type), choose);
    drawRange(mark, text, piece.start, piece.end, inner, colour, choose);
    if (piece.begins) mark.append(tagOf(piece));
    mark.style.setProperty("--depth", String(depth(mark)));
    out.append(mark);
    at = piece.end;
  }
  out.append(text.slice(at, end));
}

function depth(mark) {
  const inner = [...mark.children].filter((child) => child.localName === "mark");
  return inner.reduce((deepest, child) => Math.max(deepest, 1 + depth(child)), 0);
}

function makeMark(piece, colour, choose) {
  const mark = element("mark", { class: colour, "data-span": piece.number });
  const sure = piece.confidence;
  if (sure === null || sure === undefined) {
    mark.classList.add("unsaid");
  } else if (sure < 0.5) {
    mark.classList.add("doubt");
  } else {
    mark.style.setProperty("--sure", String(sure));
  }
  mark.addEventListener("click", (event) => {
    event.stopPropagation();
    choose(piece.number);
  });
  return mark;
}

function tagOf(piece) {
  const sure = piece.confidence ?? null;
  const words = sure === null || piece.plain ? piece.type : `${piece.type} ${percent(sure)}`;
  return element("span", { class: "tag" }, words);
}
