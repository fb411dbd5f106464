"""A workflow table and its parts: states, moves, jobs, gates, changes and rows, all literal values.

Knows the form of rows, not what any of them means: gates and effects are named here and run elsewhere. A table is checked for its form
when it is constructed; what can happen in it is checked by kernel/walk.py.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from detent.kernel.model import Actor, Data, Flag, Found, Run, Sent, Status, StepShown

T = TypeVar("T", bound=Data)

BACK = "(back)"  # as a target: the state that the run remembers
STAY = "(stay)"  # as a target: the current state


GateResult = str | Flag | tuple[Flag, ...] | None  # what a gate returns: a failure, flags, or nothing
Gate = Callable[..., GateResult]  # its name names the gate, its docstring is the rule
Change = Callable[[Run[T], Sent, Found], Run[T]]  # pure; its result is part of the event


class Effect(msgspec.Struct, frozen=True):
    """Something that an event owes to repositories and files. It can only succeed or be done again."""

    name: str
    rule: str


class Job(msgspec.Struct, frozen=True):
    """Work of the machine whose outcome decides where the run goes: each outcome is an event of the state that has the job."""

    name: str
    rule: str
    outcomes: tuple[str, ...]


class Lock(msgspec.Struct, frozen=True):
    """A gate that looks only at counters, cause and return state, so that the walk over the table can evaluate it."""

    name: str
    rule: str
    shut: Callable[[Run[Data]], str | None]
    says: Status = "LOCKED"


class Count(msgspec.Struct, frozen=True):
    """Add one to a counter. Every counter has a limit; once it is reached, the row takes its `spent` way instead."""

    name: str

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, counts={**run.counts, self.name: run.counts.get(self.name, 0) + 1})


class Zero(msgspec.Struct, frozen=True):
    """Reset counters because what they count succeeded."""

    names: tuple[str, ...]

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, counts={k: v for k, v in run.counts.items() if k not in self.names})


class Because(msgspec.Struct, frozen=True):
    """Remember why the run waits and which state to return to: the current one, or the one named."""

    cause: str
    back: str = STAY

    def __call__(self, run: Run[T], sent: Sent, found: Found) -> Run[T]:
        return msgspec.structs.replace(run, cause=self.cause, back=run.state if self.back == STAY else self.back)


class Go(msgspec.Struct, Generic[T], frozen=True):
    """One way out of a row: the target, the changes and effects, the status, and the way to take instead once a counter is spent."""

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
    """Who acts in a state, in which role, and what they may write. If the state has a job, the job runs before the actor."""

    actor: Actor
    role: str = ""
    writes: tuple[str, ...] = ()
    job: Job | None = None
    children: bool = False
    bare: bool = False  # there is no checkout yet, so there is nothing to snapshot
    end: str = ""  # "proved" (only proven work gets here) or "stopped"


class Move(msgspec.Struct, frozen=True):
    """How an event is caused: by whom, by which call, and how to make that call (the words of the instruction)."""

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
    """At a state, on an event: what is asked (a miss is REFUSED), what must be proved, where it leads, where a failed proof leads."""

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
        """Every way out of this row, including the spent ones."""
        first = (self.to,) if self.fail is None else (self.to, self.fail)
        return tuple(g for way in first for g in ((way,) if way.spent is None else (way, way.spent)))


def each(
    states: tuple[str, ...], on: str, to: Go[T], ask: tuple[Gate | Lock, ...] = (), prove: tuple[Gate, ...] = (), fail: Go[T] | None = None
) -> tuple[Row[T], ...]:
    """The same row at several states, expanded to literal rows."""
    return tuple(Row(at, on, ask, prove, to, fail) for at in states)


class Child(msgspec.Struct, frozen=True):
    """A child run that should exist now: its name below the parent's id, its workflow, its first state, and its data."""

    name: str
    workflow: str
    start: str
    data: Data
    worktree: str = ""
    limits: Mapping[str, int] = {}  # where they differ from the table's limits


def no_children(run: Run[Data]) -> tuple[Child, ...]:
    return ()


def no_facts(run: Run[Data]) -> Mapping[str, str]:
    return {}


