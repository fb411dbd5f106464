"""The names that the briefings of `pr` may use, made of a run alone. Texts that depend on counters or causes stand here; all others in the files."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from detent.blocks.common import told_of_strays
from detent.evidence.runners import Command
from detent.gates.plan import PlanTask
from detent.kernel.model import Run
from detent.workflows.pr.pr_data import SAID_WRONG, PrData, current, failed_again, has_red

NUDGES: Mapping[str, str] = {
    "Fix the Failure": "Read the error, and fix what it names.",
    "Hypothesize & Fix": "Read the error. Form one hypothesis of what causes it, and make the smallest change that tests it.",
    "Use Instrumentation": "Guessing has not worked. Add logging or narrower assertions that show what really happens, submit, and read the output. "
    "Take all of it out again before the step is done.",
    "Request Scope Reduction": "The step is probably too big. Call request_scope_reduction: your changes go back to the last good commit (a snapshot "
    "is kept), and you plan the task anew in smaller tasks. Submit another fix only if you are sure of it.",
    "Escalate for External Help": "You are stuck. Write a markdown report (goal, what you tried, the last error, your analysis) and pass it to "
    "escalate_for_external_help as markdown_report. A person reads it and comes back with guidance.",
}  # the words a debugging goal starts with, and what they ask for

STEPS: Mapping[str, str] = {
    "RED": "Write a test that fails for this step, or make an older one ask for more, in test files only. At least one test must fail that did not "
    "fail before; tests that pass already are welcome beside it. No production code.",
    "GREEN": "Write the least code that makes the failing test pass. Test files and the test runner's configuration stay as they are.",
    "REFACTOR": "Make the code clearer without changing what it does. All tests pass, none is lost or skipped; a test you change must still be able to fail.",
}
ALREADY = (
    "If the behaviour is there already, so that a right test passes at once: keep the test, and submit it as below with reply "
    '"ALREADY_SATISFIED" besides. The step is closed if the machine can show that your test fails against a small change of the code.\n'
)  # open for a RED step that was tried
WRONG = (
    "You said that the test of this step is wrong$why, so it is yours to write again; that is shown where the branch lands. Code that you wrote meanwhile is "
    "no part of a RED step: bring it back as it was ($restore). Everything you had is kept in the tree $tree."
)  # after TEST_WRONG
TEST_IS_WRONG = (
    'If the test itself is wrong, so that no right code can pass it: submit with reply "TEST_WRONG" and a summary that says why. You get its RED step back; '
    "it counts as an attempt.\n"
)  # open for a GREEN step
CHECKPOINT = "The step before passed. Commit everything that belongs to it, so that the tree is clean; change nothing else."

DOES_NOT_HOLD = (
    "The pull request is finished on the present branch. Looked at as a whole, it does not hold; the error says why. Fix it there and commit it, then "
    "`detent resume`: it is looked at again."
)
WAYS_OUT: Mapping[str, str] = {
    "escalation": "The agent asked for help; its report stands in the journal (`detent history`). Answer it with `detent resume --guidance TEXT`: the run goes "
    "on in DEBUGGING, with your words in the briefing and the counter at 0.",
    "attempts": "The attempts at this step are used up. `detent resume --guidance TEXT` goes on in DEBUGGING, with your words in the briefing and the counter at 0.",
    "conflict": "Automated merge failed: a conflict, or the merged tree does not pass. Resolve it in branch '$branch' and merge it to main yourself, "
    "then `detent resume`: the machine sees that the branch is in main, and goes on with the next pull request.",
    "clean": "The tests pass where the work lies, and not in a clean checkout of the tree: something that is not committed makes them pass. Look at the error, "
    "mend it, then `detent resume`.",
    "review rounds": "The review still has findings after the last round. `detent answer REVIEW approve` takes the tree as it is, "
    "`detent answer REVIEW another-round` lets the agent work on the findings, `detent answer REVIEW abort` ends the run.",
    "plan": "The agent says that no pull request is left, and the plan has an open entry. `detent answer PLAN finish` ends the run as done; "
    "`detent resume` sends the agent back to the plan.",
    "flags": "The branch is finished and proved, and has flags that a person should look at first; they stand below. `detent answer FLAGS accept` "
    "lands it as it is. The work is squashed, so nothing here leads back to it: `detent rollback EVENT` does (`detent history` lists the events), and "
    "`detent answer FLAGS abort` ends the run.",
    "errors": "The work could not be judged three times in a row, or the agent's calls were refused again and again. Mend what the error names "
    "(runner, sandbox, reviewer, or what the agent gets wrong), then `detent resume`.",
    "agent": "The agent ended several times without a usable answer. Look at its log, mend it, then `detent resume`; `--agent SPEC` names another one.",
    "budget": "A limit of [limits] is reached. `detent resume` grants the same amount again, or what [limits] says by then.",
    "model": "The configured model is not available, and no other one is tried. Mend [agents], then `detent resume`; `--agent SPEC` names another one.",
}


def attempts(run: Run[PrData]) -> int:
    """How often the present step failed."""
    return run.counts.get("debug", 0)


def nudge(run: Run[PrData]) -> str:
    """What the number of failed attempts suggests."""
    tried, limits = attempts(run), run.limits
    if tried >= limits["escalate"] or failed_again(run):
        return "Escalate for External Help"
    if tried >= limits["reduce_scope"]:
        return "Request Scope Reduction"
    if tried >= limits["instrument"]:
        return "Use Instrumentation"
    return "Hypothesize & Fix" if tried >= limits.get("hypothesize", 1) else "Fix the Failure"


def _branch(data: PrData) -> str:
    return data.branch.removeprefix("refs/heads/") or "(the present branch)"


BY_HAND = (
    "No reviewer is configured, so the review is done by hand: give everything below to a fresh agent that has not written this code "
    "(or review it yourself, as a stranger would), and hand in what it finds. It is recorded as self-reported."
)
INDEPENDENT = (
    "The review is not yours to report: an independent one is required, and the machine asks the configured reviewer. If no answer came, the reason "
    "stands in the journal (`detent history`); call get_task again, and ask a person to mend `[review] agent` if that does not help."
)


def _review(data: PrData) -> Mapping[str, str]:
    """Who reviews, and how the answer is written, if it is for the agent to write one."""
    if data.setup.independent:
        return {"reviewed_by": INDEPENDENT, "review_answer": "", "review_writes": "Write nothing"}
    answer = Path(__file__).with_name("answer-of-a-review.md").read_text("utf-8")
    return {"reviewed_by": BY_HAND, "review_answer": answer, "review_writes": "You may write `FINDINGS.json`, and nothing else"}


def _way_out(run: Run[PrData]) -> str:
    if run.data.landed and run.cause == "conflict":
        return DOES_NOT_HOLD
    return WAYS_OUT.get(run.cause, "See `detent status`.").replace("$branch", _branch(run.data))


def facts(run: Run[PrData]) -> Mapping[str, str]:
    """The names and what they stand for now."""
    data, plan = run.data, run.data.plan
    title = plan.prTitle if plan else ""
    return {
        "plan": data.setup.plan,
        "title": title,
        "quoted_title": shlex.quote(title),
        "summary": plan.summary if plan else "",
        "verification": plan.verificationPlan if plan else "",
        "tasks": "\n".join(_shown(t) for t in plan.tasks) if plan else "",
        "branch": _branch(data),
        "base": data.base,
        "hash": data.last_commit_hash,
        "now": _now(run),
        "work": _work(run),
        "test_command": _test_command(data),
        "expectation": "FAIL" if _step(run) == "RED" else "PASS",
        "attempts": str(attempts(run)),
        "nudge": nudge(run),
        "advice": NUDGES[nudge(run)],
        "already": ALREADY if _step(run) == "RED" and attempts(run) else "",
        "doors": _doors(run),
        "strays": told_of_strays(bool(data.setup.agent)),
        "original_task": data.replacing,
        "original_red": data.replacing_red,
        "way_out": _way_out(run),
        **_review(data),
        "report": f"## The agent's report\n\n{data.report}\n" if run.cause == "escalation" else "",
        "notes": "\n".join(f"- {n}" for n in data.notes) or "(none)",
        "merged": "\n".join(f"- {t}" for t in data.merged) or "(none)",
    }


def _test_command(data: PrData) -> str:
    """How the project is tested, as far as that was known when the run began."""
    known = msgspec.json.decode(data.setup.command, type=Command).text if data.setup.command else ""
    return f"`{known}`" if known else "none is configured or was recognised when the run began, so name the command that runs your tests"


def _step(run: Run[PrData]) -> str:
    now = current(run.data)
    return now[2].type if now else ""


def _shown(task: PlanTask) -> str:
    steps = "\n".join(f"  - {s.type} ({s.status}): {s.description}" for s in task.tdd_steps)
    return f"- {task.taskName}\n{steps}"


def _now(run: Run[PrData]) -> str:
    """The goal of the moment in EXECUTING_TDD: the next step, or the commit of the last one."""
    now = current(run.data)
    if run.data.checkpoint_due:
        return "Make the safety checkpoint commit"
    return f"Complete the next TDD step, {now[2].type}: {' '.join(now[2].description.split())}" if now else "Every step is done"


def _work(run: Run[PrData]) -> str:
    if run.data.checkpoint_due:
        return CHECKPOINT
    data = run.data
    restore = f"`git restore --source={data.good_tree[:12]} -- FILE`"
    said = run.last_reason.partition(SAID_WRONG)[2]
    told = WRONG.replace("$restore", restore).replace("$tree", data.test_wrong[:12]).replace("$why", f" ({said})" if said else "")
    again = told if data.test_wrong else ""
    way_back = TEST_IS_WRONG if has_red(run) else ""
    return "\n\n".join(part.strip() for part in (STEPS.get(_step(run), ""), again, way_back) if part)


def _doors(run: Run[PrData]) -> str:
    """Which escape hatches are open, and how far the others are."""
    tried, limits = attempts(run), run.limits
    reduce, escalate = limits["reduce_scope"] - tried, 0 if failed_again(run) else limits["escalate"] - tried
    return "\n".join(
        f"- {call}: " + ("open" if left <= 0 else f"locked for {left} more failed attempt{'s' if left > 1 else ''}")
        for call, left in (("request_scope_reduction", reduce), ("escalate_for_external_help", escalate))
    )
