"""The history bench: which commits are in the corpus, and what is counted of their replay, on a repository of five commits."""

import fcntl
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.history import Commit, Flag, Phase, Replayed, Suite
from bench.history.__main__ import arguments
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


@pytest.mark.slow
def test_a_commit_that_a_test_needs_is_replayed_to_the_merge_and_others_are_left_out_with_the_reason(clone: Path) -> None:
    found = json.loads(bench(clone, "--command", COMMAND, "--json"))
    (ours,) = found["clones"]
    reasons = {each["title"]: each["why_not"] for each in ours["commits"]}
    assert reasons["one that breaks another"].startswith("it breaks 3 tests, such as tests.test_add::test_add")
    assert reasons["a test that passes already"] == "no test needs it"
    assert "only words" not in reasons
    assert (ours["twins"], found["twins"]) == ([], {}), "nobody asked for them"
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_program_without_check_is_told_so(clone: Path) -> None:
    program = clone.parent / "detent"
    program.write_text('#!/bin/sh\necho \'{"error": "No such command check."}\'\nexit 2\n')
    program.chmod(0o755)
    only = sh(clone, "git", "rev-parse", "HEAD~3")
    said = bench(clone, "--command", COMMAND, "--workflow", "check", "--detent", str(program), "--only", only, ends=2)
    assert "has no command `check` yet" in said


def answering(clone: Path, answer: dict[str, object]) -> str:
    """A detent whose check says this of any change."""
    program = clone.parent / "detent"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    program.chmod(0o755)
    return str(program)


CLEAN = {"answer": "clean", "failed": [], "flags": [], "unclear": "", "test_runs": 3.0}
ASKED = {"kind": "unnoticed", "level": "ask", "place": "calc.py:2", "says": "no test fails when calc.py:2 returns something else"}
CARDS: dict[str, tuple[dict[str, object], str, str, str]] = {
    "clean": (CLEAN, "taken", "", ""),
    "noted": ({**CLEAN, "flags": [{**ASKED, "level": "note"}]}, "taken", "", ""),
    "flagged": ({**CLEAN, "answer": "flagged", "flags": [ASKED]}, "flagged", "", ""),
    "failed": ({**CLEAN, "answer": "failed", "failed": ["a::b is gone"], "flags": [ASKED]}, "refused", "failed", "a::b is gone"),
    "unclear": ({**CLEAN, "answer": "could-not-verify", "unclear": "no pytest"}, "refused", "could not verify", "no pytest"),
    "error": ({"error": "no main"}, "refused", "could not verify", "no main"),
    "unheard of": ({"answer": "perhaps"}, "refused", "could not verify", "ERROR"),
}


@pytest.mark.slow
def test_check_is_counted_by_its_answer_and_what_it_could_not_verify_is_refused_with_its_own_cause(clone: Path) -> None:
    only = ("--only", sh(clone, "git", "rev-parse", "HEAD~3"), "--command", COMMAND, "--workflow", "check")
    for card, outcome, at, cause in CARDS.values():
        program = answering(clone, card)
        found = json.loads(bench(clone, *only, "--detent", program, "--json"))
        (replay,) = found["clones"][0]["replays"]
        assert (replay["outcome"], replay["refused_at"], replay["cause"]) == (outcome, at, cause)
        assert (replay["phases"][0]["runs"], replay["suites"] > 0) == (card.get("test_runs", 0), True)
        said = bench(clone, *only, "--detent", program)
        assert ("| unnoticed | 1 " in said) == (outcome == "flagged"), "what a failed change is flagged for does not count"
        assert ("| could not verify | 1 " in said) == (at == "could not verify")
        assert "| check |" in said and "RED" not in said


