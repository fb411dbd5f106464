// A diff: read by a library, drawn as text.
import { useEffect, useMemo, useState } from "preact/hooks";
import { parse } from "diff2html/lib-esm/diff-parser.js";
import { call } from "./api.js";
import { Exact, T, plain } from "./text.jsx";
import { Hash, Portions } from "./parts.jsx";

const LONG = 400; // lines of a file that is folded at first
const MORE = 1000; // lines that are shown at once

export function Diff({ run, event = 0, stamp = "" }) {
  const [got, setGot] = useState(null);
  useEffect(() => {
    let here = true;
    setGot(null);
    call(`/api/runs/${run}/diff?event=${event}`).then((d) => here && setGot(d), (e) => here && setGot({ trouble: e.message }));
    return () => { here = false; };
  }, [run, event, stamp]);
  const files = useMemo(() => (got?.text ? parse(got.text) : []), [got]);
  if (!got) return <div class="loading" aria-busy="true" />;
  if (got.trouble) return <p class="muted none"><T text={got.trouble} /></p>;
  if (!files.length) return <p class="muted none">Nothing differs.</p>;
  const plus = files.reduce((n, f) => n + f.addedLines, 0), minus = files.reduce((n, f) => n + f.deletedLines, 0);
  return (
    <div class="diff">
      <p class="muted sum">{files.length} {files.length === 1 ? "file" : "files"} <span class="plus">+{plus}</span> <span class="minus">−{minus}</span> <span class="grow" /> <Hash of={got.base} /> → <Hash of={got.tip} /></p>
      <Portions all={files} of={50} what="files" row={(f) => <File key={f.newName + f.oldName} file={f} />} />
      {got.left_out > 0 && <p class="muted none">{got.left_out.toLocaleString()} bytes more are left out: git diff {got.base.slice(0, 10)} {got.tip.slice(0, 10)}</p>}
    </div>
  );
}

function File({ file }) {
  const size = file.blocks.reduce((n, b) => n + b.lines.length, 0);
  const [open, setOpen] = useState(size <= LONG);
  const [most, setMost] = useState(MORE);
  const rows = useMemo(() => (open ? file.blocks.flatMap((b) => [{ header: b.header }, ...b.lines]) : []), [file, open]);
  const name = file.isDeleted ? file.oldName : file.newName;
  const what = file.isNew ? "new" : file.isDeleted ? "deleted" : file.isRename ? `was ${file.oldName}` : "";
  return (
    <details class="file" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><code><Exact text={name} /></code>{what && <span class="muted"><T text={what} /></span>}<span class="grow" /><span class="plus">+{file.addedLines}</span><span class="minus">−{file.deletedLines}</span></summary>
      {open && <div class="wide"><table class="code" aria-label={plain(name)}><tbody>
        {rows.slice(0, most).map((l, n) => (l.header !== undefined ? <tr key={n} class="hunk"><td colSpan={4}><Exact text={l.header} /></td></tr>
          : <tr key={n} class={l.type}><td class="no">{l.oldNumber ?? ""}</td><td class="no">{l.newNumber ?? ""}</td><td class="sign">{l.content[0] ?? " "}</td><td class="line"><Exact text={l.content.slice(1)} /></td></tr>))}
      </tbody></table>{most < rows.length && <button type="button" class="button plain more" onClick={() => setMost(most + MORE)}>Show {Math.min(MORE, rows.length - most).toLocaleString()} of {(rows.length - most).toLocaleString()} more lines</button>}{!file.blocks.length && <p class="muted none">No text to show{file.isBinary ? ": a binary file" : ""}.</p>}</div>}
    </details>
  );
}
