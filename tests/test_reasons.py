"""Why a test failed, and whose reason it is: read from reports of the real runners, in the words of each language."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from detent.evidence.changes.changes import looked_up, patterns_of
from detent.evidence.changes.dependencies import declared_dependencies, is_foreign
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder
from detent.evidence.runners.rust.cargo_report import _place
from detent.evidence.running.suite import placed
from tests.dialects import lend_runners
from tests.native_dialects import CACHES, MAVEN_FILES, PATH
from tests.repos import write

SORTS = ("product", "test", "machine", "unknown")


def run(folder: Path, base: Command, selectors: tuple[str, ...] = ()) -> TestReport:
    """The real runner, read by its adapter, with places as in any checkout."""
    lend_runners(folder, base)
    report = folder.parent / f"{folder.name}.report"
    report.touch()
    runner = RUNNERS[base.runner]
    env = {**os.environ, **CACHES, "PATH": PATH, "CARGO_TARGET_DIR": str(folder.parent / "target"), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(runner.argv(base, selectors, str(report), Folder(folder)), cwd=folder, capture_output=True, text=True, env=env)
    return placed(runner.read(report.read_bytes() or None, ran.returncode, ran.stdout + ran.stderr), folder)


def reasons(folder: Path, report: TestReport) -> dict[str, Reason]:
    files, runner = Folder(folder), RUNNERS[report.runner]
    is_test = looked_up(runner, patterns_of(runner, files, ()), files, report.files.values()).is_test
    return {test: reason(report, test, is_test, is_foreign(declared_dependencies(files)), files.read) for test in report.bad}


def check(folder: Path, report: TestReport, wanted: dict[str, tuple[str, str]]) -> None:
    """Each failed test has the sort and the words that are wanted of it."""
    found = reasons(folder, report)
    said = {test: (found[test].sort, found[test].sentence) if test in found else ("", "it did not fail") for test in wanted}
    wrong = {test: said[test] for test, (sort, words) in wanted.items() if said[test][0] != sort or words not in said[test][1]}
    assert not wrong
    assert set(found) <= set(wanted), "nothing else failed"


PYTHON_CODE = """import json

class OwnError(Exception): pass
def add(a, b): return a - b
def divide(a, b):
    if not b: raise ValueError("bad input")
    return a / b
def own(): raise OwnError("mine")
def reads(text): return json.loads(text)
def forgets(): return never_bound
def rows(): return {}
"""
PYTHON_TESTS = """import calc

