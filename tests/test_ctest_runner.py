"""The ctest adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.machine import need_runner
from tests.native_dialects import PATH
from tests.patience import LONG
from tests.repos import write

CTEST = RUNNERS["ctest"]
BASE = Command(("ctest",), "ctest", "path")
LISTS = """cmake_minimum_required(VERSION 3.21)
project(calc C)
enable_testing()
add_compile_options(-Werror=implicit-function-declaration)
add_library(calc src/calc.c)
include_directories(src)
add_subdirectory(tests)
add_test(NAME "a script (with words)" COMMAND sh ${CMAKE_SOURCE_DIR}/tests/script.sh)
"""
CASES = ("passes", "fails", "aborts", "crashes", "skips", "hangs", "must.fail", "is disabled")
MANY = """#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    if (!strcmp(words[1], "fails") || !strcmp(words[1], "must.fail")) return 3;
    if (!strcmp(words[1], "aborts")) assert(1 == 2);
    if (!strcmp(words[1], "crashes")) { volatile int *none = 0; *none = 1; }
    if (!strcmp(words[1], "skips")) return 77;
    if (!strcmp(words[1], "hangs")) sleep(60);
    puts("100% tests passed\\n\\nThe following tests FAILED:\\n\\t  1 - passes (SEGFAULT)");
    return 0;
}
"""
IN_TESTS = (
    "add_executable(many many.c)\n"
    + "".join(f'add_test(NAME "{name}" COMMAND many "{name}")\n' for name in CASES)
    + "set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)\nset_tests_properties(hangs PROPERTIES TIMEOUT 1)\n"
    + 'set_tests_properties(must.fail PROPERTIES WILL_FAIL TRUE)\nset_tests_properties("is disabled" PROPERTIES DISABLED TRUE)\n'
)
SOURCES = {
    "name": "int main(void) { return not_there_yet(); }\n",
    "link": "int not_there_yet(void);\nint main(void) { return not_there_yet(); }\n",
    "header": '#include "not_there_yet.h"\nint main(void) { return 0; }\n',
    "member": '#include "calc.h"\nint main(void) { struct thing t = {0}; return t.not_there_yet; }\n',
    "argument": '#include "calc.h"\nint main(void) { return one(1, 2); }\n',
    "kind": '#include "calc.h"\nint main(void) { struct thing t = 1; return 0; }\n',
    "syntax": "int main(void) { return }\n",
}
ALL = "".join(
    f"add_executable({name} {name}.c)\ntarget_link_libraries({name} calc)\nadd_test(NAME {name} COMMAND {name})\n" for name in SOURCES
)
PROJECT = {
    "CMakeLists.txt": LISTS,
    "src/calc.c": '#include "calc.h"\nint one(int a) { return 1; }\n',
    "src/calc.h": "struct thing { int size; };\nint one(int a);\n",
    "tests/CMakeLists.txt": IN_TESTS + ALL,
    "tests/many.c": MANY,
    "tests/script.sh": "exit 0\n",
    **{f"tests/{name}.c": text for name, text in SOURCES.items()},
}
OUTCOMES = {
    "tests/many.c::passes": "passed",
    "tests/many.c::fails": "failed",
    "tests/many.c::aborts": "failed",
    "tests/many.c::crashes": "failed",
    "tests/many.c::skips": "skipped",
    "tests/many.c::hangs": "failed",
    "tests/many.c::must.fail": "skipped",
    "tests/many.c::is disabled": "skipped",
    "tests/script.sh::a script (with words)": "passed",
    **{f"tests/{name}.c": "error" for name in SOURCES},
}


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    need_runner("ctest")
    suite = Suite(base, LONG, PATH)
    return run_suite(suite, selectors, root, root, environment(suite, os.environ, root.parent / "pycache"), lambda: True)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = tmp_path_factory.mktemp("ctest-runner") / "project"
    write(root, PROJECT)
    return run(root), root


@pytest.mark.slow
def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    assert big[0].outcomes == OUTCOMES


@pytest.mark.slow
def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    assert sorted(big[0].missing_names) == [f"tests/{name}.c" for name in ("argument", "header", "link", "member", "name")]


def test_a_failure_has_its_kind(big: tuple[TestReport, Path]) -> None:
    kinds = {test.rpartition("::")[2]: kind for test, kind in big[0].kinds.items() if "many" in test}
    assert kinds == {"fails": "AssertionError", "aborts": "AssertionError", "crashes": "SEGFAULT", "hangs": "Timeout"}
    assert "Assertion `1 == 2' failed" in big[0].output and big[0].exit_code == 8


def test_nothing_is_left_in_the_project(big: tuple[TestReport, Path]) -> None:
    assert {path.relative_to(big[1]).as_posix() for path in big[1].rglob("*") if path.is_file()} == PROJECT.keys()


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("tests/script.sh",), {"tests/script.sh::a script (with words)"}),
        (("-R=^passes$",), {"tests/many.c::passes"}),
        (("tests/link.c",), {"tests/link.c"}),
        (("tests/not_there.c",), set()),
    ],
)
@pytest.mark.slow
def test_a_selection_runs_what_it_names(big: tuple[TestReport, Path], selectors: tuple[str, ...], ids: set[str]) -> None:
    assert run(big[1], *selectors).ids == ids


def test_a_project_without_tests_has_none_and_one_that_cannot_be_configured_tells_nothing(tmp_path: Path) -> None:
    write(tmp_path / "p", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(calc NONE)\nenable_testing()\n"})
    assert run(tmp_path / "p").ids == frozenset()
    write(tmp_path / "p", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(calc NONE)\nnot_there_yet()\n"})
    with pytest.raises(CannotTell, match="not_there_yet"):
        run(tmp_path / "p")


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (None, 1, "wrote no report"),
        (b"", 0, "cannot be read"),
        (b'{"code": 0, "root": "", "built": "", "tests": []}', 8, "by its report"),
        (b'{"code": 8, "root": "", "built": "", "tests": []}', 8, "no test in its report failed"),
    ],
)
def test_a_report_that_does_not_fit_tells_nothing(report: bytes | None, code: int, words: str) -> None:
    with pytest.raises(CannotTell, match=words):
        CTEST.read(report, code, "")


@pytest.mark.parametrize(
    ("configured", "runner"),
    [
        ("ctest", "ctest"),
        ("ctest --test-dir build --output-on-failure", "ctest"),
        ("ctest -R x", ""),
        ("ctest -S x.cmake", ""),
        ("make test", ""),
    ],
)
def test_which_commands_are_adopted(configured: str, runner: str) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == runner


@pytest.mark.parametrize(
    ("command", "selectors"),
    [
        ("ctest", ()),
        ("ctest --test-dir build -j 4 --output-on-failure", ()),
        ("ctest -R '^calc'", ("-R=^calc",)),
        ("ctest tests/calc.c", ("tests/calc.c",)),
    ],
)
def test_what_an_agent_selects(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert CTEST.parse(command, BASE).selectors == selectors


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "ctest -S x.cmake",
        "ctest -E adds",
        "ctest -L x",
        "ctest --rerun-failed",
        "ctest -D Nightly",
        "ctest -R",
        "ctest && true",
        "ctest ../x",
    ],
)
def test_what_an_agent_may_not_say(command: str) -> None:
    assert "use one call of the project's own test runner" in (refuse(command, BASE) or "")


@pytest.mark.parametrize(
    ("change", "concerns"),
    [
        ("add_library(more more.c)\n", False),
        ("set_tests_properties(x PROPERTIES WILL_FAIL TRUE)\n", True),
        ("add_definitions(-DNDEBUG)\n", True),
    ],
)
def test_what_of_a_list_concerns_the_tests(change: str, concerns: bool) -> None:
    assert (CTEST.runner_part("CMakeLists.txt", LISTS + change) != CTEST.runner_part("CMakeLists.txt", LISTS)) is concerns


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/calc.c", "test"),
        ("tests/CMakeLists.txt", "test"),
        ("src/calc_test.cpp", "test"),
        ("src/CalcTest.cpp", "test"),
        ("CMakeLists.txt", "config"),
        ("cmake/flags.cmake", "config"),
        ("src/contest.c", "code"),
    ],
)
def test_what_a_file_is(path: str, sort: str) -> None:
    assert ("test" if CTEST.is_test(path) else "config" if CTEST.is_config(path) else "code") == sort
