"""Work of a phase that was judged and found wrong: FAILURE, counted, told to the next attempt; GREEN and REFACTOR are rolled back, with nothing lost."""

import json
from pathlib import Path

import pytest

from detent.interfaces.cli.tell import exit_code
from tests import warm_pytest
from tests.cases import await_that, is_running
from tests.feature import ADD, GREEN, LIST, MANY, NONE, OTHER, RED, SUBTRACT, WRONG, Feature, Files, at, failed, flagged, named
from tests.project import INI

BOTH = {"calc.py": GREEN}
Case = tuple[Files, str | tuple[str, ...], str]  # the files, what the reason says (or one of these), the sort of failure
WEAK = (
    "is weakened: it was changed",
    "the changed test no longer fails on the tree before the code",
)  # which one is seen first is a matter of time

PLANS: dict[str, Case] = {
    "writes the test": ({"tests/test_add.py": RED}, "tests/test_add.py changed; PLAN writes test-list.md only", "RuleBroken"),
    "writes the code": ({"calc.py": GREEN}, "calc.py changed; PLAN writes test-list.md only", "RuleBroken"),
    "deletes a test": ({"tests/test_other.py": None}, "tests/test_other.py changed; PLAN writes test-list.md only", "RuleBroken"),
}

REDS: dict[str, Case] = {
    "writes nothing": ({}, "no test fails; write a test", "UnexpectedPass"),
    "passes at once": ({"tests/test_add.py": "def test_add():\n    assert 1 + 2 == 3\n"}, "test_add already passes", "UnexpectedPass"),
    "writes the implementation too": ({"tests/test_add.py": RED, **BOTH}, "calc.py changed; a RED step writes tests only", "RuleBroken"),
    "breaks production code": (
        {"tests/test_add.py": RED, "other.py": "ONE = 2\n"},
        "other.py changed; a RED step writes tests only",
        "RuleBroken",
    ),
    "breaks the code so that nothing compiles": ({"tests/test_add.py": RED, "other.py": "def (:\n"}, "other.py changed", "RuleBroken"),
    "does not compile": ({"tests/test_add.py": "def test_add(:\n    pass\n"}, "SyntaxError", "CompilationError"),
    "wants a fixture that nobody wrote": (
        {"tests/test_add.py": "def test_add(adder):\n    assert adder(1, 2) == 3\n"},
        "fixture 'adder' not found",
        "CompilationError",
    ),
    "forgets to bring in a name": (
        {"tests/test_add.py": "def test_add():\n    assert add(1, 2) == 3\n"},
        "the test uses add, which it neither defines nor imports",
        "TestFailure",
    ),
    "weakens an older test that passes": (
        {"tests/test_add.py": RED, "tests/test_other.py": OTHER.replace("other.ONE == 1", "other.ONE")},
        "test_other is weakened: it was changed, and no longer fails for code that it failed for before",
        "CompilationError",
    ),
    "skips an older test": (
        {"tests/test_add.py": RED, "tests/test_other.py": f"import pytest\n\npytestmark = pytest.mark.skip\n{OTHER}"},
        "test_other ran before and is skipped now",
        "CompilationError",
    ),
    "deletes another test": (
        {"tests/test_add.py": RED, "tests/test_other.py": None},
        "test_other is gone; tests must not be removed. Restore it: git restore --source=",
        "CompilationError",
    ),
    "is only expected to fail": (
        {
            "tests/test_add.py": RED.replace("def test", "import pytest\n\n\n@pytest.mark.xfail\ndef test")
            .replace("from calc import add\n", "")
            .replace("add(1, 2)", "1 + 1")
        },
        "no test fails; write a test",
        "UnexpectedPass",
    ),
    "changes the runner's configuration": (
        {"tests/test_add.py": RED, "pytest.ini": INI + "python_files = *.py\n"},
        "pytest.ini changed",
        "RuleBroken",
    ),
    "leaves the process": (
        {"tests/test_add.py": "import os\n\n\ndef test_add():\n    os._exit(1)\n"},
        "gave no result",
        "CompilationError",
    ),
}

