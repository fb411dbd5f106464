"""What the `tdd` workflow stores about a run, the pure changes to it, and the handoff note made from it. Knows no git and no states."""

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from detent.blocks.common import Ground, strays_advice
from detent.evidence.source.stubs import LANGUAGES, StubLanguage
from detent.gates.testlist import FILE, CurrentTest, ListData, ListedTest, even_out, normalized_entry, read_list, read_reply
from detent.kernel.model import Found, Run, Sent, StepShown, Value
from detent.kernel.table import T

replace = msgspec.structs.replace

Phase = Literal["PLAN", "RED", "GREEN", "REFACTOR", "COMPLETE"]
Result = Literal["PASS", "FAIL"]
Trouble = Literal[
    "CompilationError", "TestFailure", "UnexpectedPass", "RuleBroken", "CouldNotVerify",
    "Timeout", "RateLimit", "Network", "ModelUnavailable", "AgentStuck",
]  # fmt: skip
OF_AGENT: Mapping[str, Trouble] = {
    "Timeout": "Timeout",
    "RateLimit": "RateLimit",
    "Network": "Network",
}  # the trouble that a driver can report of an agent
SCHEMA = 1
FIX = re.compile(r"\s*fix(es|ed|ing)?\b", re.IGNORECASE)
ALREADY = (
    "If your last test passed at once, check its assertions: a test that passes proves nothing.\n\n"
    'If you are sure that the behaviour already exists: {keep} the test, and call submit_work with summary and reply "ALREADY_SATISFIED". '
    "The entry is closed if the machine can show that your test fails against a small change to the code."
)  # offered from the second try of RED on


STUBS = (
    "\n- If the test does not compile without them, you may add functions to `{file}` whose whole body is `{body}`: stubs that throw, and "
    "nothing else."
)


class TddData(ListData, frozen=True):
    """What is stored about one feature, built test by test."""

    setup: Ground = Ground()
    base: str = ""  # the commit that the run started from
    phase: Phase = "PLAN"  # the phase that passed last
    next_phase: Phase = "PLAN"  # the phase that runs now, or when the run is resumed
    cycle: int = 0
    test_result: Result | None = None
    trouble: Trouble | None = None  # the kind of the last failure
    reason: str = ""  # what was wrong, in one sentence
    tried: tuple[str, ...] = ()  # summaries of the failed attempts at this phase
    good_tree: str = ""  # the tree of the last passed phase
    reds: tuple[str, ...] = ()  # the tree before the code of each cycle; a changed test must still fail on it
    subject: str = ""  # subject of the commit that the last passed phase owes
    before_red: str = ""  # the tree that the last RED was written on
    test_wrong: str = ""  # the tree whose test was called wrong, until its RED has passed again
    taken_back: str = ""  # the tree of the last attempt, if it failed and was rolled back
    red_tries: int = 0  # failed attempts at the RED that passed last
    red_over: str = ""  # for a repeated RED: the tree it is proved against, which is not its commit's parent


class ErrorDetails(Value, frozen=True, omit_defaults=False):
    """What went wrong, with its kind."""

    type: Trouble
    message: str


class Note(Value, frozen=True, omit_defaults=False, rename="camel"):
    """The handoff note on a phase commit: the phase that made it, the next one, and how far that got."""

    phase: Phase
    next_phase: Phase
    cycle_number: int
    current_test: CurrentTest | None
    completed_tests: tuple[str, ...]
    pending_tests: tuple[str, ...]
    test_result: Result | None
    error: str | None
    error_details: ErrorDetails | None
    retry_count: int
    feature_request: str
    schema_version: int = SCHEMA


def first_data(
    feature_request: str, list_text: str = "", setup: Ground | None = None, base: str = "", tree: str = "", branch: str = ""
) -> TddData:
    """The data of a new run. Boxes that are already ticked are not for this run to prove."""
    entries = tuple(replace(e, before=e.done) for e in read_list(list_text)[0])
    return TddData(entries=entries, setup=setup or Ground(), feature_request=feature_request, base=base, good_tree=tree, branch=branch)


def completed(data: TddData) -> tuple[str, ...]:
    return tuple(e.text for e in data.entries if e.done)


def pending(data: TddData) -> tuple[str, ...]:
    """The open entries without the current one."""
    now = data.current.description if data.current else ""
    return tuple(e.text for e in data.entries if not e.done and e.text != now)


