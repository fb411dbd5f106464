"""The adapters for vitest, jest and mocha: reports of real runs, the commands agents may hand in, what of a project concerns them.

One project for each runner with everything in it that a report can say; it is run once.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from tests.dialects import lend_runners
from tests.repos import write

BASES = {
    "vitest": Command(("node_modules/.bin/vitest", "run"), "vitest", "npm"),
    "jest": Command(("node_modules/.bin/jest",), "jest", "npm"),
    "mocha": Command(("node_modules/.bin/mocha", "--recursive"), "mocha", "npm"),
}

# What all three know, in the words of each: `test`, `check` (must be true), the hooks, and how code is loaded.
MANY = """
test('passes', () => {});
test('asserts', () => { CHECK(false); });
test('node asserts', () => { assert.equal(1, 2, 'no'); });
test('raises', () => { throw new RangeError('r'); });
test('grün "quoted" <tag> & more', () => {});
test('two\\nlines', () => {});
test('same', () => {});
test('same', () => { CHECK(false); });
test('rejects', async () => { await Promise.reject(new Error('later')); });
test.skip('skipped', () => {});
describe('suite', () => { test('in', () => {}); describe('deeper', () => { test('in', () => { CHECK(false); }); }); });
describe('set-up fails', () => { BEFORE(() => { throw new Error('up'); }); test('a', () => {}); test('b', () => {}); });
describe('set-up needs a name', () => { BEFORE(() => { notThereYet(); }); test('a', () => {}); });
describe('each set-up fails', () => { beforeEach(() => { throw new Error('each'); }); test('a', () => {}); });
describe('each clean-up fails', () => { afterEach(() => { throw new Error('each'); }); test('a', () => {}); });
describe('clean-up fails', () => { AFTER(() => { throw new Error('down'); }); test('a', () => {}); });
describe.skip('left out', () => { test('a', () => {}); });
describe('empty', () => {});
class Thing {}
describe('names', () => {
  test('name', () => { notThereYet(1); });
  test('module', async () => { LOAD('./not_there_yet.js'); });
  test('package', async () => { LOAD('not-there-yet'); });
  test('export', () => { code.notThereYet(); });
  test('method', () => { new Thing().notThereYet(); });
  test('class', () => { new code.NotThereYet(); });
  test('heir', () => { class Heir extends code.NotThereYet {} });
  test('of undefined', () => { code.notThereYet.deeper(); });
  test('a value that is none', () => { [1].map(undefined); });
  test('said by hand', () => { throw new ReferenceError('x'); });
});
"""
BOTH = """
test.todo('to do');
test.each([1, 2])('each %i', (x) => { expect(x).toBe(1); });
test('takes too long', async () => { await new Promise((r) => setTimeout(r, 400)); }, 30);
test('snapshot', () => { expect(1).toMatchSnapshot(); });
test('inline snapshot', () => { expect(1).toMatchInlineSnapshot(); });
"""
V_MANY = f"""import {{ test, describe, expect, beforeAll, afterAll, beforeEach, afterEach }} from 'vitest';
import assert from 'node:assert';
import * as code from '../src/code.js';
import {{ notThere }} from '../src/code.js';
{MANY}{BOTH}
test.fails('may fail', () => {{ expect(1).toBe(2); }});
test('skips itself', ({{ skip }}) => {{ skip('inside'); }});
let n = 0;
test('again', {{ retry: 3 }}, () => {{ expect(n++).toBe(1); }});
test('import', () => {{ notThere(); }});
"""
J_MANY = f"""const assert = require('node:assert');
const code = require('../src/code.js');
{MANY}{BOTH}
test.failing('may fail', () => {{ expect(1).toBe(2); }});
test('wants more checks', () => {{ expect.assertions(1); }});
"""
M_MANY = f"""import assert from 'node:assert';
import * as code from '../src/code.js';
const test = it;
{MANY}
test('to do');
test('takes too long', async function () {{ this.timeout(30); await new Promise((r) => setTimeout(r, 400)); }});
test('done twice', (done) => {{ done(); done(); }});
test('skips itself', function () {{ this.skip(); }});
let n = 0;
test('again', function () {{ this.retries(3); assert.equal(n++, 1); }});
test('again and never', function () {{ this.retries(1); assert.ok(false); }});
"""


class Told(NamedTuple):
    """A runner's big project, and what is said of it."""

    files: dict[str, str]
    outcomes: dict[str, str]  # of what only this runner has, or sees in its own way
    missing: set[str]
    kinds: dict[str, str]


