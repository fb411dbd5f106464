"""The handoff notes of a run of `tdd`: one on every phase's commit, with the promised fields, for success and failure; and going on from notes alone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.errors import DetentError
from detent.git.notes import HANDOFFS, fetch_notes, list_notes, push_notes
from detent.workflows.tdd.tdd_notes import newest_handoff
from tests.feature import ADD, GREEN, LIST, NONE, RED, SUBTRACT, WRONG, Feature, at
from tests.repos import git_at, make_repo, sh
from tests.rooms import isolated

FIELDS = [
    "phase", "nextPhase", "cycleNumber", "currentTest", "completedTests", "pendingTests", "testResult", "error", "errorDetails", "retryCount",
    "featureRequest", "schemaVersion",
]  # fmt: skip
RED_SUB = "import calc\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n"
GREEN_SUB = GREEN + "\n\ndef sub(a, b):\n    return a - b\n"
SUMS, ADDS, SUBS = "sums", "adds two numbers", "subtracts two numbers"


def a_note(phase: str, then: str, cycle: int, now: dict[str, str] | None, done: list[str], left: list[str], result: str) -> dict[str, Any]:
    return {
        "phase": phase, "nextPhase": then, "cycleNumber": cycle, "currentTest": now, "completedTests": done, "pendingTests": left,
        "testResult": result, "error": None, "errorDetails": None, "retryCount": 0, "featureRequest": SUMS, "schemaVersion": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_a_whole_feature_leaves_one_commit_and_one_note_a_phase_with_the_promised_fields(tmp_path: Path) -> None:
    f = at("CLOSED")
    assert f.plan(SUBTRACT, None).state == "RED"
    assert f.lay({"tests/test_sub.py": RED_SUB}).submit().state == "GREEN"
    assert f.lay({"calc.py": GREEN_SUB}).submit(summary="Fix the missing subtraction").state == "REFACTOR"
    assert f.lay({"calc.py": f'"""Sums."""\n\n\n{GREEN_SUB}'}).submit().state == "PLAN"
    assert f.submit(NONE).state == "LANDING"
    assert f.app().door.next(f.run_id).state == "COMPLETE"
    assert f.subjects() == [
        "plan: adds two numbers", "test: adds two numbers", "feat: adds two numbers", "refactor: no changes needed",
        "plan: subtracts two numbers", "test: subtracts two numbers", "fix: subtracts two numbers", "refactor: subtracts two numbers",
        "plan: every test of the list is done",
    ]  # fmt: skip
    commits = f.git("rev-list", "--reverse", "--first-parent", "HEAD").split()[1:]
    assert [f.note(c) for c in commits] == [
        a_note("PLAN", "RED", 1, ADD, [], [SUBS], "PASS"),
        a_note("RED", "GREEN", 1, ADD, [], [SUBS], "FAIL"),
        a_note("GREEN", "REFACTOR", 1, ADD, [], [SUBS], "PASS"),
        a_note("REFACTOR", "PLAN", 1, ADD, [ADDS], [SUBS], "PASS"),
        a_note("PLAN", "RED", 2, SUBTRACT, [ADDS], [], "PASS"),
        a_note("RED", "GREEN", 2, SUBTRACT, [ADDS], [], "FAIL"),
        a_note("GREEN", "REFACTOR", 2, SUBTRACT, [ADDS], [], "PASS"),
        a_note("REFACTOR", "PLAN", 2, SUBTRACT, [ADDS, SUBS], [], "PASS"),
        a_note("PLAN", "COMPLETE", 2, None, [ADDS, SUBS], [], "PASS"),
    ]
    assert list(f.note()) == FIELDS
    assert len(f.git("notes", "--ref=tdd-handoffs", "list").splitlines()) == 9
    assert f.git("show", "--format=", "--name-only", commits[3]) == "", "the empty refactoring is an empty commit"
    assert f.git("show", "--format=", "--name-only", commits[4]) == "test-list.md"
    assert "+- [x] adds two numbers" in f.git("show", "--format=", commits[4]), "the box is ticked by the commit of the next PLAN"
    assert f.git("status", "--porcelain") == ""
    assert f.read("test-list.md") == LIST.replace("[ ]", "[x]")


@pytest.mark.slow
def test_the_note_of_a_failed_attempt_tells_what_went_wrong_and_is_cleared_by_the_next_success() -> None:
    f = at("GREEN")
    for _ in range(2):
        f.lay({"calc.py": WRONG}).submit(summary="should be right")
    note = f.note()
    assert list(note) == FIELDS
    assert (note["phase"], note["nextPhase"], note["testResult"], note["retryCount"]) == ("RED", "GREEN", "FAIL", 2)
    assert note["errorDetails"] == {
        "type": "TestFailure",
        "message": "tests/test_add.py::test_add still fails: AssertionError: assert 0 == 3 (tests/test_add.py:5)",
    }
    assert note["error"].startswith(f"{note['errorDetails']['message']}\n") and " 1 failed, 2 passed in" in note["error"]
    red = f.head
    f.lay({"calc.py": GREEN}).submit()
    assert f.note()["errorDetails"] is None and f.note()["retryCount"] == 0
    assert f.note(red)["retryCount"] == 2, "what the phase before was left with stays where it was"


def test_a_failure_before_the_first_commit_of_a_run_is_noted_on_the_commit_it_began_from() -> None:
    f = at("PLAN")
    start = f.head
    f.lay({"test-list.md": LIST, "calc.py": GREEN}).submit(json.dumps({"currentTest": ADD}))
    note = f.note(start)
    assert (note["phase"], note["nextPhase"], note["cycleNumber"], note["currentTest"]) == ("PLAN", "PLAN", 0, None)
    assert note["errorDetails"]["type"] == "RuleBroken"


@pytest.mark.slow
def test_the_note_of_a_run_that_gave_up_says_so_and_a_resume_and_success_clear_it() -> None:
    f = at("RED", "[tdd]\nretries = 1\n")
    for _ in range(2):
        f.submit()
    assert f.run.state == "HALTED"
    note = f.note()
    assert (note["phase"], note["nextPhase"], note["retryCount"]) == ("PLAN", "RED", 1)
    assert note["errorDetails"]["type"] == "UnexpectedPass"
    assert f.person("resume").state == "RED"
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    assert (f.note()["phase"], f.note()["error"]) == ("RED", None)


@pytest.mark.slow
def test_a_clone_that_has_only_the_notes_goes_on_and_does_not_believe_a_forged_one(tmp_path: Path) -> None:
    """The last phase is judged again first; a note that says more than holds is told and nothing is begun."""
    isolated({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    f = at("GREEN", files={"tests/test_start.py": "def test_start():\n    pass\n"})
    script = tmp_path / "script.yaml"
    script.write_text(
        json.dumps(
            [
                {"state": "GREEN", "write": {"calc.py": GREEN}, "reply": "done"},
                {"state": "REFACTOR", "reply": "nothing to do"},
                {"state": "PLAN", "fail": {"sort": "ModelUnavailable", "message": "enough for now"}},
            ]
        )
    )
    clone = tmp_path / "clone"
    sh(tmp_path, "git", "clone", "-q", str(f.root), str(clone))
    there = Feature.__new__(Feature)
    there.project, there.root, there.env, there.run_id = f.project, clone, f.env, ""
    there.project.root = clone
    went = there.cli("resume", "--agent", f"scripted:{script}", "--json")
    assert (went.code, went.json["state"]) == (10, "HALTED"), went
    assert [c["phase"] for c in went.json["commits"]] == ["GREEN", "REFACTOR"]
    assert there.note(went.json["branch"])["completedTests"] == [ADDS]
    forged = {**there.note("origin/main"), "phase": "GREEN", "nextPhase": "REFACTOR"}
    second = tmp_path / "second"
    sh(tmp_path, "git", "clone", "-q", str(clone), str(second), "-b", "main")
    there.root = there.project.root = second
    sh(second, "git", "notes", "--ref=tdd-handoffs", "add", "-f", "-m", json.dumps(forged), "HEAD")
    said = there.cli("resume", "--agent", f"scripted:{script}")
    assert said.code == 2
    assert "the notes say that GREEN passed" in said.err and "and it does not here" in said.err
    assert there.cli("runs", "--json").json["runs"] == []


def test_notes_of_the_remote_are_joined_with_those_that_are_here_and_a_fetch_that_fails_is_told(tmp_path: Path) -> None:
    sh(tmp_path, "git", "init", "-q", "--bare", "hub")
    one, two = (make_repo(tmp_path / name, {"a": name}) for name in ("one", "two"))
    for repo in (one, two):
        sh(repo, "git", "remote", "add", "origin", str(tmp_path / "hub"))
        sh(repo, "git", "notes", "--ref=tdd-handoffs", "add", "-m", f"of {repo.name}", "HEAD")
    assert push_notes(git_at(one), "origin", HANDOFFS, "nothing-here") == ""
    fetch_notes(git_at(two), HANDOFFS, "origin")
    assert len(list_notes(git_at(two), HANDOFFS)) == 2
    fetch_notes(git_at(two), HANDOFFS, "origin")  # and again, when nothing is new
    fetch_notes(git_at(two), "never-pushed", "origin")
    fetch_notes(git_at(two), HANDOFFS, "nowhere")
    (tmp_path / "hub" / "HEAD").unlink()
    with pytest.raises(DetentError, match="the notes of origin could not be fetched"):
        fetch_notes(git_at(two), HANDOFFS, "origin")


def test_the_newest_commit_with_a_note_is_found_and_all_of_them_are_listed() -> None:
    f = at("GREEN")
    red, plan = f.git("rev-parse", "HEAD", "HEAD^").split()
    f.git("commit", "-q", "--allow-empty", "-m", "by hand, without a note")
    git = git_at(f.root)
    commit, note = newest_handoff(git, f.head)
    assert (commit, note.phase) == (red, "RED")
    assert newest_handoff(git, plan)[1].phase == "PLAN"
    assert set(list_notes(git, HANDOFFS)) == {red, plan}
