"""Configures, builds and tests a CMake project in a folder of its own. A target that cannot be built does not hide the others.

A separate program, started in the sandbox; it decides nothing.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import msgspec

from detent.evidence.runners.adapter import is_below
from detent.evidence.runners.cmake.ctest_report import CTestListed, CTestReport
from detent.evidence.runners.wrapper import ProgramEnded, RunOrder, ordered, start, write

ADDED = re.compile(r"^add_test\((?:\[=\[(.+?)\]=\]|\"?([^\"\s]+)\"?) \"([^\"]+)\"", re.MULTILINE)  # as cmake writes them
REASON = re.compile(r"^\s*\d+ - (.+) \((.+?)\)", re.MULTILINE)
LINKED = re.compile(r"CMakeFiles/([^/\s]+)\.dir/(\S+?)\.o(?:bj)?: in function ")
UNLINKED = re.compile(r"(undefined reference to .+)$")
NOT_BUILT = "_NOT_BUILT"  # suffix of GoogleTest tests whose program does not exist yet
PLAIN = {"LC_ALL": "C.UTF-8", "CLICOLOR": "0"}


class Property(msgspec.Struct):
    name: str
    value: object = None


class CTestCase(msgspec.Struct):
    """A test as ctest lists it."""

    name: str
    command: list[str] = []
    properties: list[Property] = []


class CTestShown(msgspec.Struct):
    tests: list[CTestCase] = []


class Named(msgspec.Struct):
    path: str = ""


class CMakeTarget(msgspec.Struct):
    """A target as cmake describes it."""

    name: str = ""
    artifacts: list[Named] = []
    sources: list[Named] = []


def main() -> int:
    report, order = ordered()
    root = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder) / "build"
        (build / ".cmake" / "api" / "v1" / "query").mkdir(parents=True)
        (build / ".cmake" / "api" / "v1" / "query" / "codemodel-v2").touch()
        made = start(["cmake", "-S", str(root), "-B", str(build)], {**PLAIN, **launcher(root)})
        if made.code:
            sys.exit(made.stdout + made.stderr)
        built = start(["cmake", "--build", str(build), "--parallel", str(os.cpu_count() or 1), "--", *keep_going(build)], PLAIN)
        sources = targets(build)
        chosen = [
            each for each in known(build, order) if not order.paths or any(is_below(file_of(each, sources, root), p) for p in order.paths)
        ]
        log, done = play(build, chosen)
        tests = [listed(each, sources, root) for each in chosen]
        unlinked = links(built.stdout + built.stderr, sources)
    narrow = bool(order.paths or order.names)
    output = built.stdout + built.stderr
    relevant = output if not narrow or any(not each.built for each in tests) else ""
    code = 8 if done.code or (built.code and relevant) else 0
    reasons = dict(REASON.findall(done.stdout.rpartition("The following tests FAILED:")[2]))
    shown = _of(relevant, tests) if narrow else relevant
    write(report, CTestReport(code, str(root), shown, tests, log, reasons, {file: symbols for file, symbols in unlinked.items() if shown}))
    sys.stdout.write((output if built.code else "") + done.stdout + done.stderr)
    return code


def launcher(root: Path) -> dict[str, str]:
    """Settings for ccache, if installed; it is keyed by content, so it serves every checkout."""
    if not shutil.which("ccache"):
        return {}
    return {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(root)}


def keep_going(build: Path) -> list[str]:
    """Options to build as much as possible without mixing output lines; the old make of macOS cannot do the latter."""
    if (build / "build.ninja").exists():
        return ["-k", "0"]
    return ["-k", "--output-sync=target"] if sys.platform == "linux" else ["-k"]


def known(build: Path, order: RunOrder) -> list[CTestCase]:
    chosen = ["-R", order.names[0]] if order.names else []
    listing = start(["ctest", "--show-only=json-v1", *chosen], PLAIN, str(build))
    found = msgspec.json.decode(listing.stdout, type=CTestShown).tests if listing.code == 0 else []
    texts = [file.read_text("utf-8", "replace") for file in build.rglob("CTestTestfile.cmake")]
    programs = {first or second: program for text in texts for first, second, program in ADDED.findall(text)}
    for each in found:
        if not each.command:  # its program does not exist
            each.command = [programs.get(each.name) or each.name.removesuffix(NOT_BUILT)]
    return found


def targets(build: Path) -> dict[str, list[str]]:
    """The sources of each program, by target name and by path."""
    found = {}
    for file in (build / ".cmake" / "api" / "v1" / "reply").glob("target-*.json"):
        target = msgspec.json.decode(file.read_bytes(), type=CMakeTarget)
        paths = [source.path for source in target.sources]
        found.update({target.name: paths, **{str(build / each.path): paths for each in target.artifacts}})
    return found


def links(output: str, sources: dict[str, list[str]]) -> dict[str, list[str]]:
    """Undefined references by the source that needs them; the linker names the object first, then the symbol."""
    found: dict[str, list[str]] = {}
    file = ""
    for line in output.splitlines():
        if at := LINKED.search(line):
            file = next((path for path in sources.get(at[1], []) if path.endswith(at[2])), at[2])
        if (missed := UNLINKED.search(line)) and file:
            found.setdefault(file, []).append(missed[1])
    return found


def listed(test: CTestCase, sources: dict[str, list[str]], root: Path) -> CTestListed:
    words = {each.name: each.value for each in test.properties}
    excuse = next((name for name in ("DISABLED", "WILL_FAIL") if words.get(name) is True), "")
    program = test.command[0] if test.command else ""
    return CTestListed(
        test.name, file_of(test, sources, root), bool(program) and Path(program).exists(), f"{excuse} is set" if excuse else ""
    )


def file_of(test: CTestCase, sources: dict[str, list[str]], root: Path) -> str:
    """The test source of a test's program; for a script, the script."""
    program = test.command[0] if test.command else ""
    named = [os.path.relpath(word, root) for word in test.command if word.startswith(f"{root}/") and Path(word).is_file()]
    ours = sources.get(program, [])
    return next(iter([path for path in ours if "test" in path.lower()] or ours or named or ["CMakeLists.txt"]))


def play(build: Path, chosen: list[CTestCase]) -> tuple[str, ProgramEnded]:
    """Run these tests once each: ctest's log, and how ctest ended."""
    if not chosen:
        return "", ProgramEnded(0, "", "")
    log = build / "run-log.xml"
    every = ["-R", "^(" + "|".join(_escaped(each.name) for each in chosen) + ")$"]
    done = start(
        ["ctest", "--output-junit", str(log), "--output-on-failure", "--no-tests=ignore", *every],
        {**PLAIN, "CTEST_PARALLEL_LEVEL": "1"},
        str(build),
    )
    return log.read_text("utf-8", "replace") if log.exists() else "", done


def _escaped(name: str) -> str:
    return "".join(f"[{c}]" if c in ".*+?()|$[" else "\\\\" if c == "\\" else "\\^" if c == "^" else c for c in name)


def _of(output: str, tests: list[CTestListed]) -> str:
    """The lines of the build output about files of tests that were not built."""
    files = {each.file for each in tests if not each.built}
    return "\n".join(line for line in output.splitlines() if any(file in line for file in files))


if __name__ == "__main__":
    sys.exit(main())
