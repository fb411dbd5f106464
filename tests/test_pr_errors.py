"""What could not be judged: ERROR, exit 1, not counted as an attempt, nothing marked; three in a row halt. And two callers at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases import WRONG, await_that, counts, held, is_running, pass_all, project, standing, verdict_of
from tests.machine import need
from tests.project import GREEN, Project
from tests.repos import write

PYTEST = {"test_command": "pytest tests/test_add.py", "expectation": "PASS"}
REAL = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
REPORT = 'for a in "$@"; do case "$a" in --junitxml=*) report="${a#--junitxml=}";; esac; done\n'


def erred(p: Project, before: dict[str, Any], verdict: dict[str, Any], says: str, so_far: int = 1) -> None:
    """An error by this sentence; but for the count of errors in a row, everything is as it was."""
    assert verdict["status"] == "ERROR", verdict
    assert verdict["exit"] == 1
    assert verdict["state"] == before["state"]
    assert says in " ".join(verdict["reasons"]), verdict["reasons"]
    now = standing(p)
    assert now.pop("counts") == {**before["counts"], "errors": so_far}
    assert now == {name: now["runs"] if name == "runs" else value for name, value in before.items() if name != "counts"}


def with_environment(folder: Path, config: str = "") -> Project:
    """A project that has an environment of its own, which stands for pytest as it is installed."""
    p = project(
        folder, f"{config}\n[flags]\ntoolchain = 'allow'\n", {".gitignore": "__pycache__/\n.venv/\n"}
    )  # what it stands for breaks in the middle
    write(p.root, {".venv/bin/python": REAL, ".venv/bin/pytest": REAL})
    install(p, REAL)
    return p


def install(p: Project, python: str) -> None:
    for name in ("python", "pytest"):
        file = p.root / ".venv/bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(python)
        file.chmod(0o755)


BROKEN: dict[str, tuple[str, str]] = {
    "the interpreter is gone": ("", "could not be started"),
    "pytest is not installed": (REAL.replace('"$@"', '-S "$@"'), "No module named pytest"),
    "the report is not written": (f'#!/bin/sh\n{REPORT}"{sys.executable}" "$@"\ncode=$?\nrm -f "$report"\nexit $code\n', "wrote no report"),
    "the report is cut off": (
        f'#!/bin/sh\n{REPORT}"{sys.executable}" "$@"\ncode=$?\nprintf "<testsuites><testc" > "$report"\nexit $code\n',
        "cannot be read",
    ),
    "the report is empty": (f'#!/bin/sh\n{REPORT}"{sys.executable}" "$@"\ncode=$?\n: > "$report"\nexit $code\n', "wrote no report"),
    "the runner is killed": ("#!/bin/sh\nkill -9 $$\n", "signal 9"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_runner_that_does_not_work_is_an_error_and_no_attempt(tmp_path: Path, name: str) -> None:
    p = with_environment(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    before = standing(p)
    python, says = BROKEN[name]
    if python:
        install(p, python)
    else:
        (p.root / ".venv/bin/python").unlink()
    erred(p, before, p.submit(**PYTEST), says)
    install(p, REAL)
    p.write({"calc.py": WRONG})
    assert p.submit(**PYTEST)["status"] == "FAILURE"
    assert "errors" not in standing(p)["counts"], "a judged submit ends the row of errors"
    p.write({"calc.py": GREEN})
    assert p.submit(**PYTEST)["status"] == "SUCCESS"
    assert counts(p) == {}


@pytest.mark.slow
def test_an_error_in_debugging_keeps_the_counter_and_the_last_error(tmp_path: Path) -> None:
    p = with_environment(tmp_path / "p").debugging()
    before = standing(p)
    assert before["counts"] == {"debug": 1}
    install(p, "#!/bin/sh\nkill -9 $$\n")
    p.write({"calc.py": "def add(a, b):\n    return 11\n"})
    erred(p, before, p.submit(**PYTEST), "signal 9")
    assert p.task()["goal"].startswith("Hypothesize & Fix")


@pytest.mark.slow
def test_three_errors_in_a_row_halt_the_run_and_resume_goes_back(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['no-such-linter --strict']\n").reddened()
    p.write({"calc.py": GREEN})
    before = standing(p)
    for count in (1, 2):
        erred(p, before, p.submit(**PYTEST), "'no-such-linter' could not be started", count)
    verdict = p.submit(**PYTEST)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("HALTED", "HALTED", 10)
    assert "no-such-linter" in verdict["reasons"][0]
    assert p.run("get-task").code == 10
    assert p.state["status"] == "HALTED"
    assert p.state["debug_attempt_counter"] == 0
    assert p.plan["tasks"][0]["status"] == "ERROR"
    resumed = p.run("resume", "--json")
    assert (resumed.json["status"], resumed.json["state"], resumed.code) == ("SUCCESS", "EXECUTING_TDD", 0)
    after = standing(p)
    assert {k: after[k] for k in ("step", "counts", "head")} == {k: before[k] for k in ("step", "counts", "head")}
    assert p.submit(**PYTEST)["status"] == "ERROR", "the row of errors begins anew"


@pytest.mark.slow
def test_a_preflight_program_that_the_change_took_away_is_a_failure(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['./lint']\n", {"lint": "#!/bin/sh\nexit 0\n"})
    (p.root / "lint").chmod(0o755)
    p.git("commit", "-qam", "lint")
    p.reddened()
    (p.root / "lint").unlink()
    verdict = p.green()
    assert (verdict["status"], verdict["state"]) == ("FAILURE", "DEBUGGING")
    assert "lint changed; it decides how the work is judged" in verdict["reasons"][0]
    p.git("checkout", "-q", "--", "lint")
    pass_all(p)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, with nothing left on it."""
    folder = tmp_path / "full"
    folder.mkdir()
    need("small disks")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True, capture_output=True)
    with open(folder / "filler", "wb", buffering=0) as file:
        while (os.statvfs(folder).f_bavail - 1) * 4096 > 0:  # one page is left, so that the folder passes for a usable one
            file.write(b"x" * 4096)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_leaves_everything_as_it_was(tmp_path: Path, full_disk: Path) -> None:
    many = (
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(90))\ndef test_many(n):\n    assert n < 90\n"  # a report of several pages
    )
    p = project(tmp_path / "p", files={"tests/test_many.py": many}).reddened()
    p.write({"calc.py": GREEN})
    before, usual = standing(p), dict(p.env)
    p.env["TMPDIR"] = str(full_disk)
    verdict = p.submit(**PYTEST)
    p.env = usual
    erred(p, before, verdict, "")
    assert p.submit(**PYTEST)["status"] == "SUCCESS"


