"""A retry that knows: the next agent is told how the last attempt ended, and begins from its work or from main; attempts are one story."""

from pathlib import Path

import pytest

from tests.executions import CODE, CONFIG, FAILS, TEST, WORKS, Json, Till

RUN, NEXT = "execute-it-1-1", "execute-it-1-2"
BAD: Json = {**FAILS, "reply": "I could not get the sum right; look at add first."}
ONLY_CODE: Json = {"state": "RUNNING", "write": {"calc.py": CODE}, "reply": "The sum is right now."}


def briefing(till: Till, run: str) -> str:
    return next(e.briefing.briefing for e in till.events(run) if e.on == "started" and e.briefing)


def failed_once(till: Till) -> str:
    item = till.file()
    ran = till.execute(item, BAD, BAD)
    assert (ran.code, ran.json["state"]) == (1, "FAILED"), ran
    return item


@pytest.mark.slow
def test_the_next_agent_is_told_how_the_last_attempt_ended_and_begins_from_its_work(tmp_path: Path) -> None:
    till = Till(tmp_path)
    item = failed_once(till)
    kept = f"refs/detent/{RUN}/kept"
    assert till.git("show", f"{kept}:calc.py") == "def add(a, b):\n    return 0" and till.git("rev-parse", f"{kept}^") == till.git(
        "rev-parse", "main"
    )
    ran = till.execute(item, ONLY_CODE, args=("--again",))  # it writes no test: that of the last attempt is there
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    told = briefing(till, NEXT)
    assert f"The previous attempt ({RUN}) ended in FAILED" in told and "Your workspace contains its work" in told
    assert "- tests/test_add.py::test_add" in told and "look at add first" in told and "+    return 0" in told
    assert "tests/test_add.py" in till.there("ls-tree", "-r", "--name-only", ran.json["branch"])
    shown = till.project.run("items", "show", item)
    assert (
        f"{RUN}  FAILED" in shown.out
        and f"git diff {kept}~ {kept}" in shown.out
        and f"{NEXT}  COMPLETED from the work of the one before" in shown.out
    )
    first, second = till.project.run("items", "show", item, "--json").json["attempts"]
    assert (first["state"], first["kept"], second["state"], second["starts_from"]) == ("FAILED", kept, "COMPLETED", "kept")
    assert "test_add" in first["reason"] and second["branch"] == ran.json["branch"]


@pytest.mark.slow
def test_what_a_turn_wrote_before_it_was_cut_off_is_the_kept_work(tmp_path: Path) -> None:
    till = Till(tmp_path)
    item = till.file()
    cut: Json = {**WORKS, "write": {"tests/test_add.py": TEST}, "fail": {"sort": "Stuck", "message": "nothing was heard of it"}}
    ran = till.execute(item, cut)
    assert (ran.code, ran.json["state"]) == (1, "TIMEOUT"), ran
    ran = till.execute(item, ONLY_CODE, args=("--again",))  # it writes no test
    assert (ran.code, ran.json["state"], till.run(NEXT).data.begun) == (0, "COMPLETED", "kept"), ran
    assert "tests/test_add.py" in till.there("ls-tree", "-r", "--name-only", ran.json["branch"])
    assert "def test_add" in briefing(till, NEXT), "and it is shown"


@pytest.mark.slow
def test_where_the_policy_says_main_it_begins_there_and_is_told_all_the_same(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nretry_from = 'main'\n")
    item = failed_once(till)
    assert till.execute(item, WORKS, args=("--again",)).json["state"] == "COMPLETED"
    told = briefing(till, NEXT)
    assert "Your workspace begins without its work" in told and "+    return 0" in told and till.run(NEXT).data.begun == ""


@pytest.mark.slow
def test_work_that_conflicts_with_main_by_now_is_told_and_not_laid_down(tmp_path: Path) -> None:
    till = Till(tmp_path)
    item = failed_once(till)
    till.project.write({"calc.py": "def add(a, b):\n    return sum((a, b))\n"})
    till.git("commit", "-qam", "the same, otherwise")
    till.git("push", "-q", "origin", "main")
    till.execute(item, {**WORKS, "write": {"tests/test_add.py": TEST}}, args=("--again",))
    assert "begins without its work (it conflicts with main in calc.py)" in briefing(till, NEXT)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "begun"), [((), "kept"), (("--from", "main"), ""), (("--from", "kept"), "kept")])
def test_a_person_says_what_a_retry_begins_from(tmp_path: Path, words: tuple[str, ...], begun: str) -> None:
    till = Till(tmp_path)
    item = failed_once(till)
    assert till.project.run("queue", "add", item, "--again", "--agent", "human").code == 0
    till.project.run("queue", "cancel", item)
    said = till.project.run("queue", "retry", item, *words)
    assert said.code == 0, said
    last = till.run("execute-it-1-3").data.last
    assert last is None or last.start == (begun or "main")


@pytest.mark.slow
def test_what_became_of_an_item_stands_where_the_item_is_shown(tmp_path: Path) -> None:
    till = Till(tmp_path)
    item = failed_once(till)
    shown = till.project.run("items", "show", item).out
    assert "Attempts:" in shown and "tests/test_add.py::test_add" in shown


TRACE = "for n in 1 2 3; do echo step $n; done; echo Traceback: >&2; echo '  at line 7' >&2; echo 'KeyError: price' >&2"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("end", "limit", "why"),
    [("exit 1", 600, "failed with exit code 1: KeyError: price"), ("sleep 60", 15, "; it last wrote: KeyError: price")],
)
def test_the_last_line_of_an_agent_stands_wherever_its_failure_is_told(tmp_path: Path, end: str, limit: int, why: str) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\ntimeout = {limit}\n")
    agent = tmp_path / "agent"
    agent.write_text(f"#!/bin/sh\n{TRACE}\n{end}\n")
    agent.chmod(0o755)
    item = till.file()
    ran = till.execute(item, agent=f"command:{agent}")
    assert ran.code == 1 and "step 3" in ran.json["error"], ran
    for words in (("items", "show", item), ("report",)):
        shown = " ".join(till.project.run(*words).out.split())
        assert why in shown, shown