@pytest.mark.slow
def test_a_path_that_is_not_plain_text_is_part_of_the_change(clone: Path) -> None:
    sh(clone, "git", "reset", "-q", "--hard", "HEAD~4")
    write(clone, {**answers("a + b"), **file_of("sum", "add(3, 2) == 5"), "tests/grün data.txt": "x", "grün mehr.txt": "y"})
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "sum")
    program = clone.parent / "detent"
    program.write_text(f"#!/bin/sh\ncat tests/gr*.txt gr*.txt >&2 && echo '{json.dumps(CLEAN)}'\n")
    program.chmod(0o755)
    only = sh(clone, "git", "rev-parse", "HEAD")
    assert "1 (100 %)" in bench(clone, "--command", COMMAND, "--workflow", "check", "--detent", str(program), "--only", only)


TWINS = ("code-left-out", "test-weakened", "test-deleted", "values-hard-coded", "another-broken")


def spoiled(clone: Path, of: str, kind: str, path: str) -> str:
    return sh(clone.parent / "work/calc/checkout", "git", "show", f"refs/bench/twins/{of}/{kind}:{path}")


@pytest.mark.slow
def test_twins_are_made_of_each_commit_and_those_that_slip_through_are_named(clone: Path) -> None:
    commit, program = sh(clone, "git", "rev-parse", "HEAD~3"), answering(clone, CLEAN)
    asked = ("--command", COMMAND, "--workflow", "check", "--twins", "--detent", program)
    found = json.loads(bench(clone, *asked, "--json"))
    (ours,) = found["clones"]
    assert [(each["twin"]["kind"], each["answer"]) for each in ours["twins"]] == [(kind, "clean") for kind in TWINS]
    assert found["totals"]["corpus"] == 1, "a twin is no commit of the corpus"
    assert found["twins"]["test-weakened"] == {"failed": 0, "flagged": 0, "clean": 1, "could not verify": 0, "no such twin": 0}
    assert spoiled(clone, commit, "code-left-out", "calc.py") == "def add(a, b):\n    return 0"
    assert spoiled(clone, commit, "code-left-out", "README.md") == "add"
    assert spoiled(clone, commit, "test-weakened", "tests/test_add.py").endswith("assert (add(1, 2)) is not None")
    assert "return a + b" in spoiled(clone, commit, "test-weakened", "calc.py")
    assert "test_add.py" not in spoiled(clone, commit, "test-deleted", "tests")
    assert "if a == 1 and b == 2:\n        return 3\n    return 0" in spoiled(clone, commit, "values-hard-coded", "calc.py")
    assert spoiled(clone, commit, "another-broken", "twice.py").endswith("return None")
    said = bench(clone, *asked)
    assert "Slipped through:" in said
    assert f"- {commit[:10]} another-broken (" in said and "twice.py twice: 1 older tests notice it): add adds" in said
    caught = answering(clone, {**CLEAN, "answer": "flagged", "flags": [ASKED, {**ASKED, "kind": "no-proof"}]})
    table = bench(clone, *asked[:-1], caught)
    assert "| test-deleted      | 1    | 0      | 1       | " in table and "Slipped through" not in table
    assert "no-proof 1" in table and "unnoticed 1" in table


@pytest.mark.slow
def test_a_twin_that_cannot_be_made_is_counted_with_the_reason_and_never_as_caught(clone: Path) -> None:
    write(clone, {"calc.py": "RATE = 3\n"})
    sh(clone, "git", "rm", "-rq", "tests", "twice.py")
    write(clone, {"tests/test_rate.py": "import calc\n\n\ndef test_rate():\n    assert calc.RATE == 3\n"})
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "one rate")
    write(clone, {"calc.py": "RATE = 4\n", "tests/test_rate.py": "import calc\n\n\ndef test_rate():\n    assert calc.RATE == 4\n"})
    sh(clone, "git", "commit", "-qam", "another rate")
    program = answering(clone, {**CLEAN, "answer": "failed", "failed": ["no"]})
    only = ("--only", sh(clone, "git", "rev-parse", "HEAD"))
    found = json.loads(bench(clone, "--command", COMMAND, "--workflow", "check", "--twins", "--detent", program, *only, "--json"))
    twins = {each["twin"]["kind"]: (each["answer"], each["twin"]["why_not"]) for each in found["clones"][0]["twins"]}
    assert twins["values-hard-coded"] == (
        "no such twin",
        "no function of its files answers the tests in a way that can be written down",
    )
    assert twins["another-broken"] == ("no such twin", "no function that tests run and the commit leaves alone could be broken")
    assert twins["test-deleted"][0] == "no such twin" and twins["code-left-out"] == ("failed", "")
    said = bench(clone, "--command", COMMAND, "--workflow", "check", "--twins", "--detent", program, *only)
    assert "| values-hard-coded | 0    | 0      | 0       | –  | 0 " in said
    assert "| values-hard-coded | 1       | no function of its files answers" in said


