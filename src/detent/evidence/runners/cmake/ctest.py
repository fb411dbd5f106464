"""ctest, for projects of CMake: how it is called, the machine's own call, and what its report says. Starts no process.

The machine configures and builds in a folder of its own, so a build folder in the tree is never used and never needed. Exit code and
report must agree; where they do not, nothing can be told.
"""

import re
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.cmake.ctest_report import Order, read_report, summary
from detent.evidence.runners.command_shape import Shape, parse, program_end
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = frozenset({"CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "CTestConfig.cmake", "CTestCustom.cmake"})
TEST_FOLDERS = frozenset({"test", "tests", "unittest", "unittests", "gtest"})
TEST_NAME = re.compile(r"test|tests|test_.+|.+_tests?|.+[._-]test|.+Tests?")
CODE = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm"})
TESTING = re.compile(
    r"^.*(?:enable_testing|add_test|CTest|CTEST_|BUILD_TESTING|set_tests_properties|set_property\s*\(\s*TEST|discover_tests|WILL_FAIL|PASS_REGULAR"
    r"|NDEBUG|CMAKE_BUILD_TYPE|CMAKE_\w+_FLAGS|add_compile_definitions|add_definitions|subdirectory\s*\(\s*\S*test).*$",
    re.MULTILINE | re.IGNORECASE,
)
SHAPE = Shape(
    programs=(("ctest",),),
    selecting={"-R": "-R", "--tests-regex": "-R"},
    shown_flags=frozenset({"-V", "-VV", "--verbose", "--extra-verbose", "--output-on-failure", "-Q", "--quiet", "--progress", "--stop-on-failure"}),
    shown_values=frozenset({"--test-dir", "-j", "--parallel", "--timeout"}),
    allowed="`ctest` with -R, test files or folders",
)  # fmt: skip


class CTest:
    """The adapter. It holds nothing."""

    name = "ctest"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        end = program_end(words, SHAPE)
        parsed = parse(words[end:], SHAPE)
        return Command(words, "ctest", "configured") if end and not parsed.fault and not parsed.selectors else None

    def detect(self, files: Files) -> Command | None:
        text = files.read("CMakeLists.txt") or ""
        return Command(("ctest",), "ctest", "path") if re.search(r"enable_testing\s*\(|include\s*\(\s*CTest", text, re.IGNORECASE) else None

    def refuse(self, command: str, base: Command) -> str | None:
        return parse(command, SHAPE, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return parse(command, SHAPE, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        name = next((each.partition("=")[2] for each in selectors if each.startswith("-R=")), "")
        order = Order([each for each in selectors if not each.startswith("-")], name)
        return calls("detent.evidence.runners.cmake.ctest_run", report_path, order)

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"ctest wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        found = summary(said, exit_code, output)
        if said.code != exit_code:
            raise CannotTell(f"ctest ended with code {exit_code}, but {said.code} by its report\n{output.strip()[-2000:]}")
        if exit_code and not found.bad:
            raise CannotTell(f"ctest ended with code {exit_code}, but no test in its report failed\n{output.strip()[-2000:]}")
        if exit_code == 0 and found.bad:
            raise CannotTell(f"ctest ended with code 0, but its report has a failure: {min(found.bad)}")
        return found

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return "a test of ours would have to be added to the project's own CMakeLists.txt, and ctest tells no more of it than an exit code"

    def is_test(self, path: str) -> bool:
        """What lies in a folder of tests, its `CMakeLists.txt` too: a new test is listed there."""
        where = PurePosixPath(path)
        named = where.suffix in CODE and TEST_NAME.fullmatch(where.stem) is not None
        return not self.is_config(path) and (named or bool(TEST_FOLDERS & set(where.parts[:-1])))

    def is_config(self, path: str) -> bool:
        where = PurePosixPath(path)
        ours = where.name in CONFIG or where.suffix == ".cmake"
        return (ours and not TEST_FOLDERS & set(where.parts[:-1])) or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of a `CMakeLists.txt` the lines about tests and about how everything is compiled."""
        return "\n".join(TESTING.findall(text)) if PurePosixPath(path).name == "CMakeLists.txt" else text
