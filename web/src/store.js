// What every view shares: the runs, the open questions, where we are, and short messages.
import { computed, signal } from "@preact/signals";
import { call, follow } from "./api.js";

export const runs = signal(new Map());
export const loaded = signal(false);
export const project = signal("");
export const configured = signal("");
export const questions = signal([]);
export const waiting = computed(() => questions.value.length);
export const phone = signal(matchMedia("(max-width: 760px)").matches);
matchMedia("(max-width: 760px)").addEventListener("change", (e) => { phone.value = e.matches; });

// -- where we are ------------------------------------------------------------------------------------------------------------

export const path = signal(location.pathname);
addEventListener("popstate", () => { path.value = location.pathname; });
export function go(to) {
  if (to !== location.pathname) history.pushState(null, "", to);
  path.value = to;
}

// -- messages ----------------------------------------------------------------------------------------------------------------

export const notes = signal([]);
let number = 0;
export function tell(text, tone = "info", hint = "") {
  const id = ++number;
  notes.value = [...notes.value.slice(-3), { id, text, tone, hint }];
  setTimeout(() => drop(id), tone === "bad" ? 12000 : 5000);
}
export const drop = (id) => { notes.value = notes.value.filter((n) => n.id !== id); };

// Do something that may go wrong, and say so if it does; what came of it, or undefined.
export async function attempt(work) {
  try {
    return await work();
  } catch (e) {
    tell(e.message, "bad", e.hint);
    return undefined;
  }
}

// A verdict is a value: what was refused is told with its reasons.
export function told(verdict, good) {
  if (verdict === undefined) return false;
  const fine = verdict.status === "SUCCESS" || verdict.status === "NEEDS_ANALYSIS";
  tell(fine ? good : verdict.reasons.join(" ") || verdict.status, fine ? "good" : "warn", fine ? "" : verdict.instruction);
  return fine;
}

// -- runs and questions ------------------------------------------------------------------------------------------------------

export async function load() {
  const all = await call("/api/runs?limit=1000");
  runs.value = new Map(all.runs.map((r) => [r.run, r]));
  project.value = all.project;
  configured.value = all.agent;
  loaded.value = true;
  await ask();
}

let asking = 0;
export async function ask() {
  const mine = ++asking;
  const found = await call("/api/decisions");
  if (mine === asking) questions.value = found.decisions;
}

let soon = 0;
export function watch() {
  const again = () => attempt(load);
  again();
  return follow("/api/stream", (kind, row) => {
    if (kind !== "run") return;
    const next = new Map(runs.value);
    next.set(row.run, row);
    runs.value = next;
    clearTimeout(soon);
    soon = setTimeout(() => attempt(ask), 200);
  }, again);
}
