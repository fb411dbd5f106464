"""The script of a night: what the agent of each item does, and what that must come to. `tests/night_agent.py` plays it. Values only."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.driven import later

AGENT = f"command:{sys.executable} {Path(__file__).with_name('night_agent.py')}"
USD, TOKENS = 0.25, 1500  # what each turn of a scripted agent takes
TAKES = {"usage": {"input_tokens": TOKENS, "usd": USD}}
LIMIT = 150.0  # seconds for which a usage limit holds: more than what is waited for in place, also where a worker comes late
ROUNDS = 3  # reviews of a branch
GOLDEN = 0.618  # spreads the first of each kind; the first kind comes first
SILENCE = 20  # seconds without output


class NightKind(NamedTuple):
    """One way in which an item goes, and how it must end."""

    state: str  # of its run
    job: str  # of its job in the queue
    group: str  # of its row in the report
    status: str  # of the item in its tracker
    why: str = ""  # a pattern for what the report says of it
    files: str = ""  # the beginning of the title of its follow-up
    turns: tuple[int, int] = (1, 1)  # of the worker, and of the reviewer
    open: bool = True  # whether its pull request is opened
    pushed: bool = True  # whether the remote has its branch
    commits: int = 1
    issues: tuple[str, ...] = ()  # how the items of its review end
    flags: dict[str, int] = {}  # never changed
    waits_for: str = "a person"
    scripted: bool = False  # played by the shipped scripted agent, which counts what it takes


FINISHED = NightKind("COMPLETED", "done", "finished", "closed", "its pull request is not merged")
STOPPED = FINISHED._replace(
    group="failed", status="in_progress", job="failed", state="FAILED", open=False, pushed=False, commits=0, waits_for=""
)
WAITS = FINISHED._replace(group="waits", status="in_progress", job="blocked", open=False)
KINDS: dict[str, NightKind] = {
    "works": FINISHED._replace(scripted=True),
    "limited": FINISHED._replace(scripted=True, turns=(2, 1)),
    "late": FINISHED._replace(turns=(2, 1)),
    "floods": FINISHED,
    "crashes-once": FINISHED._replace(turns=(2, 1)),
    "refused": FINISHED._replace(turns=(3, 3), commits=3, issues=("closed", "closed")),
    "never": WAITS._replace(state="NOT_READY", why="never_[0-9]+: 1 missing", turns=(3, 3), commits=3, issues=("open",)),
    "flagged": WAITS._replace(state="HALTED", why="flag", turns=(1, 0), flags={"binaries": 1}, pushed=False, commits=0),
    "crashes": STOPPED._replace(why="failed with exit code 1: the agent lost its head", files="The agent ended without an answer", turns=(4, 0)),
    "nothing": STOPPED._replace(why="nothing", files="Nothing was changed", turns=(2, 0)),
    "red": STOPPED._replace(why="test", files="Tests fail", turns=(2, 0)),
    "rejected": STOPPED._replace(why="no branch of this name", files="Push is rejected", turns=(1, 0)),
    "hangs": STOPPED._replace(state="TIMEOUT", status="open", why="no progress for 20 s", files="Timeout without output", turns=(1, 0)),
    "blocked": STOPPED._replace(state="BLOCKED", status="blocked", job="blocked", why="the key of the shop is not here", files="Blocked", turns=(1, 0)),
    "stuck": STOPPED._replace(state="QUEUED", status="open", job="waiting", group="queued", why="it needs ", turns=(0, 0)),
}  # fmt: skip

# How many of each there are.
SIXTY = {
    "limited": 2, "works": 30, "late": 4, "floods": 2, "crashes-once": 3, "refused": 4, "never": 1, "flagged": 1,
    "crashes": 2, "nothing": 2, "red": 3, "rejected": 1, "hangs": 2, "blocked": 1, "stuck": 2,
}  # fmt: skip
TWENTY = {
    "limited": 1, "works": 6, "late": 1, "floods": 1, "crashes-once": 1, "refused": 1, "never": 1, "flagged": 1,
    "crashes": 1, "nothing": 1, "red": 1, "rejected": 1, "hangs": 1, "blocked": 1, "stuck": 1,
}  # fmt: skip
FEW = {"works": 1, "late": 1, "red": 1, "stuck": 1}


class NightItem(NamedTuple):
    """One item of the night."""

    kind: str
    number: int
    needs: str = ""  # the title of another one

    @property
    def title(self) -> str:
        return f"{self.kind.capitalize().replace('-', ' ')} {self.number}"

    @property
    def name(self) -> str:
        """Of its module."""
        return f"{self.kind.replace('-', '_')}_{self.number}"

    @property
    def way(self) -> NightKind:
        return KINDS[self.kind]

    def entries(self) -> Iterator[dict[str, object]]:
        """What the scripted agent plays for it."""
        code, test = f"def {self.name}(n):\n    return n * 7\n", f"from {self.name} import {self.name}\n\n\ndef test_{self.name}():\n"
        wrote = {f"{self.name}.py": code, f"tests/test_{self.name}.py": f"{test}    assert {self.name}(5) == 35\n"}
        fits = {"state": "RUNNING", "step": self.title}
        if self.kind == "limited":
            yield {**fits, "fail": {"sort": "RateLimit", "message": "the limit of the hour is reached", "not_before": later(LIMIT)}}
        yield {**fits, "write": wrote, "again": True, "reply": "It is done.", "wait": 0.5, **TAKES}


def play(items: Iterable[NightItem], file: Path) -> str:
    """Write what the scripted agent plays, with times that count from now; its spec."""
    ready = {"issues": [], "summary": "all is well", "pr_ready": True}
    entries = [entry for item in items if item.way.scripted for entry in item.entries()]
    file.write_text(json.dumps([*entries, {"state": "REVIEWING", "role": "reviewer", "again": True, "reply": ready, **TAKES}]))
    return f"scripted:{file}"


def items_of(many: dict[str, int]) -> list[NightItem]:
    """The items in the order in which they are queued: each kind is spread over the night, those with a usage limit come first.

    What fails is not close together: five failures in a row would pause the queue.
    """
    numbers, found = iter(range(1, 1000)), list[tuple[float, NightItem]]()
    for at, (kind, count) in enumerate(many.items()):
        found += [((n + at * GOLDEN % 1) / (count if at else 100), NightItem(kind, next(numbers))) for n in range(count)]
    return list(_with_needs([item for _, item in sorted(found, key=lambda each: each[0])]))


def _with_needs(items: list[NightItem]) -> Iterator[NightItem]:
    """What is stuck needs something that fails; some of what works needs something that works."""
    red = next(item for item in items if item.kind == "red")
    works = [item for item in items if item.kind == "works"]
    for item in items:
        if item.kind == "stuck":
            yield item._replace(needs=red.title)
        elif item in works[5::4]:
            yield item._replace(needs=works[works.index(item) - 3].title)
        else:
            yield item
