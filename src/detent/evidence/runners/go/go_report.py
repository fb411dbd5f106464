"""The output of `go test -json` as outcomes by id. Knows go's events, no commands and no project; starts no process.

An id is `file::TestName` or `file::TestName/sub`. A test with subtests is listed only if it failed and none of them did. A file that cannot
be built is one id, the file, with the outcome `error`. go may count a test as passed only because the process exited well; here a test
must print its own end line, and a package its own result.
"""

import re
from typing import NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.report_reader import SeenTest
from detent.evidence.source.test_ids import readable

FAULT = re.compile(r"^(?:vet: )?(?:\./)?([^\s:]+\.go):(\d+)(?::\d+)?: (.+)$", re.MULTILINE)
MISSING = re.compile(
    r"undefined: |\S+ undefined \((?:type|cannot refer)|undeclared name: |unknown field |no required module provides package |package \S+ is not in "
    r"|(?:main )?module \S+.* does not contain package |\"?\S+\"? imported and not used|(?:declared and not used|declared but not used)"
    r"|not enough arguments in call|too many arguments in call|assignment mismatch: |no Go files in "
)
NAMED = re.compile(
    r"undefined|undeclared|unknown field|no required module|is not in |does not contain|arguments in call|assignment mismatch|no Go files"
)


class GoFault(NamedTuple):
    """The errors of one file."""

    file: str
    says: str
    place: str  # of the first error
    missing: bool  # only names, fields or packages that do not exist yet


def faults(output: str, folder: str = "") -> list[GoFault]:
    """The files that cannot be built, from the output of compiler, vet and package loader, with paths relative to the project."""
    found: dict[str, list[str]] = {}
    places: dict[str, str] = {}
    for file, line, message in FAULT.findall(output):
        path = file.removeprefix(folder.rstrip("/") + "/") if folder else file
        found.setdefault(path, []).append(message)
        places.setdefault(path, f"{path}:{line}")
    return [GoFault(file, "\n".join(dict.fromkeys(says)), places[file], _is_missing(says)) for file, says in found.items()]


def _is_missing(says: list[str]) -> bool:
    """Whether every error is a missing name or follows from one, like an unused import."""
    return all(MISSING.match(each) for each in says) and any(NAMED.search(each) for each in says)


