"""Push mode: next, agent, submit, until the run ends or a person is needed. Each agent starts in a fresh context.

Owns the loop and nothing else: the door decides, agents reason, and what is needed for both is handed in. All that must survive a crash
is in the journal; starting the loop again goes on from there.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeVar

import msgspec

from detent.agents import AgentFailed, Progress, Reply, Turn, Usage
from detent.agents.kept import keep_spent, kept_spent
from detent.blocks.last_words import Reader, hand_in
from detent.door import AnyEvent, AnyRun, Door
from detent.drive.spent import Limits, Spent, left, over, spent_in
from detent.errors import Busy
from detent.kernel.model import Briefing, Sent, Verdict

T = TypeVar("T")
WAITS = 1.0  # seconds before the machine's own work is tried again
OUTCOMES = {"ModelUnavailable": "no-model", "Budget": "over-budget"}  # what an agent's failure means for the run; any other: agent-failed


class Seen(NamedTuple):
    """Something that happened, for whoever watches."""

    kind: Literal["state", "turn", "progress", "verdict", "wait", "failed"]
    run: AnyRun
    briefing: Briefing
    spent: Spent
    text: str = ""
    verdict: Verdict | None = None
    progress: Progress | None = None


class Driven(Protocol):
    """What is asked of the workflow of a run: how its agents hand in, how long they pause, and what their failures mean."""

    @property
    def read(self) -> Reader: ...
    @property
    def known(self) -> Callable[[Briefing, str], dict[str, str]]: ...
    @property
    def pause(self) -> Callable[[AnyRun], float]: ...
    @property
    def failures(self) -> Mapping[str, str]: ...


class Crew(NamedTuple):
    """What the loop works with, handed in by the composition root."""

    door: Door
    history: Callable[[str], Iterable[AnyEvent]]
    ask: Callable[[Briefing, Turn], Reply]
    turn_of: Callable[[AnyRun, Briefing], Turn]
    workflow: Callable[[str], Driven]
    command: Callable[[AnyRun], str]  # the full test command, where one is known
    transcript: Callable[[Briefing], Path]
    limits: Limits
    watch: Callable[[Seen], None] = lambda seen: None
    answers: Callable[[AnyRun], Sent | None] = lambda run: None  # what a person answered beforehand to the question that is open
    ends: Callable[[Briefing], Sent | None] = lambda briefing: None  # what the machine has to say to the run before anyone goes on
    sleep: Callable[[float], None] = time.sleep
    together: Callable[[tuple[str, ...]], Briefing | None] | None = (
        None  # drives children at once: None once one ended, else whom they wait for
    )


def drive(run: str, crew: Crew) -> Briefing:
    """Loop until the run ends or waits for a person; its last briefing."""
    tried = -1
    while True:
        if crew.together is not None and (at_work := _patiently(crew, lambda: crew.door.tend(run))):
            _watch_parent(crew, run)
            if (waiting := crew.together(at_work)) is not None:
                return waiting
            continue
        briefing = _patiently(crew, lambda: crew.door.next(run))
        at = crew.door.load(briefing.run).run
        spent = spent_in(crew.history(run))
        crew.watch(Seen("state", at, briefing, spent))
        if briefing.actor != "none" and (said := crew.ends(briefing)) is not None and _accepted(crew, run, said):
            continue
        if briefing.actor == "human" and _answered(crew, at):
            continue
        if briefing.actor in ("human", "none"):
            return briefing
        if briefing.actor == "system":
            crew.watch(Seen("wait", at, briefing, spent, briefing.last_error or "the machine is at work"))
            crew.sleep(WAITS)
            continue
        if not _wait(crew, at, briefing, spent):
            continue
        if at.seq != tried and (pause := crew.workflow(at.workflow).pause(at)):
            crew.watch(Seen("wait", at, briefing, spent, f"{pause:g} s before the next try"))
            crew.sleep(pause)
        tried = at.seq
        _submit(crew, at, briefing, spent, _turn(crew, at, briefing, spent))


def _watch_parent(crew: Crew, run: str) -> None:
    """Whoever watches sees the run that the children belong to as well."""
    at, door = crew.door.load(run).run, crew.door
    crew.watch(Seen("state", at, door.brief(door.tables[at.workflow], at), spent_in(crew.history(run))))


def _patiently(crew: Crew, ask: Callable[[], T]) -> T:
    """What the door says. Who holds the run now is not another driver (there is only one), so it is waited for."""
    while True:
        try:
            return ask()
        except Busy:
            crew.sleep(WAITS)


def _answered(crew: Crew, run: AnyRun) -> bool:
    """Whether the open question was answered beforehand, by a policy that the run was started with."""
    sent = crew.answers(run)
    return sent is not None and _accepted(crew, run.id, sent)


def _accepted(crew: Crew, run: str, sent: Sent) -> bool:
    return crew.door.submit(run, sent).status in ("SUCCESS", "FAILURE")


def _wait(crew: Crew, run: AnyRun, briefing: Briefing, spent: Spent) -> bool:
    """A run that is parked by a usage limit waits for the time that was named; no attempt is used up by it. False: look at it again."""
    until = _seconds_until(run.not_before)
    if until > 0:
        crew.watch(Seen("wait", run, briefing, spent, f"parked until {run.not_before}"))
    while until > 0:
        crew.sleep(min(until, WAITS))
        if not _still(crew, run):
            return False
        until = _seconds_until(run.not_before)
        if until <= 0:
            return False  # what waited may be work of the machine's own
    return True


def _seconds_until(when: str) -> float:
    try:
        then = datetime.fromisoformat(when)
    except ValueError:
        return 0.0
    return ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()


def _turn(crew: Crew, run: AnyRun, briefing: Briefing, spent: Spent) -> Sent | None:
    """One turn of an agent, as what is said to the door; None if it was stopped."""
    if said := over(crew.limits, spent):
        return _failure("over-budget", f"a budget of the run is spent: {said}", Usage(), 0.0, "")
    file, begun, since, taken = crew.transcript(briefing), time.monotonic(), datetime.now(UTC).isoformat(), Usage()
    killed = kept_spent(file)
    spent = spent._replace(usage=spent.usage + killed)

    def watch(progress: Progress) -> None:
        nonlocal taken
        if progress.usage.tokens > taken.tokens:  # it is told as a sum
            taken = progress.usage
            keep_spent(file, killed, taken)
        crew.watch(Seen("progress", run, briefing, spent._replace(usage=spent.usage + taken), progress.text, progress=progress))

    turn = crew.turn_of(run, briefing)._replace(
        budget=left(crew.limits, spent), watch=watch, transcript=file, wanted=lambda: _still(crew, run)
    )
    crew.watch(Seen("turn", run, briefing, spent))
    try:
        reply = crew.ask(briefing, turn)
    except AgentFailed as e:
        crew.watch(Seen("failed", run, briefing, spent, f"{e.sort}: {e.message}"))
        if e.sort == "Stopped" and _still(crew, run):
            raise KeyboardInterrupt from e  # the person who plays the agent wants to stop
        return _by(turn, _of_failure(e, killed, crew.workflow(run.workflow).failures, time.monotonic() - begun, str(file)))
    flow = crew.workflow(run.workflow)
    sent = hand_in(flow.read, briefing, reply.text, flow.known(briefing, crew.command(run)))
    facts = _facts(killed + reply.usage, time.monotonic() - begun, str(file), max(1, reply.turns))
    return _by(turn, msgspec.structs.replace(sent, facts={**facts, "since": since}, attempt_id=briefing.attempt_id, channel="drive"))


def _by(turn: Turn, sent: Sent | None) -> Sent | None:
    """The event says who was asked."""
    return msgspec.structs.replace(sent, facts={**sent.facts, "asked": turn.agent}) if sent and turn.agent else sent


def _still(crew: Crew, run: AnyRun) -> bool:
    """The run still waits for this turn; a person may have ended it meanwhile."""
    return crew.door.load(run.id).run.state == run.state


def _of_failure(failed: AgentFailed, killed: Usage, means: Mapping[str, str], seconds: float, transcript: str) -> Sent | None:
    if failed.sort == "Stopped":
        return None
    if failed.sort == "RateLimit" and failed.not_before:
        sent = _failure("limited", failed.message, killed + failed.usage, seconds, transcript)
        return msgspec.structs.replace(sent, not_before=failed.not_before)
    sent = _failure({**OUTCOMES, **means}.get(failed.sort, "agent-failed"), failed.message, killed + failed.usage, seconds, transcript)
    return msgspec.structs.replace(sent, facts={**sent.facts, "trouble": failed.sort})


def _failure(outcome: str, message: str, usage: Usage, seconds: float, transcript: str) -> Sent:
    return Sent("outcome", by="system", channel="drive", outcome=outcome, output=message, facts=_facts(usage, seconds, transcript, 1))


def _facts(usage: Usage, seconds: float, transcript: str, turns: int) -> dict[str, str]:
    return {"usage": json.dumps(usage._asdict()), "seconds": f"{seconds:.1f}", "turns": str(turns), "transcript": transcript}


def _submit(crew: Crew, run: AnyRun, briefing: Briefing, spent: Spent, sent: Sent | None) -> None:
    """Hand in what the turn came to. A call that does not fit is told to the next agent, and bounded like any other failure of an agent."""
    if sent is None:
        return
    while (verdict := crew.door.submit(run.id, sent)).status == "BUSY":
        crew.sleep(WAITS)  # a turn that was paid for is not thrown away
    crew.watch(Seen("verdict", crew.door.load(run.id).run, briefing, spent, verdict=verdict))
    if verdict.status in ("REFUSED", "LOCKED") and sent.verb != "outcome":
        said = "What was handed in does not fit: " + "; ".join(verdict.reasons)
        crew.door.submit(run.id, Sent("outcome", by="system", channel="drive", outcome="agent-failed", output=said))
