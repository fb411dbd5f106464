"""API shapes of items and executions. No behaviour."""

from typing import Annotated, Literal

from msgspec import Meta

from detent.gates.item import FoundIssue
from detent.interfaces.http.shape import WRITTEN, Line, Most, Number, Shape, Text
from detent.interfaces.http.shapes import TokenUse

Title = Annotated[str, Meta(max_length=300, pattern=WRITTEN)]
Priority = Annotated[int, Meta(ge=0, le=4)]


class ExecutionsAsked(Shape, frozen=True, kw_only=True):
    all: bool = False  # ended ones too
    state: Literal["", "waiting", "ready", "running", "done", "failed", "blocked", "cancelled"] = (
        ""  # only these, also where they have ended
    )
    q: Line = ""  # words to search in title, item, id and reason
    limit: Most = 200
    offset: Number = 0


class ExecuteAsked(Shape, frozen=True, kw_only=True):
    items: tuple[str, ...] = ()
    ready: bool = False  # queue every open item whose dependencies are closed
    agent: Line = ""
    context: Text = ""
    again: bool = False
    priority: Priority | None = None


class PauseAsked(Shape, frozen=True, kw_only=True):
    paused: bool
    reason: Line = ""


class CancelAsked(Shape, frozen=True, kw_only=True):
    reason: Line = ""


class RetryAsked(Shape, frozen=True, kw_only=True):
    start: Literal["", "kept", "main"] = ""  # what a new attempt begins from; empty: as in [queue] retry_from


class LogsAsked(Shape, frozen=True, kw_only=True):
    after: Number = 0  # the newest piece that the client has
    limit: Most = 100


class ReportAsked(Shape, frozen=True, kw_only=True):
    since: Line = "24h"  # 8h, 2d, 22:00, yesterday, 2026-03-01T22:00


class ItemsAsked(Shape, frozen=True, kw_only=True):
    all: bool = False  # closed ones too
    limit: Most = 1000
    offset: Number = 0


class ItemAsked(Shape, frozen=True, kw_only=True):
    title: Title
    description: Text = ""
    priority: Priority = 2
    type: Line = "task"
    labels: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


class ReviewAsked(Shape, frozen=True, kw_only=True):
    branch: Line
    agent: Line = ""
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
    cause: str  # the outage that it waits for, if any
    exit_code: int | None
    reason: str
    waits_for: tuple[str, ...]
    run_state: str
    branch: str
    pull_request: str  # its URL
    usage: TokenUse  # including its inner runs


class Executions(Shape, frozen=True, kw_only=True):
    executions: tuple[ExecutionRow, ...]
    counts: dict[str, int]  # by state, before filtering
    next: int | None
    slots: int
    workers: int
    paused: str
    paused_by: str
    paused_until: str | None  # when it continues by itself
    away: tuple[str, ...] = ()  # current outages, in words; retried automatically


class PieceRow(Shape, frozen=True, kw_only=True):
    seq: int
    attempt: int
    text: str


class Logs(Shape, frozen=True, kw_only=True):
    pieces: tuple[PieceRow, ...]
    after: int
    next: int | None  # the start of the next page, if there is one yet
    dropped: int  # characters dropped from a very long output


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


class AttemptRow(Shape, frozen=True, kw_only=True):
    run: str
    state: str
    begun: str
    last: str
    reason: str
    branch: str
    pull_request: str
    kept: str  # the ref of the work it left
    starts_from: str
    part_of: str


class Attempts(Shape, frozen=True, kw_only=True):
    attempts: tuple[AttemptRow, ...]  # the oldest first


class ItemList(Shape, frozen=True, kw_only=True):
    items: tuple[ItemRow, ...]
    next: int | None


class Review(Shape, frozen=True, kw_only=True):
    branch: str
    summary: str
    run: str = ""  # the execution whose review is repeated
    commit: str = ""
    pr_ready: bool = False
    issues: tuple[FoundIssue, ...] = ()
    items: tuple[str, ...] = ()
