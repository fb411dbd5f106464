"""Push mode: the loop of next, agent, submit, until the run ends or a person is needed. Each agent starts in a fresh context.

Owns only the loop: the door decides, agents reason, and both are handed in. Everything that must survive a crash is in the
journal, so a restarted loop continues from there.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeVar

import msgspec

from detent.agents import AgentFailed, Progress, Reply, Turn, Usage
from detent.agents.kept import keep_spent, kept_spent
from detent.blocks.briefs import Reader, hand_in
from detent.door import AnyEvent, AnyRun, Door
from detent.drive.spent import Limits, Spent, left, over, spent_in
from detent.drive.together import Together
from detent.errors import Busy
from detent.kernel.model import Briefing, Sent, Verdict

T = TypeVar("T")
LATER, MOST_LATER = 15.0, 600.0  # first and longest wait, in seconds, for an unavailable service
WAITS = 1.0  # seconds between retries of the machine's own work
OUTCOMES = {"ModelUnavailable": "no-model", "Budget": "over-budget"}  # sort of an agent's failure -> event; any other: agent-failed


class Seen(NamedTuple):
    """An event of the driver, for watchers."""

    kind: Literal["state", "turn", "progress", "verdict", "wait", "failed"]
    run: AnyRun
    briefing: Briefing
    spent: Spent
    text: str = ""
    verdict: Verdict | None = None
    progress: Progress | None = None


class Driven(Protocol):
    """The part of a Workflow that the driver needs: how agents hand in, how long they pause, and what their failures mean."""

    @property
    def read(self) -> Reader: ...
    @property
    def known(self) -> Callable[[Briefing, str], dict[str, str]]: ...
    @property
    def pause(self) -> Callable[[AnyRun], float]: ...
    @property
    def failures(self) -> Mapping[str, str]: ...


class Turns(Protocol):
    """Makes and asks the agent turns of one run; implemented in app/."""

    def workflow(self, name: str) -> Driven: ...
    def history(self, run: str) -> Iterable[AnyEvent]: ...
    def turn_of(self, run: AnyRun, briefing: Briefing) -> Turn: ...
    def ask(self, briefing: Briefing, turn: Turn) -> Reply: ...
    def command(self, run: AnyRun) -> str: ...  # the full test command, or ""


class DriverClock(Protocol):
    """Time as a driver needs it."""

    def sleep(self, seconds: float) -> None: ...
    def ends(self, briefing: Briefing) -> Sent | None: ...  # an event that ends the run before the next turn


class NoLimitClock:
    """The clock of a run without a timeout."""

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def ends(self, briefing: Briefing) -> Sent | None:
        return None


def no_answer(run: AnyRun) -> Sent | None:
    """No policies."""
    return None


class Driver:
    """Drives one run. `answers`: the answer of policies to its open question; `together`: drives children in parallel."""

    outages: Mapping[str, str] = MappingProxyType({})  # events for failures of the service itself, for a worker

    def __init__(
        self,
        door: Door,
        turns: Turns,
        clock: DriverClock,
        limits: Limits,
        watch: Callable[[Seen], None],
        answers: Callable[[AnyRun], Sent | None] = no_answer,
        together: Together | None = None,
    ) -> None:
        self.door, self.turns, self.clock, self.limits = door, turns, clock, limits
        self.watch, self.answers, self.together = watch, answers, together

    def drive(self, run: str) -> Briefing:
        """Loop until the run ends or waits for a person; returns its last briefing."""
        tried = -1
        while True:
            if self.together is not None and (at_work := self._patiently(lambda: self.door.tend(run))):
                self._watch_parent(run)
                if (waiting := self.together.work_on(at_work)) is not None:
                    return waiting
                continue
            briefing = self._patiently(lambda: self.door.next(run))
            at = self.door.load(briefing.run).run
            spent = spent_in(self.turns.history(run))
            self.watch(Seen("state", at, briefing, spent))
            if self._moved_without_agent(run, at, briefing):
                continue
            if briefing.actor in ("human", "none"):
                return briefing
            if briefing.actor == "system":
                self.watch(Seen("wait", at, briefing, spent, briefing.last_error or "the machine is at work"))
                self.clock.sleep(WAITS)
                continue
            if not self._wait(at, briefing, spent):
                continue
            if at.seq != tried and (pause := self.turns.workflow(at.workflow).pause(at)):
                self.watch(Seen("wait", at, briefing, spent, f"{pause:g} s before the next try"))
                self.clock.sleep(pause)
            tried = at.seq
            self._submit(at, briefing, spent, self._turn(at, briefing, spent))

    def _watch_parent(self, run: str) -> None:
        """Show watchers the parent of the children too."""
        at, door = self.door.load(run).run, self.door
        self.watch(Seen("state", at, door.brief(door.tables[at.workflow], at), spent_in(self.turns.history(run))))

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Call the door, retrying while the run is busy: its holder is not another driver, so it will be free soon."""
        while True:
            try:
                return ask()
            except Busy:
                self.clock.sleep(WAITS)

    def _moved_without_agent(self, run: str, at: AnyRun, briefing: Briefing) -> bool:
        """Whether the run moved without an agent: its time is up, or a policy answered its question."""
        if briefing.actor != "none" and (ended := self.clock.ends(briefing)) is not None and self._accepted(run, ended):
            return True
        if briefing.actor != "human" or (sent := self.answers(at)) is None:
            return False
        status = self.door.submit(at.id, sent).status
        return status == "SUCCESS" or (status == "FAILURE" and not self._still(at))  # an answer that was not accepted is left to a person

    def _accepted(self, run: str, sent: Sent) -> bool:
        return self.door.submit(run, sent).status in ("SUCCESS", "FAILURE")

    def _wait(self, run: AnyRun, briefing: Briefing, spent: Spent) -> bool:
        """Wait while a usage limit parks the run, which uses up no attempt. False: the run must be read again."""
        until = _seconds_until(run.not_before)
        if until > 0:
            self.watch(Seen("wait", run, briefing, spent, f"parked until {run.not_before}"))
        while until > 0:
            self.clock.sleep(min(until, WAITS))
            if not self._still(run):
                return False
            until = _seconds_until(run.not_before)
            if until <= 0:
                return False  # the machine's own work may have waited
        return True

    def _still(self, run: AnyRun) -> bool:
        """Whether the run is still in this state; a person may have moved it."""
        return self.door.load(run.id).run.state == run.state

    def _turn(self, run: AnyRun, briefing: Briefing, spent: Spent) -> Sent | None:
        """One turn of an agent, as the Sent value for the door; None if it was stopped."""
        if limit := over(self.limits, spent):
            return _failure("over-budget", f"a budget of the run is used up: {limit}", Usage(), 0.0, "")
        begun, since, taken = time.monotonic(), datetime.now(UTC).isoformat(), Usage()
        turn = self.turns.turn_of(run, briefing)
        file, killed = turn.transcript, kept_spent(turn.transcript)
        spent = spent._replace(usage=spent.usage + killed)

        def watch(progress: Progress) -> None:
            nonlocal taken
            if progress.usage.tokens > taken.tokens:  # reported as a running sum
                taken = progress.usage
                keep_spent(file, killed, taken)
            self.watch(Seen("progress", run, briefing, spent._replace(usage=spent.usage + taken), progress.text, progress=progress))

        turn = turn._replace(budget=left(self.limits, spent), watch=watch, wanted=lambda: self._still(run))
        self.watch(Seen("turn", run, briefing, spent))
        flow = self.turns.workflow(run.workflow)
        try:
            reply = self.turns.ask(briefing, turn)
        except AgentFailed as e:
            self.watch(Seen("failed", run, briefing, spent, f"{e.sort}: {e.message}"))
            if e.sort == "Stopped":
                keep_spent(file, killed, max(taken, e.usage, key=lambda usage: usage.tokens))  # no event will record its usage
            if e.sort == "Stopped" and self._still(run):
                raise KeyboardInterrupt from e  # the person who plays the agent wants to stop
            failure = _of_failure(e, killed, {**flow.failures, **self.outages}, time.monotonic() - begun, str(file))
            return _by(turn, _later(failure, self.turns.history(run.id)))
        sent = hand_in(flow.read, briefing, reply.text, flow.known(briefing, self.turns.command(run)))
        facts = _facts(killed + reply.usage, time.monotonic() - begun, str(file), max(1, reply.turns))
        return _by(turn, msgspec.structs.replace(sent, facts={**facts, "since": since}, attempt_id=briefing.attempt_id, channel="drive"))

    def _submit(self, run: AnyRun, briefing: Briefing, spent: Spent, sent: Sent | None) -> None:
        """Submit the result of a turn. A refusal becomes an agent failure, which the next agent is told and which is limited like others."""
        if sent is None:
            return
        verdict = self._judged(run, sent)
        self.watch(Seen("verdict", self.door.load(run.id).run, briefing, spent, verdict=verdict))
        if verdict.status in ("REFUSED", "LOCKED") and sent.verb != "outcome":
            message = "What was handed in was not accepted: " + "; ".join(verdict.reasons)
            self.door.submit(run.id, Sent("outcome", by="system", channel="drive", outcome="agent-failed", output=message))

    def _judged(self, run: AnyRun, sent: Sent) -> Verdict:
        """The verdict on a turn, retried while the run is busy or cannot be judged, so that paid work is not lost."""
        wait = WAITS
        while (verdict := self.door.submit(run.id, sent)).status in ("BUSY", "ERROR") and self._still(run):
            if verdict.status == "ERROR":
                sent, wait = msgspec.structs.replace(sent, facts=_without_usage(sent.facts)), 2 * wait
            self.clock.sleep(wait)
        return verdict


