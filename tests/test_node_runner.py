"""The node adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from tests.machine import need_runner
from tests.repos import write

NODE = RUNNERS["node"]
BASE = Command(("node", "--test"), "node", "npm")

MANY = """
import { test, describe, it, before, after, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { shared } from './shared.js';

test('passes', () => {});
test('asserts', () => { assert.equal(1, 2, 'no'); });
test('raises', () => { throw new RangeError('r'); });
test('throws words', () => { throw 'words'; });
test('grün "quoted" <tag> & more', () => {});
test('two\\nlines', () => {});
test('same', () => {});
test('same', () => { assert.ok(false); });
test('rejects', async () => { await Promise.reject(new Error('later')); });
test('takes too long', { timeout: 30 }, async () => { await new Promise((r) => setTimeout(r, 400)); });
test('wants more checks', (t) => { t.plan(2); });
test('parent', async (t) => { await t.test('good', () => {}); await t.test('bad', () => { assert.ok(false); }); });
test('parent itself', async (t) => { await t.test('good', () => {}); assert.ok(false); });
test('does not wait', (t) => { t.test('child', async () => { await new Promise((r) => setTimeout(r, 50)); }); });
test.skip('skipped', () => {});
test('skipped for a reason', { skip: 'not now' }, () => {});
test('skips itself', (t) => { t.skip('inside'); });
test.todo('to do');
test('may fail', { todo: true }, () => { assert.ok(false); });
test.only('only', () => {});
describe('suite', () => {
  it('in', () => {});
  describe('deeper', () => { it('in', () => { assert.ok(false); }); shared(); });
});
describe('set-up fails', () => { before(() => { throw new Error('up'); }); it('a', () => {}); it('b', () => {}); });
describe('set-up needs a name', () => { before(() => { notThereYet(); }); it('a', () => {}); });
describe('each set-up fails', () => { beforeEach(() => { throw new Error('each'); }); it('a', () => {}); });
describe('clean-up fails', () => { after(() => { throw new Error('down'); }); it('a', () => {}); });
describe('body fails', () => { it('a', () => {}); throw new Error('body'); });
describe('fails with nothing in it', () => { throw new Error('empty'); });
describe.skip('left out', () => { it('a', () => {}); });
describe('empty', () => {});
"""

NAMES = """
import test from 'node:test';
import assert from 'node:assert';
import * as code from '../src/code.js';
class Thing {}
test('name', () => { notThereYet(1); });
test('module', async () => { await import('./not_there_yet.js'); });
test('package', async () => { await import('not-there-yet'); });
test('export', () => { code.notThereYet(); });
test('method', () => { new Thing().notThereYet(); });
test('static', () => { Thing.notThereYet(); });
test('class', () => { new code.NotThereYet(); });
test('heir', () => { class Heir extends code.NotThereYet {} });
test('of undefined', () => { code.notThereYet.deeper(); });
test('too early', () => { early; let early = 1; });
test('a value that is none', () => { [1].map(undefined); });
test('said by hand', () => { throw new ReferenceError('x'); });
test('of another kind', () => { throw new Error('x is not defined'); });
test('assertion after import', async () => { try { await import('./not_there_yet.js'); } catch { assert.ok(false); } });
"""

PROJECT = {
    "package.json": '{"type": "module"}',
    "src/code.js": "export const there = 1;\n",
    "src/old.cjs": "module.exports = { there: 1 };\n",
    "test/many.js": MANY,
    "test/names.test.js": NAMES,
    "test/shared.js": "import { it } from 'node:test';\nexport const shared = () => it('from elsewhere', () => {});\n",
    "test/syntax.test.js": "const x = (;\n",
    "test/no_module.test.js": "import { x } from '../src/not_there_yet.js';\n",
    "test/no_package.test.js": "import x from 'not-there-yet';\n",
    "test/no_export.test.js": "import { notThereYet } from '../src/code.js';\n",
    "test/no_default.test.mjs": "import notThereYet from '../src/code.js';\n",
    "test/no_export_of_old.test.js": "import { notThereYet } from '../src/old.cjs';\n",
    "test/no_old_module.test.cjs": "require('./not_there_yet.cjs');\n",
    "test/no_old_name.test.cjs": "const { notThereYet } = require('../src/old.cjs');\nnotThereYet();\n",
    "test/raises.test.js": "throw new Error('at import');\n",
    "test/raises_words.test.js": "throw 'at import';\n",
    "test/prints_a_name.test.js": "console.error('ReferenceError: x is not defined');\nthrow new RangeError('at import');\n",
    "test/no_tests.test.js": "console.log('TAP version 13\\nok 1 - forged\\n1..1');\n",
    "test/exits.test.js": "import test from 'node:test';\ntest('a', () => {});\nprocess.exit(0);\n",
    "test/exits_with_1.test.js": "import test from 'node:test';\ntest('a', () => {});\nprocess.on('exit', () => { process.exitCode = 7; });\n",
    "test/is_killed.test.js": "process.kill(process.pid, 'SIGKILL');\n",
    "test/late.test.js": "import test from 'node:test';\ntest('a', () => { setTimeout(() => { throw new Error('late'); }, 5); });\n",
    "test/set_up.test.js": "import test, { before } from 'node:test';\nbefore(() => { notThereYet(); });\ntest('a', () => {});\n",
    "test/deep/er.js": "import test from 'node:test';\ntest('a', () => {});\n",
    "src/beside.test.js": "import test from 'node:test';\ntest('a', () => {});\n",
    "src/plain.js": "import test from 'node:test';\ntest('a', () => {});\n",
    "node_modules/dep/x.test.js": "import test from 'node:test';\ntest('a', () => {});\n",
}  # fmt: skip
NEW = bool(
    re.match(r"v(2[4-9]|[3-9]\d)\.", subprocess.getoutput("node --version"))
)  # it waits for a test within a test, and for a promise that nothing keeps
if not NEW:
    PROJECT["test/never_ends.test.js"] = (
        "import test from 'node:test';\ntest('a', async () => { await new Promise(() => {}); });\ntest('b', () => {});\n"
    )


def play(root: Path, *selectors: str, base: Command = BASE) -> tuple[bytes | None, int, str]:
    """The machine's own call of real node: the report, the exit code, the output."""
    need_runner("node")
    report = root.parent / f"{root.name}-report"
    report.unlink(missing_ok=True)
    argv = NODE.argv(base, selectors, str(report), Folder(root))
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(argv, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return report.read_bytes() if report.exists() else None, done.returncode, done.stdout


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    return NODE.read(*play(root, *selectors, base=base))


def made(folder: Path, files: dict[str, str]) -> Path:
    write(folder, {"package.json": '{"type": "module"}', **files})
    return folder


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = made(tmp_path_factory.mktemp("node-runner") / "project", PROJECT)
    return run(root), root


OUTCOMES = {
    "test/many.js::passes": "passed",
    "test/many.js::asserts": "failed",
    "test/many.js::raises": "failed",
    "test/many.js::throws words": "failed",
    'test/many.js::grün "quoted" <tag> & more': "passed",
    "test/many.js::two\\nlines": "passed",
    "test/many.js::same": "passed",
    "test/many.js::same (2)": "failed",
    "test/many.js::rejects": "failed",
    "test/many.js::takes too long": "failed",
    "test/many.js::wants more checks": "failed",
    "test/many.js::parent > good": "passed",
    "test/many.js::parent > bad": "failed",
    "test/many.js::parent": "passed",
    "test/many.js::parent itself > good": "passed",
    "test/many.js::parent itself": "failed",
    "test/many.js::does not wait > child": "passed" if NEW else "error",
    "test/many.js::does not wait": "passed",
    "test/many.js::skipped": "skipped",
    "test/many.js::skipped for a reason": "skipped",
    "test/many.js::skips itself": "skipped",
    "test/many.js::to do": "skipped",
    "test/many.js::may fail": "skipped",
    "test/many.js::only": "passed",
    "test/many.js::suite > in": "passed",
    "test/many.js::suite > deeper > in": "failed",
    "test/many.js::suite > deeper > from elsewhere": "passed",
    "test/many.js::set-up fails > a": "error",
    "test/many.js::set-up fails > b": "error",
    "test/many.js::set-up needs a name > a": "error",
    "test/many.js::each set-up fails > a": "error",
    "test/many.js::clean-up fails > a": "error",
    "test/many.js::body fails > a": "error",
    "test/many.js::fails with nothing in it": "error",
    "test/many.js::left out": "skipped",
    "test/syntax.test.js": "error",
    "test/no_module.test.js": "error",
    "test/no_package.test.js": "error",
    "test/no_export.test.js": "error",
    "test/no_default.test.mjs": "error",
    "test/no_export_of_old.test.js": "error",
    "test/no_old_module.test.cjs": "error",
    "test/no_old_name.test.cjs": "error",
    "test/raises.test.js": "error",
    "test/raises_words.test.js": "error",
    "test/prints_a_name.test.js": "error",
    "test/exits_with_1.test.js::a": "passed",
    "test/exits_with_1.test.js": "error",
    "test/is_killed.test.js": "error",
    **({} if NEW else {"test/never_ends.test.js::a": "error", "test/never_ends.test.js::b": "error"}),
    "test/late.test.js::a": "passed",
    "test/late.test.js": "error",
    "test/set_up.test.js::a": "error",
    "test/deep/er.js::a": "passed",
    "src/beside.test.js::a": "passed",
}


@pytest.mark.slow
def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    assert {i: o for i, o in big[0].outcomes.items() if not i.startswith("test/names")} == OUTCOMES


def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    assert sorted(big[0].missing_names) == [
        "test/many.js::set-up needs a name > a",
        "test/names.test.js::class",
        "test/names.test.js::export",
        "test/names.test.js::heir",
        "test/names.test.js::method",
        "test/names.test.js::module",
        "test/names.test.js::name",
        "test/names.test.js::package",
        "test/names.test.js::static",
        "test/no_default.test.mjs",
        "test/no_export.test.js",
        "test/no_export_of_old.test.js",
        "test/no_module.test.js",
        "test/no_old_module.test.cjs",
        "test/no_old_name.test.cjs",
        "test/no_package.test.js",
        "test/set_up.test.js::a",
    ]


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        ("test/many.js::asserts", "AssertionError"),
        ("test/many.js::wants more checks", "AssertionError"),
        ("test/many.js::raises", "RangeError"),
        ("test/many.js::throws words", "Thrown"),
        ("test/many.js::takes too long", "testTimeoutFailure"),
        *([] if NEW else [("test/many.js::does not wait > child", "cancelledByParent")]),
        ("test/many.js::set-up fails > a", "Error"),
        ("test/many.js::set-up needs a name > a", "ReferenceError"),
        ("test/names.test.js::of undefined", "TypeError"),
        ("test/names.test.js::assertion after import", "AssertionError"),
        ("test/syntax.test.js", "SyntaxError"),
        ("test/no_export.test.js", "SyntaxError"),
        ("test/prints_a_name.test.js", "RangeError"),
        ("test/raises_words.test.js", "Exit"),
        ("test/is_killed.test.js", "Exit"),
    ],
)
def test_the_kind_of_a_failure_is_the_type_of_its_error(big: tuple[TestReport, Path], test: str, kind: str) -> None:
    assert big[0].kinds[test] == kind


