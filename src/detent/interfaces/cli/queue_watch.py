"""`detent queue list --watch`: every slot of every worker, on whichever machine, and what comes next; as it goes on. Shows; decides nothing."""

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from detent.interfaces.cli.queue_text import execution_line, lines
from detent.queue.queue_protocol import LIVE

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue

EVERY = 1.0  # seconds between two looks
NEXT = 10  # of those that do not run yet


def watch(queue: "DurableQueue") -> None:
    """Stay until nothing runs and nothing waits. At a terminal the picture stands still; elsewhere each change is printed."""
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
    """The slots that are taken, each with the last that was said there; and what comes next."""
    counts, pause, workers = queue.counts(), queue.paused().reason, [w for w in queue.workers() if w.left >= 0]
    slots = f"{counts['running']} running on {len(workers)} workers with {queue.slots()} slots"
    head = [f"{slots}, {counts['ready']} ready, {counts['waiting']} waiting" + (f"  PAUSED: {pause}" if pause else "")]
    head += [f"AWAY: {each.thing}: {each.said}" for each in queue.away()]
    found = queue.all(LIVE, counts["running"] + NEXT)
    for e in found:
        head.append(execution_line(e, {w.id for w in workers}))
        said = [line for piece in queue.logs(e.id)[-1:] for line in lines(piece.text)] if e.state == "running" else []
        head += [f"          │ {line}" for line in said[-1:]]
    more = sum(counts.values()) - len(found)
    return "\n".join([*head, *([f"… and {more} more"] if more > 0 else [])])
