"""What every run stands on: fixed when it starts, the same for all workflows. Values only."""

from collections.abc import Callable

from detent.kernel.model import Value


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
