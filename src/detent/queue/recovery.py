"""The table of recovery: for each kind of outage, how it is retried, for how long, what is parked, and what wakes it. Values only.

Drawn into docs/queue.md. An outage never counts as a failure of an item or of the queue.
"""

from typing import NamedTuple

MOST_PARKED = 3  # executions in a row parked by one thing, after which the queue pauses


class Recovery(NamedTuple):
    """The recovery from one kind of outage."""

    noticed: str  # how it is told from a fault of the work
    here: float  # seconds that an execution retries in place, keeping its slot; 0: not at all
    first: float  # seconds until the first retry after that, doubled each time
    most: float  # the longest wait
    holds: bool  # whether it holds the whole queue, instead of single executions
    parked: str  # what waits, and how
    wakes: str  # what continues it

    def wait(self, tries: int) -> float:
        """Seconds to wait after so many tries."""
        return min(self.most, self.first * 2.0 ** min(max(0, tries - 1), 20))


SLOT_BACK = "the execution gives its slot back, at the step it was at"
BLOCKED = "the execution waits as `blocked`"
RECOVERY: dict[str, Recovery] = {
    "remote": Recovery(
        noticed="git cannot reach the remote",
        here=15.0, first=5.0, most=300.0, holds=True,
        parked=SLOT_BACK,
        wakes="`git ls-remote` answers",
    ),
    "database": Recovery(
        noticed="no lease can be renewed, or the journal cannot be read",
        here=0.0, first=1.0, most=60.0, holds=True,
        parked="after 25 s the worker ends its programs and waits; they continue from their last event",
        wakes="the database answers",
    ),
    "disk": Recovery(
        noticed="less is free than `[queue] free_disk` for each execution at work, or a write finds the disk full",
        here=0.0, first=30.0, most=300.0, holds=True,
        parked="nothing starts; an execution that cannot write gives its slot back",
        wakes="enough is free",
    ),
    "model": Recovery(
        noticed="the model's service cannot be reached, or fails",
        here=0.0, first=15.0, most=600.0, holds=False,
        parked=f"{SLOT_BACK}; where the service does not have the model, it waits as `blocked`",
        wakes="the time has come",
    ),
    "agent": Recovery(
        noticed="the agent's program is not there, or has no key",
        here=0.0, first=30.0, most=30.0, holds=False,
        parked=BLOCKED,
        wakes="the program is there",
    ),
    "tracker": Recovery(
        noticed="the tracker or the forge does not answer",
        here=15.0, first=5.0, most=300.0, holds=True,
        parked=SLOT_BACK,
        wakes="it answers",
    ),
    "tests": Recovery(
        noticed="the tests cannot be run, not even on main: the runner, the set-up or the sandbox does not work",
        here=0.0, first=15.0, most=600.0, holds=True,
        parked=f"{SLOT_BACK}; where they can be run on main, it waits as `blocked` after three tries",
        wakes="the tests can be run on main again",
    ),
}  # fmt: skip
PARKS = ("agent", "model", "tests")  # outages that may park an execution for a person
LOOKED_AT = ("agent",)  # those of PARKS that are checked automatically


def drawn() -> str:
    """The table in markdown, for the documentation."""
    head = "| away | noticed by | asked again | the queue | what waits | continues when |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(_cells(thing, row))} |\n" for thing, row in RECOVERY.items())


def _cells(thing: str, row: Recovery) -> tuple[str, ...]:
    here = f"for {row.here:.0f} s in place, then " if row.here else ""
    times = (
        f"every {_time(row.most)}" if row.first == row.most else f"after {_time(row.first)}, then twice as long, up to {_time(row.most)}"
    )
    held = "is held" if row.holds else f"pauses after {MOST_PARKED} in a row" if thing in PARKS else "continues"
    return (f"`{thing}`", row.noticed, f"{here}{times}", held, row.parked, row.wakes)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
