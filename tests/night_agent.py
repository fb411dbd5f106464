"""The agent of the scripted night: reads its briefing as JSON from standard input and works in its current folder, as the item's title says.

It keeps no state between turns: its actions follow from the briefing and the files. So it can be killed at any point, and the next one may
run in another clone. The expected result of each kind is in `tests/night_script.py`.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CODE = "def {name}(n):\n    return n * {by}\n"
TEST = "from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}(5) == 35\n"
TITLE = re.compile(r"^Work item \S+: (.+)$", re.MULTILINE)  # in a reviewer's briefing
PARTS = ("doubled", "tripled", "squared")  # what a reviewer misses, one by one
MORE = "\n\ndef {name}_{part}(n):\n    return {name}(n) * {by}\n"
MORE_TEST = "from {name} import {name}_{part}\n\n\ndef test_{name}_{part}():\n    assert {name}_{part}(2) == {result}\n"
LINE = "the agent has much to say, and says it again and again; nobody has to keep all of this\n"


class Told:
    """What the agent knows: the kind of its item, the name of its module, and the briefing."""

    def __init__(self, briefing: dict[str, Any]) -> None:
        title = (briefing.get("step") or {}).get("description") or TITLE.findall(briefing["briefing"])[0]
        words = title.lower().split()
        self.kind, self.name = "-".join(words[:-1]), "_".join(words)
        self.module = Path(f"{self.name}.py")
        self.again = bool(briefing.get("last_error")) or briefing.get("attempt", 1) > 1
        self.reviews = briefing.get("role") == "reviewer"
        self.missing = [part for part in PARTS if f"_{part}(" not in (self.module.read_text() if self.module.exists() else "")]

    def write(self, by: int = 7) -> None:
        """Write the module and its test, correctly unless `by` differs."""
        self.module.write_text(CODE.format(name=self.name, by=by))
        (Path("tests") / f"test_{self.name}.py").write_text(TEST.format(name=self.name))

    def add(self, part: str) -> None:
        by = 2 + PARTS.index(part)
        with self.module.open("a") as file:
            file.write(MORE.format(name=self.name, part=part, by=by))
        (Path("tests") / f"test_{self.name}_{part}.py").write_text(MORE_TEST.format(name=self.name, part=part, result=14 * by))


def works(told: Told) -> str:
    told.write()
    return "The module is there, and a test shows that it works."


def late(told: Told) -> str:
    """Tests fail the first time."""
    told.write(7 if told.again else 6)
    return "done"


def red(told: Told) -> str:
    told.write(6)
    return "done"


def refused(told: Told) -> str:
    """Adds what the last review missed."""
    if told.module.exists():
        told.add(told.missing[0])
    else:
        told.write()
    return "done"


def crashes(told: Told) -> str:
    told.write()
    raise SystemExit("the agent lost its head")


def crashes_once(told: Told) -> str:
    return works(told) if told.again else crashes(told)


def floods(told: Told) -> str:
    told.write()
    for stream in (sys.stdout, sys.stderr):
        for _ in range(200):
            stream.write(LINE * 1000)
    return "\ndone"


def nothing(told: Told) -> str:
    return "All is done already."


def hangs(told: Told) -> str:
    told.write()
    while True:
        time.sleep(60)


def blocked(told: Told) -> str:
    return "I looked everywhere.\n\nBLOCKED: the key of the shop is not here"


def flagged(told: Told) -> str:
    told.write()
    Path(f"{told.name}.bin").write_bytes(bytes(range(256)) * 4)
    return "done"


WORK: dict[str, Callable[[Told], str]] = {
    "works": works, "late": late, "red": red, "refused": refused, "never": refused, "crashes": crashes, "crashes-once": crashes_once,
    "floods": floods, "nothing": nothing, "hangs": hangs, "blocked": blocked, "flagged": flagged, "rejected": works,
}  # fmt: skip


def review(told: Told) -> str:
    """Ready, except for the two kinds whose review finds something: two parts, or always one more."""
    missed = {"refused": told.missing[:1] if len(told.missing) > 1 else [], "never": ["end"]}.get(told.kind, [])
    issues = [
        {"title": f"{told.name} lacks a part: {part}", "description": f"{part} is missing", "priority": 1, "type": "bug", "severity": "high",
         "file_path": f"{told.name}.py", "line_numbers": [1]}
        for part in missed
    ]  # fmt: skip
    return json.dumps({"issues": issues, "summary": f"{told.name}: {len(issues)} missing", "pr_ready": not issues})


def main() -> None:
    told = Told(json.load(sys.stdin))
    sys.stdout.write(review(told) if told.reviews else WORK[told.kind](told))


if __name__ == "__main__":
    main()
