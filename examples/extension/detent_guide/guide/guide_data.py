"""What a run of `guide` keeps, and the pure changes over it."""

from collections.abc import Mapping

import msgspec

from detent.blocks.common import Ground
from detent.kernel.model import Found, OnBranch, Run, Sent

replace = msgspec.structs.replace


class GuideData(OnBranch, frozen=True):
    """One guide on its way. Detent itself needs the fields from `setup` to `reds`, and `branch`."""

    setup: Ground = Ground()
    base: str = ""  # the commit that the run started from
    good_tree: str = ""  # the tree that passed last
    reds: tuple[str, ...] = ()  # trees before the code of each step; this workflow has none
    subject: str = ""  # of the commit that is owed
    request: str = ""


def written(run: Run[GuideData], sent: Sent, found: Found) -> Run[GuideData]:
    """The judged tree is the good one from now on, and what was flagged in it is what is open."""
    data = replace(run.data, good_tree=found.tree, subject=f"docs: {run.data.request.splitlines()[0]}")
    return replace(run, data=data, flags=found.flagged, last_error="", last_reason="", guidance="")


def facts(run: Run[GuideData]) -> Mapping[str, str]:
    """The names that the briefings may use, beside those that every briefing has."""
    trouble = f"\n## The last attempt failed\n\n~~~~text\n{run.last_error}\n~~~~\n" if run.last_error else ""
    return {"request": run.data.request, "trouble": trouble, "commit": run.data.subject or "none"}


def unproven(run: Run[GuideData]) -> tuple[str, ...]:
    """What an end in success would still lack."""
    return () if run.data.subject else ("the guide was never judged",)
