"""What could not be judged in a run of `tdd`: ERROR, exit 1, no attempt, nothing marked; three in a row halt. And trouble that stops the machine."""

import json
import os
import sys

import pytest

from detent.errors import DetentError
from detent.interfaces.cli.tell import exit_code
from tests.cases import held, verdict_of
from tests.feature import ADD, GREEN, LIST, RED, WRONG, Feature, at, erred, failed, named, standing

REAL = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
REPORT = 'for a in "$@"; do case "$a" in --junitxml=*) report="${a#--junitxml=}";; esac; done\n'
AFTER = f'#!/bin/sh\n{REPORT}"{sys.executable}" "$@"\ncode=$?\n'

BROKEN: dict[str, tuple[str, str]] = {
    "the interpreter is gone": ("", "could not be started"),
    "pytest is not installed": (REAL.replace('"$@"', '-S "$@"'), "No module named pytest"),
    "the report is not written": (f'{AFTER}rm -f "$report"\nexit $code\n', "wrote no report"),
    "the report is cut off": (f'{AFTER}printf "<testsuites><testc" > "$report"\nexit $code\n', "cannot be read"),
    "the report is empty": (f'{AFTER}: > "$report"\nexit $code\n', "wrote no report"),
    "the runner is killed": ("#!/bin/sh\nkill -9 $$\n", "signal 9"),
}


INSTALLED = {
    ".venv/bin/python": REAL,
    ".venv/bin/pytest": REAL,
}  # an environment of the project's own, which stands for pytest as it is installed
BREAKS = "[flags]\ntoolchain = 'allow'\n"  # and breaks in the middle of a run


def install(f: Feature, python: str) -> None:
    for name in ("python", "pytest"):
        file = f.root / ".venv/bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(python)
        file.chmod(0o755)


@pytest.mark.slow
def test_a_runner_that_does_not_work_is_an_error_and_no_attempt_and_leaves_the_work_alone() -> None:
    f = at("RED", BREAKS, INSTALLED).lay({"tests/test_add.py": RED})
    before = standing(f)
    for python, says in BROKEN.values():
        if python:
            install(f, python)
        else:
            (f.root / ".venv/bin/python").unlink()
        erred(f, before, f.submit(), says)
        assert f.read("tests/test_add.py") == RED
        install(f, REAL)
        assert f.person("steer", note="go on").status == "SUCCESS", "what a person says ends the row of errors"
        before = standing(f)
    assert f.submit().state == "GREEN"
    assert f.run.counts == {}


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["GREEN", pytest.param("REFACTOR", marks=pytest.mark.slow)])
def test_an_error_rolls_nothing_back_and_keeps_the_count_of_retries(phase: str) -> None:
    f = at(phase, BREAKS, INSTALLED)
    failed(
        f,
        f.lay({"calc.py": WRONG}).submit(),
        "test_add still fails" if phase == "GREEN" else "test_add passed before and fails now",
        "TestFailure",
        1,
        phase,
    )
    f.lay({"calc.py": f"{GREEN}\n# better\n", "new.py": "x = 1\n"})
    before = standing(f)
    install(f, "#!/bin/sh\nkill -9 $$\n")
    erred(f, before, f.submit(), "signal 9")
    assert (f.read("calc.py"), f.read("new.py")) == (f"{GREEN}\n# better\n", "x = 1\n")
    install(f, REAL)
    assert f.submit().status == "SUCCESS"


@pytest.mark.slow
def test_three_errors_in_a_row_halt_the_run_and_resume_goes_back_to_the_phase() -> None:
    f = at("GREEN", BREAKS, INSTALLED).lay({"calc.py": GREEN})
    install(f, "#!/bin/sh\nkill -9 $$\n")
    before = standing(f)
    for count in (1, 2):
        erred(f, before, f.submit(), "signal 9", count)
    last = f.submit()
    assert (last.status, last.state, exit_code(last)) == ("HALTED", "HALTED", 10)
    assert (f.run.cause, f.head, f.read("calc.py")) == ("errors", before["head"], GREEN)
    note = f.note()
    assert (note["errorDetails"]["type"], note["nextPhase"], note["retryCount"]) == ("CouldNotVerify", "GREEN", 0)
    install(f, REAL)
    assert f.person("resume").state == "GREEN"
    assert f.submit().state == "REFACTOR", "the work still lies there"


@pytest.mark.slow
def test_what_changes_while_the_tests_run_makes_the_run_worthless() -> None:
    f = at("GREEN").lay({"calc.py": GREEN})
    before = standing(f)
    with held(f.project) as child:
        f.lay({"calc.py": GREEN + "# a second thought\n"})
    verdict = verdict_of(child)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("ERROR", "GREEN", 1)
    assert "calc.py changed while the tests ran" in verdict["reasons"][0]
    assert (f.head, f.run.counts) == (before["head"], {"errors": 1})
    assert f.read("calc.py").endswith("# a second thought\n")
    assert f.submit().state == "REFACTOR"


