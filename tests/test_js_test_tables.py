"""Rows of one table in JavaScript: known by the call that makes them, whatever words their titles have."""

from typing import cast

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.mutant_order import Mutant
from detent.evidence.probes.test_probes import Clock, _try
from detent.evidence.probes.vacuous_tests import vacuous_of
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collects
from detent.evidence.running.suite import Suite
from detent.evidence.source.js_test_tables import table_of, tables
from detent.git.repo import Git

FILE = "test/words.test.ts"
CALLS = {
    "it.each": ("it.each([['FooBar', 'a'], ['', '']])('%s => %s', (input, out) => { expect(f(input)).toBe(out) })", "A => b"),
    "a template of rows": ("test.each`\n  a | b\n  ${'x'} | ${1}\n`('$a => $b', ({ a, b }) => { expect(f(a)).toBe(b) })", "A => b"),
    "typed rows": ("it.only.each<[string, Map<string, number>]>(rows)('%s => %s', (a, b) => {})", "A => b"),
    "vitest's for": ("it.for(rows)('%s => %s', ([a, b]) => {})", "A => b"),
    "a loop": ("for (const [a, b] of rows) {\n  test(`${a} => ${JSON.stringify({ b })}`, () => { assert.equal(f(a), b) })\n}", "A => {}"),
    "forEach": ("rows.forEach(row => it(row.a + ' => ' + row.b, () => { assert.equal(f(row.a), row.b) }))", "A => b"),
    "a helper": ("const check = (title: string, a: string) => it(title, () => { assert.ok(f(a)) })", "any words"),
    "a test in a test": ("test('all', async t => { for (const [a, b] of rows) await t.test(`${a} => ${b}`, () => {}) })", "all > A => b"),
    "a group of rows": ("describe.each(rows)('of %s', (a) => { it('goes', () => {}) })", "of A > goes"),
}


@pytest.mark.parametrize(("call", "row"), CALLS.values(), ids=CALLS.keys())
def test_rows_of_one_table_are_known(call: str, row: str) -> None:
    found = tables(FILE, f"import {{ f }} from './f'\nit('is plain', () => {{}})\n{call}\n")
    assert table_of(f"{FILE}::{row}", found) is not None
    assert table_of(f"{FILE}::is plain", found) is None


def test_tables_are_told_apart_by_what_they_lie_in() -> None:
    text = "\n".join(f"describe('{name}', () => {{ it.each(rows)('%s', () => {{}}) }})" for name in ("low", "high"))
    found = tables(FILE, text)
    low, high = table_of(f"{FILE}::low > a", found), table_of(f"{FILE}::high > a", found)
    assert low is not None and high is not None and low != high


@pytest.mark.parametrize(
    "text",
    [
        "it.each(one)('%s', () => {})\nit.each(other)('%s', () => {})",  # either could have made it
        "it('a', () => {})\nit('b', () => {})",
        "const fine = /a/.test(name), good = pattern.test(name)\nif (test(name)) { }",
        "test.beforeEach(context, () => {})",
    ],
)
def test_no_table_is_made_up(text: str) -> None:
    assert table_of(f"{FILE}::a", tables(FILE, text)) is None


def test_a_row_that_notices_answers_for_its_table_and_for_no_other_test() -> None:
    tests = frozenset(f"{FILE}::{name}" for name in ("one", "two", "left alone"))
    found = tables(FILE, "it.each(rows)('%s', () => {})\nit('left alone', () => {})")

    def table(test: str) -> str:
        return "" if table_of(test, found) is None else "table"

    assert vacuous_of(tests, frozenset({f"{FILE}::one"}), table) == (f"{FILE}::left alone",)
    assert vacuous_of(tests, frozenset(), table) == tuple(sorted(tests))


class OneRowFails:
    """A repository with one file of tests, whose first row alone notices anything."""

    suite = Suite(None, 60, "")

    def read(self, tree: str, path: str) -> bytes:
        return b"it.each(rows)('%s', () => {})\nit('left alone', () => {})"

    def probe(self, *asked: object) -> TestReport:
        return TestReport(outcomes={f"{FILE}::one": "failed", f"{FILE}::two": "passed", f"{FILE}::left alone": "passed"})


def test_a_step_is_asked_about_its_tables_in_the_same_way() -> None:
    world = OneRowFails()
    context = ProbeContext(
        cast(Git, world), cast(Collects, world), lambda: True, lambda path: "test", "tree", ReferenceTrees("good", (), "base"), ()
    )
    new = frozenset(f"{FILE}::{name}" for name in ("one", "two", "left alone"))
    mutants = [Mutant("f.ts", "f", lambda: "return 7")] * 3
    seen = _try(context, mutants, (FILE,), new, {}, Clock(context.clock() + 60, 60, context.clock))
    assert seen.idle == (f"{FILE}::left alone",)