GREENS: dict[str, Case] = {
    "does nothing": ({}, "tests/test_add.py still fails: ImportError", "CompilationError"),
    "is wrong": ({"calc.py": WRONG}, "test_add still fails: AssertionError: assert 0 == 3", "TestFailure"),
    "does not compile": ({"calc.py": "def add(:\n"}, "tests/test_add.py still fails: SyntaxError: invalid syntax (calc.py:1)", "CompilationError"),
    "breaks another test": ({**BOTH, "other.py": "ONE = 2\n"}, "test_other passed before and fails now: ", "TestFailure"),
    "edits the test": ({**BOTH, "tests/test_add.py": RED.replace("== 3", ">= 3")}, "tests/test_add.py was modified; tests are frozen", "RuleBroken"),
    "weakens the test": ({"calc.py": WRONG, "tests/test_add.py": RED.replace("== 3", "is not None")}, "tests are frozen", "RuleBroken"),
    "deletes the test": ({"tests/test_add.py": None}, "tests/test_add.py was deleted; tests are frozen", "RuleBroken"),
    "renames the test": ({**BOTH, "tests/test_add.py": None, "tests/test_plus.py": RED}, "tests are frozen", "RuleBroken"),
    "skips by a mark": ({"tests/test_add.py": f"import pytest\n\npytestmark = pytest.mark.skip\n{RED}"}, "tests are frozen", "RuleBroken"),
    "expects the failure by a mark": ({"tests/test_add.py": f"import pytest\n\npytestmark = pytest.mark.xfail\n{RED}"}, "tests are frozen", "RuleBroken"),
    "adds a test": ({**BOTH, "tests/test_more.py": "def test_more():\n    assert True\n"}, "tests/test_more.py was added; tests are frozen", "RuleBroken"),
    "adds a conftest": ({"conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"}, "conftest.py changed; it decides how", "RuleBroken"),
    "adds a conftest among the tests": ({**BOTH, "tests/conftest.py": "import pytest\n"}, "tests/conftest.py changed", "RuleBroken"),
    "edits pytest.ini": ({**BOTH, "pytest.ini": INI + "xfail_strict = true\n"}, "pytest.ini changed", "RuleBroken"),
    "adds a configuration": ({**BOTH, "setup.cfg": "[tool:pytest]\naddopts = -k other\n"}, "setup.cfg changed", "RuleBroken"),
    "shadows the runner": ({"pytest.py": "raise SystemExit(0)\n"}, "pytest.py changed", "RuleBroken"),
    "edits the machine's settings": ({**BOTH, "detent.toml": "[test]\ncommand = 'true'\n"}, "detent.toml changed", "RuleBroken"),
    "skips from the code": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.skip('later')\n"}, "skipped now", "RuleBroken"),
    "skips the file from the code": ({"calc.py": "import pytest\n\npytest.skip('later', allow_module_level=True)\n"}, "skipped now", "RuleBroken"),
    "expects the failure from the code": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.xfail('later')\n"}, "skipped now", "RuleBroken"),
    "leaves the process": ({"calc.py": "import os\n\n\ndef add(a, b):\n    os._exit(0)\n"}, "gave no result", "CompilationError"),
    "leaves at import": ({"calc.py": "import sys\n\nsys.exit(0)\n"}, "gave no result", "CompilationError"),
    "ends the session": ({"calc.py": "import pytest\n\n\ndef add(a, b):\n    pytest.exit('fine', 0)\n"}, "tests must not be removed", "RuleBroken"),
}  # fmt: skip

REFACTORS: dict[str, Case] = {
    "breaks the test": ({"calc.py": WRONG}, "test_add passed before and fails now", "TestFailure"),
    "does not compile": ({"calc.py": "def add(:\n"}, "tests/test_add.py fails: SyntaxError", "CompilationError"),
    "breaks another test": ({"other.py": "ONE = 2\n"}, "test_other passed before and fails now: ", "TestFailure"),
    "loses the test": ({"tests/test_add.py": None}, "test_add is gone; tests must not be removed", "RuleBroken"),
    "loses another test": ({"tests/test_other.py": "import other\n"}, "test_other is gone; tests must not be removed", "RuleBroken"),
    "puts another test in its place": ({"tests/test_add.py": "def test_plus():\n    assert 1 + 1\n"}, "test_add is gone; tests must not be removed", "RuleBroken"),
    "skips the test": ({"tests/test_add.py": f"import pytest\n\npytestmark = pytest.mark.skip\n{RED}"}, "skipped now", "RuleBroken"),
    "empties the test": ({"tests/test_add.py": "def test_add():\n    pass\n"}, WEAK, "RuleBroken"),
    "weakens the test": ({"tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc\n"}, WEAK, "RuleBroken"),
    "weakens the test and keeps its import": ({"tests/test_add.py": "from calc import add\n\n\ndef test_add():\n    assert add\n"}, WEAK, "RuleBroken"),
    "leaves the process": ({"calc.py": f"import os\n\nos._exit(0)\n{GREEN}"}, "gave no result", "CompilationError"),
}  # fmt: skip


