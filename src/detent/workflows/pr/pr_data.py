"""What the `pr` workflow stores about a run, and the pure changes to it. Knows no git and no states."""

import json
from collections.abc import Callable
from typing import Literal

import msgspec

from detent.blocks.common import Ground, Inner
from detent.errors import CannotTell
from detent.gates.plan import FILE, ActivePr, PlanData, PlannedStep, PlanTask, read_plan, replaced_at
from detent.gates.review_gates import ROOT_FILE, Finding, blocking, read_findings
from detent.gates.tree import try_of
from detent.kernel.model import Data, Found, Run, Sent, StepShown
from detent.kernel.table import Child

replace = msgspec.structs.replace


class PrSetup(Ground, frozen=True):
    """The settings that decide how a run moves, fixed when it starts."""

    plan: str = "docs/Plan_Doc/Active_Plan.md"
    branching: bool = True
    checkpoint: Literal["auto", "agent"] = "auto"
    block_at: str = "MINOR"
    independent: bool = False  # only a configured reviewer may review, or at least not the agent itself
    entries: tuple[str, ...] = ()  # the plan's open entries when the run started
    adopted: str = ""  # the tree of a checkout whose changes were adopted
    adopted_over: str = ""  # the tree that those changes were made on
    aside: tuple[str, ...] = ()  # published files kept elsewhere, because the project has files of the same names

    def before_first(self, head: Callable[[], str]) -> str:
        """The tree to compare with between two pull requests: the committed one, or the adopted one."""
        return self.first_tree(head())

    def first_tree(self, base: str) -> str:
        """The tree that the first step starts from, given the tree of its base commit."""
        return self.adopted if self.adopted and self.adopted_over == base else base


class PrData(PlanData, frozen=True):
    """What is stored about the current pull request and those finished before it."""

    setup: PrSetup = PrSetup()
    base: str = ""  # the commit that the branch started from
    good_tree: str = ""  # the tree of the last passed step
    reds: tuple[str, ...] = ()  # the trees of the proved RED steps; their tests fail there
    committed: str = ""  # the tree of the last committed step; a scope reduction goes back to it
    checkpoint_due: bool = False
    test_wrong: str = ""  # the tree whose test was called wrong, until that RED is proved again
    tries: int = 0  # how often the current step was judged
    attempts: tuple[str, ...] = ()  # what was tried at the current step and why it failed, one line each, newest last
    kept: str = ""  # the tree that a scope reduction discarded
    passes_now: bool = False  # the tests of a verification task's RED pass on the current tree
    self_reported: bool = False
    report: str = ""  # the agent's report to a person, when it escalated
    notes: tuple[str, ...] = ()  # findings below block_at
    merged: tuple[str, ...] = ()  # titles of finished pull requests
    landed: bool = False  # finished without a branch, and not yet checked as a whole


def current(data: PrData) -> tuple[PlanTask, int, PlannedStep] | None:
    """The first TODO step over all tasks in order: its task, its index and the step."""
    for task in data.plan.tasks if data.plan else ():
        for i, step in enumerate(task.tdd_steps):
            if step.status == "TODO":
                return task, i, step
    return None


def failed_again(run: Run[Data]) -> bool:
    """Whether a re-planned task has failed again. Without data, as when the table is explored, it may have."""
    now = current(run.data) if isinstance(run.data, PrData) else None
    return bool(run.counts.get("replans") and run.counts.get("debug")) and (now is None or bool(now[0].replaces))


def step_shown(run: Run[PrData]) -> StepShown | None:
    now = current(run.data)
    return StepShown(now[0].taskName, now[1], now[2].type, now[2].description) if now else None


def _mark(data: PrData, proof: int) -> ActivePr | None:
    now, plan = current(data), data.plan
    if now is None or plan is None:
        return plan
    task, at, _ = now
    steps = tuple(replace(s, status="DONE", proof=proof) if i == at else s for i, s in enumerate(task.tdd_steps))
    return replace(plan, tasks=tuple(replace(t, tdd_steps=steps) if t is task else t for t in plan.tasks))


