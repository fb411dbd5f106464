"""vitest: how a project calls it, the machine's own call, and how its report is read. Starts no process.

Our reporter writes the report in the process that watches the tests. vitest is never started in watch mode.
"""

from detent.evidence.runners.adapter import REPORTERS, Command, Files
from detent.evidence.runners.javascript import js_project
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.js_runner import js_runner

REPORTER = REPORTERS / "vitest.mjs"
TOOL = JsRunner(
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


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """Our options come after the project's, so they win; an agent's selection replaces the configured paths."""
    chosen = [_part(each) for each in selectors if not each.startswith("-")]
    return [
        *js_project.program(base, TOOL), "run", *js_project.options(base, TOOL),
        "--reporter=default", f"--reporter={REPORTER}", f"--outputFile={report_path}",
        "--watch=false", "--allowOnly", "--retry=0", "--bail=0", "--passWithNoTests", "--no-cache", "--coverage.enabled=false", "--no-color",
        "--dangerouslyIgnoreUnhandledErrors=false",
        *(each for each in selectors if each.startswith("-")),
        *(chosen or base.paths),
    ]  # fmt: skip


def _part(path: str) -> str:
    """A file or folder as the part of a path that vitest searches for."""
    plain = path.rstrip("/").removeprefix(".")
    return path if js_project.is_code(path) else f"{plain}/"


RUNNER = js_runner(TOOL, argv, scratch=("node_modules/.vite-temp",))  # vitest writes its bundled configuration there