def words(text: str, check: str, before: str, after: str, load: str) -> str:
    return text.replace("CHECK(", check).replace("BEFORE", before).replace("AFTER", after).replace("LOAD(", load)


FILES = {
    "test/syntax.test.js": "const x = (;\n",
    "test/raises.test.js": "throw new Error('at import');\n",
    "src/code.js": "",
}
ES = {
    **FILES,
    "package.json": '{"type": "module"}',
    "src/code.js": "export const there = 1;\n",
    "test/no_module.test.js": "import { x } from '../src/not_there_yet.js';\n",
    "test/no_package.test.js": "import x from 'not-there-yet';\n",
    "test/no_tests.test.js": "console.log('ok 1 - forged');\n",
    "src/plain.js": "throw new Error('nobody runs it');\n",
}
V = "import { test } from 'vitest';\n"
VITEST = Told(
    {
        **ES,
        "test/many.test.js": words(V_MANY, "expect(true).toBe(", "beforeAll", "afterAll", "await import("),
        "test/no_export.test.js": "import { notThere } from '../src/code.js';\nconst x = notThere();\n",
        "test/only.test.js": f"{V}test.only('a', () => {{}});\ntest('b', () => {{}});\n",
        "test/exits.test.js": f"{V}test('a', () => {{}});\nprocess.exit(0);\n",
        "test/really.test.js": f"{V}test('a', () => {{}});\ntest('b', () => {{ process.reallyExit(0); }});\n",
        "test/late.test.js": f"{V}test('a', () => {{ setTimeout(() => {{ throw new Error('late'); }}, 1); }});\n",
    },
    {
        "many::to do": "skipped", "many::each 1": "passed", "many::each 2": "failed", "many::takes too long": "failed", "many::snapshot": "failed",
        "many::inline snapshot": "failed", "many::may fail": "skipped", "many::skips itself": "skipped", "many::again": "skipped", "many::import": "failed",
        "many::left out > a": "skipped", "no_export": "error", "only::a": "passed", "only::b": "skipped", "exits": "error",
        "really::a": "error", "really::b": "error", "late::a": "passed", "late": "error",
    },
    {"many::import", "no_export"},
    {"many::snapshot": "AssertionError", "many::takes too long": "Error", "really::a": "Exit"},
)  # fmt: skip
JEST = Told(
    {
        **FILES,
        "package.json": "{}",
        "src/code.js": "module.exports = { there: 1 };\n",
        "test/many.test.js": words(J_MANY, "expect(true).toBe(", "beforeAll", "afterAll", "require("),
        "test/no_module.test.js": "require('../src/not_there_yet.js');\n",
        "test/no_package.test.js": "require('not-there-yet');\n",
        "test/no_export.test.js": "const { notThere } = require('../src/code.js');\nconst x = notThere();\n",
        "test/no_tests.test.js": "console.log('ok 1 - forged');\n",
        "test/only.test.js": "test.only('a', () => {});\ntest('b', () => {});\n",
        "test/exits.test.js": "test('a', () => {});\ntest('b', () => { process.exit(0); });\n",
        "test/again.test.js": "let n = 0;\njest.retryTimes(3);\ntest('again', () => { expect(n++).toBe(1); });\n",
    },
    {
        "many::to do": "skipped", "many::each 1": "passed", "many::each 2": "failed", "many::takes too long": "failed", "many::snapshot": "failed",
        "many::inline snapshot": "failed", "many::may fail": "skipped", "many::wants more checks": "failed", "many::left out > a": "skipped",
        "no_export": "error", "only::a": "passed", "only::b": "skipped", "exits": "error", "again::again": "skipped", "no_tests": "error",
        "many::set-up fails > a": "failed", "many::set-up fails > b": "failed", "many::set-up needs a name > a": "failed",
        "many::clean-up fails > a": "passed", "many": "error",
    },
    {"no_export"},
    {"many::snapshot": "AssertionError", "many::takes too long": "Error", "many::wants more checks": "AssertionError", "many": "Error"},
)  # fmt: skip
MOCHA = Told(
    {
        **ES,
        "test/many.test.js": words(M_MANY, "assert.ok(", "before", "after", "await import("),
        "test/no_export.test.js": "import { notThere } from '../src/code.js';\n",
        "test/no_old_module.test.cjs": "require('./not_there_yet.cjs');\n",
        "test/deep/er.js": "it('a', () => {});\n",
    },
    {
        "many::to do": "skipped", "many::takes too long": "failed", "many::done twice": "failed", "many::skips itself": "skipped",
        "many::again": "skipped", "many::again and never": "failed", "many::left out > a": "skipped",
        "many::each set-up fails > a": "error", "many::each clean-up fails > a": "error",
        "no_export": "error", "test/no_old_module.test.cjs": "error", "test/deep/er.js::a": "passed",
    },
    {"no_export", "test/no_old_module.test.cjs"},
    {"many::takes too long": "Error", "many::each clean-up fails > a": "Error"},
)  # fmt: skip
TESTED = {"vitest": VITEST, "jest": JEST, "mocha": MOCHA}