def test_asserts(): assert calc.add(1, 2) == 3
def test_raises(): calc.divide(1, 0)
def test_own(): calc.own()
def test_deep(): calc.reads("{")
def test_missing(): calc.multiply(1, 2)
def test_call(): calc.add(1, 2, by=3)
def test_in_product(): calc.forgets()
def test_forgotten(): asserted(1)
def test_data(): calc.rows()["total"]
def test_machine(): raise OSError(28, "No space left on device")
def test_memory(): raise MemoryError
def test_well(): pass
"""


def test_reasons_of_pytest(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write(
        folder,
        {
            "pyproject.toml": '[project]\nname = "calc"\ndependencies = ["not-there-at-all>=1"]\n',
            "calc.py": PYTHON_CODE,
            "doc.py": '"""\n>>> 1 + 1\n3\n"""\n',
            "tests/test_calc.py": PYTHON_TESTS
            + "import pytest\ndef test_expects():\n    with pytest.raises(KeyError): pass\n"
            + "def test_fixture(nobody_wrote_this): pass\n"
            + "@pytest.fixture\ndef made(): return calc.divide(1, 0)\ndef test_set_up(made): pass\n",
            "tests/test_star.py": "from calc import *\ndef test_star(): multiply(1, 2)\n",
            "tests/test_broken.py": "def test_x(:\n",
            "tests/test_foreign.py": "import not_there_at_all.sub\n",
            "tests/test_new.py": "from shapes import area\n",
            "tests/test_new_name.py": "from calc import nothing_yet\n",
        },
    )
    at = "tests/test_calc.py::test_"
    report = run(folder, Command((sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--doctest-modules"), "pytest"))
    check(
        folder,
        report,
        {
            f"{at}asserts": ("product", "assert -1 == 3"),
            f"{at}raises": ("product", "ValueError: bad input (calc.py:6)"),
            f"{at}own": ("product", "OwnError: mine (calc.py:8)"),
            f"{at}deep": ("product", "(calc.py:9)"),
            f"{at}missing": ("product", "has no attribute 'multiply'"),
            f"{at}call": ("product", "unexpected keyword argument 'by'"),
            f"{at}in_product": ("product", "never_bound"),
            f"{at}forgotten": ("test", "the test uses asserted, which it neither defines nor imports"),
            f"{at}data": ("unknown", "KeyError: 'total' (tests/test_calc.py:11)"),
            f"{at}machine": ("machine", "No space left"),
            f"{at}memory": ("machine", "MemoryError"),
            f"{at}expects": ("product", "DID NOT RAISE"),
            f"{at}fixture": ("test", "fixture 'nobody_wrote_this' not found"),
            f"{at}set_up": ("product", "ValueError: bad input (calc.py:6)"),
            "doc.py::doc": ("product", "doc.py:2"),
            "tests/test_broken.py": ("test", "the test file does not parse"),
            "tests/test_foreign.py": ("test", "not_there_at_all is a third-party package"),
            "tests/test_star.py::test_star": ("product", "name 'multiply' is not defined"),
            "tests/test_new.py": ("product", "No module named 'shapes'"),
            "tests/test_new_name.py": ("product", "cannot import name 'nothing_yet'"),
        },
    )
    msgspec.json.encode(report)


def test_reasons_of_unittest(tmp_path: Path) -> None:
    folder = tmp_path / "u"
    body = PYTHON_TESTS.replace("def test_", "    def test_").replace("()", "(self)", 0)
    lines = [line.replace("():", "(self):", 1) if line.startswith("    def") else line for line in body.splitlines()]
    text = "\n".join(["import unittest", *lines[:2], "class T(unittest.TestCase):", *lines[2:]])
    write(folder, {"calc.py": PYTHON_CODE, "test_calc.py": text, "test_broken.py": "def x(:\n", "test_new.py": "from shapes import area\n"})
    at = "test_calc.py::T::test_"
    check(
        folder,
        run(folder, Command((sys.executable, "-m", "unittest"), "unittest")),
        {
            f"{at}asserts": ("product", "AssertionError"),
            f"{at}raises": ("product", "ValueError: bad input (calc.py:6)"),
            f"{at}own": ("product", "OwnError: mine (calc.py:8)"),
            f"{at}deep": ("product", "(calc.py:9)"),
            f"{at}missing": ("product", "multiply"),
            f"{at}call": ("product", "by"),
            f"{at}in_product": ("product", "(calc.py:10)"),
            f"{at}forgotten": ("test", "the test uses asserted, which it neither defines nor imports"),
            f"{at}data": ("unknown", "KeyError: 'total'"),
            f"{at}machine": ("machine", ""),
            f"{at}memory": ("machine", ""),
            "test_broken.py": ("test", "the test file does not parse"),
            "test_new.py": ("product", "shapes"),
        },
    )


SCRIPT_CODE = """
class OwnError extends Error { constructor(m) { super(m); this.name = 'OwnError'; } }
const add = (a, b) => a - b;
const divide = (a, b) => { if (!b) throw new RangeError('bad input'); return a / b; };
const own = () => { throw new OwnError('mine'); };
const reads = (text) => JSON.parse(text);
const forgets = () => neverBound;
const rows = () => undefined;
"""
NAMES = "add, divide, own, reads, forgets, rows"
SCRIPT_TESTS = """
describe('s', () => {
  it('asserts', () => { assert.equal(code.add(1, 2), 3); });
  it('raises', () => { code.divide(1, 0); });
  it('own', () => { code.own(); });
  it('deep', () => { code.reads('{'); });
  it('missing', () => { code.multiply(1, 2); });
  it('in product', () => { code.forgets(); });
  it('forgotten', () => { asserted(1); });
  it('data', () => { code.rows().total; });
  it('machine', () => { throw new Error('ENOSPC: no space left on device, write'); });
  it('well', () => {});
});
"""
LATE = "describe('late', () => { it('never ends', async () => { await new Promise((r) => setTimeout(r, 900)); }, 50); });\n"


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["node", "vitest", "jest", "mocha"])
def test_reasons_of_scripts(tmp_path: Path, runner: str) -> None:
    folder = tmp_path / "project"  # vitest leaves folders of its own name out of stacks
    esm = runner == "vitest"
    end = "mjs" if esm else "js"
    wants = f"import * as code from '../src/code.{end}';\n" if esm else "const code = require('../src/code.js');\n"
    head = {
        "node": "const { describe, it } = require('node:test');\nconst assert = require('node:assert');\n",
        "vitest": "import { describe, it } from 'vitest';\nimport assert from 'node:assert';\n",
    }.get(runner, "const assert = require('node:assert');\n")
    late = LATE if runner in ("vitest", "jest") else ""

    def loads(name: str) -> str:
        return f"import '{name}';\n" if esm else f"require('{name}');\n"

    test = f"test/a.test.{end}"
    write(
        folder,
        {
            "package.json": '{"devDependencies": {"not-there-at-all": "1"}}',
            f"src/code.{end}": SCRIPT_CODE + (f"export {{ {NAMES} }};" if esm else f"module.exports = {{ {NAMES} }};"),
            test: head + wants + SCRIPT_TESTS + late,
            f"test/broken.test.{end}": head + "it('x', () => { ; );\n",
            f"test/foreign.test.{end}": head + loads("not-there-at-all") + "it('x', () => {});\n",
            f"test/new.test.{end}": head + loads(f"../src/shapes.{end}") + "it('x', () => {});\n",
        },
    )
    base = {
        "node": Command(("node", "--test"), "node"),
        "vitest": Command(("node_modules/.bin/vitest", "run"), "vitest"),
        "jest": Command(("node_modules/.bin/jest",), "jest"),
        "mocha": Command(("node_modules/.bin/mocha", "--recursive"), "mocha"),
    }[runner]
    at = f"{test}::s > "
    wanted = {
        f"{at}asserts": ("product", "AssertionError"),
        f"{at}raises": ("product", f"RangeError: bad input (src/code.{end}:4)"),
        f"{at}own": ("product", f"OwnError: mine (src/code.{end}:5)"),
        f"{at}deep": ("product", f"(src/code.{end}:6)"),
        f"{at}missing": ("product", "multiply is not a function"),
        f"{at}in product": ("product", f"neverBound is not defined (src/code.{end}:7)"),
        f"{at}forgotten": ("test", "the test uses asserted, which it neither defines nor imports"),
        f"{at}data": ("unknown", f"({test}:"),
        f"{at}machine": ("machine", "ENOSPC"),
        f"test/broken.test.{end}": ("test", "the test file does not parse"),
        f"test/foreign.test.{end}": ("test", "not-there-at-all is a third-party package"),
        f"test/new.test.{end}": ("product", "shapes"),
    }
    if late:
        wanted[f"{test}::late > never ends"] = ("machine", "it did not finish in time")
    check(folder, run(folder, base), wanted)


GO_CODE = """package calc

