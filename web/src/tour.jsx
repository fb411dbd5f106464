// What a board without runs shows: four steps, from nothing to an answer.
import { useState } from "preact/hooks";
import { useKeys } from "./keys.js";
import { Allow } from "./notices.jsx";
import { Button, Empty, Link } from "./parts.jsx";
import { starting } from "./start.jsx";

const begin = () => { starting.value = true; };
const STEPS = [
  ["Set it up once", <><p>In a terminal, in this repository:</p><pre class="code">detent init</pre><p>It finds how your tests are run and which agents are installed, tries them, and writes <code>detent.toml</code>. Commit that file.</p></>],
  ["Say what you want", <><p>A feature in a sentence, a plan with an entry for each pull request, or a whole request. Detent drives an agent for it, on a branch and in a folder of its own; your checkout stays as it is.</p><p><Button onClick={begin}>New run</Button> or press <kbd>n</kbd></p></>],
  ["Watch each step", <><p>Every step waits for evidence: a test that fails, code that makes it pass, nothing else broken. The page of a run shows where it stands, each verdict with its tests and its diff, and what the agent writes while it writes it.</p></>],
  ["Answer when you are asked", <><p>A design to approve, an agent that is stuck, a branch with something to look at before it lands: all of it comes to the <Link to="/inbox">inbox</Link>, with what you need to decide.</p><Allow /></>],
];

export function Tour() {
  const [at, setAt] = useState(0);
  const to = (n) => setAt(Math.max(0, Math.min(STEPS.length - 1, n)));
  useKeys((key) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[key]; if (by) to(at + by); return Boolean(by); });
  const [title, words] = STEPS[at];
  return (
    <Empty title="No runs yet">
      <section class="tour card" aria-label="How it works" aria-live="polite">
        <header><h3>{title}</h3><span class="muted num">{at + 1} of {STEPS.length}</span></header>
        <div class="inner">{words}</div>
        <footer>
          <Button kind="plain" busy={at === 0} onClick={() => to(at - 1)}>Back</Button>
          <span class="dots">{STEPS.map(([name], i) => <button key={name} type="button" class={i === at ? "here" : ""} aria-label={`Step ${i + 1}: ${name}`} aria-current={i === at ? "step" : undefined} onClick={() => to(i)} />)}</span>
          {at < STEPS.length - 1 ? <Button kind="primary" onClick={() => to(at + 1)}>Next</Button> : <Button kind="primary" onClick={begin}>Start the first run</Button>}
        </footer>
      </section>
    </Empty>
  );
}
