// What people do: sent through the outbox, undone and redone in one line for the whole project.
import { send } from "./api.js";
import { announce, toast } from "./dom.js";
import { changed, state } from "./state.js";

// Does something; resolves with the answer, or with null if it was refused (the reader is told why).
export async function act(body) {
  try {
    return await send("/api/actions", body);
  } catch (error) {
    refused(error);
    return null;
  }
}

export function refused(error) {
  const text = `Not done: ${error.message}`;
  toast(text, null, 12);
  announce(text);
}

export const undo = () => turn("/api/undo", state.canUndo, "Nothing to undo");
export const redo = () => turn("/api/redo", state.canRedo, "Nothing to redo");

async function turn(path, possible, nothing) {
  if (!possible) return toast(nothing, null, 2);
  try {
    const answer = await send(path, {});
    const { summary } = answer.action;
    const text = summary.charAt(0).toUpperCase() + summary.slice(1);
    toast(text, null, 4);
    announce(text);
    changed("turned", answer);
  } catch (error) {
    refused(error);
  }
}