def note_of(run: Run[TddData]) -> Note:
    """The handoff note of a run in its current state."""
    data = run.data
    return Note(
        phase=data.phase,
        next_phase=data.next_phase,
        cycle_number=data.cycle,
        current_test=data.current,
        completed_tests=completed(data),
        pending_tests=pending(data),
        test_result=data.test_result,
        error=run.last_error or None,
        error_details=_details(run),
        retry_count=run.counts.get("retries", 0),
        feature_request=data.feature_request,
    )


def _details(run: Run[TddData]) -> ErrorDetails | None:
    if not run.last_error:
        return None
    if run.data.trouble is None:
        return ErrorDetails("AgentStuck", run.last_error.splitlines()[0])
    return ErrorDetails(run.data.trouble, run.data.reason)


def from_note(note: Note) -> TddData:
    """The data of a run that continues from its note alone. What the note calls done is believed; the last phase is judged again before going on."""
    now = (note.current_test.description,) if note.current_test else ()
    left = dict.fromkeys((*now, *note.pending_tests))
    done = tuple(ListedTest(t, done=True, before=True) for t in note.completed_tests)
    return TddData(
        entries=(*done, *(ListedTest(t) for t in left if t not in note.completed_tests)),
        current=note.current_test,
        feature_request=note.feature_request,
        phase=note.phase,
        next_phase=note.next_phase,
        cycle=note.cycle_number,
        test_result=note.test_result,
    )


# -- changes -----------------------------------------------------------------------------------------------------------------