OUTCOMES = {
    "many::passes": "passed", "many::asserts": "failed", "many::node asserts": "failed", "many::raises": "failed",
    'many::grün "quoted" <tag> & more': "passed", "many::two\\nlines": "passed", "many::same": "passed", "many::same (2)": "failed",
    "many::rejects": "failed", "many::skipped": "skipped", "many::suite > in": "passed", "many::suite > deeper > in": "failed",
    "many::set-up fails > a": "error", "many::set-up fails > b": "error", "many::set-up needs a name > a": "error",
    "many::each set-up fails > a": "failed", "many::each clean-up fails > a": "failed", "many::clean-up fails > a": "error",
    **{f"many::names > {name}": "failed" for name in (
        "name", "module", "package", "export", "method", "class", "heir", "of undefined", "a value that is none", "said by hand")},
    "syntax": "error", "raises": "error", "no_module": "error", "no_package": "error",
}  # fmt: skip
MISSING = {
    *(f"many::names > {name}" for name in ("name", "module", "package", "export", "method", "class", "heir")),
    "many::set-up needs a name > a",
    "no_module",
    "no_package",
}
KINDS = {"many::asserts": "AssertionError", "many::node asserts": "AssertionError", "many::raises": "RangeError", "raises": "Error"}


def full(short: str) -> str:
    """`many::a` stands for `test/many.test.js::a`."""
    name, colons, rest = short.partition("::")
    return short if "/" in name else f"test/{name}.test.js{colons}{rest}"


