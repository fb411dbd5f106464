"""Every briefing of `pr`, `tdd` and `execute` as it is read through each door: MCP, the command line, and by an agent that the machine drives.

The recorded texts under golden/briefings are meant to be read as by somebody who knows nothing else; `GOLDEN=write pytest tests/test_door_texts.py` records them.
"""

import re
from typing import Any

import click
import msgspec
import pytest

from detent.app.plain_text import render_briefing as shown_at_shell
from detent.app.plain_text import typed
from detent.app.registry import brief_of
from detent.evidence.runners import Command
from detent.gates.plan import PlannedStep
from detent.interfaces.cli.escalate_for_external_help import command as escalate
from detent.interfaces.cli.submit_work import command as submit
from detent.kernel.model import Briefing, Flag, Run
from detent.workflows.pr.pr_data import PrData, PrSetup
from detent.workflows.pr.pr_facts import WAYS_OUT
from tests.test_briefings import PLAN, PR_DATA, TABLES, WRITTEN, a_run
from tests.test_prompts import CASES, EXECUTIONS, GOLDEN, holds

replace = msgspec.structs.replace
PYTEST = msgspec.json.encode(Command(("uv", "run", "pytest"), runner="pytest")).decode()
SETUP = PrSetup(plan="docs/plan.md", command=PYTEST, entries=("feat: it's money", "feat: change"))
BASE = replace(PR_DATA, setup=SETUP)


def at_step(done: int, **fields: Any) -> PrData:
    """A plan with so many of its steps done and proved."""
    steps = tuple(
        replace(s, status="DONE" if n < done else "TODO", proof=3 if n < done else 0) for n, s in enumerate(PLAN.tasks[0].tdd_steps)
    )
    return replace(BASE, plan=replace(PLAN, tasks=(replace(PLAN.tasks[0], tdd_steps=steps),)), **fields)


def verifying(done: int, **fields: Any) -> PrData:
    data = at_step(done, **fields)
    assert data.plan is not None
    return replace(data, plan=replace(data.plan, tasks=(replace(data.plan.tasks[0], verifies="t0", replaces="add money"),)))


def adopted() -> PrData:
    steps = (PlannedStep("RED", "show that $5 + $5 is 10", "DONE"), *PLAN.tasks[0].tdd_steps[1:])
    return replace(BASE, plan=replace(PLAN, tasks=(replace(PLAN.tasks[0], tdd_steps=steps),)))


