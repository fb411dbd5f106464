"""The composition root: the only room that builds objects and hands them to each other."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detent.app.opened import NO_RUN, AnyJournal, App, now, open_journal
from detent.app.registry import brief_of, is_workflow, workflow_of
from detent.door import AnyRun, Door, always
from detent.errors import NoJournal, NoRun
from detent.git.place import Place, find_place
from detent.journal.holder import this_process
from detent.kernel.table import Table

if TYPE_CHECKING:
    from detent.world.reviewer import Asking

__all__ = ["AnyJournal", "App", "journal_at", "now", "open_app"]


def journal_at(start: Path) -> "AnyJournal":
    """The journal of the repository that a folder is in; it must be there."""
    return open_journal(find_place(start))


def open_app(start: Path, create: bool = False, env: Mapping[str, str] | None = None, wanted: Callable[[], bool] = always) -> App:
    """Build the App for the checkout that a folder is in. When `wanted` turns false, running programs are stopped and nothing is recorded."""
    from detent.app.run_configs import config_of
    from detent.app.worlds import Worlds
    from detent.git.repo import Git
    from detent.world.known_runs import Runs

    outer = dict(os.environ if env is None else env)
    place = find_place(start)
    journal = _journal(place, outer, create)
    tables = _LazyTables()

    runs = Runs(journal, tables, outer, config_of(place, outer), workflow_of, now, wanted)
    worlds = Worlds(Git(place, outer), runs)
    door = Door(journal, tables, worlds, worlds, brief_of, now, lambda doing: this_process(now(), doing), wanted)
    app = App(place, journal, door, worlds.own, worlds)

    def reviewer(run: AnyRun) -> "Asking":
        from detent.app.reviewing import asking_of  # imported late: most commands never ask a reviewer

        return asking_of(app, run)

    runs.reviewer = reviewer
    return app


def _journal(place: Place, outer: Mapping[str, str], create: bool) -> "AnyJournal":
    try:
        return open_journal(place, outer, create)
    except NoJournal as e:
        raise NoRun(e.message, NO_RUN) from e


class _LazyTables(dict[str, Table[Any]]):
    """The tables of all workflows, each imported when it is first looked up."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and is_workflow(name)

    def __missing__(self, name: str) -> Table[Any]:
        self[name] = workflow_of(name).table
        return self[name]