TAKEN: dict[str, tuple[Files, str]] = {
    "one of two passes": (
        {
            "tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\ndef test_sum():\n    assert 1 + 2 == 3\n"
        },
        "",
    ),
    "asserts more in an older test": ({"tests/test_other.py": f"{OTHER}    assert other.TWO == 2\n"}, ""),
    "adds a row to an older test": (
        {"tests/test_other.py": f"{OTHER}\n\nROWS = [1, 2]\n\n\ndef test_rows():\n    assert ROWS == [other.ONE, other.TWO]\n"},
        "",
    ),
    "fails by an exception out of the code": (
        {"tests/test_add.py": "import other\n\n\ndef test_add():\n    assert other.ONE.add(2) == 3\n"},
        "weak-evidence",
    ),
    "fails by an accident": ({"tests/test_add.py": "def test_add():\n    assert 1 / 0 == 3\n"}, "weak-evidence"),
    "asks an older test for something else": (
        {"tests/test_add.py": RED, "tests/test_other.py": OTHER.replace("== 1", "== 2")},
        "rewritten-test",
    ),
    "takes a test out for another": (
        {"tests/test_other.py": OTHER.replace("test_other", "test_two").replace("ONE == 1", "TWO == 2")},
        "rewritten-test",
    ),
}  # what RED takes, and the flag that it raises
LEVELS = {"weak-evidence": "note", "rewritten-test": "ask"}


def rolled_back(f: Feature, head: str, tried: str) -> None:
    """Branch and files are as the phase began, and what was tried is still to be had."""
    assert (f.head, f.git("status", "--porcelain")) == (head, "")
    kept = f.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{f.run_id}/trees").split()
    assert tried in kept


def test_a_plan_fails_that_writes_more_than_the_list() -> None:
    f = at("PLAN", MANY)
    head = f.head
    for count, (files, says, sort) in enumerate(PLANS.values(), 1):
        failed(f, f.lay({"test-list.md": LIST, **files}).submit(named(ADD)), says, sort, count, "PLAN")
        assert f.head == head
        f.afresh()
    assert f.plan().state == "RED"
    assert f.run.counts == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])
def test_a_red_fails_that_does_not_show_what_is_missing(part: int) -> None:
    f = at("RED", MANY)
    head = f.head
    for count, (files, says, sort) in enumerate(list(REDS.values())[part::2], 1):
        verdict = f.lay(files).submit(summary="it is said to be done")
        failed(f, verdict, says, sort, count, "RED")
        assert f.head == head
        assert verdict.reasons[0] in f.briefing and "it is said to be done" in f.briefing, "the next attempt is told"
        assert all((f.root / path).exists() == (text is not None) for path, text in files.items()), "the files are the agent's still"
        f.afresh()
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    assert (f.run.counts, f.run.last_error) == ({}, "")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", TAKEN)
def test_a_red_is_taken_whatever_its_form_if_a_test_fails_that_did_not_and_what_is_doubtful_is_flagged(name: str) -> None:
    files, kind = TAKEN[name]
    f = at("RED")
    verdict = f.lay(files).submit()
    assert (verdict.status, verdict.state, f.run.counts) == ("SUCCESS", "GREEN", {}), verdict
    assert [(flag.kind, flag.level) for flag in verdict.flags] == ([(kind, LEVELS[kind])] * len(verdict.flags) if kind else [])
    assert bool(verdict.flags) == bool(kind)
    assert {(flag.kind, flag.place) for flag in f.run.flags} == {(flag.kind, flag.place) for flag in verdict.flags}, "it stays with the run"
    assert "fails now, and did not before: tests/" in verdict.output
    assert ("passes already, so it only pins what is there: tests/test_add.py::test_sum" in verdict.output) == (name == "one of two passes")


@pytest.mark.slow
def test_a_package_of_others_that_is_not_installed_is_no_red() -> None:
    f = at("RED", files={"requirements.txt": "nowhere-to-be-had\n"})
    says = "nowhere_to_be_had is a third-party package, and it is not installed here"
    failed(f, f.lay({"tests/test_add.py": f"import nowhere_to_be_had\n{RED}"}).submit(), says, "CompilationError", 1, "RED")


