"""What every adapter must answer, whatever runs the tests: one project in each runner's language, and the ways to cheat in it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.report import TestReport
from detent.evidence.runners import DETECTION, RUNNERS, UNSEEN, Command, Folder, find_command, refuse
from detent.evidence.running.suite import Suite, environment, run_command, run_suite
from detent.gates import tests as gates
from detent.gates.judge import flags_in
from detent.kernel.model import Run
from detent.kernel.table import Gate
from detent.workflows.pr.pr_data import PrData
from tests.dialects import FURTHER, Dialect, lend_runners
from tests.looks import LiteralLook
from tests.native_dialects import CACHES, HEAVIEST, HEAVY, NATIVE, PATH, TRIED_ALWAYS
from tests.patience import LONG
from tests.repos import write

ROOT = Path(__file__).parent.parent
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"


PY_TEST = "import pytest\nfrom calc import add\n\n\ndef test_stays():\n    pass\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"
PY_EXIT = "import os\n\n\ndef add(a, b):\n    os._exit(0)\n"
PY_FORGE = """
import os, sys
path = next(word for word in sys.argv if word.startswith("--junitxml=")).partition("=")[2]
os.unlink(path)
with open(path, "w") as file:
    cases = "".join(f'<testcase classname="tests.test_calc" name="{name}" file="tests/test_calc.py"/>' for name in ("test_stays", "test_adds"))
    file.write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
