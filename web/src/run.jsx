// One run: where it stands, how it got there, what it changed, what its agents said, and what a person can do about it.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { Diagram } from "./diagram.jsx";
import { Diff } from "./diff.jsx";
import { Documents } from "./documents.jsx";
import { Flags } from "./flags.jsx";
import { agentName, between, clock, day, lasted, many, money, tokens, toneOf, words } from "./format.js";
import { useKeys } from "./keys.js";
import { Log } from "./log.jsx";
import { Ask, Away, Button, Card, Chip, Dialog, Empty, Hash, Link, Loading, STOP, State, StateChip, Tabs, Where } from "./parts.jsx";
import { Proof, useCard } from "./proof.jsx";
import { Revise } from "./revise.jsx";
import { at, attempt, attend, go, phone, questions, tell, told } from "./store.js";
import { Markdown, T } from "./text.jsx";
import { titleOf } from "./titles.js";
import { Timeline } from "./timeline.jsx";
import { Turns } from "./turns.jsx";

const TABS = ["overview", "timeline", "changes", "documents", "output", "turns"];

// `tab` and `what` (the event, the turn) come from the address.
export default function Run({ id, tab: named = "", what = "" }) {
  const [got, setGot] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const [last, setLast] = useState(0);
  const [size, setSize] = useState(0);
  const [asking, setAsking] = useState(null);
  const [drawing, setDrawing] = useState(!phone.value);
  const [goingBack, setBack] = useState(null);
  const fresh = useRef([]);
  const soon = useRef(0);
  const tab = TABS.includes(named) ? named : "overview";
  const to = (next, of = "", instead = false) => go(at("runs", id, next === "overview" ? "" : next, of && String(of)), instead);
  const event = tab === "timeline" && /^\d{1,12}$/.test(what) ? Number(what) : 0;
  const show = (r) => { setGot(r); setLast((n) => Math.max(n, r.run.events)); setSize((n) => Math.max(n, r.output_size)); };
  useEffect(() => {
    let stop = () => {}, here = true;
    const load = () => call(`/api/runs/${id}`).then((r) => { if (here) show(r); return r; });
    const again = () => load().catch(() => {});
    const begin = () => load().then((r) => { // from the very event that was loaded on, so that none is missed in between
      if (!here) return;
      let newest = r.run.events;
      stop = attend({ run: id, after: newest }, (kind, value) => {
        if (kind === "hello" || (kind === "run" && (value.run === id || value.run === r.run.parent))) { clearTimeout(soon.current); soon.current = setTimeout(again, 250); }
        if (kind === "output") setSize((n) => Math.max(n, value.size));
        if (kind !== "event" || value.seq <= newest) return;
        newest = value.seq;
        fresh.current.push(value);
        setLast((n) => Math.max(n, value.seq));
        setGot((g) => g && moved(g, value));
      });
    }, (e) => { if (!here) return; if (e.status === 404) setTrouble(e); else setTimeout(() => here && begin(), 1000); });
    begin();
    return () => { here = false; stop(); clearTimeout(soon.current); };
  }, [id]);
  useKeys((key) => key === "d" && Boolean((setDrawing((d) => !d), true)));
  if (trouble) return <Empty title="There is no such run"><T text={trouble.message} /> <Link to="/" class="button">To the board</Link></Empty>;
  if (!got) return <Loading />;
  const run = got.run;
  const kin = [id, ...got.children.map((c) => c.run)];
  const tabs = [{ id: "overview", name: "Overview" }, { id: "timeline", name: "Timeline", count: last }, { id: "changes", name: "Changes" }, got.has_documents && { id: "documents", name: "Documents" }, { id: "output", name: "Output" }, { id: "turns", name: "Turns" }].filter(Boolean);
  return (
    <div class="run" data-state={run.acting_state || run.state}>
      <Head got={got} onAsk={setAsking} drawing={drawing} onDraw={() => setDrawing(!drawing)} />
      {drawing && <Diagram workflow={run.workflow} path={got.path} now={run.state} ended={run.group === "ended"} />}
      <Tabs tabs={tabs} at={tab} onPick={(t) => to(t)} label="About the run" />
      <div class={`view ${tab}`} role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "overview" && <Overview got={got} id={id} size={size} onEvent={(n) => to("timeline", n)} onRevise={() => setAsking({ revise: true })} />}
        {tab === "timeline" && <Timeline run={id} last={last} fresh={fresh} at={event} onPick={(n, instead = true) => to("timeline", n, instead)} onTurn={(a) => to("turns", a)} onBack={run.parent || run.workflow === "execute" ? null : setBack} />}
        {tab === "changes" && <Diff run={id} stamp={run.done + got.commits.length} />}
        {tab === "documents" && got.has_documents && <Documents run={id} stamp={last} />}
        {tab === "output" && (run.parent && !size ? <Empty title="It is on the page of its parent run">What its agents say while they work is shown there. <Link to={at("runs", run.parent, "output")} class="button">See it</Link></Empty> : <Log source={`/api/runs/${id}/output`} size={size} />)}
        {tab === "turns" && <Turns runs={kin} tasks={tasksOf(got.children)} last={last} at={what} onPick={(a, instead = true) => to("turns", a, instead)} />}
      </div>
      {goingBack && <GoBack run={run} event={goingBack} onClose={() => setBack(null)} />}
      {asking?.revise ? <Revise run={id} onClose={() => setAsking(null)} /> : asking && <Ask {...asking} onClose={() => setAsking(null)} />}
    </div>
  );
}

