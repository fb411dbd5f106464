"""What the machine did by itself in a session, one line each, read off the journal. Shows; decides nothing."""

from collections.abc import Iterator
from threading import get_ident

from detent.app import App
from detent.door import AnyEvent
from detent.drive import Seen
from detent.journal.journal_rows import from_entry

QUIET = ("prepared", "old-child")  # what happens at every turn, or means nothing any more
MOST = 110  # characters of why a check failed


class Moves:
    """The moves of the machine in a run and its children, each told once."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.told = {head.run: head.seq for head in app.journal.heads()}  # what is over is not told again
        self.thread = get_ident()  # a journal is read by the thread that opened it; what others see is told when that one looks again

    def since(self, run: str) -> Iterator[tuple[str, str]]:
        """The moves since the last time, of the family of a run: the status of each, and what to say of it."""
        if get_ident() != self.thread:
            return
        root = run.partition(".")[0]
        for id in (root, *(head.run for head in self.app.journal.children(root))):
            for entry in self.app.journal.events(id, self.told.get(id, 0)):
                self.told[id] = entry.seq
                event = from_entry(self.app.door.tables[entry.workflow], entry)
                move = self.app.door.tables[entry.workflow].moves.get(event.on)
                if move is not None and event.sent.by == "system" and move.by == ("system",) and event.on not in QUIET:
                    yield (
                        event.status,
                        f"{event.was:<16} {self._task(event):<7} {_why(event.on, event.sent.output) or move.how}",
                    )

    def _task(self, event: AnyEvent) -> str:
        """The task that a move is about, by its own name: a second run of it is called otherwise."""
        last = self.app.journal.last(f"{event.run.id}.{event.sent.child}") if event.sent.child else None
        about = from_entry(self.app.door.tables[last.workflow], last).run if last else event.run
        return str(about.data.task_id)

    def why(self, seen: Seen) -> tuple[str, ...]:
        """Why a turn came to nothing, where its verdict gives no reason: the first words of what is kept of it."""
        if get_ident() != self.thread or seen.verdict is None or seen.verdict.status not in ("FAILURE", "HALTED"):
            return ()
        said = self.app.door.load(seen.run.id).run.last_error
        return tuple(line.strip()[:MOST] for line in said.splitlines() if line.strip())[:2]


def _why(on: str, output: str) -> str:
    """The first words of what the machine found, where it found something."""
    lines = [line.strip() for line in output.splitlines() if line.strip()][:2]
    return f"{on}: {' '.join(lines)[:MOST]}" if lines else ""
