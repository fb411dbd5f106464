"""A session as the person who leads it reads it in a terminal: what comes next, what happened, and where the result is. Never what only an agent does."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from detent.app import push
from detent.app.driver_lock import driver_of, only_driver
from detent.app.next_step import after_a_word
from detent.app.questions import waiting
from detent.app.tally import UsageTally
from detent.interfaces.http import speaking
from detent.interfaces.http.inbox import open_questions, show_decision
from detent.interfaces.http.runs_board import RunsBoard, stamp_of
from detent.kernel.model import Briefing, Verdict
from tests.driven import scripted
from tests.patience import until
from tests.project import Project
from tests.sessions import ADD, REQUEST, TEAM, S, plays, reply, session, till

ASKS = plays("CODE", again=False, step=ADD, reply=reply("Coder", "NEEDS_DECISION", summary="in cents?"))
BLOCKS = plays(
    "REVIEW",
    again=False,
    step=ADD,
    reply=reply(
        "Reviewer",
        "BLOCKED",
        review_comments=[{"severity": "major", "category": "bug", "file": "calc.py", "line": 1, "message": "no types"}],
    ),
)
FIXES = plays("FIX_REVIEW", step=ADD, write={"calc.py": "def add(a, b):\n    return a + b  # ints\n"})


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


@pytest.mark.slow
def test_a_person_is_told_what_a_person_does_at_every_step_of_a_session(p: Project) -> None:
    start = ("run", REQUEST, "--workflow", "pipeline", "--agent", scripted(p, ASKS, BLOCKS, FIXES, *TEAM), "--yes-to", "approve-design")
    p.run(*start)
    assert "Next: detent decisions shows what is asked now; answer with: detent answer UD-REVIEW-STRATEGY VALUE" in p.run("status").out
    p.run("answer", "UD-REVIEW-STRATEGY", "per-batch")
    told = p.run("status").out
    assert "Tasks: 0 of 2 done" in told and "T-002 subtract (open)" in told and "Next: detent resume\n" in told, told
    assert "The Coder of T-001 (add) asks: in cents?" in p.run("resume", "--json").out + p.run("decisions").out
    wrong = p.run("answer", "UD-1", "yes").out
    assert "the open question is UD-1001" in wrong and "detent answer UD-1001 VALUE" in wrong, wrong
    twice = [p.run("answer", "UD-1001", "yes"), p.run("answer", "UD-1001", "no")]
    assert twice[0].code == 0 and "REFUSED" in twice[1].out
    assert "No question is open: it is the agent's turn." in twice[1].out and twice[1].out.endswith("Next: detent resume\n")
    assert "submit-work" not in twice[1].out + p.run("status").out
    done = p.run("resume").out
    assert any("└" in line and "no types" in line for line in done.splitlines()), f"why a turn came to nothing stands below it: {done}"
    assert "It is merged into main. Look at it: git log -p detent/" in done and f"Report: {p.root}/{S}/report.md" in done, done
    assert "$0.00" not in done + p.run("status").out, "an agent that counts nothing is not one that costs nothing"
    history = p.run("history", "-n", "20").out
    assert "earlier events: detent history -n" in history.splitlines()[0] and "detent runs --all" in history
    assert "UD-REVIEW-STRATEGY: per-batch" in p.run("history", "-n", "100").out and "T-001" in p.run("history", "-n", "100").out


def test_where_somebody_drives_the_session_it_continues_by_itself(p: Project) -> None:
    with session(p) as s:
        s.go()
        assert "By role: SpecAgent 1 turn, " in p.run("status", "--run", s.id).out, "what each took, while it runs"
        assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"
        assert after_a_word(s.app, s.id) == "detent resume"
        with only_driver(s.app, s.id):
            assert after_a_word(s.app, s.id).startswith("It continues by itself (process ")


def test_what_is_said_while_a_driver_leaves_is_driven_on(p: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever answers then starts no other driver, since the lock is held still."""
    with session(p) as s:
        drive, said = push._driven, list[str]()

        def leaves(*args: Any) -> Briefing:
            briefing = drive(*args)
            if not said:
                said.append(s.run.state)
                assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"
            return briefing

        monkeypatch.setattr(push, "_driven", leaves)
        assert (push.push(s.app, s.id, s.seen.append)["state"], said) == ("REVIEW_STRATEGY", ["APPROVE_DESIGN"])


def test_what_is_said_while_a_driver_has_just_left_is_driven_on_too(p: Project) -> None:
    with session(p) as s:
        s.go()
        with ExitStack() as leaving:
            leaving.enter_context(only_driver(s.app, s.id))

            def say() -> Verdict:
                leaving.close()  # it saw no answer, and is gone before there is one
                return s.answer("UD-APPROVE-DESIGN", "approved")

            assert speaking._driven(s.app, s.id, say).status == "SUCCESS"
        until(lambda: s.run.state == "REVIEW_STRATEGY" and not driver_of(s.app, s.id))


def test_while_the_machine_lands_a_branch_nobody_is_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with session(till(tmp_path / "b", "[git]\nremote = ''\nmerge = 'branch'\n"), lean=True) as s:
        s.go()
        assert s.run.state == "LANDING"
        head = s.app.journal.heads(s.id)[0]
        with only_driver(s.app, s.id):  # it looks whether the branch can be merged
            assert open_questions(s.app, head) == [] and list(waiting(s.app, s.id)) == []
            assert RunsBoard(UsageTally()).group(s.app, stamp_of(s.app, head)) == "working"
        (row,) = open_questions(s.app, head)
        assert (row.kind, [each.id for each in waiting(s.app, s.id)]) == ("merge", [s.id])
        assert RunsBoard(UsageTally()).group(s.app, stamp_of(s.app, head)) == "waiting"
        text = show_decision(s.app, row.id).text
        assert f"git merge --no-ff {s.run.data.branch.removeprefix('refs/heads/')}" in text and "press Continue" in text, text


@pytest.mark.slow
def test_going_back_says_where_it_stands_and_not_what_the_agent_reads(p: Project) -> None:
    ran = p.run("run", REQUEST, "--workflow", "pipeline", "--agent", scripted(p, *TEAM), "--yes-to", "approve-design", "--json").json
    back = p.run("rollback", "5")
    lines = back.out.splitlines()
    assert lines[0] == f"Back at event 5 of {ran['run']}: APPROVE_DESIGN." and f"refs/detent/{ran['run']}/" in lines[-2], lines
    assert len(lines) == 4 and "What to return" not in back.out