// The task of each child run, as a short name.
const tasksOf = (children) => Object.fromEntries(children.map((c) => [c.run, c.title.split(": ")[0].replace(/^meta$/, "all tasks")]));

// Going back begins a new run, and the page follows it there.
function GoBack({ run, event, onClose }) {
  const send = () => attempt(async () => {
    const fresh = await call(`/api/runs/${run.run}/rollback`, { event: event.seq });
    tell("The new run begins there; the old one has ended.", "good");
    onClose();
    go(at("runs", fresh.run.run));
  });
  return (
    <Dialog title={`Go back to event ${event.seq}?`} onClose={onClose} class="small">
      <p><b>{words(event.on)}</b> <T text={event.about || event.summary || ""} /></p>
      <p class="muted">This run ends, and a new one begins where it stood after that event: branch, files and documents go back. What came later stays reachable under refs/detent/.</p>
      <footer><Button kind="plain" onClick={onClose}>Not now</Button><Button kind="danger" onClick={send}>Go back</Button></footer>
    </Dialog>
  );
}

// What an event says of the run at once, before the rest is asked for: the lit state and the path.
function moved(got, e) {
  if (!e.was || e.was === e.state) return got.run.state === e.state ? got : { ...got, run: { ...got.run, state: e.state } };
  const known = got.path.some((p) => p.at === e.was && p.to === e.state);
  const path = known ? got.path.map((p) => (p.at === e.was && p.to === e.state ? { ...p, times: p.times + 1 } : p)) : [...got.path, { at: e.was, to: e.state, times: 1 }];
  return { ...got, path, run: { ...got.run, state: e.state, acting_state: e.state } };
}

