// The inbox: what people are asked, with everything they need to answer, and an answer that is bound to what was shown.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { ago, sentence, toneOf, words } from "./format.js";
import { Flagged, Proof, useCard } from "./proof.jsx";
import { Ask, Button, Chip, Empty, Link, Loading, Pick, STOP, StateChip, Tabs, useSteps } from "./parts.jsx";
import { Allow } from "./notices.jsx";
import { Revise } from "./revise.jsx";
import { ask, asked as known, at, go, phone, questions, runs, tell, told } from "./store.js";
import { titleOf } from "./titles.js";
import { Ansi, Document, Markdown, T, Unified } from "./text.jsx";

// What was typed is kept by question, whatever is looked at meanwhile.
const drafts = new Map();

// The question that is looked at stands in the address: nothing but the person's own hand, or their own answer, puts another one in its place.
export default function Inbox({ id }) {
  const [answered, setAnswered] = useState("");
  const all = questions.value;
  const chosen = all.find((q) => q.id === id);
  const pick = (q, instead) => go(at("inbox", q?.id), instead);
  useEffect(() => {
    if (phone.value || chosen || !all.length) return;
    if (!id || id === answered) pick(all.find((q) => q.run === answered.replace(/:[^:]*$/, "")) ?? all[0], true);
  }, [all, id]);
  useSteps(all.length, all.indexOf(chosen), (i) => pick(all[i]));
  if (!known.value) return <Loading />;
  if (!all.length && (!id || id === answered)) return <Empty title="Nothing waits for you"><p>When a run needs a person, to approve a design, to choose, to answer or to help an agent that is stuck, it is asked here.</p><Working /><Allow /></Empty>;
  return (
    <div class={`split inbox ${id ? "picked" : ""}`}>
      <div class="column"><div class="windowed events" role="list" aria-label="Questions">{all.map((q) => (
        <Pick key={q.id} here={q === chosen} tone={q.security ? "bad" : "wait"} onPick={() => pick(q)}>
          <span class="lines"><span class="first"><b>{titleOf(q)}</b></span><span class="muted clip"><T text={q.kind === "question" ? q.question : q.title} /></span></span>
          <span class="right">{q.security ? <Chip tone="bad">security</Chip> : <Chip>{q.workflow}</Chip>}<span class="muted num">{ago(q.asked_at)}</span></span>
        </Pick>
      ))}</div><Allow /></div>
      {chosen ? <Question key={chosen.id} id={chosen.id} asked={chosen.asked_at} onBack={() => pick(null)} onAnswered={() => { setAnswered(chosen.id); if (phone.value) pick(null); }} />
        : id && id !== answered && <section class="shown"><Empty title="This question is closed">It was answered elsewhere, or its run has moved on. <Button onClick={() => pick(all[0] ?? null)}>{all.length ? "To the next question" : "To the inbox"}</Button></Empty></section>}
    </div>
  );
}

// What goes on while nothing is asked.
function Working() {
  const all = [...runs.value.values()].filter((r) => r.group === "working" && !r.parent);
  return all.length > 0 && <ul class="goes"><li>At work now:</li>{all.map((r) => <li key={r.run}><i class={`dot ${toneOf(r)} ${r.driven ? "alive" : ""}`} /><Link to={at("runs", r.run)}><T text={r.title} /></Link><StateChip run={r} /></li>)}</ul>;
}

const NAMES = { approved: "Approve", "changes-requested": "Request changes", resume: "Continue", approve: "Approve as it is", "another-round": "Another round", finish: "Finish", "per-batch": "Per batch", "single-final": "One final review", accept: "Accept", fix: "Have it fixed", passed: "It passed", failed: "It failed", "different-approach": "Another approach", guidance: "Give guidance", "accept-known-issues": "Accept as known issues", "simplify-scope": "Simplify the scope", "change-acceptance": "The check is wrong", skip: "Skip the questions", override: "Open it anyway", review: "Review again", replan: "Plan again", abort: "Stop the run" };
// What is offered first is the last button, unless there is a safer one; where security is at stake, that is to have it mended.
const RANK = { abort: -2, override: -1, review: 1 };
const rank = (o, security) => (security && o.value === "fix" ? 1 : RANK[o.value] ?? 0);