os._exit(0)
"""
PYTEST = Dialect(
    Command((sys.executable, "-m", "pytest"), "pytest"),
    {"pytest.ini": "[pytest]\npythonpath = .\n", "calc.py": "def add(a, b):\n    return 0\n", "tests/test_calc.py": PY_TEST},
    "calc.py",
    "tests/test_calc.py",
    "tests/test_calc.py::test_adds",
    "tests/test_calc.py::test_stays",
    "def add(a, b):\n    return a + b\n",
    "from calc import subtract\n\n\ndef test_subtracts():\n    assert subtract(3, 2) == 1\n",
    {
        "nothing is done": {},
        "the test is skipped": {"tests/test_calc.py": PY_TEST.replace("def test_adds", "@pytest.mark.skip\ndef test_adds")},
        "the test may fail": {"tests/test_calc.py": PY_TEST.replace("def test_adds", "@pytest.mark.xfail\ndef test_adds")},
        "the test is deleted": {"tests/test_calc.py": "def test_stays():\n    pass\n"},
        "every test is deleted": {"tests/test_calc.py": ""},
        "the test is renamed": {"tests/test_calc.py": "def test_stays():\n    pass\n\n\ndef test_add():\n    pass\n"},
        "the code exits": {"calc.py": PY_EXIT},
        "the module exits": {"calc.py": "import os\nos._exit(0)\n"},
        "the module exits politely": {"calc.py": "raise SystemExit(0)\n"},
        "a report is forged": {"calc.py": PY_FORGE},
        "a success is printed": {"calc.py": "print('2 passed in 0.01s')\n\n\ndef add(a, b):\n    return 0\n"},
        "the process is killed": {"calc.py": "import os\nos.kill(os.getpid(), 9)\n"},
    },
)

JS_TEST = """import { test, describe } from 'node:test';
import assert from 'node:assert';
import { add } from '../calc.js';
test('stays', () => {});
test('adds', () => { assert.equal(add(1, 2), 3); });
"""
JS_FORGED = """
const line = (type, name) => ({ type, file: 'test/calc.test.js', name, nesting: 0 });
const lines = ['stays', 'adds'].flatMap((name) => [line('start', name), line('pass', name)]);
lines.push({ type: 'end', name: process.version, count: 4 });
const text = lines.map((each) => JSON.stringify(each) + '\\n').join('');
const words = readFileSync(`/proc/${process.ppid}/cmdline`, 'utf8').split('\\0');
const path = words.filter((word) => word.startsWith('--test-reporter-destination=')).pop().split('=')[1];
"""
JS_FORGE = f"import {{ readFileSync, writeFileSync, unlinkSync }} from 'node:fs';\n{JS_FORGED}"
NODE = Dialect(
    Command(("node", "--test"), "node"),
    {"package.json": '{"type": "module"}', "calc.js": "export const add = (a, b) => 0;\n", "test/calc.test.js": JS_TEST},
    "calc.js",
    "test/calc.test.js",
    "test/calc.test.js::adds",
    "test/calc.test.js::stays",
    "export const add = (a, b) => a + b;\n",
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { subtract } from '../calc.js';\n"
    "test('subtracts', () => { assert.equal(subtract(3, 2), 1); });\n",
    {
        "nothing is done": {},
        "the test is skipped": {"test/calc.test.js": JS_TEST.replace("test('adds'", "test.skip('adds'")},
        "the test may fail": {"test/calc.test.js": JS_TEST.replace("test('adds'", "test.todo('adds'")},
        "the test skips itself": {"test/calc.test.js": JS_TEST.replace("() => { assert", "(t) => { t.skip(); assert")},
        "the suite is skipped": {"test/calc.test.js": JS_TEST.replace("test('adds'", "describe.skip('s', () => test('adds'") + ");"},
        "another test is the only one": {"test/calc.test.js": JS_TEST.replace("test('stays'", "test.only('stays'")},
        "the test is deleted": {"test/calc.test.js": JS_TEST.rpartition("test(")[0]},
        "every test is deleted": {"test/calc.test.js": ""},
        "the test is renamed": {"test/calc.test.js": JS_TEST.rpartition("test(")[0] + "test('add', () => {});\n"},
        "the code exits": {"calc.js": "export const add = () => process.exit(0);\n"},
        "the code exits at once": {"calc.js": "export const add = () => process.reallyExit(0);\n"},
        "the module exits": {"calc.js": "export const add = 1;\nprocess.exit(0);\n"},
        "the exit code is hidden": {"calc.js": "export const add = () => 0;\nprocess.on('exit', () => { process.exitCode = 0; });\n"},
        "a report is written into": {"calc.js": f"{JS_FORGE}writeFileSync(path, text);\nprocess.exit(0);\nexport const add = 1;\n"},
        "a report is forged": {"calc.js": f"{JS_FORGE}unlinkSync(path);\nwriteFileSync(path, text);\nprocess.exit(0);\nexport const add = 1;\n"},
        "a long report is written into": {"calc.js": f"{JS_FORGE}writeFileSync(path, text.repeat(9));\nexport const add = () => 0;\n"},
        "a success is printed": {
            "calc.js": "console.log('TAP version 13\\nok 1 - stays\\nok 2 - adds\\n1..2');\nexport const add = () => process.exit(0);\n"
        },
        "the process is killed": {"calc.js": "process.kill(process.pid, 'SIGKILL');\nexport const add = 1;\n"},
    },
)  # fmt: skip
DIALECTS = {"pytest": PYTEST, "node": NODE, **FURTHER, **{name: Dialect(*row) for name, row in NATIVE.items()}}
TRIED = [name for name in RUNNERS if name not in (*UNSEEN, "report")]  # any runner at all: see test_report_runner.py
GREEN: tuple[Gate, ...] = (gates.at_least_one_ran, gates.none_is_lost, gates.nothing_broke, gates.red_tests_pass)
RED: tuple[Gate, ...] = (
    gates.at_least_one_ran,
    gates.something_needs_this_step,
    gates.fails_for_the_product,
    gates.reason_is_told,
    gates.none_is_lost,
)


def run(folder: Path, base: Command, files: dict[str, str], *selectors: str) -> TestReport:
    """The machine's own run of these files. The bytecode of pytest itself is shared, and no plugin is looked for: that saves most of the time."""
    write(folder, files)
    lend_runners(folder, base)
    suite = Suite(base, LONG, PATH, ("PYTEST_DISABLE_PLUGIN_AUTOLOAD",))
    outer = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env = {**environment(suite, outer, folder.parent.parent / "pycache"), **CACHES}
    return run_suite(suite, selectors, folder, folder, env, lambda: True)


class Seen(LiteralLook):
    """Two reports of one runner, which knows its tests."""

    def why(self, test: str) -> Reason:
        return reason(self.now, test, RUNNERS[self.now.runner].is_test, lambda name: False)


