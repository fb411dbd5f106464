"""What a run is about and how far its plan has come, read off its data: one shape for all workflows. Changes nothing, decides nothing."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from detent.door import AnyRun

LONGEST_TITLE = 160


class Step(NamedTuple):
    """One step of a plan."""

    kind: str
    text: str
    status: str  # done, now, open
    proof: int = 0  # the number of the event that proved it


class Part(NamedTuple):
    """One task of a plan, with its steps where it has some."""

    name: str
    title: str
    status: str  # done, now, open, blocked
    steps: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()


def title_of(run: AnyRun) -> str:
    """What the run is about, on one line."""
    lines = [line.strip() for line in TITLES.get(run.workflow, _nothing)(run).splitlines()]
    words = " ".join(next((line for line in lines if line), str(run.id)).lstrip("# ").split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"


def plan_of(run: AnyRun) -> tuple[Part, ...]:
    """The plan as it stands."""
    return PLANS.get(run.workflow, _no_plan)(run)


def _nothing(run: AnyRun) -> str:
    return str(run.id)


def _no_plan(run: AnyRun) -> tuple[Part, ...]:
    return ()


def _pr_title(run: AnyRun) -> str:
    return str(run.data.plan.prTitle if run.data.plan else f"plan {run.data.setup.plan}")


def _task_title(run: AnyRun) -> str:
    return f"{run.data.task_id}: {run.data.task.title}" if getattr(run.data, "task", None) else str(run.id)


TITLES: Mapping[str, Callable[[AnyRun], str]] = {
    "pr": _pr_title,
    "tdd": lambda run: str(run.data.feature_request),
    "pipeline": lambda run: str(run.data.request),
    "task": _task_title,
    "execute": lambda run: f"{run.data.item.id}: {run.data.item.title}",
}


def _pr_plan(run: AnyRun) -> tuple[Part, ...]:
    parts, found = [], False
    for task in run.data.plan.tasks if run.data.plan else ():
        steps = []
        for step in task.tdd_steps:
            done = step.status == "DONE"
            steps.append(Step(step.type, step.description, "done" if done else "open" if found else "now", step.proof))
            found = found or not done
        status = "done" if all(s.status == "done" for s in steps) else "now" if any(s.status == "now" for s in steps) else "open"
        parts.append(Part("", task.taskName, status, tuple(steps)))
    return tuple(parts)


def _tdd_plan(run: AnyRun) -> tuple[Part, ...]:
    now = run.data.current.description if run.data.current else ""
    return tuple(Part("", e.text, "done" if e.done else "now" if e.text == now else "open") for e in run.data.entries)


STATUSES = {"completed": "done", "implemented": "now", "in-progress": "now", "blocked": "blocked"}


def _session_plan(run: AnyRun) -> tuple[Part, ...]:
    return tuple(Part(t.id, t.title, STATUSES.get(t.status, "open"), (), t.depends_on) for t in run.data.tasks)


PLANS: Mapping[str, Callable[[AnyRun], tuple[Part, ...]]] = {"pr": _pr_plan, "tdd": _tdd_plan, "pipeline": _session_plan}
