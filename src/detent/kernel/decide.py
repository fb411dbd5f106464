"""Deciding a call: from a run, what was sent and what was found to the next run and its verdict. Pure: no I/O, no clock."""

import re
from typing import NamedTuple

import msgspec

from detent.kernel.model import By, Data, Flag, Found, Run, Sent, Status, Verdict
from detent.kernel.table import BACK, STAY, Go, Lock, Row, T, Table

ERRORS = "errors"  # the counter of consecutive ERRORs; every table has a limit for it
FLAGS = "flags"  # the key in Sent.facts under which the machine passes flags, as JSON
SPOKEN = {
    "answer": "answered {decision} with {value}",
    "resume": "released the run",
    "revise": "changed the documents",
    "steer": "told the agent",
    "rollback": "went back to an earlier step",
    "start": "accepted what failed at the start",
}  # what people said that is shown again when the branch lands
MOST_REMARKS, LONGEST = 40, 200
MISSING = re.compile(r"(\d+) more lines are left out here; ")
MOST_ALIKE, MOST_REFUSED = 20, 60  # consecutive refusals before a person is asked: with the same reason, with any
AGENT = "agent"  # the counter of consecutive agents that ended without an answer


class Decision(NamedTuple):
    """The result of a call: the run after it, its status with reasons, and the names of the effects it owes."""

    run: Run[Data]
    status: Status
    reasons: tuple[str, ...]
    owes: tuple[str, ...]


def refusal(table: Table[T], run: Run[T], sent: Sent, on: str) -> Found | None:
    """Refuse a call that does not fit the state, before anything is looked at; None if it fits."""
    row = table.row(run.state, on)
    if row is None:
        turn = sent.by == "human" and table.states[run.state].actor == "agent"  # a person is not told what only an agent does
        way = "No question is open: it is the agent's turn." if turn else possible(table, run)
        return Found(refused=(f"{call_of(sent)} is not possible in {run.state}. {way}",))
    if sent.by not in table.moves[on].by:
        return Found(refused=(f"The {sent.by} cannot use '{on}' here. {possible(table, run)}",))
    return shut(row.locks, run)


def shut(locks: tuple[Lock, ...], run: Run[T]) -> Found | None:
    """The refusal of the first lock that is shut; None if all are open."""
    for lock in locks:
        if reason := lock.shut(run):
            return Found(refused=(reason,), locked=lock.says == "LOCKED")
    return None


def decide(table: Table[T], run: Run[T], sent: Sent, row: Row[T] | None, found: Found) -> Decision:
    """REFUSED leaves the run where it is; ERROR only counts itself; a judged call follows its row to `to` or `fail`."""
    if found.unclear:
        return _error(table, run, sent, found)
    if found.refused or row is None:
        return _refused(table, run, sent, found)
    way = row.fail if found.failed else row.to
    assert way is not None, f"{row.on} at {row.at} failed its proof and has no way for it"
    taken = way.spent if way.spent and _is_spent(way, run) else way
    return _take(table, taken, run, sent, found, found.failed or _why(taken, sent))


def _why(way: Go[T], sent: Sent) -> tuple[str, ...]:
    """The reason for a failure or halt that the machine itself reported: the first line of its output."""
    line = next((line.strip() for line in sent.output.splitlines() if line.strip()), "")
    return (line,) if line and sent.by == "system" and way.says in ("FAILURE", "HALTED") else ()


def _refused(table: Table[T], run: Run[T], sent: Sent, found: Found) -> Decision:
    """Nothing moves and no counter counts; but after too many refusals in a row the agent is going in circles, and a person is asked."""
    reason = "\n".join(found.refused)
    alike, every = run.refusals[0] + 1 if reason == run.refused else 1, run.refusals[1] + 1
    state = table.states[run.state]
    if sent.by == state.actor == "agent" and not state.end and (alike >= MOST_ALIKE or every >= MOST_REFUSED):
        times = f"{alike} times in a row for the same reason" if alike >= MOST_ALIKE else f"{every} times in a row"
        why = f"the agent's calls were refused {times}, so the run waits for a person: {reason}"
        return _take(table, table.broken, run, sent, Found(unclear=why, output=why), (why,))
    kept = msgspec.structs.replace(run, refused=reason, refusals=(alike, every))
    return Decision(_next(kept, run.state), "LOCKED" if found.locked else "REFUSED", found.refused, ())


def is_worn(run: Run[T], found: Found) -> bool:
    """Whether this refusal repeats so often that it is answered without another row in the journal."""
    alike, every = run.refusals
    return bool(found.refused) and ((alike >= MOST_ALIKE and "\n".join(found.refused) == run.refused) or every >= MOST_REFUSED)


def _is_spent(way: Go[T], run: Run[T]) -> bool:
    return any(run.counts.get(name, 0) >= run.limits[name] for name in way.counted)