def play(root: Path, base: Command, *selectors: str) -> tuple[bytes | None, int, str]:
    """The machine's own call of the real runner: the report, the exit code, the output."""
    lend_runners(root, base)
    report = root.parent / f"{root.name}-report"
    report.unlink(missing_ok=True)
    argv = RUNNERS[base.runner].argv(base, selectors, str(report), Folder(root))
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"TERM": "dumb"}
    done = subprocess.run(
        argv, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    return report.read_bytes() if report.exists() else None, done.returncode, done.stdout


def run(root: Path, base: Command, *selectors: str) -> TestReport:
    return RUNNERS[base.runner].read(*play(root, base, *selectors))


class Big(dict[str, tuple[TestReport, Path]]):
    """The reports of the big projects, each made when it is asked for."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self.folders = folders

    def __missing__(self, name: str) -> tuple[TestReport, Path]:
        root = self.folders.mktemp(name) / "project"
        write(root, TESTED[name].files)
        self[name] = run(root, BASES[name]), root
        return self[name]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Big:
    return Big(tmp_path_factory)


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTED)
def test_a_real_run_is_read_test_by_test(big: Big, name: str) -> None:
    report, root = big[name]
    here = TESTED[name]
    assert report.outcomes == {full(test): outcome for test, outcome in {**OUTCOMES, **here.outcomes}.items()}
    assert set(report.missing_names) == {full(test) for test in MISSING | here.missing}
    for test, kind in {**KINDS, **here.kinds}.items():
        assert (test, report.kinds[full(test)]) == (test, kind)
    assert set(report.files) == report.ids and set(report.files.values()) <= set(here.files)
    assert (report.runner, report.complete) == (name, True) and report.exit_code
    assert report.messages[full("many::raises")] == "r" and report.seconds > 0 and "\x1b" not in report.output
    made = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {path for path in made if not path.startswith("node_modules")} == set(here.files), "nothing was written into the project"


# Selections and odd projects.

V_ONE = "import { test } from 'vitest';\ntest('a', () => {});\ntest('b', () => {});\n"
J_ONE = "test('a', () => {});\ntest('b', () => {});\n"
M_ONE = "it('a', () => {});\nit('b', () => {});\n"
ONE = {"vitest": V_ONE, "jest": J_ONE, "mocha": M_ONE}
TYPE = {"vitest": '{"type": "module"}', "jest": "{}", "mocha": '{"type": "module"}'}
PATTERN = {"vitest": "--testNamePattern=^a$", "jest": "--testNamePattern=^a$", "mocha": "--grep=^a$"}


def made(folder: Path, name: str, files: dict[str, str]) -> Path:
    write(folder, {"package.json": TYPE[name], **{path: text or ONE[name] for path, text in files.items()}})
    return folder


SELECTED: tuple[tuple[tuple[str, ...], set[str]], ...] = (
    (("test/a.test.js",), {"test/a.test.js::a", "test/a.test.js::b"}),
    (("test/deep", "PATTERN"), {"test/deep/b.test.js::a"}),
    (("test/nowhere.test.js",), set()),
)
CELLS = [
    pytest.param(name, selectors, ids, marks=[] if name == "mocha" else [pytest.mark.slow])
    for name in TESTED
    for selectors, ids in SELECTED
]


@pytest.mark.parametrize(("name", "selectors", "ids"), CELLS)
def test_a_selection_runs_what_it_names(tmp_path: Path, name: str, selectors: tuple[str, ...], ids: set[str]) -> None:
    root = made(tmp_path / "p", name, {"test/a.test.js": "", "test/deep/b.test.js": "", "test/deep-er/b.test.js": ""})
    report = run(root, BASES[name], *(PATTERN[name] if each == "PATTERN" else each for each in selectors))
    assert report.ids == ids


SCRIPTS = (
    ("mocha", "mocha 'check/*.js'", {"check/a.js::a", "check/a.js::b"}),
    ("mocha", "MODE=x mocha --parallel --bail --forbid-only --watch -R dot check/a.js", {"check/a.js::a", "check/a.js::b"}),
    ("mocha", "npx mocha --grep ^a check/a.js", {"check/a.js::a"}),
    ("vitest", "vitest --watch --coverage --reporter dot -t ^a --dir test", {"test/b.test.js::a"}),
    pytest.param(
        "jest",
        "cross-env A=1 jest --watchAll -i --coverage --bail --silent --reporters=x test",
        {"test/b.test.js::a", "test/b.test.js::b"},
        marks=pytest.mark.slow,
    ),
)


@pytest.mark.parametrize(("name", "script", "ids"), SCRIPTS)
def test_a_test_script_is_run_once_and_with_our_report(tmp_path: Path, name: str, script: str, ids: set[str]) -> None:
    root = made(tmp_path / "p", name, {"check/a.js": "", "test/b.test.js": ""})
    write(root, {"package.json": TYPE[name].replace("}", f'{", " if name != "jest" else ""}"scripts": {{"test": "{script}"}}}}')})
    base = find_command(Folder(root))
    assert base is not None and (base.runner, base.source) == (name, "npm")
    assert run(root, base).ids == ids


OBSOLETE = {
    "test/a.test.js": "test('a', () => {});\n",
    "test/__snapshots__/a.test.js.snap": "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`gone 1`] = `1`;\n",
}


@pytest.mark.slow
def test_of_an_obsolete_snapshot_nothing_is_told(tmp_path: Path) -> None:
    root = made(tmp_path / "p", "jest", OBSOLETE)
    with pytest.raises(CannotTell, match=r"no test in its report failed \(a snapshot is obsolete\)"):
        run(root, BASES["jest"])


def test_where_mocha_cannot_start_nothing_is_told(tmp_path: Path) -> None:
    root = made(tmp_path / "p", "mocha", {"test/a.js": ""})
    with pytest.raises(CannotTell, match="mocha wrote no report: it exited with code"):
        run(root, Command(("node_modules/.bin/mocha", "--require", "./not_there.cjs"), "mocha"))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The report of a real run of two passing tests."""
    report, code, _ = play(made(tmp_path_factory.mktemp("good") / "p", "mocha", {"test/a.js": ""}), BASES["mocha"])
    assert report is not None and code == 0
    return report


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'{"type":"end"', b'{"type":"test"', "is incomplete"),
        (b'"count":', b'"count":1', "is incomplete"),
        (b'{"type":"test"', b'{"type":"end","name":"mocha 1"}\n{"type":"test"', "is incomplete"),
        (b'"name":"mocha', b'"name":"jest', "is incomplete"),
        (b'"outcome":"passed"', b'"outcome":"boom"', "cannot be read"),
        (b'"file":"test/a.js"', b'"file":""', "outside the test files"),
        (b'"outcome":"passed"', b'"outcome":"failed"', "exited with code 0, but its report has a failure"),
    ],
)
def test_a_report_that_was_changed_is_not_believed(good: bytes, old: bytes, new: bytes, sentence: str) -> None:
    assert RUNNERS["mocha"].read(good, 0, "").ids == {"test/a.js::a", "test/a.js::b"}
    changed = good.replace(old, new)
    assert changed != good, "the change has to hit something"
    with pytest.raises(CannotTell, match=sentence):
        RUNNERS["mocha"].read(changed, 0, "")


