"""The `pipeline` and `task` tables: every rule of the workflow by literal values, the gates over a small world in memory. No git, no processes."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from string import Template
from typing import Any

import msgspec
import pytest

from detent.app.registry import brief_of as brief
from detent.app.registry import workflow_of
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed
from detent.gates.check_gates import cannot_fail
from detent.gates.documents import Criterion, KnownIssue, TaskEntry, read_acceptance, read_tasks, recommended, section
from detent.gates.human import APPROVE, MISSING, STRATEGY, PersonDecision, pending
from detent.gates.judge import judge
from detent.gates.reply import effective_status, points, read_reply
from detent.journal.journal_rows import from_entry, to_entry
from detent.kernel.decide import Decision as Decided
from detent.kernel.decide import decide, refusal
from detent.kernel.model import Event, Found, Run, Sent, Verdict
from detent.kernel.table import Table
from detent.kernel.walk import problems
from detent.workflows.pipeline.pipeline_children import children
from detent.workflows.pipeline.pipeline_data import CORE, Manual, PipelineData, published_state, unproven
from detent.workflows.pipeline.pipeline_states import DOCUMENTS
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.task_data import ROLES, TaskData, context_files, is_prepared, result
from detent.workflows.pipeline.task_data import unproven as task_unproven
from detent.workflows.pipeline.task_table import TASK
from tests.looks import LiteralLook

S = ".agents-work/s"
TABLES: dict[str, Table[Any]] = {"pipeline": PIPELINE, "task": TASK}
SMALL = {
    "pipeline": {"errors": 1, "dispatch": 1, "answers": 1, "FIX_BUILD": 1, "merge": 1, "approvals": 1},
    "task": {"errors": 1, "dispatch": 1, "answers": 1, "FIX_REVIEW": 1, "FIX_TESTS": 1, "FIX_SECURITY": 1, "qa_rounds": 1},
}
AGENTS = [(t.name, s) for t in TABLES.values() for s, state in t.states.items() if state.actor == "agent"]
READERS = [(t.name, s) for t in TABLES.values() for s, state in t.states.items() if state.actor != "system"]


def a_task(id: str, *needs: str, **more: Any) -> TaskEntry:
    return TaskEntry(id, f"title of {id}", f"goal of {id}", ("cmd: pytest -q",), ("it works",), depends_on=needs, **more)


ONE, TWO, THREE = a_task("T-001"), a_task("T-002", "T-001"), a_task("T-003")
CRITERIA = (Criterion("AC-001", "it works", ("cmd: pytest -q",)),)
SPEC = "# Goals\nsums\n# Acceptance criteria\n- AC-001\n# Definition of done\ntests pass\n"
ACCEPTANCE = msgspec.json.encode({"acceptance_criteria": CRITERIA}).decode()
ARCHITECTURE = "# Overview\none module\n# Modules\nsum\n# Risks\nnone known\n"
TASKS = """
project: {name: till, definition_of_done: [tests pass]}
tasks:
  - {id: T-001, title: sums, goal: add, acceptance_checks: ["cmd: pytest -q"], done_when: [it adds]}