@pytest.mark.slow
def test_tests_that_do_not_load_without_the_code_are_weakened_over_names_with_nothing_behind_them(clone: Path) -> None:
    sh(clone, "git", "reset", "-q", "--hard", "HEAD~1")
    write(
        clone,
        {
            "more.py": "def more(n):\n    return n + 1\n",
            "tests/test_plus.py": "from more import more\n\n\ndef test_plus():\n    assert more(1) == 2\n",
        },
    )
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "more")
    commit, program = sh(clone, "git", "rev-parse", "HEAD"), answering(clone, CLEAN)
    asked = ("--command", COMMAND, "--workflow", "check", "--twins", "test-weakened,values-hard-coded", "--detent", program)
    found = json.loads(bench(clone, *asked, "--only", commit, "--json"))
    assert [each["answer"] for each in found["clones"][0]["twins"]] == ["clean", "clean"]
    assert "from more import more" in spoiled(clone, commit, "test-weakened", "tests/test_plus.py")
    assert "except BaseException" in spoiled(clone, commit, "test-weakened", "tests/test_plus.py")
    assert spoiled(clone, commit, "values-hard-coded", "more.py") == "def more(n):\n    if n == 1:\n        return 2\n    return None"


GO_COMMAND = f"{Path(sys.executable).with_name('go')} test ./..."
GO_TEST = """package calc

import "testing"

func Test{name}(t *testing.T) {{
	if got := {asked}; got != {wanted} {{
		t.Errorf("got %v", got)
	}}
}}
"""
GO_CODE = "package calc\n\nfunc Add(a, b int) int {{\n\treturn {sum}\n}}\n"
LARGE = "package calc\n\nfunc Large(n int) bool {\n\tif n > 9 {\n\t\treturn true\n\t}\n\treturn false\n}\n"
GO_HISTORY = (
    {
        "go.mod": "module example.com/calc\n\ngo 1.21\n", "calc.go": GO_CODE.format(sum="0"), "large.go": LARGE,
        "large_test.go": GO_TEST.format(name="Large", asked="Large(10)", wanted="true"),
    },
    {"calc.go": GO_CODE.format(sum="a + b"), "calc_test.go": GO_TEST.format(name="Add", asked="Add(1, 2)", wanted="3")},
)  # fmt: skip
JS_TEST = """import {{ {name} }} from '../src/{file}.js';
import assert from 'node:assert';
describe('{name}', () => {{
  it('answers', () => {{
    assert.equal({asked}, {wanted});
  }});
}});
"""
JS_CODE = "export function add(a, b) {{\n  return {sum};\n}}\n"
JS_HISTORY = (
    {
        "package.json": '{"name": "calc", "type": "module"}\n', ".gitignore": "node_modules\n", "src/calc.js": JS_CODE.format(sum="0"),
        "src/large.js": "export function large(n) {\n  if (n > 9) { return true; }\n  return false;\n}\n",
        "test/large.test.js": JS_TEST.format(name="large", file="large", asked="large(10)", wanted="true"),
    },
    {"src/calc.js": JS_CODE.format(sum="a + b"), "test/calc.test.js": JS_TEST.format(name="add", file="calc", asked="add(1, 2)", wanted="3")},
)  # fmt: skip
RUNNERS_JS = ROOT / "tests/runners_js/node_modules"


