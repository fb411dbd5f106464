// Keys are heard in one place, in the order they are typed. A view says what it does with them; what is typed while one is still coming is kept for it.
import { useLayoutEffect, useRef } from "preact/hooks";

const MOST = 30; // keys that are kept
const heard = []; // what the parts of the page do with a key, the newest part last
const later = []; // keys that wait for a view
let coming = 1; // views that are on their way; the page itself is the first
let words = false; // whether what is kept goes into a field that is on its way

export const typing = (e) => /^(INPUT|TEXTAREA|SELECT)$/.test(e.target?.tagName ?? "");
const shut = () => document.querySelector("dialog[open]") !== null;

// While this part of the page is there, `does(key, event)` is asked about each key that nobody types into a field; true: it was meant for it.
export function useKeys(does) {
  const now = useRef(does);
  now.current = does; // at once, not after it is painted: the next key may be quicker
  useLayoutEffect(() => {
    heard.push(now);
    return () => { heard.splice(heard.indexOf(now), 1); };
  }, []);
}

// A view that is on its way keeps this on the page.
export function useComing() {
  useLayoutEffect(() => {
    coming += 1;
    return arrived;
  }, []);
}

export function arrived() {
  coming -= 1;
  setTimeout(again);
}

const offered = (key, e) => [...heard].reverse().some((each) => each.current(key, e));

// What was kept, one key after the other, each once the page has drawn what the one before did.
function again() {
  if (coming > 0) return;
  if (!later.length) { words = false; return; }
  const key = later.shift();
  const field = document.activeElement;
  if (typing({ target: field })) {
    if (key.length === 1) document.execCommand("insertText", false, key);
  } else if (!shut()) offered(key, { key, target: document.body, preventDefault() {} });
  setTimeout(again);
}

// Escape in a field of a search takes the search back, too.
function leave(field) {
  if (field.type === "search" && field.value) {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.blur();
}

// `first(key)`: what keys do everywhere. They are never kept: whoever waits for a view may go elsewhere.
export function listen(first) {
  addEventListener("keydown", (e) => {
    if (e.isComposing) return;
    if (e.key === "Escape" && typing(e) && !shut()) { e.preventDefault(); return leave(e.target); }
    if (typing(e) || e.metaKey || e.ctrlKey || e.altKey || shut()) return;
    if (!words && first(e.key)) {
      words = coming > 0 && e.key === "n";
      later.length = 0;
      return e.preventDefault();
    }
    if (coming > 0 || later.length) {
      words ||= e.key === "/";
      if (e.key.length === 1 || e.key === "Enter" || e.key.startsWith("Arrow")) later.push(e.key);
      if (later.length > MOST) later.shift();
      return e.preventDefault();
    }
    if (offered(e.key, e)) e.preventDefault();
  });
  addEventListener("pointerdown", () => { later.length = 0; words = false; });
}
