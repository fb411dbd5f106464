"""ctest, for CMake projects. A wrapper of ours configures and builds in a folder of its own and reads ctest's JUnit XML.

A build folder in the tree is never used or needed.
"""

import re
from functools import partial
from pathlib import PurePosixPath

from detent.evidence.runners.adapter import Canary, Command, Files, InnerProject, Runner
from detent.evidence.runners.cmake.ctest_report import CTestReport, outcomes
from detent.evidence.runners.command_shape import CommandShape, adopt, order, parse
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.wrapper import wrapped

TESTED = re.compile(r"enable_testing\s*\(|include\s*\(\s*CTest", re.IGNORECASE)
FOLDER = r"(?:test|tests|unittest|unittests|gtest)"
TESTS = re.compile(
    rf"(?:^|/){FOLDER}/|(?:^|/)(?:tests?|test_[^/]+|[^/]+_tests?|[^/]+[._-]test|[^/]+Tests?)\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm)$"
)
CONFIG = re.compile(rf"(?!(?:.*/)?{FOLDER}/)(?:.*/)?(?:CMakeLists\.txt|CMakePresets\.json|CMakeUserPresets\.json|[^/]+\.cmake)")
TESTING = re.compile(
    r"^.*(?:enable_testing|add_test|CTest|CTEST_|BUILD_TESTING|set_tests_properties|set_property\s*\(\s*TEST|discover_tests|WILL_FAIL|PASS_REGULAR"
    r"|NDEBUG|CMAKE_BUILD_TYPE|CMAKE_\w+_FLAGS|add_compile_definitions|add_definitions|subdirectory\s*\(\s*\S*test).*$",
    re.MULTILINE | re.IGNORECASE,
)
SHAPE = CommandShape(
    programs=(("ctest",),),
    selecting={"-R": "-R", "--tests-regex": "-R"},
    shown_flags=frozenset({"-V", "-VV", "--verbose", "--extra-verbose", "--output-on-failure", "-Q", "--quiet", "--progress", "--stop-on-failure"}),
    shown_values=frozenset({"--test-dir", "-j", "--parallel", "--timeout"}),
    allowed="`ctest` with -R, test files or folders",
)  # fmt: skip


def detect(files: Files) -> Command | None:
    return Command(("ctest",), "ctest", "path") if TESTED.search(files.read("CMakeLists.txt") or "") else None


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    return "Detent's own test would have to be added to the project's CMakeLists.txt, and ctest would report only its exit code"


def runner_part(path: str, text: str) -> str:
    """The lines of a `CMakeLists.txt` about tests and about how everything is compiled; other files in full."""
    return "\n".join(TESTING.findall(text)) if PurePosixPath(path).name == "CMakeLists.txt" else text


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    first = re.escape(PurePosixPath(below.folder).parts[0])
    return re.search(rf"add_subdirectory\s*\(\s*\"?(?:\./)?{first}\b", files.read("CMakeLists.txt") or "", re.IGNORECASE) is not None


RUNNER = Runner(
    name="ctest",
    adopt=partial(adopt, SHAPE, "ctest"),
    detect=detect,
    parse=partial(parse, SHAPE),
    argv=wrapped("detent.evidence.runners.cmake.ctest_run", order),
    read=reader("ctest", "ctest", CTestReport, outcomes, (0, 8)),
    tests=TESTS.search,  # includes the `CMakeLists.txt` of a test folder, which lists new tests
    config=CONFIG.fullmatch,
    runner_part=runner_part,
    canary=canary,
    reaches=reaches,
)
