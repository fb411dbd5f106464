"""What a run may claim, read off its events: which accepted steps lead to which commit. Pure; knows no git and no notes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from detent.evidence.claims import Phase, Step
from detent.gates.plan import verified_from
from detent.kernel.model import Event
from detent.workflows.execute_data import ExecuteData
from detent.workflows.pr_data import PrData, current
from detent.workflows.task_data import TaskData

AnyEvent = Event[Any]
TDD: Mapping[str, Phase] = {
    "planned": "plan",
    "complete": "complete",
    "red": "red",
    "already": "already",
    "green": "green",
    "refactor": "refactor",
}
PR: Mapping[str, Phase] = {"green": "green", "refactor": "refactor", "already": "already"}
NEXT_PR = ("merged", "plan-done-here")
WORK = ("commit_judged_tree", "commit_task", "commit_merged")  # effects that commit work as a whole


class Proved(NamedTuple):
    """The steps of one commit, and how the commit is found: by its hash, or by what the event made."""

    run: str
    workflow: str
    steps: tuple[Step, ...]
    base: str
    baseline: tuple[str, ...]
    seq: int
    made: str  # phase, plan; empty where the hash is known
    commit: str = ""


def proved(events: Iterable[AnyEvent]) -> list[Proved]:
    """Everything that the events of a run, and of those it goes back to, may claim."""
    found, chain = list[Proved](), _Chain()
    for event in events:
        if event.status in ("SUCCESS", "NEEDS_ANALYSIS") or event.on == "test-wrong":
            found += FOLD.get(event.run.workflow, _nothing)(event, chain)
    return found


class _Chain:
    """The steps of the pull request that is at work."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.red: AnyEvent | None = None


def _nothing(event: AnyEvent, chain: _Chain) -> list[Proved]:
    return []


def _tdd(event: AnyEvent, chain: _Chain) -> list[Proved]:
    """Every phase ends in a commit of its own."""
    phase = TDD.get(event.on)
    if phase is None or "commit_judged_tree" not in event.owes:
        return []
    step = _step(event, phase, event.run.data.subject.partition(": ")[2], event.found.tree)
    over = event.run.data.red_over if phase == "red" else ""
    return [_for(event, (msgspec.structs.replace(step, over=over),), "phase")]


def _pr(event: AnyEvent, chain: _Chain) -> list[Proved]:
    """All steps of a pull request end in one commit; the update of the plan is another."""
    data: PrData = event.run.data
    if event.on in ("branched", "plan-here", "start"):
        chain.steps = _taken_over(event)
    elif event.on in ("red", "verify"):
        chain.red = event
    elif event.on == "success" and chain.red is not None:
        chain.steps.append(_red(chain.red, data.good_tree))
    elif event.on in PR:
        chain.steps.append(_step(event, PR[event.on], _described(event), data.good_tree))
    elif event.on == "test-wrong" and chain.steps:
        chain.steps.pop()  # the RED whose test was wrong is not claimed; its trees stay reachable
    elif event.on == "scope-reduction":
        chain.steps = _back_to(chain.steps, data.good_tree)
    elif event.on == "squashed":
        return [_for(event, tuple(chain.steps), "", data.last_commit_hash)]
    entry = event.on in ("plan-done", "plan-done-here")
    made = (
        [_for(event, (Step("entry", "the finished entry of the plan", event.found.tree, path=data.setup.plan),), "plan")] if entry else []
    )
    chain.steps = [] if event.on in NEXT_PR else chain.steps
    return made


def _work(event: AnyEvent, chain: _Chain) -> list[Proved]:
    """Code and tests of a task together, or what a session does around its tasks: one commit, proved as a whole."""
    if not any(effect in event.owes for effect in WORK):
        return []
    tree = event.sent.facts["tree"] if "commit_merged" in event.owes else event.found.tree
    return [_for(event, (_step(event, "work", _worked_on(event), tree),), "phase")]


def _execute(event: AnyEvent, chain: _Chain) -> list[Proved]:
    """The work on an item; where it was rebased, the commit that came of it too. Of an inner run only the end was tested again, so nothing is claimed."""
    if event.on == "rebased" and event.run.data.setup.strategy == "plain":
        step = _step(event, "work", _worked_on(event), event.found.tree)
        return [_for(event, (step,), "", event.sent.facts["commit"])]
    return _work(event, chain)


FOLD: Mapping[str, Callable[[AnyEvent, _Chain], list[Proved]]] = {
    "tdd": _tdd,
    "pr": _pr,
    "execute": _execute,
    "pipeline": _work,
    "task": _work,
}


def _worked_on(event: AnyEvent) -> str:
    """What a whole piece of work is about, in the words of the item or of the task; the session's own is about all of them."""
    data = event.run.data
    if isinstance(data, ExecuteData):
        return data.item.title
    if isinstance(data, TaskData):
        return data.task.title if data.task else data.goal
    id = event.sent.facts.get("task", "")
    return next((t.title for t in data.tasks if t.id == id), "the session as a whole")


def _for(event: AnyEvent, steps: tuple[Step, ...], made: str, commit: str = "") -> Proved:
    run = event.run
    return Proved(run.id, run.workflow, steps, run.data.base, tuple(run.data.setup.baseline), run.seq, made, commit)


def _step(event: AnyEvent, phase: Phase, about: str, tree: str) -> Step:
    seen = event.found.evidence
    return Step(phase, about, tree, seen.command if seen else "", seen.counts if seen else None)


def _red(event: AnyEvent, tree: str) -> Step:
    """A RED step was judged by one event and accepted by another; the first one has the evidence."""
    now, over = current(event.run.data), verified_from(event.run.data.plan)
    seen = event.found.evidence
    about, counts = now[2].description if now else "", seen.counts if seen else None
    return Step("verify" if event.on == "verify" else "red", about, tree, seen.command if seen else "", counts, over=over)


def _described(event: AnyEvent) -> str:
    steps = (s for t in event.run.data.plan.tasks for s in t.tdd_steps)
    return next((s.description for s in steps if s.proof == event.run.seq), "")


def _taken_over(event: AnyEvent) -> list[Step]:
    """What was there before the first step and nobody proved: changes that were adopted, and work of which only files were left."""
    data: PrData = event.run.data
    adopted = data.setup.adopted and data.setup.adopted == data.good_tree
    left = event.on == "start" and data.plan is not None
    return [Step("adopted", "what was there when the run started", data.good_tree)] if adopted or left else []


def _back_to(steps: list[Step], tree: str) -> list[Step]:
    """The steps up to the newest one that ended with a tree; what came after it was given up."""
    last = max((i for i, step in enumerate(steps) if step.tree == tree), default=-1)
    return steps[: last + 1]
