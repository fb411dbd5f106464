"""vitest: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is written by a reporter of ours in the process that watches the tests. It is never started in watch mode.
"""

from detent.evidence.look import TestReport
from detent.evidence.runners import js_canary, js_command, js_project
from detent.evidence.runners.js_command import Tool
from detent.evidence.runners.lines import REPORTERS, read
from detent.evidence.runners.protocol import Canary, Command, Files

REPORTER = REPORTERS / "vitest.mjs"
TOOL = Tool(
    "vitest",
    {"-t": "--testNamePattern", "--testNamePattern": "--testNamePattern"},
    verbs=("run", "watch", "dev"),
    shown=("--run", "--no-color", "--color", "--silent", "--no-watch", "--printConsoleTrace", "--hideSkippedTests"),
    shown_values={"--reporter": ("default", "basic", "verbose", "dot", "tap", "tap-flat", "junit", "json", "tree"), "--watch": ("false",)},
    flags=("--globals", "--dom", "--typecheck", "--isolate", "--watch", "-w", "--coverage", "--passWithNoTests", "--allowOnly", "--ui",
           "--expandSnapshotDiff", "--logHeapUsage", "--dangerouslyIgnoreUnhandledErrors", "--cache", "--fileParallelism", "--open"),
    ours=("--reporter", "--outputFile", "--watch", "-w", "--run", "--ui", "--open", "--coverage", "--passWithNoTests", "--allowOnly",
          "--retry", "--bail", "--cache", "--no-cache", "--silent", "--hideSkippedTests", "--dangerouslyIgnoreUnhandledErrors"),
    never=("--changed", "--related", "--shard", "--update", "-u", "--mergeReports", "--listTags", "--help", "-h", "--version", "-v", "--clearCache",
           "--standalone", "--exclude"),
)  # fmt: skip


class Vitest:
    """The adapter. It holds nothing."""

    name = "vitest"
    scratch = ("node_modules/.vite-temp",)  # where vite puts its configuration to load it

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
        """Ours come after the project's own options, so they win; what the agent selects replaces the configured paths."""
        chosen = [_part(each) for each in selectors if not each.startswith("-")]
        return [
            *js_project.program(base, TOOL), "run", *js_project.options(base, TOOL),
            "--reporter=default", f"--reporter={REPORTER}", f"--outputFile={report_path}",
            "--watch=false", "--allowOnly", "--retry=0", "--bail=0", "--passWithNoTests", "--no-cache", "--coverage.enabled=false", "--no-color",
            "--dangerouslyIgnoreUnhandledErrors=false",
            *(each for each in selectors if each.startswith("-")),
            *(chosen or base.paths),
        ]  # fmt: skip

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        return read(report, exit_code, output, js_project.tongue(self.name))

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return js_canary.canary(base, selectors, files, near, TOOL)

    def is_test(self, path: str) -> bool:
        return js_project.is_test(path)

    def is_config(self, path: str) -> bool:
        return js_project.is_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return js_project.runner_part(path, text)


def _part(path: str) -> str:
    """A file or folder as the part of a path that vitest looks for."""
    plain = path.rstrip("/").removeprefix(".")
    return path if js_project.is_code(path) else f"{plain}/"
