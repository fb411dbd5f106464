// The report: what waits for whom, what failed, what landed since a time, and what it took by item, role and model.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { agentName, day, lasted, many, money } from "./format.js";
import { Away, Card, Chip, Empty, Link, Loading, Portions } from "./parts.jsx";
import { at, attempt, questions, runs } from "./store.js";
import { T } from "./text.jsx";

const GROUPS = [["waits", "Waiting for a person", "wait"], ["failed", "Failed", "bad"], ["landed", "Landed", "good"], ["finished", "Not in main yet", "info"], ["running", "Running", "info"], ["queued", "Queued", "quiet"], ["cancelled", "Cancelled", "quiet"]];
const SPANS = [["8h", "8 hours"], ["12h", "12 hours"], ["24h", "24 hours"], ["3d", "3 days"], ["7d", "7 days"], ["30d", "30 days"]];

export default function Report() {
  const [since, setSince] = useState("24h");
  const [got, setGot] = useState(null);
  const asked = useRef(0);
  const load = async () => {
    const mine = ++asked.current;
    const found = await call(`/api/report?${new URLSearchParams({ since })}`);
    if (mine === asked.current) setGot(found);
  };
  useEffect(() => {
    attempt(load);
    const every = setInterval(() => document.hidden || load().catch(() => {}), 15000);
    return () => clearInterval(every);
  }, [since]);
  useEffect(() => { if (got) load().catch(() => {}); }, [runs.value]);
  if (!got) return <Loading />;
  const groups = GROUPS.filter(([group]) => got.counts[group]);
  return (
    <div class="board report">
      <div class="tools">
        <label class="since">The last <select aria-label="Since" value={since} onChange={(e) => setSince(e.target.value)}>{SPANS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
        {groups.map(([group, name, tone]) => <Chip key={group} tone={tone}>{got.counts[group]} {name.toLowerCase()}</Chip>)}
        <span class="grow" />
        {got.cost.turns > 0 && <span class="muted num">{spent(got.cost)}</span>}
      </div>
      {got.queue?.paused && <div class="gone hint">The queue is paused: <T text={got.queue.paused.reason} />{got.queue.paused.until && <> (until {day(got.queue.paused.until)})</>}</div>}
      {got.queue?.notify_fault && <div class="gone">The last notification was not sent: <T text={got.queue.notify_fault} /></div>}
      <div class="pages" tabIndex={0}>
        {groups.length === 0 && <Empty title="Nothing happened"><p>No run moved since {day(got.since)}, and nothing waits for a person.</p></Empty>}
        {groups.map(([group, name, tone]) => <Card key={group} title={name} aside={<span class="count">{got.counts[group]}</span>}><ul class="lands"><Portions all={got.rows.filter((r) => r.group === group)} of={100} what="rows" row={(r) => <Row key={r.run || r.branch} r={r} tone={tone} />} /></ul></Card>)}
        {got.queue?.budget.length > 0 && <Card title="Budget of the queue" aside={<span class="muted">since {day(got.queue.budget_since)}</span>}><ul class="lands">{got.queue.budget.map((b) => <li key={b.name}><b>{b.name}</b> <span class="num">{b.used.toLocaleString()} of {b.most.toLocaleString()}</span></li>)}</ul></Card>}
        {got.by_role.length > 0 && <Shares title="By role" all={got.by_role} />}
        {got.by_model.length > 0 && <Shares title="By model" all={got.by_model} name={agentName} />}
      </div>
    </div>
  );
}

const spent = (cost) => [cost.usd > 0 && money(cost.usd), `${many(cost.tokens)} tokens`, lasted(cost.seconds)].filter(Boolean).join(", ");
const kinds = (flags) => Object.entries(flags).map(([kind, n]) => (n === 1 ? kind : `${kind} (${n})`)).join(", ");

function Row({ r, tone }) {
  const title = r.item && r.title.startsWith(`${r.item}: `) ? r.title.slice(r.item.length + 2) : r.title; // its item stands beside it
  const asked = questions.value.find((q) => r.group === "waits" && (r.run ? q.run === r.run || q.run.startsWith(`${r.run}.`) : q.title === r.branch));
  return (
    <li data-run={r.run}>
      <div class="first"><i class={`dot ${tone}`} />{r.item && <code>{r.item}</code>}<b class="clip">{r.run ? <Link to={at("runs", r.run)}><T text={title} /></Link> : <T text={title} />}</b>{r.attempts > 1 && <Chip title={r.earlier.map((e) => `${e.run}: ${e.state} ${e.why}`).join("\n")}>{r.attempts} attempts</Chip>}{Object.keys(r.flags).length > 0 && <Chip tone="warn">{kinds(r.flags)}</Chip>}{Object.keys(r.accepted).length > 0 && <Chip title="Accepted by a person">{kinds(r.accepted)}</Chip>}<span class="grow" />{r.cost.turns > 0 && <span class="muted num">{spent(r.cost)}</span>}{asked && <Link to={at("inbox", asked.id)} class="button">Answer</Link>}</div>
      {r.why && <p class="muted"><T text={r.why} /></p>}
      {(r.pull_request || r.branch) && <p class="muted">{r.pull_request ? <Away to={r.pull_request} /> : <code><T text={r.branch} /></code>}</p>}
    </li>
  );
}

function Shares({ title, all, name = (text) => text }) {
  return <Card title={title}><div class="wide"><table class="shares"><thead><tr><th /><th>Cost</th><th>Tokens</th><th>Time</th><th>Turns</th></tr></thead><tbody>{all.map((s) => <tr key={s.name}><th><T text={name(s.name)} /></th><td>{money(s.cost.usd)}</td><td>{many(s.cost.tokens)}</td><td>{lasted(s.cost.seconds)}</td><td>{s.cost.turns}</td></tr>)}</tbody></table></div></Card>;
}
