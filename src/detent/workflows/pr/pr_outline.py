"""What a run of `pr` is about, and how far its plan has come."""

from detent.blocks.plan_parts import Part, Step
from detent.kernel.model import Run
from detent.workflows.pr.pr_data import PrData

UNPROVEN = "unproven"  # done, as an earlier agent said; nobody saw it

MOST = 20  # entries that are shown
OTHER_ENTRIES = (
    "Not these? Give the right lines check boxes (- [ ]) or the form 'PR 1: …', or set [pr] entries to a pattern, and start again."
)


def title(run: Run[PrData]) -> str:
    """The pull request at hand; before and after all of them, those that are done, or the first one that is open: runs of one plan are told apart."""
    data = run.data
    if data.plan:
        return data.plan.prTitle
    return "; ".join(data.merged) or next(iter(data.setup.entries), "") or f"plan {data.setup.plan}"


def at_start(run: Run[PrData]) -> tuple[str, ...]:
    """The plan's open entries, before the first step."""
    path, left = run.data.setup.plan, run.data.setup.entries
    if not left:
        return (f"The plan {path} has no open entry.", OTHER_ENTRIES)
    more = [f"  and {len(left) - MOST} more"] if len(left) > MOST else []
    count = f"{len(left)} open {'entry' if len(left) == 1 else 'entries'}"
    return (f"The plan {path} has {count}, one pull request each:", *(f"  {each}" for each in left[:MOST]), *more, OTHER_ENTRIES)


def plan(run: Run[PrData]) -> tuple[Part, ...]:
    parts, found = [], False
    for task in run.data.plan.tasks if run.data.plan else ():
        steps = []
        for step in task.tdd_steps:
            done = step.status == "DONE"
            shown = step.description if step.proof or not done else f"{step.description} ({UNPROVEN})"
            steps.append(Step(step.type, shown, "done" if done else "open" if found else "now", step.proof))
            found = found or not done
        seen = {s.status for s in steps}
        status = "done" if seen == {"done"} else "now" if "now" in seen else "open"
        parts.append(Part("", task.taskName, status, tuple(steps)))
    return tuple(parts)