def of_history(repo: Path, *history: dict[str, str]) -> Path:
    repo.mkdir()
    sh(repo, "git", "init", "-qb", "trunk")
    for files in history:
        write(repo, files)
        sh(repo, "git", "add", "-A")
        sh(repo, "git", "commit", "-qm", "change")
    return repo


def every_twin(repo: Path, *args: str) -> dict[str, str]:
    """The patches of all twins, by their kinds, where all could be made."""
    found = json.loads(bench(repo, *args, "--workflow", "check", "--twins", "--detent", answering(repo, CLEAN), "--json"))
    commit, checkout = sh(repo, "git", "rev-parse", "HEAD"), repo.parent / "work" / repo.name / "checkout"
    assert [each["twin"]["why_not"] for each in found["clones"][0]["twins"]] == [""] * len(TWINS)
    return {kind: sh(checkout, "git", "show", "--format=", f"refs/bench/twins/{commit}/{kind}") for kind in TWINS}


@pytest.mark.slow
@pytest.mark.needs("go")
def test_twins_of_go_are_what_the_runner_says_they_are(tmp_path: Path) -> None:
    twins = every_twin(of_history(tmp_path / "calc", *GO_HISTORY), "--command", GO_COMMAND)
    assert "calc.go" not in twins["code-left-out"] and "calc_test.go" not in twins["test-deleted"]
    assert 't.Logf("got %v", got)' in twins["test-weakened"]
    assert "+\tif a == 1 && b == 2 {\n+\t\treturn 3\n+\t}" in twins["values-hard-coded"]
    assert "large.go" in twins["another-broken"]


@pytest.mark.slow
@pytest.mark.needs("runners_js")
def test_twins_of_javascript_are_what_the_runner_says_they_are(tmp_path: Path) -> None:
    repo = of_history(tmp_path / "calc", *JS_HISTORY)
    twins = every_twin(repo, "--command", "node_modules/.bin/mocha --recursive", "--setup", f"ln -s {RUNNERS_JS} node_modules")
    assert "b/src/calc.js" not in twins["code-left-out"] and "calc.test.js" not in twins["test-deleted"]
    assert "assert.ok([add(1, 2), 3]);" in twins["test-weakened"]
    assert "+  if (a === 1 && b === 2) return 3;" in twins["values-hard-coded"]
    assert "src/large.js" in twins["another-broken"]


@pytest.mark.slow
def test_twins_go_through_the_real_gate_by_either_workflow(clone: Path) -> None:
    for workflow in ("check", "pr"):
        found = json.loads(bench(clone, "--command", COMMAND, "--workflow", workflow, "--twins", "--json"))
        answers = {each["twin"]["kind"]: each["answer"] for each in found["clones"][0]["twins"]}
        assert answers["code-left-out"] == answers["another-broken"] == "failed"
        assert answers["test-weakened"] in ("failed", "flagged") and answers["test-deleted"] in ("failed", "flagged")
        assert found["totals"] == {"corpus": 1, "taken": 1, "flagged": 0, "refused": 0}


@pytest.mark.slow
def test_several_clones_are_worked_on_at_the_same_time_and_told_in_one_table(clone: Path) -> None:
    other, program = clone.parent / "other", answering(clone, CLEAN)
    sh(clone.parent, "git", "clone", "-q", str(clone), str(other))
    asked = ("--command", COMMAND, "--workflow", "check", "--detent", program, "--only", sh(clone, "git", "rev-parse", "HEAD~3"))
    together = bench(clone, str(other), *asked, "--twins", "code-left-out", "--jobs", "2")
    assert "| calc  | 1 " in together and "| other | 1 " in together and "| all   | 2         | 2 " in together
    assert together == bench(clone, str(other), *asked, "--twins", "code-left-out")
    empty = clone.parent / "empty"
    sh(clone.parent, "git", "init", "-q", str(empty))
    assert "empty could not be replayed" in bench(clone, str(empty), *asked, "--jobs", "2", ends=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "says"), [(("--twins", "test-mended"), "there is no twin 'test-mended'"), (("--jobs", "0"), "--jobs is at least 1")]
)
def test_a_wish_that_makes_no_sense_is_told_before_anything_is_done(clone: Path, args: tuple[str, ...], says: str) -> None:
    assert says in bench(clone, *args, ends=2)
    assert not (clone.parent / "work").exists()


