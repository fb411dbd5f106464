// The turns of agents: what each was asked, what it did and said, line by line as it was recorded.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { agentName, bytes, many, money, time, tokens, words } from "./format.js";
import { Chip, Empty, Loading, Pick, Portions, State, Verdict, useSteps } from "./parts.jsx";
import { attempt, phone } from "./store.js";
import { Ansi, Exact, Markdown, T, local } from "./text.jsx";
import { Windowed } from "./windowed.jsx";

const PAGE = 100, NEWEST = 20, ROW = 54;
const EVERY = 1000; // milliseconds at least between two looks at which turns there are

export function Turns({ runs, tasks, last, at, onPick }) {
  const kept = useRef(new Map());
  const [rows, setRows] = useState(null);
  const [rest, setRest] = useState({}); // where the next page of each run begins
  const looked = useRef(0);
  const take = async (limit, from) => {
    const next = {};
    await Promise.all(Object.entries(from).map(async ([run, offset]) => {
      const got = await call(`/api/runs/${run}/transcripts?limit=${limit}&offset=${offset}`);
      for (const t of got.transcripts) kept.current.set(t.attempt, { run, ...t });
      next[run] = got.next ?? undefined;
    }));
    setRows([...kept.current.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)));
    return Object.fromEntries(Object.entries(next).filter(([, n]) => n !== undefined));
  };
  const first = Object.fromEntries(runs.map((run) => [run, 0]));
  useEffect(() => { attempt(async () => setRest(await take(PAGE, first))); }, [runs.join(" ")]);
  useEffect(() => { // of what is new, the newest page is enough, and not for every event
    const soon = setTimeout(() => { looked.current = Date.now(); attempt(() => take(NEWEST, first)); }, Math.max(200, looked.current + EVERY - Date.now()));
    return () => clearTimeout(soon);
  }, [last]);
  const chosen = rows?.find((r) => r.attempt === at);
  useEffect(() => { if (rows?.length && !at && !phone.value) onPick(rows[0].attempt, true); }, [rows, at]);
  useSteps(rows?.length ?? 0, rows?.indexOf(chosen) ?? -1, (i) => onPick(rows[i].attempt, true));
  if (!rows) return <Loading />;
  if (!rows.length) return <Empty title="No turns yet">Each turn of an agent that Detent drives is recorded here: what it was asked, what it did, what it said.</Empty>;
  return (
    <div class={`split ${at ? "picked" : ""}`}>
      <Windowed class="events" label="Turns" count={rows.length} heights={ROW} reveal={rows.indexOf(chosen)} picked={at} onEnd={(end) => end && Object.keys(rest).length > 0 && attempt(async () => setRest(await take(PAGE, rest)))} row={(i) => {
        const r = rows[i];
        return (
          <Pick key={r.attempt} here={r === chosen} onPick={() => onPick(r.attempt)}>
            <span class="lines"><span class="first"><State name={r.state} />{tasks[r.run] && <span>{tasks[r.run]}</span>}{words(r.role) !== words(r.state) && <span class="muted">{r.role}</span>}</span><span class="muted num">{r.usage ? `${money(r.usage.usd)}, ${many(tokens(r.usage))} tokens` : bytes(r.size)}</span></span>
            <span class="right">{r.open ? <span class="chip info">at work</span> : <Verdict status={r.status} />}<span class="muted num">{time(r.at)}</span></span>
          </Pick>
        );
      }} />
      {chosen && <Turn key={chosen.attempt} row={chosen} task={tasks[chosen.run]} onBack={() => onPick("")} />}
    </div>
  );
}

function Turn({ row, task, onBack }) {
  const kept = useRef({ lines: [], next: 0 });
  const [lines, setLines] = useState([]);
  useEffect(() => { // what was read already is not read again
    let here = true;
    attempt(async () => {
      while (here && kept.current.next < row.size) {
        const piece = await call(`/api/runs/${row.run}/transcripts/${row.attempt}?after=${kept.current.next}`);
        if (!here || piece.next === kept.current.next) break;
        kept.current = { lines: [...kept.current.lines, ...piece.text.split("\n").filter(Boolean).map(read)], next: piece.next };
      }
      if (here) setLines(kept.current.lines.filter((l) => l.kind !== "entry"));
    });
    return () => { here = false; };
  }, [row.attempt, row.size]);
  return <section class="shown" aria-label="Transcript"><header class="one"><button type="button" class="button plain phone-only" aria-label="Back" onClick={onBack}>←</button><h3>{words(row.state)} {task} {words(row.role) !== words(row.state) && <span class="muted">{row.role}</span>}</h3>{!row.open && <Verdict status={row.status} />}</header>
    <div class="body transcript"><Portions all={lines} what="entries" row={(l, i) => <Entry key={i} line={l} />} /></div></section>;
}

const read = (line) => { try { return JSON.parse(line); } catch { return { kind: "unreadable", text: line }; } };
const json = (value) => JSON.stringify(value, null, 2);
const NAMES = { asked: "briefing", results: "tools", call: "tool", assistant: "agent", user: "machine" };

