"""What the `execute` workflow stores about one execution, and the pure changes to it. Knows no git, no tracker, no processes."""

import hashlib
import re
from collections.abc import Mapping

import msgspec

from detent.blocks.common import Ground, Inner
from detent.errors import CannotTell
from detent.gates.item import BranchReview, ItemData, WorkItem, blocked_reason, final_report, read_review
from detent.kernel.model import Found, Run, Sent, StepShown, Value
from detent.kernel.table import Child

replace = msgspec.structs.replace

HEAD, TAIL = 4_000, 16_000  # a follow-up item shows this many characters of the start and the end of an output
PLAIN = "plain"  # the strategy without an inner run
CHILD = "work"  # the name of the inner run, where the strategy has one
PUBLIC: Mapping[str, str] = {
    "QUEUED": "QUEUED",
    "COMPLETED": "COMPLETED",
    "FAILED": "FAILED",
    "BLOCKED": "BLOCKED",
    "TIMEOUT": "TIMEOUT",
    "CANCELLED": "CANCELLED",
}  # every other state is RUNNING to the outside
TITLES: Mapping[str, str] = {
    "tests": "Tests fail",
    "nothing": "Nothing was changed",
    "files": "Too many files are changed",
    "push": "Push is rejected",
    "conflict": "Merge conflict",
    "ci": "CI fails",
    "agent": "The agent ended without an answer",
    "budget": "The budget is used up",
    "child": "The inner run did not finish",
    "blocked": "Blocked",
    "time": "Timeout",
    "silence": "Timeout without output",
}  # the causes that file a follow-up item
BY_GATE: Mapping[str, str] = {"something_changed": "nothing", "files_within_budget": "files"}  # the cause by gate; else it is the tests


class ProjectFacts(Value, frozen=True):
    """What the prompt says about the project."""

    name: str = ""
    tech_stack: tuple[str, ...] = ()
    test_command: str = ""


class ExecuteSetup(Ground, frozen=True):
    """The settings that decide which rows an execution takes, fixed when it is queued."""

    strategy: str = PLAIN
    pull_request: bool = False
    hours: str = "6"
    silence: str = "6"
    limits: dict[str, int] = {}  # of the inner run, as the project configures them
    branch_name: str = "beads-{id}-{title}"  # names of an item's branch and commit; for beads in the form of its own tools
    commit_subject: str = "Bead {id}: {title}"


class LastAttempt(Value, frozen=True):
    """How the previous attempt ended, for the agent that tries again."""

    run: str
    state: str
    reason: str = ""
    failing: tuple[str, ...] = ()  # tests
    output: str = ""
    diff: str = ""
    said: str = ""  # the last message of its agent
    kept: str = ""  # the commit that keeps its work
    start: str = "main"  # or "kept": what this attempt should start from


class ItemChange(Value, frozen=True):
    """How the item is updated; an empty status leaves it unchanged."""

    status: str = ""
    labels: tuple[str, ...] = ()


class FollowUp(Value, frozen=True):
    """The item that a failure files. The same cause always gives the same `key`, so it is filed once."""

    key: str
    title: str
    description: str
    linked_to: str


AFTER: Mapping[str, ItemChange] = {
    "COMPLETED": ItemChange("closed"),
    "FAILED": ItemChange("in_progress"),
    "BLOCKED": ItemChange("blocked"),
    "TIMEOUT": ItemChange("open", ("timeout",)),
    "CANCELLED": ItemChange("open"),
}


class ExecuteData(ItemData, frozen=True):
    """One execution: one item, one branch, one workspace, one fresh agent."""

    project: ProjectFacts = ProjectFacts()
    again: bool = False  # a person asked for this attempt, however earlier ones ended
    setup: ExecuteSetup = ExecuteSetup()
    branch: str = ""
    base: str = ""  # the commit that the branch started from
    onto: str = ""  # branches of needed items that this branch starts from and that main does not have yet
    part_of: str = ""  # the execution whose review found this item: this one works on its branch, and opens no pull request
    continues: str = ""  # the execution whose pull request it updates, on the same branch
    last: LastAttempt | None = None
    begun: str = ""  # "kept" if it started from the last attempt's work, "pull" if from a pull request's branch; else why not
    started: str = ""  # when the work began; the time limit counts from there
    plan: str = ""  # path of the item's text written as a plan with one entry, where the inner run wants a plan
    good_tree: str = ""  # the tree the branch started from, or the last one that passed
    reds: tuple[str, ...] = ()  # always empty: there is no RED step
    proved_tree: str = ""  # the tree the tests passed on
    pushed: str = ""  # the commit that the remote has
    subject: str = ""  # subject of the commit to be made
    reason: str = ""  # why it failed, in one sentence
    review: BranchReview | None = None
    reviewed: str = ""  # the commit that a review or a person approved
    pull: str = ""  # the address of its pull request


