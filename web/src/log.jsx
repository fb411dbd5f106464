// Output of any length: fetched piece by piece, only what is in view is in the page, followed while it grows.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { time, words } from "./format.js";
import { Chip } from "./parts.jsx";
import { attempt } from "./store.js";
import { Ansi, T } from "./text.jsx";
import { TONE } from "./format.js";
import { Windowed } from "./windowed.jsx";

const MARK = "\x1e";
const FIRST = 32_000_000; // bytes from the end, where it is longer
const LINE = 19;

// `source`: the address; `size`: how long it is known to be, so that it is asked again when it grows.
export function Log({ source, size, small }) {
  const kept = useRef({ lines: [], next: 0, busy: false, cut: false });
  const [count, setCount] = useState(0);
  useEffect(() => { kept.current = { lines: [], next: 0, busy: false, cut: false }; setCount(0); }, [source]);
  useEffect(() => {
    const log = kept.current;
    if (log.busy || size <= log.next) return;
    let here = true;
    log.busy = true;
    attempt(async () => {
      if (!log.next && size > FIRST) { log.next = size - FIRST; log.cut = true; }
      for (;;) {
        const piece = await call(`${source}?after=${log.next}`);
        if (!here) return;
        if (!piece.text) break;
        const lines = piece.text.split("\n");
        lines.pop();
        for (const line of lines) log.lines.push(line);
        log.next = piece.next;
        setCount(log.lines.length);
        if (piece.next >= piece.size) break;
      }
    }).finally(() => { log.busy = false; });
    return () => { here = false; };
  }, [source, size]);
  return <Lines lines={kept.current.lines} count={count} cut={kept.current.cut} small={small} />;
}

// Lines that are at hand: searched, followed, numbered. `count` says when there are more.
export function Lines({ lines, count, cut, small }) {
  const [following, setFollowing] = useState(true);
  const [find, setFind] = useState("");
  const shown = find ? lines.filter((l) => l.toLowerCase().includes(find.toLowerCase())) : lines;
  return (
    <div class={`log ${small ? "small" : ""}`}>
      {!small && <div class="tools"><input type="search" aria-label="Search the output" placeholder="Only lines with …" value={find} onInput={(e) => setFind(e.target.value)} />
        <span class="muted num">{shown.length.toLocaleString()} lines{cut ? ", the newest" : ""}</span><span class="grow" />
        <label class="tick"><input type="checkbox" checked={following} onChange={(e) => setFollowing(e.target.checked)} /> Follow</label></div>}
      {shown.length ? <Windowed class="lines" label="Output" count={shown.length} heights={LINE} stick={following} onEnd={(end) => !small && end !== following && setFollowing(end)} row={(i) => <Line key={i} text={shown[i]} n={i + 1} numbered={!small} />} />
        : <p class="muted none">{count ? "No line has these words." : "Nothing was written yet. What an agent says while it works appears here."}</p>}
    </div>
  );
}

function Line({ text, n, numbered }) {
  const no = numbered && <span class="no" aria-hidden="true">{n}</span>;
  if (!text.startsWith(MARK)) return <div class="line" role="listitem">{no}<Ansi text={text.length > 4000 ? `${text.slice(0, 4000)} …` : text} /></div>;
  let said;
  try {
    said = JSON.parse(text.slice(1));
  } catch {
    return <div class="line">{no}<T text={text} /></div>;
  }
  return <div class="line own" role="listitem">{no}<span class="faint">{time(said.at)}</span> <b>{words(said.state)}</b> {said.role} {said.kind === "turn" ? "begins" : ""}{said.status && <Chip tone={TONE[said.status]}>{words(said.status)}</Chip>} <T text={said.text} /></div>;
}
