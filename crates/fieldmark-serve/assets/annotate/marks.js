// From what is known and what the model suggests to the spans that are drawn. Places are tokens of the document.

// { spans, outside }: spans in order, without overlap; `outside` the tokens that a person has put outside of all spans.
export function marksOf({ known = [], suggestions = [] }) {
  const says = new Map();
  for (const assertion of known) {
    for (let token = assertion.start; token < assertion.end; token++) says.set(token, assertion);
  }
  const spans = knownSpans(says);
  const outside = new Set();
  for (const [token, { type }] of says) if (type === null) outside.add(token);
  const kept = suggestions.filter((suggestion) => suggestion.type !== null && isNews(suggestion, says));
  const covered = (span) =>
    span.open && kept.some((other) => other.start <= span.start && span.end <= other.end && other.type === span.type);
  const all = spans.filter((span) => !covered(span)).concat(kept.map((span) => ({ ...span, how: "suggested" })));
  all.sort((a, b) => a.start - b.start);
  return { spans: all, outside };
}

// Later assertions win, token by token; what is left of an earlier one is drawn where it is left.
function knownSpans(says) {
  const tokens = [...says.keys()].sort((a, b) => a - b);
  const spans = [];
  for (const token of tokens) {
    const { type, borders, start } = says.get(token);
    if (type === null) continue;
    const last = spans.at(-1);
    const open = borders === "open";
    const goes = last && last.end === token && last.type === type && last.open === open;
    if (goes && (open || last.from === start)) last.end = token + 1;
    else spans.push({ start: token, end: token + 1, type, how: "known", open, from: start });
  }
  return spans;
}

// Whether a suggestion says more than people have said, and nothing else.
function isNews({ start, end, type }, says) {
  for (let token = start; token < end; token++) {
    const said = says.get(token);
    if (said && (said.type !== type || said.borders !== "open")) return false;
  }
  return true;
}

// What a person says by making a range one span of a type (or none, with null): spans that it cuts lose the rest of
// their tokens, because a span with a piece missing is no span.
export function assertionsFor(range, type, spans, cut = []) {
  const assertions = [{ ...range, type, borders: "exact" }];
  const parts = spans.filter((span) => span.how === "known" && span.start < range.end && range.start < span.end);
  for (const part of new Set([...parts, ...cut])) {
    if (part.start < range.start) assertions.push({ start: part.start, end: range.start, type: null, borders: "exact" });
    if (part.end > range.end) assertions.push({ start: range.end, end: part.end, type: null, borders: "exact" });
  }
  return assertions;
}

// Spans with a range made one span of a type, or freed with null.
export function replaced(spans, range, type) {
  const rest = spans.filter((span) => span.end <= range.start || range.end <= span.start);
  if (type !== null) rest.push({ ...range, type, how: "draft" });
  return rest.sort((a, b) => a.start - b.start);
}

export const bare = (spans) => spans.map(({ start, end, type }) => ({ start, end, type }));
