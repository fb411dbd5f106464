"""The composition root: the only room that builds objects and hands them to each other."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from detent.app.clock import now
from detent.app.shared import open_journal
from detent.door import AnyEvent, AnyRun, Door, Hands, always
from detent.errors import DetentError, NoJournal
from detent.git.place import Place, find_place
from detent.kernel.holder import this_process
from detent.kernel.journal import Head, SqliteJournal
from detent.kernel.table import Table

if TYPE_CHECKING:
    from detent.kernel.journal_postgres import PostgresJournal
    from detent.world.reviewer import Asking

AnyJournal = Union[SqliteJournal, "PostgresJournal"]
__all__ = ["WORKFLOWS", "App", "journal_at", "now", "open_app", "tables"]

WORKFLOWS = ("pr", "tdd", "execute", "pipeline", "task")


def tables() -> dict[str, Table[Any]]:
    """Every workflow by name."""
    from detent.workflows import all_tables

    return all_tables()


def journal_at(start: Path) -> "AnyJournal":
    """The journal of the repository that a folder is in; it must be there."""
    return open_journal(find_place(start))


class App(NamedTuple):
    """Everything a command needs, wired to the checkout it was called in."""

    place: Place
    journal: "AnyJournal"
    door: Door
    world: Any  # of the person's own checkout
    worlds: Any  # of any run

    @property
    def busy(self) -> bool:
        """Whether any run of this repository is open."""
        return any(not head.ended for head in self.journal.heads())

    def current(self) -> Head | None:
        """The newest open run that is bound to this checkout."""
        mine = (h for h in self.journal.heads() if h.worktree == str(self.place.root) and not h.ended and not h.parent)
        return next(mine, None)

    def newest(self) -> Head | None:
        """The newest run of this checkout, ended or not."""
        return next((h for h in self.journal.heads() if h.worktree == str(self.place.root) and not h.parent), None)

    def chosen(self, run: str | None) -> str:
        """The run that a command is about: the one named, or the current one."""
        if run:
            if not self.journal.heads(run):
                raise DetentError(f"there is no run {run}", "see `detent runs --all`")
            return run
        head = self.current() or self.newest()
        if head is None:
            raise DetentError("there is no run in this checkout", "start one with `detent start`, or call `detent get-task`")
        return head.run


def open_app(start: Path, create: bool = False, env: Mapping[str, str] | None = None, wanted: Callable[[], bool] = always) -> App:
    """Wire everything for the checkout that a folder is in. Once it is no longer wanted, what runs is ended and nothing is marked."""
    from detent.app.kit import kit_of
    from detent.app.worlds import Worlds
    from detent.git.repo import Git
    from detent.kernel.codec import from_entry
    from detent.workflows.briefs import brief
    from detent.world import EFFECTS, JOBS
    from detent.world.repo import Gear

    outer = dict(os.environ if env is None else env)
    place = find_place(start)
    journal = _journal(place, outer, create)
    tables = _LazyTables()

    def history(run: str) -> Iterator[AnyEvent]:
        return (from_entry(tables[e.workflow], e) for e in journal.events(run, limit=1_000_000))

    def family(run: str) -> list[AnyRun]:
        entries = (journal.last(r) for r in (run, *(h.run for h in journal.children(run))))
        return [from_entry(tables[e.workflow], e).run for e in entries if e is not None]

    def when(run: str, seq: int) -> str:
        entry = journal.at(run, seq)
        return entry.at if entry else ""

    def reviewer(run: AnyRun) -> "Asking":
        from detent.app.reviewing import asking_of  # most calls ask nobody

        return asking_of(app, run)

    gear = Gear(outer, kit_of(place, outer), _files_of(), now, history, EFFECTS, JOBS, wanted, family, when, journal.has_report, reviewer)
    worlds = Worlds(Git(place, outer), gear)
    hands = Hands(journal, tables, worlds, worlds, brief, now, lambda doing: this_process(now(), doing), wanted)
    app = App(place, journal, Door(hands), worlds.own, worlds)
    return app


def _journal(place: Place, outer: Mapping[str, str], create: bool) -> "AnyJournal":
    try:
        return open_journal(place, outer, create)
    except NoJournal as e:
        raise DetentError("there is no run in this repository yet", "start one with `detent start`, or call `detent get-task`") from e


def _files_of() -> Callable[[AnyRun], Mapping[str, str | None]]:
    from detent.workflows.pr_files import published

    def files(run: AnyRun) -> Mapping[str, str | None]:
        return published(run) if run.workflow == "pr" else {}

    return files


class _LazyTables(dict[str, Table[Any]]):
    """The tables, each imported when a run of it is touched."""

    def __contains__(self, name: object) -> bool:
        return name in WORKFLOWS

    def __missing__(self, name: str) -> Table[Any]:
        from detent.workflows import table_of

        self[name] = table_of(name)
        return self[name]
