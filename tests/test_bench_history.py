"""The history bench: which commits are in the corpus, and what is counted of their replay, on a repository of five commits."""

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.history import Commit, Flag, Phase, Replayed, Suite
from bench.history.caller import told
from bench.history.causes import cause_of
from bench.history.corpus import fail_to_pass
from bench.history.names import is_code, is_module, is_test
from bench.history.report import Findings, in_json, text
from bench.history.runners import read, runner_of, selection
from tests.project import INI, ROOT
from tests.repos import PLAIN, sh, write

COMMAND = f"{sys.executable} -m pytest"
TWICE = {
    "twice.py": "def twice(n):\n    return n + n\n",
    "tests/test_twice.py": "from twice import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
}
START = {"calc.py": "def add(a, b):\n    return 0\n", "pytest.ini": INI, ".gitignore": "__pycache__/\n", **TWICE}


def file_of(name: str, *asked: str) -> dict[str, str]:
    lines = "".join(f"    assert {each}\n" for each in asked)
    return {f"tests/test_{name}.py": f"from calc import add\n\n\ndef test_{name}():\n{lines}"}


def answers(expression: str) -> dict[str, str]:
    return {"calc.py": f"def add(a, b):\n    return {expression}\n"}


HISTORY = (
    ("start", {**START, **file_of("zero", "add(0, 0) == 0")}),
    ("add adds", {**answers("a + b"), **file_of("add", "add(1, 2) == 3"), "README.md": "add\n"}),
    ("only words", {"README.md": "adds\n"}),
    ("a test that passes already", {**answers("b + a"), **file_of("more", "add(2, 2) == 4")}),
    ("one that breaks another", {**answers("a + b + 1"), **file_of("one", "add(1, 1) == 3")}),
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    repo = tmp_path / "calc"
    repo.mkdir()
    sh(repo, "git", "init", "-qb", "trunk")
    for title, files in HISTORY:
        write(repo, files)
        sh(repo, "git", "add", "-A")
        sh(repo, "git", "commit", "-qm", title)
    return repo


def bench(clone: Path, *args: str, ends: int = 0) -> str:
    argv = [sys.executable, "-m", "bench", "history", str(clone), "--work", str(clone.parent / "work"), *args]
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, **PLAIN}, capture_output=True, text=True)
    assert done.returncode == ends, done.stdout + done.stderr
    return done.stdout or done.stderr


def test_a_commit_that_a_test_needs_is_replayed_to_the_merge_and_others_are_left_out_with_the_reason(clone: Path) -> None:
    found = json.loads(bench(clone, "--command", COMMAND, "--json"))
    (ours,) = found["clones"]
    reasons = {each["title"]: each["why_not"] for each in ours["commits"]}
    assert reasons["one that breaks another"].startswith("it breaks 3 tests, such as tests.test_add::test_add")
    assert reasons["a test that passes already"] == "no test needs it"
    assert "only words" not in reasons
    (replay,) = ours["replays"]
    assert (replay["title"], replay["refused_at"], replay["cause"]) == ("add adds", "", "")
    phases = {each["name"]: each for each in replay["phases"]}
    assert phases["RED"]["status"] == "NEEDS_ANALYSIS"
    assert phases["GREEN"]["status"] == "SUCCESS"
    assert phases["GREEN"]["cpu"] > 0.1
    assert phases["merge"]["state"] == "INITIALIZING"
    assert found["totals"]["corpus"] == 1
    assert found["totals"]["refused"] == 0
    assert sh(clone, "git", "status", "--porcelain") == ""
    assert sh(clone, "git", "for-each-ref", "--format=%(refname)") == "refs/heads/trunk"
    kept = {file: file.stat().st_mtime_ns for file in (clone.parent / "work/calc").glob("*/*.json")}
    assert json.loads(bench(clone, "--json")) == found  # nothing is said again, and nothing is done again
    assert kept == {file: file.stat().st_mtime_ns for file in kept}


def test_a_refusal_is_counted_by_its_cause_and_stops_the_replay(clone: Path) -> None:
    program = clone.parent / "detent"
    verdict = {"status": "REFUSED", "state": "INITIALIZING", "reasons": ["tests/test_add.py::test_add is not to my taste"]}
    briefing = {"state": "INITIALIZING", "actor": "agent"}
    program.write_text(
        f"#!/bin/sh\ncase $1 in submit-work) echo '{json.dumps(verdict)}'; exit 1 ;; *) echo '{json.dumps(briefing)}' ;; esac\n"
    )
    program.chmod(0o755)
    said = bench(clone, "--command", COMMAND, "--detent", str(program), "--only", sh(clone, "git", "rev-parse", "HEAD~3"))
    assert "| plan       | 1       | … is not to my taste |" in said
    assert "1 (100 %)" in said


