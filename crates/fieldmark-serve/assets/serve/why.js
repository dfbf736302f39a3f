// Says why tokens got their labels: runner-up, and what spoke for either.

import { element, percent } from "./marks.js";

// The reasons for a place, as the server gave them.
export function reasons(answer, expected) {
  const out = document.createDocumentFragment();
  const said = answer.decisions.map((decision) => decision.label);
  if (expected && !said.some((label) => label.endsWith(expected))) {
    out.append(
      element("p", { class: "soft" }, `The labels of these tokens do not say ${expected}: what happens after the model, such as marking a name wherever it occurs, found this span.`),
    );
  }
  if (answer.decisions.some((decision) => decision.reasons.length > 0)) {
    out.append(element("p", { class: "soft" }, "Weights above 0 speak for the label, below 0 for the runner-up."));
  }
  for (const decision of answer.decisions) {
    out.append(...oneToken(decision));
  }
  if (answer.note) {
    out.append(element("p", { class: "soft" }, answer.note));
  }
  return out;
}

function oneToken(decision) {
  const parts = [];
  const heading = element("h3", { dir: "auto" }, `“${decision.token}”`);
  parts.push(heading);
  const label = element("strong", {}, decision.label);
  const line = element("p", {}, decision.layer ? `${decision.layer}: ` : "", label);
  if (decision.probability !== null) line.append(` ${percent(decision.probability)}`);
  if (decision.runner_up) {
    line.append(`, rather than ${decision.runner_up.label} ${percent(decision.runner_up.probability)}`);
  } else {
    line.append("; no other label is possible here");
  }
  parts.push(line);
  if (decision.reasons.length > 0) parts.push(table(decision));
  if (decision.others > 0) {
    parts.push(
      element("p", { class: "soft" }, `${decision.others} weaker reasons add ${signed(decision.others_difference)}.`),
    );
  }
  return parts;
}

function table(decision) {
  const largest = Math.max(...decision.reasons.map((reason) => Math.abs(reason.difference)));
  const rows = decision.reasons.map((reason) => {
    const bar = element("i", { class: reason.difference > 0 ? "for" : "against" });
    bar.style.setProperty("--size", String(Math.abs(reason.difference) / largest));
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: "feature", dir: "auto" }, reason.feature),
      element("td", { class: "number" }, signed(reason.difference)),
      element("td", { class: "balance", "aria-hidden": "true" }, element("div", { class: "beam" }, bar)),
    );
  });
  return element(
    "table",
    { class: "reasons" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "Feature"),
        element("th", { scope: "col", class: "number" }, "Weight"),
        element("td", { class: "balance" }),
      ),
    ),
    element("tbody", {}, ...rows),
  );
}

function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}
