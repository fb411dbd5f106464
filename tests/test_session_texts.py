"""Every briefing of `pipeline` and its tasks as it is read through each door, and every question to a person as a terminal shows it, with what can be chosen.

The recorded texts under golden/doors and golden/questions are meant to be read by somebody who knows nothing else; `GOLDEN=write pytest tests/test_session_texts.py`
records them.
"""

import re
from typing import Any

import msgspec
import pytest

from detent.app.plain_text import render_briefing as shown_at_shell
from detent.app.questions import _words, offered_with_end, state_rows
from detent.app.registry import brief_of, workflow_of
from detent.gates.documents import ChangedFile, Criterion, KnownIssue
from detent.gates.human import decision_row, pending
from detent.gates.reply import ReviewPoint
from detent.interfaces.cli.decisions import _decision_text
from detent.interfaces.http.answer_words import WHY, options_of
from detent.kernel.model import Flag, Run, Sent
from detent.kernel.table import Table
from detent.workflows.pipeline.gate_text import gate_text
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.session import KnownDecision
from detent.workflows.pipeline.task_data import TaskData
from detent.workflows.pipeline.task_facts import WAYS_OUT
from detent.workflows.pipeline.task_table import TASK
from tests.test_door_texts import MCP_CALLS, RUNS, own_words
from tests.test_pipeline_tables import (
    ACCEPTANCE,
    AGENTS,
    ARCHITECTURE,
    CODE,
    DUE,
    FULL,
    READERS,
    SPEC,
    TABLES,
    a_task,
    after,
    as_role,
    comment,
    finding,
    outcome,
    reply,
    says,
)
from tests.test_prompts import GOLDEN, holds

replace = msgspec.structs.replace
S = ".agents-work/2026-11-18_sums"
ONE = a_task("T-001", non_goals=("other currencies",), files_expected=("src/sum.py", "tests/test_sum.py"))
TWO = a_task("T-002", "T-001", risk_flags=("input",), files_expected=("src/till.py",))
PLANNED = replace(FULL, session=S, request="Sums of money in the till, rounded to cents.", tasks=(ONE, TWO), branch="refs/heads/detent/sums", integrated=False,
                  documented=False, reviewed_tree="", checked_tree="")  # fmt: skip
NEW = PipelineData(session=S, request=PLANNED.request, instructions=(f"{S}/instructions/AGENTS.md",))
LAW = replace(PLANNED, instructions=(f"{S}/instructions/AGENTS.md",))
DONE = replace(PLANNED, tasks=tuple(replace(t, status="completed") for t in PLANNED.tasks), good_tree="t1", reviewed_tree="t1", integrated=True, changed_files=(
    ChangedFile("src/sum.py", "added"), ChangedFile("tests/test_sum.py", "added")))  # fmt: skip
FILES = {f"{S}/spec.md": SPEC, f"{S}/acceptance.json": ACCEPTANCE, f"{S}/architecture.md": ARCHITECTURE}
MANUAL = replace(DONE, documented=True, checked_tree="t1", criteria=(Criterion("AC-001", "looks right", ("manual: open the page",)),),
                 report_notes=("Sums.", "run it: python -m till"))  # fmt: skip
FAILS = "tests/test_sum.py::test_cents fails\n\nE   assert 3 == 4"
FLAG = Flag("rewritten-test", "tests/test_sum.py::test_cents asks for something else now", "tests/test_sum.py::test_cents", stays=True)


def session(state: str, data: PipelineData = PLANNED, **more: Any) -> Run[Any]:
    return Run("pipeline-1", "pipeline", state, 7, data, limits=dict(PIPELINE.limits), worktree="/home/ann/till", **more)


def task(state: str, **more: Any) -> Run[Any]:
    fields = {name: more.pop(name) for name in tuple(more) if name in TaskData.__struct_fields__}
    about: dict[str, Any] = {
        "session": S,
        "task_id": "T-001",
        "task": ONE,
        "good_tree": "t1",
        "request": PLANNED.request,
        "changed_files": DONE.changed_files,
        **fields,
    }
    return Run("pipeline-1.T-001", "task", state, 7, TaskData(**about), limits=dict(TASK.limits), worktree="/home/ann/till", **more)  # fmt: skip


def noted(*notes: str) -> dict[str, Any]:
    return {"files": [], "notes": list(notes)}


