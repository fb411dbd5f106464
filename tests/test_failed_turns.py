"""A turn that failed leaves nothing behind: its files go back to where it began, stay under a ref, and are named to whoever comes next."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.agents import AgentFailed, Progress, Reply, Turn, Usage
from detent.door import Case
from detent.kernel.model import Briefing, Found
from tests.driven import CYCLE, ENDS, GREENS, PLANS, REDS, REFACTORS, Driven, Json, driven, instead, lent, project
from tests.project import Project
from tests.sessions import S, session, till

JUNK = {
    "calc.py": "def add(a, b):\n    return 7\n",
    "junk.py": "JUNK = 1\n",
    "tests/test_start.py": "def test_start():\n    assert False\n",
}
IGNORED = {"__pycache__/left.txt": "a cache\n", ".env": "TOKEN=1\n"}


def crashes(state: str, sort: str = "Crashed", **more: str) -> Json:
    return {"state": state, "write": {**JUNK, **IGNORED}, "delete": ["pytest.ini"], "fail": {"sort": sort, "message": "it broke", **more}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield project(tmp_path_factory.mktemp("shared") / "p")


@pytest.fixture
def p(shared: Project) -> Iterator[Project]:
    with lent(shared):
        yield shared


def prompts(d: Driven) -> list[str]:
    """What each agent was told, in order, read off its turns."""
    told = list[str]()
    made = d.driver()

    def ask(briefing: Briefing, turn: Turn) -> Reply:
        told.append(turn.prompt)
        assert json.loads(turn.briefing)["briefing"] == turn.prompt, "programs are told the same"
        return made.turns.ask(briefing, turn)

    d.go(instead(made, ask=ask))
    return told


@pytest.mark.slow
def test_what_a_failed_turn_wrote_is_taken_away_kept_under_a_ref_and_named(p: Project) -> None:
    """Junk of a turn that crashed was once committed as `feat:`, and a right fix was judged on what its predecessor broke."""
    with driven(p, PLANS, REDS, crashes("GREEN"), crashes("GREEN"), GREENS, REFACTORS, ENDS) as d:
        told = prompts(d)
        assert d.run.state == "COMPLETE", d.moves
        assert d.moves.count("agent-failed") == 2
        branch = d.run.data.branch
        assert p.git("diff", "--name-only", "main", branch).split() == ["calc.py", "test-list.md", "tests/test_add.py"]
        first = f"refs/detent/{d.id}/left/3"
        assert "JUNK = 1" in p.git("show", first), "what it wrote can be looked at as a diff"
        assert p.git("diff", "--name-only", f"{first}^", first).split() == ["calc.py", "junk.py", "pytest.ini", "tests/test_start.py"]
        after = told[3]
        assert f"GREEN, FAILURE: it broke. What it wrote was removed and is kept under `{first}`: calc.py, junk.py" in after
        assert "+JUNK = 1" in after, "the next agent sees what was tried"
        assert "Earlier attempts" not in told[2] and "Earlier attempts" not in told[5]
        history = p.run("history", "--run", d.id)
        assert f"what it wrote was removed; it is kept under {first} (calc.py, junk.py, pytest.ini, tests/test_start.py)" in history.out
        rows = p.run("history", "--run", d.id, "--json").json["events"]
        assert [row["on"] for row in rows if row["left"]] == ["agent-failed"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["Timeout", "ModelUnavailable", "Budget", "RateLimit"])
def test_whatever_ends_a_turn_the_workspace_is_as_it_was_before_it(p: Project, sort: str) -> None:
    more = {"not_before": "2020-01-01T00:00:00Z"} if sort == "RateLimit" else {}
    with driven(p, PLANS, REDS, crashes("GREEN", sort, **more), {"state": "GREEN", "fail": {"sort": "ModelUnavailable"}}) as d:
        d.go()
        root = d.app.worlds.of(d.run).place.root
        assert (
            (root / "calc.py").read_text() == "" and (root / "pytest.ini").exists() and "True" in (root / "tests/test_start.py").read_text()
        )
        assert not any((root / name).exists() for name in ("junk.py", "__pycache__/left.txt", ".env")), "nor does what git ignores stay"
        assert p.git("-C", str(root), "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_hand_in_that_is_refused_leaves_nothing_either(p: Project) -> None:
    refused = {**PLANS, "write": {"test-list.md": "no list\n", "extra.md": "x\n"}}
    with driven(p, refused, *CYCLE) as d:
        told = prompts(d)
        assert d.run.state == "COMPLETE"
        assert [e.status for e in d.events[1:3]] == ["REFUSED", "FAILURE"]
        assert f"`refs/detent/{d.id}/left/1`: extra.md, test-list.md" in told[1]
        assert "extra.md" not in p.git("ls-tree", "-r", "--name-only", d.run.data.branch)


@pytest.mark.slow
def test_a_turn_that_was_killed_begins_again_on_what_it_found(p: Project) -> None:
    class Killed(Exception):
        """As if the power went."""

    with driven(p, PLANS, REDS, GREENS, REFACTORS, ENDS) as d:
        made = d.driver()

        def dies(briefing: Briefing, turn: Turn) -> Reply:
            if briefing.state != "GREEN":
                return made.turns.ask(briefing, turn)
            (turn.workspace / "junk.py").write_text("JUNK = 1\n")
            (turn.workspace / "calc.py").unlink()
            raise Killed

        with pytest.raises(Killed):
            d.go(instead(made, ask=dies))
        d.go()
        assert d.run.state == "COMPLETE"
        assert "junk.py" not in p.git("ls-tree", "-r", "--name-only", d.run.data.branch)
        assert "JUNK" in p.git("show", f"refs/detent/{d.id}/left/3:junk.py")


@pytest.mark.slow
def test_work_that_cannot_be_judged_is_judged_again_and_not_paid_again(p: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    spends = {"usage": {"input_tokens": 10, "output_tokens": 5}}
    with driven(p, {**PLANS, **spends}, {**REDS, **spends}, {**GREENS, **spends}, REFACTORS, ENDS) as d:
        judge, wrong = d.app.door.judge.judge, [2]

        def unsure(case: Case) -> Found:
            if case.run.state == "GREEN" and wrong[0]:
                wrong[0] -= 1
                return Found(unclear="the disk is full", tree=case.tree)
            return judge(case)

        monkeypatch.setattr(d.app.door.judge, "judge", unsure)
        done = d.go()
        assert d.run.state == "COMPLETE"
        greens = [e for e in d.events if e.was == "GREEN"]
        assert [e.status for e in greens] == ["ERROR", "ERROR", "SUCCESS"]
        assert len({e.sent.facts["transcript"] for e in greens}) == 1, "one turn of an agent"
        assert done["usage"]["input_tokens"] == 30, "which is counted once"


@pytest.mark.slow
def test_attempts_of_a_phase_have_one_bound_whatever_their_sort(p: Project) -> None:
    bad = {"state": "RED", "write": {"tests/test_add.py": "def test_add():\n    assert True\n"}, "reply": "done"}
    ticked = {"state": "RED", "write": {"test-list.md": "- [x] adds\n"}, "reply": "done"}
    with driven(p, PLANS, bad, crashes("RED"), ticked, bad, REDS) as d:
        d.go()
        reds = [e for e in d.events if e.was == "RED" and e.sent.facts.get("transcript")]
        assert (d.run.state, len(reds)) == ("HALTED", 4), d.moves


@pytest.mark.slow
def test_with_one_retry_there_is_one_more_turn(p: Project) -> None:
    with driven(p, PLANS, crashes("RED"), crashes("RED"), REDS, TDD_MAX_RETRIES="1") as d:
        d.go()
        assert (d.run.state, [e.was for e in d.events].count("RED")) == ("HALTED", 2)


@pytest.mark.slow
def test_what_a_turn_used_is_counted_also_where_a_person_ended_the_run_meanwhile(p: Project) -> None:
    with driven(p, PLANS) as d:
        made = d.driver()

        def aborted(briefing: Briefing, turn: Turn) -> Reply:
            if briefing.state != "RED":
                return made.turns.ask(briefing, turn)
            turn.watch(Progress("usage", "77 tokens", Usage(70, 7, usd=0.5)))
            d.person("abort")
            raise AgentFailed("Stopped", "nobody wants it any more", usage=Usage(80, 8, usd=0.5))

        done = d.go(instead(made, ask=aborted))
        assert d.run.state == "ABORTED"
        assert (done["usage"]["input_tokens"], done["usage"]["output_tokens"], done["usage"]["usd"]) == (80, 8, 0.5)
        assert p.run("status", "--run", d.id, "--json").code == 0


def test_a_person_who_plays_the_agent_finds_what_they_left(tmp_path: Path) -> None:
    """Only agents begin anew: a person who stops half-way means to go on."""
    from detent.app.turn_standing import prepare_turn
    from detent.world.turn_tree import open_attempt

    p = project(tmp_path / "p")
    with driven(p, agent="human") as d:
        briefing = d.app.door.next(d.id)
        d.driver().turns.turn_of(d.run, briefing)
        assert open_attempt(d.app.worlds.of(d.run).git, d.id) == ""
        prepare_turn(d.app, d.run, briefing)
        assert open_attempt(d.app.worlds.of(d.run).git, d.id) == briefing.attempt_id


@pytest.mark.slow
def test_a_role_of_a_session_that_failed_leaves_no_documents(tmp_path: Path) -> None:
    p = till(tmp_path / "p")
    half = {f"{S}/spec.md": "# Half\n", f"{S}/junk.md": "x\n"}
    with session(p, {"state": "INTAKE", "write": half, "fail": {"sort": "ModelUnavailable"}}) as d:
        d.go()
        assert (d.run.state, d.run.cause) == ("BLOCKED", "model")
        assert not any((d.workspace / name).exists() for name in half) and (d.workspace / S / "status.json").exists()
        assert not {*half} & {*p.git("ls-tree", "-r", "--name-only", f"refs/detent/{d.id}/documents").splitlines()}
        assert p.git("show", f"refs/detent/{d.id}/left-documents:{S}/spec.md") == "# Half"
