"""mocha: how a project calls it, the machine's own call, and how its report is read. Starts no process.

mocha runs tests in its own process, and so does our reporter, which writes only at the end of a run. A file that cannot be loaded
would end mocha's run; the reporter continues without it and reports it.
"""

import re

from detent.evidence.runners.adapter import REPORTERS, Command, Files
from detent.evidence.runners.javascript import js_project
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.js_runner import js_runner

REPORTER = REPORTERS / "mocha.cjs"
NO_TESTS = re.compile(r"^Error: No test files found", re.MULTILINE)
TOOL = JsRunner(
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


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """Our options come after the project's; an agent's selection replaces the configured paths."""
    chosen = tuple(each for each in selectors if not each.startswith("-"))
    return [
        *js_project.program(base, TOOL), *js_project.options(base, TOOL),
        f"--require={REPORTER}", f"--reporter={REPORTER}", f"--reporter-option=output={report_path}",
        "--no-parallel", "--no-bail", "--no-color", "--retries=0", "--no-forbid-only", "--no-forbid-pending", "--no-fail-zero",
        *(each for each in selectors if each.startswith("-")),
        *(dict.fromkeys(js_project.spread(chosen, files)) if chosen else base.paths),
    ]  # fmt: skip


RUNNER = js_runner(TOOL, argv, NO_TESTS)
