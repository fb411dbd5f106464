"""The script of a night: what the agent of each item does, and the expected result. `tests/night_agent.py` plays it. Values only."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.driven import later

AGENT = f"command:{sys.executable} {Path(__file__).with_name('night_agent.py')}"
USD, TOKENS = 0.25, 1500  # usage of each turn of a scripted agent
TAKES = {"usage": {"input_tokens": TOKENS, "usd": USD}}
LIMIT = 150.0  # seconds of a usage limit: longer than a worker waits in place, even if it starts late
ROUNDS = 3  # reviews of a branch
GOLDEN = 0.618  # spreads the kinds; the first kind comes first
SILENCE = 20  # seconds without output


class NightKind(NamedTuple):
    """One course of an item, and its expected end."""

    state: str  # of its run
    job: str  # state of its job in the queue
    group: str  # of its row in the report
    status: str  # of the item in its tracker
    why: str = ""  # pattern of the report's reason
    files: str = ""  # start of the title of its follow-up
    turns: tuple[int, int] = (1, 1)  # of the worker and of the reviewer
    open: bool = True  # whether its pull request is opened
    pushed: bool = True  # whether the remote has its branch
    commits: int = 1
    issues: tuple[str, ...] = ()  # the end states of its review's items
    flags: dict[str, int] = {}  # never changed
    waits_for: str = "a person"
    scripted: bool = False  # played by the shipped scripted agent, which reports usage


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

# How many items of each kind.
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
    needs: str = ""  # title of another item

    @property
    def title(self) -> str:
        return f"{self.kind.capitalize().replace('-', ' ')} {self.number}"

    @property
    def name(self) -> str:
        """The name of its module."""
        return f"{self.kind.replace('-', '_')}_{self.number}"

    @property
    def way(self) -> NightKind:
        return KINDS[self.kind]

    def entries(self) -> Iterator[dict[str, object]]:
        """The entries that the scripted agent plays for it."""
        code, test = f"def {self.name}(n):\n    return n * 7\n", f"from {self.name} import {self.name}\n\n\ndef test_{self.name}():\n"
        wrote = {f"{self.name}.py": code, f"tests/test_{self.name}.py": f"{test}    assert {self.name}(5) == 35\n"}
        fits = {"state": "RUNNING", "step": self.title}
        if self.kind == "limited":
            yield {**fits, "fail": {"sort": "RateLimit", "message": "the limit of the hour is reached", "not_before": later(LIMIT)}}
        yield {**fits, "write": wrote, "again": True, "reply": "It is done.", "wait": 0.5, **TAKES}


def play(items: Iterable[NightItem], file: Path) -> str:
    """Write the scripted agent's entries, with times counted from now; returns the agent's spec."""
    ready = {"issues": [], "summary": "all is well", "pr_ready": True}
    entries = [entry for item in items if item.way.scripted for entry in item.entries()]
    file.write_text(json.dumps([*entries, {"state": "REVIEWING", "role": "reviewer", "again": True, "reply": ready, **TAKES}]))
    return f"scripted:{file}"


def items_of(many: dict[str, int]) -> list[NightItem]:
    """The items in queue order: each kind spread over the night, those with a usage limit first.

    Failures are kept apart, because five in a row would pause the queue.
    """
    numbers, found = iter(range(1, 1000)), list[tuple[float, NightItem]]()
    for at, (kind, count) in enumerate(many.items()):
        found += [((n + at * GOLDEN % 1) / (count if at else 100), NightItem(kind, next(numbers))) for n in range(count)]
    return list(_with_needs([item for _, item in sorted(found, key=lambda each: each[0])]))


def _with_needs(items: list[NightItem]) -> Iterator[NightItem]:
    """Make stuck items depend on one that fails, and some working ones on others that work."""
    red = next(item for item in items if item.kind == "red")
    works = [item for item in items if item.kind == "works"]
    for item in items:
        if item.kind == "stuck":
            yield item._replace(needs=red.title)
        elif item in works[5::4]:
            yield item._replace(needs=works[works.index(item) - 3].title)
        else:
            yield item