OLDEST = (1, 20)  # the first version that marks its own output lines
ENDS: dict[str, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
END = re.compile(r"\s*--- (PASS|FAIL|SKIP): (\S+) \(")
NOT_BUILT = re.compile(r"^FAIL\t(\S+) \[(?:build|setup) failed\]", re.MULTILINE)


class GoEvent(msgspec.Struct):
    """One line of go's output."""

    Action: str = ""
    Package: str = ""
    Test: str = ""
    Output: str = ""
    OutputType: str = ""
    ImportPath: str = ""
    Elapsed: float = 0.0


class GoRound(msgspec.Struct):
    """One call of `go test`, with the test files left out of it."""

    code: int
    stdout: str
    stderr: str
    hidden: list[str] = []

    def events(self) -> list[GoEvent]:
        lines = [line for line in self.stdout.splitlines() if line.startswith("{")]
        try:
            return [msgspec.json.decode(line, type=GoEvent) for line in lines]
        except msgspec.DecodeError as e:
            raise CannotTell(f"the test report cannot be read: {e}") from e

    def text(self) -> str:
        """The output that a person would have seen."""
        return "".join(each.Output for each in self.events()) + self.stderr

    def built(self) -> str:
        """The output of the build."""
        return "".join(each.Output for each in self.events() if each.Action == "build-output") + self.stderr

    def not_built(self) -> list[str]:
        """Packages that go reports as not built and of which no test began."""
        events = self.events()
        begun = {each.Package for each in events if each.Action == "run"}
        output = "".join(each.Output for each in events if not each.Test) + "\n" + self.stdout
        return [each for each in dict.fromkeys(NOT_BUILT.findall(output)) if each not in begun]


class GoPackage(msgspec.Struct):
    """A package, its folder, and the tests that each of its files defines."""

    path: str
    folder: str
    tests: dict[str, list[str]]
    must: list[str] = []  # tests that must appear in the output


class GoReport(msgspec.Struct):
    """Everything that the wrapper saw."""

    version: str
    code: int
    rounds: list[GoRound]
    packages: list[GoPackage]


def outcomes(report: GoReport) -> dict[str, SeenTest]:
    """The outcomes of all rounds: for each package its last one counts, and files left out are errors. CannotTell for a go that is too old."""
    version = re.match(r"go(\d+)\.(\d+)", report.version)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        raise CannotTell(f"{report.version or 'this go'} is too old: before 1.20, its output cannot be separated from that of a test")
    seen: dict[str, SeenTest] = {}
    for each in report.rounds:
        again = [
            package for later in report.rounds if later.hidden and set(each.hidden) < set(later.hidden) for package in each.not_built()
        ]
        events = each.events()
        for package in report.packages:
            ours = [event for event in events if event.Package == package.path]
            if ours and package.path not in again:
                seen.update(_package(package, ours, each))
        broken = [fault for fault in faults(each.built()) if "/../" not in fault.file]
        seen.update({f.file: SeenTest(f.file, "error", f.says, "BuildError", f.missing, f.place) for f in broken})
    return {test: each._replace(place=each.place or _place(each)) for test, each in seen.items()}


def _place(seen: SeenTest) -> str:
    """Where a test failed: after a panic the innermost line outside go's library, else the line at the start of its message."""
    if seen.outcome not in ("failed", "error"):
        return ""
    trace = re.findall(r"^\t(/\S+\.go):(\d+)(?: \+0x|$)", seen.message, re.MULTILINE) if seen.kind == "panic" else []
    ours = [f"{file}:{line}" for file, line in trace if not re.search(r"/src/(?:runtime|testing)/|/pkg/mod/|/go/src/", file)]
    own = re.search(r"^\s*(\w[\w.-]*\.go):(\d+): ", seen.message, re.MULTILINE)
    folder = seen.file.rpartition("/")[0]
    return ours[0] if ours else f"{folder}/{own[1]}:{own[2]}".lstrip("/") if own else ""


def _package(package: GoPackage, events: list[GoEvent], result: GoRound) -> dict[str, SeenTest]:
    """The outcomes of one package that was run."""
    home = {name: file for file, names in package.tests.items() for name in names}
    begun = list(dict.fromkeys(event.Test for event in events if event.Action == "run"))
    ended = _ended(package, events)
    parents = {test.rpartition("/")[0] for test in begun}
    bad = {test for test in begun if ended.get(test, ("error",))[0] in ("failed", "error")}
    found: dict[str, SeenTest] = {}
    for test in begun:
        file = home.get(test.partition("/")[0], f"{package.folder}/{test}".lstrip("/"))
        alone = test not in parents or (test in bad and not any(other.startswith(f"{test}/") for other in bad))
        if alone:
            found[readable(f"{file}::{test}")] = SeenTest(
                file, *ended.get(test, ("error", "the process ended before the test did", "Exit"))
            )
    failed = any(event.Action == "fail" and not event.Test for event in events)
    found.update(_never(package, home, begun, result, failed))
    if failed and package.path not in result.not_built() and not any(each.outcome in ("failed", "error") for each in found.values()):
        name = next(iter(package.tests))
        found[name] = SeenTest(name, "error", "".join(e.Output for e in events if not e.Test), "Exit")  # a race, TestMain, or an exit
    return found


def _never(package: GoPackage, home: dict[str, str], begun: list[str], result: GoRound, failed: bool) -> dict[str, SeenTest]:
    """Outcomes of tests that were built but never began: the process exited before, or TestMain ran none."""
    left = [name for name in package.must if name not in begun and home[name] not in result.hidden]
    if package.path in result.not_built():
        return {}
    if not begun and not failed:
        return {f"{home[name]}::{name}": SeenTest(home[name], "skipped", "the package ended without running its tests") for name in left}
    return {f"{home[name]}::{name}": SeenTest(home[name], "error", "the process ended before the test began", "Exit") for name in left}


End = tuple[Outcome, str, str]


def _ended(package: GoPackage, events: list[GoEvent]) -> dict[str, End]:
    """How tests ended, by the line that each prints at its end. CannotTell if a test ended twice."""
    framed = any(event.OutputType == "frame" for event in events)
    lines: dict[str, str] = {}
    ended: dict[str, End] = {}
    for event in events:
        if event.Action == "output" and event.Test and (event.OutputType == "frame" or not framed) and (found := END.match(event.Output)):
            lines[event.Test] = found[1].lower()
        if event.Action in ENDS and event.Test:
            if event.Test in ended:
                raise CannotTell(f"{event.Test} of {package.path} ended twice in the report")
            if lines.get(event.Test) == event.Action:
                printed = [each for each in events if each.Test == event.Test and each.Action == "output" and each.OutputType != "frame"]
                ended[event.Test] = _end(ENDS[event.Action], "".join(each.Output for each in printed))
    return ended


def _end(outcome: Outcome, output: str) -> End:
    text = "\n".join(line for line in output.splitlines() if not line.startswith(("=== ", "--- "))).strip()
    if outcome == "passed":
        return "passed", "", ""
    panic = re.search(r"^panic: ", output, re.MULTILINE)
    return outcome, text, "" if outcome == "skipped" else "panic" if panic else "AssertionError"
