// Text of agents and tools, made safe to look at: always text nodes, what is invisible is spelled out, colours by a library, markdown without HTML.
import { AnsiUp } from "ansi_up";

const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;
const EVERY = new RegExp(`(${HIDDEN.source})`, "gu");
const spell = (c) => { const n = c.codePointAt(0); return n < 256 ? `\\x${n.toString(16).padStart(2, "0")}` : `\\u${n.toString(16).padStart(4, "0")}`; };

// As a string, for attributes and titles: colours have no place there.
export const plain = (text) => String(text ?? "").replace(/\x1b\[[0-9;:]*m/g, "").replace(EVERY, spell);

// A call of a tool names files by the folder of its workspace; that folder says nothing to a reader.
export const local = (text) => String(text ?? "").replace(/\/[^\s"'`]*?\/detent\/workspaces\/[^/\s"'`]+\//g, "");

// What somebody said, a runner for one: its colours are shown, its escapes are not.
export const T = ({ text }) => <Ansi text={String(text ?? "")} />;

// What stands in a file, to the letter: what is spelled out looks different from what was written so.
export function Exact({ text }) {
  const all = String(text ?? "");
  if (!HIDDEN.test(all)) return all;
  return all.split(EVERY).map((part, i) => (i % 2 ? <span key={i} class="spelled" title="a character that cannot be seen">{spell(part)}</span> : part));
}

// The library reads the escapes; its pieces become nodes here, never HTML.
class Pieces extends AnsiUp {
  constructor() {
    super();
    this.pieces = [];
    this.use_classes = true;
  }
  transform_to_html(piece) {
    if (piece.text) this.pieces.push(piece);
    return "";
  }
  process_hyperlink(packet) {
    this.pieces.push({ text: packet.text });
    return "";
  }
}

export function Ansi({ text }) {
  if (!text.includes("\x1b")) return <Exact text={text} />;
  const read = new Pieces();
  read.ansi_to_html(text + "\n");
  const pieces = read.pieces;
  if (pieces.length) pieces[pieces.length - 1] = { ...pieces.at(-1), text: pieces.at(-1).text.replace(/\n$/, "") };
  return pieces.map((p, i) => <span key={i} class={look(p)}><Exact text={p.text} /></span>);
}

function look(p) {
  const named = (c, end) => (c && c.class_name !== "truecolor" ? `${c.class_name}-${end}` : c ? `ansi-rgb-${end}` : "");
  return [p.bold && "bold", p.faint && "faint", p.italic && "italic", p.underline && "under", named(p.fg, "fg"), named(p.bg, "bg")].filter(Boolean).join(" ") || undefined;
}

// How documents differ, as a diff has it.
export function Unified({ text }) {
  const lines = text.split("\n");
  const names = (n) => lines[n]?.startsWith("+++ ") && lines[n + 1]?.startsWith("@@"); // a document, above the first place where it differs
  const rows = lines.flatMap((l, n) => (l.startsWith("--- ") && names(n + 1) ? [] : names(n) ? [["name", "", l.slice(4)]] : l.startsWith("@@") ? [["hunk", "", l]] : [[{ "-": "delete", "+": "insert" }[l[0]] ?? "", l[0] ?? " ", l.slice(1)]]));
  return (
    <div class="file wide"><table class="code" aria-label="What changed"><tbody>{rows.map(([kind, sign, line], n) => (kind === "name" || kind === "hunk" ? <tr key={n} class={kind}><td colSpan={2}><Exact text={line} /></td></tr>
      : <tr key={n} class={kind}><td class="sign">{sign}</td><td class="line"><Exact text={line} /></td></tr>))}</tbody></table></div>
  );
}

// -- markdown ---------------------------------------------------------------------------------------------------------------

const SPAN = /(`[^`\n]+`|\*\*[^*\n]+\*\*|\*[^*\s][^*\n]*\*|\[[^\]\n]*\]\([^)\n]*\))/;

function Spans({ text }) {
  return text.split(SPAN).map((part, i) => {
    if (i % 2 === 0) return <T key={i} text={part} />;
    if (part[0] === "`") return <code key={i}><T text={part.slice(1, -1)} /></code>;
    if (part.startsWith("**")) return <strong key={i}><T text={part.slice(2, -2)} /></strong>;
    if (part[0] === "*") return <em key={i}><T text={part.slice(1, -1)} /></em>;
    const [, words, to] = /^\[(.*?)\]\((.*)\)$/.exec(part); // a link is shown, never followed
    return <span key={i}><T text={words} /> <span class="faint">(<T text={to} />)</span></span>;
  });
}

