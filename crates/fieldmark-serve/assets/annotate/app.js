// The page: views by address, the head with the state of model and saving, and the keys that work everywhere.
import { redo, undo } from "./actions.js";
import { AdjudicateView } from "./adjudicate.js";
import { AgreementView } from "./agreement.js";
import { listen, loadProject, resume, retry, watchOutbox } from "./api.js";
import { AskView } from "./ask.js";
import { showHelp } from "./dialogs.js";
import { DocumentsView } from "./documents.js";
import { button, fill, h } from "./dom.js";
import { DoubtsView } from "./doubts.js";
import { commands, install, setCommands } from "./keys.js";
import { ProgressView } from "./progress.js";
import { ReadView } from "./read.js";
import { SettingsView } from "./settings.js";
import { state, watch } from "./state.js";
import { TakeView } from "./take.js";
import { TypesView } from "./types.js";
import { count } from "./words.js";

const VIEWS = {
  ask: AskView,
  documents: DocumentsView,
  read: ReadView,
  progress: ProgressView,
  agreement: AgreementView,
  adjudicate: AdjudicateView,
  doubts: DoubtsView,
  types: TypesView,
  take: TakeView,
  settings: SettingsView,
};

const TABS = [
  ["ask", "Ask", ["ask"]],
  ["documents", "Documents", ["documents", "read"]],
  ["progress", "Progress", ["progress"]],
  ["agreement", "Agreement", ["agreement", "adjudicate"]],
  ["doubts", "Doubts", ["doubts"]],
  ["types", "Types", ["types"]],
  ["take", "Take away", ["take"]],
  ["settings", "Settings", ["settings"]],
];

const byId = (id) => document.getElementById(id);
let view = null;

function everywhere() {
  return [
    { keys: ["u", "z"], label: "undo", run: undo },
    { keys: ["shift+z"], label: "redo", run: redo },
    { keys: ["?"], label: "these shortcuts", run: () => showHelp(commands()) },
  ];
}

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const chosen = name in VIEWS ? name : "ask";
  view?.leave();
  view = new VIEWS[chosen](...rest);
  view.enter();
  setCommands(() => [...view.commands(), ...everywhere()]);
  fill(
    byId("views"),
    TABS.map(([to, label, names]) => h("a", { href: `#${to}`, "aria-current": names.includes(chosen) ? "page" : null }, label)),
  );
  byId("views").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  byId("main").replaceChildren(view.element);
  document.title = `${view.title} – ${state.project.name}`;
  window.scrollTo(0, 0);
  if (chosen !== "ask" && chosen !== "read") byId("main").focus({ preventScroll: true });
}

function drawHead() {
  byId("name").textContent = state.project.name;
  byId("undo").disabled = !state.canUndo;
  byId("redo").disabled = !state.canRedo;
  const { model = {}, progress = {} } = state.project;
  const chip = byId("model");
  chip.hidden = false;
  chip.classList.toggle("works", Boolean(model.training));
  chip.classList.toggle("warn", Boolean(model.problem));
  chip.title = model.problem ?? "";
  const words = model.version ? `model ${model.version}` : "no model yet";
  fill(chip, model.training ? `${words}, learning` : words, h("span", { class: "more" }, ` · ${count(progress.answers ?? 0, "answer")}`));
}

// An answer is saved when the server has said so, not before.
function drawSaving({ waiting, trouble }) {
  const chip = byId("saving");
  chip.hidden = waiting === 0;
  chip.textContent = trouble ? `${count(waiting, "change")} not saved` : "saving …";
  chip.classList.toggle("warn", Boolean(trouble));
  const box = byId("trouble");
  if (!trouble) box.hidden = true;
  else if (box.dataset.words !== `${waiting} ${trouble}`) {
    fill(box, `Not saved: ${trouble}. ${count(waiting, "change")} will be sent again until the server has stored it. `, button("Try now", retry, { kind: "small" }));
  }
  if (trouble) box.hidden = false;
  box.dataset.words = trouble ? `${waiting} ${trouble}` : "";
}

function explain(error) {
  const words =
    error.status === 401
      ? "This page needs the link that the program printed when it was started: it ends in ?token=…"
      : `The project cannot be opened: ${error.message}.`;
  fill(byId("main"), h("div", { class: "card narrow", role: "alert" }, h("p", {}, words), button("Try again", () => location.reload())));
}

async function begin() {
  install();
  watchOutbox(drawSaving);
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  byId("help").addEventListener("click", () => showHelp(commands()));
  byId("leap").addEventListener("click", (event) => {
    event.preventDefault();
    (byId("main").querySelector(".text") ?? byId("main")).focus();
  });
  try {
    await loadProject();
  } catch (error) {
    return explain(error);
  }
  watch((what) => what !== "turned" && drawHead());
  drawHead();
  await resume();
  window.addEventListener("hashchange", route);
  route();
  listen();
}

begin();