@pytest.mark.parametrize("name", TESTED)
def test_another_end_than_the_reports_is_not_believed(good: bytes, name: str) -> None:
    report = good.replace(b'"name":"mocha', f'"name":"{name}'.encode())
    for code in (None, -9, 1, 70):
        with pytest.raises(CannotTell):
            RUNNERS[name].read(report, code, "")
        with pytest.raises(CannotTell, match="wrote no report"):
            RUNNERS[name].read(None, code, "")
    for text in (report[:-2], report[2:], report + report[:9], b""):
        with pytest.raises(CannotTell):
            RUNNERS[name].read(text, 0, "")


# Commands of agents.

ALLOWED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("vitest", "npx vitest", ()),
    ("vitest", "npx vitest run test/a.test.js", ("test/a.test.js",)),
    ("vitest", "vitest run ./test/a.test.js -t 'adds two'", ("test/a.test.js", "--testNamePattern=adds two")),
    ("vitest", "pnpm vitest run --reporter=verbose test", ("test",)),
    ("vitest", "yarn vitest --testNamePattern=x", ("--testNamePattern=x",)),
    ("vitest", "npm test -- -t x test/a.test.js", ("test/a.test.js", "--testNamePattern=x")),
    ("vitest", "pnpm test test/a.test.js", ("test/a.test.js",)),
    ("vitest", "npm run test", ()),
    ("jest", "npx jest test/a.test.js --verbose", ("test/a.test.js",)),
    ("jest", "./node_modules/.bin/jest -t x", ("--testNamePattern=x",)),
    ("jest", "npx --no-install jest --ci --runInBand test", ("test",)),
    ("jest", "npm test test/a.test.js", ("test/a.test.js",)),
    ("mocha", "npx mocha test/a.js", ("test/a.js",)),
    ("mocha", "npx mocha -g 'a b' test/a.js", ("test/a.js", "--grep=a b")),
    ("mocha", "yarn test -f 'a (b)'", ("--fgrep=a (b)",)),
    ("mocha", "mocha --reporter spec", ()),
)


