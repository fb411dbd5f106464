"""A run of `tdd` on its way: starting, lists and tests that were there before, flaky tests, going back, ending, and being driven."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from detent.errors import DetentError
from tests.feature import ADD, GREEN, LIST, MANY, NONE, OTHER, RED, SUBTRACT, WRONG, Feature, at, failed, named
from tests.rooms import isolated

# -- what was there before -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_suite_that_is_red_is_refused_or_taken_as_a_baseline_that_may_stay_red() -> None:
    red = OTHER.replace("== 1", "== 2")
    f = at("START", MANY, {"tests/test_other.py": red})
    with pytest.raises(DetentError, match=r"the project is red before the run begins: tests/test_other.py::test_other") as told:
        f.start()
    assert "--baseline" in told.value.hint
    f.start(baseline=True)
    assert f.run.data.setup.baseline == ("tests/test_other.py::test_other",)
    assert f.plan().state == "RED"
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    failed(f, f.lay({"calc.py": WRONG}).submit(), "test_add still fails", "TestFailure", 1, "GREEN")
    failed(f, f.lay({"tests/test_other.py": OTHER}).submit(), "tests are frozen", "RuleBroken", 2, "GREEN")
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.submit().state == "PLAN"


@pytest.mark.slow
def test_a_list_that_was_there_before_keeps_its_ticks_and_needs_no_proof_for_them() -> None:
    f = at("PLAN", files={"test-list.md": "# Done\n\n- [x] starts\n- [x] stops\n- [ ] adds two numbers\n"})
    assert [(e.text, e.done, e.before) for e in f.run.data.entries] == [
        ("starts", True, True),
        ("stops", True, True),
        ("adds two numbers", False, False),
    ]
    assert f.lay({"test-list.md": f.read("test-list.md").replace("[x] stops", "[ ] stops")}).submit(named(ADD)).status == "REFUSED"
    f.afresh()
    assert f.submit(named(ADD)).state == "RED"
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.submit().state == "PLAN"
    assert f.submit(NONE).state == "LANDING"
    assert f.app().door.next(f.run_id).state == "COMPLETE"
    assert f.note()["completedTests"] == ["starts", "stops", "adds two numbers"]


def test_a_feature_whose_list_is_all_ticked_completes_only_while_every_test_passes() -> None:
    f = at("PLAN", MANY, {"test-list.md": "- [x] starts\n"})
    failed(f, f.lay({"other.py": "ONE = 2\n"}).submit(NONE), "other.py changed; PLAN writes test-list.md only", "RuleBroken", 1, "PLAN")
    f.afresh()
    assert f.submit(NONE).state == "LANDING"


def finished(config: str, files: dict[str, str | None]) -> Feature:
    """At LANDING, with these files as the code of its one test."""
    f = at("PLAN", config, {"test-list.md": "- [ ] adds two numbers\n", ".gitignore": "__pycache__/\nanswers.py\n"})
    assert f.submit(named(ADD)).state == "RED"
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    assert f.lay(files).submit().state == "REFACTOR"
    assert f.submit().state == "PLAN" and f.submit(NONE).state == "LANDING"
    return f


@pytest.mark.slow
def test_what_passes_only_where_it_was_written_is_not_offered_until_it_passes_in_a_clean_checkout() -> None:
    f = finished("", {"calc.py": "from answers import add\n", "answers.py": GREEN})
    assert f.app().door.next(f.run_id).state == "HALTED"
    assert f.run.cause == "conflict" and "in a clean checkout" in f.run.last_error and "answers" in f.run.last_error
    f.git("add", "-f", "answers.py")
    f.git("commit", "-q", "-m", "by a person")
    assert f.person("resume").state == "LANDING"
    assert f.app().door.next(f.run_id).state == "COMPLETE"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "more"), [pytest.param("", 1, marks=pytest.mark.slow), ("[evidence]\nclean = true\n", 0)], ids=["here", "clean"]
)
def test_what_is_offered_was_run_once_in_a_clean_checkout(config: str, more: int) -> None:
    f = finished(config, {"calc.py": GREEN})
    before = f.runs()
    assert f.app().door.next(f.run_id).state == "COMPLETE"
    assert f.runs() == before + more


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("summary", "subject"),
    [("Fix the sum", "fix"), (" fixes it", "fix"), ("fixture-free sums", "feat"), ("add sums", "feat"), ("prefix sums", "feat")],
)
def test_the_agent_may_call_its_code_a_fix(summary: str, subject: str) -> None:
    f = at("GREEN").lay({"calc.py": GREEN})
    assert f.submit(summary=summary).state == "REFACTOR"
    assert f.subjects()[-1] == f"{subject}: adds two numbers"


# -- flaky tests ----------------------------------------------------------------------------------------------------------------


def by_turns(count: Path, first: str, later: str) -> str:
    """The body of a test that does one thing the first time it is run, and another later."""
    return (
        f"    import pathlib\n\n    file = pathlib.Path({str(count)!r})\n    been = file.exists()\n    file.write_text('x')\n"
        f"    if been:\n        {later}\n    else:\n        {first}\n"
    )


@pytest.mark.slow
def test_a_test_that_fails_and_then_passes_on_the_same_tree_is_flaky_and_no_red(tmp_path: Path) -> None:
    f = at("RED")
    flaky = "def test_add():\n" + by_turns(tmp_path / "been", "assert False", "assert True")
    ran = f.runs()
    says = "tests/test_add.py::test_add is flaky: it failed, then passed when run again on the same tree; a flaky test is no evidence"
    failed(f, f.lay({"tests/test_add.py": flaky}).submit(), says, "TestFailure", 1, "RED")
    assert f.runs() == ran + 1, "only the new test is run again"
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"


@pytest.mark.slow
def test_a_failure_that_does_not_come_again_on_the_same_tree_is_called_flaky_and_is_a_failure_still(tmp_path: Path) -> None:
    count = tmp_path / "been"
    f = at("GREEN", MANY, {"tests/test_turns.py": "def test_turns():\n    import os\n\n    assert os.path.exists('calc.py')\n"})
    sometimes = GREEN + "\n\ndef turns():\n" + by_turns(count, "assert False", "return 1")
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    calls = "import calc\n\n\ndef test_turns():\n    assert calc.turns() == 1\n"
    verdict = f.lay({"calc.py": sometimes, "tests/test_turns.py": calls}).submit()
    says = "test_turns passed before and fails now: AssertionError (calc.py:14); tests/test_turns.py::test_turns is flaky: it passed when run again"
    failed(f, verdict, says, "TestFailure", 1, "REFACTOR")
    verdict = f.lay({"calc.py": WRONG}).submit()
    failed(f, verdict, "tests/test_add.py::test_add passed before and fails now", "TestFailure", 2, "REFACTOR")
    assert "flaky" not in verdict.reasons[0]


# -- going back, looking, ending ----------------------------------------------------------------------------------------------


def history(f: Feature) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = f.cli("history", "-n", "1000", "--json").json["events"]
    return events


def test_status_and_history_tell_where_a_run_stands_and_how_it_came_there() -> None:
    f = at("GREEN")
    f.lay({"calc.py": WRONG}).submit(summary="a first try")
    status = f.cli("status", "--json").json
    assert {k: status[k] for k in ("workflow", "state", "counts", "branch", "unproven")} == {
        "workflow": "tdd", "state": "GREEN", "counts": {"retries": 1}, "branch": "refs/heads/main",
        "unproven": ["adds two numbers", "subtracts two numbers"],
    }  # fmt: skip
    assert status["step"] == {"task": "sums", "type": "GREEN", "description": "adds two numbers"}
    said = f.cli("status").out
    assert (
        "retries: 1 of 3" in said
        and "test_add still fails: AssertionError" in said
        and "List: 0 of 2 tests done" in said
        and "Agent:" not in said
    )
    assert (status["agent"], status["tests"]) == (None, {"completed": [], "pending": ["adds two numbers", "subtracts two numbers"]})
    rows = [(e["on"], e["from"], e["state"], e["status"]) for e in history(f)]
    assert rows == [
        ("start", "", "PLAN", "SUCCESS"),
        ("planned", "PLAN", "RED", "SUCCESS"),
        ("red", "RED", "GREEN", "SUCCESS"),
        ("green", "GREEN", "GREEN", "FAILURE"),
    ]
    assert "a first try" in f.cli("history").out


@pytest.mark.slow
def test_one_can_go_back_to_a_commit_or_an_event_and_every_phase_from_there_is_judged_anew() -> None:
    f = at("CLOSED")
    red, tip, old = f.git("rev-parse", "HEAD~2"), f.head, f.run_id
    went = f.cli("rollback", red[:10], "--json")
    assert (went.code, went.json["state"]) == (0, "GREEN"), went
    f.run_id = went.json["run"]
    assert (f.head, f.read("calc.py"), f.git("status", "--porcelain")) == (red, "", "")
    assert tip in f.git("for-each-ref", "--format=%(objectname)", "refs/detent").split(), "nothing is lost"
    assert f.cli("show", old, "--json").json["state"] == "ABORTED"
    failed(f, f.lay({"calc.py": WRONG}).submit(), "test_add still fails", "TestFailure", 1, "GREEN")
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.git("rev-parse", "HEAD^") == red
    assert f.note()["phase"] == "GREEN"
    for to in ("1", red):
        again = f.cli("rollback", to, "--json")
        assert (again.code, again.json["state"], f.head) == (0, "GREEN", red), "also in a run that began by going back"


@pytest.mark.slow
def test_going_back_to_after_a_cycle_brings_its_ticked_box_back_too() -> None:
    f = at("CLOSED")
    done = str(history(f)[-1]["seq"])
    assert f.plan(SUBTRACT, None).state == "RED"
    went = f.cli("rollback", done, "--json")
    assert (went.code, went.json["state"]) == (0, "PLAN"), went
    f.run_id = went.json["run"]
    assert f.read("test-list.md") == LIST.replace("[ ] adds", "[x] adds")
    assert f.plan(SUBTRACT, None).state == "RED"
    assert f.subjects()[-2:] == ["refactor: no changes needed", "plan: subtracts two numbers"]


@pytest.mark.slow
def test_going_back_buys_no_retries() -> None:
    f = at("GREEN")
    f.lay({"calc.py": WRONG}).submit()
    f.lay({"calc.py": WRONG}).submit()
    f.run_id = f.cli("rollback", "3", "--json").json["run"]
    assert f.run.counts == {"retries": 2}


@pytest.mark.slow
def test_an_abort_leaves_the_files_keeps_a_snapshot_and_frees_the_checkout() -> None:
    f = at("GREEN").lay({"calc.py": WRONG, "new.py": "x = 1\n"})
    old = f.run_id
    ended = f.cli("abort", "--json")
    assert (ended.code, ended.json["state"]) == (0, "ABORTED")
    assert (f.read("calc.py"), f.read("new.py")) == (WRONG, "x = 1\n")
    trees = f.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{old}/trees").split()
    assert any("new.py" in f.git("ls-tree", "-r", "--name-only", tree) for tree in trees)
    f.afresh()
    with pytest.raises(DetentError, match="the project is red before"):
        f.start()  # the RED commit is on the branch
    f.git("reset", "-q", "--hard", "HEAD~2")
    assert f.start("another").run.state == "PLAN"


# -- driven by the machine ------------------------------------------------------------------------------------------------------

DRIVEN = {"tests/test_start.py": "def test_start():\n    pass\n"}  # in the sandbox, a test leaves no trace outside


def script(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    plan = {"state": "PLAN", "write": {"test-list.md": "- [ ] adds two numbers\n"}, "reply": {"currentTest": ADD}}
    return [plan, {"state": "RED", "write": {"tests/test_add.py": RED}, "reply": "the test is written"}, *entries]


def drive(f: Feature, file: Path, entries: list[dict[str, Any]], *args: str) -> Any:
    isolated({"PATH": os.environ["PATH"], "HOME": str(file.parent)})
    file.write_text(json.dumps(entries))
    return f.cli(*(args or ("run", "sums")), *(() if args else ("--agent", f"scripted:{file}")), "--json")


@pytest.mark.slow
def test_the_machine_drives_a_feature_to_its_end_in_a_workspace_of_its_own(tmp_path: Path) -> None:
    """Two cycles, with a rate limit, a broken connection and a wrong implementation on the way."""
    f, file = at("START", files=DRIVEN), tmp_path / "script.json"
    start, soon = f.head, (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    entries: list[dict[str, Any]] = [
        {"state": "PLAN", "write": {"test-list.md": LIST}, "reply": {"currentTest": ADD}},
        {"state": "RED", "fail": {"sort": "RateLimit", "message": "later", "not_before": soon}},
        {"state": "RED", "fail": {"sort": "Network", "message": "cut off"}},
        {"state": "RED", "write": {"tests/test_add.py": RED}, "reply": "the test is written"},
        {"state": "GREEN", "write": {"calc.py": WRONG}, "reply": "all tests pass"},
        {"state": "GREEN", "write": {"calc.py": GREEN}, "reply": {"summary": "fix the sum"}},
        {"state": "REFACTOR", "reply": "nothing to do"},
        {"state": "PLAN", "reply": {"currentTest": SUBTRACT}},
        {
            "state": "RED",
            "write": {"tests/test_sub.py": "import calc\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n"},
            "reply": "written",
        },
        {"state": "GREEN", "append": {"calc.py": "\n\ndef sub(a, b):\n    return a - b\n"}, "reply": "done"},
        {"state": "REFACTOR", "reply": "nothing to do"},
        {"state": "PLAN", "reply": {"currentTest": None}},
    ]
    ran = drive(f, file, entries)
    result = ran.json
    assert (ran.code, result["outcome"], result["state"], result["cycles"]) == (0, "done", "COMPLETE", 2), ran
    assert [c["subject"] for c in result["commits"]] == [
        "plan: adds two numbers", "test: adds two numbers", "fix: adds two numbers", "refactor: no changes needed",
        "plan: subtracts two numbers", "test: subtracts two numbers", "feat: subtracts two numbers", "refactor: no changes needed",
        "plan: every test of the list is done",
    ]  # fmt: skip
    assert f.subjects(result["branch"]) == [c["subject"] for c in result["commits"]]
    assert result["tests"] == {"completed": ["adds two numbers", "subtracts two numbers"], "pending": []}
    assert (f.head, f.git("status", "--porcelain")) == (start, ""), "the person's own checkout is as it was"
    assert f.note(result["branch"])["nextPhase"] == "COMPLETE"
    first = [(e["on"], e["status"]) for e in history(f)[:8]]
    assert first == [
        ("start", "SUCCESS"), ("planned", "SUCCESS"), ("limited", "SUCCESS"), ("agent-failed", "FAILURE"), ("red", "SUCCESS"),
        ("green", "FAILURE"), ("green", "SUCCESS"), ("refactor", "SUCCESS"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_driven_run_that_gave_up_ends_with_exit_1_and_resume_goes_on_with_fresh_retries(tmp_path: Path) -> None:
    f, file = at("START", "[tdd]\nretries = 1\n", DRIVEN), tmp_path / "script.json"
    wrong = {"state": "GREEN", "write": {"calc.py": WRONG}, "reply": "done"}
    ran = drive(f, file, script(wrong, wrong))
    assert (ran.code, ran.json["outcome"], ran.json["state"]) == (1, "halted", "HALTED"), ran
    assert "test_add still fails: AssertionError: assert 0 == 3" in ran.json["error"]
    assert [c["phase"] for c in ran.json["commits"]] == ["PLAN", "RED"]
    rest = script(wrong, wrong, wrong, {"state": "GREEN", "write": {"calc.py": GREEN}, "reply": "done"})
    rest.append({"state": "REFACTOR", "fail": {"sort": "ModelUnavailable", "message": "no such model"}})
    went = drive(f, file, rest, "resume", "--guidance", "add them")
    assert (went.code, went.json["state"]) == (10, "HALTED"), went
    assert [c["phase"] for c in went.json["commits"]] == ["PLAN", "RED", "GREEN"]
    assert f.cli("status", "--json").json["cause"] == "model"
    note = f.note(went.json["branch"])
    assert (note["phase"], note["errorDetails"]) == ("GREEN", {"type": "ModelUnavailable", "message": "no such model"})
    back = f.cli("rollback", went.json["commits"][1]["hash"], "--json")
    assert (back.code, back.json["state"]) == (0, "GREEN"), back
    assert f.subjects(went.json["branch"])[-1] == "test: adds two numbers"
    ended = f.cli("abort", "--json")
    assert (ended.code, ended.json["state"]) == (0, "ABORTED")
    assert f.git("status", "--porcelain") == ""
