"""Whole sessions on a real repository, with a scripted team: from a request to a branch in main, through every gate."""

import json
from pathlib import Path

import pytest
import yaml

from tests.driven import scripted, workspaces
from tests.project import Project
from tests.sessions import DESIGN, REQUEST, SPEC, TEAM, S, plays, reply, session, till

FIELDS = [
    "current_state", "session", "mode", "assumptions", "known_issues", "user_decisions", "gate_tracking", "runtime_flags", "retry_counts",
    "session_changed_files", "last_ci_result", "last_update",
]  # fmt: skip
DECISION = [
    "decision_id", "question", "options", "status", "answer", "asked_at", "resolved_at", "state_context", "task_id", "resolution_reason"
]  # fmt: skip
ROLES = ("SpecAgent", "Architect", "Planner", "Coder", "Reviewer", "QA", "Security", "Integrator", "Docs")


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


def status(p: Project) -> dict[str, object]:
    value = json.loads((p.root / S / "status.json").read_text())
    assert isinstance(value, dict)
    return value


@pytest.mark.slow
def test_a_full_session_waits_for_people_and_leads_from_a_request_to_main(p: Project) -> None:
    start = ("run", REQUEST, "--workflow", "pipeline", "--agent", scripted(p, *TEAM), "--yes-to", "review-strategy=per-batch", "--json")
    ran = p.run(*start)
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (10, "APPROVE_DESIGN", "waiting"), ran
    asked = p.run("decisions", "--json").json["decisions"]
    assert [(d["decision_id"], d["status"]) for d in asked] == [("UD-APPROVE-DESIGN", "pending")]
    assert all(Path(file).is_file() for file in asked[0]["shown"]) and len(asked[0]["shown"]) == 3
    assert p.run("resume", "--json").code == 10  # asking again changes nothing
    assert p.run("answer", "UD-APPROVE-DESIGN", "approved").code == 0
    done = (ran := p.run("resume", "--json")).json
    assert ran.code == 0, ran
    assert (done["workflow"], done["state"], done["outcome"], done["error"]) == ("pipeline", "DONE", "done", None)
    assert [c["subject"] for c in done["commits"]] == ["T-001: add", "T-002: subtract", "release: documentation and release files"]
    assert [c["hash"] for c in done["commits"]] == p.git("log", "--reverse", "--format=%H", f"main^1..{done['branch']}").split()
    assert p.git("show", "main:calc.py").startswith("def add") and p.git("show", "main:README.md").startswith("# Till")
    assert p.git("status", "--porcelain") == "" and not workspaces(p)
    told = status(p)
    assert list(told["user_decisions"][0])[:10] == DECISION  # type: ignore[index]
    decided = {d["decision_id"]: (d["status"], d["answer"], d["channel"]) for d in told["user_decisions"]}  # type: ignore[attr-defined]
    assert decided["UD-APPROVE-DESIGN"] == ("answered", "approved", "no terminal")
    assert decided["UD-REVIEW-STRATEGY"] == ("answered", "per-batch", "policy")
    assert told["current_state"] == "DONE" and str(told["last_ci_result"]).startswith("green at ")
    assert {t["status"] for t in yaml.safe_load((p.root / S / "tasks.yaml").read_text())["tasks"]} == {"completed"}
    report = (p.root / S / "report.md").read_text()
    assert "| AC-001 | `cmd: pytest -q tests/test_add.py` | passed" in report and "test it: pytest" in report
    assert all(f"| {role} | " in report for role in ROLES)


@pytest.mark.slow
def test_a_lean_session_has_one_task_and_no_questions(p: Project) -> None:
    with session(p, lean=True) as s:
        done = s.go()
        assert (done["state"], done["outcome"]) == ("DONE", "done"), done
        assert s.turns() == [("INTAKE_LEAN", ""), ("CODE", "T-001"), ("REVIEW", "T-001"), ("QA", "T-001"), ("SECURITY", "T-001")]
        assert s.subjects() == ["T-001: add"]
    assert (p.root / S / "report.md").is_file()
    told = status(p)
    assert list(told) == FIELDS and (told["mode"], told["session"]) == ("lean", S)
    assert told["gate_tracking"] == {"APPROVE_DESIGN": {"correction_status": "none"}}
    assert told["retry_counts"]["T-001"] == {"FIX_REVIEW": 0, "FIX_TESTS": 0, "FIX_SECURITY": 0, "FIX_BUILD": 0}  # type: ignore[index]
    assert told["runtime_flags"]["copilot_instructions_exists"] is False  # type: ignore[index]
    assert [f["path"] for f in told["session_changed_files"]] == ["calc.py", "tests/test_add.py"]  # type: ignore[attr-defined]


