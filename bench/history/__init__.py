"""Real commits of real projects, replayed through the gate. Owns the values; each file beside it owns one step of the way.

The corpus is made without Detent: the plain runner says which tests a commit turns from failing to passing. Then an agent that does exactly what the
commit's author did works through `pr`, and what the gate says is counted by cause.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec


class Project(msgspec.Struct, frozen=True):
    """How a clone is made ready and tested; kept in its folder, so that later calls need not say it again."""

    command: str = ""  # what a user writes as [test] command
    setup: str = ""  # makes the project's own environment, once
    limit: int = 0  # commits that are replayed
    look: int = 0  # candidates that are looked at for them


class Suite(msgspec.Struct, frozen=True):
    """What the plain runner says of one tree."""

    cases: Mapping[str, str]  # id → passed, failed, skipped
    groups: Mapping[str, str]  # id → the file or package it belongs to
    cpu: float
    seconds: float
    problem: str = ""  # why there is no report
    killed: bool = False  # it did not end by itself

    @property
    def passed(self) -> set[str]:
        return {name for name, how in self.cases.items() if how == "passed"}

    @property
    def failed(self) -> set[str]:
        return {name for name, how in self.cases.items() if how == "failed"}


class Commit(msgspec.Struct, frozen=True):
    """One candidate, and what the plain runner found of it."""

    hash: str
    title: str
    parent: str
    tests: tuple[str, ...]  # the paths it touches that are tests; the others are the code
    proofs: tuple[str, ...] = ()  # fail-to-pass
    lost: int = 0  # tests that ran before and do not exist after
    cpu: float = 0.0  # of one plain run of the whole suite on the commit
    seconds: float = 0.0
    why_not: str = ""  # why it is not in the corpus


class Flag(msgspec.Struct, frozen=True):
    """Something the gate wants looked at; before there were flags, a remark beside SUCCESS."""

    kind: str
    sentence: str
    place: str = ""
    policy: str = ""  # note, ask, …; empty: not told

    @property
    def asks(self) -> bool:
        return self.policy not in ("note", "allow")


class Phase(msgspec.Struct, frozen=True):
    """One call of the agent and its answer."""

    name: str  # start, plan, RED, analysis, GREEN, review, squash, mark, merge, check
    status: str
    reasons: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    state: str = ""
    runs: int = 0  # of tests that Detent made, where it says so


ASKED = re.compile(r"^- ([a-z-]+) +(\S*) {2,}(.+)$", re.MULTILINE)  # a flag in the question about them


class Replayed(msgspec.Struct, frozen=True):
    """How one commit fared."""

    hash: str
    title: str
    phases: tuple[Phase, ...]
    plain_cpu: float
    refused_at: str = ""  # the phase that was not taken; empty: all were
    cause: str = ""  # its first sentence
    asked: tuple[str, ...] = ()  # what a person is asked in the end

    @property
    def flags(self) -> list[Flag]:
        """What a person is asked about. A flag of a step is told to the agent only; the question in the end is about what is left of them."""
        if self.asked:
            found = (said for each in self.asked for said in ASKED.findall(json.loads(each)["question"]))
            return [Flag(kind, sentence, place) for kind, place, sentence in found]
        ended = any(phase.name == "merge" for phase in self.phases)
        return [flag for phase in self.phases for flag in phase.flags if flag.asks and not ended]

    @property
    def outcome(self) -> str:
        return "refused" if self.refused_at else "flagged" if self.flags or self.asked else "taken"

    @property
    def answer(self) -> str:
        """In the words of `check`: a refusal says whether the evidence said no, or could not be had."""
        unclear = self.phases[-1].status == "ERROR"
        return {"refused": "could not verify" if unclear else "failed", "flagged": "flagged", "taken": "clean"}[self.outcome]

    def suites(self, *names: str) -> float:
        """The cost of some phases, in runs of the plain suite; of all, if none is named."""
        mine = [phase.cpu for phase in self.phases if not names or phase.name in names]
        return sum(mine) / self.plain_cpu if self.plain_cpu else 0.0


def as_json(value: Any) -> Any:
    """Structs as plain data."""
    return msgspec.to_builtins(value)
