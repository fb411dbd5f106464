// Small things that several views are made of.
import { useEffect, useRef, useState } from "preact/hooks";
import { T } from "./text.jsx";
import { TONE, toneOf, words } from "./format.js";
import { go } from "./store.js";

export const Chip = ({ tone = "quiet", children, title }) => <span class={`chip ${tone}`} title={title}>{children}</span>;
export const Verdict = ({ status }) => <Chip tone={TONE[status] ?? "quiet"}>{words(status)}</Chip>;
export const StateChip = ({ run }) => <Chip tone={toneOf(run)}>{words(run.acting_state || run.state)}</Chip>;

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

// A dialog of the browser's own: it keeps the focus, and Escape closes it.
export function Dialog({ title, onClose, children, class: name = "" }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog ref={box} class={name} onClose={onClose} onClick={(e) => e.target === box.current && onClose()} aria-label={title}>
      <div class="sheet"><header><h2>{title}</h2><button type="button" class="button plain" aria-label="Close" onClick={onClose}>✕</button></header>{children}</div>
    </dialog>
  );
}

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

export function Tabs({ tabs, at, onPick, label }) {
  const keys = (e) => {
    const i = tabs.findIndex((t) => t.id === at) + (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0);
    const next = tabs[(i + tabs.length) % tabs.length];
    if (next.id === at) return;
    onPick(next.id);
    e.currentTarget.querySelector(`#tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={keys}>
      {tabs.map((t) => (
        <button key={t.id} id={`tab-${t.id}`} type="button" role="tab" aria-selected={t.id === at} tabIndex={t.id === at ? 0 : -1} onClick={() => onPick(t.id)}>
          {t.name}{t.count ? <span class="count">{t.count}</span> : null}
        </button>
      ))}
    </div>
  );
}

export const Hash = ({ of }) => (of ? <code class="hash" title={of}>{of.slice(0, 10)}</code> : null);
export const Say = ({ text, lines = 0 }) => <span class={lines ? `clip${lines}` : ""}><T text={text} /></span>;
