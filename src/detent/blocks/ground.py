"""What runs of all workflows have in common: the ground that each stands on, the work that an execution hands to a child, and how far a plan has come. Values only."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from detent.kernel.model import Data, Value


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