const PAPERS = ["approval", "strategy"]; // questions about documents of the session, which a person may change here
const nameOf = (o) => NAMES[o.value] ?? words(o.value);
const DECLINES = "You do not decide; your text says why. The run is blocked until somebody presses Continue.";

const CALM = 700; // milliseconds in which a question that has just come up takes no answer: a click may have been meant for the one before

function Question({ id, asked, onBack, onAnswered }) {
  const [got, setGot] = useState(null);
  const [paper, setPaper] = useState("");
  const [text, setDraft] = useState(drafts.get(id) ?? "");
  const [to, setTo] = useState("");
  const [calm, setCalm] = useState(false);
  const [said, setSaid] = useState(null); // what came of an answer that was not taken
  const [asking, setAsking] = useState(null);
  const body = useRef(null);
  const setText = (words) => { setDraft(words); drafts.set(id, words); };
  useEffect(() => {
    const soon = setTimeout(() => setCalm(true), CALM);
    return () => clearTimeout(soon);
  }, [id]);
  const load = () => call(`/api/decisions/${encodeURIComponent(id)}`).then(setGot, (e) => { if (e.status === 404) ask(); else tell(e.message, "bad", e.hint); });
  useEffect(() => { load(); }, [id, asked]);
  useEffect(() => { body.current?.scrollTo(0, 0); }, [got?.lead]); // what changed stands at the top
  if (!got) return <section class="shown loading" aria-busy="true" />;
  const row = got.row;
  const lead = got.options.reduce((words, o) => words.replaceAll(`\`${o.value}\``, `**${nameOf(o)}**`), got.lead); // answers by the names of their buttons
  const send = async (body) => {
    let verdict;
    try {
      verdict = await call(`/api/decisions/${encodeURIComponent(id)}`, { shown: got.shown, ...body });
    } catch (e) {
      tell(e.message, "bad", e.hint);
      if (e.status === 409 || e.status === 404) await load();
      return;
    }
    setSaid(["FAILURE", "REFUSED", "STALE"].includes(verdict.status) ? verdict : null);
    if (told(verdict, row.run ? "Your answer is recorded; the run continues." : `Your answer is recorded. To land it: ${verdict.instruction}`)) { setText(""); onAnswered(); }
    await ask();
    await load();
  };
  const byKey = (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && got.free && calm && text.trim()) send({ value: text.trim() }); };
  const end = () => setAsking({ ...STOP, onSay: async (why) => { await send({ value: "abort", note: why }); return true; } });
  const pick = (o) => (o.value === "abort" ? end() : send(o.words === "changes" ? { value: `${o.value}: ${text.trim()}`, to } : { value: o.value, note: text.trim() }));
  const tabs = got.artifacts.map((a) => ({ id: a.path.replace(/\W/g, "_"), name: a.path, ...a }));
  const ordered = [...got.options].reverse().sort((a, b) => rank(a, row.security) - rank(b, row.security));
  const shown = tabs.find((t) => t.id === paper) ?? tabs[0];
  const needs = got.options.some((o) => o.words === "changes") ? "What should change; or a note, kept with your answer" : got.options.some((o) => o.words === "guidance") ? "Guidance for the agent; it reads it before it continues" : got.options.some((o) => o.needed) ? `A note, kept with the answer; ${got.options.filter((o) => o.needed).map((o) => `“${nameOf(o)}”`).join(" and ")} needs one` : "A note, kept with the answer (may be empty)";
  return (
    <section class="shown question" aria-label={titleOf(row)}>
      <header class="one"><button type="button" class="button plain phone-only" aria-label="Back" onClick={onBack}>←</button><h3>{titleOf(row)}</h3>{row.security && <Chip tone="bad">security</Chip>}<span class="grow" />{PAPERS.includes(row.kind) && <Button onClick={() => setAsking({ revise: true })} title="Change a document, or have a stage done again">Revise</Button>}{row.run && <Link to={at("runs", row.run.split(".")[0])} class="button">See the run</Link>}</header>
      <div class="body" ref={body}>
        <p class="muted about"><T text={row.title} /> · {row.workflow}</p>
        {said && <Said verdict={said} />}
        <div class="asked"><Markdown text={lead} /></div>
        {got.flags.length > 0 ? <Branch row={row} flags={got.flags} /> : row.decision === "waits" ? tabs.map((t) => <details key={t.id} class="seen"><summary>{sentence(t.name)}</summary><pre class="code"><Ansi text={t.text} /></pre></details>) : tabs.length > 0 && <div class="papers"><Tabs tabs={tabs} at={shown.id} onPick={setPaper} label="What to look at" of="paper" /><div class="paper"><Document path={shown.path} text={shown.text} /></div></div>}
        <Does options={ordered} free={got.free} cancels={got.may_cancel} />
      </div>
      <footer class="answer">
        <label class="field"><span>{got.free ? "Your answer" : needs}</span><textarea rows={2} name="words" value={text} onInput={(e) => setText(e.target.value)} onKeyDown={byKey} /></label>
        <div class="buttons">
          {got.to.length > 0 && <label class="tick">Changes go to <select aria-label="Who gets the changes" value={to} onChange={(e) => setTo(e.target.value)}><option value="">spec</option>{got.to.filter((t) => t !== "spec").map((t) => <option key={t}>{t}</option>)}</select></label>}
          <span class="grow" />
          {got.may_cancel && <Button kind="plain" busy={!calm || !text.trim()} title={DECLINES} onClick={() => send({ cancel: text.trim() })}>Decline</Button>}
          {ordered.map((o, i, list) => <Button key={o.value} kind={i === list.length - 1 && !got.free ? "primary" : ""} busy={!calm || ((o.needed || o.words === "changes") && !text.trim())} title={o.does} onClick={() => pick(o)}>{nameOf(o)}</Button>)}
          {got.free && <Button kind="primary" busy={!calm || !text.trim()} onClick={() => send({ value: text.trim() })}>Answer</Button>}
        </div>
      </footer>
      {asking?.revise ? <Revise run={row.run} onClose={async () => { setAsking(null); await ask(); await load(); }} /> : asking && <Ask {...asking} onClose={() => setAsking(null)} />}
    </section>
  );
}

