"""A table as documentation: markdown tables of its states, rows and gates, and a mermaid state diagram."""

from typing import Any

from detent.kernel.table import BACK, STAY, Because, Count, Go, Lock, Row, Table, Zero


def as_table(table: Table[Any]) -> str:
    """The whole table as markdown: states, rows, gates and jobs."""
    return "\n".join([f"# {table.name}: {table.title}", "", *_states(table), "", *_rows(table), "", *_gates(table), "", *_jobs(table), ""])


def as_mermaid(table: Table[Any]) -> str:
    """A mermaid state diagram. Rows that every state has (abort, steer, …) are left out and listed in a note."""
    lines = ["stateDiagram-v2", *(f"  [*] --> {s}" for s in table.starts)]
    common = _common(table)
    lines += [f"  {at} --> {to}: {', '.join(labels)}" for (at, to), labels in arrows(table).items()]
    lines += [f"  {name} --> [*]" for name, state in table.states.items() if state.end]
    if common:
        lines.append(f"  note right of {table.starts[0]}: at every state: {', '.join(sorted(common))}")
    return "\n".join(lines) + "\n"


def arrows(table: Table[Any]) -> dict[tuple[str, str], list[str]]:
    """The edges of the diagram: (from, to) -> the events that lead there. `back` stands for the state the run returns to."""
    common, drawn = _common(table), dict[tuple[str, str], list[str]]()
    for row in table.rows:
        if row.on not in common:
            for label, to in _arrows(row):
                drawn.setdefault((row.at, to), []).append(label)
    return {ends: list(dict.fromkeys(labels)) for ends, labels in drawn.items()}


def _common(table: Table[Any]) -> set[str]:
    """The events that have a row at every state that is not an end."""
    alive = [name for name, state in table.states.items() if not state.end]
    return {on for on in table.moves if all(table.row(name, on) for name in alive)}


def _arrows(row: Row[Any]) -> list[tuple[str, str]]:
    def to(way: Go[Any]) -> str:
        return row.at if way.to == STAY else "back" if way.to == BACK else way.to

    arrows = [(row.on, to(row.to))]
    if row.to.spent:
        arrows.append((f"{row.on} (spent)", to(row.to.spent)))
    if row.fail:
        arrows.append((f"{row.on} fails", to(row.fail)))
        if row.fail.spent:
            arrows.append((f"{row.on} fails (spent)", to(row.fail.spent)))
    return arrows


def _states(table: Table[Any]) -> list[str]:
    lines = ["| state | who acts | role | may write | job |", "|---|---|---|---|---|"]
    for name, s in table.states.items():
        who = f"end ({s.end})" if s.end else "children" if s.children else s.actor
        lines.append(
            f"| {name}{' (start)' if name in table.starts else ''} | {who} | {s.role} | {_code(s.writes)} | {s.job.name if s.job else ''} |"
        )
    return lines


def _rows(table: Table[Any]) -> list[str]:
    lines = ["| at | on | by | ask | prove | to | failed proof |", "|---|---|---|---|---|---|---|"]
    common = _common(table)
    for r in table.rows:
        if r.on not in common:
            lines.append(_row(r.at, r, table))
    lines += [_row("every state", next(r for r in table.rows if r.on == on), table) for on in table.moves if on in common]
    return lines


def _row(at: str, r: Row[Any], table: Table[Any]) -> str:
    by = ", ".join(table.moves[r.on].by)
    return f"| {at} | {r.on} | {by} | {_names(r.ask)} | {_names(r.prove)} | {_way(r.to)} | {_way(r.fail) if r.fail else ''} |"


def _way(way: Go[Any]) -> str:
    target = {BACK: "*back*", STAY: "*stay*"}.get(way.to, f"**{way.to}**")
    parts = [target if way.says == "SUCCESS" else f"{target} ({way.says})"]
    if way.changes:
        parts.append(", ".join(_change(c) for c in way.changes))
    if way.owes:
        parts.append("owes " + ", ".join(e.name for e in way.owes))
    if way.spent:
        parts.append(f"once spent: {_way(way.spent)}")
    return "; ".join(parts)


def _change(change: object) -> str:
    if isinstance(change, Count):
        return f"{change.name} + 1"
    if isinstance(change, Zero):
        return f"{' and '.join(change.names)} = 0"
    if isinstance(change, Because):
        return f"because '{change.cause}'"
    return str(getattr(change, "__name__", change))


def _names(gates: tuple[object, ...]) -> str:
    return ", ".join(_name(g) for g in gates)


def _name(gate: object) -> str:
    return gate.name if isinstance(gate, Lock) else str(getattr(gate, "__name__", gate))


def _gates(table: Table[Any]) -> list[str]:
    rules = {_name(g): g.rule if isinstance(g, Lock) else (g.__doc__ or "") for r in table.rows for g in (*r.ask, *r.prove)}
    lines = ["| gate | rule |", "|---|---|"]
    return lines + [f"| {name} | {' '.join(rule.split())} |" for name, rule in rules.items()]


def _jobs(table: Table[Any]) -> list[str]:
    jobs = {s.job.name: s.job for s in table.states.values() if s.job}
    effects = {e.name: e.rule for r in table.rows for way in r.ways for e in way.owes} | {
        e.name: e.rule for e in (*table.broken.owes, *table.always)
    }
    lines = ["| job or effect | what it does | outcomes |", "|---|---|---|"]
    lines += [f"| {j.name} | {j.rule} | {', '.join(j.outcomes)} |" for j in jobs.values()]
    lines += [f"| {name} | {rule} | owed |" for name, rule in effects.items()]
    limits = ", ".join(f"{k} {v}" for k, v in table.limits.items())
    return [*lines, "", f"Limits and thresholds: {limits}."]


def _code(globs: tuple[str, ...]) -> str:
    return " ".join(f"`{g}`" for g in globs)
