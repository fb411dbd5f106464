// Long lists: only what is in view is in the page. Heights are known beforehand, so nothing jumps.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// `heights`: one number for all rows, or an array of them. `row(i)` draws one. `top`: grows with every row that is added above. `reveal`: the row that is scrolled to when another one is `picked`.
export function Windowed({ count, heights, row, class: name = "", stick = false, onEnd, label, top = 0, reveal = -1, picked = reveal, ...rest }) {
  const box = useRef(null);
  const [view, setView] = useState({ at: 0, tall: 800 });
  const same = typeof heights === "number";
  const starts = useRef({ of: null, sums: null });
  if (!same && starts.current.of !== heights) {
    const sums = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) sums[i + 1] = sums[i] + heights[i];
    starts.current = { of: heights, sums };
  }
  const offset = (i) => (same ? i * heights : starts.current.sums[i]);
  const find = (y) => {
    if (same) return Math.floor(y / heights);
    let low = 0, high = count;
    while (low < high) { const mid = (low + high) >> 1; if (offset(mid + 1) <= y) low = mid + 1; else high = mid; }
    return low;
  };
  const measure = () => box.current && setView({ at: box.current.scrollTop, tall: box.current.clientHeight });
  useLayoutEffect(measure, []);
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  // Rows that come in above what is looked at do not move it.
  const known = useRef(top);
  useLayoutEffect(() => {
    const more = top - known.current;
    known.current = top;
    if (more > 0 && box.current.scrollTop > 0 && same) box.current.scrollTop += more * heights;
  }, [top]);
  useLayoutEffect(() => {
    if (stick && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [count, stick]);
  useLayoutEffect(() => {
    if (reveal < 0 || !box.current) return;
    const { scrollTop, clientHeight } = box.current;
    if (offset(reveal) < scrollTop) box.current.scrollTop = offset(reveal);
    else if (offset(reveal + 1) > scrollTop + clientHeight) box.current.scrollTop = offset(reveal + 1) - clientHeight;
  }, [picked]);
  const first = Math.max(0, find(view.at) - 6);
  const last = Math.min(count, find(view.at + view.tall) + 7);
  const shown = [];
  for (let i = first; i < last; i++) shown.push(row(i));
  const scrolled = () => {
    measure();
    const b = box.current;
    onEnd?.(b.scrollHeight - b.scrollTop - b.clientHeight < 30);
  };
  return (
    <div ref={box} class={`windowed ${name}`} onScroll={scrolled} role="list" aria-label={label} tabIndex={0} {...rest}>
      <div class="whole" style={{ height: `${offset(count)}px` }}>
        <div class="part" style={{ transform: `translateY(${offset(first)}px)` }}>{shown}</div>
      </div>
    </div>
  );
}