def test_a_report_has_messages_files_exit_code_and_time(big: tuple[TestReport, Path]) -> None:
    report, _ = big
    assert report.messages["test/many.js::asserts"].startswith("no")
    assert report.messages["test/many.js::skipped for a reason"] == "not now"
    assert report.messages["test/many.js::clean-up fails > a"] == "down"
    assert "SIGKILL" in report.messages["test/is_killed.test.js"]
    assert report.messages["test/raises.test.js"] == "Error: at import"
    assert report.files["test/many.js::suite > deeper > from elsewhere"] == "test/many.js"
    assert set(report.files) == report.ids
    assert (report.exit_code, report.runner, report.complete) == (1, "node", True)
    assert report.seconds > 0
    assert "passes" in report.output and "\x1b" not in report.output


def test_the_machines_call_leaves_nothing_in_the_project(big: tuple[TestReport, Path]) -> None:
    root = big[1]
    assert sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()) == sorted(PROJECT)


# Selections and odd projects, each a run of its own.

ONE = "import test from 'node:test';\ntest('a', () => {});\ntest('b', () => {});\n"


def test_a_passing_project_passes(tmp_path: Path) -> None:
    report = run(made(tmp_path / "p", {"test/a.js": ONE}))
    assert (report.outcomes, report.exit_code) == ({"test/a.js::a": "passed", "test/a.js::b": "passed"}, 0)


