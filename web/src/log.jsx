// Output of any length: fetched piece by piece, only what is in view is in the page, followed while it grows.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { bytes, time, words } from "./format.js";
import { Chip } from "./parts.jsx";
import { attempt } from "./store.js";
import { Ansi, T, local } from "./text.jsx";
import { TONE } from "./format.js";
import { Windowed } from "./windowed.jsx";

const MARK = "\x1e";
const FIRST = 32_000_000; // bytes from the end, where it is longer
const LINE = 19;

// `source`: the address; `size`: how long it is known to be, so that it is asked again when it grows. One asks at a time, until all of it is there.
export function Log({ source, size, small }) {
  const kept = useRef(null);
  const [, setCount] = useState(0);
  if (kept.current?.source !== source) kept.current = { source, lines: [], next: 0, wanted: 0, busy: false, cut: 0 };
  const log = kept.current;
  useEffect(() => {
    log.wanted = Math.max(log.wanted, size);
    if (!log.busy && log.next < log.wanted) attempt(() => read(log, () => kept.current === log && setCount(log.lines.length)));
  }, [source, size]);
  useEffect(() => () => { kept.current = null; }, []);
  return <Lines lines={log.lines} count={log.lines.length} cut={log.cut && `the first ${bytes(log.cut)} are left out`} small={small} />;
}

async function read(log, more) {
  log.busy = true;
  try {
    if (!log.next && log.wanted > FIRST) log.next = log.cut = log.wanted - FIRST;
    for (;;) {
      const wanted = log.wanted;
      const piece = await call(`${log.source}?after=${log.next}`);
      for (let at = 0, end; (end = piece.text.indexOf("\n", at)) >= 0; at = end + 1) log.lines.push(piece.text.slice(at, end));
      log.next = piece.next;
      if (more() === false) return;
      if ((piece.next >= piece.size || !piece.text) && log.wanted <= Math.max(wanted, piece.size)) return;
    }
  } finally {
    log.busy = false;
  }
}

// Lines that are at hand: searched, followed, numbered. `count` says when there are more.
export function Lines({ lines, count, cut, small }) {
  const [following, setFollowing] = useState(true);
  const [find, setFind] = useState("");
  const shown = find ? lines.filter((l) => l.toLowerCase().includes(find.toLowerCase())) : lines;
  return (
    <div class={`log ${small ? "small" : ""}`}>
      {!small && <div class="tools"><input type="search" aria-label="Search the output" placeholder="Only lines with …" value={find} onInput={(e) => setFind(e.target.value)} />
        <span class="muted num">{shown.length.toLocaleString()} lines{cut ? `, ${cut}` : ""}</span><span class="grow" />
        <label class="tick"><input type="checkbox" checked={following} onChange={(e) => setFollowing(e.target.checked)} /> Follow</label></div>}
      {shown.length ? <Windowed class="lines" label="Output" count={shown.length} heights={LINE} stick={following} onEnd={(end) => !small && end !== following && setFollowing(end)} row={(i) => <Line key={i} text={shown[i]} n={i + 1} numbered={!small} />} />
        : <p class="muted none">{count ? "No line has these words." : "Nothing was written yet. What an agent says while it works appears here."}</p>}
    </div>
  );
}

const CALL = /^(Read|Write|Edit|Bash|Glob|Grep) \{/;
const taskOf = (run) => /\.(T-\d+)/.exec(run ?? "")?.[1] ?? "";
const clipped = (text) => (text.length > 4000 ? `${text.slice(0, 4000)} …` : text);

function Line({ text, n, numbered }) {
  const no = numbered && <span class="no" aria-hidden="true">{n}</span>;
  if (!text.startsWith(MARK)) return <div class="line" role="listitem">{no}<Ansi text={clipped(CALL.test(text) ? local(text) : text)} /></div>;
  let said;
  try {
    said = JSON.parse(text.slice(1));
  } catch {
    return <div class="line" role="listitem">{no}<T text={text} /></div>;
  }
  return <div class="line own" role="listitem">{no}<span class="at">{time(said.at)}</span><b>{words(said.state)}</b> {taskOf(said.run)} {said.kind === "turn" ? <>{said.role} begins</> : said.status && <Chip tone={TONE[said.status]}>{words(said.status)}</Chip>} <T text={said.text} /></div>;
}