CLARIFY = after(session("INTAKE", NEW), reply("NEEDS_INFO", summary="two things", artifacts=noted("Which currency?", "Round half up?")))
APPROVAL = after(
    session("DESIGN", replace(NEW, criteria=PLANNED.criteria, assumptions=("prices are in cents",), roles=("SpecAgent",))),
    reply(),
    files=FILES,
)
CORRECTED = after(APPROVAL, says("changes-requested: name the rounding", "UD-APPROVE-DESIGN", to="architecture"))
STRATEGY = session("REVIEW_STRATEGY", PLANNED, last_error="")
ASKED_STRATEGY = after(session("PLAN", replace(PLANNED, tasks=())), reply(), files={f"{S}/tasks.yaml": (
    "project: {name: till, definition_of_done: [tests pass]}\ntasks:\n"
    '  - {id: T-001, title: sums, goal: add, acceptance_checks: ["cmd: pytest -q"], done_when: [it adds]}\n'
    '  - {id: T-002, title: till, goal: use it, depends_on: [T-001], risk_flags: [input], acceptance_checks: ["cmd: pytest -q"], done_when: [it shows]}\n'
)})  # fmt: skip
SENT_BACK = after(ASKED_STRATEGY, says("changes-requested: one task for each module", "UD-REVIEW-STRATEGY"))
BY_HAND = after(session("INTEGRATED", MANUAL), DUE)
FAILED_BY_HAND = after(BY_HAND, says("failed", "UD-1", note="the sum is cut off"))
BY_HAND_AGAIN = after(session("INTEGRATED", replace(FAILED_BY_HAND.data, fixing="")), DUE)
RED_BUILD = after(session("INTEGRATE_CHECKS", DONE), Sent("outcome", by="system", outcome="red", output=FAILS))
SPENT_BUILD = after(session("INTEGRATE_CHECKS", replace(DONE, tried={"FIX_BUILD": (FAILS,) * 3}), counts={"FIX_BUILD": 3}),
                    Sent("outcome", by="system", outcome="red", output=FAILS))  # fmt: skip
