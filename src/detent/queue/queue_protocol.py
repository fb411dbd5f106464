"""The queue as everybody else sees it: its values. Knows no engine, no database and no run's inside."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError

LIVE = ("waiting", "ready", "running")
ENDS = ("done", "failed", "blocked", "cancelled")
AGAIN = ("failed", "blocked", "cancelled")  # what may be tried again
MOST_STARTS = 12  # times that an execution is taken up before it counts as one that ends its worker
MOST_FAILURES = 5  # in a row; then the queue pauses
DROPPED = 0  # the number of the row that says how much of an output was let go; pieces begin at 1


class UnknownExecution(DetentError):
    """There is no execution of this id, and none of this item."""

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no {id} in the queue", "see `detent queue list --all`")


class QueueJob(NamedTuple):
    """What is asked of the queue: to run an execution once."""

    id: str  # the run
    item: str = ""  # the work item; at most one live job is for it
    title: str = ""
    priority: int = 2  # 0 comes first; among equals the older one
    needs: tuple[str, ...] = ()  # items whose jobs must be done before


class Execution(NamedTuple):
    """A job as the queue has it."""

    id: str
    item: str
    title: str
    priority: int
    state: str  # one of LIVE or ENDS
    attempt: int
    starts: int  # how often a worker took this attempt up
    added: float
    started: float | None
    ended: float | None
    worker: str  # who holds it; empty if nobody does
    cause: str  # what was away, where that made it wait: one of the things in `recovery`
    exit_code: int | None
    reason: str
    waits_for: tuple[str, ...] = ()


class Worker(NamedTuple):
    """A process that works off the queue, and how long its lease still is."""

    id: str
    host: str
    pid: int
    slots: int
    since: float
    left: float  # seconds until the lease ends; negative if it has ended, or its process is seen to be gone


class Pause(NamedTuple):
    """Why nothing new is started; an empty reason if nothing holds the queue."""

    reason: str = ""
    by: str = ""
    since: float = 0.0
    kind: str = ""  # of one that ends by itself: what it waits for; empty if a person must resume
    until: float = 0.0  # when that is expected, if it is known


class OutageRow(NamedTuple):
    """Something is away."""

    thing: str
    said: str
    since: float
    until: float  # when it is asked again
    tries: int = 1


class OutputPiece(NamedTuple):
    """Some of what an execution wrote. `seq` grows with every piece, over all attempts."""

    seq: int
    attempt: int
    text: str


class ExecutionProcess(NamedTuple):
    """The one program of an execution. It drives the run to its end and may be started again after it was killed."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]


class ExecutionEnd(NamedTuple):
    """How an execution ended: one of ENDS, or `again` if it has not ended and is to be taken up once more."""

    state: str
    reason: str = ""
    delay: float = 0.0  # seconds before it is taken up once more, where it asked for that: it gave its slot back
    cause: str = ""  # what was away, where that is why


class WorkerEvent(NamedTuple):
    """Something that happened on this worker: started, output, ended, taken-up, paused, away, back or leaving."""

    kind: str
    id: str = ""
    text: str = ""


class WorkerTask(NamedTuple):
    """What a worker is for: how to start the program of an execution, and how to tell from the world how it ended."""

    child: Callable[[str], ExecutionProcess]
    judge: Callable[[str, int | None, str], ExecutionEnd]  # by its id, its exit code and the last line that it wrote
    timeout: float  # seconds that a program may take
    silence: float  # seconds that it may write nothing
    tend: Callable[[], None] = lambda: None  # bring the queue up to what happened outside of it
    room: Callable[[int], str] = lambda running: ""  # why nothing more can start here beside so many; empty if it can
    back: Callable[[str], bool] = lambda thing: True  # whether a thing that was away answers again, or there is no way to ask it


class Pace(NamedTuple):
    """How quickly things are noticed, in seconds. A worker that could not renew its lease ends itself before others may take it for dead."""

    lease: float = 30.0
    beat: float = 5.0
    fence: float = 25.0
    poll: float = 0.5
