"""Work that was judged and found wrong: FAILURE, counted, DEBUGGING, exit 1, and nothing is committed or marked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases import WRONG, await_that, is_running, pass_all, project, runs
from tests.project import GREEN, INI, RED, Project

Files = dict[str, str | None]
RIGHT: Files = {"calc.py": GREEN}
STARTED = "def test_start():\n    assert True\n"


def lay(p: Project, files: Files) -> None:
    """Write these files; None deletes one."""
    p.write({path: text for path, text in files.items() if text is not None})
    for path, text in files.items():
        if text is None:
            (p.root / path).unlink()


def afresh(p: Project) -> None:
    """Take back what was written since the last commit."""
    p.git("checkout", "-q", "--", ".")
    p.git("clean", "-fdq")


def groups(table: dict[str, tuple[Files, str]]) -> list[list[str]]:
    """A table in parts: the cases of one part are met one after the other by the same project, so that each is counted."""
    return [list(table)[at : at + 6] for at in range(0, len(table), 6)]


def hand_in(p: Project, expectation: str, command: str = "pytest") -> dict[str, Any]:
    return p.submit(test_command=command, expectation=expectation)


def failed(p: Project, verdict: dict[str, Any], says: str, count: int = 1, head: str = "") -> None:
    """A failure by this sentence: counted, debugged, shown, and nothing of it is committed or marked."""
    assert verdict["status"] == "FAILURE", verdict
    assert (verdict["exit"], verdict["state"]) == (1, "DEBUGGING")
    assert any(says in reason for reason in verdict["reasons"]), verdict["reasons"]
    assert (p.state["status"], p.state["debug_attempt_counter"]) == ("DEBUGGING", count)
    assert (p.root / "error.log").read_text() == p.state["last_error"] != ""
    assert not head or p.git("rev-parse", "HEAD") == head


# -- RED ---------------------------------------------------------------------------------------------------------------------

REDS: dict[str, tuple[Files, str]] = {
    "passes already": ({"tests/test_add.py": "def test_add():\n    assert 1 + 2 == 3\n"}, "already passes"),
    "no test at all": ({"tests/test_add.py": "def check_add():\n    assert False\n"}, "no test fails"),
    "nothing written": ({}, "no test fails"),
    "production code too": ({"tests/test_add.py": RED, "calc.py": GREEN}, "calc.py changed; a RED step writes tests only"),
    "production code broken": ({"tests/test_add.py": RED, "calc.py": "def add(:\n"}, "calc.py changed; a RED step writes tests only"),
    "an existing test deleted": (
        {"tests/test_add.py": RED, "tests/test_start.py": None},
        "test_start is gone; tests must not be removed. Restore it: git restore --source=",
    ),
    "every test deleted": ({"tests/test_start.py": None}, "no test was collected"),
    "runner configuration": (
        {"tests/test_add.py": RED, "pytest.ini": INI + "python_files = *.py\n"},
        "pytest.ini changed; a RED step writes tests only",
    ),
    "a syntax error in the test": ({"tests/test_add.py": "def test_add(:\n    pass\n"}, "SyntaxError"),
    "a syntax error elsewhere": (
        {"tests/test_add.py": RED, "tests/test_start.py": "def test_start(:\n    pass\n"},
        "test_start.py can no longer be loaded",
    ),
    "a fixture that nobody wrote": ({"tests/test_add.py": "def test_add(two):\n    assert two\n"}, "fixture 'two' not found"),
    "a name that the test forgot": ({"tests/test_add.py": "def test_add():\n    assert sqrt(4) == 3\n"}, "name 'sqrt' is not defined"),
    "only skipped": ({"tests/test_add.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_add():\n    assert False\n"}, "no test fails"),
    "only expected to fail": (
        {"tests/test_add.py": "import pytest\n\n\n@pytest.mark.xfail\ndef test_add():\n    assert False\n"},
        "no test fails",
    ),
    "leaves the process": ({"tests/test_add.py": "import os\n\n\ndef test_add():\n    os._exit(0)\n"}, "gave no result"),
    "leaves the process with a failure": ({"tests/test_add.py": "import os\n\n\ndef test_add():\n    os._exit(1)\n"}, "gave no result"),
    "leaves the process at import": (
        {"tests/test_add.py": "import sys\n\nsys.exit(0)\n\n\ndef test_add():\n    assert False\n"},
        "gave no result",
    ),
    "kills the process": ({"tests/test_add.py": "import os\n\n\ndef test_add():\n    os.kill(os.getpid(), 9)\n"}, "gave no result"),
    "ends the session": ({"tests/test_add.py": "import pytest\n\n\ndef test_add():\n    pytest.exit('enough', 1)\n"}, "gave no result"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("names", groups(REDS), ids=", ".join)
def test_a_red_step_fails_that_does_not_show_what_is_missing(tmp_path: Path, names: list[str]) -> None:
    p = project(tmp_path / "p", files={"tests/test_start.py": STARTED}).planned()
    head = p.git("rev-parse", "HEAD")
    for count, name in enumerate(names, 1):
        files, says = REDS[name]
        lay(p, files)
        failed(p, hand_in(p, "FAIL"), says, count, head)
        assert p.plan["tasks"][0]["tdd_steps"][0]["status"] == "TODO", name
        afresh(p)
    assert p.red()["status"] == "NEEDS_ANALYSIS"


@pytest.mark.slow
def test_a_red_selection_that_passes_is_no_red(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.write({"tests/test_add.py": RED})
    failed(p, hand_in(p, "FAIL", "pytest tests/test_start.py"), "all selected tests pass")
    failed(p, hand_in(p, "FAIL", "pytest tests/test_nowhere.py"), "selects no test", count=2)
    assert hand_in(p, "FAIL", "pytest tests/test_add.py::test_add")["status"] == "NEEDS_ANALYSIS"


@pytest.mark.slow
def test_an_analysis_that_says_failure_is_debugged_and_cleared_by_the_next_red(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    assert p.red(RED.replace("calc", "clac"))["status"] == "NEEDS_ANALYSIS"
    verdict = p.submit(analysis_decision="FAILURE")
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("FAILURE", "DEBUGGING", 1)
    assert p.state["debug_attempt_counter"] == 1
    assert p.red()["state"] == "NEEDS_ANALYSIS"
    assert p.state["debug_attempt_counter"] == 1, "cleared on SUCCESS, not before"
    assert p.submit(analysis_decision="SUCCESS")["state"] == "EXECUTING_TDD"
    assert p.state["debug_attempt_counter"] == 0
    assert "last_error" not in p.state
    assert not (p.root / "error.log").exists()


# -- GREEN -------------------------------------------------------------------------------------------------------------------

GREENS: dict[str, tuple[Files, str]] = {
    "the test fails still": ({"calc.py": WRONG}, "test_add still fails: "),
    "nothing written": ({}, "test_add.py"),
    "does not compile": ({"calc.py": "def add(:\n"}, "test_add.py"),
    "breaks another": ({**RIGHT, "start.py": "raise RuntimeError('no')\n"}, "test_start"),
    "edits a test": (
        {**RIGHT, "tests/test_add.py": RED.replace("== 3", "== 3 or True")},
        "tests/test_add.py was modified; tests are frozen",
    ),
    "weakens a test": ({"tests/test_add.py": "def test_add():\n    assert True\n"}, "tests/test_add.py was modified; tests are frozen"),
    "deletes the test": ({"tests/test_add.py": None}, "tests/test_add.py was deleted; tests are frozen"),
    "deletes another test": ({**RIGHT, "tests/test_start.py": None}, "tests/test_start.py was deleted; tests are frozen"),
    "adds a test": (
        {**RIGHT, "tests/test_more.py": "def test_more():\n    assert True\n"},
        "tests/test_more.py was added; tests are frozen",
    ),
    "skips a test by a mark": (
        {**RIGHT, "tests/test_add.py": "import pytest\n\npytestmark = pytest.mark.skip\n" + RED},
        "tests are frozen",
    ),
    "skips from the code": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.skip('later')\n"}, "skipped now"),
    "skips the file from the code": ({"calc.py": "import pytest\n\npytest.skip('later', allow_module_level=True)\n"}, "skipped now"),
    "expects the failure from the code": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.xfail('later')\n"}, "skipped now"),
    "edits pytest.ini": (
        {**RIGHT, "pytest.ini": INI + "xfail_strict = true\n"},
        "pytest.ini changed; it decides how the work is judged, so it is frozen",
    ),
    "leaves its tests uncollected": ({**RIGHT, "pytest.ini": INI + "python_files = check_*.py\n"}, "no test was collected"),
    "adds a conftest": ({"conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"}, "conftest.py changed"),
    "adds a setup.cfg for pytest": ({**RIGHT, "setup.cfg": "[tool:pytest]\naddopts = -k start\n"}, "setup.cfg changed"),
    "shadows the runner": ({"pytest.py": "raise SystemExit(0)\n"}, "gave no result"),
    "edits the gates' configuration": ({**RIGHT, "detent.toml": "[test]\ncommand = 'true'\n"}, "detent.toml changed"),
    "leaves the process": ({"calc.py": "import os\n\n\ndef add(a, b):\n    os._exit(0)\n"}, "gave no result"),
    "leaves at import": ({"calc.py": "import sys\n\nsys.exit(0)\n"}, "gave no result"),
    "ends the session": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.exit('fine', 0)\n"}, "gone; tests must not be removed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("names", groups(GREENS), ids=", ".join)
def test_a_green_step_fails_that_does_not_make_every_test_pass_honestly(tmp_path: Path, names: list[str]) -> None:
    started = "import start\n\n\ndef test_start():\n    assert start\n"
    p = project(tmp_path / "p", files={"tests/test_start.py": started, "start.py": ""}).reddened()
    head = p.git("rev-parse", "HEAD")
    for count, name in enumerate(names, 1):
        files, says = GREENS[name]
        lay(p, files)
        failed(p, hand_in(p, "PASS"), says, count, head)
        assert [s["status"] for s in p.plan["tasks"][0]["tdd_steps"]] == ["DONE", "TODO"], name
        afresh(p)
        p.write({"tests/test_add.py": RED})
    pass_all(p)


@pytest.mark.slow
def test_a_green_selection_must_select_something(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": GREEN})
    failed(p, hand_in(p, "PASS", "pytest tests/test_nowhere.py"), "selects no test")


@pytest.mark.slow
def test_a_configuration_that_a_step_edits_changes_nothing(tmp_path: Path) -> None:
    """The gates are those of the commit that the run started from."""
    p = project(tmp_path / "p", "[preflight]\ncommands = ['test ! -f refused']\n").reddened()
    p.write({"detent.toml": "[preflight]\ncommands = ['true']\n", "refused": ""})
    failed(p, p.green(), "detent.toml changed")
    p.git("checkout", "-q", "--", "detent.toml")
    failed(p, p.green(), "preflight: `test ! -f refused` failed with exit code 1", count=2)


# -- preflight, time ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_red_preflight_is_a_failure_of_the_step(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['true', 'sh lint.sh', 'true']\n", {"lint.sh": "! grep TODO calc.py\n"}).reddened()
    failed(p, p.green(GREEN + "# TODO\n"), "preflight: `sh lint.sh` failed with exit code 1")
    assert p.state["last_error"].splitlines()[-1] == "# TODO", "its output, verbatim"
    assert p.green(GREEN)["status"] == "SUCCESS"
    assert p.state["debug_attempt_counter"] == 0


@pytest.mark.slow
def test_a_preflight_that_failed_before_the_run_began_is_accepted_by_a_person_and_blamed_on_no_step(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['false']\n")
    refused = p.run("start")
    assert refused.code == 2 and "the project is red before the run begins: false" in refused.err, refused
    assert p.run("start", "--baseline").code == 0
    verdict = p.reddened().green()
    assert verdict["status"] == "SUCCESS"
    assert "`false` failed before the work began, so it does not count" in verdict["output"]


@pytest.mark.slow
def test_tests_that_failed_before_the_run_began_are_known_and_blamed_on_no_step(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={"tests/test_start.py": "def test_start():\n    assert False\n"})
    assert "red before the run begins: tests/test_start.py::test_start" in p.run("start").err
    assert p.run("start", "--baseline").code == 0
    assert p.reddened().green()["status"] == "SUCCESS"


@pytest.mark.slow
def test_what_failed_before_the_run_began_and_was_fixed_since_has_to_go_on_passing(tmp_path: Path) -> None:
    files = {
        "tests/test_start.py": "import start\n\n\ndef test_start():\n    assert start.ONE == 1\n",
        "start.py": "ONE = 2  # TODO\n",
        "lint.sh": "! grep TODO start.py\n",
    }
    p = project(tmp_path / "p", "[preflight]\ncommands = ['sh lint.sh']\n", files)
    assert p.run("start", "--baseline").code == 0
    p.reddened("RED", "GREEN", "REFACTOR")
    known = {"failing": ["tests/test_start.py::test_start", "sh lint.sh"], "fixed": []}
    assert p.run("status", "--json").json["known_failures"] == known
    assert "Known: tests/test_start.py::test_start and 1 more failed before the run began; it counts against no step" in p.run("status").out
    p.write({"start.py": "ONE = 1\n"})
    verdict = p.green()
    assert verdict["status"] == "SUCCESS", verdict
    assert "failed before the work began" not in verdict["output"]
    assert p.run("status", "--json").json["known_failures"] == {**known, "fixed": known["failing"]}
    assert "nothing that failed before fails now; 2 of 2 fixed since" in p.run("status").out
    p.write({"start.py": "ONE = 1  # TODO\n"})
    failed(p, hand_in(p, "PASS"), "preflight: `sh lint.sh` failed with exit code 1")
    p.write({"start.py": "ONE = 2\n"})
    failed(p, hand_in(p, "PASS"), "tests/test_start.py::test_start passed before and fails now", count=2)


HANGS: dict[str, Callable[[Project, str], dict[str, Any]]] = {
    "RED": lambda p, code: p.planned().red(f"{code}\n\ndef test_add():\n    hang()\n"),
    "GREEN": lambda p, code: p.reddened().green(f"{code}\n\ndef add(a, b):\n    hang()\n"),
    "preflight": lambda p, code: p.reddened().green(f"{GREEN}\n\n{code}"),
}


@pytest.mark.slow
@pytest.mark.needs("proc")  # what begins a session of its own; test_other_machines.py has what holds without
@pytest.mark.parametrize("step", [s if s == "GREEN" else pytest.param(s, marks=pytest.mark.slow) for s in HANGS])
def test_what_hangs_is_stopped_and_everything_it_started_with_it(tmp_path: Path, step: str) -> None:
    config = "[test]\ntimeout = 20\n" + ("[preflight]\ncommands = ['python3 look.py']\n" if step == "preflight" else "")
    p = project(tmp_path / "p", config, {"look.py": "try:\n    from calc import hang\nexcept ImportError:\n    hang = int\nhang()\n"})
    pids = tmp_path / "pids"
    code = (
        "import os\nimport signal\nimport subprocess\n\n\ndef hang():\n"
        "    child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"    with open({str(pids)!r}, 'a') as f:\n        f.write(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    signal.pause()\n"
    )
    failed(p, HANGS[step](p, code), "did not finish within 20 s" if step == "preflight" else "took longer than 20 s (`test.timeout`)")
    ours = [int(pid) for pid in pids.read_text().split()]
    assert len(ours) >= 2
    await_that(lambda: not any(is_running(pid) for pid in ours))


@pytest.mark.slow
@pytest.mark.needs("proc")
def test_a_daemon_that_a_passing_test_leaves_behind_is_ended_too(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    pid = tmp_path / "pid"
    daemon = f"import subprocess\n\nwith open({str(pid)!r}, 'w') as f:\n    f.write(str(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid))\n\n\n"
    assert p.green(daemon + GREEN)["status"] == "SUCCESS"
    assert not is_running(int(pid.read_text()))


# -- counting ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_failure_counts_and_runs_and_the_same_tree_counts_once(tmp_path: Path) -> None:
    p = project(tmp_path / "p").debugging()
    before = runs(p)
    for count in (2, 3):
        for status in ("FAILURE", "REFUSED"):
            assert p.green(f"def add(a, b):\n    return {count}0\n")["status"] == status
        assert p.state["debug_attempt_counter"] == count
    assert runs(p) == before + 2
    assert p.task()["goal"].startswith("Use Instrumentation")


@pytest.mark.slow
def test_a_pass_clears_counter_and_error_and_commits_the_judged_tree(tmp_path: Path) -> None:
    p = project(tmp_path / "p").debugging(2)
    verdict = p.green()
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("SUCCESS", "EXECUTING_TDD", 0)
    assert p.state["debug_attempt_counter"] == 0
    assert "last_error" not in p.state
    assert not (p.root / "error.log").exists()
    assert p.git("rev-parse", "HEAD^{tree}") == verdict["evidence"]["tree"]
    assert p.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_the_nudges_follow_the_counter_and_the_last_failure_halts(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[debug]\nhypothesize = 2\ninstrument = 3\nreduce_scope = 4\nescalate = 5\n").reddened()
    goals = []
    for count in range(1, 11):
        assert p.green(f"{WRONG}# {count}\n")["status"] == "FAILURE"
        assert p.state["debug_attempt_counter"] == count
        if count <= 5:
            goals.append(p.task()["goal"].partition(":")[0])
    assert goals == ["Fix the Failure", "Hypothesize & Fix", "Use Instrumentation", "Request Scope Reduction", "Escalate for External Help"]
    verdict = p.green(WRONG)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("HALTED", "HALTED", 10)
    assert p.run("get-task").code == 10
    resumed = p.run("resume", "--guidance", "add the two numbers", "--json")
    assert (resumed.json["state"], resumed.code) == ("DEBUGGING", 0)
    assert p.state["debug_attempt_counter"] == 0
    assert "add the two numbers" in p.task()["briefing"]
