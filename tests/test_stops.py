"""Why a driven run stopped, where a person looks for it; what a machine that works says; and what a start that cannot work leaves behind."""

import json
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from detent.app import open_app
from detent.app.push import push
from detent.blocks.terms import Terms
from detent.errors import Disturbed
from detent.evidence.report import TestReport as Report
from detent.evidence.running.suite import ProgressReader, Suite, check_timeout, too_long
from detent.gates.testlist import normalized_entry
from detent.interfaces.cli.live import LiveTerminal
from detent.kernel.model import Sent
from detent.workflows.tdd.tdd_data import ErrorDetails, Note
from detent.workflows.tdd.tdd_effects import portable
from detent.workflows.tdd.tdd_start import start_tdd
from tests.driven import ALONE, CYCLE, PLANS, REDS, lent, project, run, scripted, workspaces
from tests.project import Project


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield project(tmp_path_factory.mktemp("shared") / "p")


@pytest.fixture
def p(shared: Project) -> Iterator[Project]:
    with lent(shared):
        yield shared


# -- why it stopped ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sort", "cause"), [("ModelUnavailable", "model"), pytest.param("Budget", "budget", marks=pytest.mark.slow), ("Crashed", "agent")]
)
def test_the_reason_of_a_stop_stands_in_status_in_history_and_in_the_last_line(p: Project, sort: str, cause: str) -> None:
    fails = {"fail": {"sort": sort, "message": "it was the moon"}}
    ran = run(p, "--agent", scripted(p, PLANS, *[fails] * 4))
    assert ran.out.splitlines()[-1].startswith(
        f"Stopped ({cause}): it was the moon. Look: detent status. Continue: detent resume --run tdd-"
    )
    status = p.run("status").out
    assert f"because of: {cause}" in status and "  Why: it was the moon" in status
    assert p.run("status", "--json").json["reason"] == "it was the moon"
    history = p.run("history").out
    assert "it was the moon" in history
    assert p.run("steer", "look at the moon").out.endswith("Next: detent resume\n"), (
        "nobody calls get-task for a run that the machine drives"
    )
    assert "  Why: it was the moon" in p.run("status").out, "whatever was said since"


@pytest.mark.slow
def test_spent_retries_are_named_where_a_stop_is_looked_for(p: Project) -> None:
    passes = {
        "state": "RED",
        "again": True,
        "write": {"tests/test_add.py": "def test_add():\n    assert True\n"},
        "reply": "the test is written",
    }
    ran = run(p, "--agent", scripted(p, PLANS, passes))
    last = ran.out.splitlines()[-1]
    assert last.startswith("Stopped (retries): ") and "Continue: detent resume --run tdd-" in last, ran
    why = last.removeprefix("Stopped (retries): ").partition(". Look:")[0]
    assert why and why[:40] in " ".join(p.run("status").out.split()) and "because of: retries" in p.run("status").out
    assert why[:40] in " ".join(p.run("history").out.split())


@pytest.mark.slow
def test_why_the_machine_could_not_go_on_stands_in_status_until_it_does(p: Project) -> None:
    agent = scripted(p, PLANS)
    assert run(p, "--agent", agent).code == 2, "there is no turn for RED"
    why = " ".join(p.run("status").out.split())
    assert f"Stopped: {agent.removeprefix('scripted:')}: no entry is left for state 'RED', role 'test' (add one, or" in why, why
    scripted(p, PLANS, {"fail": {"sort": "ModelUnavailable", "message": "gone"}})
    p.run("resume")
    assert "Stopped:" not in (now := p.run("status").out) and "Why: gone" in now, now


@pytest.mark.slow
def test_history_and_show_tell_the_time_of_the_same_clock(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, {"fail": {"sort": "ModelUnavailable", "message": "gone"}}))
    first = datetime.fromisoformat(p.run("history", "--json").json["events"][0]["at"])
    clock = first.astimezone(ZoneInfo("Asia/Tokyo")).strftime("%H:%M:%S")
    for words in (["history"], ["show"]):
        told = subprocess.run(p.argv(*words), cwd=p.root, env={**p.env, "TZ": "Asia/Tokyo"}, capture_output=True, text=True)
        assert f"{clock}  " in told.stdout, (words, told, ran)


@pytest.mark.slow
def test_history_shows_commit_cycle_and_test_and_rollback_ends_with_the_new_run(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, *CYCLE), "--json")
    assert ran.code == 0, ran
    history = p.run("history").out
    for commit in ran.json["commits"][:4]:
        assert f"commit {commit['hash'][:10]}  cycle 1: adds" in history, history
    events = json.loads(p.run("history", "--json").out)["events"]
    assert [(e["cycle"], e["test"]) for e in events if e["commit"] == ran.json["commits"][1]["hash"]] == [(1, "adds")]
    back = p.run("rollback", "3")
    last = back.out.splitlines()[-1]
    fresh = last.removeprefix("The new run is ").partition(";")[0]
    assert last == f"The new run is {fresh}; {ran.json['run']} is ended. Next: detent resume --run {fresh}"
    assert p.run("status", "--run", fresh).code == 0


# -- a start that cannot work --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "said"), [((), "has no key"), (("--agent", "scripted:nowhere.json"), "the script nowhere.json cannot be read")]
)
def test_without_a_key_or_a_script_nothing_is_left_behind(p: Project, agent: tuple[str, ...], said: str) -> None:
    refs, before = p.git("for-each-ref"), p.run("runs", "--all", "--json").out
    ran = p.run("run", "add numbers", *agent, ANTHROPIC_API_KEY="")
    assert ran.code == 2 and said in ran.err, ran
    assert (p.git("for-each-ref"), p.run("runs", "--all", "--json").out) == (refs, before)
    assert workspaces(p) == []