const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((c) => c.trim());

export function Markdown({ text }) {
  const lines = String(text ?? "").split("\n");
  const out = [];
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    const fence = /^\s*(```+|~~~+)/.exec(line);
    const head = /^(#{1,6})\s+(.*)$/.exec(line);
    if (fence) {
      const start = ++i;
      while (i < lines.length && !lines[i].trim().startsWith(fence[1])) i++;
      const inside = lines.slice(start, i).join("\n");
      out.push(/^\s*\S+diff\b/.test(line) ? <Unified key={out.length} text={inside} /> : <pre key={out.length} class="code"><Ansi text={inside} /></pre>);
      i++;
    } else if (head) {
      const Tag = `h${Math.min(6, head[1].length + 1)}`;
      out.push(<Tag key={out.length}><Spans text={head[2]} /></Tag>);
      i++;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push(<hr key={out.length} />);
      i++;
    } else if (ITEM.test(line)) {
      const rows = [];
      while (i < lines.length && (ITEM.test(lines[i]) || (/^\s+\S/.test(lines[i]) && rows.length))) {
        const item = ITEM.exec(lines[i]);
        if (item) rows.push({ deep: Math.min(4, Math.floor(item[1].length / 2)), mark: /\d/.test(item[2]) ? item[2] : "•", text: item[3] });
        else rows.at(-1).text += ` ${lines[i].trim()}`;
        i++;
      }
      out.push(<ul key={out.length} class="list">{rows.map((r, n) => <li key={n} class={`deep${r.deep}`}><span class="mark">{r.mark}</span><span><Spans text={r.text} /></span></li>)}</ul>);
    } else if (line.trim().startsWith("|") && /^[\s|:-]+$/.test(lines[i + 1] ?? "")) {
      const rows = [];
      const top = cells(line);
      for (i += 2; i < lines.length && lines[i].trim().startsWith("|"); i++) rows.push(cells(lines[i]));
      out.push(<div key={out.length} class="wide"><table><thead><tr>{top.map((c, n) => <th key={n}><Spans text={c} /></th>)}</tr></thead>
        <tbody>{rows.map((r, n) => <tr key={n}>{r.map((c, m) => <td key={m}><Spans text={c} /></td>)}</tr>)}</tbody></table></div>);
    } else if (/^\s*>/.test(line)) {
      const start = i;
      while (i < lines.length && /^\s*>/.test(lines[i])) i++;
      out.push(<blockquote key={out.length}><Markdown text={lines.slice(start, i).map((l) => l.replace(/^\s*> ?/, "")).join("\n")} /></blockquote>);
    } else if (line.trim()) {
      const start = i++;
      while (i < lines.length && lines[i].trim() && !ITEM.test(lines[i]) && !/^(#{1,6}\s|\s*(```|~~~|>|\|))/.test(lines[i])) i++;
      out.push(<p key={out.length}><Spans text={lines.slice(start, i).join("\n")} /></p>);
    } else i++;
  }
  return <div class="markdown">{out}</div>;
}

// What must hold in the end, and how each point is checked. Anything that has another form is shown as it is.
function criteria(path, text) {
  if (!path.endsWith("acceptance.json")) return null;
  try {
    const all = JSON.parse(text).acceptance_criteria;
    return all.every((c) => typeof c.id === "string" && typeof c.description === "string") && all.length ? all : null;
  } catch {
    return null;
  }
}

function Criteria({ all }) {
  const checks = (c) => (Array.isArray(c.verify) ? c.verify : []).map((v) => /^(\w+): *([^]*)$/.exec(String(v)) ?? ["", "", String(v)]);
  return <ol class="criteria">{all.map((c, i) => <li key={i}><code class="id"><T text={c.id} /></code><div><p><T text={c.description} /></p>
    {checks(c).map(([, kind, what], n) => <p key={n} class="check"><span class="muted">{kind === "cmd" ? "checked by" : kind === "manual" ? "a person checks" : kind || "checked by"}</span> {kind === "manual" ? <T text={what} /> : <code><T text={what} /></code>}</p>)}
    {checks(c).length === 0 && <p class="check muted">no check is named</p>}</div></li>)}</ol>;
}

// Documents by their name: markdown is rendered, criteria are a list, anything else is shown as it is.
export function Document({ path, text }) {
  if (/\.(md|markdown)$/.test(path)) return <Markdown text={text} />;
  const all = criteria(path, text);
  return all ? <Criteria all={all} /> : <pre class="code"><T text={text} /></pre>;
}
