"""What a table is written with: states, moves, jobs, gates, changes and rows. Literal values and nothing else.

Knows the form of rows, not the meaning of any: gates and effects are named here and run elsewhere.
"""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from detent.kernel.model import Actor, Data, Flag, Found, Run, Sent, Status, StepShown

T = TypeVar("T", bound=Data)

BACK = "(back)"  # as a target: the state the run remembers
STAY = "(stay)"  # as a target: the state it is in


Said = str | Flag | tuple[Flag, ...] | None  # what is wrong, what should be looked at, or nothing
Gate = Callable[..., Said]  # name = the gate, docstring = the rule
Change = Callable[[Run[T], Sent, Found], Run[T]]  # pure; part of the event


class Effect(msgspec.Struct, frozen=True):
    """Something owed to the world by an event. It can only succeed or be done again."""

    name: str
    rule: str


class Job(msgspec.Struct, frozen=True):
    """Work of the machine whose outcome decides: each outcome is an event of the state that has the job."""

    name: str
    rule: str
    outcomes: tuple[str, ...]


class Lock(msgspec.Struct, frozen=True):
    """A gate over counters, cause and return state alone, so that the walk over the table can evaluate it."""

    name: str
    rule: str
    shut: Callable[[Run[Data]], str | None]
    says: Status = "LOCKED"


class Count(msgspec.Struct, frozen=True):
    """Add one to a counter. Every counter has a limit; the next one after it takes the row's `spent` way."""

    name: str

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, counts={**run.counts, self.name: run.counts.get(self.name, 0) + 1})


class Zero(msgspec.Struct, frozen=True):
    """Set counters back, since the thing they count succeeded."""

    names: tuple[str, ...]

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, counts={k: v for k, v in run.counts.items() if k not in self.names})


class Because(msgspec.Struct, frozen=True):
    """Remember why the run waits, and the state it came from (or the one named) as the one to return to."""

    cause: str
    back: str = STAY

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, cause=self.cause, back=run.state if self.back == STAY else self.back)


class Go(msgspec.Struct, Generic[T], frozen=True):
    """Where a row leads, what it changes, what it owes, what it says, and where it leads once a counter is spent."""

    to: str
    changes: tuple[Change[T], ...] = ()
    owes: tuple[Effect, ...] = ()
    says: Status = "SUCCESS"
    spent: "Go[T] | None" = None

    @property
    def counted(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.changes if isinstance(c, Count))


def go(to: str, *changes: Change[T], owes: tuple[Effect, ...] = (), says: Status = "SUCCESS", spent: Go[T] | None = None) -> Go[T]:
    return Go(to, changes, owes, says, spent)


class State(msgspec.Struct, frozen=True):
    """Who acts in a state, in which role, and what may be written meanwhile. A job comes before the actor, if it has something to do."""

    actor: Actor
    role: str = ""
    writes: tuple[str, ...] = ()
    job: Job | None = None
    children: bool = False
    bare: bool = False  # there are no files yet, so nothing is snapshotted
    end: str = ""  # "proved" (only proven work gets here) or "stopped"


class Move(msgspec.Struct, frozen=True):
    """An event by name: who may cause it, by which call, and how the call is made (the words of the instruction)."""

    by: tuple[str, ...]
    call: str
    how: str


def by_agent(call: str, how: str) -> Move:
    return Move(("agent",), call, how)


def by_human(call: str, how: str) -> Move:
    return Move(("human",), call, how)


def by_system(how: str) -> Move:
    return Move(("system",), "", how)


class Row(msgspec.Struct, Generic[T], frozen=True):
    """At a state, on an event: what is asked first (a miss is REFUSED), what must be proved, where it leads, where a failed proof leads."""

    at: str
    on: str
    ask: tuple[Gate | Lock, ...]
    prove: tuple[Gate, ...]
    to: Go[T]
    fail: Go[T] | None = None

    @property
    def locks(self) -> tuple[Lock, ...]:
        return tuple(g for g in self.ask if isinstance(g, Lock))

    @property
    def gates(self) -> tuple[Gate, ...]:
        return tuple(g for g in self.ask if not isinstance(g, Lock))

    @property
    def ways(self) -> tuple[Go[T], ...]:
        """Every way this row can lead, the spent ones too."""
        first = (self.to,) if self.fail is None else (self.to, self.fail)
        return tuple(g for way in first for g in ((way,) if way.spent is None else (way, way.spent)))


def each(
    states: tuple[str, ...], on: str, to: Go[T], ask: tuple[Gate | Lock, ...] = (), prove: tuple[Gate, ...] = (), fail: Go[T] | None = None
) -> tuple[Row[T], ...]:
    """The same row for several states, written out as literal rows."""
    return tuple(Row(at, on, ask, prove, to, fail) for at in states)


class Child(msgspec.Struct, frozen=True):
    """A child run that should exist now: its id below the parent's, its table, where it starts, and its data."""

    name: str
    workflow: str
    start: str
    data: Data
    worktree: str = ""
    limits: Mapping[str, int] = {}  # where they differ from the table's


def no_children(run: Run[Data]) -> tuple[Child, ...]:
    return ()


def no_facts(run: Run[Data]) -> Mapping[str, str]:
    return {}


def no_wish(run: Run[Data]) -> str:
    return ""


def no_step(run: Run[Data]) -> StepShown | None:
    return None
