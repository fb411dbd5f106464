"""The values of the queue, for all other rooms. Knows no engine, no database and nothing inside a run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError

LIVE = ("waiting", "ready", "running")
ENDS = ("done", "failed", "blocked", "cancelled")
AGAIN = ("failed", "blocked", "cancelled")  # states that can be retried
MOST_STARTS = 12  # starts after which an execution is assumed to crash its worker, and fails
MOST_FAILURES = 5  # failures in a row that pause the queue
DROPPED = 0  # the `seq` of the row with the number of dropped characters; pieces begin at 1


class UnknownExecution(DetentError):
    """There is no execution with this id or of this item."""

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no {id} in the queue", "see `detent queue list --all`")


class QueueJob(NamedTuple):
    """A request to run an execution."""

    id: str  # the run
    item: str = ""  # at most one live job per item
    title: str = ""
    priority: int = 2  # 0 comes first; among equals the older
    needs: tuple[str, ...] = ()  # items that must be done first


class Execution(NamedTuple):
    """A job as the queue has it."""

    id: str
    item: str
    title: str
    priority: int
    state: str  # one of LIVE or ENDS
    attempt: int
    starts: int  # how often a worker started this attempt
    added: float
    started: float | None
    ended: float | None
    worker: str  # the worker that holds it, or ""
    cause: str  # the outage it waits for, a key of RECOVERY, or ""
    exit_code: int | None
    reason: str
    waits_for: tuple[str, ...] = ()


class Worker(NamedTuple):
    """A worker process, and the rest of its lease."""

    id: str
    host: str
    pid: int
    slots: int
    since: float
    left: float  # seconds of its lease; negative if expired, or its process is gone


class Pause(NamedTuple):
    """Why the queue starts nothing; an empty reason if it is not paused."""

    reason: str = ""
    by: str = ""
    since: float = 0.0
    kind: str = ""  # what a pause that ends by itself waits for; empty if a person must resume
    until: float = 0.0  # when it is expected to end, if known


class OutageRow(NamedTuple):
    """A current outage."""

    thing: str
    said: str
    since: float
    until: float  # the next retry
    tries: int = 1


class OutputPiece(NamedTuple):
    """A piece of an execution's output. `seq` grows with every piece, over all attempts."""

    seq: int
    attempt: int
    text: str


class ExecutionProcess(NamedTuple):
    """The command of an execution. It drives the run to its end, and may be started again after it was killed."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]


class ExecutionEnd(NamedTuple):
    """How an execution's program ended: one of ENDS, or `again` if it is to be started once more."""

    state: str
    reason: str = ""
    delay: float = 0.0  # seconds until the next start, if it asked to wait
    cause: str = ""  # the outage that ended it, or ""


class WorkerEvent(NamedTuple):
    """An event of a worker: started, output, ended, taken-up, paused, away, back or leaving."""

    kind: str
    id: str = ""
    text: str = ""


class WorkerTask(NamedTuple):
    """The work of a worker: how to start an execution's program, and how to find out how it ended."""

    child: Callable[[str], ExecutionProcess]
    judge: Callable[[str, int | None, str], ExecutionEnd]  # of id, exit code and last line of output
    timeout: float  # seconds for a program
    silence: float  # seconds without output
    tend: Callable[[], None] = lambda: None  # regular work, such as reconciling the queue
    room: Callable[[int], str] = lambda running: ""  # why no more can start beside so many, or ""
    back: Callable[[str], bool] = lambda thing: True  # whether an outage is over, or cannot be checked


class Pace(NamedTuple):
    """Intervals in seconds. `fence` is shorter than `lease`, so that a worker ends itself before others consider it dead."""

    lease: float = 30.0
    beat: float = 5.0
    fence: float = 25.0
    poll: float = 0.5
