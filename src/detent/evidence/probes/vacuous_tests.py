"""Vacuous tests: those that kill no mutant and are not rows of a table whose other rows do."""

from collections.abc import Callable, Iterator
from functools import cache

from detent.evidence.probes.context import ProbeContext
from detent.evidence.source.js_test_tables import table_of, tables
from detent.evidence.source.test_ids import family

Table = Callable[[str], str]  # from a test to the table it is a row of, or nothing


def vacuous_of(tests: frozenset[str], killed: frozenset[str], table: Table = lambda test: "") -> tuple[str, ...]:
    """The tests that kill no mutant, except rows of a table in which another row kills one."""
    heeding = {name for test in killed for name in _belongs_to(test, table)}
    return tuple(sorted(test for test in tests - killed if heeding.isdisjoint(_belongs_to(test, table))))


def _belongs_to(test: str, table: Table) -> Iterator[str]:
    yield family(test)
    if made_by := table(test):
        yield made_by


def table_in(context: ProbeContext) -> Table:
    """A function that finds the table of a test by the text of its file in the judged tree."""

    @cache
    def of(path: str) -> Callable[[str], int | None]:
        found = tables(path, context.text(path))
        return lambda test: table_of(test, found)

    def table(test: str) -> str:
        path = test.partition("::")[0]
        number = of(path)(test)
        return "" if number is None else f"{path} table {number}"

    return table
