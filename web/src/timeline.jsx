// What happened, event by event: a list of any length, and beside it the one that is looked at, with its evidence.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { Diff } from "./diff.jsx";
import { Flags } from "./flags.jsx";
import { TONE, bytes, day, lasted, many, money, sentence, time, tokens, words } from "./format.js";
import { Chip, Hash, Pick, Tabs, Verdict, useSteps } from "./parts.jsx";
import { attempt, phone } from "./store.js";
import { Ansi, Markdown, T } from "./text.jsx";
import { Windowed } from "./windowed.jsx";

const PAGE = 200;
const ROW = 54;

// The newest stands first. Events are numbered without a gap, so that a row knows its number before it was fetched.
export function Timeline({ run, last, fresh, at, onPick, onTurn, onBack }) {
  const known = useRef(new Map());
  const asked = useRef(new Set());
  const [, redraw] = useState(0);
  for (const e of fresh.current) known.current.set(e.seq, e);
  fresh.current = [];
  const need = (seq) => {
    const page = Math.floor((seq - 1) / PAGE);
    if (asked.current.has(page)) return;
    asked.current.add(page);
    attempt(async () => {
      const got = await call(`/api/runs/${run}/events?after=${page * PAGE}&limit=${PAGE}`);
      for (const e of got.events) known.current.set(e.seq, e);
      if (got.events.length < PAGE) asked.current.delete(page);
      redraw((n) => n + 1);
    });
  };
  const [following, setFollowing] = useState(false);
  const chosen = at;
  // What is looked at stays, whatever happens meanwhile, unless the person wants to follow.
  useEffect(() => { if (last && ((!at && !phone.value) || (following && at !== last))) onPick(last, true); }, [at, last, following]);
  useSteps(last, at ? last - at : -1, (i) => { setFollowing(false); onPick(last - i, true); });
  return (
    <div class={`split ${at ? "picked" : ""}`}>
      <div class="column"><label class="tick follow"><input type="checkbox" checked={following} onChange={(e) => setFollowing(e.target.checked)} /> Follow the newest</label>
      <Windowed class="events" label="Events" count={last} heights={ROW} top={following ? 0 : last} reveal={at ? last - at : -1} picked={at} row={(i) => {
        const seq = last - i;
        const e = known.current.get(seq);
        if (!e) need(seq);
        return <Row key={seq} seq={seq} event={e} here={seq === chosen} onPick={() => { setFollowing(false); onPick(seq); }} />;
      }} /></div>
      {chosen > 0 && <Shown key={chosen} run={run} seq={chosen} onLeave={() => onPick(0)} onTurn={onTurn} onBack={onBack} />}
    </div>
  );
}

function Row({ seq, event: e, here, onPick }) {
  if (!e) return <div class="event" role="listitem"><span class="no">{seq}</span></div>;
  const c = e.evidence?.counts;
  return (
    <Pick here={here} tone={TONE[e.status]} onPick={onPick} data-seq={seq} aria-label={`${seq} ${words(e.on)}, ${words(e.status)}`}>
      <span class="no">{seq}</span>
      <span class="lines"><span class="first"><b>{words(e.on)}</b>{e.was && e.was !== e.state ? <span class="muted">{words(e.was)} → {words(e.state)}</span> : <span class="muted">{words(e.state)}</span>}</span>
        <span class="muted clip"><T text={e.reasons[0] ?? (e.about || e.summary || "")} />{!e.reasons.length && !e.summary && !e.about && `${e.by}${e.channel ? `, ${e.channel}` : ""}`}</span></span>
      <span class="right"><Verdict status={e.status} /><span class="muted num">{c && e.evidence.kind === "report" ? <>{c.failed + c.errors > 0 && <span class="minus">{c.failed + c.errors} failed, </span>}<span class="plus">{c.passed} passed</span> · </> : null}{time(e.at)}</span></span>
    </Pick>
  );
}

