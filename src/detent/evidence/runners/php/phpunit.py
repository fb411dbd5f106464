"""PHPUnit. A wrapper of ours reads PHPUnit's own JUnit XML log."""

import re
from functools import partial

from detent.evidence.runners.adapter import Command, Files, InnerProject, Runner
from detent.evidence.runners.command_shape import CommandShape, adopt, parse, program_end
from detent.evidence.runners.php.phpunit_canary import CONFIG, canary
from detent.evidence.runners.php.phpunit_report import PhpunitReport, outcomes
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.wrapper import RunOrder, wrapped
from detent.evidence.source.file_patterns import folders, telling_patterns

SUITES = re.compile(r"<testsuites?\b.*</testsuites?>", re.DOTALL)
DIRECTORY = re.compile(r"<directory\b([^>]*)>([^<]+)</directory>")
SUFFIX = re.compile(r"""suffix=["']([^"']+)["']""")
FILE = re.compile(r"<file\b[^>]*>\s*(?:\./)?([^<]+?)\s*</file>")
SHAPE = CommandShape(
    programs=(("php", "vendor/bin/phpunit"), ("./vendor/bin/phpunit",), ("vendor/bin/phpunit",), ("phpunit",)),
    selecting={"--filter": "--filter"},
    shown_flags=frozenset({"--colors", "-v", "--verbose", "--testdox", "--debug", "--no-progress", "--stop-on-failure", "--no-coverage", "--display-errors"}),
    shown_values=frozenset({"--colors", "--columns"}),
    allowed="`phpunit` with test files, folders or --filter",
    narrow=True,
)  # fmt: skip


def detect(files: Files) -> Command | None:
    own = files.exists("vendor/bin/phpunit")
    return Command(("vendor/bin/phpunit",) if own else ("phpunit",), "phpunit", "path") if any(map(files.exists, CONFIG)) else None


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    """Selected paths that no longer exist are left out: PHPUnit would take them for class names."""
    options = [each for each in selectors if each.startswith("--filter=")]
    chosen = [each for each in selectors if not each.startswith("-")] or list(base.paths)
    there = [each for each in chosen if files is None or files.exists(each)]
    empty = [] if there or not chosen else ["--filter=(?!)"]
    return RunOrder(list(base.argv[: program_end(base.argv, SHAPE)]), [*options, *empty], there)


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """The folders and files of the test suites in the configuration."""
    text = next((found for name in CONFIG if (found := files.read(name))), "")
    suites = SUITES.search(text)
    if suites is None:
        return ()
    homes = [(each[2].strip().removeprefix("./").rstrip("/"), SUFFIX.search(each[1])) for each in DIRECTORY.finditer(suites[0])]
    named = [f"{home}/**/*{suffix[1] if suffix else 'Test.php'}" for home, suffix in homes]
    return (*folders(home for home, _ in homes), *telling_patterns([*named, *FILE.findall(suites[0])]))


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    texts = (files.read(name) or "" for name in CONFIG[:2])
    return any(below.touched_by(place) for text in texts for place in re.findall(r"<(?:directory|file)[^>]*>\s*([^<\s]+)", text))


RUNNER = Runner(
    name="phpunit",
    adopt=partial(adopt, SHAPE, "phpunit"),
    detect=detect,
    parse=partial(parse, SHAPE),
    argv=wrapped("detent.evidence.runners.php.phpunit_run", order),
    read=reader("phpunit", "PHPUnit", PhpunitReport, outcomes, (0, 1, 2), "a warning?"),
    tests=re.compile(r"Test\.php$|(?:^|/)[tT]ests?/").search,
    config=re.compile(r"(?:^|/)phpunit\.(?:xml(?:\.dist)?|dist\.xml)$|(?:^|/)[tT]ests?/(?:.*/)?bootstrap\.php$").search,
    test_patterns=test_patterns,
    canary=canary,
    reaches=reaches,
)