@pytest.mark.slow
def test_a_second_caller_is_told_who_is_busy_and_an_abort_makes_the_submit_stale() -> None:
    f = at("GREEN").lay({"calc.py": GREEN})
    head = f.head
    with held(f.project) as child:
        second = f.submit()
        assert (second.status, second.state, exit_code(second)) == ("BUSY", "GREEN", 1)
        assert f"process {child.pid}" in second.reasons[0]
        ended = f.cli("abort", "--json")
        assert (ended.code, ended.json["state"]) == (0, "ABORTED")
        verdict = verdict_of(child)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("STALE", "ABORTED", 1)
    assert (f.head, f.read("calc.py")) == (head, GREEN)


def test_a_submit_that_is_repeated_gets_the_same_verdict_and_counts_once() -> None:
    f = at("GREEN")
    first = f.lay({"calc.py": WRONG}).submit(attempt_id="a-1")
    ran = f.runs()
    f.lay({"calc.py": GREEN})
    assert f.submit(attempt_id="a-1") == first
    assert (f.runs(), f.run.counts, f.read("calc.py")) == (ran, {"retries": 1}, GREEN)


def test_notes_that_cannot_be_written_stop_the_run_with_exit_2_and_are_repaired() -> None:
    f = at("GREEN").lay({"calc.py": GREEN})
    right = f.note()
    ref = f.root / ".git/refs/notes/tdd-handoffs"
    ref.write_text("no hash at all\n")
    said = f.cli("submit-work", "--summary", "s")
    assert (said.code, "repair-notes" in said.err) == (2, True), said
    assert f.cli("get-task").code == 2, "it goes on only when the notes can be written"
    mended = f.cli("repair-notes", "--json")
    assert (mended.code, bool(mended.json["put_aside"])) == (0, True)
    assert f.cli("get-task", "--json").json["state"] == "REFACTOR"
    assert f.note("HEAD~1") == right
    assert f.note()["phase"] == "GREEN"
    assert len(f.subjects()) == 3, "the commit of the phase was made once"


@pytest.mark.slow
def test_the_command_line_says_error_by_its_words_and_its_exit_code() -> None:
    f = at("RED", BREAKS, INSTALLED).lay({"tests/test_add.py": RED})
    install(f, "#!/bin/sh\nkill -9 $$\n")
    said = f.cli("submit-work", "-", "--json", stdin=json.dumps({"summary": "s"}))
    assert (said.code, said.json["status"], said.json["state"]) == (1, "ERROR", "RED")
    assert f.cli("status", "--json").json["counts"] == {"errors": 1}


# -- what a run does not start on ----------------------------------------------------------------------------------------------


def test_a_run_does_not_start_where_nothing_can_be_proved() -> None:
    f = at("START")
    for request, says in (("", "there is no feature request"), ("  ", "there is no feature request")):
        with pytest.raises(DetentError, match=says):
            f.start(request)
    said = f.cli("start", "--workflow", "tdd", "sums", "--adopt")
    assert (said.code, "--adopt belongs to pr, not to tdd" in said.err) == (2, True)
    install(f, "#!/bin/sh\nkill -9 $$\n")
    with pytest.raises(DetentError, match=r"the tests cannot be run here: .*signal 9"):
        f.start()
    install(f, REAL)
    f.lay({"tests/test_other.py": "def test_other(:\n"})
    f.git("commit", "-qam", "broken")
    with pytest.raises(DetentError, match=r"the project is red before the run begins: tests/test_other.py"):
        f.start()
    assert f.git("for-each-ref", "refs/notes", "refs/detent") == ""
    assert f.cli("runs", "--json").json["runs"] == []


def test_without_a_test_framework_or_with_one_that_only_says_yes_or_no_there_is_no_run() -> None:
    bare = {"docs/a.md": "a\n"}
    f = at("START")
    f.git("rm", "-rqf", "tests", "pytest.ini", "detent.toml", "calc.py", "other.py")
    f.lay({**bare})
    f.git("add", "-A")
    f.git("commit", "-qm", "bare")
    said = f.cli("start", "--workflow", "tdd", "sums")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("detent: no test framework is recognised here, so nothing could be proved\n")
    assert "[test] command" in said.err
    f.lay({"detent.toml": "[test]\ncommand = 'make check'\n"})
    f.git("add", "-A")
    f.git("commit", "-qm", "make")
    with pytest.raises(DetentError, match="`make check` says only whether all passed"):
        f.start()


def test_a_run_does_not_start_over_a_persons_work_or_beside_another_run() -> None:
    f = at("START")
    f.lay({"scratch.py": "x = 1\n"})
    with pytest.raises(DetentError, match=r"changes that are not committed: scratch.py"):
        f.start()
    f.git("add", "scratch.py")
    with pytest.raises(DetentError, match=r"scratch.py is staged and not committed"):
        f.start()
    f.git("rm", "-qf", "scratch.py")
    f.lay({"calc.py": "x = 1\n"})
    with pytest.raises(DetentError, match=r"changes that are not committed: calc.py"):
        f.start()
    f.git("checkout", "-q", "--", ".")
    f.git("checkout", "-q", "--detach")
    with pytest.raises(DetentError, match="HEAD is detached"):
        f.start()
    f.git("checkout", "-q", "main")
    os.utime(f.root / "calc.py", (1, 1))
    f.start()  # a file that was only touched is as it was
    with pytest.raises(DetentError, match=f"run {f.run_id} is open in this checkout"):
        Feature.start(f)
    f.lay({"test-list.md": LIST})
    assert f.submit(named(ADD)).state == "RED"
