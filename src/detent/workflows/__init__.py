"""The four workflows (and the pipeline's inner one), each a table over one kernel."""

from importlib import import_module
from typing import Any

from detent.kernel.table import Table

TABLES = {"pr": "PR", "tdd": "TDD", "execute": "EXECUTE", "pipeline": "PIPELINE", "task": "TASK"}


def table_of(name: str) -> Table[Any]:
    """One table, imported when it is needed."""
    table = getattr(import_module(f"detent.workflows.{name}"), TABLES[name])
    assert isinstance(table, Table)
    return table


def all_tables() -> dict[str, Table[Any]]:
    """Every table by its name."""
    return {name: table_of(name) for name in TABLES}
