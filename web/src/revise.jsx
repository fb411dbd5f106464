// A revision of a session: a document changed in place, or a stage done again. What it makes void is shown before anything is done.
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { Button, Dialog } from "./parts.jsx";
import { attempt, told } from "./store.js";
import { T, Unified } from "./text.jsx";

const EDIT = "edit:", AGAIN = "again:";
const STAGES = { spec: "Specify again", acceptance: "Correct the acceptance checks", research: "Research again", architecture: "Design the architecture again", design: "Design the pages again", plan: "Plan again" };

export function Revise({ run, onClose }) {
  const [got, setGot] = useState(null);
  const [what, setWhat] = useState("");
  const [text, setText] = useState("");
  const [planned, setPlanned] = useState(null);
  const changed = (name, words) => attempt(async () => setPlanned(await call(`/api/runs/${run}/revision`, { documents: { [name]: words } })));
  useEffect(() => { // what the person changed in their own checkout is at hand at once, with how it differs
    attempt(async () => {
      const found = await call(`/api/runs/${run}/papers`);
      const mine = found.papers.find((p) => p.edited);
      setGot(found);
      if (!mine) return;
      setWhat(EDIT + mine.name);
      setText(mine.edited);
      await changed(mine.name, mine.edited);
    });
  }, [run]);
  if (!got) return null;
  const pick = (next) => {
    const paper = got.papers.find((p) => EDIT + p.name === next);
    setWhat(next);
    setText(paper ? paper.edited || paper.text : "");
    setPlanned(null);
  };
  const body = () => (what.startsWith(EDIT) ? { documents: { [what.slice(EDIT.length)]: text } } : { to: what.slice(AGAIN.length), text: text.trim() });
  const look = () => attempt(async () => setPlanned(await call(`/api/runs/${run}/revision`, body())));
  const send = () => attempt(async () => { if (told(await call(`/api/runs/${run}/revise`, body()), "It is applied.")) onClose(); });
  const write = (words) => { setText(words); setPlanned(null); };
  return (
    <Dialog title="Revise the session" onClose={onClose} class="wide">
      <label class="field"><span>What is to change</span>
        <select aria-label="What is to change" value={what} onChange={(e) => pick(e.target.value)}>
          <option value="">Choose…</option>
          <optgroup label="Change a document yourself">{got.papers.map((p) => <option key={p.name} value={EDIT + p.name}>{p.name}{p.edited ? " (changed in your checkout)" : ""}</option>)}</optgroup>
          <optgroup label="Have a stage done again">{got.stages.map((s) => <option key={s} value={AGAIN + s}>{STAGES[s] ?? s}</option>)}</optgroup>
        </select>
      </label>
      {what && <label class="field"><span>{what.startsWith(EDIT) ? "The document" : "What must change; the briefing includes it"}</span><textarea name="revision" rows={what.startsWith(EDIT) ? 16 : 4} value={text} onInput={(e) => write(e.target.value)} /></label>}
      {planned && <div class="planned"><p>What this does:</p><ul class={`reasons ${planned.void.length === 1 && planned.void[0].startsWith("nothing") ? "" : "warn"}`}>{planned.void.map((line, i) => <li key={i}><T text={line} /></li>)}</ul>{planned.diff && <Unified text={planned.diff} />}</div>}
      <footer><Button kind="plain" onClick={onClose}>Not now</Button>{planned ? <Button kind="primary" onClick={send}>{what.startsWith(EDIT) ? "Apply the change" : "Have it done again"}</Button> : <Button kind="primary" busy={!what || (what.startsWith(EDIT) && !text.trim())} onClick={look}>Show what it changes</Button>}</footer>
    </Dialog>
  );
}