def wrong(rules: tuple[Gate, ...], before: TestReport, now: TestReport) -> list[str]:
    """What the gates say; a flag by its kind and its sentence."""
    look = Seen(Run("r", "pr", "EXECUTING_TDD", 0, PrData()), before=before, now=now)
    said = [each for rule in rules if (each := rule(look))]
    return [each for each in said if isinstance(each, str)] + [f"{f.kind}: {f.sentence}" for each in said for f in flags_in(each)]


class Before(dict[str, TestReport]):
    """The report of each project before anything is done, made when it is first asked for."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        super().__init__()
        self.folders = folders

    def __missing__(self, name: str) -> TestReport:
        self[name] = run(self.folders.mktemp(name) / "p", DIALECTS[name].base, DIALECTS[name].files)
        return self[name]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Before:
    return Before(tmp_path_factory)


SLOW_TO_START = (*HEAVY, "vitest", "jest", "mocha")  # a run takes its time: of their cheats only these are tried every time
ALWAYS = (*TRIED_ALWAYS, "a report is written into")


def by_weight(name: str, quick: bool = False) -> tuple[pytest.MarkDecorator, ...]:
    """A long test for a runner that is slow to start."""
    return (pytest.mark.slow,) if name in SLOW_TO_START and (not quick or name in HEAVIEST) else ()


def test_every_adapter_is_asked() -> None:
    assert DIALECTS.keys() == set(TRIED)


LOADED = """
import sys
from detent.evidence.runners import Folder
from detent.evidence.runners import find_command
from pathlib import Path
found = find_command(Folder(Path(sys.argv[1])), sys.argv[2])
print(found.runner, *sorted({name.split(".")[3] for name in sys.modules if name.startswith("detent.evidence.runners.") and name.count(".") > 3}))
"""


@pytest.mark.parametrize(
    ("file", "command", "loaded"),
    [
        ("pytest.ini", "", "pytest python"),
        ("pom.xml", "pytest -q", "pytest python"),
        ("a", "cargo test", "cargo rust"),
        ("a", "go test ./...", "go go"),
        ("a", "./mvnw -q test", "maven jvm"),
        ("a", "bundle exec rspec", "rspec ruby"),
        ("a", "npx vitest run", "vitest javascript"),
        ("a", "npm test", " javascript"),
        ("a", "make test", ""),
    ],
)  # fmt: skip
def test_nothing_of_another_ecosystem_is_loaded(tmp_path: Path, file: str, command: str, loaded: str) -> None:
    write(tmp_path, {file: ""})
    said = subprocess.run([sys.executable, "-c", LOADED, str(tmp_path), command], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == loaded.strip()


@pytest.mark.parametrize("name", TRIED)
def test_an_adapter_knows_its_name_and_takes_its_own_command(name: str) -> None:
    runner, each = RUNNERS[name], DIALECTS[name]
    assert runner.name == name
    adopted = runner.adopt(each.base.argv)
    assert adopted is not None and (adopted.runner, adopted.argv) == (name, each.base.argv)
    assert runner.adopt(("make", "test")) is None
    assert not runner.parse(each.base.text, each.base).fault
    assert runner.parse(each.base.text, each.base).selectors == ()
    assert runner.parse(f"{each.base.text} {each.test}", each.base).selectors == (each.test,)
    for command in ("true", "", f"{each.base.text} && true", f"{each.base.text} /etc/x", f"{each.base.text} --help"):
        assert "use one call" in runner.parse(command, each.base).fault, command


@pytest.mark.parametrize("name", TRIED)
def test_an_adapter_tells_tests_code_and_configuration_apart(name: str) -> None:
    runner, each = RUNNERS[name], DIALECTS[name]
    assert runner.is_test(each.test) and not runner.is_config(each.test)
    assert not runner.is_test(each.code) and not runner.is_config(each.code)
    for path in ("detent.toml", ".github/workflows/ci.yml", *(path for path in each.files if path not in (each.test, each.code))):
        assert runner.is_config(path) and not runner.is_test(path), path


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [pytest.param(name, marks=by_weight(name, quick=True)) for name in TRIED])
def test_the_outcomes_of_a_run_stand_by_id(name: str, before: dict[str, TestReport]) -> None:
    each, report = DIALECTS[name], before[name]
    assert report.outcomes == {each.stays: "passed", each.adds: "failed"}
    assert set(report.files.values()) == {each.test}
    assert (report.kinds, report.runner, report.exit_code) == ({each.adds: "AssertionError"}, name, each.code_of_failure)
    assert report.messages[each.adds] and report.seconds >= 0 and report.complete


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [pytest.param(name, marks=by_weight(name, quick=True)) for name in TRIED])
def test_honest_work_passes(tmp_path: Path, name: str, before: dict[str, TestReport]) -> None:
    each = DIALECTS[name]
    now = run(tmp_path / "p", each.base, {**each.files, each.code: each.right})
    assert now.outcomes == {each.stays: "passed", each.adds: "passed"}
    assert wrong(GREEN, before[name], now) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=by_weight(name)) for name in TRIED])
def test_a_name_that_is_not_there_yet_makes_a_red_test(tmp_path: Path, name: str, before: dict[str, TestReport]) -> None:
    each = DIALECTS[name]
    new = each.test.replace("calc", "more")
    now = run(tmp_path / "p", each.base, {**each.files, new: each.missing})
    assert now.outcomes[new] == "error" and now.missing_names == (new,)
    assert wrong(RED, before[name], now) == []
    broken = run(tmp_path / "p", each.base, {new: "this is no code in any language\n"})
    page = name == "phpunit"  # PHP takes text without its opening tag for a page to print
    told = ("no test fails", "already failed before this step") if page else ("which no code can fix", "weak-evidence: ")
    assert any(words in said for words in told for said in wrong(RED, before[name], broken)), wrong(RED, before[name], broken)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "cheat"),
    [pytest.param(name, cheat, marks=by_weight(name, cheat in ALWAYS)) for name, each in DIALECTS.items() for cheat in each.cheats],
)
def test_cheating_is_seen(tmp_path: Path, name: str, cheat: str, before: dict[str, TestReport]) -> None:
    each = DIALECTS[name]
    try:
        now = run(tmp_path / "p", each.base, {**each.files, **each.cheats[cheat]})
    except CannotTell:
        return
    assert wrong(GREEN, before[name], now)


@pytest.mark.sample(2)
@pytest.mark.parametrize("cheat", ["the code exits", "the module exits"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=by_weight(name)) for name in TRIED if name != "ctest"]
)  # which knows only how a process ended
def test_a_file_that_could_not_be_loaded_does_not_turn_green_by_an_exit(tmp_path: Path, name: str, cheat: str) -> None:
    each = DIALECTS[name]
    files = {**each.files, each.code: each.empty, each.test: each.missing}
    red = run(tmp_path / "p", each.base, files)
    assert red.outcomes == {each.test: "error"}
    text = each.cheats[cheat][each.code].replace("add", "subtract").replace("Add", "Subtract")
    try:
        now = run(tmp_path / "p", each.base, {each.code: text})
    except CannotTell:
        return
    assert wrong(GREEN, red, now)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=by_weight(name)) for name in TRIED])
def test_a_selected_file_is_run_alone(tmp_path: Path, name: str) -> None:
    each = DIALECTS[name]
    other = each.test.replace("calc", "more")
    report = run(tmp_path / "p", each.base, {**each.files, other: each.missing}, each.test)
    assert report.ids == {each.stays, each.adds}


def test_of_another_command_only_the_exit_code_counts_and_the_output_says_so(tmp_path: Path) -> None:
    suite = Suite(None, LONG, os.environ["PATH"])
    for command, outcome in (("echo fine", "passed"), ("echo no && exit 3", "failed")):
        seen = run_command(command, suite, tmp_path, environment(suite, os.environ, tmp_path / "pycache"), lambda: True)
        assert list(seen.outcomes.values()) == [outcome]
        assert f"no adapter reads the tests of `{command}`: only its exit code counts" in seen.output


# How a project is recognised.


class Small:
    """A project that consists of names and texts, on a machine with Python."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def exists(self, path: str) -> bool:
        return path in self.files

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def paths(self) -> Iterator[str]:
        return iter(self.files)

    def which(self, name: str) -> str | None:
        return {"python3": "/usr/bin/python3"}.get(name)


