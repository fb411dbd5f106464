// What every view shares: the runs, the open questions, where we are, and short messages.
import { computed, signal } from "@preact/signals";
import { call, follow } from "./api.js";

export const runs = signal(new Map());
export const counts = signal({ waiting: 0, working: 0, ended: 0 });
export const loaded = signal(false);
export const project = signal("");
export const configured = signal("");
export const questions = signal([]);
export const asked = signal(false); // whether the questions are known
export const waiting = computed(() => questions.value.length);
export const phone = signal(matchMedia("(max-width: 760px)").matches);
matchMedia("(max-width: 760px)").addEventListener("change", (e) => { phone.value = e.matches; });

// -- where we are: the address says it all, so that a reload or a link shows the same ------------------------------------------

export const path = signal(location.pathname);
addEventListener("popstate", () => { path.value = location.pathname; });
export function go(to, instead = false) {
  if (to !== location.pathname) history[instead ? "replaceState" : "pushState"](null, "", to);
  path.value = to;
}
export const at = (...parts) => `/${parts.filter((p) => p !== "" && p !== undefined).map((p) => encodeURIComponent(p)).join("/")}`;
// The question that a run waits with.
export const asks = (run) => { const q = questions.value.find((each) => each.run && (each.run === run.acting || each.run === run.run)); return at("inbox", q?.id); };

// -- messages ----------------------------------------------------------------------------------------------------------------

export const notes = signal([]);
let number = 0;
export function tell(text, tone = "info", hint = "") {
  if ((tone === "bad" || tone === "warn") && document.querySelector("dialog[open]")) { trouble.value = { text, tone, hint }; return; }
  const id = ++number;
  notes.value = [...notes.value.slice(-3), { id, text, tone, hint }];
  setTimeout(() => drop(id), tone === "bad" ? 12000 : 5000);
}
// What went wrong in the dialog that is open: it stands there, since a message behind it would not be seen.
export const trouble = signal(null);
export const drop = (id) => { notes.value = notes.value.filter((n) => n.id !== id); };

// Do something that may go wrong, and say so if it does; what came of it, or undefined.
export async function attempt(work) {
  trouble.value = null;
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

const PAGE = 200;

export const ENDED = 20; // runs that have ended and are shown at first

// A page of the runs that fit, what waits first; where the next one begins, or null.
export async function load(wanted = { ended: ENDED }, offset = 0) {
  const words = new URLSearchParams({ ...wanted, sort: "group", limit: PAGE, offset });
  const all = await call(`/api/runs?${words}`);
  const next = new Map(runs.value);
  for (const r of all.runs) next.set(r.run, r);
  runs.value = next;
  counts.value = all.counts;
  project.value = all.project;
  configured.value = all.agent;
  loaded.value = true;
  return all.next;
}

const LATER = 12_000; // milliseconds until a run that lost its process counts as one that nobody drives
let asking = 0, again = 0;
export async function ask() {
  const mine = ++asking;
  const found = await call("/api/decisions");
  if (mine !== asking) return;
  questions.value = found.decisions;
  asked.value = true;
  clearTimeout(again);
  if ([...runs.value.values()].some((r) => r.group === "working" && r.pushed && !r.driven && !r.parent && r.workflow !== "execute" && !found.decisions.some((q) => q.run === r.run))) again = setTimeout(() => attempt(ask), LATER);
}

// -- the one stream of this tab ------------------------------------------------------------------------------------------------

let attended = null, reopen = () => {};

// Hear of one run or one execution beside the board, until the returned function is called.
export function attend(query, on) {
  const mine = { query, on };
  attended = mine;
  reopen();
  return () => { if (attended === mine) { attended = null; reopen(); } };
}

export function watch() {
  let stop = () => {}, board = "", soon = 0, later = 0;
  const begin = async () => { // what was missed; tried again until it is there
    clearTimeout(soon);
    if (!await attempt(async () => { await load(); await ask(); return true; })) soon = setTimeout(begin, 2000);
  };
  const open = () => {
    stop();
    const mine = attended;
    const query = mine ? `?${new URLSearchParams(mine.query)}` : "";
    stop = follow(`/api/stream${query}`, (kind, value, id) => {
      if (id) board = id.split(":")[0];
      if (kind === "hello" && !value.kept) begin();
      if (kind === "counts") counts.value = value;
      if (kind === "run") {
        runs.value = new Map(runs.value).set(value.run, value);
        clearTimeout(soon);
        soon = setTimeout(() => attempt(ask), 200);
      }
      mine?.on(kind, value);
    }, board);
  };
  reopen = () => { clearTimeout(later); later = setTimeout(open); };
  reopen();
  return () => { clearTimeout(soon); clearTimeout(later); reopen = () => {}; stop(); };
}
