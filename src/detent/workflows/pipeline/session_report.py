"""The report of a session, made from the journal: what was done, how to run and test it, known issues, evidence, and cost. Pure."""

import json
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from detent.gates.human import PersonDecision
from detent.kernel.model import Event, Run
from detent.workflows.pipeline.session import CommandProof
from detent.workflows.pipeline.task_data import ROLES, list_points

REPORT = "report.md"
AnyEvent = Event[Any]


class Cost(NamedTuple):
    """What one role used."""

    turns: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0


def costs(events: Iterable[AnyEvent]) -> dict[str, Cost]:
    """Cost and time by role, from driven turns; for a role that a person's own agent played, only its submits are known."""
    found: dict[str, Cost] = {}
    for event in events:
        role, facts = ROLES.get(event.was, ""), event.sent.facts
        if not role or not (event.sent.verb == "submit" or "usage" in facts):
            continue
        was, use = found.get(role, Cost()), json.loads(facts.get("usage", "{}"))
        tokens = sum(int(use.get(name, 0)) for name in ("input_tokens", "output_tokens", "cached_tokens", "written_tokens"))
        turns, seconds = int(facts.get("turns", "1")), float(facts.get("seconds", "0"))
        found[role] = Cost(was.turns + turns, was.seconds + seconds, was.tokens + tokens, was.usd + float(use.get("usd", 0.0)))
    return found


def report_of(
    run: Run[Any], events: Sequence[AnyEvent], commits: Sequence[str], before: Sequence[AnyEvent] = (), spent: dict[str, Cost] | None = None
) -> str:
    """The whole report. `before`: events of the runs that this one was rolled back from; `spent`: the cost of all these runs."""
    data = run.data
    asked = (*(r for r in _newest(before) if r.parent), *_newest(events))  # a rolled-back session still has its own decisions
    decisions = [d for r in asked for d in r.data.decisions]
    parts = [
        f"# Report: {data.session.rpartition('/')[2]}",
        f"Request: {data.request}\n\nMode: {data.mode}. State: {run.state}. Tree: `{data.good_tree}`. Branch: `{data.branch.removeprefix('refs/heads/')}`.",
        "## What was done",
        list_points(
            (
                *(f"{t.id} {t.title} [{t.status}]" for t in data.tasks),
                *(f"{name} [done, then removed from the plan; its work is still in the branch]" for name in data.left_out),
            )
        ),
        "Commits:\n\n" + list_points(tuple(commits)),
        "\n".join(data.report_notes[:1]),
        "## How to run it, how to test it",
        list_points(data.report_notes[1:] or _facts(run)),
        "The machine tested it with:\n\n" + list_points(tuple(f"`{p.check.removeprefix('cmd: ')}`" for p in data.proofs)),
        "## Known issues",
        list_points(tuple(f"[{i.finding}] {i.text}" + (f" ({i.task_id})" if i.task_id else "") for i in data.known_issues)),
        "## Open notes",
        list_points(tuple(f"{who}: {note}" for who, notes in data.notes.items() if who != "Docs" for note in notes)),
        "## Evidence",
        _evidence(run),
        "## Rounds of changes",
        list_points(tuple(_rounds(data.session, (*before, *events)))),
        "## Decisions",
        list_points(tuple(_decided(d) for d in decisions)),
        "## Cost and time by role",
        _table(costs(events) if spent is None else spent),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _rounds(session: str, events: Sequence[AnyEvent]) -> Iterable[str]:
    """What people asked to change or changed themselves, in order."""
    for e in events:
        if e.sent.verb == "rollback":
            yield f"{e.at[:10]} {e.at[11:16]} UTC, {e.sent.facts.get('who') or 'a person'} went back: {e.sent.note}"
        if e.status != "SUCCESS" or not e.on.startswith(("correct-", "again-", "edited-", "manual-failed")):
            continue
        names = ", ".join(sorted(path.removeprefix(f"{session}/") for path in e.sent.documents))
        words = " ".join((e.sent.value.partition(":")[2] + " " + e.sent.note).split())
        asked = "reported that a manual check fails" if e.on == "manual-failed" else f"requested changes ({e.on.partition('-')[2]})"
        what = f"changed {names}" if names else asked
        yield f"{e.at[:10]} {e.at[11:16]} UTC, {e.sent.facts.get('who') or 'a person'} {what}" + (f": {words}" if words else "")


def _facts(run: Run[Any]) -> tuple[str, ...]:
    """How to run and test it, from the settings, where Docs wrote nothing about it."""
    setup = run.data.setup
    known = json.loads(setup.settings or "{}").get("project", {})
    command = json.loads(setup.command or "{}").get("argv", [])
    about = ", ".join((known.get("name", ""), *known.get("tech_stack", ()))).strip(", ")
    return (
        f"run it: as the project's README says{f' ({about})' if about else ''}",
        f"test it: `{shlex.join(command)}`" if command else "test it: as the project's README says",
        *(f"also: `{line}`" for line in setup.preflight),
    )


def _newest(events: Sequence[AnyEvent]) -> list[Run[Any]]:
    return list({e.run.id: e.run for e in events}.values())


def _evidence(run: Run[Any]) -> str:
    data = run.data
    proofs = {p.check: p for p in data.proofs}
    words = {m.check: m for m in data.manual}
    lines = ["| criterion | check | outcome | tree |", "|---|---|---|---|"]
    for id, check in (*((c.id, v) for c in data.criteria for v in c.verify), *((t.id, c) for t in data.tasks for c in t.acceptance_checks)):
        by_hand, ran = words.get(check), proofs.get(_spelled(check))
        result = f"confirmed by a person ({by_hand.decision_id})" if by_hand else _ran(ran) if ran else "not verified"
        tree = (by_hand.tree if by_hand else ran.tree if ran else "")[:12]
        lines.append(f"| {id} | `{check.replace('|', chr(92) + '|')}` | {result} | {tree} |")
    manual = sum(check.startswith("manual:") for c in data.criteria for check in c.verify)
    return (
        "\n".join(lines)
        + f"\n\nCriteria that a person checked by hand: {manual}. Last result of the checks: {data.last_ci_result or 'none'}."
    )


def _spelled(check: str) -> str:
    return f"cmd: {check.removeprefix('cmd:').strip()}"


def _ran(proof: CommandProof) -> str:
    return f"{proof.outcome} in {proof.seconds:g} s"


def _decided(d: PersonDecision) -> str:
    result = (
        f"{d.answer}" + (f" ({d.note})" if d.note else "") if d.status == "answered" else f"{d.status}: {d.resolution_reason}".rstrip(": ")
    )
    by = f", by {d.who or 'a person'} ({d.channel})" if d.channel else ""
    return f"{d.decision_id} {' '.join(d.question.split())[:200]}: {result}{by}"


def _counted(cost: Cost) -> str:
    """Tokens and cost; "not said" if the agent did not report them, which is not the same as zero."""
    return f"{cost.tokens} | ${cost.usd:.2f}" if cost.tokens or cost.usd else "not said | not said"


def _table(costs: dict[str, Cost]) -> str:
    rows = [f"| {role} | {c.turns} | {c.seconds:.0f} s | {_counted(c)} |" for role, c in costs.items()]
    return "\n".join(["| role | turns | time | tokens | cost |", "|---|---|---|---|---|", *rows])
