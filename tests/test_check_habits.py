"""`detent check` and the habits of projects that nobody here wrote: what tests share, tests that hang, tests without a value, scripts around the runner."""

import json
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from detent.blocks.check_card import clickable
from detent.errors import CannotTell
from detent.evidence.looks.exit_code import better_command, telling_lines
from detent.evidence.mutate.test_calls import asked
from detent.evidence.outcomes.card import Card
from detent.evidence.outcomes.shared_test_files import flag_shared_files, out_of_reach, speaks_of
from detent.evidence.probes.vacuous_tests import vacuous_of
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command
from detent.evidence.runners.javascript.vitest import REPORTER
from detent.evidence.runners.tap import read_points
from detent.evidence.source.changed_tests import standing_otherwise
from detent.evidence.source.diff import Changed
from tests.dialects import PACKAGES
from tests.project import INI
from tests.test_check import BASE, PROVED, Branch

CALC = "def half(n):\n    return n / 2\n"
THIRD = CALC + "\n\ndef third(n):\n    return n / 3\n"
ASKS = "from helpers import same\n\nfrom calc import half\n\n\ndef test_half():\n    same(half(4), 2)\n"
NEW = "from calc import third\n\n\ndef test_third():\n    assert third(9) == 3\n"
SHARED = {
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n",
    "calc.py": CALC,
    "tests/helpers.py": "def same(a, b):\n    assert a == b\n",
    "tests/test_half.py": ASKS,
}
HALF_JS = "module.exports = (n) => n / 2;\n"
SOFT = "def same(a, b):\n    assert type(a) is not str\n"
JS = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "calc.js": "export const half = n => n / 2\n",
    "test/same.js": "import assert from 'node:assert'\nexport const same = (a, b) => assert.strictEqual(a, b)\n",
    "test/half.test.js": "import test from 'node:test'\nimport { same } from './same.js'\nimport { half } from '../calc.js'\n"
    "test('halves', () => {\n  same(half(4), 2)\n})\n",
}
JS_NEW = {
    "test/third.test.js": "import test from 'node:test'\nimport assert from 'node:assert'\nimport { third } from '../calc.js'\n"
    "test('thirds', () => {\n  assert.strictEqual(third(9), 3)\n})\n",
}
PROBED = {"DETENT_EVIDENCE_MUTATION": "warn", "DETENT_EVIDENCE_SECONDS": "600"}  # however busy the machine is
JS_THIRD = "export const third = n => n / 3\n"


def kinds(found: dict[str, object]) -> set[str]:
    flags = found["flags"]
    assert isinstance(flags, list)
    return {flag["kind"] for flag in flags if flag["level"] == "ask"}


# -- what tests share ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_helper_that_hides_a_regression_is_shown(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", SHARED)
    p.commit({"calc.py": THIRD.replace("n / 2", "n / 2 + 1"), "tests/helpers.py": SOFT, "tests/test_third.py": NEW})
    found = p.run("check", "--json").json
    assert found["answer"] != "clean" and (found["failed"] or "rewritten-test" in kinds(found)), found
    said = [flag for flag in found["flags"] if flag["kind"] == "rewritten-test"]
    assert any(flag["place"].startswith("tests/helpers.py:") and "test_half" in flag["says"] for flag in said), found


