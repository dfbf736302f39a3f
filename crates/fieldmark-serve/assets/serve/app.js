// The page: a text goes to the server, what it finds comes back, and a click asks why.

import * as api from "./api.js";
import { draw, element, palette, percent } from "./marks.js";
import { reasons } from "./why.js";

const at = (id) => document.getElementById(id);
const page = { models: [], answer: null, text: "", model: null, spans: [], asked: 0, opener: null };

function complain(error) {
  at("problem").textContent = error ? error.message : "";
  at("problem").hidden = !error;
}

function current() {
  return page.models.find((model) => model.name === at("model").value) ?? page.models[0];
}

function describe() {
  const model = current();
  const known = [model.title, model.description].filter(Boolean).join(": ").replace(/[^.!?]$/u, "$&.");
  const kinds = model.types.length > 0 ? ` It marks ${model.types.join(", ")}.` : "";
  at("about").textContent = `${known || "Write or paste a text, and see what the model finds in it."}${kinds}`;
}

async function start() {
  try {
    page.models = await api.models();
  } catch (error) {
    complain(error);
    return;
  }
  for (const model of page.models) {
    at("model").append(element("option", { value: model.name }, model.name));
  }
  at("models").hidden = page.models.length < 2;
  // A link may bring a text along: #text=…&model=…
  const given = new URLSearchParams(location.hash.slice(1));
  if (page.models.some((model) => model.name === given.get("model"))) at("model").value = given.get("model");
  describe();
  if (given.get("text")) {
    at("text").value = given.get("text");
    await mark();
    const why = Number.parseInt(given.get("why"), 10);
    if (page.spans[why]) await choose(why);
  }
}

async function mark() {
  const text = at("text").value;
  if (text.trim() === "") {
    complain(new Error("There is no text yet."));
    at("text").focus();
    return;
  }
  complain(null);
  const number = (page.asked += 1);
  const button = at("form").querySelector("button");
  button.disabled = true;
  at("status").textContent = "Marking …";
  try {
    const model = current().name;
    const answer = await api.tag(model, text);
    if (number === page.asked) show(model, text, answer);
  } catch (error) {
    if (number === page.asked) complain(error);
    at("status").textContent = "";
  } finally {
    button.disabled = false;
  }
}

// Labels of tokens are drawn as spans whose types stand under the words.
function asSpans(answer) {
  if (!answer.tokens) return answer.spans;
  const tokens = answer.tokens.map((token) => ({
    start: token.start,
    end: token.end,
    text: token.text,
    type: Object.values(token.labels).join(" · "),
    confidence: token.confidence,
    plain: true,
  }));
  return [...answer.spans, ...tokens];
}

function show(model, text, answer) {
  close();
  Object.assign(page, { model, text, answer, spans: asSpans(answer) });
  const kinds = page.spans.map((span) => span.type);
  const colour = palette(kinds);
  const counts = new Map();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const legend = [...counts].sort().map(([kind, count]) => {
    const name = element("span", { class: `kind ${colour(kind)}` }, kind);
    return element("li", {}, name, ` ${count}`);
  });
  at("legend").replaceChildren(...legend);
  at("key").hidden = page.spans.length === 0;
  const whole = Object.entries(answer.labels ?? {}).map(([name, label]) => `The whole text: ${name} is ${label}.`);
  const notices = [...whole, ...(answer.notices ?? [])];
  at("notices").replaceChildren(...notices.map((notice) => element("li", {}, notice)));
  at("marked").classList.toggle("tokens", Boolean(answer.tokens));
  at("marked").replaceChildren(draw(text, page.spans, colour, choose));
  at("list").replaceChildren(table(colour));
  at("result").hidden = false;
  const number = answer.tokens ? `${answer.tokens.length} tokens` : count(answer.spans.length);
  at("found-heading").textContent = `Found: ${number}`;
  at("status").textContent = `Found ${number}.`;
}

function count(spans) {
  return spans === 1 ? "1 span" : `${spans} spans`;
}

// The same for those who do not see the marks or use no mouse.
function table(colour) {
  const rows = page.spans.map((span, number) => {
    const button = element(
      "button",
      { type: "button", class: "quiet", "data-why": number, "aria-label": `Why is “${span.text}” ${span.type}?` },
      "Why?",
    );
    button.addEventListener("click", () => choose(number));
    const sure = span.confidence ?? null;
    const words = (span.identifiers ?? []).length > 0 ? `${span.text} (${span.identifiers.join(", ")})` : span.text;
    return element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, words),
      element("td", {}, element("span", { class: `kind ${colour(span.type)}` }, span.type)),
      element("td", { class: "number" }, sure === null ? "not said" : percent(sure)),
      element("td", {}, button),
    );
  });
  if (rows.length === 0) return "";
  const names = ["Text", "Type", "Sure", ""].map((name) =>
    name ? element("th", { scope: "col", class: name === "Sure" ? "number" : "" }, name) : element("td"),
  );
  return element(
    "table",
    { class: "spans" },
    element("thead", {}, element("tr", {}, ...names)),
    element("tbody", {}, ...rows),
  );
}

async function choose(number) {
  const span = page.spans[number];
  const asked = (page.asked += 1);
  for (const mark of document.querySelectorAll("mark")) {
    mark.classList.toggle("chosen", mark.dataset.span === String(number));
  }
  page.opener = document.querySelector(`[data-why="${number}"]`);
  complain(null);
  try {
    const answer = await api.explain(page.model, page.text, span.start, span.end);
    if (asked !== page.asked) return;
    at("why-heading").textContent = `Why “${span.text}” is ${span.type}`;
    at("reasons").replaceChildren(reasons(answer, span.plain ? "" : span.type));
    at("why").hidden = false;
    document.body.classList.add("wide");
    at("why-heading").focus();
    at("why").scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (asked === page.asked) complain(error);
  }
}

function close() {
  if (at("why").hidden) return;
  at("why").hidden = true;
  for (const mark of document.querySelectorAll("mark.chosen")) mark.classList.remove("chosen");
  page.opener?.focus();
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  mark();
});
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    mark();
  }
});
at("model").addEventListener("change", describe);
at("close").addEventListener("click", close);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
start();
