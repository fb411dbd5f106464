"""Single rules of a session: its roles and what each reads and writes, the fields of its formats, what people are shown, what a dispatch says. No processes."""

import json
from typing import Any, get_args

import msgspec
import pytest
import yaml

from detent.app.registry import brief_of as brief
from detent.blocks.common import Ground
from detent.evidence.source.diff import Changed
from detent.gates.documents import ChangedFile, ProjectHead, TaskEntry, listed_below, read_tasks
from detent.gates.human import APPROVE, STRATEGY, PersonDecision, pending, question
from detent.gates.reply import read_reply
from detent.kernel.model import Run, Sent
from detent.workflows.pipeline.pipeline_children import children
from detent.workflows.pipeline.pipeline_data import CORE, PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.pipeline_tasks import task_of
from detent.workflows.pipeline.session_files import published, retry_counts, status_json
from detent.workflows.pipeline.session_report import report_of
from detent.workflows.pipeline.task_data import READS, ROLES, TaskData, context_files, needs_qa, needs_security, result
from detent.workflows.pipeline.task_table import TASK
from tests.test_pipeline_tables import (
    AGENTS,
    CODE,
    CRITERIA,
    FILES,
    FULL,
    ONE,
    RESUME,
    SPEC,
    TABLES,
    TWO,
    S,
    a_run,
    a_task,
    after,
    as_role,
    comment,
    ended,
    loop,
    outcome,
    reply,
    says,
    session,
    take,
    task,
)  # fmt: skip

replace = msgspec.structs.replace


def when(run: str, seq: int) -> str:
    return f"{run} {seq}"


def given(run: Run[Any]) -> dict[str, Any]:
    """The whole input of a role, off its briefing."""
    text = brief(TABLES[run.workflow], run).briefing
    value = json.loads(text.partition("The whole input, as JSON:\n\n```json\n")[2].partition("\n```")[0])
    assert isinstance(value, dict)
    return value


# -- roles ---------------------------------------------------------------------------------------------------------------------

MATRIX = {  # role: what it reads, what it writes
    "SpecAgent": ("", "spec.md acceptance.json"),
    "Researcher": ("spec.md acceptance.json", "research/**"),
    "Architect": ("spec.md acceptance.json research/r.md", "architecture.md adr/**"),
    "Designer": ("spec.md acceptance.json architecture.md", "design-specs/**"),
    "Planner": ("spec.md acceptance.json architecture.md research/r.md design-specs/d.md", "tasks.yaml"),
    "Coder": ("spec.md tasks.yaml architecture.md design-specs/d.md", "**"),
    "Reviewer": ("spec.md tasks.yaml architecture.md design-specs/d.md", ""),
    "QA": ("spec.md acceptance.json tasks.yaml design-specs/d.md", "tests"),
    "Security": ("tasks.yaml architecture.md spec.md", ""),
    "Integrator": ("tasks.yaml acceptance.json", "build"),
    "Docs": ("spec.md acceptance.json architecture.md tasks.yaml research/r.md design-specs/d.md", "README* docs/** CHANGELOG*"),
}
ACTS_IN = {role: next((n, s) for n, s in AGENTS if ROLES[s] == role) for role in MATRIX}


def test_there_are_eleven_roles_and_each_has_its_row() -> None:
    assert set(MATRIX) == set(ROLES.values()) == set(READS) and len(MATRIX) == 11


@pytest.mark.parametrize("role", MATRIX)
def test_each_role_reads_and_writes_what_its_row_says(role: str) -> None:
    reads, writes = MATRIX[role]
    data = replace(FULL, research=(f"{S}/research/r.md",), design_specs=(f"{S}/design-specs/d.md",), roles=())
    assert set(context_files(data, role)) == {f"{S}/{name}" for name in reads.split()}
    name, state = ACTS_IN[role]
    made = [w.removeprefix("$session/") for w in TABLES[name].states[state].writes]
    if writes == "tests":
        assert made and all("test" in glob.lower() or "spec" in glob for glob in made)
    elif writes == "build":
        assert "**/VERSION" in made and "**/Dockerfile*" in made and not any(w.startswith("$") or w == "**" for w in made)
    else:
        assert made == writes.split()


