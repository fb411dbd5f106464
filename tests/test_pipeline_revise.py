"""Changes in the middle of a session: documents that a person edited, stages that they want done again, a plan that they send back."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.app.people import NOWHERE
from detent.app.revising import edited_documents, first_taken_over, looked_at, revise
from detent.gates.human import APPROVE, STRATEGY, pending
from detent.interfaces.http.shapes_revise import ReviseAsked
from detent.interfaces.http.speaking import papers_of, revision
from detent.kernel.model import Run, Sent
from detent.workflows.pipeline.gate_text import gate_text
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_revise import invalidated
from detent.workflows.pipeline.session_folder import keep_documents
from detent.workflows.pipeline.session_report import report_of
from tests.driven import scripted
from tests.project import Project
from tests.sessions import CRITERION, TEAM, YES, acceptance_text, plays, till
from tests.sessions import SPEC as TILL_SPEC
from tests.sessions import S as TILL
from tests.sessions import session as driven
from tests.test_pipeline_tables import (
    ACCEPTANCE,
    FILES,
    FULL,
    SPEC,
    TASKS,
    S,
    a_task,
    after,
    at_approval,
    at_strategy,
    reply,
    says,
    session,
    take,
)

replace = msgspec.structs.replace
LATER = SPEC.replace("sums", "sums in cents")


def edit(**named: str) -> Sent:
    """What a person wrote into documents, by the name without its ending."""
    ends = {"spec": "spec.md", "acceptance": "acceptance.json", "architecture": "architecture.md", "tasks": "tasks.yaml"}
    return Sent("revise", by="human", channel="terminal", documents={f"{S}/{ends.get(name, name)}": text for name, text in named.items()})


def again(to: str, text: str = "in cents") -> Sent:
    return Sent("revise", by="human", channel="terminal", to=to, note=text)


def looping(**more: Any) -> Run[PipelineData]:
    tasks = (a_task("T-001", status="completed"), a_task("T-002", "T-001"))
    return session("IMPLEMENT_LOOP", replace(FULL, tasks=tasks, **more))


@pytest.mark.parametrize("state", ["PLAN", "IMPLEMENT_LOOP", "MERGING", "INTEGRATE_CHECKS", "FIX_BUILD_CODE", "RELEASE", "LANDING"])
def test_an_edit_of_the_specification_after_approval_is_asked_about_again(state: str) -> None:
    run = after(replace(looping(), state=state), edit(spec=LATER + "# Assumptions\n- cents\n"))
    asked = pending(run.data)
    assert run.state == "APPROVE_DESIGN" and asked is not None and asked.decision_id == APPROVE
    assert "sums in cents" in asked.summary and run.data.assumptions == ("cents",)
    files = {**FILES, f"{S}/spec.md": LATER + "# Assumptions\n- cents\n"}
    planned = after(run, says("approved", APPROVE), files=files)
    assert planned.state == "PLAN" and [t.status for t in planned.data.tasks] == ["completed", "not-started"]


def test_an_edit_of_acceptance_alone_keeps_the_plan_and_runs_the_checks_again() -> None:
    better = ACCEPTANCE.replace("pytest -q", "pytest -q tests/test_sum.py")
    run = after(session("ASK_USER", FULL, back="FIX_BUILD_CODE"), edit(acceptance=better))
    assert run.state == "APPROVE_DESIGN" and run.data.criteria[0].verify == ("cmd: pytest -q tests/test_sum.py",)
    on = after(run, says("approved", APPROVE), files={**FILES, f"{S}/acceptance.json": better})
    assert (on.state, on.data.checked_tree) == ("IMPLEMENT_LOOP", "")
    assert after(on, Sent("due", by="system")).state == "INTEGRATE_CHECKS"


def test_an_edit_before_approval_is_taken_over_and_told_to_the_role_at_work() -> None:
    run = after(session("DESIGN", PipelineData(session=S, roles=("SpecAgent",))), edit(spec=LATER))
    assert run.state == "DESIGN" and "A person changed spec.md" in run.steers[0]
    shown = after(at_approval(), edit(spec=LATER))
    assert shown.state == "APPROVE_DESIGN" and "sums in cents" in pending(shown.data).summary  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("run", "sent", "why"),
    [
        (looping(), edit(spec="# Goals\nsums\n"), "spec.md: needs a heading"),
        (looping(), edit(acceptance=ACCEPTANCE.replace("pytest -q", "true")), "proves nothing"),
        (looping(), edit(tasks="tasks: []"), "tasks.yaml"),
        (looping(), edit(**{"status.json": "{}"}), "is written by the machine"),
        (session("INTAKE"), edit(spec=LATER), "SpecAgent is writing spec.md now"),
        (at_approval(), edit(tasks=TASKS), "tasks.yaml is not planned yet"),
        (session("INTAKE"), again("plan"), "the design is not approved yet"),
        (session("INTAKE"), again("architecture"), "no specification yet"),
    ],
)
def test_what_does_not_fit_is_refused_aloud_and_changes_nothing(run: Run[PipelineData], sent: Sent, why: str) -> None:
    told = take(run, sent)
    assert told.status == "REFUSED" and why in "\n".join(told.reasons)
    assert (told.run.state, told.run.data, told.run.counts) == (run.state, run.data, run.counts)


def test_edited_tasks_are_decided_on_again_and_what_is_unchanged_stays_done() -> None:
    first, second = replace(FULL.tasks[0], status="not-started"), a_task("T-002", "T-001")
    text = msgspec.yaml.encode(
        {"project": {"name": "till", "definition_of_done": ["x"]}, "tasks": [first, second, a_task("T-003")]}
    ).decode()
    run = after(looping(), edit(tasks=text))
    assert run.state == "REVIEW_STRATEGY" and [(t.id, t.status) for t in run.data.tasks] == [
        ("T-001", "completed"), ("T-002", "not-started"), ("T-003", "not-started"),
    ]  # fmt: skip
    assert run.data.ended["T-002"] == 1  # whoever worked on it is stopped; the next one has a name of its own
    changed = after(looping(), edit(tasks=text.replace("goal of T-001", "another goal")))
    assert changed.data.tasks[0].status == "not-started"


@pytest.mark.parametrize(
    ("to", "state"),
    [("spec", "INTAKE"), ("acceptance", "FIX_ACCEPTANCE"), ("research", "DESIGN_RESEARCH"), ("architecture", "DESIGN"), ("design", "DESIGN_UI"), ("plan", "PLAN")],
)  # fmt: skip
def test_a_stage_is_done_again_from_anywhere_with_the_words_in_its_briefing(to: str, state: str) -> None:
    from detent.app.registry import brief_of
    from detent.workflows.pipeline.pipeline_table import PIPELINE

    for at in ("REVIEW_STRATEGY", "IMPLEMENT_LOOP", "BLOCKED", "RELEASE"):
        run = after(replace(looping(), state=at, back="IMPLEMENT_LOOP"), again(to))
        assert run.state == state and "in cents" in brief_of(PIPELINE, run).briefing


def test_a_done_task_that_is_planned_no_more_is_named_where_the_plan_is_decided_and_in_the_report() -> None:
    text = msgspec.yaml.encode(
        {"project": {"name": "till", "definition_of_done": ["x"]}, "tasks": [a_task("T-001"), a_task("T-002", "T-001")]}
    ).decode()
    run = after(looping(), edit(tasks=text.replace("goal of T-001", "another goal")))
    assert run.data.left_out == ("T-001 title of T-001",)
    shown = gate_text(run, pending(run.data))  # type: ignore[arg-type]
    assert "### Done before, and not in this plan\n\n- T-001 title of T-001\n\nWhat was done for it stays in the branch" in shown
    assert "- T-001 title of T-001 [done, then removed from the plan" in report_of(run, (), ())
    back = after(
        run, edit(tasks=msgspec.yaml.encode({"project": {"name": "till", "definition_of_done": ["x"]}, "tasks": list(FULL.tasks)}).decode())
    )
    assert back.data.left_out == ("T-001 title of T-001",)  # it is worked on again, and until then the branch has what is not planned


def test_only_work_that_somebody_does_is_said_to_stop_and_an_approval_that_was_never_given_is_not_void() -> None:
    spec = edit(spec=SPEC + "\nmore\n")
    assert not any("stops" in line for line in invalidated(looping(), spec))
    begun = replace(spec, facts={"at_work": "T-002"})
    assert any(line.startswith("work on T-002 stops") for line in invalidated(looping(), begun))
    assert invalidated(at_approval(), spec) == (
        "nothing is invalidated: the design is not approved yet, and the question about it shows your change",
    )


def test_a_plan_is_sent_back_where_its_review_is_decided() -> None:
    run = after(at_strategy(), says("changes-requested: one task for each module", STRATEGY))
    assert run.state == "PLAN" and "one task for each module" in run.guidance
    assert after(run, reply()).state == "REVIEW_STRATEGY"


def test_a_wrong_acceptance_command_is_corrected_by_an_answer_and_the_work_continues() -> None:
    stuck = session("INTEGRATE_CHECKS", replace(FULL, checked_tree=""), counts={"FIX_BUILD": 3})
    run = after(stuck, Sent("outcome", by="system", outcome="red", output="no such file", facts={"tree": "t1"}))
    asked = pending(run.data)
    assert run.state == "ASK_USER" and asked is not None and "change-acceptance" in asked.options
    run = after(run, says("change-acceptance", asked.decision_id, note="the file is test_sum.py"))
    assert (
        run.state == "FIX_ACCEPTANCE"
        and "the file is test_sum.py" in run.data.correction_note
        and "no such file" in run.data.correction_note
    )
    run = after(run, reply())
    assert run.state == "APPROVE_DESIGN", run.last_error
    assert after(run, says("approved", APPROVE)).state == "IMPLEMENT_LOOP"


# -- on a real repository ------------------------------------------------------------------------------------------------------


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


@pytest.mark.slow
def test_an_edit_of_the_file_that_is_shown_counts_and_is_asked_about_again(p: Project) -> None:
    assert p.run("run", "a till", "--workflow", "pipeline", "--agent", scripted(p, *TEAM), "--json").code == 10
    shown = p.run("decisions", "--json").json["decisions"][0]["shown"]
    spec = Path(next(path for path in shown if path.endswith("spec.md")))
    spec.write_text(TILL_SPEC.replace("prices are added", "prices are added in cents"))
    assert "You changed spec.md" in p.run("decisions").out
    seen = p.run("revise", "--show", "--json").json
    assert "+prices are added in cents" in seen["diff"] and seen["void"], seen
    assert all(line in " ".join(p.run("revise", "--show").out.split()) for line in seen["void"])
    first = p.run("answer", "UD-APPROVE-DESIGN", "approved")
    assert (
        first.code == 1
        and first.out.startswith("STALE  APPROVE_DESIGN")
        and "you changed spec.md" in first.out
        and "+prices are added in cents" in first.out
    ), first
    assert "in cents" in p.run("decisions").out
    done = p.run("answer", "UD-APPROVE-DESIGN", "approved")
    assert done.code == 0 and "detent resume" in done.out, done
    spec.write_text("nothing\n")
    refused = p.run("revise")
    assert refused.code == 1 and "needs a heading" in refused.out
    assert spec.read_text() == "nothing\n"
    again = p.run("revise", "--to", "architecture", "one file", "--json")
    assert (again.code, again.json["state"]) == (0, "DESIGN"), again
    assert "the stages are" in p.run("revise", "--to", "nowhere").err


@pytest.mark.slow
def test_an_edit_while_tasks_are_worked_on_is_neither_lost_nor_taken_in_silence(p: Project) -> None:
    asks = plays("CODE", again=False, step="take discounts off", reply={"status": "NEEDS_INFO", "summary": "?", "artifacts": {"files": [], "notes": []},
        "gates": {"meets_definition_of_done": False, "needs_review": False, "needs_tests": False, "security_concerns": []}})  # fmt: skip
    with driven(p, asks, *TEAM, policies=YES) as s:
        s.go()
        assert s.acting.state == "ASK_USER"
        home = p.root / TILL / "acceptance.json"
        was, better = home.read_text(), acceptance_text({**CRITERION, "verify": ["cmd: pytest -q tests/test_add.py tests"]})
        home.write_text(better)
        seen = looked_at(s.app, s.id, edited_documents(s.app, s.id))
        world = s.app.worlds.of(s.run)
        (s.workspace / TILL / "acceptance.json").write_text(better)
        keep_documents(world, s.run)
        assert edited_documents(s.app, s.id) == {}, "what counts already is no edit, though it was not shown in the checkout yet"
        (s.workspace / TILL / "acceptance.json").write_text(was)
        keep_documents(world, s.run)
        assert "+" in seen.diff and any("asked again" in line for line in seen.void) and any("T-002" in line for line in seen.void)
        page = papers_of(s.app, s.id)
        assert {paper.name for paper in page.papers} == {"spec.md", "acceptance.json", "architecture.md", "tasks.yaml"}
        assert next(paper.edited for paper in page.papers if paper.name == "acceptance.json") == better
        told = revision(s.app, s.id, ReviseAsked(documents={"acceptance.json": better}))
        assert (told.diff, told.void) == (seen.diff, seen.void)
        assert first_taken_over(s.app, s.acting.id, NOWHERE, "UD-2001") is not None
        assert s.run.state == "APPROVE_DESIGN" and (s.workspace / TILL / "acceptance.json").read_text() == better
        assert s.go()["state"] == "ASK_USER"  # the Coder who takes the task up again asks as well
        assert s.answer(pending(s.acting.data).decision_id, "yes").status == "SUCCESS"  # type: ignore[union-attr]
        assert s.go()["state"] == "DONE", s.run.last_error
        assert s.run.data.criteria[0].verify == ("cmd: pytest -q tests/test_add.py tests",)
        assert s.subjects()[:2] == ["T-001: add", "T-002: subtract"]
        assert [t for t in s.turns() if t[0] == "PLAN"] == [("PLAN", "")]


@pytest.mark.slow
def test_a_stage_that_is_done_again_gets_its_former_document_and_drops_what_was_half_done(p: Project) -> None:
    dirty = plays("CODE", again=False, step="add prices", write={"calc.py": "half = 1\n"}, reply="no reply")
    with driven(p, dirty, dirty, dirty, *TEAM, policies=YES) as s:
        s.go()
        assert s.acting.state == "BLOCKED" and (s.workspace / "calc.py").read_text() == "half = 1\n"
        assert revise(s.app, s.id, NOWHERE, {}, "architecture", "one file").status == "SUCCESS"
        assert (s.workspace / "calc.py").read_text() == "" and s.run.state == "DESIGN"
        assert f"{TILL}/architecture.md" in s.app.door.next(s.id).briefing
        assert s.go()["state"] == "BLOCKED" and s.acting.id.endswith("T-001-2")  # another Coder, who does no better
        assert s.app.door.submit(s.id, s.resume()).status == "SUCCESS"
        assert s.go()["state"] == "DONE", s.run.last_error
