"""The machine's own moves in a session, one line each, read from the journal. Decides nothing."""

from collections.abc import Iterator
from threading import get_ident

from detent.app import App
from detent.door import AnyEvent
from detent.drive import Seen
from detent.journal.journal_rows import from_entry

QUIET = ("prepared", "old-child")  # moves that happen at every turn, or no longer matter
MOST = 110  # characters of a failed check's reason


class Moves:
    """The machine's moves in a run and its children, each reported once."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.reported = {head.run: head.seq for head in app.journal.heads()}  # earlier moves are not reported
        self.thread = get_ident()  # only the thread that opened the journal may read it; moves seen by others are reported later

    def since(self, run: str) -> Iterator[tuple[str, str]]:
        """New moves in the run and its children: (status, text) of each."""
        if get_ident() != self.thread:
            return
        root = run.partition(".")[0]
        for id in (root, *(head.run for head in self.app.journal.children(root))):
            for entry in self.app.journal.events(id, self.reported.get(id, 0)):
                self.reported[id] = entry.seq
                event = from_entry(self.app.door.tables[entry.workflow], entry)
                move = self.app.door.tables[entry.workflow].moves.get(event.on)
                if move is not None and event.sent.by == "system" and move.by == ("system",) and event.on not in QUIET:
                    yield (
                        event.status,
                        f"{event.was:<16} {self._task(event):<7} {_why(event.on, event.sent.output) or move.how}",
                    )

    def _task(self, event: AnyEvent) -> str:
        """The name of a move's task, which is not the run's name when the task is run again."""
        last = self.app.journal.last(f"{event.run.id}.{event.sent.child}") if event.sent.child else None
        about = from_entry(self.app.door.tables[last.workflow], last).run if last else event.run
        return str(about.data.task_id)

    def why(self, seen: Seen) -> tuple[str, ...]:
        """Why a turn failed, if its verdict gives no reason: the first lines of the run's last error."""
        if get_ident() != self.thread or seen.verdict is None or seen.verdict.status not in ("FAILURE", "HALTED"):
            return ()
        error = self.app.door.load(seen.run.id).run.last_error
        return tuple(line.strip()[:MOST] for line in error.splitlines() if line.strip())[:2]


def _why(on: str, output: str) -> str:
    """The first lines of what the machine found; empty if nothing."""
    lines = [line.strip() for line in output.splitlines() if line.strip()][:2]
    return f"{on}: {' '.join(lines)[:MOST]}" if lines else ""