# -- the world moves while it is judged ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_that_changes_while_the_tests_run_makes_the_run_worthless(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    before = standing(p)
    with held(p, **PYTEST) as child:
        p.write({"calc.py": GREEN + "# a second thought\n"})
    erred(p, before, verdict_of(child), "calc.py changed while the tests ran")
    pass_all(p)


@pytest.mark.slow
def test_a_preflight_command_that_changes_the_tree_is_named_and_proves_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['sh tidy.sh']\n", {"tidy.sh": "touch made.txt\necho >> calc.py\n"}).reddened()
    p.write({"calc.py": GREEN})
    before = standing(p)
    verdict = p.submit(**PYTEST)
    erred(p, {**before, "runs": before["runs"] + 1}, verdict, "calc.py changed while `sh tidy.sh` ran")


@pytest.mark.slow
def test_what_a_preflight_command_makes_does_not_belong_to_the_change(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['sh tidy.sh']\n", {"tidy.sh": "touch made.txt\n"}).reviewing()
    assert (p.root / "made.txt").exists() and "made.txt" not in p.git("ls-tree", "-r", "--name-only", "HEAD")
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "AWAITING_FINALIZATION"


@pytest.mark.slow
def test_a_selection_that_changes_the_tree_proves_nothing(tmp_path: Path) -> None:
    writes = "import sys\n\n\ndef test_writes():\n    if '-k' in sys.argv:\n        open('calc.py', 'a').write('# more')\n"
    p = project(tmp_path / "p", files={"tests/test_writes.py": writes}).reddened()
    p.write({"calc.py": GREEN})
    verdict = p.submit(test_command="pytest -k 'add or writes'", expectation="PASS")
    assert verdict["status"] == "ERROR" and "calc.py changed while the tests ran" in verdict["reasons"][0], verdict


@pytest.mark.slow
def test_a_file_that_appears_while_the_tests_run_does_not_belong_to_the_change(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    with held(p, **PYTEST) as child:
        p.write({"coverage.data": "made by a test run"})
    assert verdict_of(child)["status"] == "SUCCESS"
    assert "coverage.data" not in p.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_second_caller_is_told_who_is_busy_and_marks_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    before = standing(p)
    with held(p, **PYTEST) as child:
        verdict = p.submit(**PYTEST)
        assert (verdict["status"], verdict["exit"], verdict["state"]) == ("BUSY", 1, "EXECUTING_TDD")
        assert f"process {child.pid}" in verdict["reasons"][0]
        assert "since" in verdict["reasons"][0]
        assert p.run("get-task", "--json").json["state"] == "EXECUTING_TDD"
        assert standing(p) == {**before, "runs": before["runs"] + 1}
    assert verdict_of(child)["status"] == "SUCCESS"


@pytest.mark.slow
@pytest.mark.needs("terminals")
def test_an_abort_meanwhile_stops_the_tests_and_the_submit_is_stale(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    head = p.git("rev-parse", "HEAD")
    with held(p, **PYTEST) as child:
        tests = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        assert tests
        ran = p.run("abort", "--json")
        assert (ran.json["status"], ran.json["state"], ran.code) == ("SUCCESS", "ABORTED", 0)
        verdict = verdict_of(child)  # the tests still wait: they were stopped
        await_that(lambda: not any(is_running(int(pid)) for pid in tests))
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("STALE", "ABORTED", 1)
    assert verdict["allowed_actions"] == []
    assert p.git("rev-parse", "HEAD") == head
    assert (p.root / "calc.py").read_text() == GREEN, "files stay as they are"
    assert p.state["status"] == "ABORTED"


@pytest.mark.slow
def test_a_steer_meanwhile_gets_in_and_the_submit_is_judged_as_usual(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened("RED", "GREEN", "REFACTOR")
    p.write({"calc.py": GREEN})
    with held(p, **PYTEST) as child:
        ran = p.run("steer", "keep it short", "--json")
        assert (ran.json["status"], ran.code) == ("SUCCESS", 0)
    assert verdict_of(child)["status"] == "SUCCESS"
    task = p.task()
    assert task["step"]["type"] == "REFACTOR"
    assert "keep it short" in task["briefing"]


# -- the reviewer ------------------------------------------------------------------------------------------------------------

ANSWERS: dict[str, tuple[str, str]] = {
    "it crashes": ("exit 1", "failed with exit code 1"),
    "it says nothing": ("true", "the review is empty"),
    "it talks": ("echo Looks good to me", "cannot be read"),
    "it invents a severity": (
        'echo \'[{"file_path": "a", "line_number": 1, "category": "x", "severity": "HUGE", "description": "d"}]\'',
        "cannot be read",
    ),
    "it approves and then crashes": ("echo '[]'\nexit 3", "failed with exit code 3"),
}


def reviewer(tmp_path: Path, does: str) -> str:
    file = tmp_path / "reviewer"
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)
    return f"[review]\nagent = 'command:{file}'\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if n > 1 else []) for n, name in enumerate(ANSWERS)])
def test_a_reviewer_that_does_not_answer_approves_nothing(tmp_path: Path, name: str) -> None:
    does, says = ANSWERS[name]
    p = project(tmp_path / "p", reviewer(tmp_path, does)).reddened()
    pass_all(p)
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (0, "CODE_REVIEW")
    assert says in ran.json["last_error"]
    assert counts(p) == {"errors": 1}
    reviewer(tmp_path, "echo '[]'")
    assert p.task()["state"] == "AWAITING_FINALIZATION"


@pytest.mark.slow
def test_a_reviewer_that_fails_three_times_halts_the_run(tmp_path: Path) -> None:
    p = project(tmp_path / "p", reviewer(tmp_path, "exit 1")).reddened()
    pass_all(p)
    assert [p.run("get-task").code for _ in range(3)] == [0, 0, 10]
    assert p.state["status"] == "HALTED"
    reviewer(tmp_path, "echo '{\"findings\": []}'")
    assert p.run("resume", "--json").json["state"] == "CODE_REVIEW"
    assert p.task()["state"] == "AWAITING_FINALIZATION"


@pytest.mark.slow
def test_a_configured_reviewer_is_not_replaced_by_the_agents_own_word(tmp_path: Path) -> None:
    p = project(tmp_path / "p", reviewer(tmp_path, "exit 1")).reddened()
    pass_all(p)
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "CODE_REVIEW"
    verdict = p.submit(findings="FINDINGS.json")
    assert (verdict["status"], verdict["state"]) == ("REFUSED", "CODE_REVIEW")
    assert "reviewer is configured" in verdict["reasons"][0]