def _without_usage(facts: dict[str, str]) -> dict[str, str]:
    """The facts without usage, which is counted only once, with the first event."""
    return {name: value for name, value in facts.items() if name not in ("usage", "seconds", "turns", "since")}


def _seconds_until(when: str) -> float:
    try:
        then = datetime.fromisoformat(when)
    except ValueError:
        return 0.0
    return ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()


def _by(turn: Turn, sent: Sent | None) -> Sent | None:
    """The Sent value with the agent that was asked."""
    return msgspec.structs.replace(sent, facts={**sent.facts, "asked": turn.agent}) if sent and turn.agent else sent


def _of_failure(failed: AgentFailed, killed: Usage, means: Mapping[str, str], seconds: float, transcript: str) -> Sent | None:
    if failed.sort == "Stopped":
        return None
    if failed.sort == "RateLimit" and failed.not_before:
        sent = _failure("limited", failed.message, killed + failed.usage, seconds, transcript)
        return msgspec.structs.replace(sent, not_before=failed.not_before)
    sent = _failure({**OUTCOMES, **means}.get(failed.sort, "agent-failed"), failed.message, killed + failed.usage, seconds, transcript)
    return msgspec.structs.replace(sent, facts={**sent.facts, "trouble": failed.sort})


def _later(sent: Sent | None, events: Iterable[AnyEvent]) -> Sent | None:
    """Give a limit without a time an exponential backoff."""
    if sent is None or sent.outcome != "limited" or sent.not_before:
        return sent
    times = 1
    for event in events:
        times = times + 1 if event.on == "limited" and event.sent.facts.get("trouble") else 1 if event.status == "SUCCESS" else times
    until = datetime.now(UTC) + timedelta(seconds=min(MOST_LATER, LATER * 2.0 ** (min(times, 20) - 1)))
    return msgspec.structs.replace(sent, not_before=until.isoformat(timespec="seconds"))


def _failure(outcome: str, message: str, usage: Usage, seconds: float, transcript: str) -> Sent:
    return Sent("outcome", by="system", channel="drive", outcome=outcome, output=message, facts=_facts(usage, seconds, transcript, 1))


def _facts(usage: Usage, seconds: float, transcript: str, turns: int) -> dict[str, str]:
    return {"usage": json.dumps(usage._asdict()), "seconds": f"{seconds:.1f}", "turns": str(turns), "transcript": transcript}
