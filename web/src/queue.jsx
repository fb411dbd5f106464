// The queue: work items, their executions by state, what each writes and took, and what can be done about it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { Acts, GROUPS, LIVE, TONES, spent, standing } from "./executions.jsx";
import { ago, day, words } from "./format.js";
import { Lines } from "./log.jsx";
import { Ask, Away, Button, Chip, Dialog, Empty, Link, Loading, Pick, Portions, Tabs, useSteps } from "./parts.jsx";
import { at, attempt, attend, go, phone, runs, tell } from "./store.js";
import { T } from "./text.jsx";
import { Windowed } from "./windowed.jsx";

const PAGE = 200;
const EVERYTHING = { q: "", state: "" };

// `id`: the execution that is looked at, or "items". It stands in the address; nothing else is put in its place.
export default function Queue({ id }) {
  const [got, setGot] = useState(null);
  const [items, setItems] = useState([]);
  const [most, setMost] = useState(PAGE);
  const [f, setFilter] = useState(EVERYTHING);
  const [apart, setApart] = useState(null); // what is looked at and does not fit, or is further down
  const [filing, setFiling] = useState(false);
  const tab = id === "items" ? "items" : "executions";
  const named = id && tab === "executions";
  const asked = useRef(0), newest = useRef(0);
  const load = async () => {
    const mine = ++asked.current;
    const [all, listed] = await Promise.all([call(`/api/executions?${new URLSearchParams({ ...f, all: true, limit: most })}`), call("/api/items")]);
    const away = named && !all.executions.some((e) => e.id === id) ? await call(`/api/executions/${encodeURIComponent(id)}`).catch(() => null) : null;
    if (mine < newest.current) return; // what was asked for later is there already
    newest.current = mine;
    setApart(away);
    setGot(all);
    setItems(listed.items);
  };
  useEffect(() => {
    const soon = setTimeout(() => attempt(load), f.q ? 150 : 0);
    const every = setInterval(() => document.hidden || load().catch(() => {}), 3000);
    return () => { clearTimeout(soon); clearInterval(every); };
  }, [most, f, id]);
  useEffect(() => { load().catch(() => {}); }, [runs.value]);
  const all = got?.executions ?? [];
  const chosen = all.find((e) => e.id === id) ?? (apart?.id === id ? apart : undefined);
  const filtered = f.q !== "" || f.state !== "";
  const rows = useMemo(() => GROUPS.flatMap(([state, name]) => {
    const mine = all.filter((e) => e.state === state);
    return mine.length ? [{ name, count: mine.length }, ...mine] : [];
  }), [got]);
  const heights = useMemo(() => rows.map((r) => (r.id ? 54 : 40)), [rows]);
  const listed = rows.filter((r) => r.id);
  const pick = (next, instead) => go(at("queue", next), instead);
  useEffect(() => { if (!id && listed.length && !phone.value) pick(listed[0].id, true); }, [id, got]);
  useSteps(tab === "executions" ? listed.length : 0, listed.indexOf(chosen), (i) => pick(listed[i].id, true));
  if (!got) return <Loading />;
  const enqueue = (body) => attempt(async () => { await call("/api/executions", body); await load(); pick(""); tell("Queued.", "good"); });
  const none = all.length === 0 && !filtered && <Empty title="Nothing is queued"><p>File a work item, then queue it. Each gets a branch, a workspace and an agent of its own.</p><Button kind="primary" onClick={() => setFiling(true)}>File the first item</Button></Empty>;
  const some = all.length > 0 || items.length > 0 || filtered;
  return (
    <div class="board">
      {some && <div class="tools">
        <span class="muted">{standing(got)}{got.workers > 1 && `, ${got.workers} workers`}</span>
        {got.paused && <Chip tone="warn" title={got.paused_until ? `until ${day(got.paused_until)}` : got.paused_by}>paused: <T text={got.paused} /></Chip>}
        {got.away.map((each) => <Chip key={each} tone="warn" title="It is asked again automatically">away: <T text={each} /></Chip>)}
        <span class="grow" />
        <Button kind="plain" onClick={() => attempt(async () => { await call("/api/queue", { paused: !got.paused }); await load(); })}>{got.paused ? "Let it continue" : "Pause"}</Button>
        <Button onClick={() => setFiling(true)}>New item</Button>
        {items.length > 0 && <Button kind="primary" onClick={() => enqueue({ ready: true })}>Queue all that is ready</Button>}
      </div>}
      {got.workers === 0 && LIVE.some((state) => got.counts[state]) && <div class="gone hint">What is queued starts once a worker is there. In a terminal: <code>detent work</code></div>}
      {some && <Tabs tabs={[{ id: "executions", name: "Executions", count: got.next ? `${all.length}+` : all.length }, { id: "items", name: "Items", count: items.length }]} at={tab} onPick={(t) => pick(t === "items" ? t : "")} label="Queue" of="queue" />}
      {tab === "items" ? <Items items={items} onQueue={(item) => enqueue({ items: [item] })} onLoad={load} /> : none || (
        <div class={`split ${id ? "picked" : ""}`}>
          <div class="column">
            <Find f={f} onFilter={setFilter} />
            {rows.length > 0 ? <Windowed class="events" label="Executions" count={rows.length} heights={heights} reveal={rows.indexOf(chosen)} picked={id} onEnd={(end) => end && got.next && setMost(most + PAGE)} row={(i) => (rows[i].id ? <Row key={rows[i].id} e={rows[i]} here={rows[i] === chosen} onPick={() => pick(rows[i].id)} />
              : <h2 key={rows[i].name} class="group" role="presentation">{rows[i].name}<span class="count">{rows[i].count}</span></h2>)} />
              : <Empty title="No execution matches">Nothing matches your search. <button type="button" class="button" onClick={() => setFilter(EVERYTHING)}>Show all</button></Empty>}
          </div>
          {chosen ? <Execution key={chosen.id} e={chosen} among={all} onLoad={load} onBack={() => pick("")} /> : id && <section class="shown"><Empty title="It is not in this list">The queue keeps what ended for 30 days. <Link to={at("runs", id)} class="button">See its run</Link></Empty></section>}
        </div>)}
      {filing && <NewItem onClose={() => setFiling(false)} onLoad={load} />}
    </div>
  );
}