@pytest.mark.slow
def test_a_refactoring_may_rename_a_test() -> None:
    f = at("REFACTOR")
    verdict = f.lay({"tests/test_add.py": RED.replace("test_add", "test_plus")}).submit()
    assert (verdict.status, verdict.state, verdict.flags) == ("SUCCESS", "PLAN", ()), verdict


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_green_fails_that_does_not_make_every_test_pass_honestly(part: int) -> None:
    f = at("GREEN", MANY)
    head = f.head
    for count, (files, says, sort) in enumerate(list(GREENS.values())[part::3], 1):
        verdict = f.lay(files).submit()
        failed(f, verdict, says, sort, count, "GREEN")
        rolled_back(f, head, f.app().door.load(f.run_id).found.tree)
        assert verdict.reasons[0] in f.briefing
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    assert f.run.counts == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])
def test_a_refactoring_fails_that_breaks_loses_or_weakens_a_test(part: int) -> None:
    f = at("REFACTOR", MANY)
    head = f.head
    for count, (files, says, sort) in enumerate(list(REFACTORS.values())[part::2], 1):
        failed(f, f.lay(files).submit(), says, sort, count, "REFACTOR")
        rolled_back(f, head, f.app().door.load(f.run_id).found.tree)
    assert f.submit().state == "PLAN"


@pytest.mark.slow
def test_a_refactoring_may_not_weaken_a_test_of_an_earlier_cycle_or_what_a_test_leans_on() -> None:
    asked = "def three(x):\n    assert x == 3\n"
    red = "from calc import add\nfrom tests.asked import three\n\n\ndef test_add():\n    three(add(1, 2))\n"
    f = at("RED", MANY)
    assert f.lay({"tests/asked.py": asked, "tests/test_add.py": red}).submit().state == "GREEN"
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"
    failed(f, f.lay({"tests/asked.py": "def three(x):\n    pass\n"}).submit(), WEAK, "RuleBroken", 1, "REFACTOR")
    assert f.submit().state == "PLAN"
    assert f.plan(SUBTRACT, None).state == "RED"
    assert f.lay({"tests/test_sub.py": "import calc\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n"}).submit().state == "GREEN"
    assert f.lay({"calc.py": GREEN + "\n\ndef sub(a, b):\n    return a - b\n"}).submit().state == "REFACTOR"
    failed(f, f.lay({"tests/test_add.py": "def test_add():\n    pass\n"}).submit(), WEAK, "RuleBroken", 1, "REFACTOR")
    better = red.replace("add(1, 2)", "add(2, 1)")
    assert f.lay({"tests/test_add.py": better}).submit().state == "PLAN", "a changed test that still bites is fine"


@pytest.mark.slow
def test_a_refactoring_may_not_empty_a_test_that_was_there_before_the_run() -> None:
    f = at("REFACTOR", MANY)
    empty = "def test_other():\n    pass\n"
    failed(f, f.lay({"tests/test_other.py": empty}).submit(), (*WEAK, "or against a small change to it"), "RuleBroken", 1, "REFACTOR")
    assert f.lay({"tests/test_other.py": OTHER.replace("== 1", "- 1 == 0")}).submit().state == "PLAN"


@pytest.mark.slow
def test_what_hangs_is_stopped_with_all_it_started_and_is_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(warm_pytest.COLD, "1")  # what a warm runner starts is not below this process
    f = at("GREEN", "[test]\ntimeout = 20\n")
    pids = tmp_path / "pids"
    hangs = (
        "import os\nimport signal\nimport subprocess\n\n\ndef add(a, b):\n    child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"    with open({str(pids)!r}, 'w') as f:\n        f.write(f'{{os.getpid()}} {{child.pid}}')\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    signal.pause()\n"
    )
    failed(f, f.lay({"calc.py": hangs}).submit(), "took longer than 20 s (`test.timeout`)", "Timeout", 1, "GREEN")
    await_that(lambda: not any(is_running(int(pid)) for pid in pids.read_text().split()))


