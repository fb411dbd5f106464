"""Workers in processes of their own on a real queue: each trap of the engine is walked into, and nothing is lost, doubled or left behind."""

import base64
import inspect
import json
import os
import pickle
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

import detent
from detent.queue.database import lease_file
from detent.queue.engine import FORM, QUEUE, WORKFLOW
from detent.queue.lease import FENCED
from detent.queue.queue_protocol import QueueJob
from tests.patience import LONG
from tests.queues import BOTH, Rig, rig

__all__ = ["rig"]


def at_once(rig: Rig) -> int:
    """The most programs that ran at one moment."""
    most = now = 0
    for step in map(int, rig.noted("count")):
        now += step
        most = max(most, now)
    return most


def waits(rig: Rig, *ids: str) -> None:
    """These run, each with its daemon beside it."""
    rig.until(lambda: len(rig.alive()) == 2 * len(ids) and all(rig.queue.logs(id) for id in ids), f"{ids} run")


def all_ended(rig: Rig, state: str = "done") -> None:
    rig.until(lambda: set(rig.states().values()) == {state}, f"all are {state}")


# -- working off -------------------------------------------------------------------------------------------------------------


@pytest.mark.sample(1)
@BOTH
def test_a_worker_runs_each_job_once_within_its_slots_and_what_is_needed_first(rig: Rig) -> None:
    rig.queue.add(
        [QueueJob("rc", "c", needs=("a", "b")), QueueJob("ra", "a"), QueueJob("rb", "b"), QueueJob("rd", "d"), QueueJob("re", "e")]
    )
    rig.work("0.3", slots=2, limit=3)
    all_ended(rig)
    assert sorted(rig.noted("ends")) == sorted(rig.noted("starts")) == ["ra", "rb", "rc", "rd", "re"]
    assert rig.noted("starts").index("rc") > max(rig.noted("ends").index("ra"), rig.noted("ends").index("rb"))
    assert at_once(rig) <= 2
    assert "".join(piece.text for piece in rig.queue.logs("ra")) == "step 0 of ra\nstep 1 of ra\nstep 2 of ra\n"
    rig.until(lambda: rig.queue.engine.holders() == {}, "no slot is held")


@pytest.mark.slow
def test_the_limit_over_all_workers_holds_on_the_embedded_database(rig: Rig) -> None:
    rig.queue.add([QueueJob(f"r{n:02}") for n in range(24)])
    for _ in range(3):
        rig.work("0.05", slots=3, limit=3, pace=(60, 0.3, 45, 0.02))  # however busy the machine is, nobody is taken for dead
    all_ended(rig)
    assert at_once(rig) <= 3
    assert len(rig.noted("starts")) == 24


@pytest.mark.slow
def test_ends_are_kept_by_kind_and_failures_pause_the_worker(rig: Rig) -> None:
    rig.queue.add([QueueJob(f"r{n}", priority=n) for n in range(8)])
    rig.work("r0=0.05,r1=blocked,r7=0.05,*=fail", slots=1, limit=1)
    rig.until(lambda: rig.queue.paused().reason, "the queue pauses")
    rig.until(lambda: not rig.queue.all(["running"]), "nothing runs")
    assert list(rig.states().values()).count("failed") == 5
    assert (rig.queue.one("r0").state, rig.queue.one("r1").state, rig.queue.one("r7").state) == ("done", "blocked", "ready")
    assert rig.queue.paused().reason.startswith("5 executions failed in a row; the last was r6")
    rig.queue.resume()
    rig.until(lambda: rig.queue.one("r7").state == "done", "what was held goes on")