def no_wish(run: Run[Data]) -> str:
    return ""


def no_step(run: Run[Data]) -> StepShown | None:
    return None


Rows = tuple[Row[Any], ...]


class Table(msgspec.Struct, Generic[T], frozen=True):
    """A workflow as rows. Only `kind` lets data pick the event; `unproven` lists what a successful end would still lack."""

    name: str
    title: str
    data: type[T]
    starts: tuple[str, ...]
    states: Mapping[str, State]
    moves: Mapping[str, Move]
    rows: tuple[Row[T], ...]
    kind: Callable[[Run[T], Sent], str]
    limits: Mapping[str, int]
    broken: Go[T]  # taken after too many ERRORs, or refusals, in a row
    unproven: Callable[[Run[T]], tuple[str, ...]]
    always: tuple[Effect, ...] = ()  # owed by every event that moves the run
    children: Callable[[Run[T]], tuple[Child, ...]] = no_children
    facts: Callable[[Run[T]], Mapping[str, str]] = no_facts  # the names that its briefings may use
    step: Callable[[Run[T]], StepShown | None] = no_step
    urges: Callable[[Run[T]], str] = no_wish  # the event to ask for instead of the one that a plain submit causes
    result: Callable[[Run[T]], Mapping[str, str]] = no_facts  # what the parent learns when a child of this workflow has ended
    index: Mapping[tuple[str, str], Row[T]] = {}  # the rows by (state, event); built here, never passed in

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "index", {(r.at, r.on): r for r in self.rows})
        found = faults(self.starts, self.states, self.moves, self.rows, self.limits, self.broken)
        if found:
            raise ValueError(f"the table {self.name} is not consistent:\n" + "\n".join(f"- {f}" for f in found))

    def row(self, state: str, on: str) -> Row[T] | None:
        """The row for this state and event, if there is one."""
        return self.index.get((state, on))

    def at(self, state: str) -> tuple[Row[T], ...]:
        """All rows of a state, in the order in which they are written."""
        return tuple(r for r in self.rows if r.at == state)

    def allowed(self, run: Run[T]) -> tuple[str, ...]:
        """The calls open to whoever acts now. Locked calls are left out."""
        actor = self.states[run.state].actor
        rows = (r for r in self.at(run.state) if actor in self.moves[r.on].by and not any(lock.shut(run) for lock in r.locks))
        return tuple(dict.fromkeys(call for r in rows if (call := self.moves[r.on].call)))  # events of the machine itself have no call

    def open_to_agents(self, run: Run[T]) -> tuple[str, ...]:
        """The calls that an agent may make now, even where a person acts. Calls only for people are left out."""
        if self.states[run.state].end:
            return ()
        rows = (r for r in self.at(run.state) if "agent" in self.moves[r.on].by and not any(lock.shut(run) for lock in r.locks))
        return ("get_task", *dict.fromkeys(call for r in rows if (call := self.moves[r.on].call)))

    def expects(self, run: Run[T]) -> str:
        """The event that the next call of the current actor should cause."""
        state = self.states[run.state]
        verb = "submit" if state.actor == "agent" else "resume"
        on = self.urges(run) or self.kind(run, Sent(verb, by="agent" if state.actor == "agent" else "human"))
        row, rest = self.row(run.state, on), [r for r in self.at(run.state) if state.actor in self.moves[r.on].by]
        fits = [r.on for r in ([row] if row is not None else []) + rest if not any(lock.shut(run) for lock in r.locks)]
        return next(iter(fits), row.on if row is not None else "")

    def instruction(self, run: Run[T]) -> str:
        """The next call to make, in words, with the run's id and that of the open question filled in."""
        on = self.expects(run)
        how = self.moves[on].how if on else ""
        asked = self.facts(run).get("decision_id", "") if "answer ID " in how else ""
        named = how.replace("answer ID ", f"answer {asked} ") if asked else how
        return named.replace("--run ID", f"--run {run.id}")


# -- the check -----------------------------------------------------------------------------------------------------------------


