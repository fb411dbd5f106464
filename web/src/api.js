// Speaks to the server: calls with the token, and streams that come back after a break and go on where they were.
import { signal } from "@preact/signals";

const KEY = "detent-token";
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

// The link that `detent serve` prints is good for one exchange: its word for the token.
export async function enter() {
  const word = new URLSearchParams(location.hash.slice(1)).get("once");
  if (!word) return;
  history.replaceState(null, "", location.pathname);
  try {
    keep((await call("/api/token", { once: word })).token);
  } catch (e) {
    if (!(e instanceof Trouble)) throw e; // a used link is no loss where the token is known
  }
}

export const useToken = (value) => keep(value.trim());

const headers = () => (token.value ? { Authorization: `Bearer ${token.value}` } : {});

export async function call(path, body, asked = {}) {
  const sent = { headers: headers(), signal: asked.signal };
  if (body !== undefined) {
    sent.method = "POST";
    sent.body = JSON.stringify(body);
    sent.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, sent);
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

// Follow a stream until the returned function is called. `on` gets (kind, value); `back` is called when it is there again after a break.
export function follow(path, on, back = () => {}, after = "") {
  const end = new AbortController();
  let last = after;
  let wait = 250;
  let first = true;
  const go = async () => {
    while (!end.signal.aborted) {
      try {
        const id = last === "" ? {} : { "Last-Event-ID": String(last) };
        const answer = await fetch(path, { headers: { ...headers(), ...id }, signal: end.signal, cache: "no-store" });
        if (answer.status === 401) return keep("");
        if (!answer.ok) throw new Error(String(answer.status));
        reached.value = true;
        if (!first) back();
        first = false;
        wait = 250;
        await read(answer.body, (kind, id, data) => {
          if (id !== "") last = id;
          on(kind, JSON.parse(data));
        });
      } catch (e) {
        if (end.signal.aborted) return;
      }
      reached.value = false;
      first = false;
      await new Promise((r) => setTimeout(r, wait));
      wait = Math.min(wait * 2, 4000);
    }
  };
  go();
  return () => end.abort();
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