def package(script: str = "", **others: str) -> str:
    scripts = {**({"test": script} if script else {}), **others}
    return '{"scripts": {' + ", ".join(f'"{name}": "{text}"' for name, text in scripts.items()) + "}}"


POM = "<project><dependency><artifactId>junit-jupiter</artifactId></dependency></project>"
NO_TESTS = 'echo \\"Error: no test specified\\" && exit 1'
DETECTED: tuple[tuple[dict[str, str], str, str], ...] = (
    ({"pom.xml": POM}, "mvn test", "maven"),
    ({"pom.xml": POM, "mvnw": ""}, "./mvnw test", "maven"),
    ({"pom.xml": POM, "build.gradle": "", "package.json": package("node --test"), "pytest.ini": ""}, "mvn test", "maven"),
    ({"pom.xml": "<project/>", "build.gradle": "", "gradlew": ""}, "./gradlew test", "gradle"),
    ({"build.gradle.kts": "", "package.json": package("node --test"), "pyproject.toml": ""}, "gradle test", "gradle"),
    ({"package.json": package("node --test")}, "node --test", "node"),
    ({"package.json": package("node --test"), "pytest.ini": "", "setup.py": ""}, "node --test", "node"),
    ({"package.json": package("node --test test/*.test.js")}, "node --test 'test/*.test.js'", "node"),
    ({"package.json": package("node --import tsx --test --test-reporter spec test")}, "node --import tsx --test --test-reporter spec test", "node"),
    ({"package.json": package("NODE_ENV=test A=1 node --test")}, "env NODE_ENV=test A=1 node --test", "node"),
    ({"package.json": package("jest --ci")}, "node_modules/.bin/jest --ci", "jest"),
    ({"package.json": package("ava"), "pyproject.toml": ""}, "node_modules/.bin/ava --tap > .detent-tests.tap", "report"),
    ({"package.json": package("npx tape 'test/*.js' it.js")}, "node_modules/.bin/tape 'test/*.js' it.js > .detent-tests.tap", "report"),
    ({"package.json": package("ava --watch")}, "npm test", ""),
    ({"package.json": package("tape test.js | tap-spec")}, "npm test", ""),
    ({"package.json": package("npm run build && node --test")}, "npm test", ""),
    ({"package.json": package("A=$B node --test")}, "npm test", ""),
    ({"package.json": package("node --test --watch")}, "npm test", ""),
    ({"package.json": package("node test.js")}, "npm test", ""),
    ({"package.json": package("c8 node --test")}, "node --test", "node"),
    ({"package.json": package("c8 -r lcov node --test")}, "npm test", ""),
    ({"package.json": package("node --test", pretest="tsc")}, "npm test", ""),
    ({"package.json": package("node --test", posttest="rm -r tmp")}, "npm test", ""),
    ({"package.json": package(NO_TESTS), "pytest.ini": ""}, "python3 -m pytest", "pytest"),
    ({"package.json": package(build="x"), "pyproject.toml": ""}, "python3 -m pytest", "pytest"),
    ({"package.json": "{", "setup.py": ""}, "python3 -m pytest", "pytest"),
    ({"package.json": '{"scripts": {"test": ["no"]}}', "setup.py": ""}, "python3 -m pytest", "pytest"),
    ({"pom.xml": "<project/>", "tests/test_a.py": ""}, "python3 -m pytest", "pytest"),
    ({"package.json": package(NO_TESTS)}, "", ""),
    ({"package.json": "{}"}, "", ""),
    ({"pom.xml": "<project/>"}, "", ""),
    ({"main.go": ""}, "", ""),
    ({"App.sln": "", "App/App.csproj": "<Project/>"}, "dotnet test", "dotnet"),
    ({"T/T.csproj": '<PackageReference Include="Microsoft.NET.Test.Sdk"/>'}, "dotnet test", "dotnet"),
    ({"App/App.csproj": "<Project/>"}, "", ""),
    ({"Cargo.toml": ""}, "cargo test", "cargo"),
    ({"CMakeLists.txt": "enable_testing()"}, "ctest", "ctest"),
    ({"CMakeLists.txt": "project(x)"}, "", ""),
    ({".rspec": ""}, "rspec", "rspec"),
    ({"spec/a_spec.rb": "", "Gemfile.lock": "    rspec (3.13.0)"}, "bundle exec rspec", "rspec"),
    ({"phpunit.xml.dist": ""}, "phpunit", "phpunit"),
    ({"phpunit.xml": "", "vendor/bin/phpunit": ""}, "vendor/bin/phpunit", "phpunit"),
    ({"go.mod": "module m"}, "go test ./...", "go"),
    ({"go.mod": "module m", "package.json": package("jest")}, "node_modules/.bin/jest", "jest"),
)  # fmt: skip