"""
FILES = {f"{S}/spec.md": SPEC, f"{S}/acceptance.json": ACCEPTANCE, f"{S}/architecture.md": ARCHITECTURE, f"{S}/tasks.yaml": TASKS}
GREEN = TestReport({"t::a": "passed"})
RED = TestReport({"t::a": "failed"})


@dataclass
class World(LiteralLook):
    """Everything a gate may look at, as literal values."""

    files: dict[str, str] = field(default_factory=lambda: dict(FILES))
    now: TestReport = GREEN
    before: TestReport = GREEN


CODE = (Changed("src/sum.py", "modified", "production"),)
NEW_TEST = (Changed("tests/test_sum.py", "added", "test"),)


def session(state: str, data: PipelineData | None = None, **more: Any) -> Run[PipelineData]:
    return Run("r", "pipeline", state, 7, data or PipelineData(session=S), limits=dict(PIPELINE.limits), **more)


def task(state: str, data: TaskData | None = None, **more: Any) -> Run[TaskData]:
    kept = data or TaskData(session=S, task_id="T-001", task=ONE, good_tree="t0")
    return Run("r.T-001", "task", state, 7, kept, limits=dict(TASK.limits), **more)


def take(run: Run[Any], sent: Sent, **world: Any) -> Decided:
    """One call from kind to decision, as the door makes it."""
    table = TABLES[run.workflow]
    on = table.kind(run, sent)
    if (no := refusal(table, run, sent, on)) is not None:
        return decide(table, run, sent, None, no)
    row = table.row(run.state, on)
    assert row is not None
    if not row.gates and not row.prove:
        return decide(table, run, sent, row, Found(output=sent.output))
    return decide(table, run, sent, row, judge(row, World(run, sent, **world)))


def after(run: Run[Any], *calls: Sent, **world: Any) -> Run[Any]:
    """The run after several calls."""
    for sent in calls:
        run = take(run, sent, **world).run
    return run


def reply(status: str = "OK", **more: Any) -> Sent:
    gates = {"meets_definition_of_done": True, "needs_review": True, "needs_tests": False, "security_concerns": []}
    body = {"status": status, "summary": "done", "artifacts": {"files": [], "notes": []}, "gates": gates}
    return Sent("submit", reply=json.dumps({**body, **more}))


def docs(*notes: str) -> Sent:
    """A sound reply of Docs, with further notes."""
    return reply(artifacts={"files": [], "notes": ["run it: sum 1 2", "How to test: pytest", *notes]})


def comment(severity: str, message: str = "off by one") -> dict[str, Any]:
    return {"severity": severity, "category": "bug", "file": "src/sum.py", "line": 3, "message": message}


def finding(severity: str) -> dict[str, Any]:
    return {"severity": severity, "category": "injection", "file": "src/sum.py", "description": "input is trusted"}


def as_role(role: str, status: str = "OK", **more: Any) -> Sent:
    """A sound reply of a role."""
    own: dict[str, dict[str, Any]] = {
        "Reviewer": {"review_comments": []},
        "QA": {"test_results": {}, "coverage_gaps": []},
        "Security": {"findings": []},
        "Researcher": {"options": ["this"], "confidence": "high"},
        "Docs": {"artifacts": {"files": ["README.md"], "notes": ["run it: make run", "test it: make test"]}},
    }
    return reply(status, **{**own.get(role, {}), **more})


def says(value: str, id: str, **more: Any) -> Sent:
    return Sent("answer", by="human", decision=id, value=value, channel="terminal", **more)


def outcome(name: str, **facts: str) -> Sent:
    return Sent("outcome", by="system", outcome=name, facts=facts, output="the output")


def ended(child: str, state: str, **facts: str) -> Sent:
    return Sent("child", by="system", child=child, outcome=state, facts=facts)


DUE = Sent("due", by="system")
RESUME = Sent("resume", by="human")


# -- both tables -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_the_walk_finds_no_dead_end_no_overrun_and_no_row_that_cannot_be_taken(name: str) -> None:
    assert problems(TABLES[name], SMALL[name]) == ()


@pytest.mark.parametrize("name", TABLES)
def test_every_event_that_kind_can_name_has_a_move_and_every_move_a_row(name: str) -> None:
    table = TABLES[name]
    assert {r.on for r in table.rows} == set(table.moves)


@pytest.mark.parametrize(("name", "state"), AGENTS)
@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"status": "OK"}', "[" * 5000, '{"status": "OK", "status": "OK"}', "done!"])
def test_kind_never_raises_and_takes_what_it_cannot_read_for_no_reply(name: str, state: str, text: str) -> None:
    assert TABLES[name].kind(a_run(name, state), Sent("submit", reply=text)) == "no-reply"


@pytest.mark.parametrize("name", TABLES)
def test_kind_is_total_over_states_and_verbs(name: str) -> None:
    table = TABLES[name]
    for state in table.states:
        for verb in ("submit", "answer", "resume", "abort", "steer", "outcome", "child", "due", "nonsense"):
            for value in ("", "cancel", "approved", "§"):
                said = table.kind(a_run(name, state), Sent(verb, value=value, outcome=value, child=value, facts={"changed_files": "§"}))
                assert isinstance(said, str)


def a_run(name: str, state: str, **more: Any) -> Run[Any]:
    return session(state, FULL, **more) if name == "pipeline" else task(state, **more)


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_the_instruction_of_an_agent_is_accepted_by_a_row_of_its_state(name: str, state: str) -> None:
    run, table = a_run(name, state), TABLES[name]
    on = table.kind(run, as_role(table.states[state].role))
    assert table.row(state, on) is not None
    assert "agent" in table.moves[on].by
    assert table.instruction(run) == table.moves[on].how
    assert take(run, as_role(table.states[state].role), changes=CODE).status != "REFUSED"


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_each_role_acts_in_its_own_dispatch_and_reviewing_roles_never_write_code(name: str, state: str) -> None:
    made = TABLES[name].states[state]
    assert made.role == ROLES[state]
    if made.role in ("Reviewer", "Security"):
        assert made.writes == ()
    if made.role == "QA":
        assert all("test" in glob.lower() or "spec" in glob for glob in made.writes)


@pytest.mark.parametrize(("name", "state"), AGENTS)
@pytest.mark.parametrize("how", [reply("FAIL"), Sent("submit"), Sent("agent-failed", by="system", output="died")])
def test_a_failed_dispatch_is_repeated_twice_and_then_blocks_with_subagent_failure(name: str, state: str, how: Sent) -> None:
    run = after(a_run(name, state), how, how)
    assert (run.state, run.counts) == (state, {"dispatch": 2})
    run = after(run, how)
    assert (run.state, run.cause, run.back) == ("BLOCKED", "subagent_failure", state)
    assert run.last_error
    run = after(run, Sent("resume", by="human", guidance="mind the cents"))
    assert (run.state, run.counts, run.guidance) == (state, {}, "mind the cents")


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_a_missing_context_file_blocks_with_its_path(name: str, state: str) -> None:
    run = after(a_run(name, state), Sent("outcome", by="system", outcome="context-missing", output=f"{S}/spec.md"))
    assert (run.state, run.cause, run.last_error) == ("BLOCKED", "context_missing", f"{S}/spec.md")


@pytest.mark.parametrize(("name", "state"), AGENTS)
@pytest.mark.parametrize("status", ["NEEDS_INFO", "NEEDS_DECISION", "BLOCKED"])
def test_a_question_goes_to_a_person_and_the_answer_into_the_next_briefing(name: str, state: str, status: str) -> None:
    role = TABLES[name].states[state].role
    if status == "BLOCKED" and role in ("Reviewer", "QA", "Security"):
        return
    run = after(a_run(name, state), as_role(role, status, summary="which currency?"))
    asked = pending(run.data)
    assert (run.state, asked and asked.status, asked and asked.state_context) == ("ASK_USER", "pending", state)
    run = after(run, says("euro", asked.decision_id if asked else ""))
    assert run.state == state
    assert "which currency?" in run.guidance
    assert "euro" in run.guidance
    assert pending(run.data) is None


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_an_agent_can_never_answer(name: str, state: str) -> None:
    run = after(a_run(name, state), as_role(TABLES[name].states[state].role, "NEEDS_INFO"))
    asked = pending(run.data)
    assert asked
    decided = take(run, msgspec.structs.replace(says("euro", asked.decision_id), by="agent"))
    assert (decided.status, decided.run.state) == ("REFUSED", "ASK_USER")


@pytest.mark.parametrize("name", TABLES)
def test_a_run_survives_the_journal_with_everything_in_it(name: str) -> None:
    run = after(
        a_run(name, "CODE" if name == "task" else "INTAKE"), as_role("Coder", "PASS_WITH_NOTES", artifacts={"files": [], "notes": ["slow"]})
    )
    event: Event[Any] = Event(run, "notes", "", "", Sent("submit"), Found(), "SUCCESS", Verdict("SUCCESS", run.state))
    assert from_entry(TABLES[name], to_entry(TABLES[name], event)).run == run


# -- replies -----------------------------------------------------------------------------------------------------------------


def text_of(sent: Sent) -> str:
    return sent.reply


@pytest.mark.parametrize(
    ("role", "sent", "fault"),
    [
        ("Coder", reply(extra=1), "extra"),
        ("Coder", reply("MAYBE"), "MAYBE"),
        ("Coder", reply(summary=" "), "summary is empty"),
        ("Coder", as_role("Reviewer"), "review_comments is not for Coder"),
        ("Reviewer", reply(), "review_comments is missing"),
        ("QA", reply(test_results={}), "coverage_gaps is missing"),
        ("Security", reply(), "findings is missing"),
        ("Researcher", reply(options=[]), "confidence is missing"),
        ("Reviewer", as_role("Reviewer", "BLOCKED"), "without a single finding"),
        ("Reviewer", as_role("Reviewer", review_comments=[comment("huge")]), "huge"),
    ],
)
def test_a_reply_is_read_strictly_for_its_role(role: str, sent: Sent, fault: str) -> None:
    read, said = read_reply(text_of(sent), role)
    assert read is None
    assert fault in said


def test_a_doubled_key_in_a_reply_is_refused() -> None:
    assert "twice" in read_reply(text_of(reply()).replace("{", '{"status": "FAIL", ', 1), "Coder")[1]


@pytest.mark.parametrize(
    ("role", "more", "comes_to"),
    [
        ("Reviewer", {"review_comments": [comment("minor")]}, "OK"),
        ("Reviewer", {"review_comments": [comment("major")]}, "BLOCKED"),
        ("Reviewer", {"review_comments": [comment("blocker")], "status": "PASS_WITH_NOTES"}, "BLOCKED"),
        ("Security", {"findings": [finding("low")]}, "OK"),
        ("Security", {"findings": [finding("medium")]}, "NEEDS_DECISION"),
        ("Security", {"findings": [finding("high")]}, "BLOCKED"),
        ("QA", {"test_results": {"failed": 1}}, "BLOCKED"),
    ],
)
def test_a_grave_finding_weighs_more_than_the_status_it_comes_with(role: str, more: dict[str, Any], comes_to: str) -> None:
    read, said = read_reply(text_of(as_role(role, **more)), role)
    assert read, said
    assert effective_status(read) == comes_to


def test_a_waived_finding_no_longer_blocks_whatever_line_it_moved_to() -> None:
    first, _ = read_reply(text_of(as_role("Reviewer", "BLOCKED", review_comments=[comment("major")])), "Reviewer")
    moved, _ = read_reply(text_of(as_role("Reviewer", "BLOCKED", review_comments=[{**comment("major"), "line": 99}])), "Reviewer")
    assert first
    assert moved
    assert effective_status(moved, frozenset(p.id for p in points(first))) == "OK"
    assert effective_status(moved) == "BLOCKED"


# -- documents ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "true", ":", "echo ok", "printf done", "pytest --help", "npm --version", "pytest || true", "pytest; true", "pytest; exit 0", "pytest | cat || echo no",
        "bash -c 'true'", "FOO=1 echo x", "/bin/true", "env A=1 true", "pytest &", "", "echo 'unclosed", "true && echo yes", "sh -c 'pytest || :'", "python -c pass",
        "pytest | echo", "# pytest", "(true)", "A=1", "sudo env A=1 nice", "pytest || A=1",
    ],
)  # fmt: skip
def test_a_command_that_cannot_fail_is_refused(command: str) -> None:
    assert cannot_fail(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q", "echo start && pytest", "npm test", "! grep -r TODO src", "test -f a", "true; pytest", "cat a | grep b", "make help-me",
        "bash -c 'pytest && true'", "ls && false", "python -c 'import till'", "node -c till.js",
    ],
)  # fmt: skip
def test_a_command_that_can_fail_is_taken(command: str) -> None:
    assert cannot_fail(command) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "acceptance.json"),
        ('{"acceptance_criteria": []}', "at least one criterion"),
        (ACCEPTANCE.replace("AC-001", "1"), "must look like AC-001"),
        (ACCEPTANCE.replace("cmd: pytest -q", "pytest"), "must be 'cmd: …' or 'manual: …'"),
        (ACCEPTANCE.replace("pytest -q", "echo fine"), "proves nothing"),
        (ACCEPTANCE.replace('"id"', '"note": "", "id"'), "note"),
        (ACCEPTANCE.replace('"id"', '"id": "AC-001", "id"'), "appears twice"),
        (msgspec.json.encode({"acceptance_criteria": CRITERIA * 2}).decode(), "acceptance_criteria[1].id: AC-001 appears twice"),
    ],
)
def test_acceptance_json_is_read_strictly(text: str, fault: str) -> None:
    found, said = read_acceptance(text)
    assert found is None
    assert fault in "; ".join(said)


def test_every_fault_of_acceptance_json_is_named() -> None:
    bad = '{"acceptance_criteria": [{"id": "1", "description": "", "verify": ["true", "cmd: true"]}]}'
    assert len(read_acceptance(bad)[1]) == 4


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("goal: add", "goal: ''"), "tasks[0].goal"),
        (("done_when: [it adds]", "done_when: []"), "done_when"),
        (('["cmd: pytest -q"]', "[]"), "acceptance_checks"),
        (("goal: add", "goal: add, depends_on: [T-009]"), "there is no task T-009"),
        (("goal: add", "goal: add, depends_on: [T-001]"), "T-001 → T-001"),
        (("goal: add", "goal: add, goal: more"), "tasks[0].goal: appears twice"),
        (("goal: add", "goal: add, colour: red"), "colour"),
        (("goal: add", "goal: &a add, title2: *a"), "anchors and aliases"),
        (("T-001", "T1"), "must look like T-001"),
        (("goal: add", "goal: add, files_expected: [../x]"), "inside the repository"),
        (("tasks:", "tasks: ["), "tasks.yaml"),
        (("name: till", "name: ' '"), "project: name and definition_of_done must not be empty"),
        (("definition_of_done: [tests pass]", "definition_of_done: []"), "project: name and definition_of_done must not be empty"),
        ((TASKS.partition("tasks:")[2], " []"), "tasks: at least one task is needed"),
        ((TASKS.partition("tasks:\n")[2], TASKS.partition("tasks:\n")[2] * 2), "tasks[1].id: T-001 appears twice"),
    ],
)
def test_tasks_yaml_is_read_strictly(change: tuple[str, str], fault: str) -> None:
    found, said = read_tasks(TASKS.replace(*change))
    assert found is None
    assert fault in "; ".join(said)


def test_a_circle_of_dependencies_is_named_in_its_order() -> None:
    said = read_tasks("project: {name: a, definition_of_done: [x]}\ntasks:\n" + "".join(
        f"  - {{id: T-00{i}, title: t, goal: g, acceptance_checks: ['cmd: make'], done_when: [d], depends_on: [T-00{i % 3 + 1}]}}\n" for i in (1, 2, 3)
    ))[1]  # fmt: skip
    assert re.search(r"T-001 → T-002 → T-003 → T-001|T-002 → T-003 → T-001 → T-002|T-003 → T-001 → T-002 → T-003", said[0])


def test_a_section_ends_at_the_next_heading_and_code_blocks_hide_none() -> None:
    assert section("# Goals\n\n# Other\ntext\n", "goal") == ""
    assert section("# Goals\n## First\nsums\n# Other\n", "goal") == "sums"
    assert section("```\n# Goals\n```\ntext", "goal") == ""


@pytest.mark.parametrize(
    ("state", "path", "text"),
    [
        ("INTAKE", "spec.md", SPEC.replace("# Definition of done", "# Later")),
        ("INTAKE", "acceptance.json", ACCEPTANCE.replace("pytest -q", "true")),
        ("DESIGN", "architecture.md", ARCHITECTURE.replace("# Modules", "# Parts")),
        ("DESIGN", "architecture.md", ARCHITECTURE.replace("# Risks", "# Hopes")),
        ("PLAN", "tasks.yaml", TASKS.replace("title: sums", "title: sums, status: completed")),
        ("INTAKE_LEAN", "tasks.yaml", TASKS + TASKS.partition("tasks:\n")[2].replace("T-001", "T-002")),
    ],
)
def test_a_document_that_lacks_something_holds_the_run_and_is_named_in_the_next_briefing(state: str, path: str, text: str) -> None:
    decided = take(session(state), as_role(ROLES[state]), files={**FILES, f"{S}/{path}": text})
    assert (decided.status, decided.run.state, decided.run.counts) == ("FAILURE", state, {"dispatch": 1})
    assert path in decided.run.last_error
    assert take(session(state), as_role(ROLES[state])).run.state != state


def test_a_document_that_is_missing_holds_the_run() -> None:
    assert "is missing" in take(session("INTAKE"), reply(), files={}).run.last_error


def test_research_and_design_specs_must_exist_and_be_named() -> None:
    named = {"files": [f"{S}/research/a.md"], "notes": []}
    assert take(session("DESIGN_RESEARCH"), as_role("Researcher")).status == "FAILURE"
    assert take(session("DESIGN_RESEARCH"), as_role("Researcher", artifacts=named)).status == "FAILURE"
    passed = take(session("DESIGN_RESEARCH"), as_role("Researcher", artifacts=named), files={**FILES, f"{S}/research/a.md": "this"})
    assert (passed.run.state, passed.run.data.research) == ("DESIGN", (f"{S}/research/a.md",))  # type: ignore[attr-defined]


def test_a_design_spec_must_exist_and_be_named_where_a_page_is_designed() -> None:
    named = {"files": [f"{S}/design-specs/d.md"], "notes": []}
    assert "names no file below" in take(session("DESIGN_UI"), reply()).run.last_error
    for text in ({}, {f"{S}/design-specs/d.md": "  "}):
        missing = take(session("DESIGN_UI"), reply(artifacts=named), files={**FILES, **text})
        assert (missing.status, missing.run.state) == ("FAILURE", "DESIGN_UI") and "does not exist" in missing.run.last_error
    drawn = take(session("DESIGN_UI"), reply(artifacts=named), files={**FILES, f"{S}/design-specs/d.md": "# A page"})
    assert (drawn.run.state, drawn.run.data.design_specs) == ("APPROVE_DESIGN", (f"{S}/design-specs/d.md",))  # type: ignore[attr-defined]


# -- the way through a session -----------------------------------------------------------------------------------------------


def approved(data: PipelineData) -> PipelineData:
    """A session whose design is approved, for the files as they are here."""
    run = after(session("DESIGN", data), reply(), says("approved", APPROVE))
    assert run.state == "PLAN", run.last_error
    kept: PipelineData = run.data
    return kept


FULL = PipelineData(
    session=S, request="sums", criteria=CRITERIA, tasks=(msgspec.structs.replace(ONE, status="completed"),), strategy="per-batch", good_tree="t1",
    reviewed_tree="t1", checked_tree="t1", roles=CORE, integrated=True, documented=True,
    decisions=(
        PersonDecision(APPROVE, "approval", "?", ("approved",), "APPROVE_DESIGN", 3, "answered", "approved", resolved=4),
        PersonDecision(STRATEGY, "strategy", "?", ("per-batch",), "REVIEW_STRATEGY", 5, "answered", "per-batch", resolved=6),
    ),
)  # fmt: skip


def test_the_full_way_leads_from_intake_to_done() -> None:
    seen = ["INTAKE"]
    run = session("INTAKE")
    tree = {"tree": "t1", "roles": "Coder,Reviewer,QA,Security"}
    for sent in (
        reply(), reply(), says("approved", APPROVE), reply(), says("per-batch", STRATEGY), ended("T-001", "COMPLETED", **tree),
        ended("meta", "COMPLETED", **tree), DUE, reply(), outcome("green", tree="t1"), DUE, docs("no need"), reply(),
        outcome("green", tree="t1"), DUE, outcome("landed"),
    ):  # fmt: skip
        run = after(run, sent)
        seen += [run.state] if run.state != seen[-1] else []
    assert seen == [
        "INTAKE", "DESIGN", "APPROVE_DESIGN", "PLAN", "REVIEW_STRATEGY", "IMPLEMENT_LOOP", "INTEGRATE", "INTEGRATE_CHECKS", "INTEGRATED", "RELEASE",
        "RELEASE_FILES", "INTEGRATE_CHECKS", "INTEGRATED", "LANDING", "DONE",
    ]  # fmt: skip
    assert unproven(run) == ()


def test_the_lean_way_has_no_design_no_gates_no_integrator_and_no_release() -> None:
    seen = []
    run = session("INTAKE_LEAN", PipelineData(session=S, mode="lean"))
    for sent in (reply(), ended("T-001", "COMPLETED", tree="t1"), DUE, outcome("green", tree="t1"), DUE, outcome("landed")):
        run = after(run, sent)
        seen.append(run.state)
    assert seen == ["IMPLEMENT_LOOP", "IMPLEMENT_LOOP", "INTEGRATE_CHECKS", "INTEGRATED", "LANDING", "DONE"]


@pytest.mark.parametrize(("wants", "state"), [({"research": True}, "DESIGN_RESEARCH"), ({"ui": True}, "DESIGN"), ({}, "DESIGN")])
def test_research_and_ui_come_when_the_spec_agent_says_so(wants: dict[str, bool], state: str) -> None:
    run = after(session("INTAKE"), reply(next=wants))
    assert run.state == state
    assert (run.data.wants_research, run.data.wants_ui) == (wants.get("research", False), wants.get("ui", False))
    if state == "DESIGN":
        assert after(run, reply()).state == ("DESIGN_UI" if wants else "APPROVE_DESIGN")


def test_a_person_can_ask_for_research_and_design_too() -> None:
    wanted = PipelineData(session=S, wants_research=True, wants_ui=True)
    assert after(session("INTAKE", wanted), reply()).state == "DESIGN_RESEARCH"
    assert after(session("DESIGN", wanted), reply()).state == "DESIGN_UI"


@pytest.mark.parametrize(
    ("state", "shown"), [("DESIGN_RESEARCH", "DESIGN"), ("DESIGN_UI", "DESIGN"), ("FIX_BUILD_CODE", "FIX_BUILD"), ("PLAN", "PLAN")]
)
def test_finer_states_are_published_under_the_name_of_the_specification(state: str, shown: str) -> None:
    assert published_state(session(state)) == shown


# -- decisions ---------------------------------------------------------------------------------------------------------------


def at_approval(**more: Any) -> Run[PipelineData]:
    run: Run[PipelineData] = after(session("DESIGN", PipelineData(session=S, **more)), reply())
    assert run.state == "APPROVE_DESIGN"
    return run


def at_strategy() -> Run[PipelineData]:
    run: Run[PipelineData] = after(session("PLAN", approved(PipelineData(session=S))), reply())
    assert run.state == "REVIEW_STRATEGY"
    return run


def test_the_question_is_pending_in_the_event_that_enters_the_gate_and_bound_to_what_is_shown() -> None:
    asked = pending(at_approval().data)
    assert asked
    assert (asked.decision_id, asked.status, asked.answer, asked.resolved, asked.asked) == (APPROVE, "pending", "", 0, 8)
    assert set(asked.shown) == {f"{S}/spec.md", f"{S}/acceptance.json", f"{S}/architecture.md"}


def test_an_approval_of_a_document_that_changed_is_void_and_asked_again() -> None:
    changed = {**FILES, f"{S}/spec.md": SPEC + "more\n"}
    first = take(at_approval(), says("approved", APPROVE), files=changed)
    assert (first.status, first.run.state) == ("FAILURE", "APPROVE_DESIGN")
    assert "spec.md changed" in first.run.last_error
    assert after(first.run, says("approved", APPROVE), files=changed).state == "PLAN"


@pytest.mark.parametrize("value", ["approved by me", "not approved", "looks good", "yes", "per-batch"])
def test_only_the_exact_words_are_an_answer_at_approve_design(value: str) -> None:
    decided = take(at_approval(), says(value, APPROVE))
    assert (decided.status, decided.run.state, decided.run.counts) == ("FAILURE", "APPROVE_DESIGN", {"answers": 1})
    assert pending(decided.run.data)  # type: ignore[arg-type]


@pytest.mark.parametrize("gate", ["APPROVE_DESIGN", "REVIEW_STRATEGY"])
def test_the_third_invalid_answer_blocks_and_resume_asks_again_with_the_count_at_zero(gate: str) -> None:
    run, id = (at_approval(), APPROVE) if gate == "APPROVE_DESIGN" else (at_strategy(), STRATEGY)
    wrong = says("whatever", id)
    assert after(run, wrong, wrong).state == gate
    blocked = after(run, wrong, wrong, wrong)
    assert (blocked.state, blocked.cause, blocked.back) == ("BLOCKED", MISSING, gate)
    again = after(blocked, RESUME)
    assert (again.state, again.counts) == (gate, {})
    assert pending(again.data)


def test_silence_waits_and_counts_nothing() -> None:
    for sent in (says("", APPROVE), says("cancel", APPROVE), says("cancel", APPROVE, note="  ")):
        decided = take(at_approval(), sent)
        assert (decided.status, decided.run.state, decided.run.counts) == ("REFUSED", "APPROVE_DESIGN", {})


@pytest.mark.parametrize("gate", ["APPROVE_DESIGN", "REVIEW_STRATEGY"])
def test_cancelling_with_a_reason_blocks_and_resume_asks_again(gate: str) -> None:
    run, id = (at_approval(), APPROVE) if gate == "APPROVE_DESIGN" else (at_strategy(), STRATEGY)
    blocked = after(run, says("cancel", id, note="not now"))
    record = next(d for d in blocked.data.decisions if d.decision_id == id)
    assert (blocked.state, blocked.cause, record.status, record.resolution_reason) == ("BLOCKED", MISSING, "cancelled", "not now")
    assert after(blocked, RESUME).state == gate
    assert pending(after(blocked, RESUME).data)


def test_an_answer_must_name_the_question_that_is_open() -> None:
    assert take(at_approval(), says("approved", "UD-7")).status == "REFUSED"


@pytest.mark.parametrize(("to", "state"), [("", "INTAKE"), ("spec", "INTAKE"), ("architecture", "DESIGN"), ("design", "DESIGN_UI")])
def test_requested_changes_go_to_the_role_that_is_named(to: str, state: str) -> None:
    decided = take(at_approval(), says("changes-requested: use sqlite", APPROVE, to=to))
    data = decided.run.data
    assert isinstance(data, PipelineData)
    assert (decided.run.state, data.correction, data.correction_note) == (state, "queued", "use sqlite")
    assert "append_design_history" in decided.owes
    assert "use sqlite" in brief(PIPELINE, session(state, data)).briefing


def test_requested_changes_to_nobody_known_are_no_answer() -> None:
    told = take(at_approval(), says("changes-requested: x", APPROVE, to="coder"))
    assert (told.status, told.run.state, told.run.counts) == ("REFUSED", "APPROVE_DESIGN", {})


def test_a_correction_is_dispatched_once_and_completed_when_the_design_is_asked_about_again() -> None:
    run = after(at_approval(), says("changes-requested: use sqlite", APPROVE, to="architecture"))
    run = after(run, outcome("prepared"))
    assert (run.state, run.data.correction) == ("DESIGN", "dispatched")
    assert is_prepared(run)
    assert after(run, outcome("prepared")).data.correction == "dispatched"
    assert take(run, says("changes-requested: use sqlite", APPROVE, to="architecture")).status == "REFUSED"
    run = after(run, reply())
    assert (run.state, run.data.correction) == ("APPROVE_DESIGN", "completed")
    assert len([d for d in run.data.decisions if d.decision_id == APPROVE]) == 1
    assert after(run, says("approved", APPROVE)).state == "PLAN"


def test_roles_after_the_corrected_one_run_again() -> None:
    run = after(at_approval(wants_research=True), says("changes-requested: x", APPROVE))
    named = {"files": [f"{S}/research/a.md"], "notes": []}
    run = after(run, reply())
    assert run.state == "DESIGN_RESEARCH"
    assert after(run, as_role("Researcher", artifacts=named), files={**FILES, f"{S}/research/a.md": "x"}).state == "DESIGN"


@pytest.mark.parametrize(
    ("tasks", "which"),
    [
        ((ONE, TWO), "single-final"),
        (tuple(a_task(f"T-00{i}") for i in range(1, 5)), "single-final"),
        (tuple(a_task(f"T-00{i}") for i in range(1, 6)), "per-batch"),
        ((ONE, TWO, a_task("T-003", "T-001")), "per-batch"),
        ((a_task("T-001", files_expected=("a",)), a_task("T-002", files_expected=("a",))), "per-batch"),
        ((a_task("T-001", files_expected=("a", "a")),), "single-final"),
        ((a_task("T-001", risk_flags=("auth",)),), "per-batch"),
    ],
)
def test_the_recommended_strategy_follows_countable_conditions(tasks: tuple[TaskEntry, ...], which: str) -> None:
    assert recommended(tasks)[0] == which


@pytest.mark.parametrize("value", ["per-batch", "single-final"])
def test_the_chosen_strategy_is_recorded_and_given_to_every_task(value: str) -> None:
    run = after(at_strategy(), says(value, STRATEGY))
    assert (run.state, run.data.strategy) == ("IMPLEMENT_LOOP", value)
    (child,) = children(run)
    assert isinstance(child.data, TaskData)
    assert child.data.strategy == value


def test_a_design_that_changed_after_its_approval_must_be_approved_again() -> None:
    lapsed = take(at_strategy(), says("per-batch", STRATEGY), files={**FILES, f"{S}/architecture.md": ARCHITECTURE + "x"})
    assert (lapsed.status, lapsed.run.state) == ("FAILURE", "APPROVE_DESIGN")
    record = {d.decision_id: d.status for d in lapsed.run.data.decisions}  # type: ignore[attr-defined]
    assert record == {APPROVE: "pending", STRATEGY: "skipped"}


def test_a_decision_whose_fields_contradict_its_status_cannot_exist() -> None:
    for status, answer, resolved, reason in (
        ("pending", "x", 0, ""),
        ("answered", "", 1, ""),
        ("answered", "x", 0, ""),
        ("cancelled", "", 1, ""),
    ):
        with pytest.raises(ValueError, match="wrong fields"):
            PersonDecision("UD-1", "question", "?", (), "CODE", 1, status, answer, resolved=resolved, resolution_reason=reason)  # type: ignore[arg-type]


def test_questions_of_a_task_keep_their_numbers_short_and_to_themselves() -> None:
    tasks = tuple(msgspec.structs.replace(ONE, id=f"T-{n:03}") for n in (1, 2, 10))
    found = dict[str, int]()
    for ended in range(25):
        data = PipelineData(session=S, tasks=tasks, strategy="per-batch", parallel=3, good_tree="t", ended={t.id: ended for t in tasks})
        made = children(session("IMPLEMENT_LOOP", data))
        found |= {c.name: c.data.first_question for c in made if isinstance(c.data, TaskData)}
    assert (found["T-002"], found["T-002-2"], found["T-010-10"]) == (2000, 2100, 10900)
    numbers = sorted(found.values())
    assert len(found) == 75 and all(b - a >= 100 for a, b in pairwise(numbers))


def test_questions_of_parent_tasks_and_later_rounds_never_share_a_number() -> None:
    data = PipelineData(session=S, tasks=(ONE, THREE), strategy="per-batch", parallel=2, good_tree="t")
    numbers = [c.data.first_question for c in children(session("IMPLEMENT_LOOP", data)) if isinstance(c.data, TaskData)]
    later = msgspec.structs.replace(data, ended={"T-001": 1})
    numbers += [c.data.first_question for c in children(session("IMPLEMENT_LOOP", later))[:1] if isinstance(c.data, TaskData)]
    assert len({0, *numbers}) == 4
    asked = pending(after(task("CODE", TaskData(session=S, task_id="T-001", first_question=1000)), reply("NEEDS_INFO")).data)
    assert asked
    assert asked.decision_id == "UD-1001"


# -- tasks and final reviews -------------------------------------------------------------------------------------------------


def loop(*tasks: TaskEntry, **more: Any) -> Run[PipelineData]:
    return session("IMPLEMENT_LOOP", PipelineData(session=S, tasks=tasks, good_tree="t0", **{"strategy": "per-batch", **more}))


def names(run: Run[PipelineData]) -> list[str]:
    return [c.name for c in children(run)]


def test_a_task_starts_when_its_dependencies_are_done_and_one_at_a_time_by_default() -> None:
    run = loop(ONE, TWO, THREE)
    assert names(run) == ["T-001"]
    assert names(loop(ONE, TWO, THREE, parallel=3)) == ["T-001", "T-003"]
    run = after(run, ended("T-001", "COMPLETED", tree="t1"))
    assert names(run) == ["T-002"]


def test_no_other_state_has_children() -> None:
    assert all(children(session(s, loop(ONE).data)) == () for s in PIPELINE.states if s != "IMPLEMENT_LOOP")


def test_per_batch_ends_with_a_cross_task_review_by_the_reviewer() -> None:
    run = after(loop(ONE, roles=CORE), ended("T-001", "COMPLETED", tree="t1"))
    (meta,) = children(run)
    assert isinstance(meta.data, TaskData)
    assert (meta.name, meta.workflow, meta.start, meta.data.goal) == (
        "meta",
        "task",
        "REVIEW",
        "Cross-task final review of all session changes",
    )
    assert (meta.data.qa, meta.data.security) == (False, False)
    assert PIPELINE.kind(run, DUE) == ""


def test_a_core_role_that_never_ran_runs_in_the_final_review() -> None:
    for ran, runs in (("Coder,Reviewer,QA", (False, True)), ("Coder,Reviewer,Security", (True, False))):
        (meta,) = children(after(loop(ONE), ended("T-001", "COMPLETED", tree="t1", roles=ran)))
        assert isinstance(meta.data, TaskData)
        assert (meta.data.qa, meta.data.security) == runs


def test_single_final_reviews_once_after_all_tasks_are_implemented_and_then_completes_them() -> None:
    run = after(loop(ONE, THREE, strategy="single-final", roles=CORE), ended("T-001", "IMPLEMENTED", tree="t1"))
    assert names(run) == ["T-003"]
    run = after(run, ended("T-003", "IMPLEMENTED", tree="t2"))
    (meta,) = children(run)
    assert isinstance(meta.data, TaskData)
    assert (meta.name, meta.data.goal, meta.data.qa, meta.data.security) == (
        "meta",
        "Single-final review of all session changes",
        True,
        True,
    )
    run = after(run, ended("meta", "COMPLETED", tree="t3"))
    assert {t.status for t in run.data.tasks} == {"completed"}
    assert (names(run), PIPELINE.kind(run, DUE)) == ([], "all-done")


def test_a_lean_task_needs_no_final_review() -> None:
    run = after(loop(ONE, mode="lean"), ended("T-001", "COMPLETED", tree="t1"))
    assert (names(run), PIPELINE.kind(run, DUE)) == ([], "all-done-again")


def test_changes_after_the_review_are_reviewed_again_under_a_new_name() -> None:
    data = msgspec.structs.replace(FULL, good_tree="t2", checked_tree="t2", ended={"T-001": 1, "meta": 1})
    run = after(session("INTEGRATED", data), DUE)
    assert (run.state, names(run)) == ("IMPLEMENT_LOOP", ["meta-2"])
    run = after(run, ended("meta-2", "COMPLETED", tree="t2"), DUE)
    assert run.state == "INTEGRATE_CHECKS"


@pytest.mark.parametrize(
    ("mode", "end", "state", "becomes"),
    [
        ("full", "RESCOPED", "PLAN", "full"),
        ("lean", "RESCOPED", "INTAKE", "full"),
        ("lean", "ESCALATED_TO_FULL", "INTAKE", "full"),
        ("full", "ABORTED", "BLOCKED", "full"),
    ],
)
def test_a_child_that_stops_sends_the_session_where_it_belongs(mode: str, end: str, state: str, becomes: str) -> None:
    run = after(loop(ONE, mode=mode), ended("T-001", end, reason="too much"))
    assert (run.state, run.data.mode) == (state, becomes)


def test_a_task_whose_child_was_aborted_starts_again_under_a_new_name() -> None:
    run = after(loop(ONE), ended("T-001", "ABORTED"), RESUME)
    assert (run.state, names(run)) == ("IMPLEMENT_LOOP", ["T-001-2"])
    late = take(run, ended("T-001", "COMPLETED", tree="t1"))
    assert (late.status, late.run.data) == ("SUCCESS", run.data)


def test_a_child_that_does_not_say_its_tree_proves_nothing() -> None:
    run = after(loop(ONE), ended("T-001", "COMPLETED"))
    assert (run.state, run.cause, run.data.tasks[0].status) == ("BLOCKED", "task_unproved", "blocked")


def test_what_was_done_stays_done_when_the_same_task_is_planned_again() -> None:
    listing, _ = read_tasks(TASKS)
    assert listing
    done = msgspec.structs.replace(listing.tasks[0], status="completed")
    data = msgspec.structs.replace(approved(PipelineData(session=S)), tasks=(done,))
    assert after(session("PLAN", data), reply()).data.tasks == (done,)
    changed = {**FILES, f"{S}/tasks.yaml": TASKS.replace("goal: add", "goal: subtract")}
    assert after(session("PLAN", data), reply(), files=changed).data.tasks[0].status == "not-started"


def test_a_child_hands_over_its_tree_its_roles_and_its_known_issues() -> None:
    child = task(
        "COMPLETED", TaskData(task_id="T-001", good_tree="t9", roles=("Coder", "QA"), known_issues=(KnownIssue("f1", "slow", "T-001"),))
    )
    run = after(loop(ONE), ended("T-001", "COMPLETED", **result(child)))
    assert (run.data.good_tree, run.data.roles, run.data.known_issues) == ("t9", ("Coder", "QA"), (KnownIssue("f1", "slow", "T-001"),))
    told = brief(TASK, child).briefing  # and whoever looks at the task itself sees the same
    assert "tree t9" in told and "Coder,QA" in told and "- [f1] slow" in told


# -- inside a task -----------------------------------------------------------------------------------------------------------


def about(**more: Any) -> TaskData:
    return TaskData(session=S, task_id="T-001", task=ONE, good_tree="t1", **more)


def test_a_task_passes_coder_reviewer_qa_and_security_before_it_is_completed() -> None:
    run = after(task("CODE"), reply(), changes=CODE)
    seen = [run.state]
    for role in ("Reviewer", "QA", "Security"):
        run = after(run, as_role(role))
        seen.append(run.state)
    assert seen == ["REVIEW", "QA", "SECURITY", "COMPLETED"]
    assert task_unproven(run) == ()
    assert run.data.roles == ("Coder", "Reviewer", "QA", "Security")


@pytest.mark.parametrize(("qa", "security", "state"), [(True, True, "QA"), (False, True, "SECURITY"), (False, False, "COMPLETED")])
def test_qa_and_security_run_where_they_are_required(qa: bool, security: bool, state: str) -> None:
    assert after(task("REVIEW", about(qa=qa, security=security)), as_role("Reviewer")).state == state


@pytest.mark.parametrize(
    ("touched", "qa", "security"),
    [
        ("", False, False),
        ("docs", False, False),
        ("tests", True, False),
        ("docs tests", True, False),
        ("code", True, True),
        ("code docs", True, True),
    ],
)
@pytest.mark.parametrize("mode", ["lean", "full"])
def test_who_must_look_follows_from_what_was_changed_whatever_the_task_is_called(mode: str, touched: str, qa: bool, security: bool) -> None:
    calm = about(mode=mode, qa=False, security=False)
    run = after(task("REVIEW", calm), outcome("prepared", touched=touched, changed_files="[]"))
    assert (run.state, run.data.qa, run.data.security) == ("REVIEW", qa, security)
    flagged = after(task("REVIEW", about(mode=mode, qa=True, security=True)), outcome("prepared", touched="docs", changed_files="[]"))
    assert (flagged.data.qa, flagged.data.security) == (True, True)  # less is never asked for


def test_a_role_can_ask_for_more_scrutiny_and_never_for_less() -> None:
    gates = {"meets_definition_of_done": True, "needs_review": False, "needs_tests": True, "security_concerns": ["token in url"]}
    run = after(task("CODE", TaskData(session=S, task_id="T-001", qa=False, security=False)), reply(gates=gates), changes=CODE)
    assert (run.state, run.data.qa, run.data.security) == ("REVIEW", True, True)
    calm = {"meets_definition_of_done": True, "needs_review": False, "needs_tests": False, "security_concerns": []}
    run = after(task("CODE"), reply(gates=calm), changes=CODE)
    assert (run.state, run.data.qa, run.data.security) == ("REVIEW", True, True)


def test_single_final_stops_at_implemented_and_only_after_the_proof() -> None:
    data = about(strategy="single-final")
    run = after(task("CODE", data), reply(), changes=CODE)
    assert (run.state, task_unproven(run)) == ("IMPLEMENTED", ())
    failed = after(task("CODE", data), reply(), changes=CODE, now=RED)
    assert failed.state == "FIX_TESTS"
    assert after(failed, reply(), changes=CODE).state == "IMPLEMENTED"


def test_the_final_review_of_single_final_goes_through_all_gates() -> None:
    meta = msgspec.structs.replace(about(strategy="single-final"), task_id="meta")
    assert after(task("REVIEW", meta), as_role("Reviewer")).state == "QA"
    assert after(task("FIX_REVIEW", meta), reply(), changes=CODE).state == "REVIEW"


@pytest.mark.parametrize("state", ["CODE", "FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY"])
@pytest.mark.parametrize(
    "world",
    [
        {"now": RED},
        {"now": TestReport(), "before": TestReport()},
        {"lint": "lint!"},
        {"changes": ()},
        {"now": TestReport({"t::b": "passed"})},
    ],
)
def test_a_coders_ok_is_no_proof(state: str, world: dict[str, Any]) -> None:
    run = after(task(state), reply(), **{"changes": CODE, **world})
    assert (run.state, run.counts) == ("FIX_TESTS", {"FIX_TESTS": 1})
    assert run.last_error


def test_a_fix_returns_through_all_gates_since_the_tree_changed() -> None:
    data = about(reviewed_tree="t1", tested_tree="t1", qa=True, security=True)
    run = after(task("FIX_SECURITY", data), reply(), changes=CODE, tree="t2")
    assert (run.state, run.data.good_tree, run.data.reviewed_tree, run.data.tested_tree) == ("REVIEW", "t2", "", "")
    assert after(run, as_role("Reviewer")).state == "QA"


@pytest.mark.parametrize(
    ("state", "role", "more", "loop"),
    [
        ("REVIEW", "Reviewer", {"review_comments": [comment("major")]}, "FIX_REVIEW"),
        ("QA", "QA", {"coverage_gaps": ["negative sums"]}, "FIX_TESTS"),
        ("SECURITY", "Security", {"findings": [finding("high")]}, "FIX_SECURITY"),
    ],
)
def test_three_repairs_of_a_kind_and_then_a_person_is_asked(state: str, role: str, more: dict[str, Any], loop: str) -> None:
    blocked = as_role(role, "BLOCKED", **more)
    run = after(task(state, about()), blocked)
    assert (run.state, run.counts) == (loop, {loop: 1})
    assert "negative sums" in run.last_error or "src/sum.py" in run.last_error
    third = after(task(state, about(), counts={loop: 2}), blocked)
    assert (third.state, third.counts) == (loop, {loop: 3})
    spent = after(task(state, about(), counts={loop: 3}), blocked)
    assert (spent.state, spent.cause, spent.back) == ("ASK_USER", "retry_budget", loop)
    asked = pending(spent.data)
    assert asked
    assert asked.security == (role == "Security")
    for value, note in (("different-approach", ""), ("guidance", "use decimals")):
        back = after(spent, says(value, asked.decision_id, note=note))
        assert (back.state, back.counts) == (loop, {})
        assert value in back.guidance
        assert note in back.guidance
    assert take(spent, says("guidance", asked.decision_id)).status == "REFUSED"
    assert after(spent, says("simplify-scope", asked.decision_id)).state == "RESCOPED"


def test_accepting_with_known_issues_waives_the_finding_and_goes_on_through_the_remaining_gates() -> None:
    blocked = as_role("Reviewer", "BLOCKED", review_comments=[comment("major")])
    spent = after(task("REVIEW", about(), counts={"FIX_REVIEW": 3}), blocked)
    run = after(spent, says("accept-known-issues", "UD-1"))
    assert (run.state, [i.text for i in run.data.known_issues]) == ("REVIEW", ["major src/sum.py:3 off by one"])
    run = after(run, DUE)
    assert (run.state, run.data.reviewed_tree) == ("QA", "t1")
    assert after(task("REVIEW", run.data), blocked).state == "QA"


def test_a_waiver_of_one_finding_leaves_the_others_to_be_fixed() -> None:
    two = [comment("major", "first"), comment("blocker", "second")]
    spent = after(task("REVIEW", about(), counts={"FIX_REVIEW": 3}), as_role("Reviewer", "BLOCKED", review_comments=two))
    first = next(p for p in pending(spent.data).points if "first" in p.text)  # type: ignore[union-attr]
    run = after(spent, says("accept-known-issues", "UD-1", note=first.id))
    assert (run.state, [i.finding for i in run.data.known_issues], run.counts) == ("FIX_REVIEW", [first.id], {})
    assert TASK.kind(run, DUE) == ""


def test_a_failing_test_is_never_waived() -> None:
    spent = after(task("FIX_TESTS", about(), counts={"FIX_TESTS": 3}), reply(), changes=CODE, now=RED)
    assert (spent.state, spent.back) == ("ASK_USER", "FIX_TESTS")
    decided = take(spent, says("accept-known-issues", "UD-1"))
    assert (decided.status, decided.run.state) == ("REFUSED", "ASK_USER")
    assert "never waived" in decided.reasons[0]


def test_accepted_notes_of_a_coder_do_not_pass_a_failing_test() -> None:
    notes = reply("PASS_WITH_NOTES", artifacts={"files": [], "notes": ["one test is red"]})
    run = after(task("CODE"), notes, says("accept", "UD-1"))
    assert (run.state, TASK.kind(run, DUE)) == ("CODE", "coded")
    assert [i.text for i in run.data.known_issues] == ["one test is red"]
    assert after(run, DUE, changes=CODE, now=RED).state == "FIX_TESTS"
    assert TASK.kind(after(run, DUE, changes=CODE, now=RED), DUE) == ""
    assert after(run, DUE, changes=CODE).state == "REVIEW"


@pytest.mark.parametrize(
    ("state", "role", "fixing"), [("REVIEW", "Reviewer", "FIX_REVIEW"), ("QA", "QA", "FIX_TESTS"), ("SECURITY", "Security", "FIX_SECURITY")]
)
def test_on_a_pass_with_notes_the_person_decides_what_is_fixed(state: str, role: str, fixing: str) -> None:
    own: dict[str, dict[str, Any]] = {
        "Reviewer": {"review_comments": [comment("minor")]},
        "QA": {"coverage_gaps": ["zero"]},
        "Security": {"findings": [finding("low")]},
    }
    run = after(task(state, about()), as_role(role, "PASS_WITH_NOTES", **own[role]))
    assert run.state == "ASK_USER"
    assert after(run, says("fix", "UD-1")).state == fixing
    assert len(after(run, says("fix", "UD-1")).data.points) == 1
    assert after(run, says("maybe", "UD-1")).counts == {"answers": 1}
    assert after(run, says("accept", "UD-1"), DUE).state not in (state, fixing)


def test_a_medium_security_finding_is_always_a_persons_decision_and_silence_never_cancels_it() -> None:
    run = after(task("SECURITY", about()), as_role("Security", "OK", findings=[finding("medium")]))
    asked = pending(run.data)
    assert asked
    assert (run.state, asked.security) == ("ASK_USER", True)
    for channel in ("client dialog", "policy", "no terminal", ""):
        quiet = msgspec.structs.replace(says("cancel", "UD-1", note="gone"), channel=channel)
        assert take(run, quiet).status == "REFUSED"
    assert after(run, says("cancel", "UD-1", note="later")).state == "BLOCKED"
    assert take(run, says("accept", "UD-1")).status == "REFUSED"
    assert after(run, says("accept", "UD-1", note="behind a login"), DUE).state == "COMPLETED"
    assert after(run, says("fix", "UD-1")).state == "FIX_SECURITY"


def test_a_cancelled_question_is_asked_again_and_returns_where_it_came_from() -> None:
    run = after(task("QA", about()), as_role("QA", "NEEDS_INFO"))
    blocked = after(run, says("cancel", "UD-1", note="later"))
    assert (blocked.state, blocked.cause) == ("BLOCKED", MISSING)
    again = after(blocked, RESUME)
    assert (again.state, pending(again.data).decision_id) == ("ASK_USER", "UD-1")  # type: ignore[union-attr]
    assert after(again, says("euro", "UD-1")).state == "QA"


def test_three_invalid_answers_in_a_task_block_it_and_resume_asks_again() -> None:
    run = after(task("REVIEW", about()), as_role("Reviewer", "PASS_WITH_NOTES", review_comments=[comment("nit")]))
    blocked = after(run, *[says("perhaps", "UD-1")] * 3)
    assert (blocked.state, blocked.cause, blocked.back) == ("BLOCKED", MISSING, "REVIEW")
    assert after(blocked, RESUME).state == "ASK_USER"


@pytest.mark.parametrize(("state", "role"), [("REVIEW", "Reviewer"), ("SECURITY", "Security")])
def test_a_verdict_on_a_tree_that_changed_meanwhile_is_void(state: str, role: str) -> None:
    decided = take(task(state, about()), as_role(role), changes=CODE)
    assert (decided.status, decided.run.state) == ("FAILURE", state)
    assert "src/sum.py changed" in decided.run.last_error
    held = read_reply(text_of(as_role(role)), role)[0]
    accepted = after(task(state, about(accepted=held)), DUE, changes=CODE)
    assert (accepted.state, TASK.kind(accepted, DUE)) == (state, "")


WRITE_NO_CODE = [(n, s) for n, s in AGENTS if (n == "task" and s in ("REVIEW", "SECURITY")) or (n == "pipeline" and s in DOCUMENTS)]


@pytest.mark.parametrize(("name", "state"), WRITE_NO_CODE)
@pytest.mark.parametrize("status", ["OK", "BLOCKED", "PASS_WITH_NOTES", "NEEDS_INFO", "NEEDS_DECISION", "FAIL", ""])
def test_a_role_that_writes_no_code_comes_to_nothing_if_it_did_and_the_tree_is_put_back(name: str, state: str, status: str) -> None:
    own: dict[str, dict[str, Any]] = {"Reviewer": {"review_comments": [comment("major")]}, "Security": {"findings": [finding("high")]}}
    role = TABLES[name].states[state].role
    notes = {"files": [], "notes": ["slow"]}
    sent = as_role(role, status, artifacts=notes, **({} if status == "OK" else own.get(role, {}))) if status else Sent("submit")
    decided = take(a_run(name, state), sent, changes=CODE)
    assert (decided.status, decided.run.state, decided.run.counts) == ("FAILURE", state, {"dispatch": 1})
    assert "undo_strays" in decided.owes
    last = take(a_run(name, state, counts={"dispatch": 2}), sent, changes=CODE)
    assert (last.run.state, "undo_strays" in last.owes) == ("BLOCKED", True)


@pytest.mark.parametrize(("status", "to"), [("BLOCKED", "FIX_TESTS"), ("NEEDS_INFO", "ASK_USER"), ("PASS_WITH_NOTES", "ASK_USER")])
def test_qa_may_leave_tests_with_a_verdict_and_nothing_else(status: str, to: str) -> None:
    sent = as_role("QA", status, coverage_gaps=["negative sums"])
    assert take(task("QA", about()), sent, changes=NEW_TEST).run.state == to
    decided = take(task("QA", about()), sent, changes=(*NEW_TEST, *CODE))
    assert (decided.status, decided.run.state, "undo_strays" in decided.owes) == ("FAILURE", "QA", True)
    assert "src/sum.py changed" in decided.run.last_error


def test_tests_that_qa_adds_are_proved_and_then_reviewed() -> None:
    added = as_role("QA", artifacts={"files": ["tests/test_sum.py"], "notes": []})
    run = after(task("QA", about(reviewed_tree="t1")), added, changes=NEW_TEST, tree="t2")
    assert (run.state, run.data.good_tree, run.data.reviewed_tree) == ("REVIEW", "t2", "")
    assert after(task("QA", about()), added, changes=NEW_TEST, now=RED).state == "FIX_TESTS"
    assert after(task("QA", about()), added, changes=CODE).state == "FIX_TESTS"
    assert after(task("QA", about()), as_role("QA"), changes=NEW_TEST).state == "QA"


def files(count: int) -> str:
    return json.dumps([{"path": f"src/{i}.py", "change_type": "modified", "old_path": ""} for i in range(count)])


@pytest.mark.parametrize(("mode", "count", "state"), [("lean", 4, "ESCALATED_TO_FULL"), ("lean", 3, "REVIEW"), ("full", 4, "REVIEW")])
def test_a_lean_change_of_more_than_three_files_goes_the_full_way(mode: str, count: int, state: str) -> None:
    decided = take(task("REVIEW", about(mode=mode)), outcome("prepared", changed_files=files(count)))
    assert decided.run.state == state
    if state == "REVIEW":
        assert len(decided.run.data.changed_files) == count  # type: ignore[attr-defined]
    else:
        assert "4 files" in decided.run.last_error
        assert "reset_to_good" in decided.owes


@pytest.mark.parametrize("status", ["OK", "BLOCKED", "FAIL"])
def test_a_coder_that_reports_complexity_ends_the_lean_way(status: str) -> None:
    complex_ = reply(status, next={"complexity": "high", "reason": "three layers"})
    run = after(task("CODE", about(mode="lean")), complex_)
    assert (run.state, "three layers" in run.last_error) == ("ESCALATED_TO_FULL", True)
    assert after(task("CODE"), complex_, changes=CODE).state != "ESCALATED_TO_FULL"


def test_one_commit_is_owed_for_each_finished_task() -> None:
    assert "commit_task" in take(task("SECURITY", about()), as_role("Security")).owes
    assert "commit_task" in take(task("CODE", about(strategy="single-final")), reply(), changes=CODE).owes
    assert "commit_task" not in take(task("CODE", about()), reply(), changes=CODE).owes


# -- integration, release, done ----------------------------------------------------------------------------------------------


def test_a_red_build_goes_to_the_integrator_first_then_to_the_coder_then_to_a_person() -> None:
    run = session("INTEGRATE_CHECKS", FULL)
    red = outcome("red", tree="t1")
    seen = []
    for _ in range(3):
        run = after(run, red)
        seen.append(run.state)
        run = after(run, reply())
        assert run.state == "INTEGRATE_CHECKS"
    assert seen == ["FIX_BUILD", "FIX_BUILD_CODE", "FIX_BUILD_CODE"]
    assert run.counts == {"FIX_BUILD": 3}
    run = after(run, red)
    assert (run.state, run.cause) == ("ASK_USER", "retry_budget")
    assert after(run, says("guidance", "UD-1", note="pin it")).state == "FIX_BUILD_CODE"
    assert after(run, says("guidance", "UD-1", note="pin it")).counts == {}
    assert take(run, says("accept-known-issues", "UD-1")).status == "REFUSED"
    assert after(run, says("simplify-scope", "UD-1")).state == "PLAN"


def test_a_lean_session_has_no_integrator_to_fix_the_build_and_simplifying_leads_to_intake() -> None:
    lean = msgspec.structs.replace(FULL, mode="lean")
    assert after(session("INTEGRATE_CHECKS", lean), outcome("red")).state == "FIX_BUILD_CODE"
    spent = after(session("INTEGRATE_CHECKS", lean, counts={"FIX_BUILD": 3}), outcome("red"))
    run = after(spent, says("simplify-scope", "UD-1"))
    assert (run.state, run.data.mode, run.data.tasks) == ("INTAKE", "full", ())


@pytest.mark.parametrize("state", ["FIX_BUILD", "FIX_BUILD_CODE"])
def test_a_build_is_not_fixed_by_losing_tests(state: str) -> None:
    run = after(session(state, FULL), reply(), now=TestReport({"t::b": "passed"}))
    assert (run.state, run.counts) == ("FIX_BUILD_CODE", {"FIX_BUILD": 1})


def test_what_fix_build_or_release_changed_is_checked_and_reviewed_before_done() -> None:
    run = after(session("FIX_BUILD_CODE", FULL), reply(), tree="t2", changes=CODE)
    run = after(run, outcome("green", tree="t2"), DUE, tree="t2")
    assert (run.state, names(run)) == ("IMPLEMENT_LOOP", ["meta"])
    readme = (Changed("README.md", "modified", "other"),)
    run = after(session("RELEASE", FULL), docs(), tree="t2", changes=readme)
    assert (run.state, run.data.good_tree) == ("RELEASE_FILES", "t2")
    run = after(run, reply(), tree="t2")
    assert (run.state, PIPELINE.kind(after(run, outcome("green", tree="t2"), tree="t2"), DUE)) == ("INTEGRATE_CHECKS", "unreviewed")


def test_docs_changes_the_readme_or_says_why_not_and_touches_no_code() -> None:
    assert "the README is as it was" in take(session("RELEASE", FULL), docs()).run.last_error
    assert take(session("RELEASE", FULL), docs("internal")).status == "SUCCESS"
    assert "src/sum.py" in take(session("RELEASE", FULL), docs("internal"), changes=CODE).run.last_error


@pytest.mark.parametrize(
    ("notes", "lacking"), [(("internal",), "run"), (("internal", "run it: sum"), "test"), (("internal", "test it: x"), "run")]
)
def test_docs_says_how_to_run_and_how_to_test(notes: tuple[str, ...], lacking: str) -> None:
    decided = take(session("RELEASE", FULL), reply(artifacts={"files": [], "notes": list(notes)}))
    assert (decided.status, decided.run.state) == ("FAILURE", "RELEASE") and f"how to {lacking} it" in decided.run.last_error


def test_the_integrator_writes_build_files_only() -> None:
    assert take(session("INTEGRATE", FULL), reply(), changes=(Changed("pyproject.toml", "modified", "config"),)).status == "SUCCESS"
    assert take(session("INTEGRATE", FULL), reply(), changes=CODE).status == "FAILURE"


def manual() -> PipelineData:
    return msgspec.structs.replace(FULL, criteria=(Criterion("AC-001", "looks right", ("manual: open the page",)),))


def test_a_manual_check_needs_a_persons_word_at_the_tree() -> None:
    run = after(session("INTEGRATED", manual()), DUE)
    assert (run.state, pending(run.data).question) == ("ASK_USER", "manual: open the page")  # type: ignore[union-attr]
    passed = after(run, says("passed", "UD-1"))
    assert (passed.state, passed.data.manual) == ("INTEGRATED", (Manual("manual: open the page", "t1", "UD-1"),))
    assert PIPELINE.kind(passed, DUE) == "finished"
    assert "not been confirmed by a person" in "; ".join(
        unproven(session("INTEGRATED", msgspec.structs.replace(passed.data, good_tree="t2")))
    )
    failed = after(run, says("failed", "UD-1", note="too small"))
    assert (failed.state, failed.counts) == ("FIX_BUILD_CODE", {"FIX_BUILD": 1})
    assert "too small" in failed.last_error


def without(field_: str, value: Any) -> PipelineData:
    return msgspec.structs.replace(FULL, **{field_: value})


@pytest.mark.parametrize(
    ("data", "lacking"),
    [
        (without("tasks", (ONE,)), "T-001 is not-started"),
        (without("tasks", ()), "no tasks"),
        (without("criteria", ()), "no acceptance criteria"),
        (without("checked_tree", "t0"), "AC-001 is not verified"),
        (without("reviewed_tree", "t0"), "not reviewed"),
        (without("decisions", FULL.decisions[:1]), f"{STRATEGY} is not decided"),
        (without("decisions", (*FULL.decisions, PersonDecision("UD-1", "question", "?", (), "PLAN", 1))), "UD-1 is open"),
        (without("roles", CORE[:-1]), "Docs has not run"),
        (without("documented", False), "README"),
        (manual(), "not been confirmed by a person"),
    ],
)
def test_done_is_computed_from_what_is_recorded(data: PipelineData, lacking: str) -> None:
    assert unproven(session("INTEGRATED", FULL)) == ()
    assert lacking in "; ".join(unproven(session("INTEGRATED", data)))
    assert PIPELINE.kind(session("INTEGRATED", data), DUE) != "finished"
    row = PIPELINE.row("LANDING", "landed")
    assert row
    found = judge(row, World(session("LANDING", data), outcome("landed")))
    assert lacking in "; ".join(found.refused)


def test_a_design_that_changed_keeps_the_session_from_being_finished() -> None:
    approved_ = approved(PipelineData(session=S))
    data = msgspec.structs.replace(FULL, decisions=(*approved_.decisions, FULL.decisions[1]))
    assert after(session("INTEGRATED", data), DUE).state == "LANDING"
    assert after(session("INTEGRATED", data), DUE, files={**FILES, f"{S}/spec.md": "other"}).state == "APPROVE_DESIGN"


def test_green_checks_count_only_for_the_tree_that_they_ran_on() -> None:
    decided = take(session("INTEGRATE_CHECKS", FULL), outcome("green", tree="t1"), tree="t1")
    assert (decided.run.state, "commit_judged_tree" in decided.owes) == ("INTEGRATED", True)
    for facts in ({"tree": "t0"}, {}):
        moved = take(session("INTEGRATE_CHECKS", FULL), outcome("green", **facts), tree="t1")
        assert (moved.run.state, moved.run.cause, moved.run.back, moved.owes) == ("BLOCKED", "tree_moved", "INTEGRATE_CHECKS", ("publish",))


def test_a_branch_that_cannot_land_waits_for_a_person() -> None:
    for name in ("conflict", "red-merge"):
        run = after(session("LANDING", FULL), outcome(name))
        assert (run.state, run.back, after(run, RESUME).state) == ("BLOCKED", "LANDING", "LANDING")


# -- briefings ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_there_is_a_briefing_for_every_state_that_someone_reads_and_every_fact_is_used(name: str) -> None:
    assert {p.stem for p in (workflow_of(name).folder / "briefings").iterdir()} == {s for t, s in READERS if t == name}
    texts: Iterable[str] = [p.read_text("utf-8") for p in (workflow_of(name).folder / "briefings").iterdir()]
    used = {n for text in texts for n in Template(text).get_identifiers()}
    assert set(TABLES[name].facts(a_run(name, "BLOCKED"))) - used == set()


@pytest.mark.parametrize(("name", "state"), READERS)
def test_a_briefing_renders_and_says_the_one_next_call(name: str, state: str) -> None:
    done = brief(TABLES[name], a_run(name, state))
    assert len(done.goal) > 10
    assert "$" not in done.briefing
    if TABLES[name].states[state].end:
        assert (done.instruction, "Nothing is left to do." in done.briefing) == ("", True)
    else:
        assert done.instruction
        assert f"## Next\n\n{done.instruction}\n" in done.briefing


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_an_agent_can_act_on_its_briefing_alone(name: str, state: str) -> None:
    done = brief(TABLES[name], a_run(name, state))
    rules = done.briefing.partition("## Rules\n")[2]
    assert f"You are the {done.role} of this session" in done.briefing
    assert "Do not run tests through the shell" in rules
    assert "Make one attempt, then report" in rules
    assert "You may write" in rules if done.writes else "Write nothing" in rules
    assert all(path in done.briefing for path in context_files(a_run(name, state).data, done.role))


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_the_reply_that_a_briefing_shows_is_one_that_the_machine_takes(name: str, state: str) -> None:
    done = brief(TABLES[name], a_run(name, state))
    sample = done.briefing.partition("## What to return")[2].partition("```json\n")[2].partition("```")[0]
    read, fault = read_reply(sample, done.role)
    assert read, fault
    assert TABLES[name].row(state, TABLES[name].kind(a_run(name, state), Sent("submit", reply=sample)))


def test_the_documents_that_briefings_show_are_ones_that_the_machine_takes() -> None:
    lean = brief(PIPELINE, session("INTAKE_LEAN")).briefing
    assert read_tasks(lean.partition("```yaml\n")[2].partition("```")[0])[1] == ()
    assert read_acceptance(lean.partition("```json\n")[2].partition("```")[0])[1] == ()
    assert read_tasks(brief(PIPELINE, session("PLAN")).briefing.partition("```yaml\n")[2].partition("```")[0])[1] == ()
    assert read_acceptance(brief(PIPELINE, session("INTAKE")).briefing.partition("```json\n")[2].partition("```")[0])[1] == ()


def test_lean_roles_are_given_no_architecture_and_all_coders_the_design_specs() -> None:
    specs = (f"{S}/design-specs/a.md",)
    assert f"{S}/architecture.md" not in context_files(about(mode="lean"), "Coder")
    for role in ("Coder", "Reviewer", "QA"):
        assert specs[0] in context_files(about(design_specs=specs), role)
    assert "lib/a.py" in context_files(msgspec.structs.replace(about(), task=a_task("T-001", context_files=("lib/a.py",))), "Coder")
