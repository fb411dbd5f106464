"""Furnishing a workspace: what is ignored by git and needed all the same is copied, and the project's set-up runs. Done once for a workspace."""

from collections.abc import Callable

from detent.git.repo import Git
from detent.git.workspace import borrow
from detent.world.kit import Kit


def furnish(git: Git, kit: Kit, wanted: Callable[[], bool]) -> None:
    """Make a fresh checkout ready to be worked in."""
    borrow(kit.home, git.place.root)