def test_zero_tests_are_a_report_without_ids(tmp_path: Path) -> None:
    report = run(made(tmp_path / "p", {"a.js": ""}))
    assert (report.ids, report.exit_code) == (frozenset(), 0)


SELECTED: tuple[tuple[tuple[str, ...], set[str]], ...] = (
    (("test/a.js",), {"test/a.js::a", "test/a.js::b"}),
    (("test/deep",), {"test/deep/b.js::a", "test/deep/b.js::b"}),
    (("test/",), {f"test/{file}.js::{name}" for file in ("a", "deep/b") for name in "ab"}),
    ((".",), {f"test/{file}.js::{name}" for file in ("a", "deep/b") for name in "ab"} | {"src/c.test.js::a", "src/c.test.js::b"}),
    (("src",), {"src/c.test.js::a", "src/c.test.js::b"}),
    (("--test-name-pattern=^a$",), {"test/a.js::a", "test/deep/b.js::a", "src/c.test.js::a"}),
    (("test/a.js", "--test-name-pattern=^a$"), {"test/a.js::a"}),
    (("test/deep", "--test-name-pattern=^a$", "--test-name-pattern=^b$"), {"test/deep/b.js::a", "test/deep/b.js::b"}),
    (("--test-name-pattern=nothing",), set()),
    (("test/nowhere.js",), set()),
)


