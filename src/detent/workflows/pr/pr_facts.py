"""The names that the briefings of `pr` may use, computed from a run alone. Texts that depend on counters or causes are here, all others in files."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from detent.blocks.briefs import RUN_TESTS
from detent.blocks.common import is_driven, strays_advice
from detent.evidence.runners import Command
from detent.gates.plan import PlanTask, is_verification, verified_from
from detent.kernel.model import Run
from detent.workflows.pr.pr_data import SAID_WRONG, PrData, current, failed_again, has_red

NUDGES: Mapping[str, str] = {
    "Fix the Failure": "Read the error, and fix what it names.",
    "Hypothesize & Fix": "Read the error. Form one hypothesis of what causes it, and make the smallest change that tests it.",
    "Use Instrumentation": "Guessing has not worked. Add logging or narrower assertions that show what really happens, submit, and read the output. "
    "Take all of it out again before the step is done.",
    "Request Scope Reduction": "The step is probably too big. Call request_scope_reduction: your changes go back to the last good commit (a snapshot "
    "is kept), and you plan it again as smaller tasks. Do not submit another fix.",
    "Escalate for External Help": "You are stuck. Write a markdown report (goal, what you tried, the last error, your analysis) and "
    "call escalate_for_external_help with markdown_report. A person reads it and comes back with guidance.",
}  # debugging goals by their first words, and what each asks for

STEPS: Mapping[str, str] = {
    "RED": "Write a test that fails for this step, or extend an existing one, in test files only. At least one test must fail that did not "
    "fail before; tests that already pass are welcome too. No production code.",
    "GREEN": "Write the minimal code that makes the failing test pass. Leave test files and the test runner's configuration unchanged.",
    "REFACTOR": "Make the code clearer without changing what it does. All tests pass, none is lost or skipped; a test you change must still be able to fail.",
}
ALREADY = (
    "If the behaviour already exists, so that a correct test passes at once: keep the test, and "
    'call submit_work with summary, test_command, expectation "FAIL" and reply "ALREADY_SATISFIED". The step is closed if the machine can show that '
    "your test fails against a small change to the code."
)  # offered at a RED step that failed before
WRONG = (
    "You said that the test of this step is wrong$why, so you write it again; a person sees that before the branch lands. Code that you wrote since is "
    "not part of a RED step: restore it ($restore). Everything you had is kept in the tree $tree."
)  # after TEST_WRONG
TEST_IS_WRONG = (
    'If the test itself is wrong, so that no correct code can pass it: call submit_work with reply "TEST_WRONG" and a summary, which says why. You get its '
    "RED step back; it counts as an attempt."
)  # offered at a GREEN step
ENTRY = "Each entry is a heading or a list item; it is done when its line has `[DONE]` and a commit hash, or a ticked box."
CHECKPOINT = "The previous step passed. Commit everything that belongs to it, so that the tree is clean; change nothing else. Then you get the step above."
MAY_WRITE: Mapping[str, str] = {
    "RED": "You may write test files (with their data and fixtures), and nothing else. If you change what an existing test expects, a person is shown "
    "both versions; no test may be removed or skipped.",
    "GREEN": "You may write production code, and nothing else: test files and the test runner's configuration are frozen as RED left them.",
    "REFACTOR": "You may write production code and tests, with the same behaviour. The configuration of the test runner stays unchanged, no test may be removed or "
    "skipped, and a changed test must still be able to fail.",
}  # by type of step
WRITE_NOTHING = "Write nothing now."
HOW_TESTED = (
    "- $run_tests The machine runs your test command, and the whole suite, when you submit; what you say about a result is not evidence.\n"
    "- The project's test command: $command.\n"
    "- `test_command` is the project's own test runner with selectors for your tests; `true`, `echo`, a shell chain or another program is refused.\n"
    "- This step expects $expectation."
)
NOT_TESTED = "- Do not run tests through the shell; there is nothing to test now."

VERIFY: Mapping[str, str] = {
    "RED": "This is a verification task: smaller tasks did the work, and it shows that together they reach the original goal. Write the test that the step "
    "asks for, in test files only. The machine runs it on the tree that the task was re-planned from, where it must fail; on the current tree it may pass.",
    "GREEN": "This is a verification task: its test is written. If it already passes, change nothing and submit. If not, write the minimal code that makes "
    "it pass; leave test files and the test runner's configuration unchanged.",
}  # the steps of a verification task
FAILED_RED = (
    "The machine ran your RED step, and it failed, as a RED step should. Whether it failed for the right reason needs your judgement."
)
FAILED_BEFORE = (
    "This is a verification task. The machine ran its test on the tree that the task was re-planned from, and it failed there, as it should. On the current "
    "tree it $now. Whether it shows that the original goal is reached needs your judgement."
)
RIGHT_RED = (
    "- `SUCCESS`: the test fails because the code does not yet do what the step asks for. The step is done, and you get the next one.\n"
    "- `FAILURE`: it fails for another reason (a mistake in the test, a wrong import, a broken setup). You get the chance to fix it."
)
RIGHT_BEFORE = (
    "- `SUCCESS`: the test shows what the step asks for, and it failed there because that was missing. The step is done, and you get the next one.\n"
    "- `FAILURE`: it tests something else, or failed there for another reason (a mistake, a wrong import). You get the chance to fix it."
)

FREEZES = "Once you say SUCCESS, the test is frozen until the code passes it."
REMARKS = "Remarks of reviewers that did not block:\n\n"

DOES_NOT_HOLD = (
    "The pull request is finished on the current branch, but the branch as a whole does not pass; the error says why. Fix it there and commit the fix, then "
    "`detent resume`: Detent checks it again."
)
WAYS_OUT: Mapping[str, str] = {
    "escalation": "The agent asked for help; its report is below. Answer with `detent resume --guidance TEXT`: the run continues in DEBUGGING, with your "
    "words at the top of the briefing and the counter at 0.",
    "attempts": "The attempts at this step are used up. `detent resume --guidance TEXT` continues in DEBUGGING, with your words at the top of the briefing and "
    "the counter at 0.",
    "conflict": "Detent could not merge two lines of work: main here and at the remote, or main and '$branch'. Nothing was moved. The output "
    "below names both sides and the commands to type; the last one is `detent resume`.",
    "red merge": "'$branch' is not merged: as a whole, or once merged with main, it does not pass. Nothing was moved. Fix it on the branch and commit it, "
    "then `detent resume`: Detent merges and tests it again.",
    "clean": "The tests pass in the workspace, but not in a clean checkout: they depend on something that is not committed. Fix what the error "
    "names, then `detent resume`.",
    "review rounds": "The review still has findings after the last round. `detent answer REVIEW approve` takes the tree as it is, "
    "`detent answer REVIEW another-round` lets the agent work on the findings, `detent resume` starts another review.",
    "plan": "The agent says that no pull request is left, but the plan has an open entry. `detent answer PLAN finish` ends the run as done; "
    "`detent resume` sends the agent back to the plan.",
    "flags": "The branch is finished and proved, but has flags that a person should look at first; they are listed below. `detent answer FLAGS accept` "
    "lands it as it is. To have something changed first, go back to an earlier step with `detent rollback EVENT` (`detent history` lists the events).",
    "errors": "The work could not be judged three times in a row, or the agent's calls were refused again and again. Fix what the error names "
    "(runner, sandbox, reviewer, or what the agent gets wrong), then `detent resume`.",
    "agent": "The agent ended several times without a usable answer. Look at its log and fix the cause, then `detent resume`; `--agent SPEC` names another agent.",
    "budget": "A limit of [limits] is reached. `detent resume` grants the same amount again, or what [limits] then says.",
    "model": "The configured model is not available, and no other one is tried. `detent resume --agent SPEC` continues with another agent; `[agents]` in "
    "detent.toml sets one for all runs.",
}


def attempts(run: Run[PrData]) -> int:
    """How often the current step failed."""
    return run.counts.get("debug", 0)


def nudge(run: Run[PrData]) -> str:
    """The debugging goal for this number of failed attempts."""
    tried, limits = attempts(run), run.limits
    if tried >= (limits["reduce_scope"] if failed_again(run) else limits["escalate"]):
        return "Escalate for External Help"
    if tried >= limits["reduce_scope"]:
        return "Request Scope Reduction"
    if tried >= limits["instrument"]:
        return "Use Instrumentation"
    return "Hypothesize & Fix" if tried >= limits.get("hypothesize", 1) else "Fix the Failure"


def _branch(data: PrData) -> str:
    return data.branch.removeprefix("refs/heads/") or "(the current branch)"


BY_A_FRESH_AGENT = "No reviewer is configured, so you review it, in a fresh session, as a stranger who has not written this code. It is recorded as self-reported."
BY_HAND = (
    "No reviewer is configured, so the review is done by hand: give everything below to a fresh agent that has not written this code "
    "(or review it yourself, as a stranger would), and hand in what it finds. It is recorded as self-reported."
)
INDEPENDENT = "You cannot report this review: an independent one is required, and the machine asks the configured reviewer. "
NO_ANSWER = {  # key: whether the machine drives the agent
    True: "It gave no answer yet, and is asked again once your turn ends.",
    False: "If no answer came, the journal says why (`detent history`); call get_task again, and ask a person to fix `[review] agent` if that does "
    "not help.",
}
LOOK_FOR = (
    "## What to look for\n\nBugs and edge cases, missing or weak tests, security, performance, clarity, and temporary logs or other debugging traces "
    "left behind."
)
ONE_REVIEW = "Make one attempt, then report: one review, in one call."


def _review(data: PrData) -> Mapping[str, str]:
    """Who reviews; and what a review must contain, if the agent is to write it."""
    if data.setup.independent:
        parts = {"look_for": "", "review_answer": "", "review_report": "Do not hand in a review of your own: it would be refused."}
        return {**parts, "reviewed_by": INDEPENDENT + NO_ANSWER[is_driven(data)], "review_writes": "Write nothing"}
    answer = Path(__file__).with_name("answer-of-a-review.md").read_text("utf-8").strip()
    own = {"look_for": LOOK_FOR, "review_report": ONE_REVIEW}
    if data.setup.agent:
        handed = answer.replace("Write it to `FINDINGS.json`, and pass it as `findings`:", "It goes into `findings`, as one object:")
        return {**own, "reviewed_by": BY_A_FRESH_AGENT, "review_answer": handed, "review_writes": "Write nothing"}
    return {**own, "reviewed_by": BY_HAND, "review_answer": answer, "review_writes": "You may write `FINDINGS.json`, and nothing else"}


def _way_out(run: Run[PrData]) -> str:
    if run.data.landed and run.cause == "red merge":
        return DOES_NOT_HOLD
    return WAYS_OUT.get(run.cause, "See `detent status`.").replace("$branch", _branch(run.data))


def facts(run: Run[PrData]) -> Mapping[str, str]:
    """Each name with its current value."""
    data, plan = run.data, run.data.plan
    title = plan.prTitle if plan else ""
    return {
        "plan": data.setup.plan,
        "title": title,
        "entries": _entries(data),
        "quoted_title": shlex.quote(title),
        "summary": plan.summary if plan else "",
        "verification": plan.verificationPlan if plan else "",
        "tasks": "\n".join(_shown(t) for t in plan.tasks) if plan else "",
        "branch": _branch(data),
        "base": data.base,
        "hash": data.last_commit_hash,
        "now": _now(run),
        "work": "" if run.state == "DEBUGGING" and _is_urged(run) else _work(run),
        "attempts": str(attempts(run)),
        "nudge": nudge(run),
        "advice": NUDGES[nudge(run)],
        "wanted": _wanted(run),
        "already": ALREADY if _step(run) == "RED" and attempts(run) and not _is_urged(run) else "",
        "may_write": _may_write(run),
        "how_tested": _how_tested(run),
        "diff": "the files of your workspace, as the work left them" if data.setup.agent else f"`git diff {data.base} HEAD`",
        "doors": _doors(run),
        "seen": _seen(data),
        "decide": RIGHT_BEFORE if verified_from(data.plan) else RIGHT_RED,
        "freezes": "" if verified_from(data.plan) and data.passes_now else FREEZES,
        "earlier": _earlier(data) if run.state != "HALTED" or run.cause in ("escalation", "attempts") else "",
        "kept": _kept(run),
        "seen_last": _seen_last(run),
        "original_task": data.replacing,
        "original_red": data.replacing_red,
        "way_out": _way_out(run),
        **_review(data),
        "report": f"## The agent's report\n\n{data.report}" if run.cause == "escalation" else "",
        "remarks": REMARKS + "\n".join(f"- {n}" for n in data.notes) if data.notes else "",
        "merged": "\n".join(f"- {t}" for t in data.merged) or "(none)",
    }


def _left(data: PrData) -> list[str]:
    """The entries that were open when the run started and are not done yet."""
    return [each for each in data.setup.entries if not any(title in each for title in data.merged)]


def all_entries_done(data: PrData) -> bool:
    """Whether every entry that was open when the run started is done."""
    return bool(data.setup.entries) and not _left(data)


def _entries(data: PrData) -> str:
    """The plan's entries that are left, as far as they were known when the run started."""
    left = _left(data)
    listed = "".join(f"\n   - {each}" for each in left)
    return (
        (f"Its open entries:{listed}" if left else "It has no open entry left, unless a person added one.") if data.setup.entries else ENTRY
    )


