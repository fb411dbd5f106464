// Speaks to the server: calls with the token, and a stream that comes back after a break and goes on where it was.
import { signal } from "@preact/signals";

const KEY = "detent-token", WORD = "detent-once", NAME = "detent-by";
export const token = signal(sessionStorage.getItem(KEY) ?? "");
export const reached = signal(true); // whether the server answers

export class Trouble extends Error {
  constructor(status, error, hint) {
    super(error);
    this.status = status;
    this.hint = hint ?? "";
  }
}

function keep(value) {
  token.value = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

// A tab that was opened from another one asks the tabs of this very address, which are this very page.
const tabs = new BroadcastChannel("detent");
tabs.onmessage = ({ data }) => {
  if (data === "who knows" && token.value) tabs.postMessage({ token: token.value });
  else if (typeof data?.token === "string" && !token.value) keep(data.token);
};

const random = () => [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");

const AGAIN = [250, 1000]; // milliseconds before it is asked again, where no answer came
export const lost = signal(""); // why the link was not exchanged, where it may be tried again

// What this tab may ask with: the word of its link, and the name that it asks under. Kept by the tab and by this entry of its history, so that a reload
// has it, and nobody else.
function ticket() {
  const said = new URLSearchParams(location.hash.slice(1)).get("once");
  const kept = history.state?.once ? history.state : { once: sessionStorage.getItem(WORD), by: sessionStorage.getItem(NAME) };
  const once = said ?? kept.once;
  return once ? { once, by: kept.by ?? random() } : null;
}

function keepTicket(mine) {
  if (mine) { sessionStorage.setItem(WORD, mine.once); sessionStorage.setItem(NAME, mine.by); } else sessionStorage.removeItem(WORD);
  history.replaceState(mine, "", location.pathname);
}

// The link that `detent serve` prints is good for one tab: its word for the token. Should the answer get lost, the same tab asks again, by itself or
// after a reload.
export async function enter() {
  const mine = ticket();
  if (!mine) return token.value ? undefined : tabs.postMessage("who knows");
  keepTicket(mine);
  for (const wait of [...AGAIN, 0]) {
    try {
      keep((await call("/api/token", mine)).token);
      return keepTicket(null);
    } catch (e) {
      if (!(e instanceof Trouble)) throw e;
      if (e.status === 401) {
        if (!token.value) tabs.postMessage("who knows"); // a used link is no loss where the token is known
        return keepTicket(null);
      }
      lost.value = e.message;
    }
    if (wait) await new Promise((go) => setTimeout(go, wait));
  }
}

export const useToken = (value) => keep(value.trim());

const headers = () => (token.value ? { Authorization: `Bearer ${token.value}` } : {});

// What only reads is asked once more: a browser fails everything that is on its way when an address of the machine comes or goes.
async function again(e, path, sent) {
  if (e.name === "AbortError") throw e;
  await new Promise((go) => setTimeout(go, AGAIN[0]));
  return fetch(path, sent);
}

export async function call(path, body, asked = {}) {
  const sent = { headers: headers(), signal: asked.signal };
  if (body !== undefined) {
    sent.method = "POST";
    sent.body = JSON.stringify(body);
    sent.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await (body === undefined ? fetch(path, sent).catch((e) => again(e, path, sent)) : fetch(path, sent));
  } catch (e) {
    if (e.name !== "AbortError") reached.value = false;
    throw e.name === "AbortError" ? e : new Trouble(0, "The server does not answer.", "It may have been stopped: detent serve");
  }
  reached.value = true;
  if (answer.ok) return answer.json();
  if (answer.status === 401 && path !== "/api/token") keep("");
  const text = await answer.text();
  let said = { error: text.trim() || answer.statusText };
  try {
    said = JSON.parse(text);
  } catch { /* a plain sentence */ }
  throw new Trouble(answer.status, said.error, said.hint);
}

const shown = () => new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));

// Follow a stream until the returned function is called. `on` gets (kind, value, id). It is dropped while nobody can see the page: a browser
// gives all tabs of an address six connections together.
export function follow(path, on, last = "") {
  let over = false, dropped = false, end = new AbortController(), wait = 250;
  const hide = () => { if (document.hidden) { dropped = true; end.abort(); } };
  document.addEventListener("visibilitychange", hide);
  const once = async () => {
    end = new AbortController();
    dropped = false;
    const answer = await fetch(path, { headers: { ...headers(), ...(last === "" ? {} : { "Last-Event-ID": last }) }, signal: end.signal, cache: "no-store" });
    if (answer.status === 401) return keep("");
    if (!answer.ok) throw new Error(String(answer.status));
    reached.value = true;
    wait = 250;
    await read(answer.body, (kind, id, data) => {
      if (id !== "") last = id;
      if (!over) on(kind, JSON.parse(data), id);
    });
  };
  const go = async () => {
    while (!over && token.value) {
      if (document.hidden) { await shown(); continue; }
      try { await once(); } catch { /* it is tried again */ }
      if (over || dropped) continue;
      reached.value = false;
      await new Promise((r) => setTimeout(r, wait));
      wait = Math.min(wait * 2, 4000);
    }
  };
  go();
  return () => { over = true; end.abort(); document.removeEventListener("visibilitychange", hide); };
}

async function read(body, on) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let at;
    while ((at = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, at).split("\n");
      text = text.slice(at + 2);
      const of = (name) => lines.filter((l) => l.startsWith(name)).map((l) => l.slice(name.length)).join("\n");
      const data = of("data: ");
      if (data) on(of("event: "), of("id: "), data);
    }
  }
}
