"""Vacuous tests: those that kill no mutant and are not rows of a table whose other rows do."""

from collections.abc import Callable, Collection, Iterator
from functools import cache

from detent.evidence.mutate.passed_on import passed_on
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.mutant_order import changed_text, is_tried
from detent.evidence.source.file_text import bytes_of
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
    """A function that finds the table of a test by the text of its file in the judged tree.

    In TAP, each assertion is a point of its own: those of one test count together."""
    base = context.collect.suite.base
    in_tap = base is not None and base.report.endswith(".tap")

    @cache
    def of(path: str) -> Callable[[str], int | None]:
        found = tables(path, context.text(path))
        return lambda test: table_of(test, found)

    def table(test: str) -> str:
        path = test.partition("::")[0]
        number = of(path)(test)
        return f"{path} table {number}" if number is not None else test.rpartition(" > ")[0] if in_tap else ""

    return table


def still_vacuous(context: ProbeContext, idle: Collection[str], files: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    """Of these tests, those that do not fail either once the handlers of the change pass on what they caught: the others want no error to come."""
    overlay = dict[str, bytes]()
    for change in context.changed if idle else ():
        if is_tried(context, change):
            text, lines = changed_text(context, change.path)
            if (made := passed_on(change.path, text, lines)) != text:
                overlay[change.path] = bytes_of(made)
    report = context.run(files, overlay, seconds) if overlay else None
    failed = frozenset() if report is None or report.late else report.bad - frozenset(report.files.values())
    return vacuous_of(frozenset(idle), failed, table_in(context))
