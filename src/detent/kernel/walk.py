"""The exhaustive walk over a table: every (state, return state, cause, counters) that a run can be in.

Gates may pass or miss, since they depend on data; locks are evaluated and counters are counted. What the walk cannot reach, no run can.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from detent.kernel.decide import ERRORS, settled
from detent.kernel.model import By, Data, Found, Run, Sent
from detent.kernel.table import BACK, STAY, Because, Count, Go, Row, Table, Zero

NOTHING_SENT, NOTHING_FOUND = Sent("walk"), Found()


class Node(NamedTuple):
    """A position of a run, without its data."""

    state: str
    back: str
    cause: str
    counts: tuple[tuple[str, int], ...]


class Way(NamedTuple):
    """A way that the walk took: the row, and which of its ways (to, fail, or the spent one of either)."""

    at: str
    on: str
    which: str


class Walked(NamedTuple):
    """Everything that the walk reached."""

    nodes: frozenset[Node]
    edges: dict[Node, frozenset[Node]]
    ways: frozenset[Way]


def walk(table: Table[Any], limits: dict[str, int] | None = None) -> Walked:
    """Visit every node that can be reached from a start."""
    bounds = {**table.limits, **(limits or {})}
    todo = deque(Node(start, "", "", ()) for start in table.starts)
    seen, edges, ways = set(todo), dict[Node, frozenset[Node]](), set[Way]()
    while todo:
        node = todo.popleft()
        after = set[Node]()
        for way, to in _steps(table, node, bounds):
            ways.add(way)
            after.add(to)
            if to not in seen:
                seen.add(to)
                todo.append(to)
        edges[node] = frozenset(after)
    return Walked(frozenset(seen), edges, frozenset(ways))


def shadow(table: Table[Any], node: Node, limits: dict[str, int]) -> Run[Data]:
    """A run at this node, without data, to evaluate locks and changes on."""
    return Run("walk", table.name, node.state, 0, Data(), dict(node.counts), limits, node.back, node.cause)


def _steps(table: Table[Any], node: Node, limits: dict[str, int]) -> Iterator[tuple[Way, Node]]:
    run = shadow(table, node, limits)
    for row in table.at(node.state):
        if any(lock.shut(run) for lock in row.locks):
            continue
        by: By = "agent" if "agent" in table.moves[row.on].by else "system"
        for which, way in _ways(row):
            spent = way.spent is not None and any(run.counts.get(n, 0) >= limits[n] for n in way.counted)
            taken = way.spent if spent and way.spent is not None else way
            yield Way(row.at, row.on, f"{which}, spent" if spent else which), _land(taken, run, by)
    if not table.states[node.state].end and any(r.prove or r.gates for r in table.at(node.state)):
        yield Way(node.state, "(error)", "error"), _after_error(table, run, limits)


def _ways(row: Row[Any]) -> Iterator[tuple[str, Go[Any]]]:
    yield "to", row.to
    if row.fail is not None:
        yield "fail", row.fail


def _land(way: Go[Any], run: Run[Data], by: By) -> Node:
    after = settled(run, by)
    for change in way.changes:
        if isinstance(change, Count | Zero | Because):
            after = change(after, NOTHING_SENT, NOTHING_FOUND)
    return _node(after, {BACK: after.back, STAY: run.state}.get(way.to, way.to))


def _after_error(table: Table[Any], run: Run[Data], limits: dict[str, int]) -> Node:
    errors = run.counts.get(ERRORS, 0) + 1
    if errors >= limits[ERRORS]:
        return _land(table.broken, run, "system")
    return _node(msgspec.structs.replace(run, counts={**run.counts, ERRORS: errors}), run.state)


def _node(run: Run[Data], state: str) -> Node:
    return Node(state, run.back, run.cause, tuple(sorted(run.counts.items())))


def problems(table: Table[Any], limits: dict[str, int] | None = None) -> tuple[str, ...]:
    """What the walk finds wrong: dead ends, unreachable ends, counters over their limit, ways never taken, actors without a call."""
    seen = walk(table, limits)
    bounds = {**table.limits, **(limits or {})}
    return tuple(dict.fromkeys((*_dead_ends(table, seen), *_overruns(seen, bounds), *_untaken(table, seen), *_mute(table, seen, bounds))))


def _dead_ends(table: Table[Any], seen: Walked) -> Iterator[str]:
    for end in (name for name, state in table.states.items() if state.end):
        if not any(node.state == end for node in seen.nodes):
            yield f"{end} is out of reach"
    proved = _leading_to(seen, {n for n in seen.nodes if table.states[n.state].end == "proved"})
    for node in sorted(seen.nodes - proved):
        if table.states[node.state].end == "":
            yield f"from {node.state} (back to {node.back or '-'}, {node.cause or 'no cause'}) no proven end can be reached"


def _leading_to(seen: Walked, goal: set[Node]) -> set[Node]:
    into: dict[Node, set[Node]] = {}
    for node, after in seen.edges.items():
        for to in after:
            into.setdefault(to, set()).add(node)
    reached, todo = set(goal), list(goal)
    while todo:
        for before in into.get(todo.pop(), set()) - reached:
            reached.add(before)
            todo.append(before)
    return reached


def _overruns(seen: Walked, limits: dict[str, int]) -> Iterator[str]:
    for node in sorted(seen.nodes):
        for name, value in node.counts:
            if value > limits[name]:
                yield f"the counter {name} reaches {value} at {node.state}, over its limit of {limits[name]}"


def _untaken(table: Table[Any], seen: Walked) -> Iterator[str]:
    """Ways that no run can take. Several rows may share a spent way; one of them taking it is enough."""
    spent: dict[int, list[Way]] = {}
    for row in table.rows:
        for which, way in _ways(row):
            if Way(row.at, row.on, which) not in seen.ways:
                yield f"{row.on} at {row.at} ({which}) can never be taken"
            if way.spent is not None:
                spent.setdefault(id(way.spent), []).append(Way(row.at, row.on, f"{which}, spent"))
    for ways in spent.values():
        if not any(way in seen.ways for way in ways):
            yield f"{ways[0].on} at {ways[0].at} ({ways[0].which}) can never be taken"


def _mute(table: Table[Any], seen: Walked, limits: dict[str, int]) -> Iterator[str]:
    """States where someone must act but has no open call."""
    for node in sorted(seen.nodes):
        state = table.states[node.state]
        if state.actor in ("agent", "human") and not state.end and not table.allowed(shadow(table, node, limits)):
            yield f"at {node.state} the {state.actor} must act, but no call is possible"