@pytest.mark.slow
def test_a_helper_that_asks_for_less_weakens_the_tests_that_use_it(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", SHARED)
    p.commit({"calc.py": THIRD, "tests/helpers.py": SOFT, "tests/test_third.py": NEW})
    found = p.run("check", "--json").json
    assert found["answer"] == "failed" and any("test_half is weakened" in said for said in found["failed"]), found


@pytest.mark.slow
def test_a_helper_that_asks_for_more_is_left_alone(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", SHARED)
    more = "def same(a, b):\n    assert type(a) is not str\n    assert a == b, f'{a} is not {b}'\n\n\ndef near(a, b):\n    assert abs(a - b) < 1\n"
    p.commit({"calc.py": THIRD, "tests/helpers.py": more, "tests/test_third.py": NEW})
    assert p.run("check").code == 0


@pytest.mark.slow
@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("code", "helper", "why"),
    [
        ("export const half = n => n / 2 + 1\n", "export const same = () => {}\n", "rewritten-test"),
        ("export const half = n => n / 2\n", "export const same = () => {}\n", "weakened"),
    ],
)
def test_in_javascript_too(tmp_path: Path, code: str, helper: str, why: str) -> None:
    p = Branch(tmp_path / "p", JS)
    p.commit({"calc.js": code + JS_THIRD, "test/same.js": helper, **JS_NEW})
    found = p.run("check", "--json").json
    assert why in f"{found['failed']} {kinds(found)}", found


def test_what_stands_above_all_tests_is_part_of_each() -> None:
    old = "import test from 'node:test'\nconst assert = require('assert')\n\ntest('a', () => {\n  assert.equal(f(), 1)\n})\n"
    assert standing_otherwise("a.test.js", old, old.replace("require('assert')", "{ equal() {} }")) == {"a"}
    assert standing_otherwise("a.test.js", old, f"const it = name => test(name, () => {{}})\n{old}") == {"a"}
    assert not standing_otherwise("a.test.js", old, f"import {{ g }} from './g.js'\nconst h = require('h')\n// why\n{old}")
    assert not standing_otherwise("a.test.js", f"import {{ f }} from './f.js'\n{old}", f"import {{ f, g }} from './f.js'\n{old}")
    go = 'package a\n\nimport (\n\t"testing"\n)\n\nfunc same(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a)\n\t}\n}\n\nfunc TestA(t *testing.T) {}\n'
    assert standing_otherwise("a_test.go", go, go.replace("t.Fatal", "t.Log")) == {"TestA"}
    assert not standing_otherwise("a_test.go", go, go.replace('"testing"', '"strings"\n\t"testing"'))


def test_who_uses_a_helper_is_known_by_its_name() -> None:
    assert speaks_of("const match = require('./support/match')", "test/support/match.js")
    assert speaks_of("from tests.support import same", "tests/support/__init__.py") and not speaks_of("import matching", "test/match.js")


def test_one_flag_names_the_tests_and_shows_both_versions() -> None:
    patch = b"--- a/tests/data.json\n+++ b/tests/data.json\n@@ -3 +3 @@\n-19\n+20\n"
    (flag,) = flag_shared_files(patch, ("tests/data.json",), ("a.py::test_b", "a.py::test_c"), alone=True)
    assert (flag.place, flag.before, flag.after, flag.level) == ("tests/data.json:3", "19", "20", "ask")
    assert "a.py::test_b and 1 more" in flag.sentence


# -- tests that hang, tests without a value, rows that pin -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hang_that_the_change_ends_is_a_proof(tmp_path: Path) -> None:
    hangs = "def drain(items):\n    while items:\n        pass\n    return items\n"
    p = Branch(tmp_path / "p", {**BASE, "queue_.py": hangs})
    asks = "from queue_ import drain\n\n\ndef test_drain():\n    assert drain([1, 2]) == []\n"
    p.commit({"queue_.py": hangs.replace("pass", "items.pop()"), "tests/test_drain.py": asks})
    found = p.run("check", "--json").json
    assert found["proved"] == ["tests/test_drain.py::test_drain"] and not found["unclear"], found
    assert any("do not finish" in flag["says"] and flag["level"] == "note" for flag in found["flags"]), found


@pytest.mark.slow
def test_a_test_that_compares_two_answers_looks_at_them(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "words.py": "def low(text):\n    return text\n"})
    asks = "from words import low\n\n\ndef test_low():\n    assert low('A') == low('a')\n"
    p.commit({"words.py": "def low(text):\n    return text.lower()\n", "tests/test_low.py": asks})
    found = p.run("check", "--json", **PROBED).json
    assert found["proved"] and "vacuous-test" not in kinds(found), found


