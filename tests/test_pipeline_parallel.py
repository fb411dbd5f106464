"""Tasks of a session that are at work at once: each in a workspace of its own, merged one by one, each tested on the merged tree."""

import json
import os
import signal
from pathlib import Path

import pytest

from detent.app.tally import UsageTally
from detent.interfaces.http.inbox import questions
from detent.interfaces.http.runs_board import RunsBoard
from detent.interfaces.http.shapes import DecisionsAsked
from detent.kernel.model import Sent
from tests.driven import lines_until, running, scripted, workspaces
from tests.project import Project
from tests.proofs import NOTES, Clone
from tests.sessions import REQUEST, TEAM, YES, Json, S, plays, reply, session, task, tasks_text, till

MEETS = "touch {here}/{me}; for n in $(seq 400); do [ -e {here}/{other} ] && touch {here}/{me}-met && exit 0; sleep 0.1; done; exit 1"
BOTH = "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a + a\n"
TEST_DOUBLE = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
TEST_ADD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
TEST_LAST = "from calc import add, double\n\n\ndef test_last():\n    assert add(double(1), 1) == 3\n"
ADDS = {"calc.py": BOTH.partition("\n\n\n")[0] + "\n", "tests/test_add.py": TEST_ADD}
ONE_REVIEW = {**YES, "review-strategy": "single-final"}
PICKY = "from pathlib import Path\n\n\ndef test_names():\n    assert all('NAME' in f.read_text() for f in Path('.').glob('part_*.py'))\n"
pytestmark = pytest.mark.timeout(600)  # whole sessions, also on a busy machine


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = till(tmp_path / "p", "[git]\nremote = ''\n[sandbox]\nlevel = 'none'\n")
    (tmp_path / "shared").mkdir()
    return made


def shared(p: Project) -> Path:
    return p.root.parent / "shared"


def one(id: str, goal: str, *needs: str) -> Json:
    return task(id, goal, goal, "pytest -q", *needs)


def planned(*tasks: Json) -> Json:
    return plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(*tasks)})


def codes(goal: str, files: dict[str, str], state: str = "CODE", run: str = "") -> Json:
    call = [{"tool": "Bash", "arguments": {"command": run}}] if run else []
    return plays(state, step=goal, call=call, write=files)


def meets(p: Project, me: str, other: str) -> str:
    """A command that ends once the other task is at work too."""
    return MEETS.format(here=shared(p), me=me, other=other)


def team(p: Project, *entries: Json) -> tuple[Json, ...]:
    return (*entries, *(e for e in TEAM if e["state"] not in ("PLAN", "CODE")))


def two_that_conflict(p: Project, *more: Json) -> tuple[Json, ...]:
    """Two tasks that write the same file."""
    (both := shared(p) / "both").write_text(BOTH)
    return team(
        p,
        planned(one("T-001", "adds"), one("T-002", "doubles"), *more),
        codes("adds", ADDS, run=meets(p, "T-001", "T-002")),
        codes("doubles", {"calc.py": BOTH.partition("\n\n\n")[2], "tests/test_double.py": TEST_DOUBLE}, run=meets(p, "T-002", "T-001")),
        *(codes(goal, {}, "FIX_TESTS", f"cp calc.py {shared(p)}/marked; cp {both} calc.py") for goal in ("adds", "doubles")),
        codes("both", {"tests/test_last.py": TEST_LAST}),
    )


def three(p: Project) -> tuple[Json, ...]:
    """The same, and a task that needs both."""
    return two_that_conflict(p, one("T-003", "both", "T-001", "T-002"))


@pytest.mark.slow
def test_tasks_at_once_are_merged_one_by_one_and_a_conflict_goes_back_to_its_coder(p: Project) -> None:
    with session(p, *two_that_conflict(p), policies=ONE_REVIEW, parallel=2) as s:
        done = s.go()
        assert (done["state"], done["outcome"]) == ("DONE", "done"), done
        assert (shared(p) / "T-001-met").exists() and (shared(p) / "T-002-met").exists()  # each was at work while the other was
        assert sorted(s.subjects()[:2]) == ["T-001: adds", "T-002: doubles"]
        marked = (shared(p) / "marked").read_text()
        assert "<<<<<<<" in marked and "def add" in marked and "def double" in marked
        again = next(t.briefing.briefing for t in s.seen if t.kind == "turn" and t.run.state == "FIX_TESTS")
        assert "conflicts with what other tasks did in the meantime, in: calc.py" in again
        assert [state for state, id in s.turns() if id == "meta"][:3] == ["REVIEW", "QA", "SECURITY"]  # of the whole, as it was merged
        made = p.git("rev-list", f"{s.run.data.base}..{s.run.data.branch}").split()
    assert {line.split()[1] for line in p.git("notes", f"--ref={NOTES}", "list").splitlines()} == set(made), "each is claimed"
    assert p.git("show", "main:calc.py") == BOTH.rstrip()
    assert not workspaces(p)