def keep_list(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """Keep the list that the gates just read; entries that were proved stay proved."""
    text = found.documents.get(FILE)
    if text is None:
        return run
    known = {e.text: e for e in run.data.entries}
    entries = tuple(known.get(e.text, e) for e in read_list(text)[0])
    return replace(run, data=replace(run.data, entries=entries))


def planned(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """Begin the next cycle with the test that the reply names."""
    reply, _ = read_reply(sent.reply)
    assert reply is not None, "the gate read the reply"
    assert reply.current_test is not None, "the gate found a test in it"
    open_now = (e.text for e in run.data.entries if not e.done)
    description = reply.current_test.description
    now = replace(
        reply.current_test,
        description=next((text for text in open_now if normalized_entry(text) == normalized_entry(description)), even_out(description)),
    )
    after = replace(run, data=replace(run.data, current=now, cycle=run.data.cycle + 1))
    return _passed(after, found, "PLAN", "RED", f"plan: {now.description}")


def all_done(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    after = replace(run, data=replace(run.data, current=None))
    return _passed(after, found, "PLAN", "COMPLETE", "plan: every test of the list is done")


def red_seen(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    data, over = run.data, run.data.good_tree
    again = over if data.test_wrong else ""
    took = run.counts.get("retries", 0)
    seen = replace(run, data=replace(data, reds=(*data.reds, found.tree), before_red=over, red_over=again, test_wrong="", red_tries=took))
    return _passed(seen, found, "RED", "GREEN", f"test: {_named(run)}")


def back_to_red(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """Write the test of this cycle again, on the tree that it was first written on."""
    data = run.data
    reason = f"the implementing agent says that the test is wrong: {sent.summary}"
    if not data.setup.agent:  # the machine restores the files of an agent that it drives
        reason += f"\nRestore what was written since, except the test: git restore --source={data.good_tree[:12]} -- FILE"
    again = replace(data, good_tree=data.before_red, reds=data.reds[:-1], test_wrong=data.good_tree, reason=reason, next_phase="RED")
    return replace(run, last_error=reason, data=again)


def tries_of_red(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """Count a wrong test as a failed attempt at its RED, on top of the earlier ones."""
    tries = min(run.data.red_tries + 1, run.limits["retries"])
    return replace(run, counts={**run.counts, "retries": tries}) if tries else run


def green_seen(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """The tests pass. The agent may call its work a fix; otherwise the commit is a feature."""
    sort = "fix" if FIX.match(sent.summary) else "feat"
    return _passed(run, found, "GREEN", "REFACTOR", f"{sort}: {_named(run)}")


def refactored(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """End the cycle: its entry is done, proved by this event."""
    same = found.tree == run.data.good_tree
    return _passed(_closed(run), found, "REFACTOR", "PLAN", "refactor: no changes needed" if same else f"refactor: {_named(run)}")


def already_there(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """End the cycle early: the behaviour was there already, and a test that can fail now guards it."""
    return _passed(_closed(run), found, "RED", "PLAN", f"test: {_named(run)} (already satisfied)")


def keep_failure(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    """Keep why the attempt failed and what was tried, for the next attempt and for the note."""
    reason = "; ".join(found.failed) or found.unclear
    text = "\n\n".join(part for part in (reason, found.output) if part)
    tried = (*run.data.tried, sent.summary) if sent.summary else run.data.tried
    result = _result(found) or run.data.test_result
    back = found.tree if run.state in ("GREEN", "REFACTOR") and found.failed else ""
    data = replace(run.data, trouble=sort_of(run.state, found), reason=reason, tried=tried, test_result=result, taken_back=back)
    return replace(run, last_error=text, data=data)


def stuck(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    return _trouble(run, sent, OF_AGENT.get(sent.facts.get("trouble", ""), "AgentStuck"))


def no_model(run: Run[TddData], sent: Sent, found: Found) -> Run[TddData]:
    return _trouble(run, sent, "ModelUnavailable")


def _trouble(run: Run[TddData], sent: Sent, sort: Trouble) -> Run[TddData]:
    reason = sent.output or "the agent ended without a usable answer"
    return replace(run, last_error=reason, data=replace(run.data, trouble=sort, reason=reason.splitlines()[0]))


def sort_of(phase: str, found: Found) -> Trouble:
    """The kind of a failure, by the counts of the report and never by words in the output."""
    if found.unclear:
        return "CouldNotVerify"
    if found.evidence is None or found.evidence.kind == "none":
        return "RuleBroken"
    if found.late:
        return "Timeout"
    counts = found.evidence.counts
    if not (counts.passed or counts.failed or counts.skipped):
        return "CompilationError"
    if not (counts.failed or counts.errors):
        return "UnexpectedPass" if phase == "RED" else "RuleBroken"
    return "TestFailure" if counts.failed else "CompilationError"


def _named(run: Run[TddData]) -> str:
    return run.data.current.description if run.data.current else ""


def _result(found: Found) -> Result | None:
    counts = found.evidence.counts if found.evidence else None
    if counts is None or not (counts.passed or counts.failed or counts.errors):
        return None
    return "FAIL" if counts.failed or counts.errors else "PASS"


def _closed(run: Run[TddData]) -> Run[TddData]:
    name = _named(run)
    entries = tuple(replace(e, done=True, proof=run.seq + 1) if e.text == name else e for e in run.data.entries)
    return replace(run, data=replace(run.data, entries=entries))


def _passed(run: Run[TddData], found: Found, phase: Phase, then: Phase, subject: str) -> Run[TddData]:
    data = replace(run.data, phase=phase, next_phase=then, subject=subject, test_result=_result(found), good_tree=found.tree)
    return replace(run, last_error="", guidance="", data=replace(data, trouble=None, reason="", tried=(), taken_back=""))


# -- what is shown -----------------------------------------------------------------------------------------------------------


def unproven(run: Run[TddData]) -> tuple[str, ...]:
    """What COMPLETE still lacks: entries that are open, or ticked without proof."""
    if not run.data.entries:
        return (f"{FILE} has no entry",)
    return tuple(e.text for e in run.data.entries if not e.done or not (e.proof or e.before))


def backoff(run: Run[TddData]) -> int:
    """Seconds to wait before the next try of a phase: 1, 2, 4. The same after an agent that failed as after work that did."""
    tries = min(run.counts.get("retries", 0), 3)
    return 2 ** (tries - 1) if tries else 0


def judged_tries(run: Run[T]) -> int:
    """The failed attempts at a phase that were judged, without those whose agent gave nothing to judge."""
    return max(0, run.counts.get("retries", 0) - run.counts.get("agent", 0))


def step_shown(run: Run[TddData]) -> StepShown | None:
    if run.data.current is None or run.state not in ("RED", "GREEN", "REFACTOR"):
        return None
    return StepShown(run.data.feature_request, run.data.cycle, run.state, run.data.current.description)


RESUME = "`detent resume` continues in the phase that stopped, with the retries at 0; `--guidance TEXT` puts your words at the top of the next briefing."
WAYS_OUT: Mapping[str, str] = {
    "retries": f"The phase failed and has no retry left. The handoff note on the last commit says the same. {RESUME}",
    "errors": f"Three times in a row the work could not be judged. Fix what the error names (runner, sandbox, network). {RESUME}",
    "agent": f"The agent ended several times without a usable answer. Look at its log (`detent history`). `detent resume --agent SPEC` names another one. {RESUME}",
    "model": "The configured model is not available, and no other one is tried. `detent resume --agent SPEC` continues with another agent; `[agents]` in "
    f"detent.toml sets one for all runs, and is read again when you resume. {RESUME}",
    "budget": f"A limit of `[limits]` is reached. Resuming grants the same amount again, or what `[limits]` then says. {RESUME}",
    "conflict": "The finished branch could not be landed; the reason is below, with the commands to type. Then `detent resume`: Detent tries again.",
    "flags": "The work is finished and proved, but has flags that a person should look at before it lands; they are listed below. `detent answer FLAGS accept` takes "
    "it as it is, `detent answer FLAGS fix --note TEXT` goes back to the list of tests with your words. `detent resume` answers nothing here.",
}  # why a run waits for a person, and what that person can do


def facts(run: Run[TddData]) -> Mapping[str, str]:
    """The names that the briefings of this workflow may use."""
    data, retries = run.data, run.counts.get("retries", 0)
    now, language = data.current or CurrentTest("", "", ""), _compiled(data)
    return {
        "request": data.feature_request,
        "cycle": str(data.cycle),
        "description": now.description,
        "test_file": now.test_file,
        "test_folder": str(PurePosixPath(now.test_file).parent),
        "impl_file": now.impl_file,
        "stub_file": now.impl_file if language else now.test_file,
        "stubs": STUBS.format(file=now.impl_file, body=language.shown_body) if language else "",
        "list": "\n".join(f"- [{'x' if e.done else ' '}] {e.text}" for e in data.entries) or "(there is no list yet)",
        "previous": _previous(data),
        "trouble": _failure_section(run),
        "already": ALREADY.format(keep="write" if data.setup.agent else "keep") if judged_tries(run) else "",
        "strays": f" {_taken_back(data)}" if retries else "",
        "rolled_back": _rolled_back(run),
        "retries": str(retries),
        "retries_left": str(run.limits.get("retries", 0) - retries),
        "back_to": run.back or data.next_phase,
        "commit": data.subject or "none yet",
        "way_out": WAYS_OUT.get(run.cause, ""),
        "done": str(len(completed(data))),
        "open": str(len(data.entries) - len(completed(data))),
    }


def _taken_back(data: TddData) -> str:
    """What was done with the files of the previous attempt."""
    if data.setup.agent:
        return "The machine undid everything that the previous attempt wrote; if there was anything, it is listed below."
    return strays_advice(driven=False)


def _compiled(data: TddData) -> StubLanguage | None:
    """The project's language, if its tests do not compile without the names they use."""
    return LANGUAGES.get(json.loads(data.setup.command).get("runner", "")) if data.setup.command else None


def _rolled_back(run: Run[TddData]) -> str:
    """That a failed GREEN or REFACTOR was rolled back, with the command that restores a file of it."""
    if not run.data.taken_back or not run.last_error:
        return ""
    tree = run.data.taken_back[:12]
    line = "" if run.data.setup.agent else f": `git restore --source={tree} -- FILE` restores a file"
    return f"The last attempt was rolled back to the last good commit. It is kept as the tree {tree}{line}. Take a different approach."


def _previous(data: TddData) -> str:
    if not data.cycle:
        return "none; this is the first phase of the run"
    result = {"PLAN": "the test is chosen", "RED": "the new test failed, as it should"}.get(data.phase, "all tests passed")
    return f"{data.phase}: {result}; committed as `{data.subject}`"


def _failure_section(run: Run[TddData]) -> str:
    """The section of a briefing with the failure that this attempt has to fix; empty if there was none."""
    if not run.last_error:
        return ""
    tried = "".join(f"- {t}\n" for t in run.data.tried)
    before = f"Tried so far, without success:\n\n{tried}\n" if tried else ""
    return f"## The last attempt failed\n\n{before}What the machine saw:\n\n~~~~text\n{run.last_error}\n~~~~"
