"""Agents of `tdd` that go round the rules: with git, with notes, with files that do not belong, with processes they leave behind."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.feature import ADD, GREEN, LIST, RED, Feature, at, failed, refused, standing
from tests.project import Ran
from tests.rooms import isolated

# -- git, in a checkout that the agent can write ------------------------------------------------------------------------------


def own_commits(f: Feature) -> None:
    f.git("add", "-A")
    f.git("commit", "-q", "-m", "feat: mine")
    f.git("commit", "-q", "--allow-empty", "-m", "feat: mine too")


def amended(f: Feature) -> None:
    f.git("add", "-A")
    f.git("commit", "-q", "--amend", "-m", "test: rewritten")


def reset_to_the_start(f: Feature) -> None:
    f.git("reset", "-q", "--soft", f.git("rev-list", "--max-parents=0", "HEAD"))
    f.git("commit", "-q", "-m", "all in one")


def branch_moved_away(f: Feature) -> None:
    f.git("update-ref", "refs/heads/main", f.git("rev-list", "--max-parents=0", "HEAD"))


def replaced(f: Feature) -> None:
    own_commits(f)
    f.git("replace", "HEAD", f.git("rev-list", "--max-parents=0", "HEAD"))


REWRITERS: dict[str, Callable[[Feature], None]] = {
    "commits of its own": own_commits,
    "an amended commit": amended,
    "a reset and one commit": reset_to_the_start,
    "a branch that was moved": branch_moved_away,
    "a commit that is replaced": replaced,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REWRITERS)
def test_whatever_an_agent_does_to_the_history_each_phase_ends_in_one_commit_over_the_last(name: str) -> None:
    f = at("GREEN")
    red = f.head
    f.lay({"calc.py": GREEN})
    REWRITERS[name](f)
    theirs = f.head
    verdict = f.submit()
    assert (verdict.status, verdict.state) == ("SUCCESS", "REFACTOR")
    f.git("for-each-ref", "refs/replace") and f.git("replace", "-d", theirs)
    assert f.git("rev-parse", "HEAD^") == red
    assert f.subjects() == ["plan: adds two numbers", "test: adds two numbers", "feat: adds two numbers"]
    assert f.git("rev-parse", "HEAD^{tree}") == (verdict.evidence.tree if verdict.evidence else "")
    assert theirs in f.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{f.run_id}/agent").split(), "theirs is kept"
    assert f.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_commits_of_an_attempt_that_failed_are_taken_off_the_branch_and_kept() -> None:
    f = at("GREEN")
    red = f.head
    f.lay({"calc.py": "def add(a, b):\n    return 7\n", "notes.txt": "mine\n"})
    own_commits(f)
    theirs = f.head
    failed(f, f.submit(), "test_add still fails: AssertionError: assert 7 == 3", "TestFailure", 1, "GREEN")
    assert (f.head, f.git("status", "--porcelain"), f.read("calc.py")) == (red, "", "")
    assert not (f.root / "notes.txt").exists()
    assert f.git("show", f"refs/detent/{f.run_id}/agent/{f.run.seq}:notes.txt") == "mine"
    assert f.git("rev-parse", f"refs/detent/{f.run_id}/agent/{f.run.seq}") == theirs


@pytest.mark.slow
def test_a_stash_another_branch_or_no_branch_is_no_work() -> None:
    f = at("GREEN")
    before = standing(f)
    f.git("checkout", "-q", "-b", "mine")
    f.lay({"calc.py": GREEN})
    own_commits(f)
    refused(f, {**before, "head": f.head}, f.submit(), "the checkout is on mine, but this run is on main")
    f.git("checkout", "-q", "--detach")
    refused(f, {**before, "head": f.head}, f.submit(), "the checkout is on no branch")
    f.git("checkout", "-q", "main")
    assert f.head == before["head"]
    failed(f, f.submit(), "tests/test_add.py still fails: ImportError: cannot import name 'add'", "CompilationError", 1, "GREEN")


def test_hooks_and_configuration_that_could_run_programs_stop_the_machine_before_git_is_called(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p").start()
    trace = tmp_path / "ran"
    hook = f.root / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trace}\n")
    hook.chmod(0o755)
    said = f.cli("submit-work", "--summary", "s")
    assert (said.code, "doctor --accept" in said.err, trace.exists()) == (2, True, False)
    hook.unlink()
    assert f.plan().state == "RED"


# -- files that do not belong -------------------------------------------------------------------------------------------------

JUNK = {"node_modules/left/index.js": "x\n", ".env": "TOKEN=abc\n", "deep/.venv/lib/a.py": "a = 1\n", "built/secret.pem": "key\n"}


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", ["left lying", "staged", "committed"])
def test_dependencies_and_secrets_do_not_get_into_a_commit_however_they_are_handed_in(how: str) -> None:
    f = at("GREEN")
    big = {"big.bin": "x" * 6_000_000}
    f.lay({"calc.py": GREEN, **JUNK, **big})
    if how != "left lying":
        f.git("add", "-A", "-f")
    if how == "committed":
        f.git("commit", "-q", "-m", "feat: everything")
    verdict = f.submit()
    assert verdict.state == "REFACTOR", verdict
    committed = f.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert not {*JUNK, *big} & set(committed), committed
    assert "calc.py" in committed
    assert "[not part of the change: " in verdict.output and "node_modules/left/index.js" in verdict.output
    assert all((f.root / path).exists() for path in (*JUNK, *big)), "the files themselves are left alone"
    staged = f.git("diff", "--cached", "--name-only").splitlines()
    assert staged == []
    assert f.submit().state == "PLAN"
    assert not {*JUNK, *big} & set(f.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())


@pytest.mark.parametrize("committed", [False, True])
def test_a_rollback_leaves_files_alone_that_belong_to_no_change(committed: bool) -> None:
    f = at("GREEN")
    f.lay({"calc.py": "def add(a, b):\n    return 7\n", "new.py": "x = 1\n", **JUNK})
    f.git("add", "-A", "-f")
    if committed:
        f.git("commit", "-q", "-m", "feat: everything")
    failed(f, f.submit(), "test_add still fails: AssertionError: assert 7 == 3", "TestFailure", 1, "GREEN")
    assert all((f.root / path).exists() for path in JUNK)
    assert not (f.root / "new.py").exists()
    assert f.git("diff", "--cached", "--name-only") == ""


def test_a_repository_inside_is_not_taken_in() -> None:
    f = at("GREEN")
    f.lay({"calc.py": GREEN, "inner/a.py": "a = 1\n"})
    f.git("-C", "inner", "init", "-q")
    f.git("-C", "inner", "add", "-A")
    f.git("-C", "inner", "commit", "-q", "-m", "x")
    f.git("add", "inner")
    assert f.submit().state == "REFACTOR"
    assert "inner" not in f.git("ls-tree", "-r", "--name-only", "HEAD")


@pytest.mark.slow
def test_what_a_test_run_writes_never_belongs_to_a_change_however_often_it_writes_it() -> None:
    writes = "import time\n\n\ndef test_log():\n    with open('log.txt', 'w') as f:\n        f.write(str(time.time_ns()))\n"
    f = at("CLOSED", files={"tests/test_log.py": writes})
    assert f.plan({"description": "subtracts two numbers", "testFile": "tests/test_sub.py", "implFile": "calc.py"}, None).state == "RED"
    assert (f.root / "log.txt").exists()
    assert "log.txt" not in f.git("ls-tree", "-r", "--name-only", "HEAD")


# -- notes --------------------------------------------------------------------------------------------------------------------


def test_a_forged_note_is_set_right_and_nothing_is_decided_by_it() -> None:
    f = at("GREEN")
    right, red = f.note(), f.head
    forged = {**right, "phase": "REFACTOR", "nextPhase": "COMPLETE", "completedTests": ["adds two numbers", "subtracts two numbers"]}
    f.git("notes", "--ref=tdd-handoffs", "add", "-f", "-m", json.dumps(forged), red)
    f.git("notes", "--ref=tdd-handoffs", "add", "-f", "-m", "nonsense", "HEAD~1")
    assert (f.run.state, len([e for e in f.run.data.entries if e.done])) == ("GREEN", 0)
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.note(red) == right
    assert f.note("HEAD~2")["phase"] == "PLAN"


def test_notes_that_were_deleted_are_written_again() -> None:
    f = at("GREEN")
    right = f.note()
    f.git("update-ref", "-d", "refs/notes/tdd-handoffs")
    ran = f.cli("repair-notes", "--json")
    assert (ran.code, ran.json["rewritten"]) == (0, 2)
    assert f.note() == right


# -- agents that the machine drives --------------------------------------------------------------------------------------------

PLAN = json.dumps({"summary": "planned", "currentTest": ADD})
WRITES_RED = f"printf '%s' '{RED}' > tests/test_add.py"


def driven(tmp_path: Path, red: str, config: str = "") -> tuple[Feature, Ran]:
    """A run that the machine drives, with a shell script as its agent: it plans, does this at RED, and nothing after it."""
    isolated({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    f = Feature(tmp_path / "p", f"[tdd]\nretries = 0\n{config}", {"tests/test_start.py": "def test_start():\n    pass\n"})
    agent = tmp_path / "agent"
    agent.write_text(
        f"#!/bin/sh\ncase $DETENT_STATE in\nPLAN) printf '%s' '{LIST}' > test-list.md; echo '{PLAN}' ;;\nRED)\n{red}\n;;\nesac\n"
    )
    agent.chmod(0o755)
    return f, f.cli("run", "sums", "--agent", f"command:{agent}", "--json")


@pytest.mark.slow
def test_an_agent_in_the_sandbox_leaves_no_process_behind_and_reaches_no_git(tmp_path: Path) -> None:
    tricks = (
        "git commit -q --allow-empty -m mine 2>>git.log && echo committed > got-through.txt\n"
        "git notes --ref=tdd-handoffs add -f -m forged HEAD 2>>git.log && echo noted > got-through.txt\n"
        "git checkout -q --detach 2>>git.log && echo detached > got-through.txt\n"
        "rm -rf .git 2>>git.log; echo gitdir: /tmp > .git 2>>git.log\n"
        f"{WRITES_RED}; rm -f git.log\n"
        "(setsid sh -c 'sleep 2; echo x > later.txt; echo x > tests/test_start.py') >/dev/null 2>&1 & echo done"
    )
    f, ran = driven(tmp_path, tricks)
    result = ran.json
    assert (ran.code, result["state"], result["outcome"]) == (1, "HALTED", "halted"), ran
    assert [(c["phase"], c["subject"]) for c in result["commits"]] == [
        ("PLAN", "plan: adds two numbers"),
        ("RED", "test: adds two numbers"),
    ]
    assert f.subjects(result["branch"]) == ["plan: adds two numbers", "test: adds two numbers"]
    trees = f.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{result['run']}/trees").split()
    seen = {path for tree in trees for path in f.git("ls-tree", "-r", "--name-only", tree).splitlines()}
    assert "tests/test_add.py" in seen
    assert not {"got-through.txt", "later.txt"} & seen
    assert f.note(result["branch"])["phase"] == "RED"
    status = f.cli("status", "--json").json
    assert (status["cause"], status["counts"]) == ("retries", {})
    assert f.git("status", "--porcelain") == "", "the person's own checkout is as it was"


@pytest.mark.slow
def test_an_agent_that_floods_and_never_ends_is_stopped_and_counted_and_the_run_waits_for_a_person(tmp_path: Path) -> None:
    f, ran = driven(tmp_path, "yes flood | head -c 30000000 & trap '' TERM\nwhile :; do sleep 1; done", "[queue]\ntimeout = 10\n")
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (1, "HALTED", "halted"), ran
    assert len(ran.json["error"]) < 100_000
    assert f.cli("status", "--json").json["cause"] == "agent"
    note = f.note(ran.json["branch"])
    assert (note["phase"], note["nextPhase"], note["errorDetails"]["type"], note["retryCount"]) == ("PLAN", "RED", "Timeout", 0), (
        "no retry was allowed"
    )
    assert [c["phase"] for c in ran.json["commits"]] == ["PLAN"]
