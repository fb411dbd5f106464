"""A workflow as one value: its states, moves and rows, checked when it is constructed. Decides nothing itself."""

from collections.abc import Callable, Mapping
from typing import Generic

import msgspec

from detent.kernel.model import Run, Sent, StepShown
from detent.kernel.rows import Child, Effect, Go, Move, Row, State, T, no_children, no_facts, no_step, no_wish
from detent.kernel.table_check import faults


class Table(msgspec.Struct, Generic[T], frozen=True):
    """`kind` is the only place where data picks the event; `unproven` lists what an end in success would still lack."""

    name: str
    title: str
    data: type[T]
    starts: tuple[str, ...]
    states: Mapping[str, State]
    moves: Mapping[str, Move]
    rows: tuple[Row[T], ...]
    kind: Callable[[Run[T], Sent], str]
    limits: Mapping[str, int]
    broken: Go[T]  # what the third ERROR in a row does
    unproven: Callable[[Run[T]], tuple[str, ...]]
    always: tuple[Effect, ...] = ()  # owed by every event that moves the run
    children: Callable[[Run[T]], tuple[Child, ...]] = no_children
    facts: Callable[[Run[T]], Mapping[str, str]] = no_facts  # the names its briefings may use
    step: Callable[[Run[T]], StepShown | None] = no_step
    urges: Callable[[Run[T]], str] = no_wish  # the event that is asked for instead of the one a plain submit causes
    result: Callable[[Run[T]], Mapping[str, str]] = no_facts  # what a parent learns when such a child has ended
    index: Mapping[tuple[str, str], Row[T]] = {}  # the rows by state and event; made here, never given

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "index", {(r.at, r.on): r for r in self.rows})
        found = faults(self.starts, self.states, self.moves, self.rows, self.limits, self.broken)
        if found:
            raise ValueError(f"the table {self.name} does not hold together:\n" + "\n".join(f"- {f}" for f in found))

    def row(self, state: str, on: str) -> Row[T] | None:
        """The one row for this state and event, if there is one."""
        return self.index.get((state, on))

    def at(self, state: str) -> tuple[Row[T], ...]:
        """All rows of a state, in the order they are written."""
        return tuple(r for r in self.rows if r.at == state)

    def allowed(self, run: Run[T]) -> tuple[str, ...]:
        """The calls open to whoever acts now. A locked call is not offered."""
        actor = self.states[run.state].actor
        rows = (r for r in self.at(run.state) if actor in self.moves[r.on].by and not any(lock.shut(run) for lock in r.locks))
        return tuple(dict.fromkeys(call for r in rows if (call := self.moves[r.on].call)))  # what the machine does itself is no call

    def open_to_agents(self, run: Run[T]) -> tuple[str, ...]:
        """The calls that an agent may make now. What only people do is none of them, whoever acts."""
        if self.states[run.state].end:
            return ()
        rows = (r for r in self.at(run.state) if "agent" in self.moves[r.on].by and not any(lock.shut(run) for lock in r.locks))
        return ("get_task", *dict.fromkeys(call for r in rows if (call := self.moves[r.on].call)))

    def expects(self, run: Run[T]) -> str:
        """The event that the next call of whoever acts should cause."""
        state = self.states[run.state]
        verb = "submit" if state.actor == "agent" else "resume"
        on = self.urges(run) or self.kind(run, Sent(verb, by="agent" if state.actor == "agent" else "human"))
        row, rest = self.row(run.state, on), [r for r in self.at(run.state) if state.actor in self.moves[r.on].by]
        fits = [r.on for r in ([row] if row is not None else []) + rest if not any(lock.shut(run) for lock in r.locks)]
        return next(iter(fits), row.on if row is not None else "")

    def instruction(self, run: Run[T]) -> str:
        """The one next call to make, in words, with the names of the run and of the question that is open."""
        on = self.expects(run)
        said = self.moves[on].how if on else ""
        asked = self.facts(run).get("decision_id", "") if "answer ID " in said else ""
        named = said.replace("answer ID ", f"answer {asked} ") if asked else said
        return named.replace("--run ID", f"--run {run.id}")