import "errors"

func Add(a, b int) int { return a - b }
func Divide(a, b int) int {
	return a / b
}
func Own() error { return errors.New("mine") }
"""
GO_TEST = """package calc

import "testing"

func TestAsserts(t *testing.T) {
	if Add(1, 2) != 3 { t.Errorf("no: %d", Add(1, 2)) }
}
func TestTable(t *testing.T) {
	t.Run("row", func(t *testing.T) { if err := Own(); err != nil { t.Fatal(err) } })
}
"""


@pytest.mark.slow
def test_reasons_of_go(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    one = 'package {0}\n\nimport "testing"\n\nfunc TestX(t *testing.T) {{ {1} }}\n'
    write(
        folder,
        {
            "go.mod": "module example.com/m\n\ngo 1.20\n",
            "calc/calc.go": GO_CODE,
            "calc/calc_test.go": GO_TEST,
            "panics/code.go": "package panics\n\nfunc Rows(a []int) int {\n\treturn a[3]\n}\n",
            "panics/a_test.go": one.format("panics", "Rows(nil)"),
            "names/code.go": "package names\n",
            "names/a_test.go": one.format("names", "NotThereYet()"),
            "broken/code.go": "package broken\n",
            "broken/a_test.go": one.format("broken", "if {"),
            "foreign/code.go": "package foreign\n",
            "foreign/a_test.go": 'package foreign\n\nimport (\n\t"testing"\n\t"github.com/nobody/nothing"\n)\n\nfunc TestX(t *testing.T) { nothing.Do() }\n',
        },
    )  # fmt: skip
    check(
        folder,
        run(folder, Command(("go", "test", "./..."), "go", "configured", ("./...",))),
        {
            "calc/calc_test.go::TestAsserts": ("product", "(calc/calc_test.go:6)"),
            "calc/calc_test.go::TestTable/row": ("product", "mine (calc/calc_test.go:9)"),
            "panics/a_test.go::TestX": ("product", "(panics/code.go:4)"),
            "names/a_test.go": ("product", "undefined: NotThereYet (names/a_test.go:5)"),
            "broken/a_test.go": ("test", "the test file does not compile"),
            "foreign/a_test.go": ("test", "github.com/nobody/nothing is a third-party package"),
        },
    )


def test_a_panic_of_an_older_rust_has_its_place_behind_its_message() -> None:
    said = (
        "thread 'asserts' panicked at 'assertion failed: `(left == right)`\n  left: `3`,\n right: `4`', tests/all.rs:2:19\nnote: run with"
    )
    assert _place(said) == "tests/all.rs:2"


@pytest.mark.slow
def test_reasons_of_cargo(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    code = "pub fn add(a: i32, b: i32) -> i32 { a - b }\npub fn own(t: &str) -> Result<i32, String> { Err(t.to_string()) }\n"
    code += 'pub fn boom() { panic!("bad input") }\n#[cfg(test)] mod tests { #[test] fn adds() { assert_eq!(super::add(1, 2), 3); } }\n'
    tests = 'use m::*;\n#[test] fn asserts() { assert_eq!(add(1, 2), 3); }\n#[test] fn panics() { boom() }\n#[test] fn unwraps() { own("x").unwrap(); }\n'
    write(
        folder,
        {
            "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": code,
            "tests/all.rs": tests,
            "tests/names.rs": "#[test] fn x() { m::not_there_yet(); }\n",
            "tests/broken.rs": "#[test] fn x() { let a = ; }\n",
            "tests/fits.rs": "#[test] fn x() { let a: String = m::add(1, 2); }\n",
        },
    )
    check(
        folder,
        run(folder, Command(("cargo", "test"), "cargo")),
        {
            "src/lib.rs::tests::adds": ("product", "(src/lib.rs:4)"),
            "tests/all.rs::asserts": ("product", "(tests/all.rs:2)"),
            "tests/all.rs::panics": ("product", "(src/lib.rs:3)"),
            "tests/all.rs::unwraps": ("product", "(tests/all.rs:4)"),
            "tests/names.rs": ("product", "not_there_yet"),
            "tests/broken.rs": ("test", "the test file does not compile"),
            "tests/fits.rs": ("unknown", "does not match the code"),
        },
    )


def test_reasons_of_rspec(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    write(
        folder,
        {
            "lib/calc.rb": "module Calc\n  def self.add(a, b) = a - b\n  def self.boom = raise(ArgumentError, 'bad input')\nend\n",
            "spec/calc_spec.rb": "require_relative '../lib/calc'\nRSpec.describe Calc do\n  it('asserts') { expect(Calc.add(1, 2)).to eq 3 }\n"
            "  it('raises') { Calc.boom }\n  it('misses') { Calc.multiply }\n  it('forgets') { nobody_bound_this }\nend\n",
            "spec/broken_spec.rb": "RSpec.describe 'x' do\n  it('a') { ( }\nend\n",
        },
    )  # fmt: skip
    check(
        folder,
        run(folder, Command(("rspec",), "rspec")),
        {
            "spec/calc_spec.rb::Calc asserts": ("product", "AssertionError"),
            "spec/calc_spec.rb::Calc raises": ("product", "ArgumentError: bad input (lib/calc.rb:3)"),
            "spec/calc_spec.rb::Calc misses": ("product", "multiply"),
            "spec/calc_spec.rb::Calc forgets": ("test", "nobody_bound_this"),
            "spec/broken_spec.rb": ("test", "the test file does not parse"),
        },
    )


def test_reasons_of_phpunit(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write(
        folder,
        {
            "phpunit.xml": '<phpunit><testsuites><testsuite name="a"><directory>tests</directory></testsuite></testsuites></phpunit>',
            "src/calc.php": "<?php\nfunction add($a, $b) { return $a - $b; }\nfunction boom() {\n  throw new DomainException('bad input');\n}\n",
            "tests/CalcTest.php": "<?php\nrequire_once __DIR__ . '/../src/calc.php';\nclass CalcTest extends PHPUnit\\Framework\\TestCase {\n"
            "  function testAsserts() { $this->assertSame(3, add(1, 2)); }\n  function testRaises() { boom(); }\n  function testMisses() { multiply(1); }\n}\n",
        },
    )
    check(
        folder,
        run(folder, Command(("phpunit",), "phpunit")),
        {
            "tests/CalcTest.php::testAsserts": ("product", "(tests/CalcTest.php:4)"),
            "tests/CalcTest.php::testRaises": ("product", "bad input (src/calc.php:4)"),
            "tests/CalcTest.php::testMisses": ("product", "multiply"),
        },
    )


@pytest.mark.slow
def test_reasons_of_maven(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    one = "package m;\nimport org.junit.Test;\nimport static org.junit.Assert.*;\npublic class {0} {{\n{1}}}\n"
    tests = "  @Test public void asserts() { assertEquals(3, Calc.add(1, 2)); }\n  @Test public void raises() { Calc.boom(); }\n"
    tests += "  @Test public void data() { Calc.rows().length(); }\n"
    write(
        folder,
        {
            **MAVEN_FILES,
            "src/main/java/m/Calc.java": "package m;\npublic class Calc {\n  static int add(int a, int b) { return a - b; }\n"
            '  static void boom() { throw new IllegalStateException("bad input"); }\n  static String rows() { return null; }\n}\n',
            "src/test/java/m/CalcTest.java": one.format("CalcTest", tests),
            "src/test/java/m/NameTest.java": one.format("NameTest", "  @Test public void x() { Calc.notThereYet(); }\n"),
            "src/test/java/m/BrokenTest.java": one.format("BrokenTest", "  @Test public void x() { int a = ; }\n"),
        },
    )
    at = "src/test/java/m/CalcTest.java::"
    check(
        folder,
        run(folder, Command(("mvn", "test"), "maven")),
        {
            f"{at}asserts": ("product", "(src/test/java/m/CalcTest.java:5)"),
            f"{at}raises": ("product", "IllegalStateException: bad input (m/Calc.java:4)"),
            f"{at}data": ("unknown", "NullPointerException"),
            "src/test/java/m/NameTest.java": ("product", "cannot find symbol"),
            "src/test/java/m/BrokenTest.java": ("test", "the test file does not compile"),
        },
    )


TRACE = """java.lang.IllegalStateException: bad input
	at java.base/java.util.Objects.requireNonNull(Objects.java:233)
	at m.Calc.boom(Calc.java:4)
	at m.CalcTest.raises(CalcTest.java:6)
	at org.junit.runners.model.FrameworkMethod.invoke(FrameworkMethod.java:59)