def test_a_row_that_pins_belongs_to_a_test_that_notices() -> None:
    rows = frozenset({"a_test.go::TestDepth/#00", "a_test.go::TestDepth/#01", "t.py::test_a[1]", "t.py::test_a[2]", "t.py::test_b"})
    assert vacuous_of(rows, frozenset({"a_test.go::TestDepth/#01", "t.py::test_a[2]"})) == ("t.py::test_b",)


@pytest.mark.slow
def test_a_row_with_a_title_in_free_words_belongs_to_its_table(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", JS)
    asks = (
        "import test from 'node:test'\nimport assert from 'node:assert'\nimport { shout } from '../calc.js'\n"
        "const rows = [['a word', 'low', 'LOW'], ['nothing at all', '', ''], ['loud already', 'LOW', 'LOW']]\n"
        "for (const [title, text, said] of rows) {\n  test(title, () => {\n    assert.match(String(shout(text)), RegExp(said))\n  })\n}\n"
    )
    shout = "export function shout (text) {\n  return text.toUpperCase()\n}\n"
    p.commit({"calc.js": JS["calc.js"] + shout, "test/shout.test.js": asks})
    found = p.run("check", "--json", **PROBED).json
    assert len(found["proved"]) == 3 and not kinds(found), found


HALVES = (
    "import test from 'node:test'\nimport assert from 'node:assert'\nimport { half } from '../calc.js'\n"
    "test('halves four', () => {\n  assert.strictEqual(half(4), 2)\n})\ntest('halves six', () => {\n  assert.strictEqual(half(6), 3)\n})\n"
)
HALVES_TABLE = (
    "import test from 'node:test'\nimport assert from 'node:assert'\nimport { half, third } from '../calc.js'\n"
    "for (const [n, said] of [[4, 2], [6, 3], [8, 4]]) {\n  test(`half of ${n}`, () => {\n    assert.strictEqual(half(n), said)\n  })\n}\n"
    "test('thirds', () => {\n  assert.strictEqual(third(9), 3)\n})\n"
)


@pytest.mark.parametrize(
    ("asks", "failed"),
    [
        (HALVES_TABLE, ()),
        (
            HALVES_TABLE.replace("half(n), said", "'n', typeof n === 'n' ? half(n) : 'n'"),
            ("test/half.test.js::halves four is gone, and its replacement",),
        ),
        (HALVES_TABLE.replace("half(n), said", "third(n * 3), n"), ("test/half.test.js::halves four is gone, but would still pass",)),
    ],
)
@pytest.mark.slow
def test_tests_may_become_rows_of_a_table_that_notices_as_much(tmp_path: Path, asks: str, failed: tuple[str, ...]) -> None:
    p = Branch(tmp_path / "p", {**JS, "test/half.test.js": HALVES})
    p.commit({"calc.js": JS["calc.js"] + JS_THIRD, "test/half.test.js": asks})
    found = p.run("check", "--json", **PROBED).json
    assert not kinds(found) and bool(found["failed"]) == bool(failed), found
    assert all(any(says.startswith(said) for says in found["failed"]) for said in failed), found


@pytest.mark.slow
def test_a_table_that_notices_less_than_the_tests_before_it_is_shown(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**JS, "test/half.test.js": HALVES})
    p.commit(
        {"calc.js": JS["calc.js"] + JS_THIRD, "test/half.test.js": HALVES_TABLE.replace("half(n), said", "typeof half(n), 'number', said")}
    )
    found = p.run("check", "--json", **PROBED).json
    assert kinds(found) == {"rewritten-test"} and any(
        "halves four is gone; test/half.test.js::half of 4" in each["says"] for each in found["flags"]
    )


def changed(*paths: str, sort: Literal["test", "production", "config"] = "test") -> tuple[Changed, ...]:
    return tuple(Changed(path, "modified", sort) for path in paths)