def test_a_researcher_of_a_later_round_reads_the_architecture_that_is_there() -> None:
    assert f"{S}/architecture.md" in context_files(replace(FULL, roles=("SpecAgent", "Architect")), "Researcher")


def test_the_lean_spec_agent_writes_the_task_too_and_is_told_that_the_way_is_lean() -> None:
    assert "$session/tasks.yaml" in PIPELINE.states["INTAKE_LEAN"].writes
    assert given(session("INTAKE_LEAN", PipelineData(session=S, mode="lean")))["mode"] == "lean"


@pytest.mark.parametrize(
    ("made", "qa", "security"),
    [
        (a_task("T-001"), True, False), (a_task("T-001", type="bugfix"), True, False), (a_task("T-001", type="docs"), False, False),
        *((a_task("T-001", risk_flags=(flag,)), True, True) for flag in ("security", "auth", "input", "network")),
    ],
)  # fmt: skip
def test_qa_runs_where_behaviour_is_concerned_and_security_where_a_risk_is_flagged(made: TaskEntry, qa: bool, security: bool) -> None:
    assert (needs_qa(made), needs_security(made)) == (qa, security)
    child = children(loop(made))[0].data
    assert isinstance(child, TaskData) and (child.qa, child.security) == (qa, security)


# -- formats -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lacking", ["status", "summary", "artifacts", "gates"])
def test_a_reply_without_one_of_its_parts_is_none(lacking: str) -> None:
    body = json.loads(reply().reply)
    del body[lacking]
    assert read_reply(json.dumps(body), "Coder")[0] is None


@pytest.mark.parametrize("lacking", ["meets_definition_of_done", "needs_review", "needs_tests", "security_concerns"])
def test_the_gates_of_a_reply_are_all_said(lacking: str) -> None:
    body = json.loads(reply().reply)
    del body["gates"][lacking]
    assert read_reply(json.dumps(body), "Coder")[0] is None


def test_what_comes_next_has_its_four_keys_and_no_others() -> None:
    said = {"research": True, "ui": True, "complexity": "high", "reason": "new"}
    read, fault = read_reply(reply(next=said).reply, "SpecAgent")
    assert read is not None and msgspec.to_builtins(read.next) == said, fault
    assert read_reply(reply(next={**said, "state": "DONE"}).reply, "SpecAgent")[0] is None
    assert read_reply(reply(next={"complexity": "huge"}).reply, "SpecAgent")[0] is None


def test_a_decision_is_named_and_has_one_of_four_statuses() -> None:
    asked = question(session("INTAKE"), "question", "which?")
    assert (pending(asked.data) or FULL.decisions[0]).decision_id == "UD-1" and (APPROVE, STRATEGY) == (
        "UD-APPROVE-DESIGN",
        "UD-REVIEW-STRATEGY",
    )
    assert set(get_args(PersonDecision.__annotations__["status"])) == {"pending", "answered", "cancelled", "skipped"}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**msgspec.to_builtins(FULL.decisions[0]), "status": "maybe"}, PersonDecision)


def test_a_task_as_it_is_published_has_all_its_fields_and_a_status_that_is_known() -> None:
    data = replace(FULL, project=ProjectHead("till", ("tests pass",)), tasks=(replace(ONE, status="completed"), TWO))
    files = published([session("IMPLEMENT_LOOP", replace(data, reviewed_tree=""))], when, "now")
    assert set(files) == {f"{S}/status.json", f"{S}/tasks.yaml"}  # the machine writes no role's document
    rows = yaml.safe_load(files[f"{S}/tasks.yaml"])["tasks"]
    assert list(rows[0]) == [
        "id", "status", "type", "title", "depends_on", "goal", "non_goals", "context_files", "files_expected", "acceptance_checks", "risk_flags", "done_when",
    ]  # fmt: skip
    assert [row["status"] for row in rows] == ["completed", "in-progress"]
    assert set(get_args(TaskEntry.__annotations__["status"])) == {"not-started", "in-progress", "implemented", "completed", "blocked"}
    assert "status" in read_tasks(FILES[f"{S}/tasks.yaml"].replace("title: sums", "title: sums, status: nearly"))[1][0]


