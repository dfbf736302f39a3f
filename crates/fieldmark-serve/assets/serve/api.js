// Talks to the server. Answers come as values, refusals as errors with the server's sentence.

const token = document.querySelector('meta[name="fieldmark-token"]').content;

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    // What is no JSON has no sentence either.
  }
  if (!response.ok || answer === null) {
    throw new Error(answer?.error ?? `The server answered with status ${response.status}.`);
  }
  return answer;
}

function post(path, body, signal) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Fieldmark-Token": token },
    body: JSON.stringify(body),
    signal,
  });
}

export const models = () => ask("/v1/models").then((answer) => answer.models);

// JavaScript counts places in UTF-16.
export const tag = (model, text) => post("/v1/tag", { model, text, unit: "utf16" });

export const explain = (model, text, start, end) =>
  post("/v1/explain", { model, text, start, end, unit: "utf16", top: 8 });