@pytest.mark.parametrize(("name", "command", "selectors"), ALLOWED)
def test_a_call_of_the_projects_runner_with_selectors_is_taken(name: str, command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASES[name]) is None
    assert RUNNERS[name].parse(command, BASES[name]).selectors == selectors


OPTIONS = {
    "vitest": ("--passWithNoTests", "-u", "--update", "--config=x.ts", "--root=..", "--changed", "--shard=1/2", "--exclude=x", "--retry=3", "--bail=1",
               "--allowOnly", "--reporter=./mine.mjs", "--outputFile=x", "--watch", "--pool=threads", "--dangerouslyIgnoreUnhandledErrors", "--env-file=x"),
    "jest": ("--passWithNoTests", "-u", "--updateSnapshot", "--config={}", "-c x", "--rootDir=..", "-o", "--onlyChanged", "--shard=1/2", "--reporters=./mine.js",
             "--testPathIgnorePatterns=x", "--globals={}", "--setupFilesAfterEnv=./x.js", "--forceExit", "--json", "--watchAll", "--env=./x.js"),
    "mocha": ("--dry-run", "--invert", "--config=x", "--require=./x.cjs", "-r ./x.cjs", "--ignore=x", "--exit", "--retries=3", "--spec=x", "--file=x",
              "--reporter=./mine.cjs", "--ui=tdd", "--allow-uncaught", "--watch", "--package=x", "--pass-on-failing-test-suite", "--import=x"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, options in OPTIONS.items() for option in options])
def test_an_option_that_can_change_what_is_judged_is_refused(name: str, option: str) -> None:
    for command in (f"npx {name} {option}", f"npm test -- {option}"):
        said = refuse(command.replace("{}", "x"), BASES[name]) or ""
        assert "can change the result; use one call of the project's own test runner: `npx " in said, command


REFUSED = (
    ("vitest", "true", "`true` is not a call"),
    ("vitest", "npx jest", "`npx` is not a call"),
    ("vitest", "npx --yes vitest", "`npx` is not a call"),
    ("vitest", "npm run build", "`npm` is not a call"),
    ("vitest", "npm test --prefix ..", "npm takes the option --prefix"),
    ("vitest", "npx vitest && true", "`&` chains"),
    ("vitest", "CI=1 npx vitest", "sets an environment variable"),
    ("vitest", "npx vitest -t", "the option -t has no value"),
    ("vitest", "npx vitest -t a -t b", "only one pattern"),
    ("jest", "npx jest ../x.test.js", "leaves the project"),
    ("jest", "npx jest /etc/x.test.js", "is not a path inside the project"),
    ("jest", "npx jest 'test/a.test.js::b'", "is Detent's own test id, which jest does not know"),
    ("mocha", "node test/a.js", "`node` is not a call"),
    ("mocha", "npx mocha 'test/a.js' > out", "`>` redirects"),
)


@pytest.mark.parametrize(("name", "command", "fault"), REFUSED)
def test_anything_else_is_refused_naming_what_is_allowed(name: str, command: str, fault: str) -> None:
    said = refuse(command, BASES[name]) or ""
    assert fault in said and f"`npx {name}" in said and "`npm test`" in said and "\n" not in said


# How a project is recognised, and what of it concerns the tests.


def package(script: str = "", needs: str = "") -> str:
    scripts = f'"scripts": {{"test": "{script}"}}, ' if script else ""
    return f'{{{scripts}"devDependencies": {{{needs}}}}}'


