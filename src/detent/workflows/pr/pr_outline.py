"""What a run of `pr` is about, and how far its plan has come."""

from detent.blocks.plan_parts import Part, Step
from detent.kernel.model import Run
from detent.workflows.pr.pr_data import PrData


def title(run: Run[PrData]) -> str:
    return run.data.plan.prTitle if run.data.plan else f"plan {run.data.setup.plan}"


def plan(run: Run[PrData]) -> tuple[Part, ...]:
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
