"""Real commits of real projects, replayed through the gate. Owns the values; each module here owns one step.

The corpus is made without Detent: the plain runner shows which tests a commit turns from failing to passing. Then an agent that does exactly what
the commit's author did works through `pr`, and the gate's answers are counted by cause.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec


class Project(msgspec.Struct, frozen=True):
    """How to set up and test a clone; kept in its folder, so that later calls need not repeat it."""

    command: str = ""  # the [test] command as a user would configure it
    setup: str = ""  # creates the project's environment, once
    limit: int = 0  # the most commits to replay
    look: int = 0  # the most candidates to examine for them


class Suite(msgspec.Struct, frozen=True):
    """The plain runner's results for one tree."""

    cases: Mapping[str, str]  # id → passed, failed, skipped
    groups: Mapping[str, str]  # id → its file or package
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
    """One candidate commit, and the plain runner's findings about it."""

    hash: str
    title: str
    parent: str
    tests: tuple[str, ...]  # paths of tests that it touches; the rest is code
    proofs: tuple[str, ...] = ()  # fail-to-pass
    lost: int = 0  # tests that ran before and no longer exist
    cpu: float = 0.0  # of one plain run of the whole suite on the commit
    seconds: float = 0.0
    why_not: str = ""  # why it is not in the corpus


class Flag(msgspec.Struct, frozen=True):
    """A flag of the gate; in old versions without flags, a remark beside SUCCESS."""

    kind: str
    sentence: str
    place: str = ""
    policy: str = ""  # note, ask, …; empty: unknown

    @property
    def asks(self) -> bool:
        return self.policy not in ("note", "allow")


class Phase(msgspec.Struct, frozen=True):
    """One call of the agent, and the answer."""

    name: str  # start, plan, RED, analysis, GREEN, review, squash, mark, merge, check
    status: str
    reasons: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    state: str = ""
    runs: int = 0  # test runs that Detent made, if it says so


ASKED = re.compile(r"^- ([a-z-]+) +(\S*) {2,}(.+)$", re.MULTILINE)  # a flag in the question about flags


class Replayed(msgspec.Struct, frozen=True):
    """The result of replaying one commit."""

    hash: str
    title: str
    phases: tuple[Phase, ...]
    plain_cpu: float
    refused_at: str = ""  # the phase that was refused; empty: none was
    cause: str = ""  # the first sentence of the refusal
    asked: tuple[str, ...] = ()  # the questions that a person is asked at the end

    @property
    def flags(self) -> list[Flag]:
        """The flags that a person is asked about: those in the final question, or, if the run did not get there, those that its steps raised."""
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
        """The answer in the words of `check`; an ERROR counts as "could not verify"."""
        unclear = self.phases[-1].status == "ERROR"
        return {"refused": "could not verify" if unclear else "failed", "flagged": "flagged", "taken": "clean"}[self.outcome]

    def suites(self, *names: str) -> float:
        """The cost of these phases, or of all, in runs of the plain suite."""
        mine = [phase.cpu for phase in self.phases if not names or phase.name in names]
        return sum(mine) / self.plain_cpu if self.plain_cpu else 0.0


def as_json(value: Any) -> Any:
    """Structs as builtin values."""
    return msgspec.to_builtins(value)
