// The board: every run and execution by whom it waits for, with what it took, and what can be done about it; slots and queue in a few words.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { Acts, TONES, inUse, loadQueue, queue, standing, took } from "./executions.jsx";
import { ago, between, clock, many, money, tokens, toneOf, words } from "./format.js";
import { useKeys } from "./keys.js";
import { Ask, Button, Chip, Empty, Link, Loading, STOP, StateChip, useSteps } from "./parts.jsx";
import { ENDED, asks, attempt, counts, go, load, loaded, phone, runs, told } from "./store.js";
import { T, plain } from "./text.jsx";
import { Tour } from "./tour.jsx";
import { Windowed } from "./windowed.jsx";

const GROUPS = [["waiting", "For you"], ["working", "At work"], ["ended", "Ended"]];
const EVERYTHING = { q: "", group: "", workflow: "" };
const filter = signal(EVERYTHING);
const everyEnded = signal(false);

function fits(row, f) {
  const text = `${row.title} ${row.plan} ${row.run} ${row.state} ${row.acting_state} ${row.branch} ${row.workflow}`.toLowerCase();
  return (!f.group || row.group === f.group) && (!f.workflow || row.workflow === f.workflow) && f.q.toLowerCase().split(/\s+/).every((w) => text.includes(w));
}

// The rows of a group. Runs of one plan stand together below its name, where its newest one stands.
function byPlan(group, mine) {
  const key = (r) => `${r.plan}\0${r.checkout}`;
  const kin = Map.groupBy ? Map.groupBy(mine, key) : mine.reduce((m, r) => m.set(key(r), [...(m.get(key(r)) ?? []), r]), new Map());
  const rows = [];
  for (const run of mine) {
    const all = run.plan ? kin.get(key(run)) : [run];
    if (all.length === 1) rows.push({ run });
    else if (all[0] === run) rows.push({ plan: run.plan, of: group, count: all.length }, ...all.map((each) => ({ run: each, below: true })));
  }
  return rows;
}

export function Board() {
  const [at, setAt] = useState(-1);
  const [asking, setAsking] = useState(null);
  const f = filter.value, every = everyEnded.value;
  const all = [...runs.value.values()].filter((r) => !r.parent);
  const total = GROUPS.reduce((n, [g]) => n + counts.value[g], 0);
  const [next, setNext] = useState({ at: null }); // where the next page of those that fit begins
  const turn = useRef(0), busy = useRef(false), end = useRef(false);
  const found = all.filter((r) => fits(r, f)).sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  const few = !every && !f.q && !f.group && !f.workflow; // of those that have ended, only the newest
  const rows = useMemo(() => GROUPS.flatMap(([group, name]) => {
    const mine = found.filter((r) => r.group === group);
    const shown = few && group === "ended" ? mine.slice(0, ENDED) : mine;
    const left = few && group === "ended" ? counts.value.ended - shown.length : 0;
    return mine.length ? [{ group, name, count: f.q || f.workflow ? mine.length : counts.value[group] }, ...byPlan(group, shown), ...(left > 0 ? [{ left }] : [])] : [];
  }), [runs.value, counts.value, f, few]);
  const heights = useMemo(() => rows.map((r) => (r.group ? 40 : r.plan ? 30 : r.left ? 52 : phone.value ? 104 : 58)), [rows, phone.value]);
  // What fits is searched for at the server: the page has only the part of the runs that was looked at.
  const more = async (offset) => {
    const mine = ++turn.current;
    busy.current = true;
    const then = await attempt(() => load(few ? { ended: ENDED } : f, offset));
    if (mine !== turn.current) return; // something else is searched for by now
    busy.current = false;
    if (then !== undefined) setNext({ at: then });
  };
  const further = () => { if (end.current && next.at !== null && !busy.current) { end.current = false; more(next.at); } };
  useEffect(further, [next]); // whoever is at the end before the next page is known gets it too
  useEffect(() => {
    const soon = setTimeout(() => more(0), f.q ? 150 : 0);
    return () => clearTimeout(soon);
  }, [f, few]);
  useSteps(rows.length, at, setAt, (i) => !rows[i].run);
  useKeys((key, e) => key === "Enter" && rows[at]?.run && !/^(BUTTON|A)$/.test(e.target.tagName) && (go(`/runs/${rows[at].run.run}`), true));
  const queued = queue.value;
  const soon = queued === null && all.some((r) => r.workflow === "execute"); // its place is kept, so that nothing jumps
  useEffect(() => { // slots and places change without the journal; a repository that queues nothing is asked only when its runs change
    loadQueue().catch(() => {});
    const every = setInterval(() => document.hidden || !inUse(queue.value) || loadQueue().catch(() => {}), 3000);
    return () => clearInterval(every);
  }, [runs.value.size]);
  const spent = all.reduce((sum, r) => sum + r.usage.usd, 0);
  if (!loaded.value) return <Loading />;
  if (!total) return <Tour />;
  return (
    <div class="board">
      <div class="tools">
        <input type="search" aria-label="Search runs" placeholder={phone.value ? "Search" : "Search  /"} value={f.q} onInput={(e) => { filter.value = { ...f, q: e.target.value }; }} />
        <div class="picks" role="group" aria-label="Which runs">
          {[["", "All", total], ...GROUPS.map(([g, n]) => [g, n, counts.value[g]])].map(([g, name, n]) => (
            <button key={g} type="button" aria-pressed={f.group === g} onClick={() => { filter.value = { ...f, group: g }; }}>{name}<span class="count">{n}</span></button>
          ))}
        </div>
        <select aria-label="Workflow" value={f.workflow} onChange={(e) => { filter.value = { ...f, workflow: e.target.value }; }}>
          <option value="">Every workflow</option>{["tdd", "pr", "pipeline", "execute"].map((w) => <option key={w}>{w}</option>)}
        </select>
        {(inUse(queued) || soon) && <Link to="/queue" class="standing muted"><span>{queued && standing(queued)}</span>{queued?.paused && <Chip tone="warn" title={plain(queued.paused)}>paused</Chip>}</Link>}
        {all.length >= total && spent > 0 && <span class="muted wide-only last">{money(spent)} spent in all</span>}
      </div>
      {rows.length ? <div class="cols wide-only" aria-hidden="true"><span>Run</span><span>State</span><span>Plan</span><span>Cost</span><span>Time</span><span>Changed</span><span /></div> : null}
      {rows.length === 0
        ? <Empty title="No run matches">Nothing matches your search. <button type="button" class="button" onClick={() => { filter.value = EVERYTHING; }}>Show all</button></Empty>
        : <Windowed class="rows" label="Runs" count={rows.length} heights={heights} reveal={at} onEnd={(there) => { end.current = there; further(); }} row={(i) => {
          const r = rows[i];
          if (r.group) return <h2 key={r.group} class="group" role="presentation">{r.name}<span class="count">{r.count}</span></h2>;
          if (r.plan) return <h3 key={`${r.of} ${r.plan}`} class="planned-runs" role="presentation">Plan <code><T text={r.plan} /></code><span class="count">{r.count} runs</span></h3>;
          if (r.left) return <div key="left" class="left" role="presentation"><button type="button" class="button plain" onClick={() => { everyEnded.value = true; }}>Show {r.left.toLocaleString()} more that ended</button></div>;
          return <Row key={r.run.run} run={r.run} below={r.below} e={queued?.by.get(r.run.run)} here={i === at} onAsk={setAsking} />;
        }} />}
      {asking && <Ask {...asking} onClose={() => setAsking(null)} />}
    </div>
  );
}

