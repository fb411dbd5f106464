"""The look at a whole branch before it lands: outcomes from base to tip, what no test notices, and every flag. Kept by its two trees."""

from detent.door import AnyRun
from detent.evidence.card import Card
from detent.world.repo import RepoWorld


def look_over(world: RepoWorld, run: AnyRun, tip: str) -> Card:
    """The card of a run's branch, whose tip has this tree. Flags of what was done on the way stay, whatever the trees say."""
    base = world.git.tree(run.data.base) if run.data.base else ""
    return Card(base, tip, flags=tuple(flag for flag in run.flags if flag.stays))