@pytest.mark.parametrize(
    ("changes", "texts", "flaky"),
    [
        (changed("test/a.js"), {"test/b.js": "import '../queue.js'"}, True),
        (changed("test/a.js"), {"test/b.js": "import { rows } from './a.js'"}, False),
        (changed("test/a.js", "test/rows.json"), {"test/b.js": ""}, False),  # whoever reads it
        ((*changed("test/a.js"), *changed("jest.config.js", sort="config")), {"test/b.js": ""}, False),
        (changed("a_test.go"), {"b_test.go": ""}, False),  # they are built as one
        (changed("tests/test_a.py"), {"tests/test_b.py": "from tests.test_a import rows"}, False),
        (changed("tests/test_a.py"), {"tests/test_b.py": "from queue_ import a"}, True),
    ],
)
def test_a_test_that_the_change_cannot_reach_is_no_proof_of_it(changes: tuple[Changed, ...], texts: dict[str, str], flaky: bool) -> None:
    tests = {f"{file}::waits": file for file in texts}
    holding = {*texts, "test/a.js", "a_test.go", "tests/test_a.py"}
    assert bool(out_of_reach(tests, (*changes, *changed("queue.js", sort="production")), holding, texts.__getitem__)) == flaky


def test_a_title_with_a_colon_is_shown_whole() -> None:
    card = Card("base", "tip", places={"test/a.js::adds - at once: 1": "test/a.js:3", "calc.py: half": "calc.py:1"})
    assert clickable("test/a.js::adds - at once: 1", card) == "test/a.js:3 adds - at once: 1"
    assert clickable("calc.py: half", card) == "calc.py:1 half"


def test_what_npm_says_of_itself_is_not_why_a_command_failed() -> None:
    said = "3 specs, 1 failure\nnpm notice\nnpm notice New minor version of npm available!\n"
    assert telling_lines(TestReport(command="npm test", output=said)) == ["3 specs, 1 failure"]


# -- commands of which only an exit code is read -----------------------------------------------------------------------------------


def test_a_command_that_fails_on_both_sides_proves_nothing(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "run.sh": "echo no such database\nexit 3\n", "detent.toml": "[test]\ncommand = 'sh run.sh'\n"})
    p.commit(PROVED)
    ran = p.run("check")
    assert ran.code == 4 and "no such database" in ran.out and "DETENT_TEST_COMMAND" in ran.out, ran


def test_a_wrapped_runner_is_named_with_the_line_that_reads_it() -> None:
    package = '{"scripts": {"test": "node build.js && vitest run"}, "devDependencies": {"vitest": "4"}}'
    assert better_command(Command(("sh", "-c", "npm test")), package) == "npx vitest run"
    assert not better_command(Command(("sh", "-c", "npm test")), "{}") and not better_command(None, package)


# -- reports and tests as other people write them ----------------------------------------------------------------------------------


def test_what_tape_says_above_its_points_is_their_name() -> None:
    said = b"TAP version 13\n# parse\nok 1 should be equal\nnot ok 2 should be equal\n  ---\n    at: x\n  ...\n# join\nok 3 join\n\n1..3\n# tests 3\n# pass  2\n"
    assert [(point.names, point.outcome) for point in read_points(said)] == [
        (("parse", "should be equal"), "passed"),
        (("parse", "should be equal"), "failed"),
        (("join",), "passed"),
    ]
    plain = b"TAP version 14\nok 1 - a\n# a diagnosis\nok 2 - b\n1..2\n"
    assert [(point.names, point.details) for point in read_points(plain)] == [(("a",), "a diagnosis"), (("b",), "")]


def test_a_process_that_failed_because_its_tests_did_is_no_failure_of_its_own() -> None:
    ava = "TAP version 13\nok 1 - a\nnot ok 2 - b\nnot ok 3 - unhandled-rejection\nnot ok 4 - test.js exited with a non-zero exit code: 1\n\n1..2\n"
    assert [point.names for point in read_points(ava.encode())] == [("a",), ("b",)]
    assert len(read_points(ava.replace("not ok 2", "ok 2").encode())) == 4


