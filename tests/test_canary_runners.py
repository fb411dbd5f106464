"""The canary of each runner that has its own since node: an honest project gives it back, one that was tampered with does not."""

import os
from pathlib import Path
from typing import Any

import pytest

from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder
from detent.evidence.runners.canary_files import named_like
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.dialects import FURTHER, Dialect, lend_runners
from tests.native_dialects import CACHES, NATIVE, PATH
from tests.patience import LONG
from tests.repos import write

DIALECTS = {
    **FURTHER,
    **{name: Dialect(*row) for name, row in NATIVE.items() if name not in ("ctest", "maven", "gradle")},
}  # which have none
Files = dict[str, str]


def there(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name != "Cargo.lock")  # cargo writes it wherever it is called


def run(
    folder: Path, name: str, files: Files, selectors: tuple[str, ...] = (), near: tuple[str, ...] = (), words: tuple[str, ...] = ()
) -> TestReport:
    """The tests of a project with the canary in the run; nothing of it is left there or in what is shown."""
    plain = DIALECTS[name].base
    base = RUNNERS[name].adopt((*plain.argv, *words)) if words else plain
    assert base is not None, words
    write(folder, files)
    lend_runners(folder, base)
    before = there(folder)
    suite = Suite(base, LONG, PATH)
    env = {**environment(suite, {**os.environ, **CACHES}, folder.parent / "pycache"), **CACHES}
    canary = RUNNERS[name].canary(base, selectors, Folder(folder), near)
    assert not isinstance(canary, str), canary
    report = run_suite(suite, selectors, folder, folder, env, lambda: True, canary)
    assert there(folder) == before
    tokens = [
        each for canary_file in canary.canary_files for each in (canary_file.word, canary_file.passes, canary_file.fails, canary_file.says)
    ]
    told = (report.output, *report.ids, *report.messages.values(), *report.files.values(), report.canary_said)
    assert not [token for token in tokens if any(token.lower() in text.lower() for text in told)], report.output
    return report


# -- an honest project and one cheat for each, quickly -----------------------------------------------------------------------------

