"""Trackers: where work items come from. A new one is a file, a line in TRACKERS and a row in the docs, and passes the conformance tests.

Installed packages can bring further ones.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detent.errors import DetentError
from detent.extensions import TRACKERS as GROUP
from detent.extensions import blamed, load, names
from detent.tracker.tracker_protocol import (
    STATUSES,
    Item,
    NewItem,
    Status,
    Tracker,
    TrackerChange,
    TrackerError,
    TrackerResult,
    UnknownItem,
    open_of,
)

if TYPE_CHECKING:
    from detent.forge import Api, ForgeProject

__all__ = [
    "CLOSES",
    "HERE",
    "STATUSES",
    "TRACKERS",
    "Item",
    "Means",
    "NewItem",
    "Status",
    "Tracker",
    "TrackerChange",
    "TrackerError",
    "TrackerResult",
    "UnknownItem",
    "loaded",
    "make_tracker",
    "open_of",
]


class Means(NamedTuple):
    """What a tracker may need of the machine, passed in."""

    root: Path  # the checkout whose items these are
    store: Path  # a folder shared by all checkouts of the repository
    clock: Callable[[], str]
    find: Callable[[str], str]  # program name -> path; empty if it is missing
    call: Callable[[Sequence[str], Mapping[str, str]], TrackerResult]  # run a program in the checkout with these additional variables
    env: Mapping[str, str]  # the caller's environment: addresses and tokens of services
    url: str = ""  # the database that several machines share; empty if there is none
    forge: "Callable[[str], tuple[Api, ForgeProject]] | None" = None  # forge kind -> its API and the project there
    query: str = ""  # which issues of a forge are items
    ready: str = ""  # the label an issue needs before it is run


def _builtin(means: Means) -> Tracker:
    from detent.tracker.builtin import Builtin

    if means.url:
        from detent.tracker.builtin_shared import SharedShelf

        return Builtin(SharedShelf(means.url), means.clock)
    from detent.tracker.builtin_file import FileShelf

    return Builtin(FileShelf(means.store / "items.db"), means.clock)


def _beads(means: Means) -> Tracker:
    """Beads through its program or, without one, its data file. TrackerError if both are missing, since that is not an empty list."""
    from detent.tracker.beads import Beads
    from detent.tracker.beads_file import DATA, BeadsFile

    if program := means.find("bd"):
        return Beads(program, means.call)
    if (means.root / DATA).is_file():
        return BeadsFile(means.root / DATA, means.store / "beads.lock", means.clock)
    raise TrackerError(
        f"[tracker] kind is beads, and there is neither the program bd nor {DATA}", 'install bd, or set kind = "builtin" in detent.toml'
    )


def _github(means: Means) -> Tracker:
    from detent.tracker.github import GitHubIssues
    from detent.tracker.issues import Issues

    assert means.forge is not None, "whoever asks for a forge says how to reach it"
    board = GitHubIssues(*means.forge("github"), means.query)
    return Issues("github", board, board, means.ready, sees_merges=True)


def _gitlab(means: Means) -> Tracker:
    from detent.tracker.gitlab import GitLabIssues
    from detent.tracker.issues import Issues

    assert means.forge is not None, "whoever asks for a forge says how to reach it"
    board = GitLabIssues(*means.forge("gitlab"), means.query)
    return Issues("gitlab", board, board, means.ready, sees_merges=True)


CLOSES = {"github": "Closes #{}", "gitlab": "Closes #{}"}  # what a merge says to close an item, for trackers that see merges
TRACKERS: dict[str, Callable[[Means], Tracker]] = {"builtin": _builtin, "beads": _beads, "github": _github, "gitlab": _gitlab}
HERE = ("builtin", "beads")  # kept with the project, so nobody reads their notes elsewhere


def make_tracker(kind: str, means: Means) -> Tracker:
    """The tracker of a kind: built in, or brought by an installed package."""
    if kind in TRACKERS:
        return TRACKERS[kind](means)
    found = loaded(kind)
    with blamed(GROUP, kind):
        made = found(means)
        if missing := [name for name in ("items", "add", "claim", "change", "sync") if not callable(getattr(made, name, None))]:
            raise ValueError(f"what it makes has no {missing[0]}()")
        return made


def loaded(kind: str) -> Callable[[Means], Tracker]:
    """A package's function that makes a tracker of this kind."""
    found: Callable[[Means], Tracker] | None = load(GROUP, kind, _wrong)
    if found is None:
        raise DetentError(f"there is no tracker '{kind}'", f"[tracker] kind is one of {', '.join((*TRACKERS, *names(GROUP, TRACKERS)))}")
    return found


def _wrong(value: object) -> str:
    return "" if callable(value) else f"it is a {type(value).__name__}, not a function that makes a tracker"
