"""What a run may claim, derived from its events: which accepted steps led to which commit. Pure; knows no git, no notes and no workflow."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from detent.evidence.outcomes.claims import ClaimedStep, Phase
from detent.kernel.model import Event

AnyEvent = Event[Any]
WORK = ("commit_judged_tree", "commit_task", "commit_merged")  # effects that commit a task's work as a whole


class Proved(NamedTuple):
    """The proved steps of one commit, which is given by its hash or by the event that made it."""

    run: str
    workflow: str
    steps: tuple[ClaimedStep, ...]
    base: str
    baseline: tuple[str, ...]
    seq: int
    made: str  # phase, plan; empty if the hash is known
    commit: str = ""


class Chain:
    """The steps so far of the current pull request."""

    def __init__(self) -> None:
        self.steps: list[ClaimedStep] = []
        self.red: AnyEvent | None = None


Fold = Callable[[AnyEvent, Chain], list[Proved]]  # what one event proves, given the steps before it


def proved(events: Iterable[AnyEvent], fold_of: Callable[[str], Fold]) -> list[Proved]:
    """Everything that a run's events, and those of runs it builds on, may claim."""
    found, chain = list[Proved](), Chain()
    for event in events:
        if event.status in ("SUCCESS", "NEEDS_ANALYSIS") or event.on == "test-wrong":
            found += fold_of(event.run.workflow)(event, chain)
    return found


def whole_work(event: AnyEvent, about: str) -> list[Proved]:
    """The claim for code and tests of a task committed together, or for a session's work around its tasks."""
    if not any(effect in event.owes for effect in WORK):
        return []
    tree = event.sent.facts["tree"] if "commit_merged" in event.owes else event.found.tree
    return [claim(event, (step_of(event, "work", about, tree),), "phase")]


def claim(event: AnyEvent, steps: tuple[ClaimedStep, ...], made: str, commit: str = "") -> Proved:
    run = event.run
    return Proved(run.id, run.workflow, steps, run.data.base, tuple(run.data.setup.baseline), run.seq, made, commit)


def step_of(event: AnyEvent, phase: Phase, about: str, tree: str) -> ClaimedStep:
    seen = event.found.evidence
    return ClaimedStep(phase, about, tree, seen.command if seen else "", seen.counts if seen else None)
