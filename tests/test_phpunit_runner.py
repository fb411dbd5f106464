"""The PHPUnit adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.running.project_site import link_composer_packages
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.machine import need_runner
from tests.native_dialects import PATH, PHP_XML
from tests.patience import LONG
from tests.repos import write

PHPUNIT = RUNNERS["phpunit"]
BASE = Command(("phpunit",), "phpunit", "path")
HEAD = "<?php\nrequire_once __DIR__ . '/../src/calc.php';\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class {0} extends TestCase\n{{\n"
MANY = (
    HEAD.format("ManyTest")
    + """    public function testPasses(): void { $this->assertTrue(true); }
    public function testFails(): void { $this->assertSame(1, 2, 'no'); }
    public function testFailsByHand(): void { $this->fail('by hand'); }
    public function testRaises(): void { throw new RuntimeException('Call to undefined function x()'); }
    public function testNoFunction(): void { not_there_yet(); }
    public function testNoClass(): void { new NotThereYet(); }
    public function testNoMethod(): void { (new Calc())->notThereYet(); }
    public function testNoConstant(): void { NOT_THERE_YET; }
    public function testNoArgument(): void { (new Calc())->one(); }
    public function testSkips(): void { $this->markTestSkipped('not now'); }
    public function testIncomplete(): void { $this->markTestIncomplete(); }
    public function testAssertsNothing(): void { }
    public function testPrints(): void { echo "OK (1 test)\\n<testsuites/>"; $this->assertTrue(true); }
    public function testExpects(): void { $this->expectException(RuntimeException::class); }
    /** @dataProvider pairs */
    public function testPairs(int $a, int $b): void { $this->assertSame($a, $b); }
    public function pairs(): array { return [[1, 1], 'a < "b"' => [1, 2]]; }
    public function notATest(): void { $this->fail(); }
}
"""
)
PROJECT = {
    "phpunit.xml": PHP_XML,
    "src/calc.php": "<?php\nclass Calc { function one(int $a) { return 1; } }\n",
    "tests/ManyTest.php": MANY,
    "tests/SetUpTest.php": HEAD.format("SetUpTest")
    + "    protected function setUp(): void { notThereYet(); }\n    function testA() { }\n}\n",
    "tests/NoneTest.php": HEAD.format("NoneTest") + "}\n",
    "tests/Helper.php": "<?php\n",
}
OUTCOMES = {
    "tests/ManyTest.php::testPasses": "passed",
    "tests/ManyTest.php::testFails": "failed",
    "tests/ManyTest.php::testFailsByHand": "failed",
    "tests/ManyTest.php::testRaises": "failed",
    "tests/ManyTest.php::testNoFunction": "failed",
    "tests/ManyTest.php::testNoClass": "failed",
    "tests/ManyTest.php::testNoMethod": "failed",
    "tests/ManyTest.php::testNoConstant": "failed",
    "tests/ManyTest.php::testNoArgument": "failed",
    "tests/ManyTest.php::testSkips": "skipped",
    "tests/ManyTest.php::testIncomplete": "skipped",
    "tests/ManyTest.php::testAssertsNothing": "skipped",
    "tests/ManyTest.php::testPrints": "passed",
    "tests/ManyTest.php::testExpects": "failed",
    "tests/ManyTest.php::testPairs with data set #0": "passed",
    'tests/ManyTest.php::testPairs with data set "a < "b""': "failed",
    "tests/SetUpTest.php::testA": "failed",
}
BROKEN = {
    "tests/NoParentTest.php": "<?php\nclass NoParentTest extends NotThereYet {}\n",
    "tests/SyntaxTest.php": "<?php\nclass SyntaxTest { {\n",
    "tests/ExitsTest.php": HEAD.format("ExitsTest") + "    function testA() { exit(0); }\n}\n",
}


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    need_runner("phpunit")
    suite = Suite(base, LONG, PATH)
    return run_suite(suite, selectors, root, root, environment(suite, os.environ, root.parent / "pycache"), lambda: True)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = tmp_path_factory.mktemp("phpunit-runner") / "project"
    write(root, PROJECT)
    return run(root), root


def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    assert big[0].outcomes == OUTCOMES


def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    inside = ("testNoArgument", "testNoClass", "testNoConstant", "testNoFunction", "testNoMethod")
    assert sorted(big[0].missing_names) == [*(f"tests/ManyTest.php::{name}" for name in inside), "tests/SetUpTest.php::testA"]


def test_a_failure_has_its_kind_and_its_words(big: tuple[TestReport, Path]) -> None:
    kinds, messages = big[0].kinds, big[0].messages
    assert kinds["tests/ManyTest.php::testFails"] == kinds["tests/ManyTest.php::testFailsByHand"] == "AssertionError"
    assert kinds["tests/ManyTest.php::testRaises"] == "RuntimeException"
    assert "no\nFailed asserting that 2 is identical to 1." in messages["tests/ManyTest.php::testFails"]
    assert ") ManyTest::testNoFunction" in big[0].output


def test_nothing_is_left_in_the_project(big: tuple[TestReport, Path]) -> None:
    assert {path.relative_to(big[1]).as_posix() for path in big[1].rglob("*") if path.is_file()} == PROJECT.keys()


def test_files_that_cannot_be_loaded_do_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "p", {**PROJECT, **BROKEN})
    seen = run(tmp_path / "p")
    assert seen.outcomes == {**OUTCOMES, **dict.fromkeys(BROKEN, "error")}
    assert {test for test in seen.missing_names if test in BROKEN} == {"tests/NoParentTest.php"}


def test_a_checkout_has_the_projects_packages_but_loads_its_own_code(tmp_path: Path) -> None:
    root, checkout = tmp_path / "root", tmp_path / "checkout"
    case = "class OwnTest extends PHPUnit\\Framework\\TestCase {\n    function testOwn() { $this->assertSame(near(), here()); }\n}\n"
    test = f"<?php\nrequire __DIR__ . '/../vendor/autoload.php';\n{case}"
    for folder in (root, checkout):
        code = f"<?php\nfunction here() {{ return '{folder.name}'; }}\n"
        write(folder, {"phpunit.xml": PHP_XML, "src/here.php": code, "tests/OwnTest.php": test})
    real = "<?php\nrequire dirname(__DIR__, 2) . '/src/here.php';\nrequire dirname(__DIR__) . '/near/near/near.php';\n"
    near = {"near/near/near.php": "<?php\nfunction near() { return 'checkout'; }\n", "composer/autoload_real.php": real}
    write(
        root,
        {
            f"vendor/{name}": text
            for name, text in {"autoload.php": "<?php\nrequire __DIR__ . '/composer/autoload_real.php';\n", **near}.items()
        },
    )
    (checkout / "vendor").symlink_to(root / "vendor")
    with pytest.raises(CannotTell, match="composer would load the code of another checkout"):
        run(checkout)
    link_composer_packages(root, checkout)
    assert run(checkout).outcomes == {"tests/OwnTest.php::testOwn": "passed"}
    assert run(root).outcomes == {"tests/OwnTest.php::testOwn": "failed"}


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("tests/ManyTest.php",), {i for i in OUTCOMES if i.startswith("tests/ManyTest")}),
        (("tests/ManyTest.php", "tests/SetUpTest.php"), set(OUTCOMES)),
        (("--filter=testPasses",), {"tests/ManyTest.php::testPasses"}),
        (("tests/NoneTest.php",), set()),
        (("tests/NotThereTest.php",), set()),
    ],
)
def test_a_selection_runs_what_it_names(big: tuple[TestReport, Path], selectors: tuple[str, ...], ids: set[str]) -> None:
    assert run(big[1], *selectors).ids == ids


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (None, 1, "wrote no report"),
        (b"", 0, "cannot be read"),
        (b'{"code": 0, "root": "", "runs": []}', 1, "exited with code 1"),
        (b'{"code": 1, "root": "", "runs": []}', 1, "no test in its report failed"),
    ],
)
def test_a_report_that_does_not_fit_tells_nothing(report: bytes | None, code: int, words: str) -> None:
    with pytest.raises(CannotTell, match=words):
        PHPUNIT.read(report, code, "")


@pytest.mark.parametrize(
    ("configured", "runner"),
    [
        ("phpunit", "phpunit"),
        ("vendor/bin/phpunit tests/Unit", "phpunit"),
        ("php vendor/bin/phpunit --testdox", "phpunit"),
        ("phpunit -c other.xml", ""),
        ("composer test", ""),
    ],
)
def test_which_commands_are_adopted(configured: str, runner: str) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == runner


@pytest.mark.parametrize(
    ("command", "selectors"),
    [
        ("phpunit", ()),
        ("vendor/bin/phpunit", ()),
        ("phpunit tests/CalcTest.php", ("tests/CalcTest.php",)),
        ("phpunit --filter testAdds tests", ("tests", "--filter=testAdds")),
        ("phpunit --testdox --colors=always", ()),
    ],
)
def test_what_an_agent_selects(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert PHPUNIT.parse(command, BASE).selectors == selectors


@pytest.mark.parametrize(
    "command",
    [
        "php x.php",
        "phpunit --bootstrap x.php",
        "phpunit -c x.xml",
        "phpunit --no-configuration",
        "phpunit -d auto_prepend_file=x.php",
        "phpunit --exclude-group slow",
        "phpunit --log-junit x.xml",
        "phpunit --extensions x",
        "phpunit ../x/XTest.php",
        "phpunit tests/CalcTest.php::testAdds",
        "phpunit --filter",
        "phpunit; true",
    ],
)
def test_what_an_agent_may_not_say(command: str) -> None:
    assert "use one call of the project's own test runner" in (refuse(command, BASE) or "")


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/CalcTest.php", "test"),
        ("src/CalcTest.php", "test"),
        ("tests/Helper.php", "test"),
        ("tests/bootstrap.php", "config"),
        ("phpunit.xml.dist", "config"),
        ("src/Calc.php", "code"),
        ("src/Contest.php", "code"),
    ],
)
def test_what_a_file_is(path: str, sort: str) -> None:
    assert ("test" if PHPUNIT.is_test(path) else "config" if PHPUNIT.is_config(path) else "code") == sort
