"""The four workflows (and the pipeline's inner one), each a table over one kernel. Imported one by one, when a run of it is touched."""

from collections.abc import Callable
from typing import Any

from detent.kernel.table import Table


def _pr() -> Table[Any]:
    from detent.workflows.pr import PR

    return PR


def _tdd() -> Table[Any]:
    from detent.workflows.tdd import TDD

    return TDD


def _execute() -> Table[Any]:
    from detent.workflows.execute import EXECUTE

    return EXECUTE


def _pipeline() -> Table[Any]:
    from detent.workflows.pipeline import PIPELINE

    return PIPELINE


def _task() -> Table[Any]:
    from detent.workflows.task import TASK

    return TASK


TABLES: dict[str, Callable[[], Table[Any]]] = {"pr": _pr, "tdd": _tdd, "execute": _execute, "pipeline": _pipeline, "task": _task}


def table_of(name: str) -> Table[Any]:
    """One table by its name."""
    return TABLES[name]()


def all_tables() -> dict[str, Table[Any]]:
    """Every table by its name."""
    return {name: table_of(name) for name in TABLES}