# -- while it works --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_first_line_names_run_and_branch(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, PLANS, REDS, {"fail": {"sort": "ModelUnavailable", "message": "gone"}}))
    first = ran.out.splitlines()[0].split()
    assert first[0].startswith("tdd-") and first[1:4] == ["tdd", "PLAN", "branch"] and first[4].startswith("detent/add-numbers")


def test_tests_are_counted_as_they_run() -> None:
    said: list[str] = []
    count = ProgressReader(said.append, "running the tests", 340)
    for chunk in (b"tests/test_a.py ....", b"....   [  ", b"12%]\n", b"nothing\n", b"x [100%]\n"):
        count.feed(chunk)
    assert said == ["running the tests (of 340)", "running the tests (40/340)", "running the tests (340/340)"]
    ProgressReader(said.append, "running the tests", 0).feed(b"[ 50%]")
    assert said[-1] == "running the tests (50 %)"


@pytest.mark.slow
def test_the_live_view_says_what_is_installed_which_tests_run_and_what_is_probed(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"{ALONE}[workspace]\nsetup = 'touch installed.txt'\n", {".gitignore": "__pycache__/\ninstalled.txt\n"})
    app = open_app(p.root, create=True, env=p.env)
    view, shown = LiveTerminal(False, app, 80), list[str]()

    def say(words: str) -> None:
        view.say(words)
        shown.append(str(view._panel()).partition("  ")[2])

    app.worlds.runs.say = say
    id = start_tdd(app, Sent("start", by="human"), Terms("add numbers", agent=scripted(p, *CYCLE)))
    assert "setting up the workspace: `touch installed.txt`" in shown, "also before anybody drives"
    push(app, id, view.see)
    app.journal.close()
    said = "\n".join(shown)
    for words in ("running the tests (of 1)", "running the tests (2/2)", "probing whether the tests notice (try 1)"):
        assert words in said, said


@pytest.mark.slow
def test_a_service_that_is_waited_for_is_named_in_the_live_view(p: Project) -> None:
    from detent.agents import Progress
    from detent.drive import Seen
    from detent.drive.spent import spent_in

    run(p, "--agent", scripted(p, PLANS, {"fail": {"sort": "ModelUnavailable", "message": "gone"}}))
    app = open_app(p.root, env=p.env)
    view, event = LiveTerminal(False, app), app.door.load(app.chosen(None))
    briefing = app.door.briefing(event)
    for kind, text, doing in (
        ("turn", "", "the agent works"),
        ("wait", "overloaded; trying again in 3.0 s", "overloaded; trying again in 3.0 s"),
    ):
        progress = Progress("wait", text) if kind == "wait" else None
        view.see(Seen("progress" if progress else "turn", event.run, briefing, spent_in(()), text, progress=progress))
        assert view.doing == doing
    view.say("running the tests (12/340)")
    assert view.doing == "running the tests (12/340)"
    app.journal.close()


# -- tests over their limit --------------------------------------------------------------------------------------------------------


def test_a_suite_over_its_limit_is_an_error_unless_the_change_made_it_so() -> None:
    fault = too_long(Suite(None, 120, ""))
    late = Report(fault=fault, late=True)
    assert fault.startswith("the tests took longer than 120 s (`test.timeout`)")
    assert check_timeout(late, Report(wall=20), 120) is late
    said = r"took longer than 120 s \(`test.timeout`\), and were stopped"
    for slow, took in (
        (Report(wall=100), "without the change they take 100 s"),
        (Report(late=True), "and so were those without the change"),
    ):
        with pytest.raises(Disturbed, match=rf"{said}[;,] {took}"):
            check_timeout(late, slow, 120)


# -- small things ----------------------------------------------------------------------------------------------------------------


def test_notes_hold_no_local_paths() -> None:
    text = "/home/me/state/ws/calc.py:3 in /home/me/state/ws\n/tmp/detent-x1/calc.py: E\n/home/me/.venv/bin/pytest /root/x"
    note = Note("RED", "GREEN", 1, None, (), (), None, text, ErrorDetails("TestFailure", text), 1, "add")
    bare = portable(note, ("/home/me/state/ws", ""))
    assert bare.error == "calc.py:3 in \ncalc.py: E\n~/.venv/bin/pytest ~/x"
    assert bare.error_details is not None and bare.error_details.message == bare.error


@pytest.mark.parametrize("said", ["Adds two numbers.", "adds  two numbers", "`adds two numbers`", "ADDS TWO NUMBERS. "])
def test_a_description_is_compared_without_case_and_full_stop(said: str) -> None:
    assert normalized_entry(said) == normalized_entry("Adds two numbers")
    assert normalized_entry(said) != normalized_entry("adds three numbers")


def test_a_list_entry_is_chosen_by_words_that_are_nearly_its_own(p: Project) -> None:
    loose = json.loads(json.dumps(PLANS).replace("adds", "Adds.", 0))
    loose["reply"] = json.dumps({"currentTest": {"description": "ADDS.", "testFile": "tests/test_add.py", "implFile": "calc.py"}})
    ran = run(p, "--agent", scripted(p, loose, {"fail": {"sort": "ModelUnavailable", "message": "gone"}}), "--json")
    assert [c["subject"] for c in ran.json["commits"]] == ["plan: adds"]
    assert Path(p.root).exists()
