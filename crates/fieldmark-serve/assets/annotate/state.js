// What all views know: the project, its types, whether there is something to undo.

const listeners = new Set();

export const state = {
  project: null,
  types: [],
  csrf: "",
  canUndo: false,
  canRedo: false,
};

// Calls `listener(what, detail)` after each change; gives a function that ends it.
export function watch(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function changed(what, detail) {
  for (const listener of [...listeners]) listener(what, detail);
}

export function setProject(project) {
  state.project = project;
  state.csrf = project.csrf ?? state.csrf;
  state.canUndo = project.can_undo ?? state.canUndo;
  state.canRedo = project.can_redo ?? state.canRedo;
  setTypes(project.types ?? []);
  changed("project");
}

export function setTypes(types) {
  state.types = types.filter((type) => !type.removed);
  if (state.project) state.project.types = state.types;
  changed("types");
}

// Takes over what an answer of the server says about the project.
export function setAnswer(answer) {
  if (answer.can_undo !== undefined) state.canUndo = answer.can_undo;
  if (answer.can_redo !== undefined) state.canRedo = answer.can_redo;
  if (answer.project) setNews(answer.project);
  changed("answer");
}

// News of the model and of progress.
export function setNews({ model, progress }) {
  if (!state.project) return;
  const before = state.project.model?.version;
  if (model) state.project.model = { ...state.project.model, ...model };
  if (progress) state.project.progress = { ...state.project.progress, ...progress };
  changed("news");
  if (model && before !== undefined && model.version !== undefined && model.version !== before) changed("model");
}

// The type of a name or id.
export function typeOf(name) {
  return state.types.find((type) => type.name === name || type.id === name) ?? null;
}

// The class with the colours of a type; types that are gone are grey.
export function colourOf(name) {
  const type = typeOf(name);
  return type ? `c${((type.colour % 10) + 10) % 10}` : "c6";
}