FLAGGED = after(session("LANDING", MANUAL, flags=(FLAG,)), Sent("outcome", by="system", outcome="flagged", facts={"tree": "t1"}))
NOTES = after(session("PLAN", PLANNED), reply("PASS_WITH_NOTES", summary="planned", artifacts=noted("T-002 may be too big")))
QUESTION = after(session("DESIGN", PLANNED), reply("NEEDS_DECISION", summary="Which store?", artifacts=noted("sqlite", "a file")))
TASK_NOTES = after(task("REVIEW"), as_role("Reviewer", "PASS_WITH_NOTES", review_comments=[comment("minor"), comment("nit", "a typo")]))
TASK_QUESTION = after(task("CODE"), reply("BLOCKED", summary="the price list is missing"))
BLOCKED_REVIEW = after(task("REVIEW"), as_role("Reviewer", "BLOCKED", review_comments=[comment("major")]))
SPENT_REVIEW = after(task("REVIEW", counts={"FIX_REVIEW": 3}), as_role("Reviewer", "BLOCKED", review_comments=[comment("major")]))
SPENT_SECURITY = after(task("SECURITY", counts={"FIX_SECURITY": 3}), as_role("Security", "BLOCKED", findings=[finding("high")]))
MEDIUM = after(task("SECURITY"), as_role("Security", "NEEDS_DECISION", findings=[finding("medium")]))
SPENT_TESTS = after(
    task("FIX_TESTS", counts={"FIX_TESTS": 3}), reply(), changes=CODE, now=__import__("tests.test_pipeline_tables", fromlist=["RED"]).RED
)
CHANGED_RULES = after(task("REVIEW"), outcome("prepared", instructions_changed="AGENTS.md 0123abcd"))
WRONG = after(BY_HAND, says("looks fine", "UD-1"))
SESSIONS: dict[str, Run[Any]] = {
    "INTAKE": session("INTAKE", NEW),
    "INTAKE-clarified": after(CLARIFY, says("euro; half up", "UD-1")),
    "INTAKE-corrected": after(APPROVAL, says("changes-requested: say what is out of scope", "UD-APPROVE-DESIGN")),
    "INTAKE-again": session("INTAKE", NEW, last_error="spec.md has no heading 'Goals'"),
    "INTAKE_LEAN": session("INTAKE_LEAN", replace(NEW, mode="lean")),
    "FIX_ACCEPTANCE": after(SPENT_BUILD, says("change-acceptance", "UD-1", note="the folder is called tests/unit")),
    "DESIGN_RESEARCH": session("DESIGN_RESEARCH", replace(LAW, roles=("SpecAgent",), tasks=(), decisions=())),
    "DESIGN": session("DESIGN", replace(LAW, roles=("SpecAgent",), tasks=(), decisions=())),
    "DESIGN-corrected": CORRECTED,
    "DESIGN_UI": session("DESIGN_UI", replace(LAW, roles=("SpecAgent", "Architect"), tasks=(), decisions=())),
    "PLAN": session("PLAN", replace(PLANNED, tasks=(), roles=("SpecAgent", "Architect"), decisions=PLANNED.decisions[:1])),
    "PLAN-sent-back": SENT_BACK,
    "INTEGRATE": session("INTEGRATE", replace(DONE, integrated=False)),
    "FIX_BUILD": RED_BUILD,
    "FIX_BUILD_CODE": after(RED_BUILD, reply(), Sent("outcome", by="system", outcome="red", output=FAILS), files=FILES),
    "FIX_BUILD_CODE-by-hand": FAILED_BY_HAND,
    "FIX_BUILD_CODE-flags": after(FLAGGED, says("fix", "FLAGS", note="keep the old test")),
    "RELEASE": session("RELEASE", replace(DONE, known_issues=(KnownIssue("f1", "slow", "T-001"),))),
    "RELEASE_FILES": session("RELEASE_FILES", DONE),
    "APPROVE_DESIGN": APPROVAL,
    "APPROVE_DESIGN-second": after(CORRECTED, reply(), files=FILES),
    "APPROVE_DESIGN-wrong": after(APPROVAL, says("fine by me", "UD-APPROVE-DESIGN")),
    "REVIEW_STRATEGY": ASKED_STRATEGY,
    "REVIEW_STRATEGY-second": after(SENT_BACK, reply(), files={f"{S}/tasks.yaml": (
        "project: {name: till, definition_of_done: [tests pass]}\ntasks:\n"
        '  - {id: T-001, title: sums, goal: add, acceptance_checks: ["cmd: pytest -q"], done_when: [it adds]}\n')}),
    "ASK_USER-clarify": CLARIFY,
    "ASK_USER-question": QUESTION,
    "ASK_USER-notes": NOTES,
    "ASK_USER-budget": SPENT_BUILD,
    "ASK_USER-manual": BY_HAND,
    "ASK_USER-manual-again": BY_HAND_AGAIN,
    "ASK_USER-manual-wrong": WRONG,
    "ASK_USER-flags": FLAGGED,
    **{f"BLOCKED-{cause}": session("BLOCKED", cause=cause, back="INTEGRATE_CHECKS", last_error=FAILS if cause != "budget" else "") for cause in WAYS_OUT},
    "BLOCKED-conflict": session("BLOCKED", DONE, cause="conflict", back="LANDING", last_error="src/sum.py conflicts with main"),
    "BLOCKED-unmerged": session("BLOCKED", cause="conflict", back="MERGING", last_error="src/sum.py conflicts"),
    "LANDING": session("LANDING", MANUAL),
    "DONE": session("DONE", MANUAL),
    "ABORTED": session("ABORTED", PLANNED),
}  # fmt: skip
TASKS: dict[str, Run[Any]] = {
    "CODE": task("CODE", instructions=LAW.instructions, earlier=(KnownDecision("UD-APPROVE-DESIGN", "Do you approve?", "approved"),)),
    "CODE-again": task("CODE", last_error="the reply cannot be read: it is not JSON"),
    "CODE-lean": task("CODE", mode="lean", steers=("mind the cents",)),
    "REVIEW": task("REVIEW", instructions=LAW.instructions, known_issues=(KnownIssue("f1", "slow", "T-001"),)),
    "REVIEW-final": task("REVIEW", task_id="meta", task=replace(a_task("T-009"), id="meta", title="Cross-task final review of all session changes",
                                                              goal="Cross-task final review of all session changes", acceptance_checks=())),
    "QA": task("QA"),
    "SECURITY": task("SECURITY"),
    "FIX_REVIEW": BLOCKED_REVIEW,
    "FIX_REVIEW-again": after(BLOCKED_REVIEW, Sent("submit", reply="fixed it")),
    "FIX_SECURITY": after(task("SECURITY"), as_role("Security", "BLOCKED", findings=[finding("high")])),
    "FIX_TESTS": task("FIX_TESTS", last_error=FAILS),
    "FIX_TESTS-QA": after(task("QA"), as_role("QA", "BLOCKED", coverage_gaps=["negative sums"])),
    "FIX_TESTS-merge": task("FIX_TESTS", laid="t5", points=(ReviewPoint("MERGE", "src/sum.py conflicts with T-002", True),)),
    "ASK_USER-question": TASK_QUESTION,
    "ASK_USER-notes": TASK_NOTES,
    "ASK_USER-findings": SPENT_REVIEW,
    "ASK_USER-security": SPENT_SECURITY,
    "ASK_USER-medium": MEDIUM,
    "ASK_USER-tests": SPENT_TESTS,
    "ASK_USER-instructions": CHANGED_RULES,
    "BLOCKED": task("BLOCKED", cause="subagent_failure", back="CODE", last_error="the reply cannot be read: it is not JSON"),
    "BLOCKED-context": task("BLOCKED", cause="context_missing", back="CODE", last_error="docs/prices.md is not there"),
    "COMPLETED": task("COMPLETED", roles=("Coder", "Reviewer"), known_issues=(KnownIssue("f1", "slow", "T-001"),)),
    "IMPLEMENTED": task("IMPLEMENTED"),
    "RESCOPED": task("RESCOPED", guidance="leave the till out"),
    "ESCALATED_TO_FULL": task("ESCALATED_TO_FULL", last_error="The change touches 5 files, too many for the lean way."),
    "ABORTED": task("ABORTED"),
}  # fmt: skip
EVERY: dict[tuple[str, str], Run[Any]] = {**{("pipeline", n): r for n, r in SESSIONS.items()}, **{("task", n): r for n, r in TASKS.items()}}
ACTING = [key for key, run in EVERY.items() if (key[0], run.state) in AGENTS]
ASKING = [key for key, run in EVERY.items() if pending(run.data) and run.state != "BLOCKED" and (key[0], run.state) not in AGENTS]