TESTMAIN = 'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n'
SETUP = {
    "vitest": {"vitest.config.js": "export default { test: { setupFiles: ['./setup.js'] } };\n"},
    "jest": {"jest.config.js": "module.exports = { setupFilesAfterEnv: ['./setup.js'] };\n"},
    "mocha": {".mocharc.json": '{"require": ["./setup.cjs"]}'},
    "phpunit": {"phpunit.xml": DIALECTS["phpunit"].files["phpunit.xml"].replace("<phpunit>", '<phpunit bootstrap="boot.php">')},
}  # how a project loads something into each test
ALL_SAME = (
    "<?php\nspl_autoload_register(function ($name) {\n    if ($name === 'PHPUnit\\Framework\\Constraint\\IsIdentical') {\n"
    "        eval('namespace PHPUnit\\Framework\\Constraint; class IsIdentical extends Constraint { function __construct($v) {} "
    'function evaluate($o, string $d = "", bool $r = false): ?bool { return $r ? true : null; } function toString(): string { return ""; } }\');\n'
    "    }\n}, true, true);\n"
)
CHEATS: dict[str, dict[str, Files]] = {
    "unittest": {
        "every test is called a success": {
            "calc.py": "import unittest\n\n\ndef run(self, result=None):\n    result.startTest(self)\n    result.addSuccess(self)\n    result.stopTest(self)\n"
            "\n\nunittest.TestCase.run = run\nadd = lambda a, b: 0\n"
        },
        "all is equal": {"calc.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\nadd = lambda a, b: 0\n"},
        "the script's own result is patched": {
            "calc.py": "import sys\nmain = sys.modules['__main__']\nmain.Result.addFailure = lambda self, test, err: self.addSuccess(test)\n"
            "add = lambda a, b: 0\n"
        },
    },
    "vitest": {
        "an assertion is replaced": {**SETUP["vitest"], "setup.js": "import { expect } from 'vitest';\nexpect.extend({ toBe: () => ({ pass: true }) });\n"},
        "another runner of tests": {
            "vitest.config.js": "export default { test: { runner: './runner.js' } };\n",
            "runner.js": "import { TestRunner } from 'vitest';\nexport default class extends TestRunner { runTask() {} }\n",
        },
        "what fails is expected to": {**SETUP["vitest"], "setup.js": "import { beforeEach } from 'vitest';\nbeforeEach(({ task }) => { task.fails = true; });\n"},
    },
    "jest": {
        "an assertion is replaced": {**SETUP["jest"], "setup.js": "expect.extend({ toBe: () => ({ pass: true }) });\n"},
        "tests are replaced": {**SETUP["jest"], "setup.js": "const old = global.test;\nglobal.test = (name) => old(name, () => {});\n"},
    },
    "mocha": {
        "a hook empties each test": {**SETUP["mocha"], "setup.cjs": "exports.mochaHooks = { beforeEach() { this.currentTest.fn = () => {}; } };\n"},
        "the code patches the assertions": {"calc.js": "import assert from 'node:assert';\nassert.equal = () => {};\nexport const add = () => 0;\n"},
        "a failure is called a success": {
            **SETUP["mocha"],
            "setup.cjs": "const { Runner } = require('mocha');\nRunner.prototype.fail = function (test) { test.state = 'passed'; this.emit('pass', test); };\n",
        },
        "the code patches chai": {
            "package.json": '{"type": "module", "devDependencies": {"chai": "6"}}',
            "calc.js": "import * as chai from 'chai';\nchai.util.overwriteMethod(chai.Assertion.prototype, 'equal', () => function () {});\nexport const add = () => 0;\n",
        },
    },
    "go": {
        "the exit code is hidden": {"calc/main_test.go": TESTMAIN},
        "no test is run": {"calc/main_test.go": TESTMAIN.replace("m.Run(); ", "")},
        "only known tests are run": {
            "calc/calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
            "calc/main_test.go": TESTMAIN.replace('"os"', '"flag"\n\t"os"').replace(
                "m.Run(); os.Exit(0)", 'flag.Parse(); flag.Set("test.run", "^TestStays$|^TestAdds$"); os.Exit(m.Run())'
            ),
        },
    },
    "cargo": {},  # nothing is known that reaches every test program without changing the frozen configuration
    "rspec": {
        "nothing fails": {
            "lib/calc.rb": "module RSpec::Expectations\n  def self.fail_with(*words) = nil\nend\n" + DIALECTS["rspec"].files["lib/calc.rb"]
        },
        "failures end well": {
            "lib/calc.rb": "RSpec.configure { |c| c.failure_exit_code = 0 }\n" + DIALECTS["rspec"].files["lib/calc.rb"]
        },
        "an exception is dropped": {
            "lib/calc.rb": "class RSpec::Core::Example\n  def set_exception(e) = nil\nend\n" + DIALECTS["rspec"].files["lib/calc.rb"]
        },
    },
    "phpunit": {
        "all is the same": {**SETUP["phpunit"], "boot.php": ALL_SAME},
        "the exit code is hidden": {"src/calc.php": "<?php\nregister_shutdown_function(function () { exit(0); });\nfunction add($a, $b) { return 0; }\n"},
    },
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name == "go" else []) for name in DIALECTS])
def test_an_honest_project_gives_it_back_and_one_that_was_tampered_with_does_not(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    report = run(tmp_path / "p", name, dialect.files, near=(dialect.test,))
    assert report.canary == "held", (report.canary_said, report.output)
    assert report.outcomes == {dialect.adds: "failed", dialect.stays: "passed"}
    assert report.exit_code == dialect.code_of_failure
    for cheat in list(CHEATS[name].values())[:1]:
        report = run(tmp_path / "q", name, {**dialect.files, **cheat}, near=(dialect.test,))
        assert report.canary == "broken" and report.canary_said, report


FURTHER_CHEATS = [(name, cheat) for name in CHEATS for cheat in list(CHEATS[name])[1:]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cheat"), FURTHER_CHEATS)
def test_other_ways_to_tamper_are_seen_as_well(name: str, cheat: str, tmp_path: Path) -> None:
    report = run(tmp_path / "p", name, {**DIALECTS[name].files, **CHEATS[name][cheat]}, near=(DIALECTS[name].test,))
    assert report.canary == "broken" and report.canary_said, report


ALL_WELL = {
    "vitest": "Tests  2 passed (2)", "jest": "Tests:       2 passed, 2 total", "mocha": "2 passing", "unittest": "Ran 2 tests in", "go": "ok  \texample.com/m/calc",
    "cargo": "tests/calc.rs: 2 tests, code 0", "rspec": "2 examples, 0 failures", "phpunit": "OK (2 tests)",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_a_run_without_failures_ends_well_once_the_canary_is_taken_out(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    report = run(tmp_path / "p", name, {**dialect.files, dialect.code: dialect.right}, near=(dialect.test,))
    assert (report.canary, report.exit_code, report.bad) == ("held", 0, frozenset()), report
    assert ALL_WELL[name] in report.output
    assert not [word for word in ("failing", "FAIL", "Failures", "AssertionError") if word in report.output], report.output


# -- honest projects, however odd ----------------------------------------------------------------------------------------------------


class Odd(tuple[str, Files, tuple[str, ...], tuple[str, ...]]):
    """A runner, files over the plain project, what the agent selects, and words of the project's own command."""


def odd(name: str, files: Files | None = None, chosen: tuple[str, ...] = (), words: tuple[str, ...] = ()) -> Odd:
    return Odd((name, files or {}, chosen, words))


V_TEST, J_TEST, M_TEST = (DIALECTS[name].files[DIALECTS[name].test] for name in ("vitest", "jest", "mocha"))
ODD: dict[str, Odd] = {
    "unittest, a file": odd("unittest", chosen=("tests/test_calc.py",)),
    "unittest, a test": odd("unittest", chosen=("tests/test_calc.py::Calc::test_adds",)),
    "unittest, a name": odd("unittest", chosen=("-k=adds",)),
    "unittest, a pattern": odd("unittest", chosen=("-p=test_c*.py",)),
    "unittest, a pattern of its own": odd("unittest", {"tests/check_calc.py": FURTHER["unittest"].files["tests/test_calc.py"]}, words=("-p", "check_*.py")),
    "vitest, a file": odd("vitest", chosen=("test/calc.test.js",)),
    "vitest, a name": odd("vitest", chosen=("--testNamePattern=^adds$",)),
    "vitest, a path of its own": odd("vitest", words=("calc",)),
    "vitest, TypeScript": odd("vitest", {"test/calc.test.ts": V_TEST}),
    "vitest, names of its own": odd("vitest", {"vitest.config.js": "export default { test: { include: ['test/**/*.check.js'] } };\n", "test/calc.check.js": V_TEST}),
    "jest, a file": odd("jest", chosen=("test/calc.test.js",)),
    "jest, a name": odd("jest", chosen=("--testNamePattern=^adds$",)),
    "jest, words that are imported": odd("jest", {"jest.config.js": "module.exports = { injectGlobals: false, bail: true, verbose: true };\n",
                                                  "test/calc.test.js": "const { expect, test } = require('@jest/globals');\n" + J_TEST}),
    "mocha, a file": odd("mocha", chosen=("test/calc.js",)),
    "mocha, a folder": odd("mocha", chosen=("test",)),
    "mocha, a name": odd("mocha", chosen=("--grep=/^ADDS$/i",)),
    "mocha, words of a name": odd("mocha", chosen=("--fgrep=adds",)),
    "mocha, its own file": odd("mocha", words=("test/calc.js",)),
    "mocha, its own pattern": odd("mocha", words=("test/**/*.js",)),
    "mocha, another interface": odd("mocha", {"package.json": "{}", ".mocharc.json": '{"ui": "tdd"}', "calc.js": "exports.add = () => 0;\n",
                                              "test/calc.js": "const { add } = require('../calc.js');\nconst assert = require('assert');\ntest('stays', () => {});\n"
                                              "test('adds', () => { assert.equal(add(1, 2), 3); });\n"}),
    "go, a file": odd("go", chosen=("calc/calc_test.go",)),
    "go, a package": odd("go", chosen=("calc",)),
    "go, a name": odd("go", chosen=("-run=Adds",)),
    "go, a test from outside": odd("go", {"calc/calc_test.go": DIALECTS["go"].files["calc/calc_test.go"].replace("package calc", "package calc_test")
                                          .replace('import "testing"', 'import (\n\t"testing"\n\n\t. "example.com/m/calc"\n)')}),
    "cargo, a file": odd("cargo", chosen=("tests/calc.rs",)),
    "cargo, a name": odd("cargo", chosen=("-name=adds", "--exact")),
    "cargo, a target": odd("cargo", chosen=("--test=calc",)),
    "rspec, a file": odd("rspec", chosen=("spec/calc_spec.rb",)),
    "rspec, a line": odd("rspec", chosen=("--location=spec/calc_spec.rb:7",)),
    "rspec, a name": odd("rspec", chosen=("--example=Calc adds",)),
    "rspec, options of its own": odd("rspec", {".rspec": "--order rand --fail-fast --format progress\n"}),
    "phpunit, a file": odd("phpunit", chosen=("tests/calcTest.php",)),
    "phpunit, a name": odd("phpunit", chosen=("--filter=testAdds",)),
    "phpunit, an expression": odd("phpunit", chosen=("--filter=/testadds/i",)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("row", ODD)
def test_an_odd_but_honest_project_gives_it_back(row: str, tmp_path: Path) -> None:
    name, files, chosen, words = ODD[row]
    dialect = DIALECTS[name]
    report = run(tmp_path / "p", name, {**dialect.files, **files}, chosen, tuple(files) or (dialect.test,), words)
    assert report.canary == "held", (report.canary_said, report.output)
    assert "failed" in report.outcomes.values() and report.exit_code == dialect.code_of_failure
    assert {outcome for test, outcome in report.outcomes.items() if "adds" in test.lower()} == {"failed"}


# -- what breaks honestly is not blamed ----------------------------------------------------------------------------------------------

GO_MORE = 'package calc\n\nimport "testing"\n\nfunc TestMore(t *testing.T) { Subtract() }\n'
HONEST_FAULTS: dict[str, tuple[str, Files, str]] = {
    "go, a test that misses a name": ("go", {"calc/more_test.go": GO_MORE}, "held"),
    "go, code that panics": ("go", {"calc/calc.go": 'package calc\n\nfunc Add(a, b int) int { panic("no") }\n'}, "held"),
    "go, code that cannot be built": ("go", {"calc/calc.go": "package calc\n\nfunc Add(a, b int) int { return }\n"}, "unsupported"),
    "go, code that ends the process": ("go", {"calc/calc.go": 'package calc\n\nimport "os"\n\nfunc init() { os.Exit(3) }\n\nfunc Add(a, b int) int { return 0 }\n'}, "unsupported"),
    "cargo, a test that misses a name": ("cargo", {"tests/more.rs": "use calc::subtract;\n#[test]\nfn more() { subtract(); }\n"}, "held"),
    "cargo, code that cannot be built": ("cargo", {"src/lib.rs": "pub fn add(_a: i32, _b: i32) -> i32 { }\n"}, "unsupported"),
    "rspec, code that cannot be loaded": ("rspec", {"lib/calc.rb": "raise 'no'\n"}, "held"),
    "phpunit, a test that cannot be loaded": ("phpunit", {"tests/moreTest.php": "<?php\nmore();\n"}, "held"),
    "mocha, a test that misses a name": ("mocha", {"test/more.js": "import { more } from '../calc.js';\nit('x', () => more());\n"}, "held"),
    "mocha, several failures": ("mocha", {"test/calc.js": M_TEST + "it('more', () => { throw new Error('x'); });\n"}, "held"),
    "unittest, a test that cannot be loaded": ("unittest", {"tests/test_more.py": "import nothing_like_it\n"}, "held"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("row", HONEST_FAULTS)
def test_what_breaks_honestly_is_not_called_tampering(row: str, tmp_path: Path) -> None:
    name, files, canary = HONEST_FAULTS[row]
    report = run(tmp_path / "p", name, {**DIALECTS[name].files, **files}, near=tuple(files))
    assert report.canary == canary, (report.canary_said, report.output)
    assert report.bad and report.exit_code
    if name == "mocha":
        assert report.exit_code == 2


# -- where there is none -------------------------------------------------------------------------------------------------------------


def with_words(name: str, *words: str) -> Command:
    base = DIALECTS[name].base
    return Command((*base.argv, *words), name, paths=base.paths)


LISTED = DIALECTS["cargo"].files["Cargo.toml"] + 'autotests = false\n[[test]]\nname = "calc"\npath = "tests/calc.rs"\n'
STOPS = DIALECTS["phpunit"].files["phpunit.xml"].replace("<phpunit>", '<phpunit stopOnFailure="true">')
UNSUPPORTED: dict[str, tuple[Command, Files, tuple[str, ...], str]] = {
    "unittest, a name": (with_words("unittest", "-k", "adds"), {}, (), "selects tests by name"),
    "unittest, one file": (with_words("unittest", "-p", "test_calc.py"), {}, (), "cannot match a test of Detent's"),
    "vitest, a name": (with_words("vitest", "-t", "adds"), {}, (), "selects tests by name"),
    "cargo, targets that are listed": (DIALECTS["cargo"].base, {"Cargo.toml": LISTED}, (), "lists its test targets"),
    "rspec, a coverage limit": (DIALECTS["rspec"].base, {"spec/spec_helper.rb": "SimpleCov.start { minimum_coverage 90 }\n"}, (), "coverage limit"),
    "rspec, an exit code": (DIALECTS["rspec"].base, {".rspec": "--failure-exit-code 3\n"}, (), "its own exit code"),
    "phpunit, the first failure ends it": (DIALECTS["phpunit"].base, {"phpunit.xml": STOPS}, (), "stops at the first failure"),
    "phpunit, data sets": (DIALECTS["phpunit"].base, {}, ("--filter=testAdds#1",), "data sets"),
    "go, no tests": (Command(("go", "test", "./other"), "go", paths=("./other",)), {}, (), "no folder"),
    "ctest": (Command(("ctest",), "ctest"), {}, (), "CMakeLists.txt"),
    "maven": (Command(("mvn", "test"), "maven"), {}, (), "Detent cannot add tests of its own"),
    "gradle": (Command(("gradle", "test"), "gradle"), {}, (), "Detent cannot add tests of its own"),
}  # fmt: skip


@pytest.mark.parametrize("row", UNSUPPORTED)
def test_where_there_can_be_none_the_reason_is_said(row: str, tmp_path: Path) -> None:
    base, files, selectors, says = UNSUPPORTED[row]
    plain = DIALECTS[base.runner].files if base.runner in DIALECTS else {}
    write(tmp_path, {**plain, **files})
    found = RUNNERS[base.runner].canary(base, selectors, Folder(tmp_path), ())
    assert isinstance(found, str) and says in found


NAMES = {
    "calc.test.js": "W.test.js", "calc.check.ts": "W.check.ts", "calc_test.js": "W_test.js", "test-calc.mjs": "test-W.mjs", "calc.js": "W.js",
    "calc_spec.rb": "W_spec.rb", "CalcTest.php": "WTest.php", "calc.integration.test.tsx": "W.integration.test.tsx", "Makefile": "",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_named_as_the_tests_beside_it(name: str) -> None:
    assert named_like(name, "W") == NAMES[name]


def made(name: str, folder: Path, near: tuple[str, ...]) -> list[Any]:
    canary = RUNNERS[name].canary(DIALECTS[name].base, (), Folder(folder), near)
    assert not isinstance(canary, str), canary
    return list(canary.canary_files)


@pytest.mark.parametrize("name", DIALECTS)
def test_it_lies_beside_the_changed_tests_under_names_that_differ_from_run_to_run(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    write(tmp_path, dialect.files)
    where = os.path.dirname(dialect.test)
    gone = f"{where}/new{os.path.basename(dialect.test)}"  # it is not in the older tree, but its folder is
    canary_files = [canary_file for near in ((dialect.test,), (dialect.test,), (gone,), ()) for canary_file in made(name, tmp_path, near)]
    assert [os.path.dirname(canary_file.path) for canary_file in canary_files] == [where] * 4
    words = [word for canary_file in canary_files for word in (canary_file.word, canary_file.passes, canary_file.fails, canary_file.says)]
    assert len(set(words)) == len(words) == 16
    assert all(RUNNERS[name].is_test(canary_file.path) and not (tmp_path / canary_file.path).exists() for canary_file in canary_files)
