// A new run: what is wanted, by which workflow, by which agent.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { agentName } from "./format.js";
import { Button, Dialog } from "./parts.jsx";
import { attempt, configured, go } from "./store.js";
import { T } from "./text.jsx";

export const starting = signal(false);

const FLOWS = [
  { id: "tdd", name: "tdd", says: "One feature, test by test: red, green, refactor.", label: "What is wanted", rows: 4, example: "Add a longest length to slugify; a slug ends after the last whole word that fits." },
  { id: "pr", name: "pr", says: "A plan, pull request by pull request, every step gated.", label: "The plan, by its path", rows: 1, example: "docs/plan.md" },
  { id: "pipeline", name: "pipeline", says: "From a request to a release, with you at the gates.", label: "What is wanted", rows: 4, example: "A till that adds prices and takes discounts off." },
];
const YES = [["approve-design", "approve the design"], ["review-strategy", "take the recommended review strategy"], ["notes=accept", "accept notes of reviewers"]];

const OTHER = "\0other"; // no agent is called so

// Who works: those that were found here, and whatever a person types. Which ones lack something, and what, stands below.
function Agent({ value, onPick }) {
  const [got, setGot] = useState({ configured: configured.value ? configured.value.split(", ") : [], agents: [] });
  const [typed, setTyped] = useState(false);
  useEffect(() => { call("/api/agents").then((found) => { setGot(found); setTyped((t) => t || !(found.configured.length || found.agents.some((a) => !a.lacks))); }, () => setTyped(true)); }, []);
  const ready = got.agents.filter((a) => !a.lacks && !got.configured.includes(a.agent)), lacking = got.agents.filter((a) => a.lacks);
  const pick = (next) => { setTyped(next === OTHER); onPick(next === OTHER ? "" : next); };
  return (
    <>
      <label class="field"><span>Agent</span><select name="agent" value={typed ? OTHER : value} onChange={(e) => pick(e.target.value)}>
        <option value="">{got.configured.length ? `As configured: ${got.configured.map(agentName).join(", ")}` : "Choose…"}</option>
        {ready.length > 0 && <optgroup label="Found on this machine">{ready.map((a) => <option key={a.agent} value={a.agent}>{a.agent}</option>)}</optgroup>}
        <option value={OTHER}>Another one…</option>
      </select></label>
      {typed && <label class="field"><span>Its name, or the program to run</span><input name="other" value={value} onInput={(e) => onPick(e.target.value)} placeholder="openai:MODEL, acp:NAME, command:PROGRAM" spellcheck={false} /></label>}
      {lacking.length > 0 && <details class="lacking"><summary>{lacking.length} {got.agents.length > lacking.length && "more "}{lacking.length === 1 ? "agent is" : "agents are"} known and not ready here</summary><ul>{lacking.map((a) => <li key={a.agent}>{!a.lacks.startsWith(a.agent) && <code>{a.agent}</code>} <T text={a.lacks} />{a.hint && <span class="muted"> <T text={a.hint} /></span>}</li>)}</ul></details>}
    </>
  );
}

export function NewRun() {
  const [asked, setAsked] = useState({ workflow: "tdd", request: "", agent: "", baseline: false, lean: false, yes_to: [] });
  const set = (more) => setAsked({ ...asked, ...more });
  const flow = FLOWS.find((f) => f.id === asked.workflow);
  const [busy, setBusy] = useState(false);
  const close = () => { starting.value = false; };
  const start = () => attempt(async () => {
    const { lean, yes_to, ...rest } = asked;
    setBusy(true);
    try {
      const made = await call("/api/runs", asked.workflow === "pipeline" ? asked : rest);
      close();
      go(`/runs/${made.run.run}`);
    } finally { setBusy(false); }
  });
  const yes = (word, on) => set({ yes_to: on ? [...asked.yes_to, word] : asked.yes_to.filter((w) => w !== word) });
  return (
    <Dialog title="New run" onClose={close}>
      <div class="flows" role="radiogroup" aria-label="Workflow">{FLOWS.map((f) => (
        <label key={f.id} class={f.id === asked.workflow ? "here" : ""}><input type="radio" name="workflow" checked={f.id === asked.workflow} onChange={() => set({ workflow: f.id })} /><b>{f.name}</b><span class="muted">{f.says}</span></label>
      ))}</div>
      <label class="field"><span>{flow.label}</span><textarea name="request" rows={flow.rows} autofocus placeholder={flow.example} value={asked.request} onInput={(e) => set({ request: e.target.value })} /></label>
      <Agent value={asked.agent} onPick={(agent) => set({ agent })} />
      <div class="ticks">
        <label><input type="checkbox" checked={asked.baseline} onChange={(e) => set({ baseline: e.target.checked })} /> Accept the tests that fail now</label>
        {asked.workflow === "pipeline" && <label><input type="checkbox" checked={asked.lean} onChange={(e) => set({ lean: e.target.checked })} /> The short way: one small task, no design</label>}
        {asked.workflow === "pipeline" && YES.map(([word, says]) => <label key={word}><input type="checkbox" checked={asked.yes_to.includes(word)} onChange={(e) => yes(word, e.target.checked)} /> In advance: {says}</label>)}
      </div>
      {busy
        ? <p role="status">Starting. Detent runs the tests once first, which takes as long as they do; then this becomes the page of the run.</p>
        : <p class="muted">The agent works on a branch of its own, in a workspace of its own; your checkout stays as it is. First, Detent runs the tests once.</p>}
      <footer>{!busy && <Button kind="plain" onClick={close}>Not now</Button>}<Button kind="primary" busy={!asked.request.trim() && asked.workflow !== "pr"} onClick={start} title="Ctrl and Enter">{busy ? "Starting…" : "Start"}</Button></footer>
    </Dialog>
  );
}
