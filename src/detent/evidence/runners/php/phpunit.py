"""PHPUnit: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is PHPUnit's own log, JUnit XML. Exit code and report must agree; where they do not, nothing can be told.
"""

import re
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.patterns import folders, telling
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.command_shape import Shape, parse, program_end
from detent.evidence.runners.php import phpunit_canary
from detent.evidence.runners.php.phpunit_report import Order, read_report, summary
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
TEST_FOLDERS = frozenset({"test", "tests", "Test", "Tests"})
SUITES = re.compile(r"<testsuites?\b.*</testsuites?>", re.DOTALL)
DIRECTORY = re.compile(r"<directory\b([^>]*)>([^<]+)</directory>")
SUFFIX = re.compile(r"""suffix=["']([^"']+)["']""")
FILE = re.compile(r"<file\b[^>]*>\s*(?:\./)?([^<]+?)\s*</file>")
SHAPE = Shape(
    programs=(("php", "vendor/bin/phpunit"), ("./vendor/bin/phpunit",), ("vendor/bin/phpunit",), ("phpunit",)),
    selecting={"--filter": "--filter"},
    shown_flags=frozenset({"--colors", "-v", "--verbose", "--testdox", "--debug", "--no-progress", "--stop-on-failure", "--no-coverage", "--display-errors"}),
    shown_values=frozenset({"--colors", "--columns"}),
    allowed="`phpunit` with test files, folders or --filter",
)  # fmt: skip


class PHPUnit:
    """The adapter. It holds nothing."""

    name = "phpunit"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        end = program_end(words, SHAPE)
        parsed = parse(words[end:], SHAPE)
        plain = end and not parsed.fault and not any(each.startswith("-") for each in parsed.selectors)
        return Command(words, "phpunit", "configured", parsed.words) if plain else None

    def detect(self, files: Files) -> Command | None:
        if not any(files.exists(name) for name in CONFIG):
            return None
        own = files.exists("vendor/bin/phpunit")
        return Command(("vendor/bin/phpunit",) if own else ("phpunit",), "phpunit", "path")

    def refuse(self, command: str, base: Command) -> str | None:
        return parse(command, SHAPE, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return parse(command, SHAPE, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """What is selected and not there any more is left out: PHPUnit would take it for a class."""
        options = [each for each in selectors if each.startswith("--filter=")]
        chosen = [each for each in selectors if not each.startswith("-")] or list(base.paths)
        there = [each for each in chosen if files is None or files.exists(each)]
        program = list(base.argv[: program_end(base.argv, SHAPE)])
        empty = [] if there or not chosen else ["--filter=(?!)"]
        return calls("detent.evidence.runners.php.phpunit_run", report_path, Order(program, [*options, *empty], there))

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"PHPUnit wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        found = summary(said, exit_code, output)
        if said.code != exit_code or exit_code not in (0, 1, 2):
            raise CannotTell(f"PHPUnit ended with code {exit_code}\n{output.strip()[-2000:]}")
        if exit_code and not found.bad:
            raise CannotTell(
                f"PHPUnit ended with code {exit_code}, but no test in its report failed (a warning?)\n{output.strip()[-2000:]}"
            )
        if exit_code == 0 and found.bad:
            raise CannotTell(f"PHPUnit ended with code 0, but its report has a failure: {min(found.bad)}")
        return found

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return phpunit_canary.canary(base, selectors, files, near)

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        """The folders and files of the suites in the configuration."""
        text = next((found for name in CONFIG if (found := files.read(name))), "")
        suites = SUITES.search(text)
        if suites is None:
            return ()
        homes = [(each[2].strip().removeprefix("./").rstrip("/"), SUFFIX.search(each[1])) for each in DIRECTORY.finditer(suites[0])]
        named = [f"{home}/**/*{suffix[1] if suffix else 'Test.php'}" for home, suffix in homes]
        return (*folders(home for home, _ in homes), *telling([*named, *FILE.findall(suites[0])]))

    def is_test(self, path: str) -> bool:
        where = PurePosixPath(path)
        return not self.is_config(path) and (where.name.endswith("Test.php") or bool(TEST_FOLDERS & set(where.parts[:-1])))

    def is_config(self, path: str) -> bool:
        where = PurePosixPath(path)
        bootstrap = where.name == "bootstrap.php" and bool(TEST_FOLDERS & set(where.parts[:-1]))
        return where.name in CONFIG or bootstrap or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return text