def _seen(data: PrData) -> str:
    """How a RED step that waits for analysis ended."""
    return FAILED_BEFORE.replace("$now", "passes" if data.passes_now else "still fails") if verified_from(data.plan) else FAILED_RED


def _earlier(data: PrData) -> str:
    """What was tried at the step, and why it failed."""
    return "## Earlier attempts\n\n" + "\n".join(f"- {each}" for each in data.attempts) if data.attempts else ""


def _seen_last(run: Run[PrData]) -> str:
    """What the machine saw before it stopped, if anything."""
    shown = f"~~~~text\n{run.last_error}\n~~~~" if run.last_error else ""
    return "\n\n".join(filter(None, ("## What was seen last", run.last_reason, shown))) if run.last_reason or run.last_error else ""


def _kept(run: Run[PrData]) -> str:
    """Where discarded work is kept, and the command that restores a file of it."""
    tree = run.data.kept[:12]
    back = "" if run.data.setup.agent else f": `git restore --source={tree} -- FILE` restores a file"
    return f"What you had is kept as the tree {tree}{back}." if tree else ""


def _is_urged(run: Run[PrData]) -> bool:
    """Whether the briefing asks for a way out and no further fix."""
    return nudge(run) in ("Request Scope Reduction", "Escalate for External Help")


