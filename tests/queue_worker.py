"""A worker for the queue's tests in a process of its own: `python -m tests.queue_worker URL FILE FOLDER SLOTS LIMIT HOW [PACE…]`.

Prints what it sees as JSON Lines; ends when its standard input ends, like a worker on Ctrl-C.
"""

import json
import os
import sys
import threading
from pathlib import Path

from detent.interfaces.cli.work import begin_again
from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from detent.queue.lease import end_this_process
from detent.queue.queue_protocol import ExecutionEnd, ExecutionProcess, Pace, WorkerEvent, WorkerTask
from detent.queue.worker import LocalWorker

BY_EXIT_CODE = {
    0: ExecutionEnd("done"),
    1: ExecutionEnd("failed"),
    10: ExecutionEnd("blocked", "a person is needed"),
    75: ExecutionEnd("again"),
}


def by_exit_code(id: str, code: int | None, last: str = "") -> ExecutionEnd:
    """The end of an execution by its exit code alone."""
    return BY_EXIT_CODE.get(-1 if code is None else code, ExecutionEnd("failed", f"it exited with code {code}"))


def how_of(text: str, id: str) -> str:
    """The HOW of one execution: `wait` for all, or `r1=fail,*=0.1`."""
    ways = dict(pair.split("=") for pair in text.split(",")) if "=" in text else {"*": text}
    return ways.get(id, ways.get("*", "0.1"))


def main() -> None:
    url, file, folder, slots, limit, how, *pace = sys.argv[1:]

    def child(id: str) -> ExecutionProcess:
        program = str(Path(__file__).with_name("queue_child.py"))
        return ExecutionProcess([sys.executable, "-S", program, folder, id, how_of(how, id)], Path(folder), dict(os.environ))

    limits: dict[str, float] = json.loads(os.environ.get("QUEUE_TEST_LIMITS", "{}"))
    one_ended = threading.Event()

    def tell(seen: WorkerEvent) -> None:
        sys.stdout.write(json.dumps(seen._asdict()) + "\n")
        sys.stdout.flush()
        if seen.kind == "ended":
            one_ended.set()

    queue = DurableQueue(open_database(url, Path(file)))
    times = Pace(*map(float, pace)) if pace else Pace(4, 0.3, 3, 0.1)

    def room(running: int) -> str:
        return "7 MB are free" if limits.get("full") and not (Path(folder) / "room").exists() else ""

    task = WorkerTask(child, by_exit_code, limits.get("timeout", 900), limits.get("silence", 900), room=room, back=lambda thing: False)
    worker = LocalWorker(queue, task, int(slots), times, tell, begin_again if limits.get("again") else end_this_process)
    worker.start(int(limit))
    tell(WorkerEvent("up", worker.id))
    if limits.get("leaves"):
        one_ended.wait()  # and leave at that very moment
    else:
        sys.stdin.read()
    worker.leave()


if __name__ == "__main__":
    main()
