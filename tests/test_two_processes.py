"""Several real processes on one run: nothing is lost, nothing is doubled, and everyone is told the truth. They meet by barriers and pipes."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest

from detent.door import Door
from detent.fakes import ScriptedJudge
from detent.journal.journal import SqliteJournal
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Event, Found, Run, Sent, Status
from tests.two_children import (
    PATIENCE,
    RUN,
    SINCE,
    SMALL,
    Done,
    append_in_a_race,
    build,
    claim_and_die,
    log_of,
    look_while_landing,
    open_at_once,
    speak_slowly,
    step,
    submit_and_wait,
    submit_as_a_dead_one,
    submit_in_a_race,
    submit_late,
)

SPAWN = multiprocessing.get_context("spawn")
STEER = Sent("steer", by="human", note="mind the gap")
ABORT = Sent("abort", by="human", note="enough")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal in which the run has started."""
    (tmp_path / "git").mkdir()
    place = tmp_path / "git" / "detent" / "journal.db"
    with closing(SqliteJournal(place, create=True)) as journal:
        build(journal).start(Run(RUN, "small", "WORKING", 0, Done()), Sent("start", by="human"))
    return place


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(path)) as opened:
        yield opened


@pytest.fixture
def door(journal: SqliteJournal) -> Door:
    return build(journal)


def heard(talk: "Connection[Any, Any]") -> Any:
    assert talk.poll(PATIENCE), "the other process said nothing"
    return talk.recv()


def all_at_once(lives: Sequence[tuple[Callable[..., None], tuple[object, ...]]], path: Path) -> list[Any]:
    """Let processes begin together and give back what each had to say."""
    together = SPAWN.Barrier(len(lives))
    pipes = [SPAWN.Pipe(duplex=False) for _ in lives]
    processes = [SPAWN.Process(target=life, args=(path, together, out, *args)) for (life, args), (_, out) in zip(lives, pipes, strict=True)]
    for process in processes:
        process.start()
    said = [heard(ear) for ear, _ in pipes]
    for process in processes:
        ended(process)
    for ear, out in pipes:
        ear.close()
        out.close()
    return said


def ended(process: SpawnProcess) -> None:
    process.join(PATIENCE)
    assert process.exitcode == 0
    process.close()


@contextmanager
def another(life: Callable[..., None], path: Path, *args: object) -> Iterator[tuple["Connection[Any, Any]", SpawnProcess]]:
    """A second process, with a line to talk to it."""
    mine, its = SPAWN.Pipe()
    process = SPAWN.Process(target=life, args=(path, its, *args))
    process.start()
    its.close()
    try:
        yield mine, process
        if process.exitcode is None:
            process.join(PATIENCE)
    finally:
        mine.close()
        process.kill()
        process.join()
        process.close()


def history(journal: SqliteJournal, run: str = RUN) -> list[Event[Done]]:
    return [from_entry(SMALL, e) for e in journal.events(run, limit=100_000)]


def effects(path: Path) -> list[str]:
    return log_of(path).read_text().splitlines() if log_of(path).exists() else []


# -- races -------------------------------------------------------------------------------------------------------------------


