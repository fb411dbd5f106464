// The queue: work items, their executions by state, what each writes, and what can be done about it.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, follow } from "./api.js";
import { ago, words } from "./format.js";
import { Lines } from "./log.jsx";
import { Button, Chip, Dialog, Empty, Link, Tabs } from "./parts.jsx";
import { attempt, phone, runs, tell } from "./store.js";
import { T } from "./text.jsx";

const TONES = { running: "info", ready: "quiet", waiting: "quiet", done: "good", failed: "bad", blocked: "wait", cancelled: "quiet" };
const GROUPS = [["running", "At work"], ["ready", "Next"], ["waiting", "Waits for others"], ["blocked", "Blocked"], ["failed", "Failed"], ["done", "Done"], ["cancelled", "Cancelled"]];
const AGAIN = ["failed", "blocked", "cancelled"];
const LIVE = ["running", "ready", "waiting"];

export default function Queue() {
  const [got, setGot] = useState(null);
  const [items, setItems] = useState([]);
  const [tab, setTab] = useState("executions");
  const [at, setAt] = useState("");
  const [filing, setFiling] = useState(false);
  const load = async () => {
    const [all, listed] = await Promise.all([call("/api/executions?all=true&limit=1000"), call("/api/items")]);
    setGot(all);
    setItems(listed.items);
  };
  useEffect(() => {
    const quietly = () => load().catch(() => {});
    attempt(load);
    const every = setInterval(quietly, 3000);
    return () => clearInterval(every);
  }, []);
  useEffect(() => { load().catch(() => {}); }, [runs.value]);
  if (!got) return <div class="loading" aria-busy="true" />;
  const all = got.executions;
  const chosen = all.find((e) => e.id === at) ?? (phone.value ? null : all[0]);
  const enqueue = (body) => attempt(async () => { await call("/api/executions", body); await load(); setTab("executions"); tell("Queued.", "good"); });
  const count = (s) => all.filter((e) => e.state === s).length;
  return (
    <div class="board">
      <div class="tools">
        <b>{count("running")} of {got.slots} slots</b><span class="muted">{count("ready")} next, {count("waiting")} waiting, {got.workers} {got.workers === 1 ? "worker" : "workers"}</span>
        {got.paused && <Chip tone="warn" title={got.paused_by}>paused: <T text={got.paused} /></Chip>}
        <span class="grow" />
        <Button onClick={() => attempt(async () => { await call("/api/queue", { paused: !got.paused }); await load(); })}>{got.paused ? "Let it go on" : "Pause"}</Button>
        <Button onClick={() => setFiling(true)}>New item</Button>
        <Button kind="primary" onClick={() => enqueue({ ready: true })}>Queue all that is ready</Button>
      </div>
      {got.workers === 0 && all.some((e) => LIVE.includes(e.state)) && <div class="gone">No worker is there. Start one: <code>detent work</code></div>}
      <Tabs tabs={[{ id: "executions", name: "Executions", count: all.length }, { id: "items", name: "Items", count: items.length }]} at={tab} onPick={setTab} label="Queue" />
      {tab === "items" ? <Items items={items} onQueue={(id) => enqueue({ items: [id] })} onLoad={load} />
        : all.length === 0 ? <Empty title="Nothing is queued">File a work item, then queue it. Each gets a branch, a workspace and an agent of its own; <code>detent work</code> executes them. <Button kind="primary" onClick={() => setFiling(true)}>File the first item</Button></Empty>
          : <div class={`split ${at && chosen ? "picked" : ""}`}>
            <div class="windowed events" role="list" aria-label="Executions">{GROUPS.map(([state, name]) => {
              const mine = all.filter((e) => e.state === state);
              return mine.length > 0 && <div key={state}><h2 class="group">{name}<span class="count">{mine.length}</span></h2>{mine.map((e) => (
                <button key={e.id} type="button" role="listitem" data-id={e.id} class={`event ${e === chosen ? "here" : ""}`} onClick={() => setAt(e.id)}>
                  <i class={`dot ${TONES[e.state]} ${e.state === "running" ? "alive" : ""}`} />
                  <span class="lines"><span class="first"><b class="clip"><T text={e.title || e.item} /></b></span><span class="muted clip">{e.item} <T text={e.waits_for.length ? `waits for ${e.waits_for.join(", ")}` : e.reason} /></span></span>
                  <span class="right"><Chip tone={TONES[e.state]}>{e.state === "running" && e.run_state ? words(e.run_state) : e.state}</Chip><span class="muted num">{ago(e.ended ?? e.started ?? e.added)}</span></span>
                </button>))}</div>;
            })}</div>
            {chosen && <Execution key={chosen.id} e={chosen} onLoad={load} onBack={() => setAt("")} />}
          </div>}
      {filing && <NewItem onClose={() => setFiling(false)} onLoad={load} />}
    </div>
  );
}