def _error(table: Table[T], run: Run[T], sent: Sent, found: Found) -> Decision:
    """A call that could not be judged: the run stays where it is, until too many ERRORs in a row break it off."""
    if run.counts.get(ERRORS, 0) + 1 >= run.limits[ERRORS]:
        return _take(table, table.broken, run, sent, found, (found.unclear,))
    counted = msgspec.structs.replace(run, counts={**run.counts, ERRORS: run.counts.get(ERRORS, 0) + 1})
    return Decision(_next(counted, run.state), "ERROR", (found.unclear,), ())


def _take(table: Table[T], way: Go[T], run: Run[T], sent: Sent, found: Found, reasons: tuple[str, ...]) -> Decision:
    after = msgspec.structs.replace(flagged(settled(run, sent.by), found.flagged), refused="", refusals=(0, 0))
    if found.fixed and not found.failed:
        after = msgspec.structs.replace(after, fixed=tuple(sorted({*after.fixed, *found.fixed})))
    if sent.by == "agent":
        after = msgspec.structs.replace(after, steers=run.steers[found.heard :])
    if sent.by != "human":
        after = msgspec.structs.replace(after, not_before="")
    if sent.by == "human" and sent.verb in SPOKEN:
        after = msgspec.structs.replace(after, said=with_line(after.said, spoken(sent)))
    if sent.child:
        after = msgspec.structs.replace(after, joined=(*after.joined, sent.child))
    for change in way.changes:
        after = change(after, sent, found)
    to = {BACK: after.back, STAY: run.state}.get(way.to, way.to)
    return Decision(_next(after, to), way.says, reasons, tuple(dict.fromkeys(e.name for e in (*way.owes, *table.always))))


def with_line(remarks: tuple[str, ...], line: str) -> tuple[str, ...]:
    """Add a line to what people said. A long list keeps its first and last lines and says how many are left out: no flood hides one."""
    if len(remarks) < MOST_REMARKS:
        return (*remarks, line)
    half = MOST_REMARKS // 2
    left_out = int(found[1]) if (found := MISSING.match(remarks[half])) else 0
    rest = remarks[half + 1 :] if found else remarks[half:]
    return (*remarks[:half], f"{left_out + 1} more lines are left out here; `detent history` shows them all", *rest[1:], line)


def spoken(sent: Sent) -> str:
    """One line for what a person said: who, through which channel, what, and their own words."""
    words = " ".join((sent.note or sent.guidance).split())
    what = SPOKEN[sent.verb].format(decision=sent.decision, value=sent.value)
    short = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
    return f"{sent.facts.get('who') or 'a person'} ({sent.channel or 'unknown channel'}) {what}" + (f": {short}" if short else "")


def flagged(run: Run[T], new: tuple[Flag, ...]) -> Run[T]:
    """Add flags to the run. A flag of the same kind at the same place replaces the older one."""
    seen = {(flag.kind, flag.place): flag for flag in (*run.flags, *new)}
    return msgspec.structs.replace(run, flags=tuple(seen.values())) if new else run


def machine_flags(sent: Sent) -> tuple[Flag, ...]:
    """The flags that the machine passes in: from a look at the whole branch, or from a child that ended. Nobody else can pass any."""
    return msgspec.json.decode(sent.facts.get(FLAGS, "[]"), type=tuple[Flag, ...]) if sent.by == "system" else ()


def settled(run: Run[T], by: By) -> Run[T]:
    """Reset the count of ERRORs after a judged call; after an agent's own call, the count of agents without an answer too."""
    over = (ERRORS, AGENT) if by == "agent" else (ERRORS,)
    return msgspec.structs.replace(run, counts={k: v for k, v in run.counts.items() if k not in over})


def _next(run: Run[T], state: str) -> Run[T]:
    return msgspec.structs.replace(run, state=state, seq=run.seq + 1)


def call_of(sent: Sent) -> str:
    """The name of the call as the caller knows it."""
    return {"submit": "submit_work", "due": "get_task"}.get(sent.verb, sent.verb.replace("-", "_"))


def possible(table: Table[T], run: Run[T]) -> str:
    """One sentence that says what can be done next."""
    if table.states[run.state].end:
        return "The run has ended."
    return f"Next: {_next_call(table, run)}"


def _next_call(table: Table[T], run: Run[T]) -> str:
    """The next call for whoever called; where the machine acts next, get_task makes it act."""
    return "call get_task" if table.states[run.state].actor == "system" else table.instruction(run)


def verdict_of(table: Table[T], decision: Decision, run: Run[T], found: Found) -> Verdict:
    """The verdict for the caller. `run` is the run after the decision."""
    stays = decision.status in ("REFUSED", "LOCKED")
    ended = bool(table.states[run.state].end)
    then = "The run has ended; there is nothing more to do." if ended else _next_call(table, run) if stays else "Call get_task."
    return Verdict(
        status=decision.status,
        state=run.state,
        output=found.output,
        instruction=then,
        allowed_actions=table.open_to_agents(run),
        reasons=decision.reasons,
        flags=found.flagged,
        evidence=found.evidence,
    )
