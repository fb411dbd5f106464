"""What is away: nothing that an outage touches counts, the queue is held instead of used up, and it continues by itself. On both databases."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec import structs

from detent.journal.holder import Holder, this_process
from detent.queue.lease import Leases
from detent.queue.outages import met
from detent.queue.queue_protocol import MOST_STARTS, ExecutionEnd, OutageRow, Pace, QueueJob
from detent.queue.recovery import MOST_PARKED, RECOVERY, drawn
from tests.queues import BOTH, Rig, rig
from tests.test_queue import end, take, turns

__all__ = ["rig"]
ROOT = Path(__file__).parent.parent
AWAY = ExecutionEnd("again", "the remote origin cannot be reached", cause="remote")


def hit(rig: Rig, id: str, outcome: ExecutionEnd = AWAY) -> None:
    assert take(rig, id)
    assert rig.queue.store.finish(id, 1, "w1", outcome, 75, 0)


def test_the_table_stands_in_the_documentation_as_it_is_in_the_code() -> None:
    assert drawn() in (ROOT / "docs" / "queue.md").read_text("utf-8")


@pytest.mark.parametrize(("thing", "waits"), [("remote", [5, 10, 20, 40]), ("database", [1, 2, 4, 8]), ("model", [15, 30, 60, 120])])
def test_an_outage_is_asked_after_twice_as_long_each_time_up_to_minutes(thing: str, waits: list[float]) -> None:
    row = RECOVERY[thing]
    assert [row.wait(n) for n in range(1, 5)] == waits and row.wait(1000) == row.most


def test_several_that_meet_an_outage_at_once_are_one_time() -> None:
    first = met({}, "remote", "no answer", 100.0)
    assert first == OutageRow("remote", "no answer", 100.0, 105.0, 1)
    assert met({"remote": first}, "remote", "no route", 101.0) == first._replace(said="no route")
    assert met({"remote": first}, "remote", "no answer", 106.0) == OutageRow("remote", "no answer", 100.0, 116.0, 2)


@pytest.mark.slow
@BOTH
def test_an_outage_holds_the_whole_queue_counts_nothing_and_what_waited_continues_in_its_place(rig: Rig) -> None:
    rig.queue.store.limit(3)
    rig.queue.add([QueueJob("r1"), QueueJob("r2"), QueueJob("r3")])
    for _ in range(MOST_STARTS + 1):
        hit(rig, "r1")
        found = rig.queue.one("r1")
        assert (found.state, found.cause, found.starts, found.worker) == ("ready", "remote", 0, "")
        rig.queue.wake("remote")
    hit(rig, "r1")
    assert [each.thing for each in rig.queue.away()] == ["remote"] and rig.queue.paused().reason == ""
    assert rig.queue.store.limit(0) == 0 and not take(rig, "r2"), "nothing else is used up meanwhile"
    assert (rig.queue.one("r2").state, rig.queue.one("r2").starts) == ("ready", 0)
    assert [e.id for e in rig.queue.parked("remote")] == ["r1"]
    assert rig.queue.wake("remote") and rig.queue.store.limit(0) == 3
    found = rig.queue.one("r1")
    assert (found.state, found.cause, found.reason) == ("ready", "", "") and rig.queue.away() == []
    assert list(dict.fromkeys(turns(rig))) == ["r1", "r2", "r3"], "among equals it is still the first"
    assert take(rig, "r1")


def test_a_service_that_fails_holds_nobody_else(rig: Rig) -> None:
    rig.queue.store.limit(3)
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    hit(rig, "r1", ExecutionEnd("again", "it cannot be reached", 30.0, "model"))
    assert rig.queue.store.limit(0) == 3 and take(rig, "r2")
    assert rig.queue.store.finish("r2", 1, "w1", ExecutionEnd("done"), 0, 0) and rig.queue.away() == [], "it answers"


def test_what_waits_for_a_person_because_of_one_thing_pauses_the_queue_after_a_few_in_a_row(rig: Rig) -> None:
    rig.queue.add([QueueJob(f"r{n}") for n in range(MOST_PARKED + 2)])
    end(rig, "r0", "blocked", "a review")
    for n in range(1, MOST_PARKED + 1):
        assert rig.queue.paused().reason == ""
        take(rig, f"r{n}")
        rig.queue.store.finish(f"r{n}", 1, "w1", ExecutionEnd("blocked", "no sandbox", cause="tests"), 10, 0)
    assert rig.queue.paused().reason == f"{MOST_PARKED} executions in a row wait because of tests; the last was r{MOST_PARKED}: no sandbox"


@BOTH
def test_a_turn_that_is_handed_over_again_keeps_its_place_among_equals(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    take(rig, "r1")
    rig.queue.engine.client.delete_workflows(["r1~1~0"])
    rig.queue.put_right("w1", set())
    assert turns(rig) == ["r1", "r2"]


def lease(rig: Rig, id: str, holder: Holder, left: float) -> None:
    """A lease as a worker has it that renewed it some time ago."""
    Leases(rig.queue.database, id, holder, 1, Pace(lease=left)).renew()


def test_what_an_outage_of_the_database_ended_counts_no_start_and_what_an_execution_ended_does(rig: Rig) -> None:
    me, far = this_process("", "work"), this_process("", "work")
    far = structs.replace(far, host="far", machine="other")
    rig.queue.add([QueueJob("mine"), QueueJob("theirs"), QueueJob("poison")])
    for n, (id, holder) in enumerate({"mine": me, "theirs": far, "poison": structs.replace(far, pid=1)}.items()):
        assert take(rig, id, f"w{n}")
        lease(rig, f"w{n}", holder, 600.0 if id == "poison" else -1.0)
    leases = Leases(rig.queue.database, "me", me, 1, Pace())
    leases.renew()
    assert leases.dead({"w0", "w1", "w2"}) == ["w0"], "this process before it began again; the other may still renew its lease"
    assert leases.dead({"w1", "w2"}) == ["w0", "w1"]
    lease(rig, "w2", far, -1.0)  # long after that one is gone too
    leases.give_up(["w0"])
    assert (leases.dead({"w1", "w2"}), leases.dead({"w1", "w2"})) == (["w1"], ["w1", "w2"])
    rig.queue.store.hand_back(["w0", "w1", "w2"], leases.excused)
    assert {e.id: e.starts for e in rig.queue.all()} == {"mine": 0, "theirs": 0, "poison": 1}


def test_a_turn_that_the_engine_lost_is_one_start(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    for n in range(1, 4):
        assert rig.queue.store.begin("r1", 1, ticket(rig), "w1") and rig.queue.one("r1").starts == n
        rig.queue.engine.client.delete_workflows([ticket(rig)])
        rig.queue.put_right("w1", set())


def ticket(rig: Rig) -> str:
    with rig.queue.database.engine.begin() as c:
        return str(c.execute(sa.text("SELECT ticket FROM queue_jobs")).scalar_one())


# -- workers -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_comes_takes_what_a_dead_one_held_before_its_equals(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2"), QueueJob("r3")])
    first = rig.work("wait", slots=1, limit=1)
    rig.until(lambda: rig.queue.one("r1").state == "running" and rig.alive(), "the first runs")
    first.kill()
    (rig.folder / "go").touch()
    rig.work("0.1", slots=1, limit=1)
    rig.until(lambda: set(rig.states().values()) == {"done"}, "all are done")
    assert rig.noted("starts") == ["r1", "r1", "r2", "r3"]


@pytest.mark.slow
def test_a_worker_without_room_starts_nothing_and_says_why(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_TEST_LIMITS", json.dumps({"full": 1}))
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("0.1", slots=1)
    rig.until(lambda: rig.queue.away(), "the disk is full")
    (away,) = rig.queue.away()
    assert (away.thing, away.said) == ("disk", "7 MB are free") and rig.noted("starts") == []
    found = rig.queue.one("r1")
    assert (found.state, found.starts) == ("ready", 0) and ("away", "7 MB are free") in [(t["kind"], t["text"]) for t in worker.told]
    (rig.folder / "room").touch()
    rig.queue.wake("disk")
    rig.until(lambda: rig.queue.one("r1").state == "done", "it continues")
