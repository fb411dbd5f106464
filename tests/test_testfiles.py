"""Which files are tests: by what the project says, by what its runner collected, by names and folders; code with tests in it stays code."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from detent.evidence.changes import changes as testfiles
from detent.evidence.runners import RUNNERS, Command, Folder, find_command
from detent.evidence.source.file_patterns import ask_patterns, is_document, matches, telling_patterns
from tests.repos import write


def looked_up(
    runner: str, folder: Path, collected: tuple[str, ...] = (), configured: tuple[str, ...] = (), command: str = ""
) -> testfiles.TestFiles:
    files = Folder(folder)
    base = find_command(files, command) if command else None
    return testfiles.looked_up(RUNNERS[runner], testfiles.patterns_of(RUNNERS[runner], files, configured, base), files, collected)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("verify_*.py", ["checks/verify_m.py", "verify_.py"], ["checks/m.py", "verify_m.pyc"]),
        ("checks/", ["checks/a", "checks/b/c.json"], ["checks", "x/checks/a", "checks2/a"]),
        ("checks", ["checks/b"], ["x/check"]),
        ("**/*.{test,spec}.?(c|m)[jt]s?(x)", ["a/b.test.ts", "x.spec.mjs"], ["a/b.ts", "tests.js"]),
        ("**/?(*.)+(spec|test).[jt]s?(x)", ["a/spec.js", "b.test.tsx"], ["a/b.js"]),
        ("a/!(b).js", ["a/c.js"], ["a/b.js"]),
        (r"re:(/__checks__/.*|\.check)\.jsx?$", ["a/b.check.js", "__checks__/a.js"], ["a.js"]),
        ("re:(((", [], ["a"]),
        ("[", ["["], ["a"]),
        ("{a", [], ["a"]),
    ],
)
def test_patterns_mean_what_they_mean_to_those_who_write_them(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in (*yes, *no) if matches(pattern, path)] == yes


def test_no_pattern_takes_long() -> None:
    began = perf_counter()
    assert not any([matches("*a" * 30, "a" * 3000 + "b"), matches("**/" * 30 + "a", "b/" * 60 + "b"), matches("{a,b}" * 20, "a")])
    assert matches("**/a*.py", "ab/a.py") and matches("{src,lib/x}/**/*.check.{js,ts}", "lib/x/y/a.check.ts")
    assert perf_counter() - began < 2


def test_the_last_pattern_that_fits_decides_and_one_that_would_take_in_the_product_is_left_out() -> None:
    assert ask_patterns(("checks/", "!checks/tool.py"), "checks/tool.py") is False
    assert ask_patterns(("checks/", "!checks/tool.py"), "checks/a.py") is True
    assert ask_patterns(("checks/",), "src/a.py") is None
    assert telling_patterns(["*.py", "src/**/*.ts", "**/*.{js,ts}", "verify_*.py", "checks/*.js", "**/*.check.js"]) == (
        "verify_*.py", "checks/*.js", "**/*.check.js",
    )  # fmt: skip


def test_python_files_of_the_configuration_are_tests_wherever_they_lie(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["verify_*.py"]\n', "checks/verify_math.py": ""})
    found = looked_up("pytest", tmp_path)
    assert found.is_test("checks/verify_math.py") and found.is_test("new/verify_more.py")
    assert not found.is_test("checks/helper.py") and not found.is_test("src/math.py")


@pytest.mark.parametrize(
    "config",
    [
        {"pytest.ini": "[pytest]\npython_files = *.py\ntestpaths = checks\n"},
        {"tox.ini": "[pytest]\npython_files = check_*.py\ntestpaths =\n    checks\n"},
        {"setup.cfg": "[tool:pytest]\npython_files = check_*.py\ntestpaths = checks\n"},
    ],
)
def test_a_folder_of_testpaths_is_one_of_tests_with_its_data_and_the_rest_is_not(tmp_path: Path, config: dict[str, str]) -> None:
    write(tmp_path, {**config, "checks/check_a.py": "", "checks/helper.py": "", "checks/rows.json": "", "calc.py": ""})
    found = looked_up("pytest", tmp_path)
    assert all(map(found.is_test, ("checks/check_a.py", "checks/helper.py", "checks/rows.json")))
    assert not found.is_test("calc.py") and not found.is_test("check_rates.py")
    assert not found.is_test("checks/conftest.py"), "configuration stays configuration"


def test_testpaths_that_hold_the_product_make_no_test_of_it(tmp_path: Path) -> None:
    doctests = '[project]\nname = "bolt-ons"\n[tool.pytest.ini_options]\ntestpaths = ["bolt_ons", "tests", "rooms"]\naddopts = "--doctest-modules"\n'
    write(tmp_path, {"pyproject.toml": doctests, "bolt_ons/a.py": "", "rooms/test_a.py": "", "tests/test_a.py": ""})
    assert not looked_up("pytest", tmp_path).is_test("bolt_ons/a.py")
    beside = '[tool.pytest.ini_options]\ntestpaths = ["rooms", "src"]\n'
    write(tmp_path, {"pyproject.toml": beside, "rooms/test_a.py": "", "rooms/a.py": "", "src/test_b.py": ""})
    found = looked_up("pytest", tmp_path)
    assert not found.is_test("rooms/a.py") and not found.is_test("src/b.py") and found.is_test("rooms/test_a.py")


def test_what_the_real_runner_collected_from_is_a_test_but_a_module_with_doctests_is_code(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "odd/proof.py": "def test_adds():\n    assert 1\n",
            "calc.py": 'def add(a, b):\n    """\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n',
        },
    )
    report = tmp_path / "report.xml"
    base = Command((sys.executable, "-m", "pytest"), "pytest")
    argv = RUNNERS["pytest"].argv(base, ("--doctest-modules", "odd/proof.py", "calc.py"), str(report))
    ran = subprocess.run([*argv, "-p", "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True)
    seen = RUNNERS["pytest"].read(report.read_bytes(), ran.returncode, ran.stdout)
    assert set(seen.files.values()) == {"odd/proof.py", "calc.py"}
    found = looked_up("pytest", tmp_path, tuple(seen.files.values()))
    assert found.is_test("odd/proof.py") and not found.is_test("calc.py")
    assert found.collected == {"odd/proof.py"}


def test_a_collected_file_that_is_gone_from_the_tree_is_still_known_as_a_test(tmp_path: Path) -> None:
    found = looked_up("pytest", tmp_path, ("checks/gone.py", "src/gone.py", "../outside/test_x.py", "/abs/test_y.py", ""))
    assert found.is_test("checks/gone.py") and not found.is_test("src/gone.py")


@pytest.mark.parametrize(
    ("runner", "path", "text", "is_test"),
    [
        ("vitest", "src/add.ts", "if (import.meta.vitest) {\n  it('x', () => {});\n}\n", False),
        ("vitest", "proofs/add.ts", "describe('x', () => {});\n", True),
        ("jest", "proofs/add.js", "test.each`a`('x', () => {});\n", True),
        ("cargo", "src/lib.rs", "#[cfg(test)] mod tests { #[test] fn a() {} }\n", False),
        ("go", "calc.go", "package calc\n", False),
        ("phpunit", "proofs/Adds.php", "<?php class Adds extends PHPUnit\\Framework\\TestCase {}\n", True),
        ("maven", "proofs/Adds.java", "class Adds { @Test void a() {} }\n", True),
        ("maven", "src/main/java/m/test/Adds.java", "class Adds {}\n", False),
        ("rspec", "proofs/adds.rb", "RSpec.describe 'x' do\nend\n", True),
        ("pytest", "README.md", ">>> 1\n1\n", False),
    ],
)  # fmt: skip
def test_what_a_file_says_decides_whether_a_collected_one_is_a_test(
    tmp_path: Path, runner: str, path: str, text: str, is_test: bool
) -> None:
    write(tmp_path, {path: text})
    assert looked_up(runner, tmp_path, (path,)).is_test(path) is is_test


@pytest.mark.parametrize(
    ("runner", "files", "command", "yes", "no"),
    [
        ("vitest", {"vitest.config.ts": "export default defineConfig({ optimizeDeps: { include: ['src/**'] }, // include: ['x/**']\n"
                    " test: { coverage: { include: ['src/calc*.ts'] }, include: ['src/**/*.check.ts', \"proofs/*.ts\"] } })"},
         "", "src/a.check.ts proofs/a.ts", "src/calc1.ts x/a.ts src/a.ts"),
        ("jest", {"package.json": '{"jest": {"testMatch": ["<rootDir>/proofs/**/*.js", "**/*.{js,ts}"], "roots": ["src"]}}'}, "", "proofs/a.js", "src/a.js a.js"),
        ("jest", {"jest.config.js": "module.exports = { testRegex: '(/proofs/.*|\\\\.check)\\\\.js$' }"}, "", "proofs/a.js src/a.check.js", "src/a.js"),
        ("mocha", {".mocharc.yml": "timeout: 2\nspec:\n  - proofs/**/*.js # all\n  - 'lib/**/*.check.js'\n"}, "", "proofs/a.js lib/x/a.check.js", "lib/a.js"),
        ("mocha", {".mocharc.json": '{"spec": "proofs/*.js"}'}, "", "proofs/a.js", "lib/a.js"),
        ("node", {}, "node --test 'proofs/*.mjs'", "proofs/a.mjs", "src/a.mjs"),
        ("unittest", {}, "python -m unittest discover -s proofs -p 'check_*.py'", "proofs/check_a.py proofs/rows.json", "check_a.py src/a.py"),
        ("unittest", {}, "python -m unittest discover . 'check_*.py'", "src/check_a.py", "src/a.py"),
        ("rspec", {".rspec": "--require spec_helper\n--pattern 'proofs/**/*_check.rb'\n"}, "", "proofs/a_check.rb", "lib/a.rb"),
        ("phpunit", {"phpunit.xml": '<phpunit><testsuites><testsuite name="a"><directory suffix="Check.php">./proofs</directory><file>lib/Odd.php</file>'
                     "</testsuite></testsuites><source><include><directory>src</directory></include></source></phpunit>"},
         "", "proofs/ACheck.php proofs/rows.csv lib/Odd.php", "src/ACheck.php lib/A.php"),
        ("maven", {"pom.xml": "<project><build><testSourceDirectory>proofs</testSourceDirectory></build></project>"}, "", "proofs/A.java", "src/main/java/A.java"),
        ("gradle", {"build.gradle": "sourceSets {\n main { java { srcDirs = ['code'] } }\n test { java { srcDirs = ['proofs'] } }\n}"}, "", "proofs/A.java", "code/A.java"),
        ("cargo", {"Cargo.toml": '[[test]]\nname = "a"\npath = "proofs/a.rs"\n', "src/lib.rs": "#[cfg(test)] mod proofs;\nmod real;\n"},
         "", "proofs/a.rs src/proofs.rs src/proofs/more.rs", "src/lib.rs src/real.rs"),
        ("go", {}, "", "calc/calc_test.go calc/testdata/x.txt", "calc/calc.go"),
    ],
)  # fmt: skip
def test_the_patterns_of_each_runner_are_read_where_the_project_wrote_them(
    tmp_path: Path, runner: str, files: dict[str, str], command: str, yes: str, no: str
) -> None:
    write(tmp_path, files)
    found = looked_up(runner, tmp_path, command=command)
    assert [path for path in (*yes.split(), *no.split()) if found.is_test(path)] == yes.split()


@pytest.mark.parametrize(
    ("name", "text"),
    [("pyproject.toml", "[tool.pytest"), ("package.json", "{"), ("Cargo.toml", "="), ("phpunit.xml", "<testsuites>"), (".mocharc.yml", "spec: ["),
     ("vitest.config.ts", "}}])("), ("build.gradle", "sourceSets {")],
)  # fmt: skip
def test_a_configuration_that_cannot_be_read_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, {name: text})
    for runner in RUNNERS:
        assert not looked_up(runner, tmp_path).is_test("src/product.xyz")


def test_data_snapshots_and_helpers_below_a_folder_of_tests_belong_to_the_tests(tmp_path: Path) -> None:
    found = looked_up("pytest", tmp_path)
    ours = ("tests/data/rows.json", "pkg/tests/fixtures/a.bin", "tests/cassettes/x.yaml", "tests/helper.py", "src/__snapshots__/a.snap",
            "e2e/page.ts", "integration_tests/x.sql", "typing_tests/a.py", "tests_py3/b.py", "src/a.snap")  # fmt: skip
    assert all(map(found.is_test, ours))
    assert not any(map(found.is_test, ("fixtures/users.json", "src/a.py", "attest/a.py", "src/testing.py", "contest.py", "lab_tests/a.py")))


def test_a_test_beside_the_code_makes_no_test_of_the_code(tmp_path: Path) -> None:
    write(tmp_path, {"calc/calc.go": "package calc", "calc/calc_test.go": "package calc"})
    found = looked_up("go", tmp_path, ("calc/calc_test.go",))
    assert found.is_test("calc/calc_test.go") and not found.is_test("calc/calc.go") and not found.is_test("calc/rows.json")


def test_a_folder_of_tests_that_is_a_link_is_no_trouble(tmp_path: Path) -> None:
    write(
        tmp_path, {"shared/verify_a.py": "def test_a(): pass\n", "pytest.ini": "[pytest]\npython_files = verify_*.py\ntestpaths = tests\n"}
    )
    (tmp_path / "tests").symlink_to("shared")
    (tmp_path / "loop").symlink_to("loop")
    found = looked_up("pytest", tmp_path, ("tests/verify_a.py", "loop/test_a.py", "shared/verify_a.py"))
    assert found.is_test("tests") and found.is_test("tests/verify_a.py") and found.is_test("shared/verify_a.py")


def test_what_the_user_configures_wins_over_everything_else(tmp_path: Path) -> None:
    write(tmp_path, {"proofs/a.py": ""})
    found = looked_up("pytest", tmp_path, configured=("proofs/**", "!src/test/**", "!src/test_bench.py"))
    assert found.is_test("proofs/a.py") and not found.is_test("src/test/client.py") and not found.is_test("src/test_bench.py")
    assert found.is_test("tests/test_a.py"), "what it does not speak of stays as it is"


@pytest.mark.parametrize(
    ("path", "reads"),
    [("README", True), ("docs/guide.txt", True), ("CHANGES.txt", True), ("notes.md", True), ("requirements.txt", False), ("CMakeLists.txt", False),
     ("docs/conf.py", False), ("deploy.sh", False), ("setup.py", False), ("src/robots.txt", False),
     ("src/history.tsx", False), ("sql/changes.sql", False), ("app/News.java", False), ("notice.yml", False), ("COPYING.LESSER", True), ("LICENSE", True)],
)  # fmt: skip
def test_what_people_read_is_a_document_and_what_programs_read_is_none(path: str, reads: bool) -> None:
    assert is_document(path) is reads