function Find({ f, onFilter }) {
  return (
    <div class="find">
      <input type="search" aria-label="Search executions" placeholder={phone.value ? "Search" : "Search  /"} value={f.q} onInput={(e) => onFilter({ ...f, q: e.target.value })} />
      <select aria-label="State" value={f.state} onChange={(e) => onFilter({ ...f, state: e.target.value })}><option value="">Every state</option>{GROUPS.map(([state, name]) => <option key={state} value={state}>{name}</option>)}</select>
    </div>
  );
}

function Row({ e, here, onPick }) {
  return (
    <Pick here={here} onPick={onPick} data-id={e.id}>
      <i class={`dot ${TONES[e.state]} ${e.state === "running" ? "alive" : ""}`} />
      <span class="lines"><span class="first"><b class="clip"><T text={e.title || e.item} /></b></span><span class="muted clip">{e.item} <T text={e.waits_for.length ? `waits for ${e.waits_for.join(", ")}` : e.reason} /></span></span>
      <span class="right"><Chip tone={TONES[e.state]}>{e.state === "running" && e.run_state ? words(e.run_state) : e.state}</Chip><span class="muted num">{spent(e) || ago(e.added)}</span></span>
    </Pick>
  );
}

// A line of `--events` in words; null if it says nothing to a person. Anything else as it is.
function inWords(line) {
  let e = null;
  try { e = line.startsWith("{") ? JSON.parse(line) : null; } catch { /* a line that only looks like it */ }
  if (!e) return line;
  if (e.event === "verdict") return `→ ${words(e.state)}: ${words(e.status)}${e.reasons?.length ? `  ${e.reasons.join("; ")}` : ""}`;
  if (e.event === "turn") return `${words(e.state)}: the agent begins`;
  if (e.event === "state") return null;
  return e.outcome ? `${words(e.outcome)}: ${words(e.state)}` : e.text ?? e.error ?? null;
}