@pytest.mark.parametrize(("selectors", "ids"), SELECTED)
def test_a_selection_runs_what_it_names(tmp_path: Path, selectors: tuple[str, ...], ids: set[str]) -> None:
    root = made(tmp_path / "p", {"test/a.js": ONE, "test/deep/b.js": ONE, "src/c.test.js": ONE, "src/d.js": ONE})
    assert run(root, *selectors).ids == ids


@pytest.mark.parametrize(
    ("script", "ids"),
    [
        ("node --test check/", {"check/a.test.js::a", "check/a.test.js::b"}),
        ("node --test check/*.js", {"check/a.test.js::a", "check/a.test.js::b", "check/b.js::a", "check/b.js::b"}),
        ("node --test '**/*.test.{js,mjs}'", {"check/a.test.js::a", "check/a.test.js::b", "test/c.test.mjs::a", "test/c.test.mjs::b"}),
        ("MODE=x node --test --test-reporter spec --test-concurrency 1 --test-reporter=tap check/b.js", {"check/b.js::a", "check/b.js::b"}),
        ("node --test --test-name-pattern ^a check/b.js", {"check/b.js::a"}),
    ],
)
def test_a_test_script_runs_what_it_runs_under_npm(tmp_path: Path, script: str, ids: set[str]) -> None:
    files = {"check/a.test.js": ONE, "check/b.js": ONE, "test/c.test.mjs": ONE}
    root = made(tmp_path / "p", {**files, "package.json": f'{{"type": "module", "scripts": {{"test": "{script}"}}}}'})
    base = find_command(Folder(root))
    assert base is not None and (base.runner, base.source) == ("node", "npm")
    assert run(root, base=base).ids == ids
    assert run(root, "test/c.test.mjs", base=base).ids <= {"test/c.test.mjs::a", "test/c.test.mjs::b"}


