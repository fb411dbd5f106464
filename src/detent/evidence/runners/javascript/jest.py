"""jest: how a project calls it, the machine's own call, and how its report is read. Starts no process.

Our reporter writes the report in jest's main process; tests always run in workers, even if there is only one.
"""

import re

from detent.evidence.runners.adapter import REPORTERS, Command, Files
from detent.evidence.runners.javascript import js_project
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.js_runner import js_runner

REPORTER = REPORTERS / "jest.cjs"
NO_TESTS = re.compile(r"^No tests found, exiting with code [01]$", re.MULTILINE)
VERSION = re.compile(r'"version":\s*"(\d+)\.')
NEWEST = 99
SERIAL = ("-i", "--runInBand")
TOOL = JsRunner(
    "jest",
    {"-t": "--testNamePattern", "--testNamePattern": "--testNamePattern"},
    shown=("--verbose", "--silent", "--no-color", "--colors", "--ci", "--expand", "-e", "-i", "--runInBand", "--runTestsByPath", "--no-coverage"),
    flags=("--watch", "--watchAll", "--coverage", "--passWithNoTests", "--forceExit", "--detectOpenHandles", "--detectLeaks", "--errorOnDeprecated",
           "--logHeapUsage", "--notify", "--no-cache", "--cache", "--randomize", "--resetMocks", "--restoreMocks", "--clearMocks", "--injectGlobals",
           "--workerThreads", "--useStderr", "--bail", "-b", "--json"),
    ours=("--reporters", "--outputFile", "--json", "--watch", "--watchAll", "--coverage", "--collectCoverage", "--passWithNoTests", "--ci", "--bail",
          "-b", "--testFailureExitCode", "--workerIdleMemoryLimit", "--workerThreads", "--detectOpenHandles", "--silent", "--verbose", "--notify",
          "--runTestsByPath", *SERIAL),
    never=("-o", "--onlyChanged", "--changedSince", "--changedFilesWithAncestor", "--lastCommit", "-f", "--onlyFailures", "--findRelatedTests", "--listTests",
           "--showConfig", "--init", "--clearCache", "-u", "--updateSnapshot", "--shard", "--help", "-h", "--version", "-v", "--filter",
           "--testPathIgnorePatterns"),
)  # fmt: skip


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """Our options come after the project's; an agent's selection, as jest patterns, replaces the configured one."""
    chosen = [each for each in selectors if not each.startswith("-")]
    return [
        *js_project.program(base, TOOL), *js_project.options(base, TOOL), *(["--maxWorkers=1"] if set(SERIAL) & set(base.argv) else []),
        "--reporters=default", f"--reporters={REPORTER}", f"--outputFile={report_path}",
        "--ci", "--watch=false", "--watchAll=false", "--coverage=false", "--testFailureExitCode=1", *_by_version(files),
        "--watchman=false", "--color=false",
        *(each for each in selectors if each.startswith("-")),
        *(["--", *(map(_pattern, chosen) if chosen else base.paths)] if chosen or base.paths else []),
    ]  # fmt: skip


def _by_version(files: Files | None) -> list[str]:
    """Options that depend on jest's version: `bail` was a boolean before 24, and the memory limit exists since 29. Unknown versions count as new."""
    found = VERSION.search((files.read("node_modules/jest/package.json") if files else None) or "")
    major = int(found[1]) if found else NEWEST
    return ["--bail=0" if major >= 24 else "--bail=false", *(["--workerIdleMemoryLimit=2GB"] if major >= 29 else [])]


def _pattern(path: str) -> str:
    """A file or folder as the regular expression that jest expects for paths."""
    plain = path.rstrip("/")
    if plain in ("", "."):
        return "/"
    return "/" + re.sub(r"[\\^$.*+?()[\]{}|]", r"\\\g<0>", plain) + ("$" if js_project.is_code(plain) else "/")


RUNNER = js_runner(TOOL, argv, NO_TESTS)