// What is at hand, without saying again what the chip says.
const doing = (run) => { const [kind, ...rest] = run.step.split(": "); const what = rest.length ? rest.join(": ").replace(`${kind} of `, "") : run.cause ? words(run.cause) : ""; return run.title.includes(what) || what === words(run.acting_state || run.state) ? "" : what; };

// `e`: the run as the queue has it, where it does.
function Row({ run, e, here, below, onAsk }) {
  clock.value; // what is told as "ago" goes on
  const stop = () => onAsk({ ...STOP, onSay: async (text) => told(await attempt(() => call(`/api/runs/${run.run}/abort`, { reason: text })), "The run was stopped.") });
  const on = async () => told(await attempt(() => call(`/api/runs/${run.run}/resume`, {})), "The run continues.");
  const alone = !e && (run.workflow !== "execute" || queue.value !== null); // of no queue, as far as is known
  const paused = alone && run.group === "working" && run.pushed && !run.driven;
  const place = !e ? "" : e.waits_for.length ? `waits for ${e.waits_for.join(", ")}` : e.state === "ready" ? "next" : run.group === "working" && e.state !== "running" ? e.state : "";
  return (
    <div class={`row ${here ? "at" : ""} ${below ? "below" : ""}`} role="listitem" data-run={run.run}>
      <div class="what"><i class={`dot ${toneOf(run)} ${run.driven ? "alive" : ""}`} /><div class="lines"><Link to={`/runs/${run.run}`} class="title"><T text={run.title} /></Link>
        <div class="muted under"><span>{run.workflow}</span><code>{run.run}</code><span class="clip"><T text={doing(run)} /></span></div></div></div>
      <div class="state">{(run.state !== "QUEUED" || !place) && <StateChip run={run} />}{paused && <Chip title="No process drives it now">paused</Chip>}{place && <Chip tone={TONES[e.state]} title={plain(e.reason) || place}>{place}</Chip>}</div>
      <div class="plan">{run.parts > 0 ? <><progress max={run.parts} value={run.done} aria-label={`${run.done} of ${run.parts} done`} /><span class="num">{run.done}/{run.parts}</span></> : <span class="muted">–</span>}</div>
      <div class="num cost" title={`${many(tokens(run.usage))} tokens`}>{money(run.usage.usd)}</div>
      <div class="num time">{e ? took(e) : run.started ? between(run.started, run.group === "ended" ? run.at : new Date(clock.value).toISOString()) : "–"}</div>
      <div class="muted when">{ago(run.at)}</div>
      <div class="acts">
        {e && <Acts e={{ ...e, run_state: run.state }} among={queue.value.executions} onAsk={onAsk} onDone={loadQueue} />}
        {run.group === "waiting" && alone && <Link to={asks(run)} class="button">Answer</Link>}
        {paused && <Button onClick={on}>Continue</Button>}
        {run.group !== "ended" && alone && <Button kind="plain" onClick={stop} aria-label={`Stop ${run.run}`}>Stop</Button>}
      </div>
    </div>
  );
}
