"""Going back in a session: the documents go back with it, it can be approved and finished, and nothing runs in a circle."""

from pathlib import Path

import pytest

from detent.app.driver_lock import only_driver
from detent.app.questions import open_of_run
from detent.app.revising import revise
from detent.app.rolling_back import roll_back
from detent.app.run_driver import whole_driver
from detent.app.run_rows import costs_of
from detent.interfaces.cli.machine_moves import Moves
from detent.kernel.model import Sent
from tests.project import Project
from tests.sessions import ARCHITECTURE, YES, S, session, till


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


@pytest.mark.slow
def test_a_driven_session_that_goes_back_has_its_documents_and_can_be_approved(p: Project) -> None:
    with session(p) as s:
        assert s.go()["state"] == "APPROVE_DESIGN"
        at = s.run.seq
        assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"
        assert s.go()["state"] == "REVIEW_STRATEGY"
        old, s.id = s.id, roll_back(s.app, s.id, str(at), "terminal")
        assert s.run.state == "APPROVE_DESIGN" and s.app.worlds.runs.earlier(s.id) == [(old, at)]
        assert set(costs_of(s.app, s.id)) >= {"SpecAgent", "Architect", "Planner"}, "what was spent stays spent"
        assert "prices are added" in (s.workspace / S / "spec.md").read_text()
        assert s.go()["state"] == "APPROVE_DESIGN"
        assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"
        assert s.go()["state"] == "REVIEW_STRATEGY"
        changed = {f"{S}/spec.md": (s.workspace / S / "spec.md").read_text().replace("prices are added", "prices are added up")}
        assert revise(s.app, s.id, "terminal", changed).status == "SUCCESS" and s.run.state == "APPROVE_DESIGN"
        shown = str(open_of_run(s.app, s.id)[0]["text"])
        assert "What changed since you were last asked" in shown and "+prices are added up" in shown, shown


@pytest.mark.slow
def test_a_session_that_goes_back_to_between_two_tasks_keeps_the_first_and_ends_in_main(p: Project) -> None:
    with session(p, policies=YES) as s:
        assert s.go()["state"] == "DONE"
        events = list(s.app.worlds.runs.history(s.id))
        first = next(e.run.seq for e in events if e.on == "task-completed")
        old = s.id
        s.id = roll_back(s.app, old, str(first), "terminal")
        assert s.subjects() == ["T-001: add"]
        assert [t.status for t in s.run.data.tasks] == ["completed", "not-started"]
        assert (s.workspace / S / "tasks.yaml").is_file() and not (s.workspace / S / "report.md").exists()
        s.project.git("reset", "-q", "--hard", "main~1")
        assert s.go()["state"] == "DONE"
        report = (p.root / S / "report.md").read_text()
        moves = Moves(s.app)
        moves.reported.clear()
        named = {line.split()[1] for _, line in moves.since(s.id) if line.startswith("IMPLEMENT_LOOP   T-")}
        assert named == {"T-002"}, "a task has its own name in the live view, however often it was begun"
        assert f"went back: from event {first} of {old}" in report and "| SpecAgent | 1 |" in report, report
        assert [t for t in s.turns() if t[0] == "CODE"] == [("CODE", "T-001"), ("CODE", "T-002"), ("CODE", "T-002")]


def test_a_policy_that_is_not_taken_is_said_once_and_left_to_a_person(p: Project) -> None:
    with session(p) as s:
        s.go()
        (s.workspace / S / "architecture.md").write_text("nothing\n")
        said = [Sent("answer", by="human", channel="policy", decision="UD-APPROVE-DESIGN", value="approved")] * 9
        with only_driver(s.app, s.id), whole_driver(s.app, s.id, s.seen.append) as made:
            made.answers = lambda run: said.pop()
            made.drive(s.id)
        assert len(said) == 8 and s.run.state == "APPROVE_DESIGN"


@pytest.mark.slow
def test_an_approval_that_fails_again_and_again_ends_in_a_block_that_says_why(p: Project) -> None:
    with session(p) as s:
        s.go()
        (s.workspace / S / "architecture.md").write_text("nothing\n")
        statuses = [s.answer("UD-APPROVE-DESIGN", "approved").status for _ in range(6)]
        assert statuses == ["FAILURE"] * 5 + ["HALTED"]
        assert (s.run.state, s.run.cause) == ("BLOCKED", "design_unsound") and "architecture.md" in s.run.last_error
        (s.workspace / S / "architecture.md").write_text(ARCHITECTURE)
        assert s.app.door.submit(s.id, s.resume()).status == "SUCCESS"
        assert [s.answer("UD-APPROVE-DESIGN", "approved").status for _ in range(2)] == ["FAILURE", "SUCCESS"]
