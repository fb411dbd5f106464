// Flags: what a person should look at, each with both versions where it is about a change.
import { Exact, T } from "./text.jsx";

const MOST = 400; // lines that are drawn of one version

export function Hunk({ text }) {
  const lines = text.split("\n");
  return (
    <div class="wide"><table class="code" aria-label="Both versions"><tbody>
      {lines.slice(0, 2 * MOST).map((l, n) => <tr key={n} class={l[0] === "-" ? "delete" : l[0] === "+" ? "insert" : ""}><td class="sign">{l[0] ?? " "}</td><td class="line"><Exact text={l.slice(2)} /></td></tr>)}
    </tbody></table></div>
  );
}

const side = (sign, text) => (text ? text.replace(/\n$/, "").split("\n").slice(0, MOST).map((l) => `${sign} ${l}`) : []);
export const versions = (f) => [...side("-", f.before), ...side("+", f.after)].join("\n");

export function Flags({ flags }) {
  return (
    <ul class="reasons warn flags">{flags.map((f, i) => (
      <li key={i}><b>{f.kind}</b> {f.place && <code><T text={f.place} /></code>} <T text={f.sentence} />{versions(f) && <details class="file"><summary>Both versions</summary><Hunk text={versions(f)} /></details>}</li>
    ))}</ul>
  );
}