def test_a_program_without_check_is_told_so(clone: Path) -> None:
    program = clone.parent / "detent"
    program.write_text('#!/bin/sh\necho \'{"error": "No such command check."}\'\nexit 2\n')
    program.chmod(0o755)
    only = sh(clone, "git", "rev-parse", "HEAD~3")
    said = bench(clone, "--command", COMMAND, "--workflow", "check", "--detent", str(program), "--only", only, ends=2)
    assert "has no command `check` yet" in said


def test_a_set_up_that_fails_is_told_and_nothing_is_kept_of_it(clone: Path) -> None:
    said = bench(clone, "--command", COMMAND, "--setup", "echo no such registry; exit 7", ends=2)
    assert "the set-up failed (7): no such registry" in said
    assert not (clone.parent / "work/calc/ready").exists()


def test_an_interrupted_call_leaves_nothing_running_and_the_next_one_goes_on(clone: Path) -> None:
    program, begun = clone.parent / "detent", clone.parent / "begun"
    program.write_text(f"#!/bin/sh\necho $$ > {begun}.new; mv {begun}.new {begun}; exec sleep 600\n")
    program.chmod(0o755)
    only = sh(clone, "git", "rev-parse", "HEAD~3")
    argv = [sys.executable, "-m", "bench", "history", str(clone), "--work", str(clone.parent / "work"), "--detent", str(program)]
    process = subprocess.Popen(
        [*argv, "--command", COMMAND, "--only", only], cwd=ROOT, env={**os.environ, **PLAIN}, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 120
    while not begun.exists() and process.poll() is None and time.monotonic() < until:
        select.select([], [], [], 0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same call goes on from here" in said
    stat = Path(f"/proc/{begun.read_text().strip()}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"
    program.write_text('#!/bin/sh\necho \'{"error": "no plan"}\'\nexit 2\n')
    said = bench(clone, "--detent", str(program), "--only", only)
    assert "| start      | 1       | no plan |" in said


def test_two_calls_on_one_clone_do_not_work_at_the_same_time(clone: Path) -> None:
    folder = clone.parent / "work/calc"
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another call works on calc" in bench(clone, "--command", COMMAND, "--corpus", ends=2)


def test_without_a_command_it_is_asked_for(clone: Path) -> None:
    assert "nothing says how calc is tested" in bench(clone, ends=2)


@pytest.mark.parametrize(
    "path", ["tests/data/a.json", "pkg/a_test.go", "src/a.test.ts", "src/__snapshots__/a.snap", "conftest.py", "a/testdata/x"]
)
def test_tests_and_their_data_are_known_by_their_names(path: str) -> None:
    assert is_test(path)
    assert not is_code(path)


@pytest.mark.parametrize("path", ["src/click/testing.py", "contest.py", "lib/latest.js", "flag.go"])
def test_code_is_not_taken_for_a_test(path: str) -> None:
    assert not is_test(path)
    assert is_code(path)


def test_data_is_nothing_a_runner_can_be_given() -> None:
    assert not is_module("tests/data/a.json")
    assert is_module("test/validators.test.js")


def test_a_test_that_is_missing_counts_only_if_its_file_could_not_be_loaded() -> None:
    commit = Commit("c", "t", "p", ("tests/a.py", "tests/b.py"))
    groups = {"a1": "tests/a.py", "a2": "tests/a.py", "b1": "tests/b.py", "c1": "tests/c.py"}
    after = Suite(dict.fromkeys(groups, "passed"), groups, 1, 1)
    mixed = Suite({"a1": "passed", "c0": "failed"}, {"a1": "tests/a.py", "c0": "tests/c.py"}, 1, 1)
    assert fail_to_pass(commit, mixed, after, by_file=True) == ("b1",)
    assert fail_to_pass(commit, Suite({"a1": "failed"}, {"a1": "tests/a.py"}, 1, 1), after, by_file=True) == ("a1", "a2", "b1")


CASES = [{"fullName": "one", "status": "passed"}, {"fullName": "two", "status": "failed"}, {"fullName": "three", "status": "pending"}]
VITEST = [
    {"name": "/r/a.ts", "status": "failed", "assertionResults": CASES},
    {"name": "/r/b.ts", "status": "failed", "assertionResults": []},
]
MOCHA = [{"fullTitle": "one", "file": "/r/a.js", "err": {}}, {"fullTitle": "two", "file": "/r/a.js", "err": {"message": "no"}}]
GO = [{"Action": "pass", "Test": "A"}, {"Action": "fail", "Test": "B"}, {"Action": "skip", "Test": "C"}, {"Action": "fail"}]
JUNIT = """<testsuite><testcase classname='tests.a' name='one' file='tests/a.py'/>
<testcase classname='tests.a' name='at[0x7f2a]' file='tests/a.py'><failure/></testcase>
<testcase classname='' name='tests.b'><error/></testcase></testsuite>"""
REPORTS = {
    "npx vitest run": (
        json.dumps({"testResults": VITEST}),
        "",
        {"a.ts one": "passed", "a.ts two": "failed", "a.ts three": "skipped", "b.ts": "failed"},
    ),
    "npx mocha": (json.dumps({"tests": MOCHA, "pending": []}), "", {"a.js one": "passed", "a.js two": "failed"}),
    "go test ./...": (
        "",
        "".join(json.dumps({**each, "Package": "p"}) + "\n" for each in GO) + "noise\n",
        {"p.A": "passed", "p.B": "failed", "p.C": "skipped"},
    ),
    "cargo test": ("", "test a::one ... ok\ntest a::two ... FAILED\n", {"a::one": "passed", "a::two": "failed"}),
    "python -m pytest": (JUNIT, "", {"tests.a::one": "passed", "tests.a::at[…]": "failed", "::tests.b": "failed"}),
}


@pytest.mark.parametrize("command", REPORTS)
def test_each_runner_is_read_by_its_own_report(command: str, tmp_path: Path) -> None:
    report, output, expected = REPORTS[command]
    (tmp_path / "report").write_text(report)
    assert read(runner_of(command), tmp_path / "report", output, Path("/r"))[0] == expected


def test_an_agent_selects_the_files_that_changed(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    files = ["tests/test_a.py", "tests/data.json"]
    assert selection("python -m pytest --doctest-modules tests", files, tmp_path) == "python -m pytest tests/test_a.py"
    assert selection("npx mocha --require x tests", ["test/a.js"], tmp_path) == "npx mocha --require x test/a.js"
    assert selection("go test ./...", ["a_test.go", "sub/b_test.go"], tmp_path) == "go test . ./sub"
    assert selection("python -m pytest tests", ["tests/data.json"], tmp_path) == "python -m pytest tests"


def test_flags_are_read_of_both_shapes_of_a_verdict() -> None:
    assert told({"status": "SUCCESS", "reasons": ["f is unnoticed"]}) == (
        "SUCCESS",
        ("f is unnoticed",),
        (Flag("remark", "f is unnoticed"),),
    )
    flags = [{"kind": "unnoticed", "place": "a.py:1", "sentence": "no test fails", "policy": "note"}]
    status, reasons, (flag,) = told({"status": "SUCCESS", "reasons": ["fine"], "flags": flags})
    assert (status, reasons, flag) == ("SUCCESS", ("fine",), Flag("unnoticed", "no test fails", "a.py:1", "note"))
    assert not flag.asks
    assert told({"error": "no plan", "hint": "write it"})[:2] == ("ERROR", ("no plan",))


def test_a_note_does_not_make_a_commit_a_flagged_one() -> None:
    noted = Replayed("h", "t", (Phase("GREEN", "SUCCESS", (), (Flag("k", "s", policy="note"),), cpu=4.0),), 2.0)
    asked = Replayed("h", "t", (Phase("GREEN", "SUCCESS", (), (Flag("k", "s"),), cpu=4.0),), 2.0)
    assert (noted.outcome, asked.outcome, asked.suites()) == ("taken", "flagged", 2.0)
    found = [Findings("calc", "abc", [Commit("h", "t", "p", ("a",))], [noted, asked])]
    assert in_json(found, "pr", "v")["totals"] == {"corpus": 2, "taken": 1, "flagged": 1, "refused": 0}
    assert "| k    | 1       | s     |" in text(found)


@pytest.mark.parametrize(
    "sentence",
    [
        "tests/test_a.py::test_b[x y] passes already, so it proves nothing",
        "flag_test.go::TestCustom passes already, so it proves nothing",
        "test/a.test.ts::parse > an url passes already, so it proves nothing",
    ],
)
def test_causes_are_the_same_whatever_the_test_is_called(sentence: str) -> None:
    assert cause_of(sentence) == "… passes already, so it proves nothing"