# -- changes -----------------------------------------------------------------------------------------------------------------


def keep_workspace(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep the branch and workspace that the job prepared."""
    facts = sent.facts
    place = facts.get("workspace", "")
    data = replace(
        run.data,
        branch=facts.get("branch", ""),
        base=facts.get("base", ""),
        onto=facts.get("onto", ""),
        part_of=facts.get("part_of", ""),
        begun=facts.get("begun", ""),
        good_tree=facts.get("tree", ""),
        plan=facts.get("plan", ""),
        started=facts.get("at", ""),
        setup=replace(run.data.setup, workspace=place),
    )
    return replace(run, worktree=place, data=data)


def keep_proof(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep the tree that the tests passed on; it is the one to commit and to push."""
    subject = subject_of(run.data.setup.commit_subject, run.data.item.id, run.data.item.title)
    data = replace(run.data, proved_tree=found.tree, good_tree=found.tree, subject=subject, reason="")
    return replace(run, last_error="", guidance="", data=data)


def keep_pushed(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    return replace(run, data=replace(run.data, pushed=sent.facts.get("commit", "")))


def keep_pull(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    return replace(run, data=replace(run.data, pull=sent.facts.get("url", "")))


def keep_reason(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep why it failed, as a sentence and with the output, for the retry and the follow-up item."""
    reason = "; ".join(found.failed) or found.unclear or sent.note or sent.output.partition("\n")[0]
    output = found.output or sent.output
    text = output if output.startswith(reason) else f"{reason}\n\n{output}".rstrip()
    return replace(run, last_error=text, data=replace(run.data, reason=reason))


def keep_blocked(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    report = final_report(sent)
    return replace(run, last_error=report, data=replace(run.data, reason=blocked_reason(report)))


def keep_stopped(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    reason = f"the inner run ended in {sent.outcome}"
    return replace(run, last_error=sent.output or reason, data=replace(run.data, reason=reason))


def keep_cause(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Set the cause to what failed, where a gate failed before the tests were run."""
    return replace(run, cause=BY_GATE.get(found.gate, run.cause))


def keep_review(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep the review of the pushed commit. If it approves, it approves that commit and no later one."""
    review = review_of(sent)
    ready = review is not None and review.pr_ready
    return replace(run, data=replace(run.data, review=review, reviewed=run.data.pushed if ready else run.data.reviewed))


def keep_override(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep that a person approves the pushed commit in spite of the review."""
    return replace(run, guidance=sent.guidance or run.guidance, cause="", data=replace(run.data, reviewed=run.data.pushed))


def keep_fix(run: Run[ExecuteData], sent: Sent, found: Found) -> Run[ExecuteData]:
    """Keep a person's request to fix what the review found; their words go into the next briefing."""
    return replace(run, guidance=sent.note or sent.guidance or run.guidance, cause="")


def review_of(sent: Sent) -> BranchReview | None:
    """The review that was handed in, or None if it cannot be read."""
    try:
        return read_review(sent.findings)
    except CannotTell:
        return None


# -- derived from the data ---------------------------------------------------------------------------------------------------


def stem(item: str) -> str:
    """The common prefix of the run ids of an item's executions; no two items share one."""
    name = re.sub(r"[^a-z0-9]+", "-", item.lower()).strip("-")[:40]
    return f"execute-{name}" if name == item else f"execute-{name}-{hashlib.sha256(item.encode()).hexdigest()[:6]}"


def public_status(state: str) -> str:
    """The status that is shown to the outside."""
    return PUBLIC.get(state, "RUNNING")


def item_after(run: Run[ExecuteData]) -> ItemChange:
    """How the item is updated at the end. A skipped item is left unchanged, and so is one that was cancelled before its work began."""
    if run.state == "CANCELLED" and (run.cause == "skipped" or not run.data.branch):
        return ItemChange()
    return AFTER.get(run.state, ItemChange())


def follow_up_of(run: Run[ExecuteData]) -> FollowUp | None:
    """The follow-up item that this end files; None if it is no failure."""
    item = run.data.item
    if run.state not in ("FAILED", "BLOCKED", "TIMEOUT"):
        return None
    text = f"Execution {run.id} of {item.id} ended in {run.state}: {run.data.reason}\n\nBranch: {_short(run.data.branch)}\n\n{_bounded(run.last_error)}"
    return FollowUp(f"{item.id}:{run.cause}", f"{TITLES[run.cause]}: {item.title}", text.rstrip() + "\n", item.id)


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/")


def _bounded(text: str) -> str:
    """The beginning and the end of an output, short enough for an item."""
    cut = len(text) - HEAD - TAIL
    return text if cut <= 0 else f"{text[:HEAD]}\n[… {cut} characters left out; the journal has them]\n{text[-TAIL:]}"


def children(run: Run[ExecuteData]) -> tuple[Child, ...]:
    """The inner run, where the strategy is another workflow. It commits; only the execution pushes."""
    data, item = run.data, run.data.item
    if run.state != "RUNNING_CHILD":
        return ()
    from detent.app.registry import workflow_of  # imported late: only this strategy needs it

    inner = workflow_of(data.setup.strategy).inner
    assert inner is not None, "looked at when the execution was queued"
    request = "\n\n".join(part for part in (f"{item.id}: {item.title}", item.description, data.context) if part)
    ground = Ground(**{name: getattr(data.setup, name) for name in Ground.__struct_fields__})  # the same ground as its parent's
    return (
        inner(
            Inner(
                CHILD,
                request,
                data.plan,
                plan_of(item, data.setup.commit_subject),
                ground,
                data.branch,
                data.base,
                data.good_tree,
                data.setup.limits,
            )
        ),
    )


def subject_of(template: str, id: str, title: str) -> str:
    """The commit subject of an item."""
    return template.replace("{id}", id).replace("{title}", title)


def plan_of(item: WorkItem, subject: str) -> str:
    """The item's text as a plan with one entry; its description is quoted so that no line of it counts as an entry."""
    title = item.title.replace("[DONE]", "").strip() or item.id
    quoted = "".join(f"> {line}\n" for line in item.description.splitlines())
    return f"# Work item {item.id}\n\n- {subject_of(subject, item.id, title)}\n\n{quoted}"


def unproven(run: Run[ExecuteData]) -> tuple[str, ...]:
    """What is missing for COMPLETED."""
    data = run.data
    reviewed = not wants_pull(data) or data.reviewed == data.pushed
    lacks = (
        ("no tree is proved by its tests", data.proved_tree),
        ("nothing is pushed", data.pushed),
        ("no review found the pushed commit ready", reviewed),
    )
    return tuple(sentence for sentence, there in lacks if not there)


def wants_pull(data: ExecuteData) -> bool:
    """Whether it opens a pull request. Work on the branch of another execution goes into the pull request of that one."""
    return data.setup.pull_request and not data.part_of


def step_shown(run: Run[ExecuteData]) -> StepShown | None:
    item = run.data.item
    return StepShown(item.id, 0, "ITEM", item.title) if run.state == "RUNNING" else None


WAYS_OUT: Mapping[str, str] = {
    "errors": "Three times in a row the work could not be judged. Fix what the error names (runner, sandbox, remote, tracker, reviewer), then "
    "`detent resume --run $run`.",
    "model": "The configured model is not available, and no other one is tried. `detent resume --run $run --agent SPEC` continues with another agent; "
    "`[agents]` in detent.toml sets one for all runs.",
    "flags": "The work is finished and proved, but has flags that a person should look at before it is pushed; they are listed below. `detent answer FLAGS accept "
    "--run $run` pushes it as it is. `detent answer FLAGS fix --note TEXT --run $run` has the agent work on it with your words (where no inner run did the "
    "work). `detent resume` answers nothing here.",
}  # why an execution waits for a person, and what that person can do
ONE_RETRY = "If they fail, you get ONE retry, with the output. Still failing: the execution ends as FAILED, and a follow-up item is filed."
NO_RETRY = "If they fail again, the execution ends as FAILED, and a follow-up item is filed."


def facts(run: Run[ExecuteData]) -> Mapping[str, str]:
    """The names that the briefings of this workflow may use."""
    data, ready, follow = run.data, run.data.review, follow_up_of(run)
    return {
        "status": public_status(run.state),
        "item": data.item.id,
        "title": data.item.title,
        "description": data.item.description or "(the item has no description)",
        "project": data.project.name or "(no name)",
        "tech_stack": ", ".join(data.project.tech_stack) or "(not stated)",
        "test_command": data.project.test_command or "(none yet)",
        "context": data.context or "(none)",
        "branch": _short(data.branch) or "(no branch yet)",
        "start": _start(data),
        "hours": data.setup.hours,
        "silence": data.setup.silence,
        "if_they_fail": NO_RETRY if run.counts.get("tries") else ONE_RETRY,
        "reason": data.reason or run.last_error or "no reason was given",
        "commit": data.pushed or "(nothing was pushed)",
        "trouble": "\n".join(part for part in (_found(run), _failure_section(run), previous_attempt_section(run)) if part),
        "way_out": WAYS_OUT.get(run.cause, "").replace("$run", run.id),
        "item_after": item_after(run).status or "as it was",
        "follow_up": follow.title if follow else "none",
        "review": ready.summary if ready else "",
        "issues": "\n".join(f"- {i.severity} {i.type}: {i.title}" for i in ready.issues) if ready else "",
    }


def _start(data: ExecuteData) -> str:
    if data.part_of:
        return "the tip of the branch whose review found this; your work becomes part of that branch"
    if data.begun == "pull":
        return "the tip of the branch of its open pull request, to which your work is added"
    return f"main plus the work that this item needs and that has not landed yet ({data.onto})" if data.onto else "main"


def _found(run: Run[ExecuteData]) -> str:
    """The section of a briefing with the issues of the last review, for the agent that is to fix them."""
    review = run.data.review
    if run.state != "RUNNING" or review is None or review.pr_ready:
        return ""
    where = "All work so far is in the workspace and pushed. Fix what is listed here, with a test where possible."
    return f"## A review found this branch not ready\n\n{where}\n\n{review.summary}\n\n{listed_issues(review)}\n"


def listed_issues(review: BranchReview) -> str:
    places = ((i, ", ".join((i.file_path, *(f"line {n}" for n in i.line_numbers))) if i.file_path else "") for i in review.issues)
    return "\n".join(f"- **{i.title}** ({i.severity} {i.type}{f'; {place}' if place else ''}): {i.description}" for i, place in places)


def previous_attempt_section(run: Run[ExecuteData]) -> str:
    """The section of a briefing about the previous attempt; empty once this attempt has proved its work."""
    last, data = run.data.last, run.data
    if last is None or run.state != "RUNNING" or data.proved_tree:
        return ""
    kept = "Your workspace contains its work: continue from there, or undo what is wrong." if data.begun == "kept" else ""
    begins = kept or f"Your workspace begins without its work{f' ({data.begun})' if data.begun else ''}; its change is below."
    parts = [f"## The previous attempt ({last.run}) ended in {last.state}\n\n{last.reason}\n\n{begins}\n"]
    parts += ["Tests that failed:\n\n" + "\n".join(f"- {test}" for test in last.failing) + "\n"] if last.failing else []
    parts += [f"What its agent said last:\n\n~~~~text\n{last.said}\n~~~~\n"] if last.said else []
    parts += [f"What the machine saw last:\n\n~~~~text\n{last.output}\n~~~~\n"] if last.output else []
    parts += [f"Its change:\n\n~~~~diff\n{last.diff}\n~~~~\n"] if last.diff else []
    return "\n".join(parts)


def _failure_section(run: Run[ExecuteData]) -> str:
    """The section of a briefing with the failure that this attempt has to fix; empty if there was none."""
    if not run.last_error:
        return ""
    last = "This is your one retry. What the previous attempt wrote is still there. " if run.counts.get("tries") else ""
    return f"## The last attempt failed\n\n{last}What the machine saw:\n\n~~~~text\n{run.last_error}\n~~~~"
