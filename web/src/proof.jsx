// What the branch of a run proves: the proof card, as it was found before the branch landed.
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { Hunk, versions } from "./flags.jsx";
import { lasted } from "./format.js";
import { Card, Chip, Portions } from "./parts.jsx";
import { T } from "./text.jsx";

const EVERY = 5000; // milliseconds between two looks while the machine may be looking itself: no event tells that it is done
const ANSWERS = { clean: ["good", "Clean"], flagged: ["warn", "Flagged"], failed: ["bad", "Failed"], "could-not-verify": ["odd", "Could not verify"] };

// The card of a run, asked for again whenever the run moved.
export function useCard(id, stamp, waits) {
  const [card, setCard] = useState(null);
  const old = !card || card.moved_on;
  useEffect(() => {
    if (!id) return undefined; // a branch of no run has none
    let here = true;
    const load = () => call(`/api/runs/${id}/card`).then((got) => here && setCard(got.card), () => {});
    load();
    const again = waits && old ? setInterval(() => document.hidden || load(), EVERY) : 0;
    return () => { here = false; clearInterval(again); };
  }, [id, stamp, waits, old]);
  return card;
}

const count = (n, what) => `${n.toLocaleString()} ${what}${n === 1 ? "" : "s"}`;

function Tests({ label, names, says }) {
  return names.length > 0 && <><dt>{label}</dt><dd><details><summary>{count(names.length, "test")} {says[names.length === 1 ? 0 : 1]}</summary><ul class="names"><Portions all={names} of={20} what="tests" row={(n) => <li key={n}><code class="break"><T text={n} /></code></li>} /></ul></details></dd></>;
}

export function Flagged({ flags, class: name = "" }) {
  return <ul class={`flagged ${name}`}>{flags.map((f, i) => <Flag key={i} flag={f} />)}</ul>;
}

function Flag({ flag }) {
  const both = versions(flag);
  return (
    <li class={both ? "beside" : ""}>
      <div><b>{flag.kind}</b> {flag.place && <code class="place"><T text={flag.place} /></code>}<p><T text={flag.sentence} /></p></div>
      {both && <div class="file"><Hunk text={both} /></div>}
    </li>
  );
}

export function Proof({ card }) {
  const [loud, word] = ANSWERS[card.answer];
  const tone = card.accepted ? "quiet" : loud;
  const asks = card.flags.filter((f) => f.level === "ask"), unnoticed = asks.filter((f) => f.kind === "unnoticed");
  const flags = asks.filter((f) => f.kind !== "unnoticed"), notes = card.flags.filter((f) => f.level !== "ask");
  return (
    <Card title="What the branch proves" class={`proofcard ${tone}`} aside={<Chip tone={tone}>{word}</Chip>}>
      {card.moved_on && <p class="muted">The branch has changed since. It is checked again before it lands.</p>}
      <dl class="facts">
        {card.proved.length ? <Tests label="Proved" names={card.proved} says={["fails without this change and passes with it", "fail without this change and pass with it"]} /> : <><dt>Proved</dt><dd>No test fails without this change and passes with it.</dd></>}
        <Tests label="Pins" names={card.pins} says={["is new and passes on both sides", "are new and pass on both sides"]} />
        {card.kept > 0 && <><dt>Kept</dt><dd>{count(card.kept, "old test")} {card.kept === 1 ? "passes" : "pass"} as before{card.failed.length ? "" : `; ${card.out ? `${card.out} taken out` : "none lost"}, none newly skipped`}</dd></>}
        <Tests label="Known" names={card.known} says={["failed before and still fails", "failed before and still fail"]} />
        {unnoticed.length > 0 && <><dt>Unnoticed</dt><dd><ul class="names">{unnoticed.map((f, i) => <li key={i}><T text={f.sentence} /></li>)}</ul></dd></>}
      </dl>
      {card.left_out > 0 && <p class="muted">{card.left_out.toLocaleString()} names are not listed here.</p>}
      {card.failed.length > 0 && <ul class="reasons bad">{card.failed.map((said, i) => <li key={i}><T text={said} /></li>)}</ul>}
      {card.unclear && <ul class="reasons odd"><li><T text={card.unclear} /></li></ul>}
      {flags.length > 0 && <><h4>{card.accepted ? <>Looked at <Chip tone="good">accepted</Chip></> : "To look at"}</h4><Flagged flags={flags} /></>}
      {notes.length > 0 && <details><summary>{count(notes.length, "note")}</summary><Flagged flags={notes} class="quiet" /></details>}
      <p class="muted foot"><code class="place"><T text={card.range} /></code> · {count(card.commits, "commit")}, {count(card.files, "file")} · {lasted(card.seconds)}, {count(card.test_runs, "test run")} · sandbox <T text={card.sandbox} /></p>
    </Card>
  );
}