def test_status_json_tells_assumptions_repairs_and_whether_the_project_has_instructions() -> None:
    spec = SPEC + "# Assumptions\n\n- prices are in cents,\n  never negative\n2. one currency\n"
    root = after(session("INTAKE"), reply(), files={**FILES, f"{S}/spec.md": spec})
    assert root.data.assumptions == ("prices are in cents, never negative", "one currency")
    assert listed_below(SPEC, "assum") == ()
    assert listed_below("# Assumptions\n- one\n\n  and the same\n\n- two\n", "assum") == ("one and the same", "two"), (
        "a blank line ends no item"
    )
    child = task("FIX_REVIEW", counts={"FIX_REVIEW": 2})
    told = json.loads(status_json([root, child], when, "now"))
    assert told["assumptions"] == list(root.data.assumptions)
    assert told["runtime_flags"] == {"copilot_instructions_exists": False, "copilot_checked_at": "r 1"}
    assert told["retry_counts"]["T-001"] == {"FIX_REVIEW": 2, "FIX_TESTS": 0, "FIX_SECURITY": 0, "FIX_BUILD": 0}
    assert retry_counts([session("FIX_BUILD", counts={"FIX_BUILD": 1})])["meta"]["FIX_BUILD"] == 1
    seen = outcome("prepared", instructions=f"{S}/instructions/copilot-instructions.md", changed_files="[]", tree="t")
    again = after(root, seen)
    assert json.loads(status_json([again], when, "now"))["runtime_flags"]["copilot_instructions_exists"] is True


# -- decisions -----------------------------------------------------------------------------------------------------------------


def test_every_way_to_ask_user_writes_the_question_down_first() -> None:
    ways = [(row.on, way) for table in TABLES.values() for row in table.rows for way in row.ways if way.to == "ASK_USER"]
    assert len(ways) > 20
    for on, way in ways:
        names = {getattr(change, "__name__", "") for change in way.changes}
        assert any(name.startswith("ask_") or name == "reopen" for name in names), on


@pytest.mark.parametrize(
    ("state", "id", "value", "to"), [("DESIGN", APPROVE, "approved", "PLAN"), ("PLAN", STRATEGY, "per-batch", "IMPLEMENT_LOOP")]
)
def test_the_event_that_leaves_a_gate_holds_the_answer_it_rests_on(state: str, id: str, value: str, to: str) -> None:
    before = after(session(state, FULL if state == "PLAN" else None), reply())
    left = after(before, says(value, id))
    kept = next(d for d in left.data.decisions if d.decision_id == id)
    assert (left.state, kept.status, kept.answer, kept.resolved) == (to, "answered", value, left.seq)
    if id == STRATEGY:
        assert left.data.strategy == value
    for other in ("changes-requested: no", "Per-Batch", "per-batch ", "both"):
        moved = after(before, says(other, id))
        assert moved.state != to or (other.strip().lower() == value and moved.data.strategy == value), other


def test_a_journal_without_a_correction_status_counts_as_none_and_changes_queue_one() -> None:
    raw = msgspec.to_builtins(PipelineData(session=S))
    raw.pop("correction", None)
    data = msgspec.convert(raw, PipelineData)
    assert data.correction == "none"
    asked = after(session("DESIGN", data), reply())
    assert after(asked, says("changes-requested: cents", APPROVE)).data.correction == "queued"


