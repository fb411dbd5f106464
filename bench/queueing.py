"""The queue: adding and handing out one execution with 10,000 queued against 10, and the cost of an idle worker."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench import Figure
from bench.journal import seconds
from detent.journal.holder import this_process
from detent.queue.database import open_database
from detent.queue.engine import FORM, NAME, QUEUE, DurableQueue
from detent.queue.lease import Leases
from detent.queue.queue_protocol import ExecutionEnd, Pace, QueueJob
from tests.postgres import running

LONG, SHORT = 10_000, 10
TURNS = 60
AT_ONCE = 500
IDLE = 10.0  # seconds that an idle worker is watched
WORKER = """
import sys
from pathlib import Path
from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from detent.queue.queue_protocol import Pace, WorkerTask, by_exit_code
from detent.queue.worker import LocalWorker
worker = LocalWorker(DurableQueue(open_database("", Path(sys.argv[1]))), WorkerTask(None, by_exit_code, 60, 60), 3, Pace(), lambda seen: None)
worker.start(3)
print("up", flush=True)
sys.stdin.read()
worker.leave()
"""


@contextmanager
def filled(url: str, file: Path, jobs: int) -> Iterator[DurableQueue]:
    """A queue with this many ready jobs."""
    queue = DurableQueue(open_database(url, file))
    queue.engine.client.register_queue(QUEUE, global_concurrency=3, application_name=NAME)
    for first in range(0, jobs, AT_ONCE):
        queue.store.add([QueueJob(f"old-{n}", f"item-{n}") for n in range(first, min(first + AT_ONCE, jobs))])
    try:
        yield queue
    finally:
        queue.close()


def by_turns(folder: Path, work: Callable[[DurableQueue, int], float], urls: tuple[str, str] = ("", "")) -> tuple[float, float]:
    """The medians of the same work on a long and on a short queue, alternating so that noise affects both."""
    with filled(urls[0], folder / "long" / "queue.db", LONG) as long, filled(urls[1], folder / "short" / "queue.db", SHORT) as short:
        pairs = [(work(long, n), work(short, n)) for n in range(TURNS)][5:]
    return median(a for a, _ in pairs), median(b for _, b in pairs)


def add(queue: DurableQueue, n: int) -> float:
    """Add one job; it is then deleted, so that the short queue stays short."""
    took = seconds(lambda: queue.store.add([QueueJob(f"new-{n}", f"new-item-{n}")]))
    queue.engine.client.delete_workflows([f"new-{n}~1~0"])
    queue.store.cancel(f"new-{n}", "")
    return took


def give_out(queue: DurableQueue, n: int) -> float:
    """A worker's work for one execution besides running it: claim it, take it up, record its end."""
    queue.store.add([QueueJob(f"new-{n}", f"new-item-{n}", priority=0)])
    return seconds(lambda: one_turn(queue, f"new-{n}"))


def adding(folder: Path) -> Figure:
    return Figure(f"add one execution to {LONG:,}", *_against(by_turns(folder, add), f"add one to {SHORT}"))


def giving_out(folder: Path) -> Figure:
    return Figure(f"give out one execution of {LONG:,}", *_against(by_turns(folder, give_out), f"give out one of {SHORT}"))


def adding_postgres(folder: Path) -> Figure:
    with running() as server:
        pair = by_turns(folder, add, (server.database(), server.database()))
    return Figure(f"PostgreSQL: add one execution to {LONG:,}", *_against(pair, f"add one to {SHORT}"))


def giving_out_postgres(folder: Path) -> Figure:
    with running() as server:
        pair = by_turns(folder, give_out, (server.database(), server.database()))
    return Figure(f"PostgreSQL: give out one execution of {LONG:,}", *_against(pair, f"give out one of {SHORT}"))


def _against(pair: tuple[float, float], what: str) -> tuple[float, str, float, float]:
    return pair[0], what, pair[1], 1.5


def adding_many(folder: Path) -> Figure:
    """The longest time that a lease renewal waits while many jobs are added."""
    file = folder / "queue.db"
    queue = DurableQueue(open_database("", file))
    queue.pause("only the adding is measured")
    with subprocess.Popen([sys.executable, "-c", WORKER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdin is not None
        assert worker.stdout.readline() == "up\n"
        leases = Leases(queue.database, "bench", this_process("", "bench"), 1, Pace())
        adds = threading.Thread(target=queue.store.add, args=([QueueJob(f"job-{n}", f"item-{n}") for n in range(LONG)],))
        adds.start()
        waits = []
        while adds.is_alive():
            waits.append(seconds(leases.renew))
            time.sleep(0.2)
        assert worker.poll() is None, "the worker ended itself"
        worker.stdin.close()
    queue.close()
    return Figure(
        f"longest wait of a renewed lease while {LONG:,} are added", max(waits), "the time until a worker ends itself", Pace().fence, 0.2
    )


def one_turn(queue: DurableQueue, id: str) -> None:
    engine: Any = queue.engine.client
    limits = engine.retrieve_queue(QUEUE)
    limits._worker_concurrency = 1
    claimed, _ = engine._sys_db.start_queued_workflows(limits, "bench", FORM, None)
    assert claimed == [f"{id}~1~0"], claimed
    assert queue.store.begin(id, 1, claimed[0], "bench")
    assert queue.store.finish(id, 1, "bench", ExecutionEnd("done"), 0, 0)
    engine.delete_workflows(claimed)


def idle(folder: Path) -> tuple[float, float]:
    """Memory in MB, and CPU seconds per second, of an idle worker."""
    file = folder / "queue.db"
    DurableQueue(open_database("", file)).close()
    words = [sys.executable, "-c", WORKER, str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdin is not None
        assert worker.stdout.readline() == "up\n"
        time.sleep(2)
        before, begun = used(worker.pid), time.monotonic()
        time.sleep(IDLE)
        took = (used(worker.pid) - before) / (time.monotonic() - begun)
        memory = resident(worker.pid)
        worker.stdin.close()
    return memory, took


def used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def idle_memory(folder: Path) -> Figure:
    ask = "import dbos; print(next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1])"
    bare = int(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout) / 1024
    return Figure("memory of an idle worker", idle(folder)[0], "a Python that imported the engine", bare, 1.5, "MB")


def idle_processor(folder: Path) -> Figure:
    return Figure("processor time of an idle worker, a second", idle(folder)[1], "50 ms", 0.05, 1.0)