@pytest.mark.parametrize(("files", "text", "runner"), DETECTED)
def test_the_first_sign_of_a_test_framework_wins(files: dict[str, str], text: str, runner: str) -> None:
    found = find_command(Small(files))
    assert (found.text, found.runner) == (text, runner) if found else text == ""


@pytest.mark.parametrize(("files", "text", "runner"), [row for row in DETECTED if row[1]])
def test_what_is_detected_means_the_same_when_it_is_written_down(files: dict[str, str], text: str, runner: str) -> None:
    found = find_command(Small(files), text)
    assert found is not None
    assert (found.runner, found.source) == (runner, "configured")
    detected = find_command(Small(files))
    assert detected is not None and (found.argv, found.report) == (detected.argv, detected.report)


@pytest.mark.parametrize(
    ("configured", "text", "runner"),
    [
        ("make check", "make check", ""),
        ("npm test", "node --test lib", "node"),
        ("npm run test", "node --test lib", "node"),
        ("npm test -- x", "npm test -- x", ""),
        ("node --test other", "node --test other", "node"),
        ("node --test && true", "node --test && true", ""),
        ("pytest -q", "pytest -q", "pytest"),
    ],
)
def test_a_configured_command_wins_over_what_is_detected(configured: str, text: str, runner: str) -> None:
    found = find_command(Small({"package.json": package("node --test lib"), "pom.xml": POM}), configured)
    assert found is not None
    assert (found.text, found.runner, found.source) == (text, runner, "configured")