def test_who_approves_is_shown_spec_architecture_design_criteria_and_assumptions() -> None:
    data = replace(FULL, assumptions=("prices are in cents",), design_specs=(f"{S}/design-specs/d.md",), criteria=CRITERIA, decisions=())
    run = after(session("DESIGN", data), reply(), files={**FILES, f"{S}/design-specs/d.md": "a page"})
    shown = brief(PIPELINE, run).briefing
    for said in (
        "spec.md",
        "architecture.md",
        "design-specs/d.md",
        "prices are in cents",
        "AC-001 it works",
        "Do you approve",
        "what must change",
    ):
        assert said in shown, said
    for part in (
        "**Goals** (spec.md)\n\nsums",
        "**Modules** (architecture.md)\n\nsum",
        "**Risks** (architecture.md)\n\nnone known",
        "**design-specs/d.md**",
    ):
        assert part in shown, part


def test_who_chooses_the_strategy_is_shown_the_tasks_both_strategies_and_a_recommendation() -> None:
    run = after(session("PLAN", replace(FULL, tasks=(), decisions=FULL.decisions[:1])), reply())
    shown = brief(PIPELINE, run).briefing
    for said in (
        "1 task is planned",
        "**T-001** sums",
        "add",
        "`per-batch`: Reviewer, QA and Security look at every task",
        "Slower, but finds problems early",
        "`single-final`: all tasks are coded first",
        "Faster",
        "Recommended: `single-final`, because",
    ):
        assert said in shown, said


def test_after_the_budget_the_question_tells_what_was_tried_and_what_is_still_found() -> None:
    blocked = as_role("Reviewer", review_comments=[comment("major")])
    run = take(task("REVIEW", counts={"FIX_REVIEW": 3}), blocked).run
    asked = pending(run.data)  # type: ignore[arg-type]
    assert run.state == "ASK_USER" and asked is not None
    assert "were worked on 3 times" in asked.question and "off by one" in asked.question


def test_after_the_budget_the_question_tells_every_repair_that_was_tried_and_no_older_one() -> None:
    run = task("REVIEW")
    for word in ("first", "second", "third", "fourth"):
        run = after(run, as_role("Reviewer", review_comments=[comment("major", f"the {word} fault")]))
        run = replace(run, state="REVIEW") if run.state == "FIX_REVIEW" else run
    asked = pending(run.data)
    assert run.state == "ASK_USER" and asked is not None
    assert all(f"the {word} fault" in asked.question for word in ("first", "second", "third", "fourth"))
    assert "Repair 3 began with" in asked.question and len(asked.question) < 4000
    again = after(run, says("different-approach", asked.decision_id))
    later = after(
        replace(again, state="REVIEW", counts={"FIX_REVIEW": 3}), as_role("Reviewer", review_comments=[comment("major", "a new fault")])
    )
    assert "Repair" in pending(later.data).question and "the first fault" not in pending(later.data).question.partition("Repair")[0]  # type: ignore[union-attr]


def test_a_spent_build_tells_every_repair_that_was_tried() -> None:
    run = session("INTEGRATE_CHECKS", FULL)
    for word in ("first", "second", "third", "fourth"):
        run = after(run, replace(outcome("red", tree="t1"), output=f"the {word} failure"))
        run = after(run, reply()) if run.state != "ASK_USER" else run
    asked = pending(run.data)
    assert run.state == "ASK_USER" and asked is not None
    assert all(f"the {word} failure" in asked.question for word in ("first", "second", "third", "fourth"))


# -- what people say meanwhile -------------------------------------------------------------------------------------------------


def steers(text: str, to: str) -> Sent:
    return Sent("steer", by="human", channel="terminal", note=text, to=to)


PREPARED = outcome("prepared", changed_files="[]")


def test_what_is_said_for_a_role_waits_until_that_role_is_next() -> None:
    run = after(task("CODE"), steers("mind the rounding", "reviewer"), PREPARED)
    assert "mind the rounding" not in brief(TASK, run).briefing
    run = after(run, reply(), changes=CODE)
    run = after(run, PREPARED)
    assert run.state == "REVIEW" and "mind the rounding" in brief(TASK, run).briefing
    run = after(run, as_role("Reviewer"))
    assert run.data.asides == () and "mind the rounding" not in brief(TASK, run).briefing


