// The page: who we are, which view, what keys do. Each view of its own weight is fetched when it is first looked at.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { enter, lost, reached, token, useToken } from "./api.js";
import { Board } from "./board.jsx";
import { arrived, listen, useKeys } from "./keys.js";
import { Button, Dialog, Empty, Link, Loading } from "./parts.jsx";
import { T } from "./text.jsx";
import { NewRun, starting } from "./start.jsx";
import { drop, go, notes, path, project, waiting, watch } from "./store.js";

const VIEWS = { run: () => import("./run.jsx"), inbox: () => import("./inbox.jsx"), queue: () => import("./queue.jsx"), report: () => import("./report.jsx") };
const THEMES = ["system", "light", "dark"];
const theme = signal(localStorage.getItem("detent-theme") ?? "system");
const helping = signal(false);

function paint() {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
function turn() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  localStorage.setItem("detent-theme", theme.value);
  paint();
}
paint();

const KEYS = [
  ["g b", "the board"], ["g i", "the inbox"], ["g q", "the queue"], ["g r", "the report"], ["n", "a new run"], ["/", "search"], ["j  k", "down and up"], ["Enter", "open"],
  ["1 – 5", "the tabs of a run"], ["d", "the state diagram"], ["t", "light or dark"], ["Esc", "back, close, or end a search"], ["Ctrl  Enter", "send a form"], ["?", "these keys"],
];

// What keys do in every view; a `g` waits for the key that says where to.
let before = "", drawn = false;
function everywhere(key) {
  if (!token.value && drawn) return false; // whoever is not let in has no views
  const said = before + key;
  before = key === "g" ? "g" : "";
  const does = {
    g: () => {}, gb: () => go("/"), gi: () => go("/inbox"), gq: () => go("/queue"), gr: () => go("/report"), n: () => { starting.value = true; }, "?": () => { helping.value = true; }, t: turn,
    Escape: () => path.value.startsWith("/runs/") && go("/"),
  }[said];
  does?.();
  return Boolean(does);
}

// What they do once the view is there.
function inViews(key) {
  if (key === "/") return Boolean((document.querySelector("main input[type=search]")?.focus(), true));
  if (!/^[1-5]$/.test(key)) return false;
  document.querySelectorAll(".run > .tabs [role=tab]")[key - 1]?.click();
  return true;
}

function Later({ of, ...rest }) {
  const [View, setView] = useState(null);
  useEffect(() => {
    let here = true;
    VIEWS[of]().then((m) => here && setView(() => m.default));
    return () => { here = false; };
  }, [of]);
  return View ? <View {...rest} /> : <Loading />;
}

function Top() {
  const at = path.value;
  const Item = ({ to, here, children }) => <Link to={to} class={here ? "here" : ""} aria-current={here ? "page" : undefined}>{children}</Link>;
  return (
    <header class="top">
      <Link to="/" class="brand" aria-label="Detent"><svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="18" r="9" /><path d="M16 3l4.5 8h-9z" /></svg><b>Detent</b></Link>
      <span class="project"><T text={project.value} /></span>
      <nav aria-label="Views">
        <Item to="/" here={at === "/" || at.startsWith("/runs/")}>Board</Item>
        <Item to="/queue" here={at.startsWith("/queue")}>Queue</Item>
        <Item to="/inbox" here={at.startsWith("/inbox")}>Inbox{waiting.value > 0 && <span class="badge" aria-label={`${waiting.value} waiting`}>{waiting.value}</span>}</Item>
        <Item to="/report" here={at.startsWith("/report")}>Report</Item>
      </nav>
      <span class="grow" />
      <span class={`link ${reached.value ? "live" : "lost"}`} role="status">{reached.value ? "Live" : "No answer"}</span>
      <button type="button" class="button plain wide-only" onClick={turn} title="Light, dark, or as the system is set (t)">{{ system: "Auto", light: "Light", dark: "Dark" }[theme.value]}</button>
      <button type="button" class="button plain wide-only" onClick={() => { helping.value = true; }} aria-label="Keys" title="Keys (?)">?</button>
      <Button kind="primary" onClick={() => { starting.value = true; }}>New run</Button>
    </header>
  );
}

function Door() {
  const [text, setText] = useState("");
  return (
    <div class="door"><form class="card" onSubmit={(e) => { e.preventDefault(); useToken(text); }}>
      <h1>Detent</h1>
      {lost.value ? <div class="wrong" role="alert"><p><T text={lost.value} /></p><p class="hint">Your link is still good in this tab. <Button onClick={() => location.reload()}>Try again</Button></p></div>
        : <p>This page needs the token of the server. The link that <code>detent serve</code> prints hands it over.</p>}
      <label class="field"><span>Or paste the token</span><input type="password" autocomplete="off" value={text} onInput={(e) => setText(e.target.value)} /></label>
      <footer><button class="button primary" type="submit" disabled={!text.trim()}>Open</button></footer>
    </form></div>
  );
}

function Notes() {
  return <div class="notes" role="status" aria-live="polite">{notes.value.map((n) => (
    <div key={n.id} class={`note ${n.tone}`}><div><T text={n.text} />{n.hint && <div class="muted"><T text={n.hint} /></div>}</div><button type="button" class="button plain" aria-label="Dismiss" onClick={() => drop(n.id)}>✕</button></div>
  ))}</div>;
}

function Help() {
  return helping.value && (
    <Dialog title="Keys" class="small" onClose={() => { helping.value = false; }}>
      <dl class="keys">{KEYS.map(([key, does]) => <div key={key}><dt>{key.split("  ").map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{does}</dd></div>)}</dl>
    </Dialog>
  );
}

function View() {
  const [view, id, tab, what] = path.value.split("/").slice(1).map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  if (view === "runs" && id) return <Later of="run" key={id} id={id} tab={tab} what={what} />;
  if (["queue", "inbox", "report"].includes(view)) return <Later of={view} key={view} id={id ?? ""} />;
  return view === "" ? <Board /> : <Empty title="There is no such page"><p><code><T text={path.value} /></code> leads nowhere. The link may be from another version, or a letter is missing.</p><Link to="/" class="button primary">To the board</Link></Empty>;
}

function Page() {
  useKeys(inViews);
  const known = token.value !== "";
  useEffect(() => (known ? watch() : undefined), [known]);
  useEffect(() => {
    document.title = `${waiting.value ? `(${waiting.value}) ` : ""}Detent${project.value ? ` · ${project.value}` : ""}`;
  }, [waiting.value, project.value]);
  if (!known) return <Door />;
  return <><Top />{!reached.value && <div class="gone" role="alert">The server does not answer. What you see is the last known state; trying again.</div>}<main><View /></main>{starting.value && <NewRun />}<Help /><Notes /></>;
}

listen(everywhere);
await enter();
render(<Page />, document.getElementById("page"));
drawn = true;
arrived();
