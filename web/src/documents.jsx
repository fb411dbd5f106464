// The documents of a session and its report, to read. They are changed with Revise.
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.js";
import { Empty, Tabs } from "./parts.jsx";
import { attempt } from "./store.js";
import { Document } from "./text.jsx";

export function Documents({ run, stamp }) {
  const [got, setGot] = useState(null);
  const [at, setAt] = useState("");
  useEffect(() => { attempt(async () => setGot(await call(`/api/runs/${run}/papers`))); }, [run, stamp]);
  if (!got) return <div class="loading" aria-busy="true" />;
  const all = [...(got.report ? [{ name: "report.md", text: got.report }] : []), ...got.papers].map((p) => ({ id: p.name.replace(/\W/g, "_"), ...p }));
  if (!all.length) return <Empty title="No document yet">What the roles of the session write appears here.</Empty>;
  const shown = all.find((p) => p.id === at) ?? all[0];
  return <div class="papers documents"><Tabs tabs={all} at={shown.id} onPick={setAt} label="Documents" of="document" /><div class="paper"><Document path={shown.name} text={shown.text} /></div></div>;
}
