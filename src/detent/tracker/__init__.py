"""Trackers: where work items come from. A new one: a file, a line in TRACKERS, a row in the docs, and it passes the conformance tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detent.tracker.said import TrackerSaid
from detent.tracker.tracker_protocol import STATUSES, Item, NewItem, Status, Tracker, TrackerChange, TrackerError, UnknownItem, open_of

if TYPE_CHECKING:
    from detent.forge import Api, ForgeProject

__all__ = [
    "CLOSES",
    "STATUSES",
    "TRACKERS",
    "Item",
    "Means",
    "NewItem",
    "Status",
    "Tracker",
    "TrackerChange",
    "TrackerError",
    "TrackerSaid",
    "UnknownItem",
    "open_of",
]


class Means(NamedTuple):
    """What a tracker may need of the machine, handed in."""

    root: Path  # the checkout whose items these are
    store: Path  # a folder that all checkouts of the repository share
    clock: Callable[[], str]
    find: Callable[[str], str]  # a program by its name; empty if it is not there
    call: Callable[[Sequence[str], Mapping[str, str]], TrackerSaid]  # run a program in the checkout, with these variables too
    url: str = ""  # the database that several machines share; empty if there is none
    forge: "Callable[[str], tuple[Api, ForgeProject]] | None" = None  # the forge of a kind, and the project there
    query: str = ""  # which issues of a forge are items
    ready: str = ""  # the label without which an issue is not run


def _builtin(means: Means) -> Tracker:
    from detent.tracker.builtin import Builtin

    if means.url:
        from detent.tracker.builtin_shared import SharedShelf

        return Builtin(SharedShelf(means.url), means.clock)
    from detent.tracker.builtin_file import FileShelf

    return Builtin(FileShelf(means.store / "items.db"), means.clock)


def _beads(means: Means) -> Tracker:
    """By its program; without one, by its data file. Neither: there is nothing to ask, and that is no empty list."""
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
    return Issues("github", board, board, means.ready)


def _gitlab(means: Means) -> Tracker:
    from detent.tracker.gitlab import GitLabIssues
    from detent.tracker.issues import Issues

    assert means.forge is not None, "whoever asks for a forge says how to reach it"
    board = GitLabIssues(*means.forge("gitlab"), means.query)
    return Issues("gitlab", board, board, means.ready)


CLOSES = {"github": "Closes #{}", "gitlab": "Closes #{}"}  # the words with which a merge closes an item, where the tracker sees merges
TRACKERS: dict[str, Callable[[Means], Tracker]] = {"builtin": _builtin, "beads": _beads, "github": _github, "gitlab": _gitlab}
