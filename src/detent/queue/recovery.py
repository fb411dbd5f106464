"""Recovery as a table: for each thing that can be away, what is tried, how long, what is parked, and what wakes it up. Values only.

Drawn into docs/queue.md. Nothing that an outage touched counts as a failure, of the item or of the queue.
"""

from typing import NamedTuple

MOST_PARKED = 3  # executions in a row that wait for a person because of one thing; then the queue pauses instead of using up the next


class Recovery(NamedTuple):
    """What is done while one thing is away."""

    noticed: str  # by what it is told apart from a fault of the work
    here: float  # seconds that an execution asks again in place, with its slot; 0: not at all
    first: float  # seconds until it is asked again after that; doubled each time
    most: float  # and at most
    holds: bool  # whether the whole queue is held meanwhile, instead of one execution after another
    parked: str  # what waits, and how
    wakes: str  # what sets it going again

    def wait(self, tries: int) -> float:
        """Seconds to wait after so many times in a row."""
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
PARKS = ("agent", "model", "tests")  # what may wait for a person
LOOKED_AT = ("agent",)  # of these, what is asked for again by itself


def drawn() -> str:
    """The table as the documentation has it."""
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
