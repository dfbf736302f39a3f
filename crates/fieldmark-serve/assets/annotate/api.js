// Requests. What changes something goes through the outbox: one after the other, in order, repeated with the same
// request id until the server has said that it is stored, or has refused it. The server answers a repeated request
// without doing it again, so that nothing is lost and nothing happens twice.
import { setAnswer, setNews, setProject, state } from "./state.js";

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE = 20_000;
const STORED = "fieldmark-outbox";

async function request(method, path, body, options = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Fieldmark-Token"] = state.csrf;
  if (body !== undefined && !options.raw) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : options.raw ? body : JSON.stringify(body),
    credentials: "same-origin",
    cache: "no-store",
    signal: AbortSignal.timeout(options.patience ?? PATIENCE),
  });
  if (response.ok && options.blob) return response;
  const text = await response.text();
  let answer = null;
  try {
    answer = JSON.parse(text);
  } catch {
    if (response.ok) throw new Refusal(502, "the answer of the server was cut short");
  }
  if (!response.ok) throw new Refusal(response.status, answer?.error ?? `the server said ${response.status}`);
  return answer;
}

export const get = (path, options) => request("GET", path, undefined, options);

export async function loadProject() {
  setProject(await get("/api/project"));
  return state.project;
}

// A server that was started anew has a new token against forged requests.
async function withFreshToken(run) {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    await loadProject();
    return run();
  }
}

// Sends a file; not repeated by itself, because people see whether it came through.
export function upload(path, body) {
  return withFreshToken(() => request("POST", path, body, { raw: true, patience: 600_000 }));
}

// Asks for work that changes no answer.
export function start(path, body = {}) {
  return withFreshToken(() => request("POST", path, { request: newId(), ...body }));
}

// Lets the reader save what the server sends. Tells the name of the file, and what it does not hold.
export async function download(path, name) {
  const response = await get(path, { blob: true, patience: 3_600_000 });
  const given = /filename="?([^";]+)"?/u.exec(response.headers.get("Content-Disposition") ?? "");
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = given?.[1] ?? name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return { saved: link.download, warning: response.headers.get("X-Fieldmark-Warning") };
}

// The outbox.

const waiting = [];
const outboxListeners = new Set();
let busy = false;
let trouble = null;
let wake = null;

export function watchOutbox(listener) {
  outboxListeners.add(listener);
}

function tell() {
  for (const listener of outboxListeners) listener({ waiting: waiting.length, trouble });
}

function newId() {
  // randomUUID exists on secure pages only, and a project may be served by plain HTTP in a local network.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function keep() {
  const entries = waiting.map(({ path, body }) => ({ path, body }));
  try {
    if (entries.length) sessionStorage.setItem(STORED, JSON.stringify(entries));
    else sessionStorage.removeItem(STORED);
  } catch {
    // Without storage, answers that wait do not outlive the page; leaving it asks first.
  }
}

// Sends something that must not be lost. Resolves with the answer when it is stored; rejects if it was refused.
export function send(path, body) {
  return new Promise((resolve, reject) => {
    waiting.push({ path, body: { request: newId(), ...body }, resolve, reject });
    keep();
    tell();
    work();
  });
}

// What a page that was closed had not got through.
export function resume() {
  let entries = [];
  try {
    entries = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
  } catch {
    sessionStorage.removeItem(STORED);
  }
  return Promise.allSettled(
    entries.map(
      ({ path, body }) =>
        new Promise((resolve, reject) => {
          waiting.push({ path, body, resolve, reject });
          work();
        }),
    ),
  );
}

const temporary = (error) =>
  !(error instanceof Refusal) || error.status >= 500 || error.status === 408 || error.status === 429;

async function work() {
  if (busy) return;
  busy = true;
  for (let pause = 500; waiting.length; ) {
    const entry = waiting[0];
    try {
      const answer = await withFreshToken(() => request("POST", entry.path, entry.body));
      trouble = null;
      done(entry);
      setAnswer(answer);
      entry.resolve(answer);
    } catch (error) {
      if (temporary(error)) {
        trouble = error instanceof Refusal ? error.message : "the server cannot be reached";
        tell();
        await rest(pause);
        pause = Math.min(pause * 2, 8000);
        continue;
      }
      trouble = null;
      done(entry);
      entry.reject(error);
    }
    pause = 500;
  }
  busy = false;
}

function done(entry) {
  waiting.splice(waiting.indexOf(entry), 1);
  keep();
  tell();
}

function rest(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

// Tries at once instead of after the pause.
export function retry() {
  wake?.();
}

window.addEventListener("online", retry);
window.addEventListener("beforeunload", (event) => {
  if (waiting.length) event.preventDefault();
});

// News by server-sent events; the browser connects again by itself unless the server refuses.
export function listen() {
  let source = null;
  const connect = () => {
    source = new EventSource("/api/events");
    source.onmessage = ({ data }) => setNews(JSON.parse(data));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(connect, 5000);
    };
  };
  connect();
  window.addEventListener("pagehide", () => source.close());
  window.addEventListener("pageshow", (event) => event.persisted && connect());
}