def _wanted(run: Run[PrData]) -> str:
    return f"{attempts(run)} attempts at this step failed" if _is_urged(run) else "your last submission failed, and your goal is to fix it"


def _may_write(run: Run[PrData]) -> str:
    data = run.data
    if data.checkpoint_due or (run.state == "DEBUGGING" and _is_urged(run)):
        return WRITE_NOTHING
    strays = f" {strays_advice(bool(data.setup.agent))}" if run.state == "DEBUGGING" else ""
    return MAY_WRITE.get(_step(run), WRITE_NOTHING) + strays


def _how_tested(run: Run[PrData]) -> str:
    if run.data.checkpoint_due or (run.state == "DEBUGGING" and _is_urged(run)):
        return NOT_TESTED
    expects = "FAIL" if _step(run) == "RED" else "PASS"
    return (
        HOW_TESTED.replace("$run_tests", RUN_TESTS[is_driven(run.data)])
        .replace("$command", _test_command(run.data))
        .replace("$expectation", expects)
    )


def _test_command(data: PrData) -> str:
    """The project's test command, as far as it was known when the run started."""
    known = msgspec.json.decode(data.setup.command, type=Command).text if data.setup.command else ""
    return f"`{known}`" if known else "none was configured or recognised when the run began, so name the command that runs your tests"


