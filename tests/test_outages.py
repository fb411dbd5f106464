"""What is away, told apart from what is wrong with the work; and how the program of an execution says so to its worker."""

import errno
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa

from detent.app.away import ParkReason, back, parked_by, room
from detent.app.push import push
from detent.app.queue_ends import read_end
from detent.app.queueing import open_queue, reconcile
from detent.config.sources import load
from detent.drive import Seen
from detent.errors import Away, CannotTell, DetentError, Disturbed, JournalAway, JournalDamaged, Outage, Unreached
from detent.evidence.report import TestReport as Report
from detent.evidence.runners import Command
from detent.evidence.running.good_tree import blamed, run_good
from detent.evidence.running.suite import Suite
from detent.git.commits import slug
from detent.git.place import find_place
from detent.interfaces.cli import ends
from detent.interfaces.cli.work import patiently
from detent.queue.queue_protocol import ExecutionEnd
from detent.queue.recovery import MOST_PARKED
from detent.world.work_tree import _or_cannot_tell
from tests.driven import scripted, workspaces
from tests.executions import CONFIG, FAILS, WORKS, Till, passing
from tests.trackers import beads_folder

RUN = "execute-it-1-1"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Outage("remote", "no answer"), "remote"),
        (JournalAway("the server is gone"), "database"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (sqlite3.OperationalError("database or disk is full"), "disk"),
        (Unreached("the tracker says nothing"), "tracker"),
        (Unreached("a limit", "", "2027-01-01T00:00:00Z"), ""),
        (JournalDamaged("it was cut"), ""),
        (DetentError("no such agent"), ""),
        (ValueError("a bug"), ""),
    ],
)
def test_what_is_away_is_told_by_the_type_of_an_error_also_behind_another(error: Exception, cause: str) -> None:
    try:
        raise RuntimeError("it could not be done") from error
    except RuntimeError as outer:
        for seen in (error, outer):
            found = parked_by(seen)
            assert (found.cause if found else "") == cause
    assert parked_by(Outage("remote", "no answer")) == ParkReason("remote", "no answer")


def test_a_full_disk_is_away_and_any_other_trouble_with_files_is_not() -> None:
    with pytest.raises(Away, match=r"^No space left on device$") as full, _or_cannot_tell():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.thing == "disk"
    with pytest.raises(CannotTell) as other, _or_cannot_tell():
        raise PermissionError(errno.EACCES, "Permission denied", "/x")
    assert not isinstance(other.value, Away) and str(other.value) == "Permission denied: /x"


def full_database() -> Exception:
    """As the engine of the queue tells it."""
    try:
        raise sa.exc.OperationalError("COMMIT", None, full := sqlite3.OperationalError("database or disk is full")) from full
    except sa.exc.OperationalError as e:
        return e


FULL = [OSError(errno.ENOSPC, "No space left on device"), full_database()]


