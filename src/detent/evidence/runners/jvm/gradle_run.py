"""Runs Gradle's `test` in a mirror of the project. A test file that cannot be compiled does not hide the others.

A separate program, started in the sandbox; it decides nothing.
"""

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from detent.evidence.runners.adapter import REPORTERS
from detent.evidence.runners.jvm.jvm_files import dotted
from detent.evidence.runners.jvm.jvm_report import Log
from detent.evidence.runners.jvm.jvm_rounds import JvmRound, mirror, refusals, run_rounds
from detent.evidence.runners.wrapper import RunOrder, ordered, start

REFUSED = re.compile(r"^(/[^\n]+?\.java):\d+: error: (.+(?:\n[ \t].*)*)", re.MULTILINE)
LISTENER = REPORTERS / "gradle_listener.gradle"
OURS = ["--offline", "--no-daemon", "--console=plain", "--continue", "--no-build-cache", "-Dorg.gradle.configuration-cache=false"]
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.language=en"


def main() -> int:
    report, order = ordered()
    return run_rounds(report, order, attempt)


def attempt(root: Path, order: RunOrder, chosen: list[str], broken: Mapping[str, list[str]]) -> JvmRound:
    """Run Gradle once, in a mirror without the files that cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve() / root.name
        log = Path(folder) / "log"
        mirror(root, place, broken)
        names = [name for each in chosen if each not in broken for name in dotted(each)] if chosen else order.names
        picked = [word for name in names for word in ("--tests", name)]
        done = start(
            [*order.program, *order.options, *OURS, "-I", str(LISTENER), f"-Ddetent.log={log}", "test", *picked], settings(), str(place)
        )
        output = done.stdout + done.stderr
        refused = refusals(REFUSED.findall(output), place, root)
        logs = [Log("", log.read_text("utf-8", "replace"))] if log.exists() else []
    fault = "" if logs else f"Gradle did not reach the tests: it exited with code {done.code}\n{output.strip()[-2000:]}"
    return JvmRound(done.code, output.replace(str(place), str(root)), refused, logs, fault)


def settings() -> dict[str, str]:
    """Gradle's environment: the person's own Gradle home if it is writable, else one of Detent's."""
    own = Path(os.environ.get("GRADLE_USER_HOME") or Path.home() / ".gradle")
    quick = {} if os.environ.get("GRADLE_OPTS") else {"GRADLE_OPTS": QUICK}
    if os.access(own, os.W_OK) or "KEPT_GRADLE" not in os.environ:
        return quick
    read = {"GRADLE_RO_DEP_CACHE": str(own / "caches")} if (own / "caches").is_dir() else {}
    return {**quick, **read, "GRADLE_USER_HOME": os.environ["KEPT_GRADLE"]}


if __name__ == "__main__":
    sys.exit(main())
