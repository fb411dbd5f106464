"""What must hold of a table before anyone may use it. Looks at form alone; the walk (kernel.walk) looks at what can happen."""

from collections.abc import Iterator, Mapping
from typing import Any

from detent.kernel.rows import BACK, STAY, Go, Move, Row, State

Rows = tuple[Row[Any], ...]


def faults(
    starts: tuple[str, ...], states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows, limits: Mapping[str, int], broken: Go[Any]
) -> tuple[str, ...]:
    """Every fault of a table, as sentences. None means that it holds together."""
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
        yield f"state {state} is used and not declared"
    for on in sorted({r.on for r in rows} - set(moves)):
        yield f"event {on} is used and has no move"
    for on in sorted(set(moves) - {r.on for r in rows}):
        yield f"event {on} has a move and no row"


def _doubled(rows: Rows) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.at, row.on) in seen:
            yield f"there are two rows for {row.on} at {row.at}"
        seen.add((row.at, row.on))
        if row.prove and row.fail is None:
            yield f"{row.on} at {row.at} must be proved, and no way is given for a failed proof"
        if row.fail is not None and not row.prove:
            yield f"{row.on} at {row.at} has a way for a failed proof and nothing to prove"


def _stuck(states: Mapping[str, State], moves: Mapping[str, Move], rows: Rows) -> Iterator[str]:
    for name, state in states.items():
        here = [r for r in rows if r.at == name]
        if state.end:
            if here:
                yield f"{name} is an end and has rows"
            continue
        if not any(go.to not in (STAY, name) for r in here for go in r.ways):
            yield f"{name} has no exit"
        by = [moves[r.on].by for r in here if r.on in moves]
        if state.actor in ("agent", "human") and not any(state.actor in b for b in by):
            yield f"{name} waits for the {state.actor} and has nothing the {state.actor} may do"
        if not any("human" in b for b in by):
            yield f"{name} leaves a person no way to step in"


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
                    yield f"{row.on} at {row.at} counts {name} and gives no way for when it is spent"


def _endless(states: Mapping[str, State], rows: Rows) -> Iterator[str]:
    """A failure may happen again, so it is counted or ends the run; and whoever has spent a counter does not stay where it was spent."""
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