# -- cancel, time ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BOTH
def test_a_cancel_ends_the_whole_tree_of_processes_and_frees_the_slot(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    worker = rig.work("r1=wait,r2=0.05", slots=1, limit=1)
    waits(rig, "r1")
    assert rig.queue.cancel("r1", "never mind").state == "cancelled"
    rig.until(lambda: not rig.queue.one("r1").worker, "the worker let go")
    assert rig.alive() == []
    rig.until(lambda: rig.queue.one("r2").state == "done", "the slot is free")
    assert rig.queue.one("r1")[-3:-1] == (None, "never mind")
    worker.end()
    assert not [line for line in worker.errors if "Traceback" in line], "that it was cancelled was asked for, and is no news"


@pytest.mark.slow
def test_a_program_that_takes_too_long_or_says_nothing_is_ended_with_all_its_processes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    monkeypatch.setenv("QUEUE_TEST_LIMITS", json.dumps({"timeout": 3, "silence": 1}))
    rig.work("r1=silent,r2=wait", slots=2)
    all_ended(rig, "failed")
    assert rig.queue.one("r1").reason == "it wrote nothing for more than 1 s and was stopped"
    assert rig.queue.one("r2").reason.endswith(" s and was stopped; it last wrote: waiting in r2")
    assert rig.alive() == []


# -- killed, stopped, cut off ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BOTH
def test_a_killed_worker_leaves_no_process_and_another_takes_over_from_the_last_step(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    first = rig.work("wait", slots=2)
    waits(rig, "r1", "r2")
    first.kill()
    rig.until(lambda: not rig.alive(), "its programs end with it")
    assert set(rig.queue.engine.holders().values()) == {rig.queue.workers()[0].id}, "the engine alone would leave them there for ever"
    second = rig.work("0.1", slots=2)
    all_ended(rig)
    assert sorted(second.kinds("taken-up")) == ["r1", "r2"]
    assert (sorted(rig.noted("ends")), rig.noted("overlaps")) == (["r1", "r2"], [])
    assert [w.id for w in rig.queue.workers()] == second.kinds("up"), "the lease of the dead one is gone"
    assert second.kinds("up") != first.kinds("up"), "a restart is another worker"


def stands_still(pid: int) -> bool:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return all((thread / "stat").read_text().rpartition(")")[2].split()[0] == "T" for thread in threads)


@contextmanager
def holding(file: Path) -> Iterator[None]:
    """While this is held, nobody else writes to the database."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=LONG)) as held:
        held.execute("BEGIN IMMEDIATE")
        yield
        held.execute("ROLLBACK")


@pytest.mark.slow
def test_a_worker_that_is_stuck_is_ended_before_its_work_is_taken_over(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    first = rig.work("wait", slots=1)
    waits(rig, "r1")
    with holding(rig.file), holding(lease_file(rig.file)):  # it is not stopped in the middle of a write: then nobody could write any more
        os.kill(first.process.pid, signal.SIGSTOP)
        rig.until(lambda: stands_still(first.process.pid), "every thread of it stands still")
    rig.work("0.1", slots=1)
    all_ended(rig)
    first.process.wait(LONG)
    assert first.process.returncode == -signal.SIGKILL
    assert (rig.noted("ends"), rig.noted("overlaps")) == (["r1"], [])


@pytest.mark.slow
def test_a_worker_that_cannot_renew_its_lease_ends_itself_and_its_programs(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("wait", slots=1)
    waits(rig, "r1")
    with sqlite3.connect(lease_file(rig.file), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")  # a database that takes nothing any more
        assert worker.process.wait(LONG) == FENCED
        rig.until(lambda: not rig.alive(), "its programs end with it")
        other.execute("ROLLBACK")
    other.close()
    worker.end()
    assert "the lease could not be renewed" in "".join(worker.errors)
    rig.work("0.1", slots=1)
    all_ended(rig)


@pytest.mark.slow
def test_a_worker_that_lost_its_lease_begins_again_in_the_same_process_and_that_counts_no_start(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_TEST_LIMITS", '{"again": 1}')
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("wait", slots=1, pace=(2, 0.2, 1.5, 0.1))
    waits(rig, "r1")
    before = rig.alive()
    with sqlite3.connect(lease_file(rig.file), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        rig.until(lambda: not set(before) & set(rig.alive()), "its programs end with it")
        rig.until(lambda: any("could not be renewed" in line for line in worker.errors), "it says why")
        other.execute("ROLLBACK")
    other.close()
    rig.until(lambda: worker.process.poll() is not None or len(rig.noted("starts")) == 2, "it takes up again what it held")
    assert len(worker.kinds("up")) == 2 and worker.process.poll() is None
    held = time.monotonic()
    rig.until(lambda: time.monotonic() - held > 2, "its former lease is looked at several times")
    assert worker.process.poll() is None and rig.queue.one("r1").starts == 1, "no execution ended this worker"
    (rig.folder / "go").touch()
    all_ended(rig)


@pytest.mark.slow
def test_a_database_that_is_away_for_a_moment_ends_nothing(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("wait", slots=1, pace=(20, 0.3, 15, 0.1))
    waits(rig, "r1")
    with sqlite3.connect(rig.file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        (rig.folder / "go").touch()  # its program ends while nothing can be written
        rig.until(lambda: len(rig.alive()) == 0, "the program ended")
        other.execute("ROLLBACK")
    other.close()
    all_ended(rig)
    assert worker.process.poll() is None
    assert rig.noted("starts") == ["r1"], "and it ran once"


@pytest.mark.slow
@BOTH
def test_a_worker_lives_on_while_somebody_changes_jobs_for_long(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("wait", slots=1)
    waits(rig, "r1")
    with rig.queue.store.changing():
        held = time.monotonic()
        rig.until(lambda: time.monotonic() - held > 5, "longer than the fence")
        assert worker.process.poll() is None, worker.errors
        (lease,) = rig.queue.workers()
        assert lease.left > 0, "the lease was renewed meanwhile"
    assert len(rig.alive()) == 2


@pytest.mark.slow
@BOTH
def test_a_worker_that_leaves_takes_its_programs_along_and_gives_back_what_it_held(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    first = rig.work("wait", slots=1)
    waits(rig, "r1")
    assert first.end() == 0, first.errors
    assert rig.alive() == []
    assert (rig.states(), list(rig.queue.workers())) == ({"r1": "ready", "r2": "ready"}, [])
    rig.work("0.1", slots=2)
    all_ended(rig)
    assert sorted(rig.noted("ends")) == ["r1", "r2"]


@pytest.mark.slow
def test_a_worker_that_leaves_as_an_execution_ends_leaves_no_slot_taken_and_says_nothing_of_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_TEST_LIMITS", '{"leaves": 1}')
    rig.queue.add([QueueJob("r1")])
    worker = rig.work("0.1")
    rig.until(lambda: worker.process.poll() is not None, "it has left")
    assert worker.end() == 0
    assert (rig.states(), rig.queue.engine.holders(), worker.errors) == ({"r1": "done"}, {}, [])


@pytest.mark.slow
def test_a_pause_holds_what_is_ready_and_lets_run_what_runs(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2", priority=3)])
    rig.queue.pause("the office moves", "ada")
    worker = rig.work("wait", slots=2)
    rig.until(lambda: worker.kinds("up") and rig.queue.workers(), "the worker is up")
    rig.queue.resume()
    waits(rig, "r1", "r2")
    rig.queue.pause("again", "ada")
    rig.queue.add([QueueJob("r3", priority=0)])
    (rig.folder / "go").touch()
    rig.until(lambda: rig.states() == {"r1": "done", "r2": "done", "r3": "ready"}, "what ran has ended")
    rig.queue.resume()
    all_ended(rig)


# -- what the engine must be, and must not do --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pickled_value_in_the_database_is_never_read(rig: Rig) -> None:
    trap = rig.folder / "trap"

    class Plant:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {trap}",)

    bad = base64.b64encode(pickle.dumps({"args": (Plant(),), "kwargs": {}})).decode()
    assert pickle.loads(base64.b64decode(bad)) and trap.exists(), "the plant works where it is unpickled"
    trap.unlink()
    rig.queue.add([QueueJob("r1"), QueueJob("r2", priority=3)])
    with rig.queue.database.engine.begin() as c:
        c.execute(sa.text("UPDATE workflow_status SET serialization = 'py_pickle' WHERE workflow_uuid = 'r1~1~0'"))
        changed = c.execute(sa.text("UPDATE workflow_input SET inputs = :bad WHERE workflow_uuid = 'r1~1~0'"), {"bad": bad})
        assert changed.rowcount == 1
    rig.work("0.05", slots=1)
    rig.until(lambda: rig.queue.one("r2").state == "done", "the other one is not held up")
    assert not trap.exists()


@pytest.mark.slow
def test_a_worker_of_other_sources_takes_up_what_was_handed_over_and_what_was_begun(rig: Rig) -> None:
    rig.queue.add([QueueJob("r1"), QueueJob("r2")])
    first = rig.work("wait", slots=1)
    waits(rig, "r1")
    first.kill()
    other = shutil.copytree(Path(detent.__file__).parent, rig.folder / "other" / "detent")
    file = other / "queue" / "worker.py"
    was = "        return await hold(id, attempt, ticket)\n"
    said = f"        open({str(rig.folder / 'other-sources')!r}, 'a').write(f'{{id}}\\n')\n"
    file.write_text(file.read_text().replace(was, said + was))
    second = rig.work("0.05", sources=str(other.parent))
    all_ended(rig)
    assert second.kinds("taken-up") == ["r1"]
    assert sorted(rig.noted("other-sources")) == ["r1", "r2"]
    with rig.queue.database.engine.begin() as c:
        known = c.execute(sa.text("SELECT version_name FROM application_versions")).scalars().all()
        ran = c.execute(sa.text("SELECT application_version FROM workflow_status WHERE name = :n"), {"n": WORKFLOW}).scalars().all()
    assert (list(known), set(ran)) == ([FORM], {FORM})


def test_the_engine_still_has_what_we_use_of_its_inside() -> None:
    from dbos import DBOS
    from dbos._queue import Queue, queue_thread
    from dbos._recovery import recover_pending_workflows
    from dbos._serialization import DefaultSerializer
    from dbos._sys_db import SystemDatabase

    assert list(inspect.signature(DBOS._recover_pending_workflows).parameters) == ["executor_ids"]
    assert "reenqueue_for_recovery" in inspect.getsource(inspect.getmodule(recover_pending_workflows) or recover_pending_workflows)
    assert "executor_id.in_(executor_ids)" in inspect.getsource(SystemDatabase.reenqueue_for_recovery), "only what the dead held"
    assert list(inspect.signature(SystemDatabase.get_queue).parameters)[:2] == ["self", "name"]
    assert "dbos._listening_queues" in inspect.getsource(queue_thread), "read anew at each look"
    assert "_worker_concurrency" in inspect.getsource(Queue.__init__)
    assert callable(DefaultSerializer.deserialize)
    assert QUEUE and not QUEUE.startswith("_dbos_")
