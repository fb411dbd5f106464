"""Budgets: what a run's agents have used, summed over its events, and what is left. A person's `resume` grants the budget again."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol

from detent.agents import Budget, Usage
from detent.door import AnyEvent

NO_ATTEMPT = ("limited", "steer")  # events that do not end an attempt


class Configured(Protocol):
    """The configured limits; [limits] in the settings."""

    @property
    def tokens(self) -> int: ...
    @property
    def usd(self) -> float: ...
    @property
    def minutes(self) -> int: ...
    @property
    def turns(self) -> int: ...


class Limits(NamedTuple):
    """The limits of a run; 0 is none."""

    tokens: int = 0
    usd: float = 0.0
    minutes: float = 0.0
    turns: int = 0


def limits_of(settings: Configured) -> Limits:
    return Limits(settings.tokens, settings.usd, settings.minutes, settings.turns)


class Spent(NamedTuple):
    """What was used since the run began or was resumed."""

    usage: Usage = Usage()
    seconds: float = 0.0
    turns: int = 0


def spent_in(events: Iterable[AnyEvent], whole: bool = False) -> Spent:
    """The sum over the turns in these events, since a person last granted the budget again; `whole`: since the beginning."""
    spent = Spent()
    for event in events:
        if event.on in ("resume", "guided") and event.status == "SUCCESS" and not whole:
            spent = Spent()
        facts = event.sent.facts
        if "usage" in facts:
            spent = Spent(
                spent.usage + Usage(**json.loads(facts["usage"])),
                spent.seconds + max(float(facts["seconds"]), _until_judged(event)),
                spent.turns + int(facts["turns"]),
            )
    return spent


def failed_tries(events: Iterable[AnyEvent]) -> int:
    """The number of failed attempts in a row. An attempt that passes, or a person who resumes the run, resets it."""
    failed = 0
    for event in events:
        if event.status in ("SUCCESS", "NEEDS_ANALYSIS") and event.on not in NO_ATTEMPT:
            failed = 0
        failed += event.status == "FAILURE"
    return failed


def _until_judged(event: AnyEvent) -> float:
    """Seconds from the beginning of a turn until its work was judged; 0 if the beginning is unknown."""
    since = event.sent.facts.get("since", "")
    return (datetime.fromisoformat(event.at) - datetime.fromisoformat(since)).total_seconds() if since else 0.0


def over(limits: Limits, spent: Spent) -> str:
    """The limit that is reached, in words, or ""."""
    rows = (
        (limits.tokens, spent.usage.tokens, "tokens"),
        (limits.usd, spent.usage.usd, "usd"),
        (limits.minutes * 60, spent.seconds, "seconds"),
        (limits.turns, spent.turns, "turns"),
    )
    return next((f"{used:g} of {most:g} {name}" for most, used, name in rows if most and used >= most), "")


def left(limits: Limits, spent: Spent) -> Budget:
    """The budget of the next turn."""
    return Budget(
        limits.tokens - spent.usage.tokens if limits.tokens else None,
        limits.usd - spent.usage.usd if limits.usd else None,
        limits.minutes * 60 - spent.seconds if limits.minutes else None,
        limits.turns - spent.turns if limits.turns else None,
    )