function Head({ got, onAsk, drawing, onDraw }) {
  const run = got.run;
  const say = (verb, field, done) => async (text) => told(await attempt(() => call(`/api/runs/${run.run}/${verb}`, { [field]: text })), done);
  const open = run.group !== "ended";
  const queued = run.workflow === "execute";
  const paused = open && run.pushed && !run.driven && run.group === "working" && !queued;
  const until = open ? new Date(clock.value).toISOString() : run.at;
  return (
    <header class="head">
      <div class="first">
        <i class={`dot ${toneOf(run)} ${run.driven ? "alive" : ""}`} /><h1><T text={run.title} /></h1><StateChip run={run} />{paused && <Chip title="No process drives it now">paused</Chip>}
        <span class="grow" />
        <div class="acts">
          {got.asks.length > 0 && <Link to={at("inbox", got.asks[0])} class="button primary">Answer</Link>}
          {paused && <Button kind="primary" onClick={() => say("resume", "guidance", "The run continues.")("")}>Continue</Button>}
          {open && got.stages.length > 0 && <Button onClick={() => onAsk({ revise: true })} title="Change a document, or have a stage done again">Revise</Button>}
          {open && <Button onClick={() => onAsk({ title: "Tell the agent something", label: "Its next briefing includes it", action: "Tell it", hint: "The agent reads it before its next step. What it does now is not stopped.", onSay: say("steer", "text", "It was noted for the next briefing.") })} title="Tell the agent something; it reads it before its next step">Tell the agent</Button>}
          {queued && <Link to={at("queue", run.run)} class="button">In the queue</Link>}
          {open && !queued && <Button onClick={() => onAsk({ ...STOP, onSay: say("abort", "reason", "The run was stopped.") })}>Stop</Button>}
          <button type="button" class="button plain" aria-pressed={drawing} onClick={onDraw} title="The state diagram (d)">Diagram</button>
        </div>
      </div>
      <div class="second muted">
        {run.parent && <Link to={`/runs/${run.parent}`}>part of {run.parent}</Link>}
        <span>{run.workflow}</span><code class="wide-only">{run.run}</code>{run.branch && <span class="branch clip wide-only">on <code><T text={run.branch} /></code></span>}
        <span>{between(run.started, until)}</span>{run.usage.usd > 0 && <span>{money(run.usage.usd)}</span>}{tokens(run.usage) > 0 && <span>{many(tokens(run.usage))} tokens</span>}
        {run.group === "working" && run.pushed && <span class="wide-only">{got.held_by ? `driven by process ${got.held_by.split(" ")[0]}` : "no process drives it"}</span>}
      </div>
    </header>
  );
}

function Overview({ got, id, size, onEvent, onRevise }) {
  const run = got.run;
  const card = useCard(id, `${run.events} ${run.driven}`, run.group !== "ended" && got.actor !== "agent");
  return (
    <div class="cards">
      <div class="col">
        <Now got={got} onRevise={onRevise} flags={card && !card.moved_on && run.cause === "flags" ? [] : got.flags} />
        {card && <Proof card={card} />}
        {run.pushed && run.group !== "ended" && (size > 0 || !run.parent) && <Card title="Running output" class="tight"><Log source={`/api/runs/${id}/output`} size={size} small /></Card>}
        {got.request && got.request.trim() !== run.title && <Card title="Request"><Markdown text={got.request} /></Card>}
        {got.children.length > 0 && <Card title="Child runs">{got.children.map((c) => <div key={c.run} class="mini"><i class={`dot ${toneOf(c)}`} /><Link to={`/runs/${c.run}`}><T text={c.title} /></Link><StateChip run={c} /><span class="grow" /><span class="muted num">{money(c.usage.usd)}</span></div>)}</Card>}
        <Commits got={got} id={id} />
      </div>
      <div class="col">
        {(got.plan.length > 0 || !run.parent) && <Plan got={got} onEvent={onEvent} />}
        <Budget got={got} />
        <Card title="Facts"><dl class="facts">
          <dt>Started</dt><dd>{day(run.started)}</dd>
          <dt>Agent</dt><dd title={got.agent}><T text={got.agent ? agentName(got.agent) : "calls by itself"} /></dd>
          {got.sandbox && <><dt>Sandbox</dt><dd>{got.sandbox}</dd></>}
          {got.base && <><dt>Base</dt><dd><Hash of={got.base} /></dd></>}
          {got.workspace && <><dt>Workspace</dt><dd><Where path={got.workspace} /></dd></>}
          <dt>Checkout</dt><dd><Where path={run.checkout} /></dd>
          {run.branch && <><dt>Branch</dt><dd><code class="break"><T text={run.branch} /></code></dd></>}{run.pull_request && <><dt>Pull request</dt><dd><Away to={run.pull_request} /></dd></>}<dt>Run</dt><dd><code>{run.run}</code></dd>
          {Object.entries(got.counts).map(([name, n]) => <><dt>{words(name)}</dt><dd class="num">{n} of {got.limits[name] ?? "–"}</dd></>)}
        </dl></Card>
      </div>
    </div>
  );
}