# -- retries -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_retries_then_the_run_is_halted_and_resume_begins_anew() -> None:
    f = at("GREEN")
    head = f.head
    for count in (1, 2, 3):
        failed(f, f.lay({"calc.py": WRONG}).submit(summary=f"try {count}"), "test_add still fails", "TestFailure", count, "GREEN")
    last = f.lay({"calc.py": WRONG}).submit()
    assert (last.status, last.state, exit_code(last)) == ("FAILURE", "HALTED", 1)
    assert (f.run.cause, f.run.counts) == ("retries", {"retries": 3})
    assert (f.head, f.git("status", "--porcelain")) == (head, ""), "rolled back the last time too"
    note = f.note()
    assert (note["phase"], note["nextPhase"], note["retryCount"], note["errorDetails"]["type"]) == ("RED", "GREEN", 3, "TestFailure")
    assert f.cli("get-task").code == 10
    resumed = f.cli("resume", "--guidance", "add the two numbers", "--json")
    assert (resumed.code, resumed.json["state"]) == (0, "GREEN")
    assert f.run.counts == {}
    assert "add the two numbers" in f.briefing and "try 3" in f.briefing
    failed(f, f.lay({"calc.py": WRONG}).submit(), "test_add still fails", "TestFailure", 1, "GREEN")
    assert f.lay({"calc.py": GREEN}).submit().state == "REFACTOR"


@pytest.mark.slow
def test_each_phase_counts_for_itself() -> None:
    f = at("RED")
    failed(f, f.submit(), "no test fails", "UnexpectedPass", 1, "RED")
    assert f.lay({"tests/test_add.py": RED}).submit().state == "GREEN"
    failed(f, f.submit(), "still fails", "CompilationError", 1, "GREEN")


def test_the_command_line_says_failure_by_its_words_and_its_exit_code() -> None:
    f = at("GREEN")
    f.lay({"calc.py": WRONG})
    said = f.cli("submit-work", "-", "--json", stdin=json.dumps({"summary": "all tests pass, I looked"}))
    assert (said.code, said.json["status"], said.json["state"]) == (1, "FAILURE", "GREEN")
    assert said.json["reasons"] == ["tests/test_add.py::test_add still fails: AssertionError: assert 0 == 3 (tests/test_add.py:5)"]
    assert said.json["evidence"]["counts"] == {"passed": 2, "failed": 1, "errors": 0, "skipped": 0}
    assert f.cli("status", "--json").json["counts"] == {"retries": 1}
    assert f.read("calc.py") == ""


# -- ALREADY_SATISFIED -------------------------------------------------------------------------------------------------------

THERE = {"calc.py": GREEN}
PASSES = RED


@pytest.mark.slow
def test_a_behaviour_that_is_there_already_closes_the_entry_with_a_test_that_can_fail() -> None:
    f = at("RED", files=THERE)
    f.lay({"tests/test_add.py": PASSES})
    failed(f, f.submit(), "test_add already passes", "UnexpectedPass", 1, "RED")
    assert "ALREADY_SATISFIED" in f.briefing
    verdict = f.submit("ALREADY_SATISFIED")
    assert (verdict.status, verdict.state, exit_code(verdict)) == ("SUCCESS", "PLAN", 0), verdict
    assert flagged(verdict, "no-proof", "passed at once and was never seen failing").stays, "a person is asked before it lands"
    assert f.run.counts == {}
    assert f.subjects() == ["plan: adds two numbers", "test: adds two numbers (already satisfied)"]
    note = f.note()
    assert (note["phase"], note["nextPhase"], note["completedTests"], note["testResult"]) == ("RED", "PLAN", ["adds two numbers"], "PASS")
    assert "- [x] adds two numbers" in f.read("test-list.md")
    assert f.plan(SUBTRACT, None).state == "RED"


SATISFIED: dict[str, Case] = {
    "without a test": ({}, "no new test was collected", "UnexpectedPass"),
    "by a test that cannot fail": ({"tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc\n"}, "no small change to the code that the entry", "UnexpectedPass"),
    "by a test that fails": ({"tests/test_add.py": RED.replace("== 3", "== 4")}, "test_add fails", "TestFailure"),
    "by writing the code": ({"tests/test_add.py": PASSES, "calc.py": GREEN + "# mine\n"}, "calc.py changed", "RuleBroken"),
    "by losing another test": ({"tests/test_add.py": PASSES, "tests/test_other.py": None}, "test_other is gone; tests must not be removed", "UnexpectedPass"),
}  # fmt: skip


@pytest.mark.slow
def test_already_satisfied_fails_without_its_proof() -> None:
    f = at("RED", MANY, THERE)
    failed(f, f.submit(), "no test fails", "UnexpectedPass", 1, "RED")
    for count, (files, says, sort) in enumerate(SATISFIED.values(), 2):
        failed(f, f.lay(files).submit("ALREADY_SATISFIED"), says, sort, count, "RED")
        f.afresh()
    assert not any(e.done for e in f.run.data.entries)
    assert f.submit(NONE).status == "FAILURE", "a reply of PLAN is nothing here"