function Execution({ e, among, onLoad, onBack }) {
  const kept = useRef([]);
  const [count, setCount] = useState(0);
  const [dropped, setDropped] = useState(0);
  const [asking, setAsking] = useState(null);
  const [tried, setTried] = useState([]);
  useEffect(() => { if (e.item) call(`/api/items/${encodeURIComponent(e.item)}/attempts`).then((got) => setTried(got.attempts), () => setTried([])); }, [e.id, e.run_state]);
  useEffect(() => {
    kept.current = [];
    let soon = 0, open = "";
    const stop = attend({ execution: e.id }, (kind, piece) => {
      if (kind === "dropped") return setDropped(piece.characters);
      if (kind !== "output") return;
      if (open) kept.current.pop(); // a line may end in a later piece
      const lines = (open + piece.text).split("\n");
      open = lines.pop();
      for (const line of lines) { const said = inWords(line); if (said !== null) for (const each of said.split("\n")) kept.current.push(each); }
      if (open) kept.current.push(open);
      cancelAnimationFrame(soon);
      soon = requestAnimationFrame(() => setCount(kept.current.length));
    });
    return () => { stop(); cancelAnimationFrame(soon); };
  }, [e.id]);
  return (
    <section class="shown" aria-label={`Execution ${e.id}`}>
      <header><button type="button" class="button plain phone-only" onClick={onBack}>← Back</button><h3><T text={e.title || e.item} /></h3><Chip tone={TONES[e.state]}>{e.state}</Chip><span class="grow" />
        {e.run_state && <Link to={at("runs", e.id)} class="button">See the run</Link>}
        <Acts e={e} among={among} kind="primary" onAsk={setAsking} onDone={onLoad} />
      </header>
      <p class="muted second">{e.item}, attempt {e.attempt}, {!e.started ? `queued ${ago(e.added)}` : e.ended ? `${spent(e)}, ended ${ago(e.ended)}` : `${spent(e)} so far`}{e.worker && <span title={e.worker}>, with a worker</span>}{e.branch && <>, branch <code><T text={e.branch} /></code></>}{e.pull_request && <>, <Away to={e.pull_request} /></>}{e.reason && <>: <T text={e.reason} /></>}</p>
      {tried.length > 1 && <ol class="attempts" aria-label="Attempts">{tried.map((t) => <li key={t.run}>{t.run === e.id ? <b>{t.run}</b> : <Link to={at("runs", t.run)}>{t.run}</Link>} {words(t.state)}{t.starts_from && ", from the work of the one before"}{t.reason && <>: <T text={t.reason} /></>}{t.kept && t.state !== "COMPLETED" && <>; its work is in <code>{t.kept}</code></>}</li>)}</ol>}
      <Lines lines={kept.current} count={count} cut={dropped > 0 && `${dropped.toLocaleString()} earlier characters are no longer kept`} />
      {asking && <Ask {...asking} onClose={() => setAsking(null)} />}
    </section>
  );
}

function Items({ items, onQueue, onLoad }) {
  if (!items.length) return <Empty title="No open items">File one with “New item”. What agents and reviewers find is filed here too.</Empty>;
  const close = (id) => attempt(async () => { await call(`/api/items/${id}/close`, { reason: "closed on the page" }); await onLoad(); });
  return (
    <div class="windowed items" role="list" aria-label="Items"><Portions all={items} what="items" row={(i) => (
      <details key={i.id} class="item" role="listitem"><summary><code>{i.id}</code><b class="clip"><T text={i.title} /></b><Chip>{words(i.status)}</Chip>{i.waits_for.length > 0 && <span class="muted">waits for {i.waits_for.join(", ")}</span>}{i.labels.map((l) => <Chip key={l} tone="info"><T text={l} /></Chip>)}<span class="grow" /><span class="muted">P{i.priority} {i.type}</span><Button onClick={(e) => { e.preventDefault(); return onQueue(i.id); }}>Queue it</Button><Button kind="plain" onClick={(e) => { e.preventDefault(); return close(i.id); }}>Close</Button></summary><p class="quote"><T text={i.description || "No description."} /></p>{i.notes && <p class="quote"><T text={i.notes} /></p>}</details>
    )} /></div>
  );
}

function NewItem({ onClose, onLoad }) {
  const [title, setTitle] = useState("");
  const [description, setText] = useState("");
  const file = (queue) => attempt(async () => {
    const made = await call("/api/items", { title, description });
    if (queue) await call("/api/executions", { items: [made.id] });
    await onLoad();
    onClose();
  });
  return (
    <Dialog title="New item" onClose={onClose} class="small">
      <label class="field"><span>Title</span><input name="title" autofocus value={title} onInput={(e) => setTitle(e.target.value)} /></label>
      <label class="field"><span>What is to be done; the agent reads it</span><textarea name="description" rows={5} value={description} onInput={(e) => setText(e.target.value)} /></label>
      <footer><Button busy={!title.trim()} onClick={() => file(false)}>File it</Button><Button kind="primary" busy={!title.trim()} onClick={() => file(true)}>File and queue it</Button></footer>
    </Dialog>
  );
}
