"""The queue without any worker: what is asked of it, in which order it would go, and what is refused. On both databases where they could differ."""

import gc
import time
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from detent.errors import DetentError
from detent.queue.database import open_database
from detent.queue.engine import FORM, DurableQueue
from detent.queue.output import ExecutionOutput
from detent.queue.queue_protocol import MOST_FAILURES, MOST_STARTS, ExecutionEnd, QueueJob
from tests.queues import BOTH, Rig, rig

__all__ = ["rig"]


def turns(rig: Rig) -> list[str]:
    """The jobs that the engine has, in the order in which it would give them out."""
    found = rig.queue.engine.client.list_queued_workflows(load_input=False)
    return [w.workflow_id.partition("~")[0] for w in sorted(found, key=lambda w: (w.priority or 0, w.created_at or 0))]


def take(rig: Rig, id: str, worker: str = "w1") -> bool:
    """Take a job up as a worker does."""
    with rig.queue.database.engine.begin() as c:
        row = rig.queue.store._row(c, id)
    return rig.queue.store.begin(id, row.attempt, row.ticket, worker)


def end(rig: Rig, id: str, state: str, reason: str = "", worker: str = "w1") -> bool:
    take(rig, id, worker)
    return rig.queue.store.finish(id, rig.queue.one(id).attempt, worker, ExecutionEnd(state, reason), 0 if state == "done" else 1, 0)


# -- adding ------------------------------------------------------------------------------------------------------------------


def test_a_queue_that_no_worker_ever_saw_takes_jobs(tmp_path: Path) -> None:
    queue = DurableQueue(open_database("", tmp_path / "detent" / "queue.db"))
    assert [e.state for e in queue.add([QueueJob("r1", "i1")])] == ["ready"]
    queue.close()


@BOTH
def test_a_job_is_in_the_queue_once_however_often_it_is_added(rig: Rig) -> None:
    for _ in range(3):
        assert [e.id for e in rig.queue.add([QueueJob("r1", "i1", "a title"), QueueJob("r2", "i2")])] == ["r1", "r2"]
    assert rig.states() == {"r1": "ready", "r2": "ready"}
    assert turns(rig) == ["r1", "r2"]