function Now({ got, flags, onRevise }) {
  const run = got.run;
  if (run.group === "ended") {
    return <Card title={run.outcome === "done" ? "Done" : "Stopped"} class={run.outcome === "done" ? "good" : ""}><p>{run.outcome === "done" ? (got.merged_into ? `Every step was proved, and the branch is merged into ${got.merged_into}.` : "Every step was proved. The branch holds the result.") : "A person ended this run: stopped it, or went back to an earlier event, from where a new run continues. What it had is kept under refs/detent/."}</p>{run.branch && <p class="muted">Look at it: <code class="break">git log -p <T text={run.branch} /></code></p>}{got.has_documents && run.outcome === "done" && <p><Link to={at("runs", run.run, "documents")} class="button">Read the report</Link></p>}{got.unproven.length > 0 && <ul class="reasons warn">{got.unproven.map((u, i) => <li key={i}><T text={u} /></li>)}</ul>}</Card>;
  }
  const asked = questions.value.find((q) => q.id === got.asks[0]), child = got.children.find((c) => c.run === run.acting);
  const who = { human: "A person is asked", agent: run.pushed && !run.driven ? "No process drives it" : got.role ? `The agent works: ${got.role}` : "The agent works", system: "The machine is at work" }[got.actor] ?? "";
  return (
    <Card title="Now" aside={<span class="muted">{who}</span>} class={run.group === "waiting" ? "wait" : ""}>
      {run.group === "waiting" && <p>{got.asks.length ? <>It continues once you have answered: <b>{asked ? titleOf(asked) : words(run.cause)}</b>.</> : <>It waits to be released{run.cause && <>: <b>{words(run.cause)}</b></>}.</>} {got.asks.length > 0 && <Link to={at("inbox", got.asks[0])} class="button">Answer</Link>}</p>}
      {!child && run.group === "working" && run.driven && !run.step && <p class="muted">{got.actor === "system" ? SYSTEM[run.state] ?? "The machine runs tests and checks. No agent works meanwhile." : `${got.role || "The agent"} is at work. What it says appears below.`}</p>}
      {run.step && !child && <p class="step"><State name={run.step.split(": ")[0]} /> <T text={run.step.split(": ").slice(1).join(": ")} /></p>}
      {child && <p class="step"><span class="muted">{child.group === "waiting" ? "Waits" : "At work"}</span> <Link to={`/runs/${run.acting}`}><T text={child.title} /></Link> <State name={run.acting_state} tone="info" /></p>}
      {got.trouble && <ul class="reasons bad"><li><T text={got.trouble} /></li></ul>}
      {got.guidance && <p class="quote"><T text={got.guidance} /></p>}
      {flags.length > 0 && <Flags flags={flags} />}
      {got.edited.length > 0 && <p class="edited">You changed {got.edited.map((name, i) => <>{i > 0 && ", "}<code><T text={name} /></code></>)} in your checkout. It does not count yet. <Button onClick={onRevise}>Look at the change</Button></p>}
      {got.last_error && <details class="trouble"><summary>What went wrong last</summary><pre class="code"><T text={got.last_error} /></pre></details>}
      {got.briefing && <details><summary>The briefing, as its reader sees it</summary><div class="paper"><Markdown text={got.briefing} /></div></details>}
    </Card>
  );
}

