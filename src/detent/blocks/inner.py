"""What an execution hands to the workflow that does its work: the item's text, and where the work happens. Values only."""

from collections.abc import Mapping
from typing import NamedTuple

from detent.blocks.ground import Ground


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
