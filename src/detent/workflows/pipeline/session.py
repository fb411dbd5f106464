"""The data that a session and its tasks share: where the work happens, and what is fixed for it. Values only."""

from typing import Literal

from detent.blocks.common import Ground
from detent.gates.documents import ProjectHead
from detent.gates.human import DecisionData
from detent.kernel.model import Value

SESSIONS = ".agents-work"  # where sessions keep their documents; a role may write only its own


class CommandProof(Value, frozen=True, omit_defaults=False):
    """The result of one command that the machine ran on a tree, shown as evidence in the report."""

    check: str
    tree: str
    outcome: Literal["passed", "failed"]
    seconds: float = 0.0
    said: str = ""  # the end of its output, if it failed


class KnownDecision(Value, frozen=True, omit_defaults=False):
    """A decision as it is shown to roles."""

    decision_id: str
    question: str
    answer: str


def answered_decisions(data: DecisionData) -> tuple[KnownDecision, ...]:
    """The answered decisions of a run."""
    return tuple(KnownDecision(d.decision_id, d.question, d.answer) for d in data.decisions if d.status == "answered")


class Aside(Value, frozen=True):
    """A person's message to one role, kept until that role acts next."""

    role: str
    text: str


MOST_NOTES, LONGEST_NOTE = 20, 500


class Grounded(DecisionData, frozen=True):
    """Data of a run that works on a session's branch."""

    setup: Ground = Ground()
    base: str = ""  # the commit that the session started from
    branch: str = ""  # the full ref name of the session's branch
    reds: tuple[str, ...] = ()  # a session has no RED steps; evidence is compared with the last good tree
    project: ProjectHead | None = None  # the head of tasks.yaml
    earlier: tuple[KnownDecision, ...] = ()  # people's decisions in other runs of the session, before this one or beside it
    notes: dict[str, tuple[str, ...]] = {}  # by task and role, for the report: notes that needed no decision
    asides: tuple[Aside, ...] = ()  # messages for roles that have not acted since
    instructed: tuple[str, ...] = ()  # changes of the project's agent instructions that a person accepted: path and blob
    policies: dict[str, str] = {}  # answers that a person gave in advance, by kind of question