@pytest.mark.slow
def test_a_task_that_needs_others_begins_when_they_are_merged(p: Project) -> None:
    with session(p, *three(p), policies=YES, parallel=2) as s:
        assert s.go()["state"] == "DONE"
        order = [t for _, t in s.turns()]
        assert order.index("T-003") > max(i for i, t in enumerate(order) if t in ("T-001", "T-002"))
        assert s.subjects()[2] == "T-003: both"
    proof = Clone(p.root, p.root.with_name("clone"), "main", p.env).verify()
    assert (proof.answer, {link.phase for link in proof.links}) == ("verified", {"work", "merge"}), proof.broken
    assert sorted(link.step.about for link in proof.links[:3]) == ["adds", "both", "doubles"]


@pytest.mark.slow
def test_a_merged_tree_that_does_not_pass_goes_back_to_its_coder(p: Project) -> None:
    entries = team(
        p,
        planned(one("T-001", "names"), one("T-002", "parts")),
        codes("names", {**ADDS, "tests/test_names.py": PICKY}, run=meets(p, "T-001", "T-002")),
        codes("parts", {"part_a.py": "A = 1\n"}, run=meets(p, "T-002", "T-001")),
        *(codes(goal, {"part_a.py": "NAME = 'a'\n"}, "FIX_TESTS") for goal in ("names", "parts")),
    )
    with session(p, *entries, policies=ONE_REVIEW, parallel=2) as s:
        done = s.go()
        assert (done["state"], done["outcome"]) == ("DONE", "done"), done
        again = next(t.briefing.briefing for t in s.seen if t.kind == "turn" and t.run.state == "FIX_TESTS")
        assert "the merged tree does not pass" in again and "test_names" in again
        assert sorted(s.subjects()[:2]) == ["T-001: names", "T-002: parts"]
        assert [state for state, id in s.turns() if id == "meta"][:3] == ["REVIEW", "QA", "SECURITY"]


def test_questions_of_tasks_at_once_are_answered_each_by_its_name(p: Project) -> None:
    asks = plays("CODE", again=False, reply=reply(status="NEEDS_INFO", summary="in cents?"))
    entries = team(
        p,
        planned(one("T-001", "adds"), one("T-002", "doubles")),
        *({**asks, "step": goal} for goal in ("adds", "doubles")),
        codes("adds", ADDS),
        codes("doubles", {"part_b.py": "B = 1\n"}),
    )
    with session(p, *entries, policies=ONE_REVIEW, parallel=2) as s:
        assert s.go()["state"] == "ASK_USER"
        asked = [d["decision_id"] for d in p.run("decisions", "--json").json["decisions"]]
        assert asked == ["UD-1001", "UD-2001"]
        assert [
            q.decision for q in questions(s.app, RunsBoard(UsageTally()), DecisionsAsked()).decisions
        ] == asked  # the page lists them as well
        assert p.run("answer", "UD-2001", "yes").code == 0
        assert p.run("answer", "UD-2001", "no").code == 1  # answered once
        assert [d["decision_id"] for d in p.run("decisions", "--json").json["decisions"]] == ["UD-1001"]
        told = p.run("status").out
        assert f"{s.id}.T-001  ASK_USER" in told and f"{s.id}.T-002  CODE" in told
        assert len(workspaces(p)) == 6  # of the session and its two tasks, each with its git dir
        assert s.app.door.submit(s.id, Sent("abort", by="human", channel="terminal")).status == "SUCCESS"
        assert {run.state for run in s.app.worlds.runs.family(s.id)} == {"ABORTED"}
    assert not workspaces(p)


def start(p: Project, *entries: Json) -> tuple[str, ...]:
    yes = "approve-design,review-strategy=single-final"
    return ("run", REQUEST, "--workflow", "pipeline", "--agent", scripted(p, *entries), "--yes-to", yes, "--parallel", "2", "--events")


def killed_after(p: Project, lines: int) -> bool:
    """Start a session and kill it hard after so many lines of what happens; whether it had lived as long."""
    with running(p, *start(p, *three(p))) as child:
        assert child.stdout is not None
        for n, _ in enumerate(child.stdout, 1):
            if n == lines:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return True
    return False


def goes_on(p: Project) -> None:
    """Resume to the end: no task is committed twice, and each of them is there."""
    ran = p.run("resume", "--json")
    assert ran.code == 0 and ran.json["state"] == "DONE", ran
    subjects = [c["subject"] for c in ran.json["commits"]]
    assert sorted(subjects)[:2] == ["T-001: adds", "T-002: doubles"] and len(subjects) == len(set(subjects)), subjects
    assert p.git("show", "main:calc.py") == BOTH.rstrip() and not workspaces(p)


@pytest.mark.slow
def test_tasks_at_once_that_were_killed_go_on_where_they_were(p: Project) -> None:
    with running(p, *start(p, *two_that_conflict(p))) as child:
        lines_until(child, event="turn", state="FIX_TESTS")
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    goes_on(p)


@pytest.mark.slow
@pytest.mark.parametrize("lines", range(12, 60, 3))
def test_tasks_at_once_survive_a_kill_anywhere(p: Project, lines: int) -> None:
    if killed_after(p, lines):
        goes_on(p)


def test_only_pipeline_takes_parallel(p: Project) -> None:
    ran = p.run("run", "x", "--parallel", "2", "--json")
    assert ran.code == 2 and "--parallel belongs to pipeline" in json.loads(ran.out)["error"]
