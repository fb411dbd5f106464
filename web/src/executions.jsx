// Executions of work items, for every view that shows them: how they are told, and what can be done about one.
import { signal } from "@preact/signals";
import { call } from "./api.js";
import { between, clock, money } from "./format.js";
import { Button, Link } from "./parts.jsx";
import { at, attempt, questions, tell } from "./store.js";

export const TONES = { running: "info", ready: "quiet", waiting: "quiet", done: "good", failed: "bad", blocked: "wait", cancelled: "quiet" };
export const GROUPS = [["running", "At work"], ["ready", "Next"], ["waiting", "Waits for others"], ["blocked", "Blocked"], ["failed", "Failed"], ["done", "Done"], ["cancelled", "Cancelled"]];
export const LIVE = ["running", "ready", "waiting"];
const AGAIN = ["failed", "blocked", "cancelled"];
const ENDS = ["", "COMPLETED", "FAILED", "BLOCKED", "TIMEOUT", "CANCELLED"]; // of a run; empty: it has none here

// The queue as it stood when it was last asked for, with the newest of its executions by id; null: not yet.
export const queue = signal(null);
export async function loadQueue() {
  const got = await call("/api/executions?all=true&limit=200");
  queue.value = { ...got, by: new Map(got.executions.map((e) => [e.id, e])) };
}
export const inUse = (q) => q !== null && (q.workers > 0 || q.executions.length > 0 || q.paused !== "");

// Slots and queue in a few words.
export const standing = (q) => `${q.workers > 0 ? `${q.counts.running} of ${q.slots} slots` : "No worker"}, ${q.counts.ready} next, ${q.counts.waiting} waiting`;

export const took = (e) => (e.started ? between(e.started, e.ended ?? new Date(clock.value).toISOString()) : "–");
export const spent = (e) => [e.usage.usd > 0 && money(e.usage.usd), e.started && took(e)].filter(Boolean).join(", ");

// What can be done about an execution as it stands. `among`: those that are known, so that only the newest one of an item is tried again.
export function Acts({ e, among, kind = "", onAsk, onDone }) {
  const open = !ENDS.includes(e.run_state);
  const letting = e.state === "cancelled" && open; // its worker still lets it go
  const asked = open && questions.value.find((q) => [e.id, `${e.id}.work`].includes(q.run)); // its own question, or that of its inner run
  const newest = !among.some((other) => other.item === e.item && other.added > e.added);
  const act = (verb, body, good) => attempt(async () => { await call(`/api/executions/${e.id}/${verb}`, body); tell(good, "good"); await onDone(); return true; });
  const review = () => attempt(async () => { const r = await call("/api/reviews", { branch: e.branch }); tell(r.summary || "Reviewed.", r.pr_ready ? "good" : "warn", r.items.length ? `Filed: ${r.items.join(", ")}` : ""); await onDone(); });
  const cancel = () => onAsk({ title: "Cancel this execution?", label: "Why (kept in the journal)", action: "Cancel it", kind: "danger", needed: false, hint: "Its processes end. Its branch stays, and it can be tried again.", onSay: (text) => act("cancel", { reason: text || "cancelled on the page" }, "It was cancelled.") });
  return (
    <>
      {asked && <Link to={at("inbox", asked.id)} class={`button ${kind}`}>Answer</Link>}
      {e.branch && e.state === "done" && <Button onClick={review} title="A fresh agent reads the branch; what it finds becomes items">Review</Button>}
      {AGAIN.includes(e.state) && newest && !letting && (!asked || e.run_state === "NOT_READY") && <Button kind={asked ? "" : kind} onClick={() => act("retry", {}, "It is queued again.")}>Try again</Button>}
      {(open ? !letting : e.run_state === "" && LIVE.includes(e.state)) && <Button kind="plain" onClick={cancel}>Cancel</Button>}
    </>
  );
}