"""


@pytest.mark.parametrize("runner", ["maven", "gradle"])
def test_the_place_of_a_failure_is_taken_from_a_stack_of_the_jvm(runner: str) -> None:
    """In the form of Surefire's reports, and of the lines that our listener in Gradle writes."""
    xml = f'<testsuite><testcase classname="m.CalcTest" name="raises"><error type="java.lang.IllegalStateException" message="bad input">{TRACE}</error></testcase></testsuite>'
    begin = {"type": "start", "module": "", "of": "m.CalcTest", "name": "raises"}
    end = {
        **begin,
        "type": "end",
        "result": "FAILURE",
        "said": "java.lang.IllegalStateException: bad input",
        "seconds": 0.1,
        "trace": TRACE,
    }
    lines = "".join(msgspec.json.encode(each).decode() + "\n" for each in (begin, end, {"type": "done", "count": 2}))
    said = {
        "code": 1,
        "logs": [{"module": "", "text": xml if runner == "maven" else lines}],
        "classes": {"m.CalcTest": ["src/test/java/m/CalcTest.java"]},
    }
    report = RUNNERS[runner].read(msgspec.json.encode(said), 1, "")
    test = "src/test/java/m/CalcTest.java::raises"
    assert report.places == {test: "m/Calc.java:4"}
    assert reason(report, test, RUNNERS[runner].is_test, lambda name: False) == Reason(
        "product", "IllegalStateException: bad input (m/Calc.java:4)"
    )


