"""Runs Maven's `test` for the machine, in a mirror of the project. A test file that cannot be compiled does not hide the others.

A program of its own, started in the sandbox; it decides nothing.
"""

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from detent.evidence.runners.jvm_files import classes, named, selected, test_sources
from detent.evidence.runners.jvm_mirror import mirror
from detent.evidence.runners.jvm_report import Log, Order, Report
from detent.evidence.runners.machine import ordered, start, write

REFUSED = re.compile(r"^\[ERROR\] (/[^\n]+?\.\w+):\[\d+,\d+\] (.+(?:\n {2}\w.*)*)", re.MULTILINE)
ENDED = re.compile(r"^(?:\[ERROR\] )?Crashed tests:\n(?:\[ERROR\] )?([\w.$]+)$", re.MULTILINE)
CRASHED = re.compile(r"^(?:\[ERROR\] )?The forked VM terminated without", re.MULTILINE)
LEFT_OUT = re.compile(r"^\[INFO\] .+ SKIPPED$", re.MULTILINE)
SOME_RAN = re.compile(r"Tests run: [1-9]\d*, .* - in |^\[\w+\] Tests run: [1-9]", re.MULTILINE)
BUILT = re.compile(r"^\[INFO\] BUILD (SUCCESS|FAILURE)$", re.MULTILINE)
OURS = ["-B", "-o", "-fae", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dsurefire.useFile=true", "-DtrimStackTrace=true"]
GO_ON = "-Dmaven.test.failure.ignore="
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.language=en"


class Round(NamedTuple):
    """One call of Maven."""

    code: int
    said: str
    refused: dict[str, list[str]]
    logs: list[Log]


def main() -> int:
    report, order = ordered(Order)
    root = Path.cwd()
    sources = test_sources(root)
    chosen = selected(order.paths, sources)
    if order.paths and not chosen:
        write(report, Report(0))
        return 0
    broken: dict[str, list[str]] = {}
    follows: list[str] = []
    before = ""
    once = attempt(root, order, chosen, broken)
    while new := {file: said for file, said in once.refused.items() if file not in broken}:
        follows += new if broken else []
        broken |= new
        if not new.keys() <= set(sources) or not _left(chosen, broken):
            break
        before += f"{once.said}\n"
        once = attempt(root, order, chosen, broken)
    said = before + once.said
    if once.code and LEFT_OUT.search(once.said):  # modules that others stood in the way of
        more = attempt(root, order, chosen, broken, "true")
        once, said = once._replace(logs=more.logs), f"{said}\n{more.said}"
    meant = {file: words for file, words in broken.items() if _meant(file, order, chosen, sources)}
    code = 1 if once.code or meant else 0
    write(report, Report(code, once.logs, classes(root, sources), meant, follows, list(dict.fromkeys(ENDED.findall(said))), fault(once)))
    sys.stdout.write(said)
    return code


def attempt(root: Path, order: Order, chosen: list[str], broken: Mapping[str, list[str]], go_on: str = "false") -> Round:
    """Maven, once, in a mirror without the files that cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve() / root.name
        built = mirror(root, place, broken)
        names = [",".join(patterns(each) for each in chosen if each not in broken)] if chosen else order.names
        picked = [f"-Dtest={','.join(names)}"] if names else []
        env = {} if os.environ.get("MAVEN_OPTS") else {"MAVEN_OPTS": QUICK}
        done = start([*order.program, *order.options, *OURS, f"{GO_ON}{go_on}", *picked, "test"], env, str(place))
        said = (done.stdout + done.stderr).replace("\x1b[0m", "")
        refused: dict[str, list[str]] = {}
        for file, words in REFUSED.findall(said.partition("[INFO] BUILD FAILURE")[0]):  # it says everything twice
            refused.setdefault(file.removeprefix(f"{place}/"), []).append(words)
        logs = [Log(module, text) for module in built for text in reports(place / module / "target" / "surefire-reports")]
    return Round(done.code, said.replace(str(place), str(root)), refused, logs)


def reports(folder: Path) -> list[str]:
    return [file.read_text("utf-8", "replace") for file in sorted(folder.glob("TEST-*.xml")) if file.is_file() and not file.is_symlink()]


def patterns(source: str) -> str:
    """A test file as Surefire selects it, with the classes in its class."""
    path = PurePosixPath(source)
    parts = path.with_suffix("").parts
    at = next((n + 3 for n, part in enumerate(parts[:-2]) if part == "src"), len(parts) - 1)
    name = "/".join(parts[at:])
    return f"{name},{name}$*"


def fault(once: Round) -> str:
    if not BUILT.search(once.said):
        return f"Maven did not come to its end: it ended with code {once.code}\n{once.said.strip()[-2000:]}"
    if SOME_RAN.search(once.said) and not once.logs:
        return "Maven ran tests, but wrote no report into target/surefire-reports (is another folder configured?)"
    return ""


def _left(chosen: list[str], broken: Mapping[str, list[str]]) -> bool:
    return not chosen or any(each not in broken for each in chosen)


def _meant(file: str, order: Order, chosen: list[str], sources: list[str]) -> bool:
    """Whether a file that cannot be compiled belongs to what was selected. Code always does."""
    if file not in sources:
        return True
    return file in chosen if order.paths else not order.names or named(file, ",".join(order.names))


if __name__ == "__main__":
    sys.exit(main())
