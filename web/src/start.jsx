// A new run: what is wanted, by which workflow, by which agent.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call } from "./api.js";
import { agentName } from "./format.js";
import { Button, Dialog } from "./parts.jsx";
import { attempt, configured, go } from "./store.js";

export const starting = signal(false);

const FLOWS = [
  { id: "tdd", name: "tdd", says: "One feature, test by test: red, green, refactor.", label: "What is wanted", rows: 4, example: "Add a longest length to slugify; a slug ends after the last whole word that fits." },
  { id: "pr", name: "pr", says: "A plan, pull request by pull request, every step gated.", label: "The plan, by its path", rows: 1, example: "docs/plan.md" },
  { id: "pipeline", name: "pipeline", says: "From a request to a release, with you at the gates.", label: "What is wanted", rows: 4, example: "A till that adds prices and takes discounts off." },
];
const YES = [["approve-design", "approve the design"], ["review-strategy", "take the recommended review strategy"], ["notes=accept", "accept notes of reviewers"]];

export function NewRun() {
  const [asked, setAsked] = useState({ workflow: "tdd", request: "", agent: "", baseline: false, lean: false, yes_to: [] });
  const set = (more) => setAsked({ ...asked, ...more });
  const flow = FLOWS.find((f) => f.id === asked.workflow);
  const close = () => { starting.value = false; };
  const start = () => attempt(async () => {
    const { lean, yes_to, ...rest } = asked;
    const made = await call("/api/runs", asked.workflow === "pipeline" ? asked : rest);
    close();
    go(`/runs/${made.run.run}`);
  });
  const yes = (word, on) => set({ yes_to: on ? [...asked.yes_to, word] : asked.yes_to.filter((w) => w !== word) });
  return (
    <Dialog title="New run" onClose={close}>
      <div class="flows" role="radiogroup" aria-label="Workflow">{FLOWS.map((f) => (
        <label key={f.id} class={f.id === asked.workflow ? "here" : ""}><input type="radio" name="workflow" checked={f.id === asked.workflow} onChange={() => set({ workflow: f.id })} /><b>{f.name}</b><span class="muted">{f.says}</span></label>
      ))}</div>
      <label class="field"><span>{flow.label}</span><textarea name="request" rows={flow.rows} autofocus placeholder={flow.example} value={asked.request} onInput={(e) => set({ request: e.target.value })} /></label>
      <label class="field"><span>Agent{configured.value ? " (empty: as configured)" : ""}</span><input name="agent" value={asked.agent} onInput={(e) => set({ agent: e.target.value })} placeholder={configured.value ? agentName(configured.value) : "anthropic, claude, codex, gemini, command:PROGRAM"} spellcheck={false} /></label>
      <div class="ticks">
        <label><input type="checkbox" checked={asked.baseline} onChange={(e) => set({ baseline: e.target.checked })} /> Accept the tests that fail now</label>
        {asked.workflow === "pipeline" && <label><input type="checkbox" checked={asked.lean} onChange={(e) => set({ lean: e.target.checked })} /> The short way: one small task, no design</label>}
        {asked.workflow === "pipeline" && YES.map(([word, says]) => <label key={word}><input type="checkbox" checked={asked.yes_to.includes(word)} onChange={(e) => yes(word, e.target.checked)} /> Beforehand: {says}</label>)}
      </div>
      <p class="muted">The agent works on a branch of its own, in a workspace of its own; your checkout stays as it is. First, the tests are run once as they are.</p>
      <footer><Button kind="plain" onClick={close}>Not now</Button><Button kind="primary" busy={!asked.request.trim() && asked.workflow !== "pr"} onClick={start}>Start</Button></footer>
    </Dialog>
  );
}