const SYSTEM = { INTEGRATE_CHECKS: "The whole test suite and the acceptance commands run now.", LANDING: "The branch is tested in a clean checkout, looked through once more, and merged." };
const SIGN = { done: "✓", now: "›", blocked: "!", open: "" };
function Plan({ got, onEvent }) {
  if (!got.plan.length) return <Card title="Plan"><p class="muted">There is no plan yet. It appears here once the agent has made one and the machine has accepted it.</p></Card>;
  const begun = new Set(Object.values(tasksOf(got.children.filter((c) => c.group !== "ended"))));
  const Steps = ({ steps }) => <ul class="steps">{steps.map((s, i) => <li key={i} class={s.status}><b class={`kind ${s.kind}`}>{s.kind.toLowerCase()}</b><span><T text={s.text} /></span>{s.proof > 0 && <button type="button" class="button plain" onClick={() => onEvent(s.proof)} title="The event that proved it">#{s.proof}</button>}</li>)}</ul>;
  return (
    <Card title="Plan" aside={<span class="num muted">{got.run.done} of {got.run.parts}</span>}>
      <ol class="plan">{got.plan.map((p, i) => ({ ...p, i, status: p.status === "open" && begun.has(p.name) ? "now" : p.status })).map((p) => <li key={p.i} class={p.status}><span class="sign" aria-label={p.status}>{SIGN[p.status]}</span><div><span class="name">{p.name && <code>{p.name}</code>} <T text={p.title} /></span>{p.needs.length > 0 && <span class="muted"> · after {p.needs.join(", ")}</span>}{p.steps.length > 0 && <Steps steps={p.steps} />}</div></li>)}</ol>
    </Card>
  );
}

const LIMITS = { usd: "Cost", tokens: "Tokens", minutes: "Minutes", turns: "Turns", files: "Files" };
function Budget({ got }) {
  const u = got.run.usage;
  return (
    <Card title="Budget" aside={<span class="muted">{u.turns} {u.turns === 1 ? "turn" : "turns"}</span>}>
      {got.budget.map((l) => <div key={l.name} class="limit"><span>{LIMITS[l.name] ?? l.name}</span><meter min={0} max={l.most} high={l.most * 0.8} value={Math.min(l.used, l.most)} /><span class="num muted">{l.name === "usd" ? `$${l.used.toFixed(2)} of $${l.most.toFixed(2)}` : `${many(Math.round(l.used))} of ${many(l.most)}`}</span></div>)}
      <dl class="facts">{!got.budget.some((l) => l.name === "usd") && <><dt>Cost</dt><dd class="num">{money(u.usd)}</dd></>}{tokens(u) > 0 && <><dt>Tokens</dt><dd class="num">{many(u.input_tokens)} in, {many(u.cached_tokens)} cached, {many(u.output_tokens)} out</dd></>}{u.seconds >= 1 && <><dt>Agent time</dt><dd class="num">{lasted(u.seconds)}</dd></>}</dl>
      {Object.keys(got.roles ?? {}).length > 0 && <table class="roles"><caption class="muted">By role, with the runs it continues</caption><tbody>{Object.entries(got.roles).map(([role, c]) => <tr key={role}><th scope="row">{role}</th><td class="num">{c.turns} {c.turns === 1 ? "turn" : "turns"}</td><td class="num">{lasted(c.seconds)}</td><td class="num">{money(c.usd)}</td></tr>)}</tbody></table>}
      {!got.budget.length && <p class="muted">No limit is set. <code>[limits]</code> in detent.toml sets some.</p>}
    </Card>
  );
}

function Commits({ got, id }) {
  const [proof, setProof] = useState(null);
  if (!got.commits.length) return null;
  const show = () => attempt(async () => setProof(await call(`/api/runs/${id}/proof`)));
  return (
    <Card title="Commits" aside={!proof && <Button kind="plain" onClick={show}>Show the proof</Button>}>
      {got.commits.map((c) => <div key={c.hash} class="mini"><Hash of={c.hash} /><span class="clip"><T text={c.subject} /></span></div>)}
      {proof && <div class="proof"><p class="muted">Anyone can prove it again, from a clone alone: <code>{proof.verify}</code></p>{proof.commits.filter((c) => c.claim).map((c) => <details key={c.commit}><summary><Hash of={c.commit} /> <T text={c.subject} /></summary><pre class="code"><T text={c.claim} /></pre></details>)}</div>}
    </Card>
  );
}
