// Numbers, times and words as people read them.
import { signal } from "@preact/signals";

export const clock = signal(Date.now());
setInterval(() => { clock.value = Date.now(); }, 5000);

export function money(usd) {
  return usd ? `$${usd < 10 ? usd.toFixed(2) : usd.toFixed(0)}` : "–";
}

export function many(n) {
  if (n < 1000) return String(n);
  return n < 1e6 ? `${(n / 1000).toFixed(n < 1e4 ? 1 : 0)}k` : `${(n / 1e6).toFixed(1)}M`;
}

export function lasted(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  const minutes = seconds / 60;
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${Math.floor(minutes % 60)} min` : `${Math.floor(hours / 24)} days`;
}

export const between = (from, to) => lasted((Date.parse(to) - Date.parse(from)) / 1000);

export function ago(at) {
  const seconds = (clock.value - Date.parse(at)) / 1000;
  return seconds < 5 ? "now" : `${lasted(seconds)} ago`;
}

export const time = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export const day = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hour12: false });
export const tokens = (u) => u.input_tokens + u.output_tokens + u.cached_tokens;
export const bytes = (n) => (n < 1024 ? `${n} B` : n < 1e6 ? `${(n / 1024).toFixed(0)} KB` : `${(n / 1048576).toFixed(1)} MB`);
export const words = (name) => String(name).toLowerCase().replaceAll("_", " ").replaceAll("-", " ");
// An agent as it was named, without the folders of this machine.
export const agentName = (spec) => { const [, kind, rest] = /^(scripted|command): *([^]*)$/.exec(spec) ?? []; return kind ? `${kind}: ${rest.split(/\s+/).map((w) => w.split("/").pop()).join(" ")}` : spec; };
export const sentence = (text) => { const w = words(text); return w.charAt(0).toUpperCase() + w.slice(1); };

// What colour a verdict or a state speaks in.
export const TONE = {
  SUCCESS: "good", FAILURE: "bad", ERROR: "odd", REFUSED: "warn", LOCKED: "warn", NEEDS_ANALYSIS: "info", HALTED: "wait", BUSY: "quiet", STALE: "quiet",
};
export function toneOf(run) {
  if (run.group === "ended") return run.outcome === "done" ? "good" : "quiet";
  return run.group === "waiting" ? "wait" : run.pushed && !run.driven ? "quiet" : "info";
}
