"""Runs Maven's `test` in a mirror of the project. A test file that cannot be compiled does not hide the others.

A separate program, started in the sandbox; it decides nothing.
"""

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from detent.evidence.runners.jvm.jvm_files import dotted
from detent.evidence.runners.jvm.jvm_report import Log
from detent.evidence.runners.jvm.jvm_rounds import JvmRound, mirror, refusals, run_rounds
from detent.evidence.runners.wrapper import RunOrder, ordered, start

REFUSED = re.compile(r"^\[ERROR\] (/[^\n]+?\.\w+):\[\d+,\d+\] (.+(?:\n {2}\w.*)*)", re.MULTILINE)
ENDED = re.compile(r"^(?:\[ERROR\] )?Crashed tests:\n(?:\[ERROR\] )?([\w.$]+)$", re.MULTILINE)
LEFT_OUT = re.compile(r"^\[INFO\] .+ SKIPPED$", re.MULTILINE)
SOME_RAN = re.compile(r"Tests run: [1-9]\d*, .* - in |^\[\w+\] Tests run: [1-9]", re.MULTILINE)
BUILT = re.compile(r"^\[INFO\] BUILD (SUCCESS|FAILURE)$", re.MULTILINE)
OURS = [
    "-B",
    "-o",
    "-fae",
    "-DfailIfNoTests=false",
    "-Dsurefire.failIfNoSpecifiedTests=false",
    "-Dsurefire.useFile=true",
    "-DtrimStackTrace=false",
]
GO_ON = "-Dmaven.test.failure.ignore="
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.language=en"


def main() -> int:
    report, order = ordered()
    return run_rounds(report, order, attempt)


def attempt(root: Path, order: RunOrder, chosen: list[str], broken: Mapping[str, list[str]]) -> JvmRound:
    """Run Maven, and again ignoring test failures if they kept other modules from running."""
    once = call(root, order, chosen, broken)
    if once.code and not once.refused and LEFT_OUT.search(once.output):
        more = call(root, order, chosen, broken, "true")
        ended = tuple(dict.fromkeys((*once.ended, *more.ended)))
        once = JvmRound(once.code, f"{once.output}\n{more.output}", more.refused, more.logs, more.fault, ended)
    return once


def call(root: Path, order: RunOrder, chosen: list[str], broken: Mapping[str, list[str]], go_on: str = "false") -> JvmRound:
    """Run Maven once, in a mirror without the files that cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve() / root.name
        built = mirror(root, place, broken)
        names = [pattern for each in chosen if each not in broken for pattern in patterns(each)] if chosen else order.names
        picked = [f"-Dtest={','.join(names)}"] if names else []
        env = {} if os.environ.get("MAVEN_OPTS") else {"MAVEN_OPTS": QUICK}
        done = start([*order.program, *order.options, *OURS, f"{GO_ON}{go_on}", *picked, "test"], env, str(place))
        output = (done.stdout + done.stderr).replace("\x1b[0m", "")
        refused = refusals(REFUSED.findall(output.partition("[INFO] BUILD FAILURE")[0]), place, root)  # it prints everything twice
        logs = [Log(module, text) for module in built for text in reports(place / module / "target" / "surefire-reports")]
    ended = tuple(dict.fromkeys(ENDED.findall(output)))
    return JvmRound(done.code, output.replace(str(place), str(root)), refused, logs, fault(done.code, output, logs), ended)


def reports(folder: Path) -> list[str]:
    return [file.read_text("utf-8", "replace") for file in sorted(folder.glob("TEST-*.xml")) if file.is_file() and not file.is_symlink()]


def patterns(source: str) -> list[str]:
    """A test file as Surefire patterns."""
    return [name.replace(".", "/") for name in dotted(source)]


def fault(code: int, output: str, logs: list[Log]) -> str:
    if not BUILT.search(output):
        return f"Maven did not finish: it exited with code {code}\n{output.strip()[-2000:]}"
    if SOME_RAN.search(output) and not logs:
        return "Maven ran tests, but wrote no report into target/surefire-reports (is another folder configured?)"
    return ""


if __name__ == "__main__":
    sys.exit(main())