@pytest.mark.parametrize(
    ("test", "kind", "message", "place", "sort", "words"),
    [
        ("a.test.js", "Error", "Cannot find module 'lodash' from 'a.test.js'", "", "unknown", "lodash does not exist: an undeclared package"),
        ("a.test.js", "Error", "Cannot find module './cart' from 'a.test.js'", "", "product", "Cannot find module './cart'"),
        ("tests/fits.rs", "BuildError", "mismatched types", "tests/fits.rs:1", "unknown", "the test does not match the code it calls"),
        ("tests/a_test.go", "BuildError", "syntax error: missing condition in if statement", "tests/a_test.go:5", "test", "the test file does not compile"),
        ("tests/a_test.go", "BuildError", "module lookup disabled by GOPROXY=off", "tests/a_test.go:5", "test", "a module that it needs is not installed here"),
        ("tests/a_test.go", "BuildError", '"os" imported and not used', "tests/a_test.go:4", "test", "the test file does not compile"),
        ("tests/a_test.go", "BuildError", "syntax error: non-declaration statement", "calc/calc.go:7", "product", "a file of the product does not compile"),
        ("tests/all.rs::exits", "Exit", "it exited with code 3", "", "unknown", "it exited with code 3: the process ended before the test did"),
        ("a_test.go::TestA", "Exit", "the process ended before the test began", "", "unknown", "Exit: the process ended before the test began"),
        ("tests/a_test.go", "BuildError", "TestA redeclared in this block", "tests/a_test.go:5", "unknown", "the name is declared elsewhere in the package as well"),
        ("tests/a_test.go::TestX", "panic", "runtime error: index out of range", "", "unknown", "the report does not say where it came from"),
    ],
)  # fmt: skip
def test_whose_reason_it_is_when_a_file_does_not_build_or_its_process_ends(
    test: str, kind: str, message: str, place: str, sort: str, words: str
) -> None:
    """In the words of Jest, Cargo and Go."""
    names = (test,) if message.startswith("Cannot find") else ()
    report = TestReport(
        {test: "error"}, kinds={test: kind}, messages={test: message}, places={test: place} if place else {}, missing_names=names
    )
    why = reason(report, test, lambda path: path.startswith("tests/"), lambda name: False)
    assert (why.sort, words in why.sentence) == (sort, True), why
    assert why.sentence.count("the process ended") < 2, why


