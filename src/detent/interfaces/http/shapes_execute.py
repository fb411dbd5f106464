"""What goes over the wire about work items and their executions. No behaviour."""

from detent.gates.item import Issue
from detent.interfaces.http.shape import Shape


class ExecutionsAsked(Shape, frozen=True, kw_only=True):
    all: bool = False  # also what has ended
    limit: int = 200


class ExecuteAsked(Shape, frozen=True, kw_only=True):
    items: tuple[str, ...] = ()
    ready: bool = False  # every open item that waits for nothing
    agent: str = ""
    context: str = ""
    again: bool = False
    priority: int | None = None


class PauseAsked(Shape, frozen=True, kw_only=True):
    paused: bool
    reason: str = ""


class CancelAsked(Shape, frozen=True, kw_only=True):
    reason: str = ""


class LogsAsked(Shape, frozen=True, kw_only=True):
    after: int = 0  # the newest piece that is known


class ItemsAsked(Shape, frozen=True, kw_only=True):
    all: bool = False  # closed ones too


class ItemAsked(Shape, frozen=True, kw_only=True):
    title: str
    description: str = ""
    priority: int = 2
    type: str = "task"
    labels: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


class ReviewAsked(Shape, frozen=True, kw_only=True):
    branch: str
    agent: str = ""
    again: bool = False


class ExecutionRow(Shape, frozen=True, kw_only=True):
    id: str  # also the id of its run
    item: str
    title: str
    priority: int
    state: str  # waiting, ready, running, done, failed, blocked, cancelled
    attempt: int
    starts: int
    added: str | None
    started: str | None
    ended: str | None
    worker: str
    exit_code: int | None
    reason: str
    waits_for: tuple[str, ...]
    run_state: str
    branch: str


class Executions(Shape, frozen=True, kw_only=True):
    executions: tuple[ExecutionRow, ...]
    slots: int
    workers: int
    paused: str
    paused_by: str


class PieceRow(Shape, frozen=True, kw_only=True):
    seq: int
    attempt: int
    text: str


class Logs(Shape, frozen=True, kw_only=True):
    pieces: tuple[PieceRow, ...]
    after: int


class ItemRow(Shape, frozen=True, kw_only=True):
    id: str
    title: str
    description: str
    status: str
    priority: int
    type: str
    labels: tuple[str, ...]
    assignee: str
    depends_on: tuple[str, ...]
    found_in: tuple[str, ...]
    key: str
    notes: str
    created_at: str
    waits_for: tuple[str, ...] = ()


class Items(Shape, frozen=True, kw_only=True):
    items: tuple[ItemRow, ...]


class Review(Shape, frozen=True, kw_only=True):
    branch: str
    summary: str
    run: str = ""  # the execution that is reviewed again
    commit: str = ""
    pr_ready: bool = False
    issues: tuple[Issue, ...] = ()
    items: tuple[str, ...] = ()
