"""What all runs and tables share: the data that each run is based on, work passed to a child run, a plan's progress; changes of a run's
common fields; and the rows for people and for driven agents. Values only.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from detent.effects.catalogue import publish, snapshot, stop_children
from detent.kernel.model import Data, Found, Run, Sent, Value
from detent.kernel.table import STAY, Because, Change, Count, Effect, Go, Lock, Move, Row, State, T, Zero, by_human, by_system, each, go


class Ground(Value, frozen=True):
    """What the machine needs for judging a run, and where the work happens."""

    settings: str = ""  # the whole configuration of the base commit, as JSON
    path: str = ""  # PATH when the run began
    command: str = ""  # the test command as JSON, once known
    preflight: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()  # tests whose failure was accepted
    workspace: str = ""  # a workspace of the machine's own; empty: the person's checkout
    agent: str = ""  # the agent that the machine drives; empty: an agent calls by itself
    reports: dict[str, str] = {}  # tree tested before the run began -> the SHA-256 of its report
    patterns: tuple[str, ...] = ()  # which files are tests, from the project and its configuration
    red_preflight: tuple[str, ...] = ()  # preflight commands, and gates as `gate NAME`, that failed before the run began
    owes_green: bool = False  # a RED was adopted: the tests that failed before the run began must pass
    toolchain: str = ""  # digest and path of what was installed for the tests when the run began; empty: a workspace installs its own
    accepts: tuple[str, ...] = ()  # kinds of flags that a person accepted in advance

    def before_first(self, head: Callable[[], str]) -> str:
        """The tree to compare with before any step has passed; `head` returns the committed tree."""
        return ""


def is_driven(data: Data) -> bool:
    """Whether the machine drives the agents of a run."""
    return bool(getattr(getattr(data, "setup", None), "agent", ""))


class Inner(NamedTuple):
    """A piece of work for a child run."""

    name: str  # the child's name
    request: str  # the item's text
    plan: str  # path of a one-entry plan, if the workflow wants one
    text: str  # the plan's content
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
    """A task of a plan, with its steps if it has any."""

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
    """Keep the verbatim output, and what was wrong in a sentence."""
    reason = "\n".join(found.failed) or found.unclear
    return replace(run, last_error=found.output or sent.output or reason, last_reason=reason)


def clear_error(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, last_error="", last_reason="", guidance="")


def keep_guidance(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, guidance=sent.guidance or run.guidance, cause="")


def keep_steer(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, steers=(*run.steers, sent.note)) if sent.note else run  # without words, only the agent or the budget changed


def park(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    return replace(run, not_before=sent.not_before)


def caused_by(*causes: str) -> Lock:
    """A lock that is open only while the run waits for one of these causes."""

    def shut(run: Run[T]) -> str | None:
        return (
            None
            if run.cause in causes
            else f"this answer is for a run that waits because of {' or '.join(causes)}; this one waits because of {run.cause}"
        )

    return Lock(f"caused_by({', '.join(causes)})", f"The run waits because of {' or '.join(causes)}.", shut, "REFUSED")


def reached(counter: str, threshold: str) -> Lock:
    """A lock that opens once a counter has reached a threshold."""

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


def strays_advice(driven: bool) -> str:
    """What an agent should do about files that its predecessor should not have written."""
    if driven:
        return "Detent undid what the previous attempt changed beyond that; the rest of its work is still there."
    return "If a file above should not have been changed, restore it."


def alive(states: Mapping[str, State]) -> tuple[str, ...]:
    return tuple(name for name, s in states.items() if not s.end)


def people(states: Mapping[str, State], aborted: str = "ABORTED", also: tuple[Effect, ...] = ()) -> tuple[Row[T], ...]:
    """The rows for abort and steer, at every state that is not an end."""
    stop: Go[T] = go(aborted, owes=(snapshot, stop_children, publish, *also))
    return (*each(alive(states), "abort", stop), *each(alive(states), "steer", go(STAY, keep_steer)))


def driven(
    states: Mapping[str, State], halt: Go[T], unavailable: Go[T], over: Go[T], keep: Change[T] = keep_error, counts: tuple[str, ...] = ()
) -> tuple[Row[T], ...]:
    """The rows for a driven agent's failures: no usable answer, a usage limit, an unavailable model, a spent budget.

    `counts`: further counters that a failed agent adds to, if a limit covers its attempts together with judged ones.
    """
    acting = tuple(name for name, s in states.items() if s.actor == "agent" and not s.end)
    retry: Go[T] = go(STAY, *map(count, ("agent", *counts)), keep, says="FAILURE", spent=halt)
    return (
        *each(acting, "agent-failed", retry),
        *each(acting, "limited", go(STAY, park)),
        *each(acting, "no-model", unavailable),
        *each(acting, "over-budget", over),
    )
