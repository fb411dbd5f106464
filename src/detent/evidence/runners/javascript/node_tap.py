"""JavaScript runners without an adapter of their own that write TAP: ava and tape. Their output is read test by test."""

import shlex

from detent.evidence.runners.adapter import Command, Files, split_words
from detent.evidence.runners.javascript.js_command import BIN, THROUGH
from detent.evidence.runners.javascript.node_package import script_words

REPORT = ".detent-tests.tap"  # removed after it is read
INTO = f" > {REPORT}"
SAY_TAP = {"ava": ("--tap",), "tape": ()}
NEVER = frozenset({"--watch", "-w", "--update-snapshots", "-u", "--only", "-o"})


def by_tap(files: Files) -> Command | None:
    """The command of the test script with its output sent to a report, if it is one call of such a runner."""
    call = _call(script_words(files))
    return Command(("sh", "-c", f"{call}{INTO}"), "report", "npm", report=REPORT) if call else None


def adopt_tap(configured: str) -> Command | None:
    """The same command where it was stored as configured: recognised again by its text, whatever the script says now."""
    text = configured.strip()
    words, fault = split_words(text.removesuffix(INTO)) if text.endswith(INTO) else ((), "")
    known = words and not fault and _call(words) == text.removesuffix(INTO)
    return Command(("sh", "-c", text), "report", report=REPORT) if known else None


def _call(words: tuple[str, ...]) -> str:
    """A call of such a runner that writes TAP; empty if the words are no such call."""
    for before in THROUGH:
        rest = words[len(before) :]
        name = rest[0].removeprefix("./").removeprefix(BIN) if rest and words[: len(before)] == before else ""
        if name in SAY_TAP and not NEVER & set(rest):
            more = tuple(word for word in rest[1:] if word not in SAY_TAP[name])
            return shlex.join((f"{BIN}{name}", *SAY_TAP[name], *more))
    return ""