@BOTH
def test_an_item_has_one_live_job(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1", "i1")])
    assert [e.id for e in rig.queue.add([QueueJob("r9", "i1")])] == ["r1"]
    end(rig, "r1", "failed")
    assert [e.id for e in rig.queue.add([QueueJob("r9", "i1")])] == ["r9"]
    assert rig.queue.one("i1").id == "r9", "an item's name means its newest job"


@BOTH
def test_the_first_is_by_priority_and_among_equals_by_age(rig: Rig) -> None:
    for id, priority in (("low", 3), ("old", 2), ("young", 2), ("urgent", 0)):
        rig.queue.add([QueueJob(id, priority=priority)])
    assert turns(rig) == ["urgent", "old", "young", "low"]
    assert [e.id for e in rig.queue.all()] == ["urgent", "old", "young", "low"]


# -- needs -------------------------------------------------------------------------------------------------------------------


@BOTH
def test_a_job_waits_outside_the_engine_until_all_it_needs_is_done(rig: Rig) -> None:
    rig.queue.add([QueueJob("rc", "c", needs=("a", "b")), QueueJob("ra", "a"), QueueJob("rb", "b")])
    assert turns(rig) == ["ra", "rb"]
    assert rig.queue.one("rc").waits_for == ("a", "b")
    end(rig, "ra", "done")
    assert rig.queue.one("rc").waits_for == ("b",)
    end(rig, "rb", "failed", "broken")
    assert rig.queue.one("rc").state == "waiting", "what failed is not done"
    rig.queue.add([QueueJob("rb2", "b")])
    end(rig, "rb2", "done")
    assert rig.queue.one("rc").state == "ready"
    assert "rc" in turns(rig)


def test_what_is_done_already_is_not_waited_for(rig: Rig) -> None:
    rig.queue.add([QueueJob("ra", "a")])
    end(rig, "ra", "done")
    assert [e.state for e in rig.queue.add([QueueJob("rb", "b", needs=("a",))])] == ["ready"]


def test_a_need_that_nobody_will_fill_is_refused_and_nothing_is_added(rig: Rig) -> None:
    with pytest.raises(DetentError, match="b needs a, which is not done and not in the queue") as told:
        rig.queue.add([QueueJob("rc", "c"), QueueJob("rb", "b", needs=("a",))])
    assert told.value.hint == "add it too: detent queue add a"
    assert rig.states() == {}


def test_a_circle_is_refused_by_name(rig: Rig) -> None:
    with pytest.raises(DetentError, match=r"these items need each other: \w → \w → \w → \w"):
        rig.queue.add([QueueJob("ra", "a", needs=("b",)), QueueJob("rb", "b", needs=("c",)), QueueJob("rc", "c", needs=("a",))])
    assert rig.states() == {}


def test_an_item_named_twice_is_refused(rig: Rig) -> None:
    with pytest.raises(DetentError, match="item a is named twice"):
        rig.queue.add([QueueJob("r1", "a"), QueueJob("r2", "a")])


@BOTH
def test_many_jobs_are_taken_in_some_at_a_time_so_that_workers_get_their_turn(rig: Rig) -> None:
    jobs = [QueueJob(f"r{n}", f"i{n}", needs=(f"i{n + 1}",) if n % 50 != 49 else ()) for n in range(250)]
    rig.queue.add([jobs[0], QueueJob("r1", "i1")])
    engine, taken, said = rig.queue.database.engine, [0], Counter[str]()

    @sa.event.listens_for(engine, "commit")
    def commit(_: sa.Connection) -> None:
        taken.append(0)

    @sa.event.listens_for(engine, "before_cursor_execute")
    def execute(_: sa.Connection, __: object, statement: str, *more: object) -> None:
        taken[-1] += statement.startswith(("INSERT INTO queue_jobs", "INSERT INTO detent.queue_jobs"))
        said["all"] += 1

    rig.queue.add(jobs)
    assert (sum(taken), max(taken)) == (248, 100), "what is there is not taken in again"
    assert said["all"] < 250 * 10, said
    assert sorted(turns(rig)) == ["r1", "r149", "r199", "r249", "r49", "r99"], "each waits for the next one"


# -- ends --------------------------------------------------------------------------------------------------------------------


@BOTH
def test_an_end_is_kept_once_and_only_from_the_worker_that_holds_the_job(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1", "i1")])
    assert take(rig, "r1", "w1")
    rig.queue.store.hand_back(["w1"])
    assert take(rig, "r1", "w2")
    assert not rig.queue.store.finish("r1", 1, "w1", ExecutionEnd("failed"), 1, 0), "a worker that was given up for dead is not heard"
    assert rig.queue.store.finish("r1", 1, "w2", ExecutionEnd("done"), 0, 0)
    assert not rig.queue.store.finish("r1", 1, "w2", ExecutionEnd("failed"), 1, 0)
    assert (rig.queue.one("r1").state, rig.queue.one("r1").starts, rig.queue.one("r1").worker) == ("done", 2, "")
    assert not take(rig, "r1"), "what is done is not taken up again"


def test_a_job_that_ends_its_worker_again_and_again_is_parked(rig: Rig) -> None:
    rig.queue.add([QueueJob("poison"), QueueJob("sound")])
    for _ in range(MOST_STARTS):
        assert take(rig, "poison")
        rig.queue.store.hand_back(["w1"])
    assert not take(rig, "poison")
    assert rig.queue.one("poison").state == "failed"
    assert f"started {MOST_STARTS} times" in rig.queue.one("poison").reason
    assert rig.queue.one("sound").state == "ready"


def test_what_has_not_ended_is_handed_over_again(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    end(rig, "r1", "again")
    assert rig.queue.one("r1").state == "ready"
    assert turns(rig) == ["r1", "r1"], "the first turn and the new one; the first finds that it is over"


def test_what_a_usage_limit_holds_gives_its_slot_back_and_counts_no_start(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    for _ in range(MOST_STARTS + 1):
        assert take(rig, "r1")
        assert rig.queue.store.finish("r1", 1, "w1", ExecutionEnd("again", "held until noon", 3600.0), 75, 0)
        found = rig.queue.one("r1")
        assert (found.state, found.reason, found.worker, found.starts) == ("ready", "held until noon", "", 0)
    held = rig.queue.engine.client.list_workflows(status="DELAYED", load_input=False)
    assert len({w.workflow_id for w in held}) == MOST_STARTS + 1, "each is a turn of its own"
    assert take(rig, "r1") and rig.queue.one("r1").reason == ""


def test_a_turn_that_the_engine_lost_is_handed_over_anew(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    take(rig, "r1")
    ticket = f"r1~1~{0}"
    rig.queue.put_right("w1", set())
    assert turns(rig) == ["r1"], "what the engine still has is left alone"
    rig.queue.engine.client.delete_workflows([ticket])
    rig.queue.put_right("w1", {"r1"})
    assert turns(rig) == [], "what runs here is left alone"
    rig.queue.put_right("w1", set())
    assert turns(rig) == ["r1"]
    assert rig.queue.one("r1").state == "ready"


# -- cancel, retry -----------------------------------------------------------------------------------------------------------


@BOTH
def test_a_job_that_is_cancelled_is_not_taken_up(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("ra", "a"), QueueJob("rb", "b", needs=("a",))])
    for id in ("r1", "rb"):
        assert rig.queue.cancel(id, "not now").state == "cancelled"
    assert turns(rig) == ["ra"]
    assert not take(rig, "r1")
    assert rig.queue.cancel("r1").reason == "not now", "an end stays as it is"
    end(rig, "ra", "done")
    assert rig.queue.one("rb").state == "cancelled"


@BOTH
def test_a_retry_is_a_new_attempt(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1", "i1")])
    end(rig, "r1", "failed", "broken")
    again = rig.queue.retry("r1")
    assert (again.state, again.attempt, again.starts, again.reason) == ("ready", 2, 0, "")
    assert end(rig, "r1", "done")


@pytest.mark.parametrize("state", ["ready", "running", "done"])
def test_only_what_ended_without_being_done_is_retried(rig: Rig, state: str) -> None:
    rig.queue.add([QueueJob("r1")])
    if state != "ready":
        take(rig, "r1") if state == "running" else end(rig, "r1", "done")
    with pytest.raises(DetentError, match=f"r1 is {state}; only what is failed, blocked, cancelled can be tried again"):
        rig.queue.retry("r1")


def test_a_job_that_is_not_there_is_named(rig: Rig) -> None:
    for ask in (rig.queue.cancel, rig.queue.retry, rig.queue.one):
        with pytest.raises(DetentError, match="there is no r7 in the queue"):
            ask("r7")


# -- pausing -----------------------------------------------------------------------------------------------------------------


@BOTH
def test_failures_in_a_row_pause_the_queue_and_it_says_why(rig: Rig) -> None:
    rig.queue.add([QueueJob(f"r{n}", f"i{n}") for n in range(12)])
    for n in range(MOST_FAILURES - 1):
        end(rig, f"r{n}", "failed", "tests fail")
    end(rig, "r8", "blocked")
    assert not rig.queue.paused().reason, "four failures and a question to a person are not five failures"
    end(rig, "r9", "failed", "the push was rejected")
    assert rig.queue.paused().reason == "5 executions failed in a row; the last was i9: the push was rejected"
    assert rig.queue.paused().by == "detent"
    rig.queue.resume()
    assert not rig.queue.paused().reason
    end(rig, "r10", "failed")
    assert not rig.queue.paused().reason, "the count begins anew"


def test_one_success_ends_the_row(rig: Rig) -> None:
    rig.queue.add([QueueJob(f"r{n}") for n in range(9)])
    for n in range(9):
        end(rig, f"r{n}", "done" if n == 4 else "failed")
    assert not rig.queue.paused().reason


def test_a_pause_keeps_its_first_reason_and_the_number_of_slots(rig: Rig) -> None:
    rig.queue.store.limit(3)
    rig.queue.pause("the office moves", "ada")
    rig.queue.pause("something else", "bob")
    assert rig.queue.paused()[:2] == ("the office moves", "ada")
    assert rig.queue.store.limit(0) == 0
    assert rig.queue.resume().reason == "the office moves"
    assert rig.queue.store.limit(0) == 3


# -- output, retention, trouble ----------------------------------------------------------------------------------------------


@BOTH
def test_output_is_read_on_from_where_one_was(rig: Rig) -> None:
    for text in ("one\n", "two\0\ud83d\ude00\n".encode("utf-16", "surrogatepass").decode("utf-16"), "three\n"):
        rig.queue.store.write("r1", 1, text)
    seen = rig.queue.logs("r1")
    assert [piece.text for piece in seen] == ["one\n", "two\ufffd😀\n", "three\n"]
    assert [piece.text for piece in rig.queue.logs("r1", after=seen[1].seq)] == ["three\n"]


def test_a_long_output_of_small_pieces_is_kept_whole_and_read_in_pages(rig: Rig) -> None:
    for n in range(300):
        rig.queue.store.write("r1", 1, f"{n}\n")
    assert "".join(piece.text for piece in rig.queue.logs("r1")) == "".join(f"{n}\n" for n in range(300))
    assert [piece.text for piece in rig.queue.logs("r1", after=290, limit=2)] == ["290\n", "291\n"] and rig.queue.dropped("r1") == 0


def test_of_much_output_the_newest_is_kept_and_how_much_was_let_go_is_known(rig: Rig) -> None:
    for n in range(128):
        rig.queue.store.write("r1", 1, f"{n:<399999}\n")
    seen = rig.queue.logs("r1")
    assert (len(seen), int(seen[0].text), int(seen[-1].text)) == (80, 48, 127) and rig.queue.dropped("r1") == 48 * 400_000
    assert seen[-1].seq == 128 and rig.queue.logs("r1", after=-5)[0].seq == 49, "the ledger is no piece"


def test_pieces_end_where_lines_end_unless_nothing_else_can_be_done() -> None:
    kept: list[str] = []
    output = ExecutionOutput(kept.append)
    output.feed(b"one\ntwo\n\nthr")
    output.feed(b"x" * 70_000)
    assert kept == ["one\ntwo\n\n"], "what has no end yet waits for it"
    output.feed(b"\n" + b"line\n" * 20_000 + b"open")
    assert all(piece.endswith("\n") for piece in kept[2:]) and len(kept[1]) == 60_000, "a line that is longer than a piece is cut"
    output.flush()
    assert kept[-1] == "open" and "".join(kept) == "one\ntwo\n\nthr" + "x" * 70_000 + "\n" + "line\n" * 20_000 + "open"


@BOTH
def test_the_engine_forgets_ended_turns_and_the_queue_what_ended_long_ago(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    rig.queue.store.write("r1", 1, "said")
    rig.queue.cancel("r1")
    assert rig.queue.engine.forget() == 0, "it ended just now"
    time.sleep(0.01)  # the engine's clock counts thousandths
    assert rig.queue.engine.forget(older=0) == 1
    assert rig.states() == {"r1": "cancelled", "r2": "ready"}
    rig.queue.store.prune(days=0)
    assert (rig.states(), list(rig.queue.logs("r1"))) == ({"r2": "ready"}, [])


def test_what_is_handed_over_carries_a_form_that_no_source_changes(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    assert [w.app_version for w in rig.queue.engine.client.list_queued_workflows()] == [FORM]


def test_a_database_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(DetentError, match="cannot be reached") as told:
        open_database("postgresql://someone:geheim@127.0.0.1:1/nowhere", tmp_path / "queue.db")
    assert "geheim" not in f"{told.value.message}{told.value.hint}"
    assert "[queue] url" in told.value.hint


@pytest.mark.parametrize(("url", "said"), [("mysql://x/y", "names mysql; only postgresql"), ("::", "not the address of a database")])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(DetentError, match=said):
        open_database(url, tmp_path / "queue.db")


def test_a_queue_of_another_form_is_refused(rig: Rig) -> None:
    with rig.queue.database.engine.begin() as c:
        c.execute(sa.text("UPDATE queue_meta SET value = '99' WHERE key = 'version'"))
    with pytest.raises(DetentError, match="made by another Detent"):
        open_database("", rig.file)


def test_a_queue_that_nobody_has_any_more_keeps_no_file_open(tmp_path: Path) -> None:
    """From Python 3.13 on, a connection that goes without being closed is warned of, and warnings are errors here."""
    queue = DurableQueue(open_database("", tmp_path / "detent" / "queue.db"))
    queue.all()
    pools = [queue.database.engine.pool, queue.database.leases.pool]
    assert any(pool.checkedin() for pool in pools if isinstance(pool, QueuePool))
    del queue
    gc.collect()
    assert [pool.checkedin() for pool in pools if isinstance(pool, QueuePool)] == [0, 0]
