"""Executions of the queue and their output as text. Decides nothing."""

import json
import sys
import time
from collections.abc import Container
from typing import TYPE_CHECKING, Any

import click

from detent.app.plain_text import plain
from detent.app.run_rows import when
from detent.interfaces.cli.tell import local_time
from detent.queue.queue_protocol import LIVE, Execution, OutageRow

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue


COLOURS = {"running": "cyan", "done": "green", "failed": "red", "blocked": "magenta", "cancelled": "yellow"}


GONE = "worker gone"


def execution_line(e: Execution, alive: Container[str] | None = None) -> str:
    """An execution on one line, and the reason of its state below. `alive`: the live workers, if known."""
    abandoned = is_abandoned(e, alive)
    state = click.style(f"{GONE if abandoned else e.state:<9}", fg="red" if abandoned else COLOURS.get(e.state))
    line = f"{state} {e.id:<24} P{e.priority} {plain(e.title)[:80]}".rstrip()
    if abandoned:
        return f"{line}\n          {e.worker} is gone; another worker takes it over (detent work)"
    why = f"waits for {', '.join(e.waits_for)}" if e.waits_for else e.reason or (f"on {e.worker}" if e.worker else "")
    return f"{line}\n          {plain(why)}" if why else line


def outage_lines(each: OutageRow) -> str:
    """An outage: its thing, since when, the next retry, and how to retry now."""
    since, until = (local_time(str(when(seconds)))[11:] for seconds in (each.since, each.until))
    return (
        f"AWAY {each.thing}, since {since}: {plain(each.said)}\n"
        f"  Detent asks again at {until}, and continues by itself. To ask now: detent queue retry --cause {each.thing}"
    )


def is_abandoned(e: Execution, alive: Container[str] | None) -> bool:
    """Whether an execution is held by a dead worker."""
    return alive is not None and e.state == "running" and e.worker not in alive


def lines(text: str) -> list[str]:
    """The output of an execution for people: JSON events in words, all else unchanged."""
    return [words for line in text.splitlines() if (words := in_words(line))]


def in_words(line: str) -> str:
    """One line of output in words; empty if it says nothing to a person."""
    try:
        event = json.loads(line) if line.startswith("{") else None
    except ValueError:
        event = None
    if not isinstance(event, dict):
        return plain(line)
    kind, text = event.get("event", ""), " ".join(str(event.get("text") or event.get("error") or "").split())
    if kind == "verdict":
        text = f"{event.get('at', '')} {event.get('status', '')} → {event.get('state', '')}  {'; '.join(event.get('reasons', ()))}"
    elif kind in ("turn", "state"):
        text = f"{event.get('state', '')} {event.get('role', '')}"
    elif "outcome" in event:
        text = f"{event['outcome']}: {event.get('state', '')}  branch {event.get('branch') or '-'}"
    return plain(text).strip()


EVERY = 1.0  # seconds between polls
NEXT = 10  # executions shown that do not run yet


def watch(queue: "DurableQueue") -> None:
    """Show the queue until it is empty: updated in place at a terminal, elsewhere printed at each change."""
    live, before = _live() if sys.stdout.isatty() else None, ""
    try:
        while True:
            text = picture(queue)
            if live is not None:
                from rich.text import Text

                live.update(Text.from_ansi(text), refresh=True)
            elif text != before:
                click.echo(text)
            before = text
            if not any(queue.counts().values()):
                return
            time.sleep(EVERY)
    finally:
        if live is not None:
            live.stop()


def _live() -> Any:
    from rich.live import Live

    live = Live(auto_refresh=False)
    live.start()
    return live


def picture(queue: "DurableQueue") -> str:
    """The queue as text: running executions with their last line of output, then the next ones."""
    counts, pause, workers = queue.counts(), queue.paused().reason, [w for w in queue.workers() if w.left >= 0]
    slots = f"{counts['running']} running on {len(workers)} workers with {queue.slots()} slots"
    head = [f"{slots}, {counts['ready']} ready, {counts['waiting']} waiting" + (f"  PAUSED: {pause}" if pause else "")]
    head += [f"AWAY: {each.thing}: {each.said}" for each in queue.away()]
    found = queue.all(LIVE, counts["running"] + NEXT)
    for e in found:
        head.append(execution_line(e, {w.id for w in workers}))
        output = [line for piece in queue.logs(e.id)[-1:] for line in lines(piece.text)] if e.state == "running" else []
        head += [f"          │ {line}" for line in output[-1:]]
    more = sum(counts.values()) - len(found)
    return "\n".join([*head, *([f"… and {more} more"] if more > 0 else [])])
