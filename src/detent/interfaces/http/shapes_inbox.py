"""API shapes of questions to people. No behaviour."""

from typing import Literal

from detent.interfaces.http.shape import Shape
from detent.kernel.model import Flag


class Artifact(Shape, frozen=True, kw_only=True):
    path: str
    text: str


class Option(Shape, frozen=True, kw_only=True):
    """One way to answer. `words`: a text goes with it; `needed`: it must not be empty; `does`: what comes of it."""

    value: str
    words: Literal["", "note", "guidance", "changes"] = ""
    needed: bool = False
    does: str = ""


class DecisionRow(Shape, frozen=True, kw_only=True):
    id: str
    run: str
    title: str
    workflow: str
    state: str
    kind: str
    decision: str
    question: str
    asked_at: str
    security: bool
    status: str
    answer: str
    answered_by: str


class Decisions(Shape, frozen=True, kw_only=True):
    decisions: tuple[DecisionRow, ...]
    next: int | None


class DecisionShown(Shape, frozen=True, kw_only=True):
    row: DecisionRow
    shown: str  # the digest that an answer is bound to
    text: str  # the whole question, in markdown
    lead: str  # the same without the list of `flags`
    options: tuple[Option, ...]
    free: bool  # any text is an answer
    to: tuple[str, ...]  # roles that changes can be sent to
    artifacts: tuple[Artifact, ...]
    flags: tuple[Flag, ...]  # the flags in question, with both versions
    may_cancel: bool