TRIED = {"attempts": ("returned a constant: test_five fails", "rounded first: test_cents fails")}
FAILED: dict[str, Any] = {"last_reason": "tests/test_money.py::test_cents fails", "last_error": "E   assert 1 == 2"}
FLAG = Flag("rewritten-test", "tests/test_money.py::test_five asks for something else now", "tests/test_money.py::test_five")
CALM: dict[str, Any] = {"last_error": ""}
PR_CASES: dict[str, Run[Any]] = {
    "INITIALIZING": a_run("pr", "INITIALIZING", data=PrData(setup=SETUP), **CALM),
    "INITIALIZING-last": a_run("pr", "INITIALIZING", data=PrData(setup=SETUP, merged=("feat: it's money", "feat: change")), **CALM),
    "INITIALIZING-aside": a_run("pr", "INITIALIZING", data=PrData(setup=replace(SETUP, aside=(".git/detent/published/ACTIVE_PR.json",))), **CALM),
    "EXECUTING_TDD": a_run("pr", "EXECUTING_TDD", data=at_step(0), **CALM),
    "EXECUTING_TDD-GREEN": a_run("pr", "EXECUTING_TDD", data=at_step(1), **CALM),
    "EXECUTING_TDD-REFACTOR": a_run("pr", "EXECUTING_TDD", data=at_step(2), **CALM),
    "EXECUTING_TDD-checkpoint": a_run("pr", "EXECUTING_TDD", data=at_step(2, checkpoint_due=True), **CALM),
    "EXECUTING_TDD-adopted": a_run("pr", "EXECUTING_TDD", data=adopted(), **CALM),
    "EXECUTING_TDD-verify": a_run("pr", "EXECUTING_TDD", data=verifying(0), **CALM),
    "EXECUTING_TDD-verify-GREEN": a_run("pr", "EXECUTING_TDD", data=verifying(1), **CALM),
    "EXECUTING_TDD-steered": a_run("pr", "EXECUTING_TDD", data=at_step(0), steers=("use cents",), **CALM),
    "NEEDS_ANALYSIS": a_run("pr", "NEEDS_ANALYSIS", data=at_step(0)),
    "NEEDS_ANALYSIS-verify": a_run("pr", "NEEDS_ANALYSIS", data=verifying(0, passes_now=True), last_error="1 passed"),
    "DEBUGGING-1": a_run("pr", "DEBUGGING", data=at_step(1, **TRIED), counts={"debug": 1}, **FAILED),
    "DEBUGGING-RED": a_run("pr", "DEBUGGING", data=at_step(0, **TRIED), counts={"debug": 1}, **FAILED),
    "DEBUGGING-3": a_run("pr", "DEBUGGING", data=at_step(1, **TRIED), counts={"debug": 3}, **FAILED),
    "DEBUGGING-6": a_run("pr", "DEBUGGING", data=at_step(1, **TRIED), counts={"debug": 6}, **FAILED),
    "DEBUGGING-10": a_run("pr", "DEBUGGING", data=at_step(1, **TRIED), counts={"debug": 10}, **FAILED),
    "DEBUGGING-guided": a_run("pr", "DEBUGGING", data=at_step(1, **TRIED), guidance="add the two numbers", **FAILED),
    "REPLANNING": a_run("pr", "REPLANNING", data=at_step(1, kept="abcdef0123456789", **TRIED), **FAILED),
    "CODE_REVIEW": a_run("pr", "CODE_REVIEW", data=at_step(3), **CALM),
    "CODE_REVIEW-independent": a_run("pr", "CODE_REVIEW", data=at_step(3, setup=replace(SETUP, independent=True)), **CALM),
    "AWAITING_FINALIZATION": a_run("pr", "AWAITING_FINALIZATION", data=at_step(3), **CALM),
    "FINALIZE_COMPLETE": a_run("pr", "FINALIZE_COMPLETE", data=at_step(3), **CALM),
    "MERGING_BRANCH": a_run("pr", "MERGING_BRANCH", data=at_step(3), **CALM),
    **{
        f"HALTED-{cause.replace(' ', '-')}": a_run("pr", "HALTED", data=at_step(1, report="# Help\n\nIt is the cents.", **TRIED), cause=cause, **FAILED)
        for cause in WAYS_OUT
    },
    "HALTED-flags": a_run("pr", "HALTED", data=at_step(3), cause="flags", flags=(FLAG,), asked="t9", **CALM),
    "DONE": a_run("pr", "DONE", data=PrData(setup=SETUP, merged=("feat: it's money",)), **CALM),
    "ABORTED": a_run("pr", "ABORTED", data=at_step(1)),
}  # fmt: skip
RUNS: dict[tuple[str, str], Run[Any]] = {
    **{("pr", name): run for name, run in PR_CASES.items()},
    **{
        ("tdd", name): Run("tdd-1", "tdd", state, 9, data, limits=dict(TABLES["tdd"].limits), **fields)
        for name, (state, data, fields) in CASES.items()
    },
    **{
        ("execute", name): Run("execute-bd-7-1", "execute", state, 9, data, limits=dict(TABLES["execute"].limits), **fields)
        for name, (state, data, fields) in EXECUTIONS.items()
    },
}
OWN_GIT = (("pr", "AWAITING_FINALIZATION"), ("pr", "EXECUTING_TDD-checkpoint"))  # where the machine drives, it does these itself
AGENTS = [key for key, run in RUNS.items() if TABLES[key[0]].states[run.state].actor == "agent" and key not in OWN_GIT]
MCP_CALLS = r"\b(?:submit_work|get_task|request_scope_reduction|escalate_for_external_help)\b"