def test_what_is_said_for_a_role_of_a_task_goes_into_the_next_task_once_and_what_was_for_others_comes_back() -> None:
    early = after(session("INTAKE"), steers("cents", "Coder"), steers("name the till", "Docs"))
    assert [aside.role for aside in early.data.asides] == ["Coder", "Docs"]
    run = replace(loop(ONE, TWO), data=replace(loop(ONE, TWO).data, asides=early.data.asides))
    child = children(run)[0].data
    assert isinstance(child, TaskData)
    coding = after(Run("r.T-001", "task", "CODE", 1, child, limits=dict(TASK.limits)), PREPARED)
    assert "cents" in brief(TASK, coding).briefing
    back = after(run, ended("T-001", "COMPLETED", **{**result(coding), "tree": "t1"}))
    assert [aside.role for aside in back.data.asides] == ["Docs"]
    docs = after(replace(back, state="RELEASE"), PREPARED)
    assert "name the till" in brief(PIPELINE, docs).briefing


@pytest.mark.parametrize("run", [session("INTAKE"), task("CODE")])
def test_what_is_said_for_nobody_known_is_refused_with_who_is(run: Run[Any]) -> None:
    decided = take(run, steers("x", "Boss"))
    assert decided.status == "REFUSED" and "SpecAgent, Researcher" in decided.reasons[0]
    assert take(run, replace(steers("x", "Coder"), by="agent")).status == "REFUSED"


# -- notes, for the report -----------------------------------------------------------------------------------------------------


def test_what_a_role_passes_the_work_with_is_kept_for_the_report_and_the_newest_word_counts() -> None:
    minor = as_role("Reviewer", review_comments=[comment("minor", "no types")], artifacts={"files": [], "notes": ["slow on windows"]})
    run = after(task("REVIEW"), minor)
    assert run.data.notes == {"T-001 Reviewer": ("minor src/sum.py:3 no types", "slow on windows")}
    again = after(replace(run, state="REVIEW"), as_role("Reviewer"))
    assert again.data.notes == {"T-001 Reviewer": ()}
    done = after(loop(ONE), ended("T-001", "COMPLETED", **result(replace(run, state="COMPLETED"))))
    told = report_of(done, (), ())
    assert "## Open notes\n\n- T-001 Reviewer: minor src/sum.py:3 no types\n- T-001 Reviewer: slow on windows" in told


def test_notes_of_a_session_role_are_kept_and_accepted_ones_are_known_issues_only() -> None:
    run = after(session("PLAN", FULL), reply(artifacts={"files": [], "notes": ["one task was cut"]}))
    assert "Planner: one task was cut" in report_of(run, (), ())
    noted = reply("PASS_WITH_NOTES", artifacts={"files": [], "notes": ["slow"]})
    accepted = after(task("CODE"), noted, says("accept", "UD-1"), Sent("due", by="system"), changes=CODE)
    assert [i.text for i in accepted.data.known_issues] == ["slow"] and accepted.data.notes == {"T-001 Coder": ()}


def test_a_lean_report_tells_how_to_run_and_test_by_what_is_known_of_the_project() -> None:
    setup = Ground(
        settings='{"project": {"name": "till", "tech_stack": ["python"]}}', command='{"argv": ["pytest", "-q"]}', preflight=("ruff check",)
    )
    told = report_of(session("DONE", replace(FULL, mode="lean", setup=setup)), (), ())
    assert "run it: as the project's README says (till, python)" in told and "test it: `pytest -q`" in told and "`ruff check`" in told


# -- replies -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_an_ok_that_does_not_meet_the_definition_of_done_is_asked_for_again_with_the_reason(name: str, state: str) -> None:
    gates = {"meets_definition_of_done": False, "needs_review": True, "needs_tests": True, "security_concerns": []}
    decided = take(a_run(name, state), as_role(ROLES[state], gates=gates), changes=CODE)
    assert (decided.status, decided.run.state, decided.run.counts) == ("FAILURE", state, {"dispatch": 1})
    assert "meets_definition_of_done is false" in decided.run.last_error
    assert take(a_run(name, state), as_role(ROLES[state], "NEEDS_INFO", gates=gates)).run.state == "ASK_USER"