def test_an_exit_in_the_middle_is_no_pass(tmp_path: Path) -> None:
    text = "import test from 'node:test';\ntest('a', async () => { await new Promise((r) => setTimeout(r, 100)); });\n"
    report = run(made(tmp_path / "p", {"test/a.js": f"{text}test('b', () => {{ process.reallyExit(0); }});\ntest('c', () => {{}});\n"}))
    assert report.exit_code == 0
    assert report.outcomes["test/a.js"] == "error" and "ended before the test" in report.messages["test/a.js"]


CANNOT_BE_TOLD = {
    "a file that the command loads and that is not there": (("node", "-r", "./not_there.cjs", "--test"), "node wrote no report: it exited with code 1"),
    "an option that node does not know": (("node", "--no-such-option", "--test"), "node wrote no report: it exited with code 9"),
    "a code that no test explains": (("node", "-r", "./exit.cjs", "--test"), "node exited with code 1, but no test in its report failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", CANNOT_BE_TOLD)
def test_where_report_and_exit_code_do_not_fit_nothing_is_told(tmp_path: Path, name: str) -> None:
    argv, sentence = CANNOT_BE_TOLD[name]
    late = "if (!process.env.NODE_TEST_CONTEXT) process.on('exit', () => { process.exitCode = 1; });\n"
    root = made(tmp_path / "p", {"test/a.js": ONE, "exit.cjs": late})
    with pytest.raises(CannotTell, match=sentence):
        run(root, base=Command(argv, "node"))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The report of a real run of two passing tests."""
    report, code, _ = play(made(tmp_path_factory.mktemp("good") / "p", {"test/a.js": ONE}))
    assert report is not None and code == 0
    return report


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b"", b"", ""),
        (b'{"type":"end"', b'{"type":"pass"', "is incomplete"),
        (b'"count":', b'"count":1', "is incomplete"),
        (b'{"type":"start"', b'{"type":"end"}\n{"type":"start"', "is incomplete"),
        (b'"type":"pass"', b'"type":"boom"', "cannot be read"),
        (b'"type":"pass","file":"test/a.js","name":"a"', b'"type":"pass","file":"test/a.js","name":"z"', "out of order"),
        (b'"file":"test/a.js"', b'"file":""', "which file"),
        (b'"name":"v', b'"name":"v12.22.0 not v', "too old"),
    ],
)
def test_a_report_that_was_changed_is_not_believed(good: bytes, old: bytes, new: bytes, sentence: str) -> None:
    changed = good.replace(old, new) if old else good
    assert (changed != good) == bool(sentence), "the change has to hit something"
    if not sentence:
        assert NODE.read(changed, 0, "").ids == {"test/a.js::a", "test/a.js::b"}
        return
    with pytest.raises(CannotTell, match=sentence):
        NODE.read(changed, 0, "")


@pytest.mark.parametrize("cut", [2, 40, 400])
def test_a_report_that_was_cut_or_grew_is_not_believed(good: bytes, cut: int) -> None:
    for text in (good[:-cut], good[cut:], good + good[:cut], b""):
        with pytest.raises(CannotTell):
            NODE.read(text, 0, "")


@pytest.mark.parametrize("code", [None, -9, 2, 7, 1])
def test_another_end_of_node_than_the_reports_is_not_believed(good: bytes, code: int | None) -> None:
    with pytest.raises(CannotTell):
        NODE.read(good, code, "")
    with pytest.raises(CannotTell, match="wrote no report"):
        NODE.read(None, code, "")


# Commands of agents.

TSX = Command(("node", "--import", "tsx", "--test", "test/unit"), "node", "npm", ("test/unit",))
NARROW = Command(("node", "--test", "--test-name-pattern=x"), "node")

ALLOWED: tuple[tuple[str, Command, tuple[str, ...]], ...] = (
    ("node --test", BASE, ()),
    ("node --test test/a.test.js", BASE, ("test/a.test.js",)),
    ("node --test ./test/a.test.js test/b", BASE, ("test/a.test.js", "test/b")),
    ("node --test --test-name-pattern 'adds two' test/a.test.js", BASE, ("test/a.test.js", "--test-name-pattern=adds two")),
    ("node --test --test-name-pattern='^a b$'", BASE, ("--test-name-pattern=^a b$",)),
    ("node --test --test-name-pattern a --test-name-pattern b", BASE, ("--test-name-pattern=a", "--test-name-pattern=b")),
    ("node --test test/a.test.js --test-name-pattern a", BASE, ("test/a.test.js", "--test-name-pattern=a")),
    ("node --test --test-reporter=tap --no-warnings test/a.js", BASE, ("test/a.js",)),
    ("node --test --test-reporter spec test/a.js", BASE, ("test/a.js",)),
    ("node --enable-source-maps --test", BASE, ()),
    ("npm test", BASE, ()),
    ("npm t", BASE, ()),
    ("npm run test", BASE, ()),
    ("npm test --silent", BASE, ()),
    ("npm test -- test/a.test.js", BASE, ("test/a.test.js",)),
    ("npm test test/a.test.js", BASE, ("test/a.test.js",)),
    ("npm test -- --test-name-pattern 'a b'", BASE, ("--test-name-pattern=a b",)),
    ("npm run test -- test/a.test.js --test-name-pattern=x", BASE, ("test/a.test.js", "--test-name-pattern=x")),
    ("node --import tsx --test test/unit", TSX, ()),
    ("node --import tsx --test test/other", TSX, ("test/other",)),
    ("node --test test/other", TSX, ("test/other",)),
)  # fmt: skip


@pytest.mark.parametrize(("command", "base", "selectors"), ALLOWED)
def test_a_call_of_the_projects_runner_with_selectors_is_taken(command: str, base: Command, selectors: tuple[str, ...]) -> None:
    assert refuse(command, base) is None
    assert NODE.parse(command, base).selectors == selectors


REFUSED = (
    ("", "the command is empty"),
    ("true", "`true` is not a call of the project's test runner"),
    ("echo ok 1", "`echo` is not a call"),
    ("pytest", "`pytest` is not a call"),
    ("node test/a.test.js", "`node` is not a call"),
    ("node -e 'process.exit(0)'", "`node` is not a call"),
    ("node --import ./x.mjs --test", "the option --import can change the result"),
    ("node -r ./x.cjs --test", "the option -r can"),
    ("/usr/bin/node --test", "`/usr/bin/node` is not a call"),
    ("npx jest", "`npx` is not a call"),
    ("npx --yes node --test", "`npx` is not a call"),
    ("npm run build", "`npm` is not a call"),
    ("npm install", "`npm` is not a call"),
    ("npm exec -- true", "`npm` is not a call"),
    ("npm test --if-present", "npm takes the option --if-present for itself"),
    ("npm test --test-name-pattern x", "npm takes the option --test-name-pattern for itself unless `--`"),
    ("npm test --prefix ../other", "npm takes the option --prefix"),
    ("npm test -- --watch", "the option --watch can"),
    ("yarn test", "`yarn` is not a call"),
    ("NODE_OPTIONS=--import=./x.mjs node --test", "sets an environment variable"),
    ("node --test; true", "`;` chains commands"),
    ("node --test || true", "`|` chains commands"),
    ("node --test > out", "`>` redirects"),
    ("node --test test/*.js", "`*` is expanded by a shell"),
    ("node --test --test-only", "the option --test-only can"),
    ("node --test --test-skip-pattern x", "the option --test-skip-pattern can"),
    ("node --test --test-force-exit", "the option --test-force-exit can"),
    ("node --test --test-update-snapshots", "the option --test-update-snapshots can"),
    ("node --test --test-reporter=./mine.mjs", "the option --test-reporter can"),
    ("node --test --test-reporter-destination=out.xml", "the option --test-reporter-destination can"),
    ("node --test --test-isolation=none", "the option --test-isolation can"),
    ("node --test --test-shard=1/2", "the option --test-shard can"),
    ("node --test --env-file=x", "the option --env-file can"),
    ("node --test --test-name-pattern", "the option --test-name-pattern has no value"),
    ("node --test --test-name-pattern=", "the option --test-name-pattern has no value"),
    ("node --test /etc/x.js", "`/etc/x.js` is not a path inside the project"),
    ("node --test ../x.js", "`../x.js` leaves the project"),
    ("node --test 'test/a.js::suite > b'", "is Detent's own test id, which node does not know; name the file, or use --test-name-pattern"),
)


@pytest.mark.parametrize(("command", "fault"), REFUSED)
def test_anything_else_is_refused_naming_what_is_allowed(command: str, fault: str) -> None:
    sentence = refuse(command, BASE)
    assert sentence is not None
    assert fault in sentence
    assert "use one call of the project's own test runner: `node --test` with test files, folders or --test-name-pattern" in sentence
    assert "`npm test`" in sentence and "\n" not in sentence


def test_a_command_that_selects_by_name_already_is_not_widened() -> None:
    sentence = refuse("node --test --test-name-pattern=y", NARROW)
    assert sentence is not None and "selects by name already" in sentence
    assert refuse("node --test test/a.js", NARROW) is None


# What of a project concerns node.


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("test/a.js", "test"), ("test/deep/data.json", "test"), ("tests/a.mjs", "test"), ("src/__tests__/a.js", "test"), ("a.test.js", "test"),
        ("src/a.test.mjs", "test"), ("src/a.test.cjs", "test"), ("src/a.test.ts", "test"), ("src/a-test.js", "test"), ("src/a_test.js", "test"),
        ("test-a.js", "test"), ("test.js", "test"), ("src/test.mjs", "test"), ("a.spec.js", "test"), ("a.test.js.snapshot", "test"),
        ("test/package.json", "test"), ("package.json", "config"), ("packages/a/package.json", "config"), (".npmrc", "config"),
        ("node.config.json", "config"), ("detent.toml", "config"), (".github/workflows/ci.yml", "config"),
        ("src/a.js", ""), ("src/testing.js", ""), ("contest.js", ""), ("latest.mjs", ""), ("a.test.md", ""), ("package-lock.json", ""), ("test_a.js", ""),
    ],
)  # fmt: skip
def test_tests_and_configuration_are_told_from_the_rest(path: str, sort: str) -> None:
    assert (NODE.is_test(path), NODE.is_config(path)) == (sort == "test", sort == "config")


PACKAGE = '{"name": "a", "type": "module", "scripts": {"test": "node --test", "build": "b"}, "dependencies": {}}'


@pytest.mark.parametrize(
    ("old", "new", "concerns"),
    [
        ('"name": "a"', '"name": "b"', False),
        ('"build": "b"', '"build": "c"', False),
        ('"dependencies": {}', '"dependencies": {"x": "1"}', False),
        ("node --test", "node --test --test-force-exit", True),
        ("node --test", "true", True),
        ('"build": "b"', '"pretest": "b"', True),
        ('"build": "b"', '"posttest": "b"', True),
        ('"type": "module"', '"type": "commonjs"', True),
        ('"dependencies": {}', '"imports": {"#x": "./y.js"}', True),
        ("}", "", True),
    ],
)
def test_only_a_part_of_the_package_file_concerns_the_tests(old: str, new: str, concerns: bool) -> None:
    before, now = (NODE.runner_part("package.json", text) for text in (PACKAGE, PACKAGE.replace(old, new)))
    assert (before != now) == concerns


def test_other_configuration_concerns_the_tests_as_a_whole_and_a_new_package_file_only_by_its_part() -> None:
    assert NODE.runner_part(".npmrc", "a=b") == "a=b"
    assert NODE.runner_part("lib/package.json", "") == NODE.runner_part("lib/package.json", '{"name": "x"}')
