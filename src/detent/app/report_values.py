"""The values of a report, for CLI, MCP and HTTP. Counted from the journal, the queue and git; never parsed from texts."""

from typing import Literal

from detent.kernel.model import Value

Group = Literal["landed", "finished", "waits", "failed", "cancelled", "running", "queued"]


class AgentCost(Value, frozen=True, omit_defaults=False):
    """What agents took."""

    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    turns: int = 0


class CostShare(Value, frozen=True, omit_defaults=False):
    """What one role, or one model, took."""

    name: str
    cost: AgentCost


class EarlierAttempt(Value, frozen=True, omit_defaults=False):
    """An earlier execution of the same item."""

    run: str
    state: str
    why: str


class ReportRow(Value, frozen=True, omit_defaults=False):
    """A work item, or a run that is of none, as it stands at the end of the time."""

    run: str  # the newest; empty for a branch that no run made
    item: str
    title: str
    workflow: str
    group: Group
    state: str
    why: str  # why it failed, or what it waits for, in a sentence
    waits_for: str  # who must act: a person, items, a time; empty if nobody must
    command: str  # what a person types next
    branch: str
    commit: str
    pull_request: str
    flags: dict[str, int]  # how many of each kind are open
    accepted: dict[str, int]  # how many of each kind a person accepted
    attempts: int
    earlier: tuple[EarlierAttempt, ...]  # the other attempts, the newest first
    cost: AgentCost  # of all attempts, in this time
    at: str  # of its newest event


class PausedQueue(Value, frozen=True, omit_defaults=False):
    """Why the queue starts nothing new."""

    reason: str
    by: str
    since: str
    until: str  # when it continues by itself; empty if a person must resume it


class BudgetRow(Value, frozen=True, omit_defaults=False):
    """A limit of the queue, and what was used of it."""

    name: str
    used: float
    most: float


class QueueNow(Value, frozen=True, omit_defaults=False):
    """The queue as it stands."""

    waiting: int = 0
    ready: int = 0
    running: int = 0
    workers: int = 0
    paused: PausedQueue | None = None
    budget: tuple[BudgetRow, ...] = ()
    budget_since: str = ""
    notify_fault: str = ""  # why the last notification could not be sent


class Report(Value, frozen=True, omit_defaults=False):
    """What happened since a time, and what is left to do."""

    project: str
    since: str
    until: str
    counts: dict[str, int]
    rows: tuple[ReportRow, ...]  # in the order of GROUPS
    cost: AgentCost
    by_role: tuple[CostShare, ...]
    by_model: tuple[CostShare, ...]
    queue: QueueNow | None


GROUPS: tuple[Group, ...] = ("waits", "failed", "landed", "finished", "running", "queued", "cancelled")