@pytest.mark.parametrize("full", FULL)
def test_a_full_disk_is_no_bug_of_the_command_that_meets_it(full: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise full

    assert ends.run_call(["queue", "list"], work) == 2
    said = capsys.readouterr().err
    assert said.startswith("detent: no space is left on the disk\n") and "Traceback" not in said


@pytest.mark.parametrize("full", FULL)
def test_a_worker_that_is_started_on_a_full_disk_waits_for_room(
    full: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries, slept = [full, full], list[float]()

    def start() -> str:
        if tries:
            raise tries.pop()
        return "at work"

    monkeypatch.setattr("detent.interfaces.cli.work.time.sleep", slept.append)
    assert patiently(start) == "at work" and slept == [30.0, 60.0]
    assert "no space is left on the disk; asking again in 30 s" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 1 / 0)


def test_disk_is_reserved_for_each_execution_at_work(tmp_path: Path) -> None:
    place = find_place(Till(tmp_path, remote=False).project.root)
    assert room(place, 0)(10) == "" and room(place, 1)(0) == ""
    said = room(place, 10**9)(2)
    assert (
        said.endswith(f"and an execution beside the 2 at work needs {3 * 10**9} ([queue] free_disk)")
        and "MB are free on the disk of" in said
    )


def test_a_remote_that_is_back_is_found_by_asking_it(tmp_path: Path) -> None:
    till = Till(tmp_path)
    with till.app():
        asked = back(find_place(till.project.root), till.project.env, load(lambda path: None, {}))
        assert asked("remote") and asked("tracker") and asked("disk")
        till.remote.rename(till.remote.with_name("gone.git"))
        assert not asked("remote")


def on_this_machine(tmp_path: Path, file: Path) -> Till:
    """A project that is tested by a program of its machine."""
    return Till(tmp_path, f"{CONFIG}[test]\ncommand = '{file}'\n[sandbox]\nmounts = ['{file.parent}']\n")


@pytest.mark.slow
def test_a_test_environment_that_works_again_is_found_by_running_the_tests_on_main(tmp_path: Path) -> None:
    file = passing(tmp_path / "env" / "tests")
    till = on_this_machine(tmp_path, file)
    with till.app():
        asked = back(find_place(till.project.root), till.project.env, load(lambda path: None, {}))
        assert asked("tests")
        moved = file.rename(file.with_name("moved"))
        assert not asked("tests")
        moved.rename(file)
        assert asked("tests") and workspaces(till.project) == [], "nothing is left of asking"


@pytest.mark.slow
def test_where_the_tests_run_on_main_an_execution_that_cannot_be_judged_waits_for_a_person_and_holds_nobody(tmp_path: Path) -> None:
    file = passing(tmp_path / "env" / "tests")
    till = on_this_machine(tmp_path, file)
    assert till.project.run("queue", "add", till.file(), "--agent", scripted(till.project, WORKS)).code == 0
    kept = file.rename(passing(file.with_name("kept")))
    (config := till.project.root / "detent.toml").write_text(config.read_text().replace(str(file), str(kept)))
    till.git("commit", "-qam", "the tests have another name")
    parked = till.project.run("run", "--run", RUN, "--park", "--events")
    assert parked.code == 10 and (till.run(RUN).state, till.run(RUN).cause) == ("HALTED", "errors"), parked
    left = read_end(till.project.root, RUN, 10)
    assert (left.state, left.cause) == ("blocked", "tests") and "could not be" in left.reason


class Runs:
    """A collector whose tests can be run on some trees."""

    suite = Suite(Command(("pytest",), "pytest"), 60.0, "")

    def __init__(self, *trees: str) -> None:
        self.trees = trees

    def clean(self, tree: str, wanted: object) -> Report:
        if tree not in self.trees:
            raise CannotTell("pytest wrote no report")
        return Report()


def test_tests_that_cannot_be_run_are_the_fault_of_the_change_only_if_they_can_be_run_without_it() -> None:
    trouble = CannotTell("pytest exited with code 3")
    found = blamed(trouble, cast("Any", Runs("good")), "good", lambda: True)
    assert found.fault == "the test run gave no result: pytest exited with code 3"
    with pytest.raises(Away, match="code 3") as away:
        blamed(trouble, cast("Any", Runs()), "good", lambda: True)
    assert away.value.thing == "tests"
    with pytest.raises(Away) as away:
        run_good(cast("Any", Runs()), "good", lambda: True)
    assert away.value.thing == "tests"
    with pytest.raises(Disturbed):
        blamed(Disturbed("it moved"), cast("Any", Runs()), "good", lambda: True)


@pytest.mark.slow
def test_how_a_program_left_an_execution_is_told_with_what_was_away_and_what_it_wrote(tmp_path: Path) -> None:
    till = Till(tmp_path)
    assert till.project.run("queue", "add", till.file(), "--agent", "human").code == 0
    root = till.project.root
    away = read_end(root, RUN, 75, json.dumps({"outcome": "parked", "cause": "remote", "reason": "no answer"}))
    assert (away.state, away.cause, away.reason) == ("again", "remote", "no answer. Detent asks again, and the run continues automatically")
    agent = read_end(root, RUN, 75, json.dumps({"outcome": "parked", "cause": "agent", "reason": "there is no program 'claude'"}))
    assert (agent.state, agent.cause) == ("blocked", "agent") and agent.reason.endswith("then: detent queue retry --cause agent")
    tests = read_end(root, RUN, 75, json.dumps({"outcome": "parked", "cause": "tests", "reason": "'pytest' could not be started"}))
    assert (tests.state, tests.cause) == ("again", "tests") and tests.reason.endswith(
        "Detent asks again, and the run continues automatically"
    )
    bug = read_end(root, RUN, 3, json.dumps({"error": "this is a bug in Detent: KeyError: 'x'", "exit_code": 3}))
    assert bug.state == "failed" and "it could not be driven (exit code 3): this is a bug in Detent: KeyError: 'x'. Then:" in bug.reason
    assert "Segmentation fault" in read_end(root, RUN, 3, "Segmentation fault").reason
    assert read_end(root, RUN, 75).delay == 60.0


def named(seconds: float) -> str:
    """The last line of a program whose forge named a time."""
    until = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    return json.dumps({"run": RUN, "outcome": "parked", "not_before": until, "reason": "GitHub accepts no more requests"})


@pytest.mark.slow
def test_a_time_that_was_named_is_waited_for_and_what_was_said_is_told(tmp_path: Path) -> None:
    till = Till(tmp_path)
    assert till.project.run("queue", "add", till.file(), "--agent", "human").code == 0
    left = read_end(till.project.root, RUN, 75, named(1800))
    assert (left.state, left.cause) == ("again", "") and 1700 < left.delay <= 1800
    assert left.reason == "GitHub accepts no more requests. Detent asks again, and the run continues automatically"
    assert read_end(till.project.root, RUN, 75, named(-5)).delay == 1.0


@pytest.mark.slow
def test_an_agent_that_is_not_there_parks_the_execution_and_it_continues_once_it_is(tmp_path: Path) -> None:
    till = Till(tmp_path)
    file = tmp_path / "agent"
    file.write_text("#!/bin/sh\necho done\n")
    file.chmod(0o755)
    assert till.project.run("queue", "add", till.file(), "--agent", f"command:{file}").code == 0
    kept = file.rename(tmp_path / "away")
    parked = till.project.run("run", "--run", RUN, "--park", "--events")
    assert parked.code == 75 and json.loads(parked.out.splitlines()[-1])["cause"] == "agent", parked
    assert [e.on for e in till.events(RUN)] == ["start"], "nothing was recorded"
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        queue.store.correct(RUN, ExecutionEnd("blocked", "it is not there", cause="agent"))
        reconcile(app, queue)
        assert queue.one(RUN).state == "blocked"
        kept.rename(file)
        reconcile(app, queue)
        assert (queue.one(RUN).state, queue.one(RUN).cause) == ("ready", "")


@pytest.mark.slow
def test_a_queue_that_paused_since_an_agent_was_not_there_continues_by_itself_once_it_is(tmp_path: Path) -> None:
    till = Till(tmp_path)
    file = tmp_path / "agent"
    file.write_text("#!/bin/sh\necho done\n")
    file.chmod(0o755)
    runs = [f"execute-{till.file(f'Item {n}')}-1" for n in range(MOST_PARKED)]
    assert till.project.run("queue", "add", "--ready", "--agent", f"command:{file}").code == 0
    kept = file.rename(tmp_path / "away")
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        for run in runs:
            queue.store.correct(run, ExecutionEnd("blocked", "it is not there", cause="agent"))
        reconcile(app, queue)
        assert f"{MOST_PARKED} executions in a row wait because of agent" in queue.paused().reason
        kept.rename(file)
        reconcile(app, queue)
        assert queue.paused().reason == "" and {e.state for e in queue.all()} == {"ready"}


@pytest.mark.slow
def test_what_an_ended_execution_still_owes_is_done_by_whoever_looks_at_the_queue(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[tracker]\nkind = 'beads'\n")
    beads_folder(till.project.root)
    items = till.project.root / ".beads" / "issues.jsonl"
    item, away = till.file(), items.with_name("away")
    assert till.project.run("queue", "add", item, "--agent", scripted(till.project, FAILS, FAILS)).code == 0
    (run,) = [e["id"] for e in till.project.run("queue", "list", "--json").json["executions"]]

    def watch(seen: Seen) -> None:
        if seen.kind == "turn" and seen.run.counts.get("tries"):
            items.rename(away)  # from the last turn on there is no tracker

    with till.app() as app, pytest.raises(Outage) as told:
        push(app, run, watch, park=True)
    assert told.value.thing == "tracker" and till.run(run).state == "FAILED" and "file_follow_up" in till.owed(run)
    away.rename(items)
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        reconcile(app, queue, (run,))
        assert queue.one(run).state == "failed"
        reconcile(app, queue)
    assert till.owed(run) == [] and [i.title for i in till.items()] == ["Add prices", "Tests fail: Add prices"]


@pytest.mark.slow
def test_an_execution_that_is_proved_and_still_owes_something_is_taken_up_again_until_that_is_done(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[tracker]\nkind = 'beads'\n")
    beads_folder(till.project.root)
    items = till.project.root / ".beads" / "issues.jsonl"
    item, away = till.file(), items.with_name("away")
    assert till.project.run("queue", "add", item, "--agent", scripted(till.project, WORKS)).code == 0
    (run,) = [e["id"] for e in till.project.run("queue", "list", "--json").json["executions"]]

    def watch(seen: Seen) -> None:
        if seen.kind == "verdict":
            items.rename(away)  # once the work is proved there is no tracker

    with till.app() as app, pytest.raises(Outage):
        push(app, run, watch, park=True)
    assert till.run(run).state == "COMPLETED" and "update_item" in till.owed(run)
    left = read_end(till.project.root, run, 75, json.dumps({"outcome": "parked", "cause": "tracker", "reason": "no answer"}))
    assert (left.state, left.cause) == ("again", "tracker")
    limited = read_end(till.project.root, run, 75, named(1800))
    assert limited.state == "again" and limited.delay > 1700, "each start before that time would be in vain, and count"
    away.rename(items)
    assert till.project.run("run", "--run", run, "--park").code == 0
    assert (till.owed(run), till.item(item).status, read_end(till.project.root, run, 0).state) == ([], "closed", "done")


@pytest.mark.parametrize(
    ("text", "name"),
    [("Größe prüfen & Maße", "groesse-pruefen-masse"), ("Café à la carte", "cafe-a-la-carte"), ("Ærø łódź", "aero-lodz"), ("日本", "")],
)
def test_names_of_branches_spell_letters_out(text: str, name: str) -> None:
    assert slug(text, 60) == name and slug("ä" * 60, 10) == "aeaeaeaeae"