def test_changes_that_are_requested_go_to_their_role_once_and_the_question_stands_again(p: Project) -> None:
    again = plays("DESIGN", again=False, write={f"{S}/architecture.md": "# Overview\ncents\n# Modules\ncalc\n# Risks\nrounding\n"})
    with session(p, {**DESIGN, "again": False}, again, *TEAM) as s:
        assert s.go()["state"] == "APPROVE_DESIGN"
        assert s.answer("UD-APPROVE-DESIGN", "looks good").status == "FAILURE"
        assert s.answer("UD-APPROVE-DESIGN", "changes-requested: use cents", to="architecture").status == "SUCCESS"
        assert s.run.data.correction == "queued"
        assert s.go()["state"] == "APPROVE_DESIGN"
        assert [state for state, _ in s.turns()] == ["INTAKE", "DESIGN", "DESIGN"]
        assert s.run.data.correction == "completed"
        lines = [json.loads(line) for line in (s.workspace / S / "approve-design-history.jsonl").read_text().splitlines()]
        assert [(line["answer"], line["to"]) for line in lines] == [("changes-requested: use cents", "architecture")]
        first = (s.workspace / S / "approve-design-history.jsonl").read_text()
        (s.workspace / S / "approve-design-history.jsonl").write_text("")
        assert s.answer("UD-APPROVE-DESIGN", "changes-requested: no floats", to="architecture").status == "SUCCESS"
        told = (s.workspace / S / "approve-design-history.jsonl").read_text()
        assert told.startswith(first) and [json.loads(line)["answer"] for line in told.splitlines()] == [
            "changes-requested: use cents", "changes-requested: no floats"
        ]  # fmt: skip
        assert "use cents" in next(
            seen.briefing.briefing for seen in s.seen if seen.kind == "turn" and seen.run.data.correction == "dispatched"
        )
        assert "rounding" in (p.root / S / "architecture.md").read_text()  # shown in the person's own checkout


@pytest.mark.slow
def test_an_approval_of_a_document_that_changed_meanwhile_is_void(p: Project) -> None:
    with session(p) as s:
        s.go()
        (s.workspace / S / "spec.md").write_text(SPEC + "\nand more\n")
        verdict = s.answer("UD-APPROVE-DESIGN", "approved")
        assert (verdict.status, s.run.state) == ("FAILURE", "APPROVE_DESIGN") and "spec.md changed" in verdict.reasons[0]
        assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"


@pytest.mark.slow
def test_what_a_role_writes_beyond_its_part_is_found_and_undone(p: Project) -> None:
    stray = plays("INTAKE", again=False, write={"calc.py": "STRAY = 1\n", "new.py": "STRAY = 2\n", f"{S}/spec.md": SPEC})
    with session(p, stray, *TEAM) as s:
        s.go()
        told = [seen.verdict for seen in s.seen if seen.verdict]
        assert (told[0].status, told[0].state) == ("FAILURE", "INTAKE") and "calc.py changed" in told[0].reasons[0]
        assert s.run.state == "APPROVE_DESIGN"
        assert (s.workspace / "calc.py").read_text() == "" and not (s.workspace / "new.py").exists()


@pytest.mark.slow
def test_a_document_with_faults_and_a_reply_that_cannot_be_read_are_retried_twice_and_then_a_person_is_needed(p: Project) -> None:
    bad = plays("INTAKE", again=False, write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": '{"acceptance_criteria": []}'})
    mute = plays("INTAKE", again=False, reply="I am done.")
    double = plays("INTAKE", again=False, reply=json.dumps(reply()).replace("{", '{"status": "OK", ', 1))
    with session(p, bad, mute, double, *TEAM) as s:
        done = s.go()
        assert (done["state"], done["outcome"], s.run.cause) == ("BLOCKED", "halted", "subagent_failure")
        assert "twice" in done["error"]
        assert "acceptance.json: acceptance_criteria: at least one" in next(v.verdict.reasons[0] for v in s.seen if v.verdict)
        assert s.app.door.submit(s.id, s.resume()).status == "SUCCESS"
        assert s.go()["state"] == "APPROVE_DESIGN"
