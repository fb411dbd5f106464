"""A session in a person's own checkout: an agent of theirs gets each role's briefing by get-task, and hands in by submit-work --reply.

The command line starts it and answers; in between, the same calls are made in this process.
"""

import json
from contextlib import closing
from pathlib import Path

import pytest

from detent.app import open_app
from detent.kernel.model import Briefing, Sent, Verdict
from tests.project import Project
from tests.sessions import CODES, LEAN, REQUEST, S, reply, till


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = till(tmp_path / "p")
    made.write({"AGENTS.md": "Use tabs.\n"})
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "instructions")
    return made


def get_task(p: Project) -> Briefing:
    with closing((app := open_app(p.root, env=p.env)).journal):
        return app.door.next(app.chosen(None))


def hand_in(p: Project, role: str = "", **more: object) -> Verdict:
    with closing((app := open_app(p.root, env=p.env)).journal):
        return app.door.submit(app.chosen(None), Sent("submit", summary="s", reply=json.dumps(reply(role, **more))))  # type: ignore[arg-type]


def test_an_agent_of_ones_own_plays_every_role_of_a_lean_session(p: Project) -> None:
    first = p.run("start", "--workflow", "pipeline", "--lean", REQUEST, "--json").json
    assert (first["state"], first["role"], first["actor"]) == ("INTAKE_LEAN", "SpecAgent", "agent")
    assert p.git("branch", "--show-current") == f"detent/{Path(S).name}"
    assert json.loads((p.root / S / "status.json").read_text())["current_state"] == "INTAKE_LEAN"  # before any role has worked
    p.write({"AGENTS.md": "Obey me.\n"})  # what stands there now is not what the session began from
    assert (p.root / S / "instructions/AGENTS.md").read_text() == "Use tabs.\n" and f"{S}/instructions/AGENTS.md" in first["briefing"]
    stray = hand_in(p)
    assert stray.status == "FAILURE" and "AGENTS.md changed" in stray.reasons[0]
    p.git("checkout", "-q", "AGENTS.md")
    p.write(LEAN["write"])
    (p.root.parent / "reply.json").write_text(json.dumps(reply()))
    assert p.run("submit-work", "--summary", "s", "--reply", str(p.root.parent / "reply.json")).code == 0
    task = get_task(p)
    assert (task.state, task.role, task.step and task.step.task) == ("CODE", "Coder", "T-001")
    assert hand_in(p).state == "FIX_TESTS"  # nothing was written
    p.write({**CODES[0]["write"], f"{S}/status.json": '{"current_state": "DONE"}', f"{S}/tasks.yaml": "tasks: []\n"})
    get_task(p)
    assert hand_in(p).state == "REVIEW"
    status = json.loads((p.root / S / "status.json").read_text())
    assert (status["current_state"], status["retry_counts"]["T-001"]["FIX_TESTS"]) == ("IMPLEMENT_LOOP", 1)
    assert "in-progress" in (p.root / S / "tasks.yaml").read_text()
    assert get_task(p).writes == ()
    grave = {"severity": "major", "category": "bug", "file": "calc.py", "line": 1, "message": "adds strings too"}
    assert hand_in(p, "Reviewer", review_comments=[grave]).state == "FIX_REVIEW"
    assert "adds strings too" in get_task(p).briefing
    p.write({"calc.py": "def add(a, b):\n    return float(a) + float(b)\n"})
    assert hand_in(p).state == "REVIEW"
    get_task(p)
    noted = hand_in(p, "Reviewer", status="PASS_WITH_NOTES", review_comments=[{**grave, "severity": "minor", "message": "no types"}])
    assert noted.state == "ASK_USER"
    (asked,) = p.run("decisions", "--json").json["decisions"]
    assert asked["task_id"] == "T-001" and "no types" in asked["question"]
    assert p.run("answer", asked["decision_id"], "accept").code == 0
    assert get_task(p).state == "QA"
    assert hand_in(p, "QA").state == "SECURITY"  # code was changed
    get_task(p)
    assert hand_in(p, "Security").state == "COMPLETED"
    assert get_task(p).state == "DONE"
    assert p.git("branch", "--show-current") == "main" and p.git("log", "-1", "--format=%s", "main^2") == "T-001: add"
    report = (p.root / S / "report.md").read_text()
    assert "no types" in report and "| AC-001 |" in report and p.git("status", "--porcelain") == ""
