"""mocha: how a project calls it, the machine's own call, and what its report says. Starts no process.

mocha runs the tests in its own process, and so does the reporter of ours; it writes only at the end of a run. A file that cannot be
loaded would end mocha's run; ours goes on without it and reports it.
"""

import re

from detent.evidence.look import TestReport
from detent.evidence.runners import js_canary, js_command, js_project
from detent.evidence.runners.js_command import Tool
from detent.evidence.runners.lines import REPORTERS, no_tests, read
from detent.evidence.runners.protocol import Canary, Command, Files

REPORTER = REPORTERS / "mocha.cjs"
NO_TESTS = re.compile(r"^Error: No test files found", re.MULTILINE)
TOOL = Tool(
    "mocha",
    {"-g": "--grep", "--grep": "--grep", "-f": "--fgrep", "--fgrep": "--fgrep"},
    shown=("--no-color", "--color", "-c", "--full-trace", "--inline-diffs", "--diff", "--no-diff", "--recursive", "-b", "--bail"),
    shown_values={"--reporter": ("spec", "dot", "tap", "list", "min", "json", "xunit", "progress", "nyan", "landing"),
                  "-R": ("spec", "dot", "tap", "list", "min", "json", "xunit", "progress", "nyan", "landing")},
    flags=("--watch", "-w", "--parallel", "-p", "--exit", "--check-leaks", "--async-only", "-A", "--delay", "--forbid-only", "--forbid-pending",
           "--allow-uncaught", "--sort", "-S", "--enable-source-maps", "--fail-zero"),
    ours=("--reporter", "-R", "--reporter-option", "--reporter-options", "-O", "--watch", "-w", "--watch-files", "--parallel", "-p", "--bail", "-b",
          "--retries", "--forbid-only", "--forbid-pending", "--fail-zero", "--color", "-c"),
    never=("--invert", "-i", "--dry-run", "--list-files", "--list-reporters", "--list-interfaces", "--help", "-h", "--version", "-V",
           "--pass-on-failing-test-suite", "--fgrep-invert"),
)  # fmt: skip


class Mocha:
    """The adapter. It holds nothing."""

    name = "mocha"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return js_command.adopt(words, TOOL)

    def detect(self, files: Files) -> Command | None:
        return js_project.detect(files, TOOL)

    def refuse(self, command: str, base: Command) -> str | None:
        return js_command.parse(command, base, TOOL).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return js_command.parse(command, base, TOOL).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """Ours come after the project's own options; what the agent selects replaces the configured paths."""
        chosen = tuple(each for each in selectors if not each.startswith("-"))
        return [
            *js_project.program(base, TOOL), *js_project.options(base, TOOL),
            f"--require={REPORTER}", f"--reporter={REPORTER}", f"--reporter-option=output={report_path}",
            "--no-parallel", "--no-bail", "--no-color", "--retries=0", "--no-forbid-only", "--no-forbid-pending", "--no-fail-zero",
            *(each for each in selectors if each.startswith("-")),
            *(dict.fromkeys(js_project.spread(chosen, files)) if chosen else base.paths),
        ]  # fmt: skip

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        nothing = no_tests(report, exit_code, output, NO_TESTS, self.name)
        return nothing or read(report, exit_code, output, js_project.tongue(self.name))

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return js_canary.canary(base, selectors, files, near, TOOL)

    def is_test(self, path: str) -> bool:
        return js_project.is_test(path)

    def is_config(self, path: str) -> bool:
        return js_project.is_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return js_project.runner_part(path, text)