def faults(
    starts: tuple[str, ...], states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows, limits: Mapping[str, int], broken: Go[Any]
) -> tuple[str, ...]:
    """Every fault of a table as a sentence; empty for a sound table."""
    return (
        *_undeclared(starts, states, moves, rows, broken),
        *_doubled(rows),
        *_stuck(states, moves, rows),
        *_jobs(states, moves, rows),
        *_counters(rows, limits),
        *_endless(states, rows),
        *_unreachable(starts, states, rows, broken),
    )


def _undeclared(
    starts: tuple[str, ...], states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows, broken: Go[Any]
) -> Iterator[str]:
    targets = {go.to for row in rows for go in row.ways} | {broken.to}
    for state in sorted((set(starts) | {r.at for r in rows} | targets) - set(states) - {BACK, STAY}):
        yield f"state {state} is used but not declared"
    for on in sorted({r.on for r in rows} - set(moves)):
        yield f"event {on} is used but has no move"
    for on in sorted(set(moves) - {r.on for r in rows}):
        yield f"event {on} has a move but no row"


def _doubled(rows: Rows) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.at, row.on) in seen:
            yield f"there are two rows for {row.on} at {row.at}"
        seen.add((row.at, row.on))
        if row.prove and row.fail is None:
            yield f"{row.on} at {row.at} must be proved, but has no way for a failed proof"
        if row.fail is not None and not row.prove:
            yield f"{row.on} at {row.at} has a way for a failed proof, but nothing to prove"


def _stuck(states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows) -> Iterator[str]:
    for name, state in states.items():
        here = [r for r in rows if r.at == name]
        if state.end:
            if here:
                yield f"{name} is an end but has rows"
            continue
        if not any(go.to not in (STAY, name) for r in here for go in r.ways):
            yield f"{name} has no exit"
        by = [moves[r.on].by for r in here if r.on in moves]
        if state.actor in ("agent", "human") and not any(state.actor in b for b in by):
            yield f"{name} waits for the {state.actor}, but has nothing the {state.actor} may do"
        if not any("human" in b for b in by):
            yield f"{name} gives a person no way to intervene"


def _jobs(states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows) -> Iterator[str]:
    for name, state in states.items():
        outcomes = state.job.outcomes if state.job else ()
        here = {r.on for r in rows if r.at == name}
        for outcome in outcomes:
            if outcome not in here:
                yield f"the job of {name} can end in {outcome}, which has no row there"
            elif outcome in moves and "system" not in moves[outcome].by:
                yield f"the outcome {outcome} of the job of {name} is not open to the system"


def _counters(rows: Rows, limits: Mapping[str, int]) -> Iterator[str]:
    for row in rows:
        for go in row.ways:
            for name in go.counted:
                if name not in limits:
                    yield f"{row.on} at {row.at} counts {name}, which has no limit"
                elif go.spent is None:
                    yield f"{row.on} at {row.at} counts {name}, but has no way for when it is used up"


def _endless(states: Mapping[str, State], rows: Rows) -> Iterator[str]:
    """Faults that would loop forever: a failure that no counter bounds, and a spent counter whose way stays in the same state."""
    for row in rows:
        for way in (row.to, row.fail):
            if way is None:
                continue
            ends = way.to in states and bool(states[way.to].end)
            if (way.says == "FAILURE" or (way is row.fail and way.says != "HALTED")) and not way.counted and not ends:
                yield f"{row.on} at {row.at} can fail again and again: no counter bounds it"
            if way.spent is not None and way.spent.to == STAY:
                yield f"{row.on} at {row.at} stays there once its counter is spent"


def _unreachable(starts: tuple[str, ...], states: Mapping[str, State], rows: Rows, broken: Go[Any]) -> Iterator[str]:
    seen, todo = set(starts), list(starts)
    if any(state.actor != "none" for state in states.values()):
        todo.append(broken.to)
        seen.add(broken.to)
    while todo:
        at = todo.pop()
        for to in {go.to for r in rows if r.at == at for go in r.ways} - seen - {BACK, STAY}:
            seen.add(to)
            todo.append(to)
    for name in states:
        if name not in seen:
            yield f"{name} cannot be reached"