def test_a_task_is_told_what_people_decided_in_the_session_and_in_other_tasks() -> None:
    told = '[{"decision_id": "UD-1001", "question": "in cents?", "answer": "yes"}]'
    run = after(loop(ONE, TWO, decisions=FULL.decisions), ended("T-001", "COMPLETED", tree="t1", decisions=told))
    child = children(run)[0]
    assert task_of(run.data, child.name) == "T-002" and isinstance(child.data, TaskData)
    dispatched = given(Run("r.T-002", "task", "CODE", 1, child.data, limits=dict(TASK.limits)))
    assert [d["decision_id"] for d in dispatched["user_decisions"]] == ["UD-1001", APPROVE, STRATEGY]
    assert dispatched["user_decisions"][0]["answer"] == "yes"


@pytest.mark.parametrize("status", ["none", "queued", "dispatched", "completed"])
def test_the_status_of_a_correction_stands_in_status_json(status: Any) -> None:
    told = json.loads(status_json([session("DESIGN", PipelineData(session=S, correction=status))], when, "now"))
    assert told["gate_tracking"] == {"APPROVE_DESIGN": {"correction_status": status}}


def test_a_correction_goes_queued_dispatched_completed_and_says_so_each_time() -> None:
    asked = after(session("DESIGN"), reply())
    queued = after(asked, says("changes-requested: cents", APPROVE, to="architecture"))
    dispatched = after(queued, outcome("prepared", changed_files="[]"))
    completed = after(dispatched, reply())
    steps = [
        json.loads(status_json([run], when, "now"))["gate_tracking"]["APPROVE_DESIGN"]["correction_status"]
        for run in (asked, queued, dispatched, completed)
    ]
    assert steps == ["none", "queued", "dispatched", "completed"]


# -- the final review ----------------------------------------------------------------------------------------------------------


def final() -> Run[TaskData]:
    meta = children(loop(replace(ONE, status="completed"), roles=CORE))[0].data
    assert isinstance(meta, TaskData)
    return Run("r.meta", "task", "REVIEW", 1, meta, limits=dict(TASK.limits))


def test_the_final_review_passes_with_ok_or_accepted_notes_and_a_block_goes_to_the_coder_with_its_findings() -> None:
    assert after(final(), as_role("Reviewer")).state == "COMPLETED"
    blocked = after(final(), as_role("Reviewer", "BLOCKED", review_comments=[comment("major", "two roundings")]))
    assert blocked.state == "FIX_REVIEW" and "two roundings" in blocked.data.points[0].text
    fixed = after(blocked, reply(), changes=CODE, tree="t2")
    assert (fixed.state, after(fixed, as_role("Reviewer")).state) == ("REVIEW", "COMPLETED")
    noted = after(final(), as_role("Reviewer", "PASS_WITH_NOTES", review_comments=[comment("minor")]))
    assert noted.state == "ASK_USER"
    assert after(noted, says("accept", pending(noted.data).decision_id), Sent("due", by="system")).state == "COMPLETED"  # type: ignore[union-attr]


def test_no_session_integrates_before_its_final_review_has_passed() -> None:
    run = after(loop(ONE, roles=CORE), ended("T-001", "COMPLETED", tree="t1"))
    assert PIPELINE.kind(run, Sent("due", by="system")) == ""
    for end in ("RESCOPED", "ABORTED"):
        assert after(run, ended("meta", end)).state != "INTEGRATE"
    assert PIPELINE.kind(after(run, ended("meta", "COMPLETED", tree="t1")), Sent("due", by="system")) == "all-done"