function Entry({ line }) {
  const Made = KINDS[line.kind];
  return <div class={`entry ${line.kind}`}><div class="kind"><span>{NAMES[line.kind] ?? words(line.kind)}</span>{line.at && <span class="muted num">{time(line.at)}</span>}</div><div class="said">{Made ? <Made line={line} /> : <pre class="code"><T text={json({ ...line, kind: undefined, at: undefined })} /></pre>}</div></div>;
}

function Asked({ line }) {
  const b = read(line.briefing ?? "{}");
  return <details><summary><b><T text={b.goal ?? "The briefing"} /></b> <span class="muted">to <T text={agentName(line.agent ?? "")} /></span></summary><div class="paper"><Markdown text={b.briefing ?? line.briefing} /></div></details>;
}

const wordsOf = (content) => (typeof content === "string" ? content : Array.isArray(content) && content.every((c) => typeof c?.text === "string") ? content.map((c) => c.text).join("\n") : json(content));

function Blocks({ content }) {
  const all = typeof content === "string" ? [{ type: "text", text: content }] : content ?? [];
  return all.map((b, i) => {
    if (b.type === "text") return <Markdown key={i} text={b.text} />;
    if (b.type === "tool_use") return <Tool key={i} name={b.name} given={b.input} />;
    if (b.type === "tool_result") return <pre key={i} class={`code ${b.is_error ? "bad" : ""}`}><Ansi text={wordsOf(b.content)} /></pre>;
    return <pre key={i} class="code"><T text={json(b)} /></pre>;
  });
}

// What a model is asked first is the briefing again: there on demand.
function User({ line }) {
  const whole = JSON.stringify(line.content ?? "").length;
  return whole > 1500 ? <details><summary class="muted">what the model is asked, {bytes(whole)}</summary><Blocks content={line.content} /></details> : <Blocks content={line.content} />;
}

// A call by what matters of it: the file and what changes there, the command, the pattern; all of it on demand.
function Tool({ name, given }) {
  const g = given ?? {};
  const file = g.file_path ?? g.path ?? "";
  const change = g.old_string !== undefined ? [[g.old_string, "delete", "-"], [g.new_string, "insert", "+"]] : g.content !== undefined ? [[g.content, "insert", "+"]] : [];
  const what = g.pattern ? `${g.pattern}${file ? `  in ${file}` : ""}` : file || g.command;
  return <div class="tool"><div class="what"><Chip tone="info">{name}</Chip><code class="clip"><T text={local(what || JSON.stringify(g))} /></code></div>
    {change.length > 0 && <div class="wide"><table class="code"><tbody>{change.flatMap(([text, type, sign]) => String(text).replace(/\n$/, "").split("\n").slice(0, 400).map((l, i) => <tr key={type + i} class={type}><td class="sign">{sign}</td><td class="line"><Exact text={l} /></td></tr>))}</tbody></table></div>}
    {!what && <details><summary class="muted">all of it</summary><pre class="code"><T text={json(g)} /></pre></details>}</div>;
}

// The last words of a turn are often an answer in JSON: its words first.
function Reply({ line }) {
  const text = line.text ?? "";
  let said = null;
  try { said = JSON.parse(text); } catch { /* plain words */ }
  if (!said || typeof said !== "object" || Array.isArray(said)) return <Markdown text={text} />;
  return <dl class="facts words">{Object.entries(said).map(([k, v]) => [<dt key={`${k}.`}>{words(k.replace(/[A-Z]/g, (c) => ` ${c}`))}</dt>, <dd key={k}>{typeof v === "string" ? <Markdown text={v} /> : v === null ? <span class="muted">none</span> : typeof v === "object" ? <Values of={v} /> : <T text={String(v)} />}</dd>])}</dl>;
}
const Values = ({ of }) => (Object.values(of).every((v) => v === null || typeof v !== "object") ? <>{Object.entries(of).map(([k, v]) => <div key={k}><span class="muted"><T text={Array.isArray(of) ? "" : `${words(k.replace(/[A-Z]/g, (c) => ` ${c}`))}: `} /></span><T text={String(v)} /></div>)}</> : <pre class="code"><T text={json(of)} /></pre>);

const KINDS = {
  asked: Asked, reply: Reply, user: User, assistant: ({ line }) => <Blocks content={line.content} />,
  results: ({ line }) => <Blocks content={line.content} />, system: ({ line }) => <details><summary class="muted">system prompt</summary><pre class="code"><T text={line.text} /></pre></details>,
  call: ({ line }) => <><Tool name={line.tool} given={line.arguments} />{line.text && <pre class={`code ${line.failed ? "bad" : ""}`}><Ansi text={line.text} /></pre>}</>,
  stderr: ({ line }) => <pre class="code"><Ansi text={line.text ?? ""} /></pre>, failed: ({ line }) => <p class="minus"><b>{line.sort}</b> <T text={line.message} /></p>,
  trouble: ({ line }) => <p class="muted">{line.sort}: <T text={line.message} /></p>,
};