def test_of_several_that_create_the_journal_all_get_the_same_one(tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    times = 80
    ids = all_at_once([(open_at_once, (times,))] * 4, tmp_path / "git" / "detent" / "journal.db")
    assert ids[0] == ids[1] == ids[2] == ids[3]
    assert len(set(ids[0])) == times
    assert list((tmp_path / "git" / "detent").glob("*.db.*")) == [], "no draft is left"


@pytest.mark.slow
def test_appends_of_several_processes_are_all_there_once_and_in_one_chain(path: Path, journal: SqliteJournal) -> None:
    names, times = ("p0", "p1", "p2", "p3"), 20
    won = all_at_once([(append_in_a_race, (("shared", f"own {who}"), who, times)) for who in names], path)
    shared = journal.events("shared")
    assert [e.seq for e in shared] == list(range(1, len(names) * times + 1))
    assert Counter(e.body.decode() for e in shared) == dict.fromkeys(names, times)
    assert sorted(seq for mine in won for run, seq in mine if run == "shared") == [e.seq for e in shared]
    for who, mine in zip(names, won, strict=True):
        assert [(e.run, e.seq) for e in journal.events(f"own {who}")] == [one for one in mine if one[0] != "shared"]
        assert [e.seq for e in shared if e.body.decode() == who] == [seq for run, seq in mine if run == "shared"]
    assert journal.first_fault() is None


@pytest.mark.slow
def test_submits_and_steers_of_several_processes_are_all_taken_exactly_once(path: Path, journal: SqliteJournal, door: Door) -> None:
    agents, persons, times = ("a0", "a1", "a2"), ("h0", "h1"), 12
    lives = [(submit_in_a_race, (who, times, "agent")) for who in agents] + [(submit_in_a_race, (who, times, "human")) for who in persons]
    answers = dict(pair for said in all_at_once(lives, path) for pair in said)
    assert set(answers.values()) == {"SUCCESS"}
    assert len(answers) == times * (len(agents) + len(persons))
    door.next(RUN)
    events = history(journal)
    assert [e.run.seq for e in events] == list(range(1, len(answers) + 2)), "no event is lost, doubled or beside the others"
    steps = [e.sent.summary for e in events if e.on == "step"]
    assert sorted(steps) == sorted(name for name in answers if name.startswith("a"))
    assert events[-1].run.data.steps == tuple(steps)
    assert sorted(effects(path)) == sorted(f"{RUN} {e.run.seq} note" for e in events if e.on == "step")
    assert list(journal.owed(RUN)) == []
    assert journal.first_fault() is None
    assert said_to_nobody(events) == list(events[-1].run.steers)
    assert sorted(e.sent.note for e in events if e.on == "steer") == sorted(name for name in answers if name.startswith("h"))


def said_to_nobody(events: list[Event[Done]]) -> list[str]:
    """The steers that no judged step has taken in, counted from the events alone."""
    waiting: list[str] = []
    for event in events:
        waiting = [*waiting, event.sent.note] if event.on == "steer" else waiting[event.found.heard :]
    return waiting


# -- while another judges ----------------------------------------------------------------------------------------------------


def test_a_submit_while_another_is_judged_is_busy_and_told_by_whom(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(submit_and_wait, path, step("a1")) as (talk, process):
        assert heard(talk) == "judging"
        verdict = door.submit(RUN, step("a2"))
        assert (verdict.status, verdict.state) == ("BUSY", "WORKING")
        assert f"process {process.pid} on " in verdict.reasons[0]
        assert f"(submit) since {SINCE}" in verdict.reasons[0]
        assert "get_task" in verdict.allowed_actions
        assert [e.on for e in history(journal)] == ["start"]
        assert door.next(RUN).state == "WORKING", "looking is possible all the time"
        talk.send("go on")
        assert heard(talk)[:2] == ("SUCCESS", "WORKING")
    assert door.submit(RUN, step("a2")).status == "SUCCESS"
    assert history(journal)[-1].run.data.steps == ("a1", "a2")


def test_an_abort_while_another_is_judged_ends_it_stale_and_nothing_is_marked(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(submit_and_wait, path, step("a1")) as (talk, _):
        assert heard(talk) == "judging"
        assert door.submit(RUN, ABORT).state == "ABORTED"
        talk.send("go on")
        status, state, reasons, stands = heard(talk)
    assert (status, state, stands) == ("STALE", "ABORTED", [False])
    assert "nothing was recorded" in reasons[0]
    assert [e.on for e in history(journal)] == ["start", "abort"]
    assert journal.attempt(RUN, "a1") is None
    assert history(journal)[-1].run.data.steps == ()
    assert list(journal.owed(RUN)) == []
    assert effects(path) == [f"{RUN} 2 snapshot", f"{RUN} 2 publish"]


def test_a_steer_while_another_is_judged_is_kept_and_the_evidence_still_counts(path: Path, journal: SqliteJournal, door: Door) -> None:
    assert door.submit(RUN, Sent("steer", by="human", note="heard before")).status == "SUCCESS"
    with another(submit_and_wait, path, step("a1")) as (talk, _):
        assert heard(talk) == "judging"
        assert door.submit(RUN, STEER).status == "SUCCESS"
        talk.send("go on")
        assert heard(talk) == ("SUCCESS", "WORKING", (), [True]), "judged once, decided twice"
    events = history(journal)
    assert [e.on for e in events] == ["start", "steer", "steer", "step"]
    assert events[-1].run.data.steps == ("a1",)
    assert events[-1].run.steers == ("mind the gap",)


def test_a_holder_that_is_killed_while_judging_leaves_the_run_to_the_next(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(submit_and_wait, path, step("a1")) as (talk, process):
        assert heard(talk) == "judging"
        assert door.submit(RUN, step("a1")).status == "BUSY"
        process.kill()
        process.join(PATIENCE)
        assert door.submit(RUN, step("a1")).status == "SUCCESS"
    assert [e.on for e in history(journal)] == ["start", "step"]


def test_a_claim_is_refused_to_its_own_holder_too_and_ends_with_it(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(claim_and_die, path) as (talk, process):
        assert f"by process {process.pid} on" in heard(talk)
        talk.send("go on")
        process.join(PATIENCE)
    assert door.submit(RUN, step("a1")).status == "SUCCESS"


def test_whoever_lost_the_run_while_judging_marks_nothing(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(submit_as_a_dead_one, path, step("a1")) as (talk, _):
        assert heard(talk) == "judging"
        with another(submit_and_wait, path, step("a2")) as (second, _):
            assert heard(second) == "judging"
            talk.send("go on")
            status, _, reasons, _ = heard(talk)
            assert status == "BUSY"
            assert "was taken over by another process" in reasons[0]
            second.send("go on")
            assert heard(second)[0] == "SUCCESS"
    assert [e.sent.summary for e in history(journal)] == ["", "a2"]
    assert effects(path) == [f"{RUN} 2 note"]


# -- the same attempt again --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("found", "status"), [(Found(), "SUCCESS"), (Found(failed=("no",)), "FAILURE")])
def test_a_repeated_attempt_gets_the_earlier_answer_in_any_process(
    path: Path, journal: SqliteJournal, found: Found, status: Status
) -> None:
    with another(submit_and_wait, path, step("a1"), found) as (talk, _):
        assert heard(talk) == "judging"
        talk.send("go on")
        assert heard(talk)[0] == status
    judge = ScriptedJudge()
    verdict = build(journal, judge).submit(RUN, step("a1"))
    assert (verdict.status, verdict.reasons) == (status, found.failed)
    assert judge.cases == []
    assert [e.on for e in history(journal)] == ["start", "step"]


@pytest.mark.parametrize(("found", "status"), [(Found(refused=("not so",)), "REFUSED"), (Found(unclear="no runner"), "ERROR")])
def test_an_attempt_that_was_not_judged_is_judged_anew(path: Path, journal: SqliteJournal, found: Found, status: Status) -> None:
    with another(submit_and_wait, path, step("a1"), found) as (talk, _):
        assert heard(talk) == "judging"
        talk.send("go on")
        assert heard(talk)[0] == status
    judge = ScriptedJudge()
    assert build(journal, judge).submit(RUN, step("a1")).status == "SUCCESS"
    assert len(judge.cases) == 1
    assert [e.status for e in history(journal)] == ["SUCCESS", status, "SUCCESS"]
    assert build(journal, judge).submit(RUN, step("a1")).status == "SUCCESS"
    assert len(judge.cases) == 1


def test_an_attempt_that_is_answered_while_its_twin_waits_for_the_run_is_answered_once(
    path: Path, journal: SqliteJournal, door: Door
) -> None:
    with another(submit_late, path, step("a1")) as (talk, _):
        assert heard(talk) == "claiming"
        assert door.submit(RUN, step("a1")).status == "SUCCESS"
        talk.send("go on")
        status, _, _, cases = heard(talk)
    assert (status, cases) == ("SUCCESS", [0])
    assert [e.on for e in history(journal)] == ["start", "step"]


# -- what people's words owe -------------------------------------------------------------------------------------------------


def test_what_an_abort_owes_is_settled_by_whoever_held_the_run(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(submit_and_wait, path, step("a1"), Found(), "note") as (talk, _):
        assert heard(talk) == "note"
        assert door.submit(RUN, ABORT).state == "ABORTED"
        talk.send("go on")
        assert heard(talk)[0] == "SUCCESS"
    assert effects(path) == [f"{RUN} 2 note", f"{RUN} 3 snapshot", f"{RUN} 3 publish"]
    assert list(journal.owed(RUN)) == []


# -- people are heard at any time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "end"), [(ABORT, "ABORTED"), (STEER, "LANDING")], ids=["abort", "steer"])
def test_a_persons_word_is_taken_though_the_run_moves_on_while_it_is_said(
    path: Path, journal: SqliteJournal, door: Door, said: Sent, end: str
) -> None:
    with another(speak_slowly, path, said) as (talk, _):
        assert heard(talk) == "writing"
        assert door.submit(RUN, step("a1", value="finish")).state == "LANDING"
        talk.send("go on")
        assert heard(talk)[:2] == ("SUCCESS", end)
    assert [e.on for e in history(journal)] == ["start", "finish", said.verb]


def test_a_word_that_the_end_of_the_run_overtook_is_refused(path: Path, journal: SqliteJournal, door: Door) -> None:
    with another(speak_slowly, path, STEER) as (talk, _):
        assert heard(talk) == "writing"
        assert door.submit(RUN, ABORT).state == "ABORTED"
        talk.send("go on")
        status, state, reasons, _ = heard(talk)
    assert (status, state) == ("REFUSED", "ABORTED")
    assert "The run has ended." in reasons[0]


def test_whoever_looks_while_a_person_aborts_the_job_at_work_is_told_where_the_run_stands(
    path: Path, journal: SqliteJournal, door: Door
) -> None:
    assert door.submit(RUN, step("a1", value="finish")).state == "LANDING"
    with another(look_while_landing, path) as (talk, _):
        assert heard(talk) == "land"
        assert door.submit(RUN, ABORT).state == "ABORTED"
        for effect in ("snapshot", "publish"):
            talk.send("go on")
            assert heard(talk) == effect
        talk.send("go on")
        assert heard(talk) == "ABORTED"
    assert [e.on for e in history(journal)] == ["start", "finish", "abort"]
