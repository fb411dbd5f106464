"""What all runs and all tables share: the ground that each run stands on, the work that an execution hands to a child, how far a plan has come;
changes over the common fields of a run, the rows people always have, and those of driven agents. Values only.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from detent.effects.catalogue import publish, snapshot, stop_children
from detent.kernel.model import Data, Found, Run, Sent, Value
from detent.kernel.table import STAY, Because, Change, Count, Effect, Go, Lock, Move, Row, State, T, Zero, by_human, by_system, each, go


class Ground(Value, frozen=True):
    """What the machine needs to judge, and where the work happens."""

    settings: str = ""  # the whole configuration as JSON, from the base commit
    path: str = ""  # PATH as it was
    command: str = ""  # the test command as JSON, once one is known
    preflight: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()  # tests whose failure was accepted
    workspace: str = ""  # a checkout of the machine's own; empty: the person's checkout
    agent: str = ""  # the agent that the machine drives; empty: an agent calls by itself
    reports: dict[str, str] = {}  # of each tree that was tested before the run began: the SHA-256 of the report kept of it
    patterns: tuple[str, ...] = ()  # which files are tests, as the project and its configuration say
    red_preflight: tuple[str, ...] = ()  # preflight commands, and gates by `gate NAME`, that failed before the run began
    owes_green: bool = False  # a RED was taken over: the tests that failed before the run began are to pass
    toolchain: str = ""  # the digest of what was installed for the tests when the run began, and where; empty: a workspace installs its own
    accepts: tuple[str, ...] = ()  # kinds of flags that a person accepted beforehand

    def before_first(self, head: Callable[[], str]) -> str:
        """What a tree is compared with before any step has passed; `head` gives the tree that is committed."""
        return ""


def is_driven(data: Data) -> bool:
    """Whether the machine drives the agents of a run."""
    return bool(getattr(getattr(data, "setup", None), "agent", ""))


class Inner(NamedTuple):
    """One piece of work for a child run."""

    name: str  # of the child
    request: str  # the item's text
    plan: str  # where it lies as a plan with one entry, if the workflow wants that
    text: str  # and what stands there
    ground: Ground
    branch: str
    base: str
    tree: str
    limits: Mapping[str, int]


class Step(NamedTuple):
    """One step of a plan."""

    kind: str
    text: str
    status: str  # done, now, open
    proof: int = 0  # the number of the event that proved it


class Part(NamedTuple):
    """One task of a plan, with its steps where it has some."""

    name: str
    title: str
    status: str  # done, now, open, blocked
    steps: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()


replace = msgspec.structs.replace

ERRORS = {"errors": 3, "agent": 3}


def count(name: str) -> Count:
    return Count(name)


def zero(*names: str) -> Zero:
    return Zero(names)


def because(cause: str) -> Because:
    return Because(cause)


def keep_error(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    """The verbatim output, and what was wrong in a sentence."""
    reason = "\n".join(found.failed) or found.unclear
    return replace(run, last_error=found.output or sent.output or reason, last_reason=reason)


def clear_error(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, last_error="", last_reason="", guidance="")


def keep_guidance(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, guidance=sent.guidance or run.guidance, cause="")


def keep_steer(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, steers=(*run.steers, sent.note)) if sent.note else run  # without words: only who works or for how much was changed


def park(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, not_before=sent.not_before)


def caused_by(*causes: str) -> Lock:
    """A lock that opens only for a run that waits for one of these reasons."""

    def shut(run: Run[T]) -> str | None:
        return (
            None
            if run.cause in causes
            else f"this answer is for a run that waits because of {' or '.join(causes)}; this one waits because of {run.cause}"
        )

    return Lock(f"caused_by({', '.join(causes)})", f"The run waits because of {' or '.join(causes)}.", shut, "REFUSED")


def reached(counter: str, threshold: str) -> Lock:
    """A lock that opens once a counter reached a threshold."""

    def shut(run: Run[T]) -> str | None:
        left = run.limits[threshold] - run.counts.get(counter, 0)
        return None if left <= 0 else f"locked until {left} more failed attempt{'s' if left > 1 else ''}"

    return Lock(f"reached({threshold})", f"The counter {counter} has reached {threshold}.", shut)


PEOPLE: Mapping[str, Move] = {
    "abort": by_human("abort", "detent abort"),
    "steer": by_human("steer", "detent steer TEXT"),
}

DRIVEN: Mapping[str, Move] = {
    "agent-failed": by_system("the agent ended without a usable answer"),
    "limited": by_system("the agent's usage limit is reached"),
    "no-model": by_system("the configured model is not available"),
    "over-budget": by_system("a budget of the run is used up"),
}


def told_of_strays(driven: bool) -> str:
    """What an agent whose predecessor wrote beyond its part has to do about it."""
    if driven:
        return "Detent undid what the previous attempt changed beyond that; the rest of its work is still there."
    return "If a file above should not have been changed, restore it."


def alive(states: Mapping[str, State]) -> tuple[str, ...]:
    return tuple(name for name, s in states.items() if not s.end)


def people(states: Mapping[str, State], aborted: str = "ABORTED", also: tuple[Effect, ...] = ()) -> tuple[Row[T], ...]:
    """Abort and steer, at every state that is not an end."""
    stop: Go[T] = go(aborted, owes=(snapshot, stop_children, publish, *also))
    return (*each(alive(states), "abort", stop), *each(alive(states), "steer", go(STAY, keep_steer)))


def driven(
    states: Mapping[str, State], halt: Go[T], unavailable: Go[T], over: Go[T], keep: Change[T] = keep_error, counts: tuple[str, ...] = ()
) -> tuple[Row[T], ...]:
    """What can happen to an agent that the machine drives: it fails, it hits a usage limit, its model is not there, a budget is spent.

    `counts` are counters that a failed agent adds to as well, where its attempts and those that were judged have one bound together.
    """
    acting = tuple(name for name, s in states.items() if s.actor == "agent" and not s.end)
    retry: Go[T] = go(STAY, *map(count, ("agent", *counts)), keep, says="FAILURE", spent=halt)
    return (
        *each(acting, "agent-failed", retry),
        *each(acting, "limited", go(STAY, park)),
        *each(acting, "no-model", unavailable),
        *each(acting, "over-budget", over),
    )
