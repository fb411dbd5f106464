// The state diagram of a run: the table it runs on, the path it took, and where it stands.
import { graphlib, layout } from "@dagrejs/dagre";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { words } from "./format.js";
import { attempt } from "./store.js";

const known = new Map();
const HEIGHT = 26;
// As large as there is room for, and never too small to read: what is wider then is scrolled.
const scale = (width) => Math.min(1.1, Math.max(0.86, (innerWidth - 40) / width));
const wide = (name) => Math.max(58, words(name).length * 6.7 + 22);

// States that nearly everything leads to (halted, aborted) would hide the rest: their ways are drawn only once they were taken.
// What a person may revise from nearly everywhere would hide the gates it leads to: these ways are drawn once they were taken, too.
const revised = (a) => a.on.length > 0 && a.on.every((on) => /^(edited|again|correct)-/.test(on));
function busy(flow) {
  const into = new Map();
  for (const a of flow.arrows) if (!revised(a) && a.at !== a.to) into.set(a.to, (into.get(a.to) ?? 0) + 1);
  return new Set(flow.states.filter((s) => (s.actor === "human" || s.end === "stopped") && (into.get(s.name) ?? 0) > flow.states.length / 4).map((s) => s.name));
}

// An end stands at the end, also where it is reached from the middle: behind whatever stands furthest to the right without it.
function behind(graph, flow) {
  const ends = flow.states.filter((s) => s.end && graph.hasNode(s.name)).map((s) => s.name);
  const right = graph.nodes().filter((n) => !ends.includes(n)).reduce((a, b) => (a && graph.node(a).x >= graph.node(b).x ? a : b), "");
  return right ? ends.filter((end) => !graph.hasEdge(right, end, "on")).map((end) => [right, end]) : [];
}

function drawn(flow, path, now) {
  const hubs = busy(flow);
  const taken = new Map(path.map((p) => [`${p.at} ${p.to}`, p.times]));
  const ways = new Map();
  for (const a of flow.arrows) {
    const key = `${a.at} ${a.to}`;
    if (a.at === a.to || a.to === "back" || (revised(a) && !taken.has(key)) || ((hubs.has(a.to) || hubs.has(a.at)) && !taken.has(key))) continue;
    ways.set(key, { at: a.at, to: a.to, on: a.on, times: taken.get(key) ?? 0 });
  }
  for (const p of path) if (!ways.has(`${p.at} ${p.to}`)) ways.set(`${p.at} ${p.to}`, { ...p, on: [] });
  const graph = laid(flow, ways, now, behind(laid(flow, ways, now, []), flow));
  const all = [...graph.edges().filter((e) => !graph.edge(e).unseen).flatMap((e) => graph.edge(e).points), ...graph.nodes().flatMap((n) => { const b = graph.node(n); return [{ x: b.x - b.width / 2, y: b.y - 16 }, { x: b.x + b.width / 2, y: b.y + 16 }]; })];
  const left = Math.min(...all.map((p) => p.x)) - 6, top = Math.min(...all.map((p) => p.y)) - 12;
  return { graph, ways, box: { left, top, width: Math.max(...all.map((p) => p.x)) - left + 8, height: Math.max(...all.map((p) => p.y)) - top + 8 } };
}

function laid(flow, ways, now, ends) {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", ranksep: 34, nodesep: 12, edgesep: 8, marginx: 6, marginy: 6, ranker: "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  const used = new Set([now, ...[...ways.values()].flatMap((w) => [w.at, w.to])]);
  const order = new Map(flow.states.map((s, i) => [s.name, i]));
  for (const s of flow.states) if (used.has(s.name)) graph.setNode(s.name, { width: wide(s.name), height: HEIGHT });
  for (const w of ways.values()) {
    if (!graph.hasNode(w.at) || !graph.hasNode(w.to)) continue;
    // The order of the table is the order of the drawing: a way back is laid out as if it led forward, and drawn the other way round.
    const forward = order.get(w.at) < order.get(w.to);
    if (forward) graph.setEdge(w.at, w.to, { weight: 4, at: w.at, to: w.to }, "on");
    else graph.setEdge(w.to, w.at, { weight: 1, at: w.at, to: w.to, turned: true }, "back");
  }
  for (const [at, to] of ends) graph.setEdge(at, to, { weight: 0, unseen: true }, "end");
  layout(graph);
  return graph;
}

