"""The composition root: the only place that builds objects and hands them to each other."""

from pathlib import Path
from typing import Any

from detent.git.place import find_place
from detent.kernel.journal import SqliteJournal
from detent.kernel.table import Table

WORKFLOWS = ("pr", "tdd", "execute", "pipeline", "task")


def tables() -> dict[str, Table[Any]]:
    """Every workflow by name."""
    from detent.workflows import all_tables

    return all_tables()


def journal_at(start: Path) -> SqliteJournal:
    """The journal of the repository that a folder is in; it must be there."""
    return SqliteJournal(find_place(start).journal)