def told(key: tuple[str, str]) -> str:
    return brief_of(TABLES[key[0]], EVERY[key]).briefing


def driven(key: tuple[str, str]) -> str:
    run = EVERY[key]
    return brief_of(
        TABLES[key[0]], replace(run, data=replace(run.data, setup=replace(run.data.setup, agent="human", workspace="/ws")))
    ).briefing


def test_every_state_is_here_and_each_case_stands_where_its_name_says() -> None:
    assert {(table, run.state) for (table, _), run in EVERY.items()} == set(READERS)
    assert [key for key, run in EVERY.items() if key[1].partition("-")[0] != run.state] == []


@pytest.mark.parametrize("key", EVERY, ids="-".join)
def test_the_text_at_each_door_is_the_recorded_one(key: tuple[str, str]) -> None:
    table, name = key
    holds(GOLDEN / "doors" / "mcp" / table / f"{name}.md", told(key))
    holds(GOLDEN / "doors" / "cli" / table / f"{name}.md", shown_at_shell(brief_of(TABLES[table], EVERY[key]))[0])
    if key in ACTING:
        holds(GOLDEN / "doors" / "driven" / table / f"{name}.md", driven(key))


@pytest.mark.parametrize("key", EVERY, ids="-".join)
def test_each_door_names_calls_in_its_own_form_only(key: tuple[str, str]) -> None:
    assert "detent submit-work" not in told(key) and "detent get-task" not in told(key)
    assert not re.search(MCP_CALLS, own_words(shown_at_shell(brief_of(TABLES[key[0]], EVERY[key]))[0]))
    if key in ACTING:
        text = own_words(driven(key))
        assert not re.search(rf"[Cc]all (?:{MCP_CALLS})|detent (?:submit|get)|submit_work", text), text
        assert "end your turn" in text.partition("## Next")[2]


@pytest.mark.parametrize("key", EVERY, ids="-".join)
def test_no_gap_nothing_empty_and_no_word_of_the_old_habits(key: tuple[str, str]) -> None:
    text = told(key)
    assert "\n\n\n" not in text and not re.search(r"^- none$|:\s*\n\n## |~~~~text\n~~~~|Question :|^- [^:\n]+:\s*$", text, re.MULTILINE), (
        text
    )
    assert not re.search(r"\b(?:mend|mends|mended|anew|goes on|go on in)\b", text), text
    assert not re.search(r"\((?:Empty|\"none\") means", text), text


