"""Runners of JavaScript that have no adapter of their own and write TAP: ava and tape. What they write is read, test by test."""

import shlex

from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.javascript.js_command import BIN, THROUGH
from detent.evidence.runners.javascript.node_package import script_words

REPORT = ".detent-tests.tap"  # it is gone once it is read
SAY_TAP = {"ava": ("--tap",), "tape": ()}
NEVER = frozenset({"--watch", "-w", "--update-snapshots", "-u", "--only", "-o"})


def by_tap(files: Files) -> Command | None:
    """The command of the test script with its report, if it is one call of such a runner."""
    words = script_words(files)
    for before in THROUGH:
        rest = words[len(before) :]
        name = rest[0].removeprefix("./").removeprefix(BIN) if rest and words[: len(before)] == before else ""
        if name in SAY_TAP and not NEVER & set(rest):
            more = tuple(word for word in rest[1:] if word not in SAY_TAP[name])
            call = shlex.join((f"{BIN}{name}", *SAY_TAP[name], *more))
            return Command(("sh", "-c", f"{call} > {REPORT}"), "report", "npm", report=REPORT)
    return None
