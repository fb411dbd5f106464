"""The question about open flags where a branch lands, in every workflow, on real repositories: asked once, bound to the tree, answered by people.

What raises a flag here is a conftest.py that calls something while it is loaded: it may decide how the work is judged.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from detent.kernel.model import Sent
from tests.driven import ALONE, CYCLE, GREENS, PLANS, REDS, REFACTORS, driven, driven_on, project, scripted
from tests.executions import BRANCH, CONFIG, WORKS, Till
from tests.laid_out import laid_out
from tests.project import START, Project, Ran
from tests.sessions import CODE_ADD, JUDGES, LEAN, TEST_ADD, plays, session, till
from tests.test_land import branch as finished_branch
from tests.webbed import served, visit

Json = dict[str, Any]
CONFTEST = "import pytest\n\n\n@pytest.fixture(name='ONE'.lower())\ndef one():\n    return 1\n"
SIGNED = CONFTEST.replace("return 1", "return 2").replace("lower", "casefold")
pytestmark = pytest.mark.timeout(600)


class Flagged(Project):
    """A project of `pr` whose finished branch is about to land, with a flag."""

    @laid_out
    def finished(self) -> "Flagged":
        self.planned()
        self.write({"tests/conftest.py": CONFTEST})
        assert self.red()["status"] == "NEEDS_ANALYSIS"
        assert self.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
        assert self.green()["status"] == "SUCCESS"
        self.write({"FINDINGS.json": "[]"})
        assert (self.task()["state"], self.task()["state"]) == ("AWAITING_FINALIZATION",) * 2
        self.git("reset", "-q", "--soft", "main")
        self.git("commit", "-q", "-m", "feat: add numbers")
        assert self.submit(commit_hash=self.git("rev-parse", "HEAD"))["state"] == "FINALIZE_COMPLETE"
        self.mark_done()
        assert self.submit()["state"] == "PLAN_UPDATED"
        return self


def events(p: Project, *names: str, run: str = "") -> list[Json]:
    found = p.run("history", "-n", "200", "--json", *(("--run", run) if run else ())).json["events"]
    return [e for e in found if e["on"] in names]


def asks(p: Project, run: str = "") -> list[Json]:
    found: list[Json] = p.run("decisions", "--json", *(("--run", run) if run else ())).json["decisions"]
    return [d for d in found if d["decision_id"] == "FLAGS"]


# -- pr ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def p(tmp_path: Path) -> Flagged:
    return Flagged(tmp_path / "p").finished()


@pytest.mark.slow
def test_a_flag_is_told_at_once_and_in_the_next_briefing(tmp_path: Path) -> None:
    p = Flagged(tmp_path / "p")
    p.planned()
    p.write({"tests/conftest.py": CONFTEST})
    told = p.red()
    assert [(f["kind"], f["place"], f["level"]) for f in told["flags"]] == [("judged-by", "tests/conftest.py", "ask")]
    assert p.submit(analysis_decision="SUCCESS")["flags"] == []
    briefing = p.task()["briefing"]
    assert "## Open flags of this branch" in briefing and "judged-by  tests/conftest.py" in briefing
    assert "Flag: judged-by  tests/conftest.py" in p.run("status").out
    assert p.run("status", "--json").json["flags"][0]["kind"] == "judged-by"
    assert "Flag: judged-by  tests/conftest.py" in p.run("history").out
    assert "Flag: judged-by  tests/conftest.py" in p.run("show", p.run("status", "--json").json["run"]).out


@pytest.mark.slow
def test_a_branch_with_open_flags_waits_for_a_person_and_is_asked_about_once(p: Flagged) -> None:
    main = p.git("rev-parse", "main")
    first = p.run("get-task", "--json")
    assert (first.code, first.json["state"], first.json["actor"]) == (10, "HALTED", "human")
    assert "A person continues it with: detent answer FLAGS accept" in first.json["instruction"]
    for part in ("judged-by", "tests/conftest.py", "+ def one():", "detent rollback"):
        assert part in first.json["briefing"]
    assert p.run("get-task", "--json").json == first.json and len(events(p, "flagged")) == 1
    (asked,) = asks(p)
    assert (asked["options"], asked["status"]) == (["accept", "abort"], "pending") and "+ def one():" in asked["question"]
    refused = p.run("resume", "--json")
    assert (refused.code, refused.json["status"], refused.json["state"]) == (1, "REFUSED", "HALTED")
    assert p.git("rev-parse", "main") == main


@pytest.mark.slow
def test_a_person_at_a_terminal_accepts_and_the_branch_lands(p: Flagged) -> None:
    p.task()
    assert p.in_person("answer", "FLAGS", "accept", "--note", "the fixture is meant").code == 0
    (said,) = events(p, "accept-flags")
    assert (said["by"], said["channel"], said["note"], said["state"]) == ("human", "terminal", "the fixture is meant", "MERGING_BRANCH")
    assert said["who"]
    assert p.task()["state"] == "INITIALIZING"
    assert p.git("show", "main:tests/conftest.py") == CONFTEST.strip() and len(events(p, "flagged")) == 1
    assert p.run("status", "--json").json["flags"] == [], "the next pull request begins without them"


@pytest.mark.slow
def test_only_a_person_can_answer_and_only_what_fits(p: Flagged) -> None:
    p.task()
    for value in ("fix", "yes", "approve"):
        assert p.run("answer", "FLAGS", value, "--json").json["status"] == "REFUSED"
    assert p.run("answer", "REVIEW", "accept", "--json").json["status"] == "REFUSED"
    assert p.submit(summary="accept")["status"] == "REFUSED"
    with driven_on(p, known=p.run("status", "--json").json["run"]) as d:
        said = d.app.door.submit(d.id, Sent("answer", by="agent", decision="FLAGS", value="accept"))
        assert said.status == "REFUSED" and "The agent cannot use '" in said.reasons[0]
        forged = Sent("submit", by="agent", facts={"flags": "[]", "tree": d.run.asked})
        assert d.app.door.submit(d.id, forged).status == "REFUSED"
    assert p.run("status", "--json").json["state"] == "HALTED"


@pytest.mark.slow
def test_decisions_that_are_for_a_terminal_are_not_taken_elsewhere(tmp_path: Path) -> None:
    p = Flagged(tmp_path / "p")
    p.env["DETENT_DECISIONS_REQUIRE"] = "terminal"
    p.finished()
    p.task()
    assert p.run("answer", "FLAGS", "accept").code == 2
    assert p.in_person("answer", "FLAGS", "accept").code == 0


@pytest.mark.slow
def test_a_tree_that_changed_after_the_answer_is_asked_about_again(p: Flagged) -> None:
    p.task()
    first = asks(p)[0]["question"]
    p.write({"tests/conftest.py": SIGNED})
    p.git("commit", "-q", "-am", "feat: add numbers, and two")
    assert p.run("answer", "FLAGS", "accept").code == 0
    assert p.task()["state"] == "HALTED", "the answer was about another tree"
    assert asks(p)[0]["question"] != first and "return 2" in asks(p)[0]["question"]
    assert p.run("answer", "FLAGS", "accept").code == 0 and p.task()["state"] == "INITIALIZING"
    assert p.git("show", "main:tests/conftest.py") == SIGNED.strip()


@pytest.mark.slow
def test_a_crash_between_answer_and_landing_loses_nothing(p: Flagged) -> None:
    p.task()
    assert p.run("answer", "FLAGS", "accept").code == 0
    assert p.run("status", "--json").json["state"] == "MERGING_BRANCH", "whoever was killed here left this behind"
    kept = p.run("status", "--json").json["accepted"]
    assert kept == p.git("rev-parse", "feat/add-numbers^{tree}")
    assert p.task()["state"] == "INITIALIZING" and len(events(p, "flagged")) == 1


@pytest.mark.slow
def test_the_run_can_be_ended_or_rolled_back_instead(p: Flagged) -> None:
    p.task()
    step = next(e["seq"] for e in events(p, "green"))
    assert p.run("rollback", str(step)).code == 0
    assert p.run("status", "--json").json["state"] != "HALTED"


@pytest.mark.slow
@pytest.mark.parametrize(("level", "state"), [("allow", "INITIALIZING"), ("note", "INITIALIZING"), ("ask", "HALTED")])
def test_the_configuration_says_what_a_kind_does(tmp_path: Path, level: str, state: str) -> None:
    p = Flagged(tmp_path / "p")
    p.env["DETENT_FLAGS_JUDGED_BY"] = level
    assert p.finished().task()["state"] == state
    assert bool(asks(p)) == (level == "ask")


def test_a_kind_that_is_a_failure_fails_the_step(tmp_path: Path) -> None:
    p = Flagged(tmp_path / "p")
    p.env["DETENT_FLAGS_JUDGED_BY"] = "fail"
    p.planned()
    p.write({"tests/conftest.py": CONFTEST})
    told = p.red()
    assert told["status"] == "FAILURE" and "(judged-by)" in told["reasons"][0]


# -- pr without a branch -------------------------------------------------------------------------------------------------------


def finished_here(folder: Path) -> Project:
    """A pull request that was finished on main itself, where there is no branch to land."""
    p = Project(folder / "p", {**START, "detent.toml": "[git]\nbranching = false\nsquash = 'auto'\n"})
    p.task()
    p.write_plan()
    assert p.submit()["state"] == "EXECUTING_TDD"
    p.write({"tests/conftest.py": CONFTEST})
    assert p.red()["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    assert p.green()["status"] == "SUCCESS"
    p.task()
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    verdict = p.submit()
    assert (verdict["status"], verdict["state"], p.state["status"]) == ("SUCCESS", "INITIALIZING", "INITIALIZING")
    assert not (p.root / "ACTIVE_PR.json").exists() and p.git("status", "--porcelain") == ""
    return p


@pytest.mark.slow
def test_without_a_branch_the_question_comes_before_the_next_pull_request(tmp_path: Path) -> None:
    p = finished_here(tmp_path)
    for skipped in ({"no_pr_left": True}, {}):
        p.write_plan(title="feat: another one")
        refused = p.submit(**skipped)
        assert refused["status"] == "REFUSED" and "call get_task first" in refused["reasons"][0], "no way leads round the look"
    (p.root / "ACTIVE_PR.json").unlink()
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (10, "HALTED") and "+ def one():" in ran.json["briefing"], ran
    assert asks(p)[0]["options"] == ["accept", "abort"] and len(events(p, "flagged")) == 1
    assert "Card: " in p.run("status").out
    assert p.in_person("answer", "FLAGS", "accept").code == 0
    assert p.task()["state"] == "INITIALIZING" and len(events(p, "flagged")) == 1
    assert p.run("status", "--json").json["flags"] == [], "the next pull request begins without them"
    p.write_plan(title="feat: subtract numbers")
    assert p.submit()["state"] == "EXECUTING_TDD"


@pytest.mark.slow
def test_without_a_branch_work_that_does_not_hold_as_a_whole_stops_too(tmp_path: Path) -> None:
    p = finished_here(tmp_path)
    p.write({"calc.py": "def add(a, b):\n    return 0\n"})
    p.git("commit", "-q", "-am", "by hand")
    ran = p.run("get-task", "--json")
    assert (ran.json["state"], p.run("status", "--json").json["cause"]) == ("HALTED", "red merge"), ran
    assert "the branch as a whole does not pass" in ran.json["briefing"] and "tests/test_add.py" in ran.json["briefing"]
    p.git("reset", "-q", "--hard", "HEAD~1")
    assert p.run("resume").code == 0
    assert p.task()["state"] == "HALTED" and p.run("status", "--json").json["cause"] == "flags", "it is looked at again"


# -- a reviewer who answers ----------------------------------------------------------------------------------------------------


def reviewer(folder: Path, words: str) -> str:
    """A program that answers so, and notes what it was asked."""
    file = folder / "reviewer"
    file.write_text(f"#!/bin/sh\ncat >> {folder}/asked\ncat <<'END'\n{words}\nEND\n")
    file.chmod(0o755)
    return f"command:{file}"


def with_reviewer(folder: Path, words: str) -> Project:
    config = f"{ALONE}[flags]\nanswered_by = 'reviewer'\n[review]\nagent = '{reviewer(folder, words)}'\n[sandbox]\nlevel = 'none'\n"
    return project(folder / "p", config)


@pytest.mark.slow
def test_the_configured_reviewer_answers_in_a_persons_place(tmp_path: Path) -> None:
    p = with_reviewer(tmp_path, 'It is fine.\n{"accept": true, "reason": "a plain fixture"}')
    ran = flagged_tdd(p)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETE"), ran
    (said,) = events(p, "flags-accepted", run=ran.json["run"])
    assert (said["by"], said["state"]) == ("system", "LANDING") and said["who"].startswith("command:")
    asked = json.loads((tmp_path / "asked").read_text())
    assert "judged-by  tests/conftest.py" in asked["briefing"] and "+def one():" in asked["diff"]


@pytest.mark.slow
def test_what_the_reviewer_does_not_accept_a_person_is_asked_about_with_its_reason(tmp_path: Path) -> None:
    p = with_reviewer(tmp_path, '{"accept": false, "reason": "nobody uses the fixture"}')
    ran = flagged_tdd(p)
    assert (ran.code, ran.json["state"]) == (10, "HALTED"), ran
    assert "nobody uses the fixture" in asks(p)[0]["question"]
    assert p.run("resume").code == 1 and len((tmp_path / "asked").read_text().splitlines()) == 1, "asked once for a tree"


@pytest.mark.slow
@pytest.mark.parametrize("words", ["fine by me", '{"accept": "yes", "reason": "x"}', '{"accept": true}'])
def test_what_is_no_answer_accepts_nothing(tmp_path: Path, words: str) -> None:
    ran = flagged_tdd(p := with_reviewer(tmp_path, words))
    assert (ran.code, ran.json["state"]) == (10, "HALTED") and p.run("status", "--json").json["cause"] == "errors"


# -- tdd -----------------------------------------------------------------------------------------------------------------------

FLAGS_RED = {**REDS, "write": {**REDS["write"], "tests/conftest.py": CONFTEST}}
TDD = (PLANS, FLAGS_RED, GREENS, REFACTORS, CYCLE[-1])


def flagged_tdd(p: Project, *args: str) -> Ran:
    return p.run("run", "add numbers", "--agent", scripted(p, *TDD), "--json", *args)


@pytest.fixture
def q(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return project(tmp_path / "p")


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.slow
def test_tdd_waits_before_it_offers_its_branch_and_goes_on_once_accepted(q: Project) -> None:
    ran = flagged_tdd(q)
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (10, "HALTED", "halted"), ran
    again = q.run("resume", "--json")
    assert again.code == 1 and again.json["status"] == "REFUSED"
    assert asks(q)[0]["options"] == ["accept", "fix", "abort"]
    answered = q.run("answer", "FLAGS", "accept")
    assert answered.code == 0 and "detent resume" in answered.out
    done = q.run("resume", "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETE"), done
    assert len(events(q, "flagged", run=ran.json["run"])) == 1


@pytest.mark.slow
def test_tdd_goes_back_to_its_list_where_a_person_wants_flags_fixed(q: Project) -> None:
    with driven(q, *TDD) as d:
        assert d.go()["state"] == "HALTED" and d.run.cause == "flags"
        d.person("answer", decision="FLAGS", value="fix", note="no fixtures, please")
        assert d.run.state == "PLAN" and "no fixtures, please" in d.run.guidance and "judged-by" in d.run.guidance
        assert "no fixtures, please" in d.app.door.next(d.id).briefing
        assert d.run.accepted == ""


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "state"), [("flags=judged-by", "COMPLETE"), ("flags=no-proof,judged-by", "COMPLETE"), ("flags=no-proof+unnoticed", "HALTED")])  # fmt: skip
def test_a_policy_accepts_its_kinds_and_no_other(q: Project, kinds: str, state: str) -> None:
    ran = flagged_tdd(q, "--yes-to", kinds)
    assert ran.json["state"] == state, ran
    said = events(q, "accept-flags", run=ran.json["run"])
    assert [e["channel"] for e in said] == (["policy"] if state == "COMPLETE" else [])
    assert all("by the policy flags=" in e["note"] and e["who"] for e in said)


def test_a_policy_of_another_workflow_is_refused(q: Project) -> None:
    assert flagged_tdd(q, "--yes-to", "approve-design").code == 2
    assert flagged_tdd(q, "--yes-to", "flags=noproof").json["hint"] == "did you mean no-proof?"


# -- execute -------------------------------------------------------------------------------------------------------------------

FLAGS_WORK: Json = {**WORKS, "write": {**WORKS["write"], "tests/conftest.py": CONFTEST}}
FIXES: Json = {
    "state": "RUNNING",
    "write": {"tests/conftest.py": CONFTEST.replace("one", "two")},
    "reply": "The fixture is gone.",
}


@pytest.mark.slow
def test_an_execution_waits_before_it_pushes_and_pushes_once_accepted(tmp_path: Path) -> None:
    t = Till(tmp_path)
    ran = t.execute(item := t.file(), FLAGS_WORK)
    run = ran.json["run"]
    assert (ran.code, ran.json["state"]) == (10, "HALTED"), ran
    assert t.there("branch", "--list", BRANCH) == "", "nothing was pushed"
    assert asks(t.project, run)[0]["options"] == ["accept", "fix", "abort"]
    assert t.project.run("answer", "FLAGS", "accept", "--run", run).code == 0
    assert t.project.run("resume", "--run", run).code == 0
    assert t.run(run).state == "COMPLETED" and t.item(item).status == "closed" and BRANCH in t.there("branch", "--list", BRANCH)
    assert [e.on for e in t.events(run)].count("flagged") == 1


@pytest.mark.slow
def test_an_execution_works_on_with_the_words_of_who_wants_flags_fixed(tmp_path: Path) -> None:
    t = Till(tmp_path)
    run = t.execute(t.file(), FLAGS_WORK, FIXES).json["run"]
    assert t.project.run("answer", "FLAGS", "fix", "--note", "no fixtures", "--run", run).code == 0
    assert t.run(run).state == "RUNNING" and "no fixtures" in t.run(run).guidance
    ended = t.project.run("resume", "--run", run, "--json")
    assert ended.json["state"] == "HALTED", "a file that decides how tests run is still new"
    assert t.run(run).asked != t.run(run).accepted and t.run(run).cause == "flags"
    assert t.project.run("answer", "FLAGS", "abort", "--run", run).code == 0 and t.run(run).state == "CANCELLED"


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "state"), [("flags=judged-by", "COMPLETED"), ("flags=no-proof", "HALTED")])
def test_an_execution_has_policies_too(tmp_path: Path, kinds: str, state: str) -> None:
    t = Till(tmp_path)
    assert t.execute(t.file(), FLAGS_WORK, args=("--yes-to", kinds)).json["state"] == state


@pytest.mark.slow
def test_an_inner_run_does_not_ask_and_its_execution_does(tmp_path: Path) -> None:
    t = Till(tmp_path, CONFIG + "[queue]\nstrategy = 'tdd'\n")
    ran = t.execute(t.file(), *TDD)
    run = ran.json["run"]
    assert (ran.code, t.run(run).state, t.run(run).cause) == (10, "HALTED", "flags"), ran
    assert t.run(f"{run}.work").state == "COMPLETE" and not [e for e in t.events(f"{run}.work") if e.on == "flagged"]
    assert asks(t.project, run)[0]["options"] == ["accept", "abort"], "an inner run that has ended does not begin again"
    assert t.project.run("answer", "FLAGS", "fix", "--run", run).code == 1


# -- pipeline ------------------------------------------------------------------------------------------------------------------

CODES = plays("CODE", write={"calc.py": CODE_ADD, "tests/test_add.py": TEST_ADD, "tests/conftest.py": CONFTEST})
SESSION = (LEAN, CODES, *JUDGES, plays("FIX_BUILD_CODE", write={"tests/conftest.py": SIGNED}))


@pytest.mark.slow
def test_a_session_asks_before_it_lands_and_lands_once_accepted(tmp_path: Path) -> None:
    with session(till(tmp_path / "p"), *SESSION, lean=True) as s:
        assert s.go()["state"] == "ASK_USER"
        assert s.go()["state"] == "ASK_USER" and [d.decision_id for d in s.run.data.decisions] == ["FLAGS"], "asked once"
        assert s.answer("FLAGS", "perhaps").status == "FAILURE" and s.run.state == "ASK_USER"
        assert s.answer("FLAGS", "accept", note="meant").status == "SUCCESS"
        assert s.go()["state"] == "DONE"
        (given,) = s.run.data.decisions
        assert (given.status, given.answer, given.channel, given.note) == ("answered", "accept", "terminal", "meant")
        assert "calc.py" in s.project.git("ls-tree", "--name-only", "main")


@pytest.mark.slow
def test_a_session_has_flags_fixed_and_asks_again_about_the_new_tree(tmp_path: Path) -> None:
    with session(till(tmp_path / "p"), *SESSION, lean=True) as s:
        s.go()
        first = s.run.asked
        assert s.answer("FLAGS", "fix", note="two, not one").status == "SUCCESS"
        assert s.run.state == "FIX_BUILD_CODE" and "two, not one" in s.run.guidance
        assert s.go()["state"] == "ASK_USER" and s.run.asked not in ("", first)
        assert s.answer("FLAGS", "accept").status == "SUCCESS" and s.go()["state"] == "DONE"


@pytest.mark.slow
def test_a_session_has_policies_about_flags(tmp_path: Path) -> None:
    with session(till(tmp_path / "p"), *SESSION, lean=True, policies={"flags": "judged-by"}) as s:
        assert s.go()["state"] == "DONE" and [d.channel for d in s.run.data.decisions] == ["policy"]
    with session(till(tmp_path / "other"), *SESSION, lean=True, policies={"flags": "no-proof"}) as s:
        assert s.go()["state"] == "ASK_USER"


# -- land ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_land_leaves_a_flagged_branch_and_lands_it_once_its_tree_is_accepted(tmp_path: Path) -> None:
    t = Till(tmp_path, files={"calc.py": CODE_ADD})
    finished_branch(t, "feat", {"tests/conftest.py": CONFTEST})
    main, tree = t.git("rev-parse", "main"), t.git("rev-parse", "feat^{tree}")
    ran = t.project.run("land", "feat", "--json")
    assert (ran.code, ran.json["branches"][0]["outcome"], ran.json["branches"][0]["tree"]) == (10, "flagged", tree), ran
    assert [f["kind"] for f in ran.json["branches"][0]["flags"]] == ["judged-by"] and t.git("rev-parse", "main") == main
    text = t.project.run("land", "feat").out
    assert f"detent land feat --accept {tree[:12]}" in text and "+ def one():" in text
    (asked,) = t.project.run("decisions", "--json").json["decisions"]
    assert (asked["decision_id"], asked["options"], asked["run"]) == ("LAND feat", ["accept"], None) and "+ def one():" in asked["question"]
    assert f"  Answer: detent land feat --accept {tree[:12]}\n" in t.project.run("decisions").out
    for accepts in (("--accept", "0123456789ab"), ("--accept", tree[:3]), ("--yes-to", "flags=no-proof")):
        assert t.project.run("land", "feat", *accepts).code == 10
    assert t.project.run("land", "feat", "--accept", tree[:12]).code == 0
    assert "Flag-Accepted: judged-by  tests/conftest.py" in t.git("log", "-1", "--format=%B", "main")
    assert t.project.run("decisions", "--json").json["decisions"] == []


@pytest.mark.slow
def test_what_land_asks_stands_in_the_inbox_until_it_is_answered_or_the_branch_is_another(tmp_path: Path) -> None:
    t = Till(tmp_path, files={"calc.py": CODE_ADD})
    finished_branch(t, "feat", {"tests/conftest.py": CONFTEST})
    assert t.project.run("land", "feat").code == 10
    with served(t.project) as to:
        (row,) = to.get("/api/decisions")["decisions"]
        assert (row["id"], row["title"], row["kind"], row["run"]) == ("land:feat", "feat", "flags", "")
        shown = to.get("/api/decisions/land:feat")
        assert [o["value"] for o in shown["options"]] == ["accept"] and "+ def one():" in shown["artifacts"][0]["text"]
        assert "`detent land feat`" in shown["text"]
        good = {"shown": shown["shown"], "value": "accept", "note": "it is\nmeant"}
        for wrong, status in (({"shown": "0" * 64}, 409), ({"value": "abort"}, 422), ({"value": ""}, 422)):
            assert to.ask("/api/decisions/land:feat", {**good, **wrong})[0] == status
        assert to.ask("/api/decisions/land:other", good)[0] == 404
        status, verdict = to.ask("/api/decisions/land:feat", good)
        assert (status, verdict["status"], verdict["instruction"]) == (200, "SUCCESS", "detent land feat"), verdict
        assert to.get("/api/decisions")["decisions"] == [] and to.ask("/api/decisions/land:feat", good)[0] == 404
    t.git("switch", "-q", "feat")
    t.project.write({"tests/conftest.py": SIGNED})
    t.git("commit", "-q", "-am", "two")
    t.git("switch", "-q", "main")
    assert t.project.run("land", "feat").code == 10, "the answer was about another tree"
    assert len(t.project.run("decisions", "--json").json["decisions"]) == 1
    t.git("switch", "-q", "feat")
    t.git("reset", "-q", "--hard", "HEAD~1")
    t.git("switch", "-q", "main")
    assert t.project.run("decisions", "--json").json["decisions"] == [], "nor is it asked about a tree that is gone"


@pytest.mark.slow
def test_a_branch_that_was_accepted_on_the_page_lands_and_says_by_whom(chromium: Browser, tmp_path: Path) -> None:
    t = Till(tmp_path, files={"calc.py": CODE_ADD})
    finished_branch(t, "feat", {"tests/conftest.py": CONFTEST})
    assert t.project.run("land", "feat").code == 10
    with served(t.project) as to:
        page = visit(chromium, to.link)
        page.goto(f"{to.url}inbox")
        expect(page.locator(".question .file")).to_contain_text("def one():")
        assert page.get_by_text("See the run").count() == 0, "there is none"
        page.locator("textarea[name=words]").fill("it is\nmeant")
        page.get_by_role("button", name="Accept", exact=True).click()
        expect(page.get_by_text("Your answer is recorded. To land it: detent land feat")).to_be_visible()
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert t.project.run("land", "feat").code == 0
    (line,) = [line for line in t.git("log", "-1", "--format=%B", "main").splitlines() if line.startswith("Flag-Accepted: ")]
    assert line.endswith(", web: it is meant)"), line


@pytest.mark.slow
def test_land_accepts_kinds_beforehand_and_what_was_accepted_before_the_push(tmp_path: Path) -> None:
    t = Till(tmp_path, files={"calc.py": ""})
    finished_branch(t, "feat", {"tests/conftest.py": CONFTEST})
    assert t.project.run("land", "feat", "--yes-to", "flags=judged-by").code == 0
    assert ", beforehand)" in t.git("log", "-1", "--format=%B", "main")
    run = t.execute(t.file(), {**WORKS, "write": {**WORKS["write"], "tests/conftest.py": SIGNED}}).json["run"]
    assert t.project.run("answer", "FLAGS", "accept", "--run", run).code == 0 and t.project.run("resume", "--run", run).code == 0
    landed = t.project.run("land")
    assert landed.code == 0 and f"before it was pushed ({run})" in t.git("log", "-1", "--format=%B", "main"), landed