@pytest.mark.parametrize("key", ASKING, ids="-".join)
def test_every_answer_that_a_question_takes_stands_in_its_briefing_as_it_is_typed(key: tuple[str, str]) -> None:
    asked, text = pending(EVERY[key].data), told(key)
    assert asked and f"Question {asked.decision_id}" in text
    for value in asked.options:
        assert f"`detent answer {asked.decision_id} {value.partition(':')[0]}" in text.replace("'changes", "changes"), value
    assert "ID VALUE" not in text and f"detent answer {asked.decision_id} " in text.partition("## Next")[2]


@pytest.mark.parametrize("key", ASKING, ids="-".join)
def test_every_answer_that_is_offered_is_taken(key: tuple[str, str]) -> None:
    run, table = EVERY[key], TABLES[key[0]]
    asked = pending(run.data)
    assert asked
    for value in asked.options or ("any words",):
        sent = says(value, asked.decision_id, note="for a reason")
        assert table.row(run.state, table.kind(run, sent)), value
        assert table.kind(run, sent) != "invalid", value


def test_the_page_says_of_every_cause_why_a_session_waits() -> None:
    assert set(WAYS_OUT) - set(WHY) == set()
    assert not [words for words in WHY.values() if "detent resume" in words], "the page has buttons"


# -- questions as a terminal shows them, with what can be chosen in a dialog or on the page ------------------------------------------


CHANGED = {
    "approval": "--- spec.md\n+++ spec.md\n@@ -1,2 +1,2 @@\n # Sums\n-sums\n+sums, rounded half up",
    "strategy": "--- tasks.yaml\n+++ tasks.yaml\n@@ -3 +3 @@\n-    title: everything\n+    title: sums",
}


def at_terminal(run: Run[Any], table: Table[Any]) -> str:
    asked = pending(run.data) if workflow_of(run.workflow).has_decisions else None
    open_now = offered_with_end(table, run)
    if asked is None:
        rows = list(state_rows(run, open_now, brief_of(table, run), "2026-11-18T08:00:00Z"))
    else:
        row = {"run": run.id, "kind": asked.kind, **decision_row(asked, run.id, lambda *_: ""), **_words(run, asked)}
        shown = [f"{run.worktree}/{path}" for path in sorted(asked.shown) if path.startswith(S)]
        flow = workflow_of(run.workflow)
        since = CHANGED[asked.kind] if asked.wanted else None  # what really changed since is git's to say
        text = gate_text(run, asked, since) if since else flow.asks(None, run, replace(asked, before=0))  # type: ignore[arg-type]
        rows = [{**row, "shown": shown, "text": text, "means": flow.means(run, asked)}]
    said = "\n\n".join(_decision_text(row, "") for row in rows) or "(no question with a name: it waits to be released)"
    page = "\n".join(f"  {each.value}: {each.does}" for each in options_of(run, asked, open_now)) or "  (words of one's own)"
    return f"{said}\n\nTo choose from, in a dialog: {', '.join(open_now)}\nOn the page:\n{page}\n"


QUESTIONS = {
    **{f"{table}-{name}": (EVERY[table, name], TABLES[table]) for table, name in ASKING},
    **{
        f"{table}-{name}": (run, workflow_of(table).table)
        for (table, name), run in RUNS.items()
        if workflow_of(table).table.states[run.state].actor == "human"
    },
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_the_recorded_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    holds(GOLDEN / "questions" / f"{name}.txt", at_terminal(*QUESTIONS[name]))


def test_the_page_says_what_each_answer_does_and_names_no_command() -> None:
    for name, (run, table) in QUESTIONS.items():
        asked = pending(run.data) if workflow_of(run.workflow).has_decisions else None
        told = {each.value: each.does for each in options_of(run, asked, offered_with_end(table, run))}
        assert not [value for value, does in told.items() if not does.endswith(".") or "detent " in does or "--" in does], (name, told)


def test_every_recorded_question_and_every_recorded_door_is_still_made() -> None:
    assert {f.stem for f in (GOLDEN / "questions").iterdir()} == set(QUESTIONS)
    for door in ("mcp", "cli", "driven"):
        for table in ("pipeline", "task"):
            made = {name for of, name in (ACTING if door == "driven" else EVERY) if of == table}
            assert {f.stem for f in (GOLDEN / "doors" / door / table).iterdir()} == made
