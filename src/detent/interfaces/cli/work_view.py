"""Output of a worker: live at a terminal, lines without one, JSON Lines for programs. Decides nothing."""

import json
import queue as fifo
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from detent.errors import JournalAway
from detent.interfaces.cli.queue_text import COLOURS, in_words
from detent.queue.queue_protocol import WorkerEvent

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue

T = TypeVar("T")
LOOK = 0.3  # seconds between updates


def view_of(queue: "DurableQueue", slots: int, as_json: bool, events: bool) -> "WorkView":
    if events:
        return WorkLines()
    if as_json:
        return WorkView()
    return WorkTerminal(queue, slots) if sys.stdout.isatty() else Plain(queue)


class WorkView:
    """Collects a worker's events from any thread, and shows them in one. This one shows nothing."""

    def __init__(self) -> None:
        self.events: fifo.SimpleQueue[WorkerEvent] = fifo.SimpleQueue()
        self.ends: Counter[str] = Counter()

    def put(self, seen: WorkerEvent) -> None:
        self.events.put(seen)

    def show(self, over: Callable[[], bool]) -> None:
        """Show events until `over`."""
        while not ask_queue(over, False):
            self._take()
        self._take()

    def _take(self) -> None:
        until = time.monotonic() + LOOK
        while (left := until - time.monotonic()) > 0:
            try:
                seen = self.events.get(timeout=left)
            except fifo.Empty:
                return
            if seen.kind == "ended":
                self.ends[seen.text.partition(":")[0]] += 1
            ask_queue(partial(self.see, seen), None)

    def see(self, seen: WorkerEvent) -> None:
        pass

    def close(self) -> None:
        pass


def ask_queue(ask: Callable[[], T], else_: T) -> T:
    """The result of a query of the queue, or `else_` while its database is unavailable, so that the view never ends a worker."""
    from sqlalchemy.exc import SQLAlchemyError

    from detent.queue.database import Unreachable

    try:
        return ask()
    except (Unreachable, JournalAway, SQLAlchemyError):
        return else_


class WorkLines(WorkView):
    """JSON Lines for programs."""

    def see(self, seen: WorkerEvent) -> None:
        if seen.kind == "output":
            return  # shown by `queue logs`
        row = {"event": seen.kind, "id": seen.id or None, "text": seen.text or None}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


class Plain(WorkView):
    """A line for each event."""

    def __init__(self, queue: "DurableQueue") -> None:
        super().__init__()
        self.queue = queue

    def see(self, seen: WorkerEvent) -> None:
        if seen.kind not in ("output", "leaving"):
            self.line(self.in_words(seen))

    def line(self, text: str) -> None:
        click.echo(text)

    def in_words(self, seen: WorkerEvent) -> str:
        if seen.kind in ("paused", "away", "back"):
            return click.style(f"{seen.kind.upper():<9} ", fg="yellow") + seen.text
        found = self.queue.one(seen.id)
        word, _, reason = seen.text.partition(": ")
        shown = word if seen.kind == "ended" else seen.kind
        line = f"{click.style(f'{shown:<9}', fg=COLOURS.get(shown))} {seen.id:<24} {found.title[:80]}".rstrip()
        return f"{line}\n          {reason}" if reason else line


class WorkTerminal(Plain):
    """Finished executions scroll by; running ones stay in view below."""

    def __init__(self, queue: "DurableQueue", slots: int) -> None:
        from rich.live import Live

        super().__init__(queue)
        self.slots, self.at_work = slots, dict[str, tuple[str, float]]()
        self.last: dict[str, str] = {}
        self.live: Any = Live(refresh_per_second=4, transient=True, get_renderable=self._panel)
        self.live.start()

    def see(self, seen: WorkerEvent) -> None:
        if seen.kind == "started":
            self.at_work[seen.id] = (self.queue.one(seen.id).title or seen.id, time.monotonic())
        elif seen.kind == "output":
            self.last[seen.id] = in_words(seen.text) or self.last.get(seen.id, "")
            return
        elif seen.kind == "ended":
            self.at_work.pop(seen.id, None)
        super().see(seen)

    def line(self, text: str) -> None:
        from rich.text import Text

        self.live.console.print(Text.from_ansi(text))

    def close(self) -> None:
        self.live.stop()

    def _panel(self) -> Any:
        from rich.table import Table

        counts, pause = (
            ask_queue(self.queue.counts, {"ready": 0, "waiting": 0}),
            ask_queue(lambda: self.queue.paused().reason, "the database is away"),
        )
        head = f"{len(self.at_work)} of {self.slots} slots, {counts['ready']} ready, {counts['waiting']} waiting"
        table = Table(title=head + (f"  PAUSED: {pause}" if pause else ""), title_justify="left", show_header=False, box=None, expand=True)
        table.add_column(no_wrap=True, ratio=1)
        for id, (title, begun) in list(self.at_work.items()):
            minutes, seconds = divmod(int(time.monotonic() - begun), 60)
            table.add_row(f"[cyan]{id}[/] {minutes}:{seconds:02}  {_safe(title)}")
            table.add_row(f"  │ {_safe(self.last.get(id, ''))}", style="dim")
        for _ in range(self.slots - len(self.at_work)):
            table.add_row("free", style="dim")
        return table


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)
