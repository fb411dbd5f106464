"""TEST_WRONG: the way back from a test that turns out to be wrong. It costs an attempt, is shown where the branch lands, and is bounded."""

import json
from pathlib import Path
from typing import Any

import pytest

from detent.kernel.model import Flag
from tests.cases import counts, project
from tests.feature import ADD, GREEN, NONE, RED, Feature, at, failed, flagged, refused, standing
from tests.project import Project
from tests.proofs import Made

WRONG_RED = RED.replace("== 3", "== 4")
WHY = "1 + 2 is 3, and the test asks for 4"
ONE = "# Sums\n\n- [ ] adds two numbers\n"
TESTS = "tests/test_add.py"


def at_green() -> Feature:
    """At GREEN, with a test that no right code can pass."""
    f = at("RED")
    assert f.lay({TESTS: WRONG_RED}).submit().state == "GREEN"
    return f


def kept_in(f: Feature | Project, flag: Flag) -> tuple[str, str]:
    """The two versions of the test that a flag points at."""
    before, after = (words.removeprefix("tree ") for words in (flag.before, flag.after))
    return f.git("show", f"{before}:{TESTS}") + "\n", f.git("show", f"{after}:{TESTS}") + "\n"


# -- tdd -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_in_tdd_a_wrong_test_is_written_again_and_that_is_flagged() -> None:
    f = at_green()
    failed(f, f.lay({"calc.py": GREEN}).submit(), "test_add still fails: AssertionError: assert 3 == 4", "TestFailure", 1, "GREEN")
    assert "TEST_WRONG" in f.briefing
    red = f.head
    verdict = f.lay({"calc.py": GREEN}).submit("TEST_WRONG", WHY)
    assert (verdict.status, verdict.state, f.run.counts) == ("FAILURE", "RED", {"rewrites": 1, "retries": 1}), verdict
    assert (f.head, f.read(TESTS)) == (red, WRONG_RED), "the test is there to be mended"
    assert WHY in f.briefing and "Restore what was written since, except the test: git restore --source=" in f.briefing
    f.lay({"calc.py": ""})
    assert f.note()["nextPhase"] == "RED" and WHY in f.note()["error"]
    again = f.lay({TESTS: RED}).submit()
    flag = flagged(again, "rewritten-test", "the test was rewritten after code was tried; both versions are kept")
    assert (again.state, flag.level, flag.stays) == ("GREEN", "ask", True)
    assert kept_in(f, flag) == (WRONG_RED, RED)
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.run.counts == {}, "the next test begins anew"
    assert [each.stays for each in f.run.flags if "rewritten after code" in each.sentence] == [True], "it stays with the run until it lands"
    assert f.subjects() == ["plan: adds two numbers", "test: adds two numbers", "test: adds two numbers", "feat: adds two numbers"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("summary", ["", "wrong", "test wrong"])
def test_words_alone_are_refused_and_cost_nothing(summary: str) -> None:
    f = at("GREEN").lay({"calc.py": GREEN})
    before = standing(f)
    refused(f, before, f.submit("TEST_WRONG", summary), "say in the summary what is wrong with the test")
    assert f.read("calc.py") == GREEN


@pytest.mark.slow
def test_after_it_the_same_gates_hold_and_it_opens_nothing_in_other_phases() -> None:
    f = at_green()
    assert f.submit("TEST_WRONG", WHY).state == "RED"
    failed_again = f.lay({TESTS: "def test_add():\n    assert 1 + 2 == 3\n"}).submit()
    assert failed_again.status == "FAILURE" and "test_add already passes, so nothing needs this step" in failed_again.reasons[0]
    assert f.submit("TEST_WRONG", WHY).state == "RED", "there is nothing to go back to: it is judged as the RED that it is"
    assert f.run.counts == {"rewrites": 1, "retries": 3}, "a wrong test is a failed attempt at its RED as well"
    f = at("REFACTOR")
    assert f.submit("TEST_WRONG", WHY).state == "PLAN", "a refactoring is judged by what it changed"
    assert "rewrites" not in f.run.counts


@pytest.mark.slow
def test_in_tdd_a_test_can_be_called_wrong_so_often_and_no_more() -> None:
    f = at_green()
    for count in (1, 2):
        assert (f.submit("TEST_WRONG", f"{WHY}, {count}").state, f.run.counts) == ("RED", {"rewrites": count, "retries": count})
        assert f.lay({TESTS: RED.replace("== 3", f"== {count + 4}")}).submit().state == "GREEN"
    verdict = f.submit("TEST_WRONG", WHY)
    assert (verdict.state, f.run.cause) == ("HALTED", "retries"), verdict
    assert f.cli("get-task").code == 10, "a person has to look"


@pytest.mark.slow
def test_a_branch_of_tdd_whose_test_was_rewritten_verifies_from_a_clone(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", files={"tests/test_kept.py": "def test_kept():\n    assert True\n"})
    f.git("checkout", "-q", "-b", "work")
    f.start()
    assert f.plan(ADD, ONE).state == "RED"
    assert f.lay({TESTS: WRONG_RED}).submit().state == "GREEN"
    assert f.submit("TEST_WRONG", WHY).state == "RED"
    assert f.lay({TESTS: RED}).submit().state == "GREEN"
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.submit().state == "PLAN" and f.submit(NONE).state == "LANDING"
    proof = Made(f.project, "work", tmp_path).clone().verify()
    assert (proof.answer, proof.broken) == ("verified", ()), proof
    assert [link.phase for link in proof.links] == ["plan", "red", "red", "green", "refactor", "complete"]
    assert [link.step.over != "" for link in proof.links] == [False, False, True, False, False, False], (
        "the second RED is over the plan's tree"
    )
    assert f.app().door.next(f.run_id).state == "HALTED", "it does not land by itself"
    (flag,) = f.run.flags
    assert (f.run.cause, flag.kind) == ("flags", "rewritten-test") and "rewritten after code was tried" in flag.sentence


# -- pr ------------------------------------------------------------------------------------------------------------------------


def wrong(p: Project, summary: str = WHY) -> dict[str, Any]:
    return p.submit(reply="TEST_WRONG", summary=summary)


def at_green_of_pr(folder: Path) -> Project:
    p = project(folder).planned()
    assert p.red(WRONG_RED)["status"] == "NEEDS_ANALYSIS"
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    return p


def of_rewriting(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    return [flag for flag in verdict["flags"] if "rewritten after code was tried" in flag["sentence"]]


@pytest.mark.slow
@pytest.mark.parametrize("state", ["EXECUTING_TDD", "DEBUGGING"])
def test_in_pr_a_wrong_test_is_written_again_and_that_is_flagged(tmp_path: Path, state: str) -> None:
    p = at_green_of_pr(tmp_path / "p")
    if state == "DEBUGGING":
        assert "test_add still fails" in p.green()["reasons"][0]
    assert "TEST_WRONG" in p.task()["briefing"]
    p.write({"calc.py": GREEN})
    before = counts(p).get("debug", 0)
    verdict = wrong(p)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("FAILURE", "EXECUTING_TDD", 1), verdict
    assert {name: counts(p).get(name, 0) for name in ("debug", "rewrites")} == {"debug": before + 1, "rewrites": 1}, "it costs an attempt"
    steps = p.plan["tasks"][0]["tdd_steps"]
    assert [(step["type"], step["status"]) for step in steps] == [("RED", "TODO"), ("GREEN", "TODO")]
    told = p.task()["briefing"]
    assert WHY in told and "you write it again" in told
    p.write({"calc.py": ""})
    red = p.red(RED)
    assert red["status"] == "NEEDS_ANALYSIS" and len(of_rewriting(red)) == 1, red
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    green = p.green()
    assert (green["status"], counts(p)) == ("SUCCESS", {}), green
    open_ = p.run("status", "--json").json["flags"]
    assert any("rewritten after code was tried" in json.dumps(flag) for flag in open_), "it stays until the branch lands"


@pytest.mark.slow
def test_in_pr_words_alone_are_refused_and_a_first_red_has_no_way_back(tmp_path: Path) -> None:
    p = at_green_of_pr(tmp_path / "p")
    said = wrong(p, "wrong")
    assert (said["status"], counts(p)) == ("REFUSED", {}) and "say in the summary what is wrong with the test" in said["reasons"][0]
    q = project(tmp_path / "q").planned()
    assert wrong(q)["status"] != "SUCCESS" and counts(q).get("rewrites", 0) == 0


@pytest.mark.slow
def test_in_pr_a_test_can_be_called_wrong_so_often_and_no_more(tmp_path: Path) -> None:
    p = at_green_of_pr(tmp_path / "p")
    for count in (1, 2, 3):
        assert wrong(p)["state"] == "EXECUTING_TDD"
        assert counts(p)["rewrites"] == count
        assert p.red(RED.replace("== 3", f"== {count + 4}"))["status"] == "NEEDS_ANALYSIS"
        assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    assert wrong(p)["state"] == "HALTED"
    assert p.run("status", "--json").json["cause"] == "attempts"


@pytest.mark.slow
def test_a_branch_of_pr_whose_test_was_rewritten_verifies(tmp_path: Path) -> None:
    p = at_green_of_pr(tmp_path / "p")
    assert wrong(p)["state"] == "EXECUTING_TDD"
    assert p.red(RED)["status"] == "NEEDS_ANALYSIS" and p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    assert p.green()["status"] == "SUCCESS"
    assert p.task()["state"] == "CODE_REVIEW"
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", "feat: add numbers")
    assert p.submit(commit_hash=p.git("rev-parse", "HEAD"))["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"
    ran = p.run("verify", "--json")
    assert (ran.code, ran.json["broken"]) == (0, []), ran
    assert [step["phase"] for step in ran.json["steps"]] == ["red", "green", "entry"]
