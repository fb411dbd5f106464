"""The four workflows (and the pipeline's inner one), each a table over one kernel."""

from typing import Any

from detent.kernel.table import Table


def all_tables() -> dict[str, Table[Any]]:
    """Every table by its name."""
    from detent.workflows.execute import EXECUTE
    from detent.workflows.pipeline import PIPELINE
    from detent.workflows.pr import PR
    from detent.workflows.task import TASK
    from detent.workflows.tdd import TDD

    return {t.name: t for t in (PR, TDD, EXECUTE, PIPELINE, TASK)}