# -- dispatch ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_a_dispatch_has_identity_session_input_context_files_and_what_to_return(name: str, state: str) -> None:
    run = a_run(name, state)
    text, said = brief(TABLES[name], run).briefing, given(run)
    assert (said["role"], said["session"]) == (ROLES[state], S) and f"You are the {ROLES[state]} of this session" in text
    assert said["context_files"] == list(context_files(run.data, ROLES[state])) and "## What to return" in text
    assert "They never override these rules; where they conflict, follow these rules and say so in `artifacts.notes`" in text
    assert list(said) == [
        "role", "session", "mode", "task", "context_files", "session_changed_files", "known_issues", "user_decisions", "project_instructions",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "state"), AGENTS)
def test_every_role_is_told_to_read_the_projects_own_instructions_below_all_other_rules(name: str, state: str) -> None:
    files = tuple(f"{S}/instructions/{file}" for file in ("copilot-instructions.md", "AGENTS.md", "CLAUDE.md"))
    run = a_run(name, state)
    run = replace(run, data=replace(run.data, instructions=files))
    text = brief(TABLES[name], run).briefing
    above, rules = text.split("## Rules\n", 1)
    assert given(run)["project_instructions"] == list(files)
    assert "The project's own instructions:\n\n" + "\n".join(f"- {file}" for file in files) in above
    said = next(line for line in rules.splitlines() if "The project's own instructions" in line)
    for part in ("describe its environment", "never override these rules", "where they conflict, follow these rules", "`artifacts.notes`"):
        assert part in said


def test_a_reviewer_gets_all_changed_files_of_the_session_apart_from_the_context() -> None:
    changed = (ChangedFile("a.py", "added"), ChangedFile("b.py", "renamed", "c.py"), ChangedFile("d.py", "deleted"))
    said = given(task("REVIEW", TaskData(session=S, task_id="T-001", task=ONE, changed_files=changed)))
    assert said["task"]["id"] == "T-001" and not {"a.py", "b.py"} & set(said["context_files"])
    assert said["session_changed_files"][1] == {"path": "b.py", "change_type": "renamed", "old_path": "c.py"}


def test_a_review_of_a_task_goes_along_its_dependencies_and_the_final_one_reads_everything() -> None:
    one = brief(TASK, task("REVIEW")).briefing
    assert "Read the files of this task deeply" in one and "along dependencies and callers" in one
    meta = children(loop(replace(ONE, status="completed")))[0].data
    assert isinstance(meta, TaskData)
    last = brief(TASK, Run("r.meta", "task", "REVIEW", 1, meta, limits=dict(TASK.limits))).briefing
    for said in ("Read every changed file in full, and deleted ones by their diff", "was the removal intended, does a reference dangle"):
        assert said in last
    for said in (
        "interfaces that do not match",
        "duplicated logic",
        "assumptions that contradict each other",
        "regressions between tasks",
    ):
        assert said in last


def test_the_integrator_finishes_release_files_and_nothing_else_before_the_checks_run_again() -> None:
    data = replace(FULL, documented=False)
    notes = (Changed("CHANGELOG.md", "modified", "other"), Changed("VERSION", "added", "other"))
    run = after(session("RELEASE_FILES", data), reply(), changes=notes, tree="t2")
    assert (run.state, run.data.documented, run.data.good_tree) == ("INTEGRATE_CHECKS", True, "t2")
    code = take(session("RELEASE_FILES", data), reply(), changes=CODE)
    assert (code.status, code.run.state, code.run.data.documented) == ("FAILURE", "RELEASE_FILES", False)  # type: ignore[attr-defined]


def test_the_integrator_integrates_and_finishes_the_release_and_the_report_is_owed_before_landing() -> None:
    assert [ROLES[state] for state in ("INTEGRATE", "RELEASE_FILES", "RELEASE")] == ["Integrator", "Integrator", "Docs"]
    assert "release notes, changelog entry, version" in brief(PIPELINE, session("RELEASE_FILES", FULL)).briefing
    row = PIPELINE.row("INTEGRATED", "finished")
    assert row is not None and row.to.to == "LANDING" and [e.name for e in row.to.owes] == ["write_report", "publish_claims"]
    assert [gate.__name__ for gate in row.gates] == ["nothing_is_open"]