DETECTED: tuple[tuple[dict[str, str], str, str], ...] = (
    ({"package.json": package("vitest")}, "node_modules/.bin/vitest", "vitest"),
    ({"package.json": package("vitest run --coverage")}, "node_modules/.bin/vitest run --coverage", "vitest"),
    ({"package.json": package("npx vitest run")}, "npx vitest run", "vitest"),
    ({"package.json": package("NODE_ENV=test jest -i")}, "env NODE_ENV=test node_modules/.bin/jest -i", "jest"),
    ({"package.json": package("mocha --recursive")}, "node_modules/.bin/mocha --recursive", "mocha"),
    ({"package.json": package("", '"vitest": "4"')}, "node_modules/.bin/vitest run", "vitest"),
    ({"package.json": package("", '"jest": "30"'), "pyproject.toml": ""}, "node_modules/.bin/jest", "jest"),
    ({"package.json": package("", '"mocha": "12"')}, "node_modules/.bin/mocha", "mocha"),
    ({"package.json": package("node --test", '"jest": "30"')}, "node --test", "node"),
    ({"package.json": package("c8 mocha", '"mocha": "12"')}, "node_modules/.bin/mocha", "mocha"),
    ({"package.json": package("eslint . && tsc --noEmit && nyc mocha test")}, "node_modules/.bin/mocha test", "mocha"),
    ({"package.json": package("npm run lint && npm run unit", '"x": "1"').replace("{\"test\"", '{"lint": "xo", "unit": "jest", "test"')}, "node_modules/.bin/jest", "jest"),
    ({"package.json": package("pnpm lint && pnpm vitest run").replace("{\"test\"", '{"lint": "oxlint src", "test"')}, "pnpm vitest run", "vitest"),
    ({"package.json": package("jest").replace("{\"test\"", '{"pretest": "eslint .", "posttest": "npx npm audit", "test"')}, "node_modules/.bin/jest", "jest"),
    ({"package.json": package("jest").replace("{\"test\"", '{"pretest": "node build.js", "test"')}, "npm test", ""),
    ({"package.json": package("eslint --fix . && jest")}, "npm test", ""),
    ({"package.json": package("jest && mocha")}, "npm test", ""),
    ({"package.json": package("npm run unit").replace("{\"test\"", '{"unit": "npm test", "test"')}, "npm test", ""),
    ({"package.json": package("xo && ava && tsd")}, "node_modules/.bin/ava --tap > .detent-tests.tap", "report"),
    ({"package.json": package("nyc tape 'test/**/*.js'")}, "node_modules/.bin/tape 'test/**/*.js' > .detent-tests.tap", "report"),
    ({"package.json": package("ava --watch")}, "npm test", ""),
    ({"package.json": package("npm run -s lint && jest").replace("{\"test\"", '{"lint": "eslint $(git ls-files)", "test"')}, "node_modules/.bin/jest", "jest"),
    ({"package.json": package("node --test && npm run check:types").replace("{\"test\"", '{"check:types": "tsc -p .", "test"')}, "node --test", "node"),
    ({"package.json": package("xo && node --import=tsx --test test/*.ts && del-cli dist && tsc && tsd")}, "node --import=tsx --test 'test/*.ts'", "node"),
    ({"package.json": package("jest && tsc && node smoke.js")}, "npm test", ""),
    ({"package.json": package("vitest bench")}, "npm test", ""),
    ({"package.json": package("vitest related a.js")}, "npm test", ""),
    ({"package.json": package("jest --onlyChanged")}, "npm test", ""),
    ({"package.json": package("jest -u")}, "npm test", ""),
    ({"package.json": package("tsc && vitest run")}, "npm test", ""),
    ({"package.json": package("mocha --dry-run")}, "npm test", ""),
)  # fmt: skip


@pytest.mark.parametrize(("files", "text", "runner"), DETECTED)
def test_a_runner_is_found_by_the_script_or_else_as_a_dependency(tmp_path: Path, files: dict[str, str], text: str, runner: str) -> None:
    write(tmp_path, files)
    found = find_command(Folder(tmp_path))
    assert found is not None and (found.text, found.runner) == (text, runner)
    again = find_command(Folder(tmp_path), text if runner != "report" else "npm test")
    assert again is not None and again.runner == runner
    assert refuse("npm test", found) is None, "and npm's own word for it is taken"


