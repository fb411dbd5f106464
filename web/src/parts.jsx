// Small things that several views are made of.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { T, plain } from "./text.jsx";
import { TONE, toneOf, words } from "./format.js";
import { useComing, useKeys } from "./keys.js";
import { go, trouble } from "./store.js";

export const Chip = ({ tone = "quiet", children, title }) => <span class={`chip ${tone}`} title={title}>{children}</span>;
export const Verdict = ({ status }) => <Chip tone={TONE[status] ?? "quiet"}>{words(status)}</Chip>;
// A phase is not a verdict: "red" is where the work stands, so its colour is a mark beside the word.
export const State = ({ name, tone = "quiet" }) => (PHASES[name] ? <span class="chip phase" title={PHASES[name][1]}><i class={`swatch ${PHASES[name][0]}`} />{words(name)}</span> : <Chip tone={tone}>{words(name)}</Chip>);
export const StateChip = ({ run }) => <State name={run.acting_state || run.state} tone={toneOf(run)} />;
const PHASES = { RED: ["bad", "A failing test is written"], GREEN: ["good", "The test is made to pass"], REFACTOR: ["info", "The code is simplified"] };

// A view that is on its way: keys that are meant for it wait.
export function Loading() {
  useComing();
  return <div class="loading" aria-busy="true" />;
}

const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

// Up and down in a list by keys, while nobody types. `here`: the row that is at hand; rows that `skip` says so of are passed over.
export function useSteps(count, here, onStep, skip = () => false) {
  const at = useRef(here);
  at.current = here;
  useKeys((key) => {
    if (!STEPS[key] || !count) return false;
    let next = at.current + STEPS[key];
    while (next >= 0 && next < count && skip(next)) next += STEPS[key];
    if (next < 0 || next >= count) return true;
    at.current = next; // the next key goes on from there, drawn or not
    onStep(next);
    return true;
  });
}

// One row of a list that can be picked.
export function Pick({ here, tone = "", onPick, children, ...rest }) {
  return <div role="listitem"><button type="button" class={`event ${tone} ${here ? "here" : ""}`} aria-current={here || undefined} onClick={onPick} {...rest}>{children}</button></div>;
}

// A list that is shown in parts.
export function Portions({ all, of = 200, what, row }) {
  const [most, setMost] = useState(of);
  const more = all.length - most;
  return <>{all.slice(0, most).map(row)}{more > 0 && <button type="button" class="button plain more" onClick={() => setMost(most + of * 5)}>Show {Math.min(more, of * 5).toLocaleString()} more {what}{more > of * 5 && ` of ${more.toLocaleString()}`}</button>}</>;
}

// A path by its end; the whole of it on hover.
export const Where = ({ path }) => (path ? <code title={plain(path)}><T text={path.split("/").length > 3 ? `…/${path.split("/").slice(-1)[0]}` : path} /></code> : null);

export function Link({ to, children, class: name, ...rest }) {
  const click = (e) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey || e.button) return;
    e.preventDefault();
    go(to);
  };
  return <a href={to} class={name} onClick={click} {...rest}>{children}</a>;
}

export function Empty({ title, children }) {
  return <div class="empty"><div class="catch" aria-hidden="true"><svg viewBox="0 0 48 48"><circle cx="24" cy="27" r="14" /><path d="M24 4l6 11h-12z" /></svg></div><h2>{title}</h2><div class="muted">{children}</div></div>;
}

export function Card({ title, aside, children, class: name = "" }) {
  return <section class={`card ${name}`}><header><h3>{title}</h3>{aside && <div class="aside">{aside}</div>}</header><div class="inner">{children}</div></section>;
}

export function Button({ kind = "", busy, onClick, children, ...rest }) {
  const [working, setWorking] = useState(false);
  const click = async (e) => {
    if (working) return;
    setWorking(true);
    try {
      await onClick?.(e);
    } finally {
      setWorking(false);
    }
  };
  return <button type="button" class={`button ${kind}`} disabled={working || busy} aria-busy={working} onClick={click} {...rest}>{children}</button>;
}

// A dialog of the browser's own: it keeps the focus, Escape closes it, Ctrl and Enter send it. What goes wrong stands in it.
export function Dialog({ title, onClose, children, class: name = "" }) {
  const box = useRef(null), open = useRef(true);
  useLayoutEffect(() => { // before the next key: what is typed belongs into it
    trouble.value = null;
    box.current.showModal();
    return () => { open.current = false; box.current?.close(); };
  }, []);
  const close = () => open.current && onClose(); // the browser's "close" comes later, and may find the next dialog open
  const keys = (e) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    box.current.querySelector("footer .button:is(.primary, .danger):not(:disabled)")?.click();
  };
  const wrong = trouble.value, said = useRef(null);
  useLayoutEffect(() => { said.current?.scrollIntoView({ block: "nearest" }); }, [wrong]);
  return (
    <dialog ref={box} class={name} onCancel={close} onClose={close} onKeyDown={keys} onClick={(e) => e.target === box.current && onClose()} aria-label={title}>
      <div class="sheet"><header><h2>{title}</h2><button type="button" class="button plain" aria-label="Close" onClick={onClose}>✕</button></header>
        {wrong && <div ref={said} class={`wrong ${wrong.tone}`} role="alert"><p><T text={wrong.text} /></p>{wrong.hint && <p class="hint"><T text={wrong.hint} /></p>}</div>}
        {children}</div>
    </dialog>
  );
}

// What is asked before a run is ended.
export const STOP = { title: "Stop this run for good?", label: "Why (kept in the journal)", action: "Stop it", kind: "danger", needed: false, hint: "Files and branch stay as they are; a snapshot is kept." };

// One field and one button: what is said to a run.
export function Ask({ title, label, action, kind = "primary", needed = true, hint, onSay, onClose }) {
  const [text, setText] = useState("");
  const say = async () => { if (await onSay(text)) onClose(); };
  return (
    <Dialog title={title} onClose={onClose} class="small">
      {hint && <p class="muted">{hint}</p>}
      <label class="field"><span>{label}</span><textarea rows={4} autofocus value={text} onInput={(e) => setText(e.target.value)} /></label>
      <footer><Button kind="plain" onClick={onClose}>Not now</Button><Button kind={kind} busy={needed && !text.trim()} onClick={say}>{action}</Button></footer>
    </Dialog>
  );
}

// `of` tells these tabs from others on the page.
export function Tabs({ tabs, at, onPick, label, of = "tab" }) {
  const keys = (e) => {
    const i = tabs.findIndex((t) => t.id === at) + (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0);
    const next = tabs[(i + tabs.length) % tabs.length];
    if (next.id === at) return;
    onPick(next.id);
    e.currentTarget.querySelector(`#${of}-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={keys}>
      {tabs.map((t) => (
        <button key={t.id} id={`${of}-${t.id}`} type="button" role="tab" aria-selected={t.id === at} tabIndex={t.id === at ? 0 : -1} onClick={() => onPick(t.id)}>
          {t.name}{t.count ? <span class="count">{t.count}</span> : null}
        </button>
      ))}
    </div>
  );
}

export const Hash = ({ of }) => (of ? <code class="hash" title={of}>{of.slice(0, 10)}</code> : null);

// A page elsewhere; nothing but a web address becomes a link.
export const Away = ({ to }) => (/^https?:\/\//.test(to) ? <a class="break" href={to} target="_blank" rel="noopener noreferrer"><T text={to} /></a> : <T text={to} />);
