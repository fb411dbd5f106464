"""`go test`: how a project calls it, the machine's own call, and what its report says. Starts no process.

Ids are `file::TestName/sub`. The machine's call is a program of ours around go, since a file that cannot be built would hide every other
test of its package. Exit code and report must agree; where they do not, nothing can be told.
"""

import re
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.go import go_canary, go_command
from detent.evidence.runners.go.go_report import Order, read_report, summary
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

REQUIREMENT = re.compile(r"^(?:go|toolchain|module|replace|exclude) .*$", re.MULTILINE)


class Go:
    """The adapter. It holds nothing."""

    name = "go"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return go_command.adopt(words)

    def detect(self, files: Files) -> Command | None:
        return Command(("go", "test", "./..."), "go", "path", ("./...",)) if files.exists("go.mod") or files.exists("go.work") else None

    def refuse(self, command: str, base: Command) -> str | None:
        return go_command.parse(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return go_command.parse(command, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """Files as they are, folders with all below them; what the agent selects replaces the configured packages."""
        run = next((each.partition("=")[2] for each in selectors if each.startswith("-run=")), "")
        chosen = [_pattern(each) for each in selectors if not each.startswith("-")]
        order = Order(go_command.base_flags(base), chosen or list(base.paths) or ["."], run)
        return calls("detent.evidence.runners.go.go_run", report_path, order)

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"go test wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        found = summary(said, exit_code, output)
        plain = [test for test in found.bad if found.kinds.get(test) != "Exit"]
        if said.code != exit_code:
            raise CannotTell(f"go test ended with code {said.code} by its report, but its call with {exit_code}\n{output.strip()[-2000:]}")
        if exit_code and not found.bad:
            raise CannotTell(f"go test ended with code {exit_code}, but no test in its report failed\n{output.strip()[-2000:]}")
        if exit_code == 0 and plain:
            raise CannotTell(f"go test ended with code 0, but its report has a failure: {min(plain)}")
        return found

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return go_canary.canary(base, selectors, files, near)

    def is_test(self, path: str) -> bool:
        where = PurePosixPath(path)
        return not self.is_config(path) and (where.name.endswith("_test.go") or "testdata" in where.parts[:-1])

    def is_config(self, path: str) -> bool:
        return PurePosixPath(path).name in ("go.mod", "go.work") or path == "vendor/modules.txt" or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of `go.mod` all but the required modules: a new dependency is an ordinary change."""
        return "\n".join(REQUIREMENT.findall(text)) if PurePosixPath(path).name == "go.mod" else text


def _pattern(selector: str) -> str:
    if selector.endswith(".go"):
        return selector
    plain = selector.removeprefix("./").rstrip("/")
    return f"./{plain}" if plain.endswith("...") else f"./{plain}/..."