function curve(points) {
  const [first, ...rest] = points;
  let d = `M${first.x},${first.y}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const a = rest[i], b = rest[i + 1];
    d += `Q${a.x},${a.y} ${(a.x + b.x) / 2},${(a.y + b.y) / 2}`;
  }
  return `${d}L${rest.at(-1).x},${rest.at(-1).y}`;
}

export function Diagram({ workflow, path, now, ended }) {
  const [flow, setFlow] = useState(known.get(workflow));
  useEffect(() => {
    if (flow?.name === workflow) return;
    attempt(async () => {
      known.set(workflow, await call(`/api/workflows/${workflow}`));
      setFlow(known.get(workflow));
    });
  }, [workflow]);
  const shape = JSON.stringify(path.map((p) => `${p.at} ${p.to}`).sort());
  const made = useMemo(() => flow && drawn(flow, path, now), [flow, shape, now]);
  const frame = useRef(null);
  useEffect(() => { // what is lit is in view, also where the drawing is wider than the page
    const lit = frame.current?.querySelector(".node.now")?.getBoundingClientRect(), view = frame.current?.getBoundingClientRect();
    if (lit && view) frame.current.scrollBy({ left: lit.left + lit.width / 2 - view.left - view.width / 2, top: lit.top + lit.height / 2 - view.top - view.height / 2 });
  }, [made]);
  if (!made) return <div class="diagram loading" />;
  const times = new Map(path.map((p) => [`${p.at} ${p.to}`, p.times]));
  const been = new Set(path.flatMap((p) => [p.at, p.to]));
  const { graph, ways, box } = made;
  const state = new Map(flow.states.map((s) => [s.name, s]));
  return (
    <div ref={frame} class="diagram" tabIndex={0} role="img" aria-label={`The run is at ${words(now)}; it was at ${[...been].map(words).join(", ") || "no other state"}.`}>
      <svg viewBox={`${box.left} ${box.top} ${box.width} ${box.height}`} width={box.width * scale(box.width)} height={box.height * scale(box.width)} preserveAspectRatio="xMidYMid meet">
        <defs>{["", "-taken"].map((k) => <marker key={k} id={`tip${k}`} class={`tip${k}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse"><path d="M0,0.5L8,4L0,7.5z" /></marker>)}</defs>
        {graph.edges().filter((e) => !graph.edge(e).unseen).map((e) => {
          const { at, to, turned, points: laid } = graph.edge(e);
          const key = `${at} ${to}`;
          const n = times.get(key) ?? 0;
          const points = turned ? [...laid].reverse() : laid;
          const mid = points[Math.floor(points.length / 2)];
          return <g key={key} class={`way ${n ? "taken" : ""}`}><title>{`${words(at)} → ${words(to)}${n ? `, taken ${n} times` : ""}${ways.get(key)?.on?.length ? `: ${ways.get(key).on.join(", ")}` : ""}`}</title>
            <path d={curve(points)} marker-end={`url(#tip${n ? "-taken" : ""})`} />{n > 1 && <text x={mid.x} y={mid.y - 4}>{n}×</text>}</g>;
        })}
        {graph.nodes().map((name) => {
          const { x, y, width } = graph.node(name);
          const s = state.get(name);
          const kind = [name === now ? "now" : been.has(name) ? "been" : "", s?.end ? "end" : "", s?.actor === "human" ? "human" : "", name === now && ended ? s?.end : ""].join(" ");
          return <g key={name} class={`node ${kind}`} transform={`translate(${x - width / 2},${y - HEIGHT / 2})`} data-state={name}>
            <title>{`${name}${s?.role ? `: ${s.role}` : ""}`}</title><rect width={width} height={HEIGHT} rx={HEIGHT / 2} /><text x={width / 2} y={HEIGHT / 2 + 4}>{words(name)}</text></g>;
        })}
      </svg>
    </div>
  );
}