def test_failures_beside_the_plan_are_failures_and_nothing_else_may_stand_beside_it() -> None:
    ava = b"TAP version 13\nok 1 - a\nnot ok 2 - test.js exited with a non-zero exit code: 1\n\n1..1\n# tests 1\n"
    assert [point.outcome for point in read_points(ava)] == ["passed", "failed"]
    for said in (ava.replace(b"not ok 2", b"ok 2"), ava.replace(b"1..1", b"1..3")):
        with pytest.raises(CannotTell, match="incomplete"):
            read_points(said)


ASKED = """import unittest
from words import slug, cut  # no mock


class TestSlug(unittest.TestCase):
    def test_named(self):
        text = "One Two"
        found = slug(text, sep="_")
        self.assertEqual(found, "one_two")

    def test_inside(self):
        from words.more import short
        self.assertEqual(short("abc", 2), "ab")

    def test_two(self):
        first = slug("a")
        second = cut("b")
        self.assertEqual(second, "b")
"""


def test_what_unittest_asks_can_be_asked_without_a_test() -> None:
    found = asked(ASKED, [f"t.py::TestSlug::{name}" for name in ("test_named", "test_inside", "test_two")])
    assert [(call.call, call.wanted, call.imports) for call in found] == [
        ("slug('One Two', sep='_')", "'one_two'", "from words import slug, cut"),
        ("short('abc', 2)", "'ab'", "from words.more import short"),
    ], "what another call did before may decide an answer"
    assert asked(ASKED.replace("def test_two", "def setUp"), ["t.py::TestSlug::test_named"]) == []


# -- vitest before 3, which hands over plain tasks; as its 1.6.1 said of a real project -----------------------------------------------

TASKS = """
import Report from %s;
const report = new Report();
report.onInit({ version: '1.6.1', config: {} });
const failed = { state: 'fail', errors: [{ name: 'AssertionError', message: 'expected 1 to be 2' }], duration: 3 };
const tasks = [
  { type: 'suite', name: 'case', mode: 'run', result: { state: 'fail' }, tasks: [
    { type: 'test', name: 'keeps', mode: 'run', result: { state: 'pass', duration: 1 } },
    { type: 'test', name: 'turns', mode: 'run', result: failed } ] },
  { type: 'test', name: 'later', mode: 'todo' },
  { type: 'test', name: 'ends', mode: 'run' },
];
await report.onFinished([{ type: 'suite', name: 'test/a.test.ts', filepath: process.cwd() + '/test/a.test.ts', mode: 'run', result: { state: 'fail' }, tasks }]);
"""


@pytest.mark.needs("node")
def test_tasks_of_an_older_vitest_are_read(tmp_path: Path) -> None:
    (report := tmp_path / "report").touch()
    (tmp_path / "say.mjs").write_text(TASKS % json.dumps(REPORTER.as_uri()))
    subprocess.run(["node", "say.mjs", f"--outputFile={report}"], cwd=tmp_path, check=True)
    found = RUNNERS["vitest"].read(report.read_bytes(), 1, "")
    assert {test.partition("::")[2]: outcome for test, outcome in found.outcomes.items()} == {
        "case > keeps": "passed", "case > turns": "failed", "later": "skipped", "ends": "error"
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.needs("runners_js")
def test_a_runner_that_cannot_start_for_want_of_a_built_file_names_the_file_and_the_way_on(tmp_path: Path) -> None:
    test = "const half = require('../built');\nit('halves', () => { if (half(4) !== 2) throw new Error('no'); });\n"
    manifest = '{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "*"}}'
    ignored = "built.js\nnode_modules\n"
    p = Branch(tmp_path / "p", {"package.json": manifest, "half.js": HALF_JS, "test/half.test.js": test, ".gitignore": ignored})
    (p.root / "node_modules").symlink_to(PACKAGES)
    p.write({"built.js": HALF_JS})
    p.commit({"half.js": HALF_JS.replace("n / 2", "n * 0.5")})
    unclear = p.run("check", "--json").json["unclear"]
    assert "Cannot find module '../built'" in unclear and "\n    at " not in unclear, unclear
    assert '[workspace] copy = ["built.js"]' in unclear, unclear