// A line of `--events` in words; anything else as it is.
function inWords(line) {
  let e = null;
  try { e = line.startsWith("{") ? JSON.parse(line) : null; } catch { /* a line that only looks like it */ }
  if (!e) return line;
  if (e.event === "verdict") return `${e.at} ${e.status} → ${e.state}  ${(e.reasons ?? []).join("; ")}`;
  if (e.event === "turn" || e.event === "state") return `${e.state} ${e.role ?? ""}`;
  return e.outcome ? `${e.outcome}: ${e.state}` : e.text ?? e.error ?? "";
}

function Execution({ e, onLoad, onBack }) {
  const kept = useRef([]);
  const [count, setCount] = useState(0);
  useEffect(() => {
    kept.current = [];
    let soon = 0;
    const stop = follow(`/api/executions/${e.id}/stream`, (kind, piece) => {
      for (const line of piece.text.split("\n")) { const said = inWords(line); if (said) kept.current.push(...said.split("\n")); }
      cancelAnimationFrame(soon);
      soon = requestAnimationFrame(() => setCount(kept.current.length));
    });
    return () => { stop(); cancelAnimationFrame(soon); };
  }, [e.id]);
  const letting = e.state === "cancelled" && e.run_state !== "" && e.run_state !== "CANCELLED"; // its worker still lets it go
  const act = (verb, body, good) => attempt(async () => { await call(`/api/executions/${e.id}/${verb}`, body); tell(good, "good"); await onLoad(); });
  const review = () => attempt(async () => { const r = await call("/api/reviews", { branch: e.branch }); tell(r.summary || "Reviewed.", r.pr_ready ? "good" : "warn", r.items.length ? `Filed: ${r.items.join(", ")}` : ""); await onLoad(); });
  return (
    <section class="shown" aria-label={`Execution ${e.id}`}>
      <header><button type="button" class="button plain phone-only" onClick={onBack}>← Back</button><h3><T text={e.title || e.item} /></h3><Chip tone={TONES[e.state]}>{e.state}</Chip><span class="grow" />
        {e.run_state && <Link to={`/runs/${e.id}`} class="button">See the run</Link>}
        {e.branch && <Button onClick={review} title="A fresh agent reads the branch; what it finds becomes items">Review</Button>}
        {AGAIN.includes(e.state) && !letting && <Button kind="primary" onClick={() => act("retry", {}, "It is queued again.")}>Try again</Button>}
        {LIVE.includes(e.state) && <Button kind="danger" onClick={() => act("cancel", { reason: "cancelled on the page" }, "It was cancelled.")}>Cancel</Button>}
      </header>
      <p class="muted second">{e.id}, attempt {e.attempt}{e.worker && `, on ${e.worker}`}{e.branch && <>, branch <code><T text={e.branch} /></code></>}{e.reason && <>: <T text={e.reason} /></>}</p>
      <Lines lines={kept.current} count={count} />
    </section>
  );
}

function Items({ items, onQueue, onLoad }) {
  if (!items.length) return <Empty title="No open items">File one with “New item”, or with <code>detent items add</code>.</Empty>;
  const close = (id) => attempt(async () => { await call(`/api/items/${id}/close`, { reason: "closed on the page" }); await onLoad(); });
  return (
    <div class="windowed items" role="list" aria-label="Items">{items.map((i) => (
      <details key={i.id} class="item" role="listitem"><summary><code>{i.id}</code><b class="clip"><T text={i.title} /></b><Chip>{words(i.status)}</Chip>{i.waits_for.length > 0 && <span class="muted">waits for {i.waits_for.join(", ")}</span>}{i.labels.map((l) => <Chip key={l} tone="info"><T text={l} /></Chip>)}<span class="grow" /><span class="muted">P{i.priority} {i.type}</span><Button onClick={(e) => { e.preventDefault(); return onQueue(i.id); }}>Queue it</Button><Button kind="plain" onClick={(e) => { e.preventDefault(); return close(i.id); }}>Close</Button></summary><p class="quote"><T text={i.description || "No description."} /></p>{i.notes && <p class="quote"><T text={i.notes} /></p>}</details>
    ))}</div>
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