function Shown({ run, seq, onLeave, onTurn, onBack }) {
  const [got, setGot] = useState(null);
  const [tab, setTab] = useState("evidence");
  useEffect(() => { attempt(async () => setGot(await call(`/api/runs/${run}/events/${seq}`))); }, [run, seq]);
  if (!got) return <section class="shown loading" aria-busy="true" />;
  const e = got.event;
  const tabs = [{ id: "evidence", name: "Evidence" }, got.output && { id: "said", name: "Output" }, e.tree && { id: "changes", name: "Changes" }].filter(Boolean);
  return (
    <section class="shown" aria-label={`Event ${seq}`}>
      <header class="one"><button type="button" class="button plain phone-only" aria-label="Back" onClick={onLeave}>←</button><h3>{sentence(e.on)} <span class="muted">event {seq}</span></h3><Verdict status={e.status} /><span class="grow" />{e.attempt && <button type="button" class="button" onClick={() => onTurn(e.attempt)}>Transcript</button>}{onBack && <button type="button" class="button" title="A new run begins where this one stood after the event" onClick={() => onBack(e)}>Go back to here</button>}</header>
      <Tabs tabs={tabs} at={tab} onPick={setTab} label="About the event" of="event" />
      <div class="body">
        {tab === "evidence" && <Evidence run={run} got={got} e={e} />}
        {tab === "said" && <pre class="code output"><Ansi text={got.output} /></pre>}
        {tab === "changes" && <Diff run={run} event={seq} />}
      </div>
    </section>
  );
}

function Evidence({ run, got, e }) {
  const v = e.evidence;
  return (
    <>
      {e.reasons.length > 0 && <ul class={`reasons ${TONE[e.status]}`}>{e.reasons.map((r, i) => <li key={i}><T text={r} /></li>)}</ul>}
      {e.flags.length > 0 && <Flags flags={e.flags} />}
      {e.about && <p class="quote"><T text={e.about} /></p>}
      {e.summary && <p class="quote"><T text={e.summary} /></p>}
      {got.note && got.note !== e.summary && <p class="quote"><T text={got.note} /></p>}
      {got.report && <div class="paper"><Markdown text={got.report} /></div>}
      {e.tree && v?.kind === "report" && <Tests run={run} seq={e.seq} />}
      <dl class="facts">
        <dt>Who</dt><dd>{e.by}{e.channel && `, ${e.channel}`}</dd>
        <dt>When</dt><dd>{day(e.at)}</dd>
        <dt>Move</dt><dd>{e.was ? <>{words(e.was)} → {words(e.state)}</> : words(e.state)}</dd>
        {e.step && <><dt>Step</dt><dd><T text={e.step} /></dd></>}
        {got.command && <><dt>Command</dt><dd><code><T text={got.command} /></code></dd></>}
        {e.tree && <><dt>Tree</dt><dd><Hash of={e.tree} /></dd></>}
        {v && v.kind !== "none" && <><dt>Sandbox</dt><dd>{v.sandbox}</dd><dt>Canary</dt><dd>{v.canary}</dd></>}
        {got.held.length > 0 && <><dt>Gates passed</dt><dd>{got.held.map(words).join(", ")}</dd></>}
        {e.usage && <><dt>Took</dt><dd>{money(e.usage.usd)}, {many(tokens(e.usage))} tokens{e.usage.seconds >= 1 && `, ${lasted(e.usage.seconds)}`}</dd></>}
        {got.output && <><dt>Output</dt><dd>{bytes(got.output.length)}</dd></>}
      </dl>
    </>
  );
}

function Tests({ run, seq }) {
  const [got, setGot] = useState(null);
  const [every, setEvery] = useState(false);
  useEffect(() => { attempt(async () => setGot(await call(`/api/runs/${run}/tests?event=${seq}`))); }, [run, seq]);
  if (!got?.known) return null;
  const bad = got.tests.filter((t) => t.outcome === "failed" || t.outcome === "error");
  const shown = every ? got.tests : [...bad, ...got.tests.filter((t) => t.new && !bad.includes(t))];
  const rest = got.tests.length - shown.length;
  return (
    <div class="tests"><h4>Tests at this tree <span class="muted num"><span class="plus">{got.tests.length - bad.length} passed</span>, <span class={bad.length ? "minus" : ""}>{bad.length} failed</span></span></h4>
      {shown.map((t) => <details key={t.id} class={`test ${t.outcome}`} open={t.outcome !== "passed" && bad.length < 6}><summary><i class={`dot ${t.outcome === "passed" ? "good" : t.outcome === "skipped" ? "quiet" : "bad"}`} /><code><T text={t.id} /></code>{t.new && <Chip tone="info">new</Chip>}</summary>{t.message && <pre class="code"><Ansi text={t.message} /></pre>}</details>)}
      {rest > 0 && <button type="button" class="button plain" onClick={() => setEvery(true)}>Show {rest} more that passed</button>}
    </div>
  );
}