@pytest.mark.slow
def test_a_set_up_that_fails_is_told_and_nothing_is_kept_of_it(clone: Path) -> None:
    said = bench(clone, "--command", COMMAND, "--setup", "echo no such registry; exit 7", ends=2)
    assert "the set-up failed (7): no such registry" in said
    assert not (clone.parent / "work/calc/ready").exists()


@pytest.mark.slow
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


@pytest.mark.slow
def test_who_ends_several_ends_all_of_them(clone: Path) -> None:
    other, folder, program = clone.parent / "other", clone.parent, clone.parent / "detent"
    sh(folder, "git", "clone", "-q", str(clone), str(other))
    program.write_text(f"#!/bin/sh\nme={folder}/begun-$(basename $(dirname $PWD)); echo $$ > $me.new; mv $me.new $me; exec sleep 600\n")
    program.chmod(0o755)
    only = sh(clone, "git", "rev-parse", "HEAD~3")
    argv = [sys.executable, "-m", "bench", "history", str(clone), str(other), "--jobs", "2", "--work", str(folder / "work"), "--only", only]
    process = subprocess.Popen(
        [*argv, "--command", COMMAND, "--detent", str(program)], cwd=ROOT, env={**os.environ, **PLAIN}, stderr=subprocess.PIPE, text=True
    )
    begun, until = [folder / "begun-calc", folder / "begun-other"], time.monotonic() + 120
    while not all(file.exists() for file in begun) and process.poll() is None and time.monotonic() < until:
        select.select([], [], [], 0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    for stat in (Path(f"/proc/{file.read_text().strip()}/stat") for file in begun):
        assert not stat.exists() or stat.read_text().split()[2] == "Z"


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


NODE_TESTS = """const test = require('node:test');
const assert = require('node:assert');
test('adds', () => assert.equal(1, 1));
test.describe('a group', () => { test.it('adds', () => assert.equal(1, 2)); test.it.skip('waits', () => {}); });
test('steps', async t => { await t.test('first', () => {}); });
"""


@pytest.mark.needs("node")
def test_the_report_of_nodes_own_runner_names_groups_and_files_that_cannot_load(tmp_path: Path) -> None:
    write(tmp_path, {"test/a.test.js": NODE_TESTS, "test/b.test.js": "require('./nothing');\n"})
    runner = runner_of("node --test test/")
    command = runner.asked("node --test test/a.test.js test/b.test.js", str(tmp_path / "report"))
    subprocess.run(shlex.split(command), cwd=tmp_path, capture_output=True, check=False)
    cases, groups = read(runner, tmp_path / "report", "", tmp_path)
    a, b = "test/a.test.js", "test/b.test.js"
    assert cases == {
        f"{a} adds": "passed", f"{a} a group > adds": "failed", f"{a} a group > waits": "skipped", f"{a} steps > first": "passed",
        f"{a} steps": "passed", f"{b} {b}": "failed",
    }  # fmt: skip
    assert set(groups.values()) == {a, b}


def test_an_agent_selects_the_files_that_changed(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    files = ["tests/test_a.py", "tests/data.json"]
    assert selection("python -m pytest --doctest-modules tests", files, tmp_path) == "python -m pytest tests/test_a.py"
    assert selection("npx mocha --require x tests", ["test/a.js"], tmp_path) == "npx mocha --require x test/a.js"
    assert selection("node --test tests", ["test/a.js"], tmp_path) == "node --test test/a.js"
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--command", "go", "test", "./..."], "there is no folder test"),
        (["--command", "python", "-m", "pytest"], "belongs to no option"),
    ],
)
def test_a_command_that_came_without_quotes_is_told_how_to_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments([str(tmp_path), *words])
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told and "a command with blanks is one word, in quotes: --command 'go test ./...'" in told