def told(key: tuple[str, str]) -> Briefing:
    return brief_of(TABLES[key[0]], RUNS[key])


def driven(key: tuple[str, str]) -> str:
    """As an agent of a driven run gets it."""
    run = RUNS[key]
    data = replace(run.data, setup=replace(run.data.setup, agent="human", workspace="/ws"))
    return brief_of(TABLES[key[0]], replace(run, data=data)).briefing


def own_words(text: str) -> str:
    """A text without what is quoted in fences."""
    fenced, lines = False, []
    for line in text.splitlines():
        fenced ^= line.startswith(("~~~", "```"))
        lines += [] if fenced else [line]
    return "\n".join(lines)


def test_every_state_that_someone_reads_is_here() -> None:
    assert {(table, run.state) for (table, _), run in RUNS.items()} == set(WRITTEN)


@pytest.mark.parametrize("key", RUNS, ids="-".join)
def test_the_text_at_each_door_is_the_recorded_one(key: tuple[str, str]) -> None:
    table, name = key
    holds(GOLDEN / "doors" / "mcp" / table / f"{name}.md", told(key).briefing)
    holds(GOLDEN / "doors" / "cli" / table / f"{name}.md", shown_at_shell(told(key))[0])
    if key in AGENTS:
        holds(GOLDEN / "doors" / "driven" / table / f"{name}.md", driven(key))


@pytest.mark.parametrize("key", RUNS, ids="-".join)
def test_each_door_names_calls_in_its_own_form_only(key: tuple[str, str]) -> None:
    assert "detent submit-work" not in told(key).briefing and "detent get-task" not in told(key).briefing
    at_shell = own_words(shown_at_shell(told(key))[0])
    assert not re.search(MCP_CALLS, at_shell), at_shell
    if key in AGENTS:
        text = own_words(driven(key))
        assert not re.search(rf"[Cc]all (?:{MCP_CALLS})|detent (?:submit|get)|submit_work", text), text
        assert "end your turn" in text.partition("## Next")[2]


@pytest.mark.parametrize("key", RUNS, ids="-".join)
def test_the_command_line_names_no_field_of_a_tool_and_no_word_hangs_on_a_command(key: tuple[str, str]) -> None:
    text = own_words(shown_at_shell(told(key))[0])
    assert not re.search(r"\bas `?(?:findings|commit_hash|reply|summary)\b|`(?:test_command|findings|commit_hash)`|…` that ", text), text


@pytest.mark.parametrize("key", RUNS, ids="-".join)
def test_no_gap_no_empty_bullet_and_no_word_of_the_old_habits(key: tuple[str, str]) -> None:
    text = told(key).briefing.replace(RUNS[key].last_error or "\0", "…")
    assert "\n\n\n" not in text and not re.search(r"^- [^:\n]+:\s*$", text.replace("open:\n", ""), re.MULTILINE), text
    assert not re.search(r"\b(?:mend|anew|goes on|go on in)\b", text), text


@pytest.mark.parametrize(("table", "on"), [(t, on) for t in TABLES for on, move in TABLES[t].moves.items() if "agent" in move.by])
def test_a_command_line_that_is_asked_for_has_flags_that_there_are(table: str, on: str) -> None:
    said = typed(TABLES[table].moves[on].how)
    called: click.Command = escalate if "escalate" in said else submit
    known = {flag for param in called.params for flag in param.opts}
    for flag in re.findall(r"(?<= )--[a-z-]+", said):
        assert flag in known, (said, flag)
    assert "detent " in said and not re.search(MCP_CALLS, said)