def test_a_report_that_says_nothing_is_unknown_and_one_that_was_cut_is_the_machines() -> None:
    nobody = lambda path: False  # noqa: E731  two questions that nobody asks here
    assert reason(TestReport({"a": "failed"}), "a", nobody, nobody) == Reason("unknown", "the report does not say why")
    assert reason(TestReport(), "not there", nobody, nobody).sort == "unknown"
    assert reason(TestReport({"a": "failed"}, late=True), "a", nobody, nobody).sort == "machine"
    only = TestReport({"a": "failed"}, kinds={"a": "Odd"}, messages={"a": "x" * 5000})
    assert reason(only, "a", nobody, nobody).sort == "unknown" and len(reason(only, "a", nobody, nobody).sentence) < 300


def test_declared_packages_are_read_from_every_manifest(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "own"\ndependencies = ["PyYAML>=6", "a-b[x]; python_version < \'4\'"]\n[project.optional-dependencies]\nextra = ["opt"]\n'
            '[dependency-groups]\ndev = ["grouped", {include-group = "x"}]\n[tool.poetry.group.dev.dependencies]\npoem = "^1"\n[build-system]\nrequires = ["hatchling"]\n',
            "requirements-dev.txt": "# none\n-r other.txt\nlisted==1.0\n",
            "setup.cfg": "[options]\ninstall_requires =\n    from_cfg\n",
            "package.json": '{"dependencies": {"@scope/thing": "1"}, "devDependencies": {"left-pad": "1"}}',
            "go.mod": "module example.com/own\n\nrequire (\n\tgithub.com/a/b v1.0.0\n)\nrequire github.com/c/d v1.0.0\n",
            "Cargo.toml": '[dependencies]\nserde = { version = "1", features = ["derive"] }\n[dev-dependencies]\nrand = "0.8"\n',
        },
    )  # fmt: skip
    declared = declared_dependencies(Folder(tmp_path))
    foreign = is_foreign(declared)
    ours = ("yaml", "yaml.nodes", "a_b", "opt", "grouped", "poem", "listed", "from_cfg", "@scope/thing/sub", "left-pad", "github.com/a/b/sub",
            "github.com/c/d", "serde", "rand", "tomllib")  # fmt: skip
    assert [name for name in ours if not foreign(name)] == []
    assert [
        name for name in ("own", "other", "./left-pad", "example.com/own/x", "derive", "version", "dev", "include_group") if foreign(name)
    ] == []


def test_manifests_that_cannot_be_read_declare_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[", "package.json": "[1", "setup.cfg": "x", "Cargo.toml": "=", "composer.json": "[]"})
    assert declared_dependencies(Folder(tmp_path)) == frozenset()