def test_a_detected_command_that_no_adapter_reads_is_the_only_one_that_agents_may_name() -> None:
    base = find_command(Small({"package.json": package("node test.js")}))
    assert refuse("npm test", base) is None
    for command in ("true", "npm test -- --help", "npm test || true", "false"):
        assert "use `npm test` (only its exit code is read)" in (refuse(command, base) or ""), command


@pytest.mark.parametrize(("name", "text", "count"), [("python-slugify", "python3 -m pytest", 14), ("js-cart", "node --test", 10)])
def test_an_example_is_recognised_and_its_tests_pass(tmp_path: Path, name: str, text: str, count: int) -> None:
    root = tmp_path / name
    shutil.copytree(EXAMPLES / name, root, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "node_modules"))
    assert {"README.md", "feature.md", "detent.toml", ".gitignore"} <= {path.name for path in root.iterdir()}
    base = find_command(Folder(root, f"{Path(sys.executable).parent}:{os.environ['PATH']}"))
    assert base is not None and base.text == text
    here = Command((sys.executable, *base.argv[1:]), base.runner) if base.runner == "pytest" else base
    report = run(root, here, {})
    assert (len(report.ids), report.bad, report.having("skipped")) == (count, frozenset(), frozenset())


# The docs.


def test_every_runner_and_every_sign_has_its_row_in_the_docs() -> None:
    text = (DOCS / "runners.md").read_text("utf-8")
    found, runners = text.partition("## The runners")[::2]
    assert [line.split("`")[1] for line in runners.partition("\n\nConfiguration")[0].splitlines() if line.startswith("| `")] == list(
        RUNNERS
    )
    assert not re.search(r"^\| `", found, re.MULTILINE), "the table before it has a row for each sign and nothing else"
    at = [text.find(f"| {number} | {sign.seen} |") for number, sign in enumerate(DETECTION, 1)]
    assert -1 not in at and at == sorted(at)
