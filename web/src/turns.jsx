// The turns of agents: what each was asked, what it did and said, line by line as it was recorded.
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { bytes, many, money, time, tokens, words } from "./format.js";
import { Empty, Verdict } from "./parts.jsx";
import { attempt } from "./store.js";
import { Ansi, Markdown, T } from "./text.jsx";

export function Turns({ runs, last, at, onPick }) {
  const [rows, setRows] = useState(null);
  useEffect(() => {
    let here = true;
    attempt(async () => {
      const got = await Promise.all(runs.map(async (run) => (await call(`/api/runs/${run}/transcripts`)).transcripts.map((t) => ({ run, ...t }))));
      if (here) setRows(got.flat().sort((a, b) => (a.at < b.at ? 1 : -1)));
    });
    return () => { here = false; };
  }, [runs.join(" "), last]);
  if (!rows) return <div class="loading" aria-busy="true" />;
  if (!rows.length) return <Empty title="No turns yet">Each turn of an agent that Detent drives is recorded here: what it was asked, what it did, what it said.</Empty>;
  const chosen = rows.find((r) => r.attempt === at) ?? rows[0];
  return (
    <div class={`split ${at ? "picked" : ""}`}>
      <div class="windowed events" role="list" aria-label="Turns">{rows.map((r) => (
        <button key={r.attempt} type="button" role="listitem" class={`event ${r === chosen ? "here" : ""}`} onClick={() => onPick(r.attempt)}>
          <span class="lines"><span class="first"><b>{words(r.state)}</b><span class="muted">{r.role}</span></span><span class="muted num">{r.usage ? `${money(r.usage.usd)}, ${many(tokens(r.usage))} tokens` : bytes(r.size)}</span></span>
          <span class="right">{r.open ? <span class="chip info">at work</span> : <Verdict status={r.status} />}<span class="muted num">{time(r.at)}</span></span>
        </button>
      ))}</div>
      <Turn key={chosen.attempt} row={chosen} onBack={() => onPick("")} />
    </div>
  );
}

function Turn({ row, onBack }) {
  const [lines, setLines] = useState([]);
  useEffect(() => {
    let here = true;
    attempt(async () => {
      const got = [];
      for (let after = 0; here;) {
        const piece = await call(`/api/runs/${row.run}/transcripts/${row.attempt}?after=${after}`);
        for (const line of piece.text.split("\n")) if (line) got.push(read(line));
        if (piece.next >= piece.size || piece.next === after) break;
        after = piece.next;
      }
      if (here) setLines(got);
    });
    return () => { here = false; };
  }, [row.attempt, row.size]);
  return <section class="shown" aria-label="Transcript"><header><button type="button" class="button plain phone-only" onClick={onBack}>← Back</button><h3>{words(row.state)} <span class="muted">{row.attempt}</span></h3></header>
    <div class="body transcript">{lines.map((l, i) => <Entry key={i} line={l} />)}</div></section>;
}

const read = (line) => { try { return JSON.parse(line); } catch { return { kind: "unreadable", text: line }; } };
const json = (value) => JSON.stringify(value, null, 2);

function Entry({ line }) {
  const Made = KINDS[line.kind];
  return <div class={`entry ${line.kind}`}><div class="kind"><span>{words(line.kind)}</span>{line.at && <span class="muted num">{time(line.at)}</span>}</div><div class="said">{Made ? <Made line={line} /> : <pre class="code"><T text={json({ ...line, kind: undefined, at: undefined })} /></pre>}</div></div>;
}

function Asked({ line }) {
  const b = read(line.briefing ?? "{}");
  return <details><summary><b><T text={b.goal ?? "The briefing"} /></b> <span class="muted"><T text={line.agent} /></span></summary><div class="paper"><Markdown text={b.briefing ?? line.briefing} /></div></details>;
}

function Blocks({ content }) {
  const all = typeof content === "string" ? [{ type: "text", text: content }] : content ?? [];
  return all.map((b, i) => {
    if (b.type === "text") return <Markdown key={i} text={b.text} />;
    if (b.type === "tool_use") return <Tool key={i} name={b.name} given={b.input} />;
    if (b.type === "tool_result") return <pre key={i} class={`code ${b.is_error ? "bad" : ""}`}><Ansi text={typeof b.content === "string" ? b.content : json(b.content)} /></pre>;
    return <pre key={i} class="code"><T text={json(b)} /></pre>;
  });
}

const Tool = ({ name, given }) => <details><summary><b>{name}</b> <code class="clip"><T text={JSON.stringify(given)} /></code></summary><pre class="code"><T text={json(given)} /></pre></details>;
const Words = ({ line }) => <Markdown text={line.text ?? ""} />;
const KINDS = {
  asked: Asked, reply: Words, user: ({ line }) => <Blocks content={line.content} />, assistant: ({ line }) => <Blocks content={line.content} />,
  results: ({ line }) => <Blocks content={line.content} />, system: ({ line }) => <details><summary class="muted">system prompt</summary><pre class="code"><T text={line.text} /></pre></details>,
  call: ({ line }) => <><Tool name={line.tool} given={line.arguments} /><pre class={`code ${line.failed ? "bad" : ""}`}><Ansi text={line.text ?? ""} /></pre></>,
  stderr: ({ line }) => <pre class="code"><Ansi text={line.text ?? ""} /></pre>, failed: ({ line }) => <p class="minus"><b>{line.sort}</b> <T text={line.message} /></p>,
  trouble: ({ line }) => <p class="muted">{line.sort}: <T text={line.message} /></p>,
};
