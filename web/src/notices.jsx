// Notifications of the browser: whoever allows them hears of a new question while the page is not looked at.
import { effect, signal } from "@preact/signals";
import { token } from "./api.js";
import { Button } from "./parts.jsx";
import { ask, asked, at, go, questions } from "./store.js";
import { plain } from "./text.jsx";
import { titleOf } from "./titles.js";

const EVERY = 10000; // milliseconds between two looks while the page is hidden, when its stream rests
const permission = signal(globalThis.Notification?.permission ?? "denied");

export function Allow() {
  if (permission.value !== "default") return permission.value === "granted" ? <p class="muted">Your browser tells you when a run needs you.</p> : null;
  const allow = async () => { permission.value = await Notification.requestPermission(); };
  return <p class="allow muted"><Button onClick={allow}>Allow notifications</Button> <span>to hear of new questions.</span></p>;
}

let known = null; // the questions that were told, or were there before
effect(() => {
  if (!asked.value) return;
  const now = questions.value;
  if (known && permission.value === "granted" && (document.hidden || !document.hasFocus())) for (const q of now) if (!known.has(q.id)) tell(q);
  known = new Set(now.map((q) => q.id));
});

// One for each question, however many tabs are open: the browser puts those of one tag in one place.
function tell(q) {
  try {
    const told = new Notification(titleOf(q), { body: plain(q.title), tag: `detent ${q.id}`, icon: "/static/icon.svg" });
    told.onclick = () => { window.focus(); go(at("inbox", q.id)); told.close(); };
  } catch { /* a browser that has them only for installed pages */ }
}

setInterval(() => { if (document.hidden && permission.value === "granted" && token.value) ask().catch(() => {}); }, EVERY);