def _step(run: Run[PrData]) -> str:
    now = current(run.data)
    return now[2].type if now else ""


def _shown(task: PlanTask) -> str:
    steps = "\n".join(
        f"  - {s.type} ({s.status}{', unproven' if s.status == 'DONE' and not s.proof else ''}): {s.description}" for s in task.tdd_steps
    )
    return f"- {task.taskName}\n{steps}"


def _now(run: Run[PrData]) -> str:
    """The current goal in EXECUTING_TDD: the next step, or the commit of the last one."""
    now = current(run.data)
    if run.data.checkpoint_due:
        return "Make the safety checkpoint commit"
    return f"Complete the next TDD step, {now[2].type}: {' '.join(now[2].description.split())}" if now else "Every step is done"


def _work(run: Run[PrData]) -> str:
    if run.data.checkpoint_due:
        return CHECKPOINT
    data = run.data
    restore = f"`git restore --source={data.good_tree[:12]} -- FILE`"
    why = run.last_reason.partition(SAID_WRONG)[2]
    text = WRONG.replace("$restore", restore).replace("$tree", data.test_wrong[:12]).replace("$why", f" ({why})" if why else "")
    again = text if data.test_wrong else ""
    way_back = TEST_IS_WRONG if has_red(run) else ""
    asked = (VERIFY if is_verification(data.plan) else STEPS).get(_step(run)) or STEPS.get(_step(run), "")
    return "\n\n".join(part.strip() for part in (asked, again, way_back) if part)


def _doors(run: Run[PrData]) -> str:
    """Which escape hatches are open, and after how many failed attempts the others open."""
    tried, limits = attempts(run), run.limits
    reduce, escalate = limits["reduce_scope"] - tried, 0 if failed_again(run) else limits["escalate"] - tried
    return "\n".join(
        f"- {call}: " + ("open" if left <= 0 else f"locked for {left} more failed attempt{'s' if left > 1 else ''}")
        for call, left in (("request_scope_reduction", reduce), ("escalate_for_external_help", escalate))
    )
