"""Which tests notice nothing: those that fail for no small change, and that are no row of a table whose other rows do."""

from collections.abc import Callable, Iterator
from functools import cache

from detent.evidence.probes.context import ProbeContext
from detent.evidence.source.js_test_tables import table_of, tables
from detent.evidence.source.test_ids import family

Table = Callable[[str], str]  # of a test: the table that made it, or nothing


def vacuous_of(tests: frozenset[str], killed: frozenset[str], table: Table = lambda test: "") -> tuple[str, ...]:
    """The tests that fail for no small change. A row that pins, beside others of its table that fail, belongs to a test that notices."""
    heeding = {name for test in killed for name in _belongs_to(test, table)}
    return tuple(sorted(test for test in tests - killed if heeding.isdisjoint(_belongs_to(test, table))))


def _belongs_to(test: str, table: Table) -> Iterator[str]:
    yield family(test)
    if made_by := table(test):
        yield made_by


def table_in(context: ProbeContext) -> Table:
    """How the table of a test is found: by the text of its file, as the tree has it."""

    @cache
    def of(path: str) -> Callable[[str], int | None]:
        found = tables(path, context.text(path))
        return lambda test: table_of(test, found)

    def table(test: str) -> str:
        path = test.partition("::")[0]
        number = of(path)(test)
        return "" if number is None else f"{path} table {number}"

    return table