// What comes of each answer, the one that is offered first at the top.
function Does({ options, free, cancels }) {
  const told = options.filter((o) => o.does).reverse();
  return (
    <section class="does"><h4>What each answer does</h4><dl class="facts">
      {free && <><dt>Answer</dt><dd>Whoever asked gets your words and continues with them.</dd></>}
      {told.map((o) => <><dt key={o.value}>{nameOf(o)}</dt><dd><T text={o.does} /></dd></>)}
      {cancels && <><dt>Decline</dt><dd>{DECLINES}</dd></>}
    </dl></section>
  );
}

// What came of an answer that was not taken: why, and what differs, where that is the reason.
function Said({ verdict }) {
  const text = verdict.output ?? "";
  return (
    <div class="wrong warn" role="alert">{verdict.reasons.map((r, i) => <p key={i}><T text={r} /></p>)}
      {/^@@/m.test(text) ? <Unified text={text} /> : text && <pre class="code"><T text={text} /></pre>}</div>
  );
}

// The branch that is about to land: what it proves, and what to look at, with both versions beside. A branch of no run, or one that has moved on, has its flags alone.
function Branch({ row, flags }) {
  const card = useCard(row.run, row.asked_at, false);
  return card && !card.moved_on && card.flags.length > 0 ? <Proof card={card} /> : <Flagged flags={flags} />;
}