def step_done(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Mark the current step DONE, proved by this event on the tree that was judged."""
    tree = found.tree or run.data.judged_tree
    now = current(run.data)
    reds = (*run.data.reds, tree) if now and now[2].type == "RED" else run.data.reds
    done = replace(run.data, plan=_mark(run.data, run.seq + 1), good_tree=tree, reds=reds, judged_tree="", tries=0, test_wrong="")
    return replace(run, data=replace(done, attempts=(), failed_try="", passes_now=False))


SAID_WRONG = "you said that the test is wrong: "


def back_to_red(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Reopen the RED before the current step, on the tree that it was written on."""
    now, plan = current(run.data), run.data.plan
    assert now is not None, "the row is for a step"
    assert plan is not None, "and for one of a plan"
    task, at, _ = now
    red = max(i for i, step in enumerate(task.tdd_steps[:at]) if step.type == "RED")
    steps = tuple(replace(s, status="TODO", proof=0) if i == red else s for i, s in enumerate(task.tdd_steps))
    tasks = tuple(replace(t, tdd_steps=steps) if t is task else t for t in plan.tasks)
    earlier = run.data.reds[:-1]
    good = earlier[-1] if red and task.tdd_steps[red - 1].type == "RED" and earlier else run.data.committed
    data = replace(run.data, plan=replace(plan, tasks=tasks), reds=earlier, good_tree=good, judged_tree="", test_wrong=found.tree)
    data = replace(_attempted(data, "said that the test is wrong", sent.summary), failed_try="")
    return replace(run, data=data, last_reason=f"{SAID_WRONG}{sent.summary}")


def has_red(run: Run[PrData]) -> bool:
    """Whether the current step is a GREEN after a proved RED."""
    now = current(run.data)
    return now is not None and now[2].type == "GREEN" and any(s.type == "RED" and s.proof for s in now[0].tdd_steps[: now[1]])


def keep_committed(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Keep the tree of the passed step as the committed one."""
    return replace(run, data=replace(run.data, committed=run.data.good_tree))


def checkpoint_asked(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Ask the agent for a checkpoint commit, if it makes these itself."""
    return replace(run, data=replace(run.data, checkpoint_due=run.data.setup.checkpoint == "agent"))


def checkpoint_made(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    return replace(run, data=replace(run.data, checkpoint_due=False))


def tried(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Count one more failed attempt, with what it was and why it failed."""
    data = _attempted(run.data, sent.summary, next(iter(found.failed), ""))
    return replace(run, data=replace(data, tries=run.data.tries + 1, judged_tree="", failed_try=try_of(run, found.tree, sent)))


MOST_ATTEMPTS, LONGEST = 12, 300


def _attempted(data: PrData, summary: str, why: str) -> PrData:
    line = " ".join(f"{summary.strip() or '(no summary)'}: {why}".rstrip(": ").split())
    return replace(data, attempts=(*data.attempts, line if len(line) <= LONGEST else f"{line[:LONGEST]}…")[-MOST_ATTEMPTS:])


def keep_analysis(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Keep that the agent calls the failure of its test unrelated to the step; what the machine saw stays in the briefing."""
    data = replace(_attempted(run.data, sent.summary, "you said that the test failed for another reason"), judged_tree="", passes_now=False)
    return replace(
        run, data=replace(data, tries=run.data.tries + 1), last_reason=f"you said that it failed for another reason: {sent.summary}"
    )


def forget_failed_try(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """A person gave guidance, so the work that failed may be submitted again unchanged."""
    return replace(run, data=replace(run.data, failed_try=""))


def keep_judged(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    seen = found.evidence.counts if found.evidence else None
    passes = seen is not None and seen.passed > 0 and not (seen.failed or seen.errors)
    return replace(run, data=replace(run.data, judged_tree=found.tree, failed_try="", passes_now=passes))


def keep_plan(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Keep the plan that the gate just read; steps that were proved stay proved."""
    plan, _ = read_plan(found.documents.get(FILE, ""))
    assert plan is not None, "the gate read a sound plan"
    if run.data.plan is not None and run.data.replacing:
        plan = _keep_proofs(run.data.plan, plan, run.data.replacing, run.data.good_tree)
    return replace(run, data=replace(run.data, plan=plan, replacing="", replacing_red="", attempts=(), kept=""))


def _keep_proofs(old: ActivePr, new: ActivePr, name: str, tree: str) -> ActivePr:
    """Put new tasks in place of one. The others stay as they were, and the last new one verifies against the tree it is planned from."""
    at = replaced_at(old, name)
    before, after = old.tasks[:at], old.tasks[at + 1 :]
    *first, last = new.tasks[at : len(new.tasks) - len(after)]
    fresh = (replace(task, replaces=name) for task in (*first, replace(last, verifies=tree)))
    return replace(new, tasks=(*before, *fresh, *after))


def keep_branch(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    facts = sent.facts
    tree = run.data.setup.first_tree(facts.get("tree", ""))
    return replace(run, data=replace(run.data, branch=facts.get("branch", ""), base=facts.get("base", ""), good_tree=tree, committed=tree))


def keep_base(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Start the pull request from HEAD, where it has no branch of its own."""
    tree = run.data.setup.first_tree(found.documents.get("HEAD^{tree}", found.tree))
    return replace(run, data=replace(run.data, base=found.documents.get("HEAD", ""), good_tree=tree, committed=tree))


def keep_report(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Keep the agent's report for the briefing until a person has answered it."""
    return replace(run, data=replace(run.data, report=sent.report))


def keep_goal(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Remember which task is being replaced, and the description of its RED step."""
    now = current(run.data)
    if now is None:
        return run
    red = next((s.description for s in now[0].tdd_steps if s.type == "RED"), now[2].description)
    return replace(
        run,
        data=replace(
            run.data,
            replacing=now[0].taskName,
            replacing_red=red,
            judged_tree="",
            failed_try="",
            kept=found.tree,
            good_tree=run.data.committed,
            reds=(),
            tries=0,
        ),
    )


def findings_of(run: Run[PrData], sent: Sent) -> tuple[Finding, ...] | None:
    """The blocking findings, or None if the review cannot be read."""
    try:
        return blocking(read_findings(sent.findings), run.data.setup.block_at)
    except CannotTell:
        return None


def keep_findings(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Make a task of each blocking finding: RED and GREEN if it wants a test, else one REFACTOR step."""
    plan = run.data.plan
    assert plan is not None, "a review is of a plan"
    open_now = {t.finding for t in plan.tasks if t.finding and any(s.status == "TODO" for s in t.tdd_steps)}
    fresh = tuple(_task_for(f) for f in findings_of(run, sent) or () if f.id not in open_now)
    return replace(run, data=replace(_noted(run.data, sent), plan=replace(plan, tasks=(*plan.tasks, *fresh))))


def open_findings(data: PrData) -> tuple[str, ...]:
    """The review findings that are not fixed yet, one line each."""
    tasks = [t for t in data.plan.tasks if t.finding and any(s.status == "TODO" for s in t.tdd_steps)] if data.plan else []
    return tuple(t.tdd_steps[-1].description.removeprefix("Fix: ") for t in tasks)


def shown_findings(run: Run[PrData]) -> str:
    """The findings that a run stopped at "review rounds" waits for."""
    found = open_findings(run.data) if run.cause == "review rounds" else ()
    return "\n".join(("### Findings", "", *(f"- {finding}" for finding in found))) if found else ""


def inner_of(asked: Inner) -> Child:
    """The child run of `pr` for an execution: the item's text is its plan, and it works on the execution's branch."""
    known = json.loads(asked.ground.settings or "{}")
    settings = json.dumps({**known, "pr": {**known.get("pr", {}), "plan": asked.plan}})
    same = replace(asked.ground, settings=settings)
    setup = PrSetup(plan=asked.plan, branching=False, **{name: getattr(same, name) for name in same.__struct_fields__})
    data = PrData(setup=setup, branch=asked.branch, base=asked.base, good_tree=asked.tree, laid=asked.text)
    return Child(asked.name, "pr", "INITIALIZING", data, limits=asked.limits)


def _task_for(finding: Finding) -> PlanTask:
    where = f"{finding.file_path}:{finding.line_number}: " if finding.file_path else ""
    what = f"{where}{finding.description}" + (f" ({finding.recommendation})" if finding.recommendation else "")
    steps = (
        (PlannedStep("RED", f"Write a failing test that shows: {what}"), PlannedStep("GREEN", f"Fix: {what}"))
        if finding.wants_test
        else (PlannedStep("REFACTOR", what),)
    )
    return PlanTask(f"Address code review feedback: {finding.description}", steps, finding=finding.id)


def keep_review(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Bind an approval to the tree that it was given for."""
    return replace(
        run,
        data=replace(
            _noted(run.data, sent),
            reviewed_tree=found.tree or run.data.good_tree,
            self_reported=sent.by == "agent" or sent.facts.get("by") == ROOT_FILE,
        ),
    )


def _noted(data: PrData, sent: Sent) -> PrData:
    try:
        low = [f for f in read_findings(sent.findings) if not blocking((f,), data.setup.block_at)]
    except CannotTell:
        return data
    return replace(data, notes=tuple(dict.fromkeys((*data.notes, *(f"{f.severity} {f.file_path}: {f.description}" for f in low)))))


def keep_commit(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    return replace(run, data=replace(run.data, last_commit_hash=found.documents.get("HEAD", sent.facts.get("commit", ""))))


def next_pr(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Forget the finished pull request, except its title and the reviewers' notes."""
    title = run.data.plan.prTitle if run.data.plan else ""
    data = PrData(setup=run.data.setup, notes=run.data.notes, merged=(*run.data.merged, title))
    kept = tuple(flag for flag in run.flags if flag.stays and run.parent)  # the parent still has to land the work of an inner run
    return replace(run, data=data, guidance="", flags=kept, accepted="")


def landed_here(run: Run[PrData], sent: Sent, found: Found) -> Run[PrData]:
    """Finish a pull request that has no branch. A parent checks its inner run; any other run is checked as a whole before the next one begins."""
    return next_pr(run, sent, found) if run.parent else replace(run, data=replace(run.data, landed=True))


def not_looked_at(run: Run[Data]) -> str | None:
    """Why no new pull request may begin; None if one may."""
    landed = isinstance(run.data, PrData) and run.data.landed
    return "the finished pull request has not been checked as a whole yet; call get_task first" if landed else None


def unproven(run: Run[PrData]) -> tuple[str, ...]:
    """Steps that are not DONE, or DONE without proof."""
    steps = ((t.taskName, s) for t in (run.data.plan.tasks if run.data.plan else ()) for s in t.tdd_steps)
    return tuple(f"{task}: {s.type} {s.description}" for task, s in steps if s.status != "DONE" or not s.proof)
