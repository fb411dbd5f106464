"""`go test`. A wrapper of ours reads `go test -json`, since a file that cannot be built would hide every other test of its package.
Ids are `file::TestName/sub`."""

import re
from pathlib import PurePosixPath

from detent.evidence.runners.adapter import Command, Files, Runner
from detent.evidence.runners.go.go_canary import canary
from detent.evidence.runners.go.go_command import adopt, base_flags, parse
from detent.evidence.runners.go.go_report import GoReport, outcomes
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.wrapper import RunOrder, wrapped

REQUIREMENT = re.compile(r"^(?:go|toolchain|module|replace|exclude) .*$", re.MULTILINE)


def detect(files: Files) -> Command | None:
    return Command(("go", "test", "./..."), "go", "path", ("./...",)) if files.exists("go.mod") or files.exists("go.work") else None


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    """Files as they are, folders with everything below; an agent's selection replaces the configured packages."""
    run = [each.partition("=")[2] for each in selectors if each.startswith("-run=")]
    chosen = [_pattern(each) for each in selectors if not each.startswith("-")]
    return RunOrder(["go"], base_flags(base), chosen or list(base.paths) or ["."], run[:1])


def _pattern(selector: str) -> str:
    if selector.endswith(".go"):
        return selector
    plain = selector.removeprefix("./").rstrip("/")
    return f"./{plain}" if plain.endswith("...") else f"./{plain}/..."


def runner_part(path: str, text: str) -> str:
    """`go.mod` without the required modules, because a new dependency is an ordinary change; other files in full."""
    return "\n".join(REQUIREMENT.findall(text)) if PurePosixPath(path).name == "go.mod" else text


RUNNER = Runner(
    name="go",
    adopt=adopt,
    detect=detect,
    parse=parse,
    argv=wrapped("detent.evidence.runners.go.go_run", order),
    read=reader("go", "go test", GoReport, outcomes, range(256)),
    tests=re.compile(r"_test\.go$|(?:^|/)testdata/").search,
    config=re.compile(r"(?:^|/)go\.(?:mod|work)$|^vendor/modules\.txt$").search,
    runner_part=runner_part,
    canary=canary,
)