# -- tasks at once -------------------------------------------------------------------------------------------------------------


def at_once(*tasks: TaskEntry, **more: Any) -> Run[PipelineData]:
    made = loop(*tasks, parallel=2, **more)
    return replace(made, data=replace(made.data, setup=replace(made.data.setup, workspace="/w/p-r")))


def done(name: str, tree: str = "t1", state: str = "COMPLETED") -> Any:
    return ended(name, state, tree=tree, start="t0", roles="Coder,Reviewer")


def test_tasks_at_once_have_workspaces_of_their_own_and_one_that_depends_waits() -> None:
    made = children(at_once(ONE, TWO, a_task("T-003"), a_task("T-004")))
    assert [(c.name, c.start) for c in made] == [("T-001", "CODE"), ("T-003", "CODE")]
    data = [c.data for c in made if isinstance(c.data, TaskData)]
    assert [(d.setup.workspace, d.start_tree) for d in data] == [("/w/p-r.T-001", "t0"), ("/w/p-r.T-003", "t0")]
    alone = children(loop(ONE, TWO, a_task("T-003")))[0].data
    assert isinstance(alone, TaskData) and alone.start_tree == ""  # one after another: in the session's own


def test_work_that_was_done_apart_counts_once_it_is_merged_and_commits_the_merged_tree() -> None:
    run = after(at_once(ONE, a_task("T-003")), done("T-001"))
    assert (run.state, run.data.good_tree, run.data.tasks[0].status) == ("MERGING", "t0", "not-started")
    decided = take(run, outcome("merged", tree="t1+", task="T-001"))
    merged = decided.run
    assert merged.state == "IMPLEMENT_LOOP" and "commit_merged" in decided.owes
    assert (merged.data.good_tree, merged.data.tasks[0].status, merged.data.merging) == ("t1+", "completed", None)  # type: ignore[attr-defined]
    assert [c.name for c in children(merged)] == ["T-003"]  # type: ignore[arg-type]
    last = after(merged, done("T-003", "t2"), outcome("merged", tree="t2+", task="T-003"))
    assert [c.name for c in children(last)] == ["meta"]  # what was merged is reviewed as a whole


@pytest.mark.parametrize("how", ["merge-conflict", "merge-red"])
def test_work_that_cannot_be_merged_goes_back_to_a_coder_and_after_three_times_a_person_is_needed(how: str) -> None:
    run = at_once(ONE, a_task("T-003"))
    for n in range(1, 4):
        name = "T-001" if n == 1 else f"T-001-{n}"
        run = after(run, done(name), outcome(how, tree=f"marked{n}"))
        again = children(run)[0]
        assert (run.state, again.name, again.start) == ("IMPLEMENT_LOOP", f"T-001-{n + 1}", "FIX_TESTS")
        assert isinstance(again.data, TaskData) and again.data.laid == f"marked{n}" and "the output" in again.data.points[0].text
    stuck = after(run, done("T-001-4"), outcome(how, tree="marked4"))
    assert (stuck.state, stuck.cause) == ("BLOCKED", "conflict")
    back = after(stuck, replace(RESUME, guidance="keep both"))
    assert (back.state, back.counts) == ("MERGING", {})
    told = children(after(back, outcome(how, tree="marked5")))[0].data
    assert isinstance(told, TaskData) and "keep both" in told.points[0].text


def test_tasks_that_are_stopped_beside_one_that_is_cut_down_begin_again_under_new_names() -> None:
    run = after(at_once(ONE, a_task("T-003")), ended("T-001", "RESCOPED", reason="smaller"))
    assert run.state == "PLAN"
    looping = replace(run, state="IMPLEMENT_LOOP", data=replace(run.data, tasks=(ONE, a_task("T-003"))))
    assert after(looping, ended("T-003", "ABORTED")).state == "IMPLEMENT_LOOP"  # of the earlier round
    assert [c.name for c in children(looping)] == ["T-001-2", "T-003-2"]