@pytest.mark.parametrize(
    ("version", "options"),
    [("22.4.4", {"--bail=false"}), ("28.1.3", {"--bail=0"}), ("30.2.0", {"--bail=0", "--workerIdleMemoryLimit=2GB"})],
)
def test_an_older_jest_is_not_given_what_it_does_not_know(tmp_path: Path, version: str, options: set[str]) -> None:
    write(tmp_path, {"node_modules/jest/package.json": json.dumps({"name": "jest", "version": version}, indent=2)})
    argv = RUNNERS["jest"].argv(Command(("npx", "jest"), "jest"), (), "r.jsonl", Folder(tmp_path))
    assert {word for word in argv if word.startswith(("--bail", "--worker"))} == options


@pytest.mark.parametrize("script", ["vitest", "vitest watch", "vitest dev --watch", "vitest --ui --open"])
def test_vitest_never_watches(script: str) -> None:
    base = RUNNERS["vitest"].adopt(tuple(script.split()))
    assert base is not None
    argv = RUNNERS["vitest"].argv(base, (), "/r")
    assert argv[:2] == ["node_modules/.bin/vitest", "run"] and "--watch=false" in argv
    assert not {"watch", "dev", "--watch", "--ui", "--open"} & set(argv)


@pytest.mark.parametrize("name", TESTED)
@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("test/a.js", "test"), ("test/deep/data.json", "test"), ("tests/a.mjs", "test"), ("src/__tests__/a.js", "test"), ("a.test.js", "test"),
        ("src/a.test.tsx", "test"), ("src/a.spec.ts", "test"), ("src/a-test.js", "test"), ("spec/a.js", "test"), ("test/package.json", "test"),
        ("src/__snapshots__/a.test.js.snap", "test"), ("src/__mocks__/fs.js", "test"), ("src/a.snap", "test"),
        ("package.json", "config"), ("packages/a/package.json", "config"), (".npmrc", "config"), ("vitest.config.ts", "config"),
        ("vitest.config.e2e.ts", "config"), ("vitest.workspace.js", "config"), ("vite.config.mjs", "config"), ("jest.config.cjs", "config"),
        ("jest.setup.ts", "config"), ("test/jest.config.js", "config"), ("src/setupTests.ts", "config"), (".mocharc.yml", "config"),
        (".mocharc.cjs", "config"), ("test/mocha.opts", "config"), ("babel.config.js", "config"), (".babelrc", "config"), ("detent.toml", "config"),
        (".github/workflows/ci.yml", "config"), ("src/a.js", ""), ("src/testing.js", ""), ("contest.js", ""), ("a.test.md", ""), ("package-lock.json", ""),
    ],
)  # fmt: skip
def test_tests_and_configuration_are_told_from_the_rest(name: str, path: str, sort: str) -> None:
    assert (RUNNERS[name].is_test(path), RUNNERS[name].is_config(path)) == (sort == "test", sort == "config")


PACKAGE = '{"name": "a", "scripts": {"test": "jest"}, "jest": {"bail": 1}, "dependencies": {}}'


@pytest.mark.parametrize(
    ("old", "new", "concerns"),
    [
        ('"name": "a"', '"name": "b"', False),
        ('"dependencies": {}', '"dependencies": {"x": "1"}', False),
        ('"bail": 1', '"testMatch": []', True),
        ('"dependencies": {}', '"mocha": {"spec": "x"}', True),
        ('"test": "jest"', '"test": "true"', True),
        ('"test": "jest"', '"test": "jest", "build": "b"', False),
        ("}", "", True),
    ],
)
def test_only_a_part_of_the_package_file_concerns_the_tests(old: str, new: str, concerns: bool) -> None:
    for name in TESTED:
        before, now = (RUNNERS[name].runner_part("package.json", text) for text in (PACKAGE, PACKAGE.replace(old, new)))
        assert (before != now) == concerns
        assert RUNNERS[name].runner_part("vite.config.js", "a") == "a"
