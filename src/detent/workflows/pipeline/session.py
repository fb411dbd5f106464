"""What every run of a session stands on, the session itself and its tasks alike: where the work happens, and what is fixed for it. Values only."""

from typing import Literal

from detent.blocks.common import Ground
from detent.gates.documents import ProjectHead
from detent.gates.human import DecisionData
from detent.kernel.model import Value


class CommandProof(Value, frozen=True, omit_defaults=False):
    """One command that the machine ran on a tree: what the report shows as evidence."""

    check: str
    tree: str
    outcome: Literal["passed", "failed"]
    seconds: float = 0.0
    said: str = ""  # the end of its output, where it failed


class KnownDecision(Value, frozen=True, omit_defaults=False):
    """A decision as roles see it."""

    decision_id: str
    question: str
    answer: str


def told_of(data: DecisionData) -> tuple[KnownDecision, ...]:
    """The decisions of a run that are answered."""
    return tuple(KnownDecision(d.decision_id, d.question, d.answer) for d in data.decisions if d.status == "answered")


class Aside(Value, frozen=True):
    """What a person said for one role, until that role is next."""

    role: str
    text: str


MOST_NOTES, LONGEST_NOTE = 20, 500


class Grounded(DecisionData, frozen=True):
    """Data of a run that works in a session's checkout, on its branch."""

    setup: Ground = Ground()
    base: str = ""  # the commit that the session began from
    branch: str = ""  # the session's branch, by its full name
    reds: tuple[str, ...] = ()  # a session has no RED steps; evidence is compared with the last good tree
    project: ProjectHead | None = None  # the head of tasks.yaml
    earlier: tuple[KnownDecision, ...] = ()  # what people decided in other runs of the session, before or beside this one
    notes: dict[str, tuple[str, ...]] = {}  # what roles passed the work with and nobody had to decide, by task and role, for the report
    asides: tuple[Aside, ...] = ()  # what people said for a role that was not at work then
    instructed: tuple[str, ...] = ()  # changes of the project's instructions to agents that a person took: path, and what it holds
    policies: dict[str, str] = {}  # what a person answered beforehand, by kind of question
