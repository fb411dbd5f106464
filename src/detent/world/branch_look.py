"""The look at a whole branch before it lands: outcomes from base to tip, what no test notices, and every flag. Kept by its two trees."""

from detent.door import AnyRun
from detent.evidence.card import Card
from detent.evidence.runners import RUNNERS
from detent.git.repo import Git
from detent.kernel.model import Flag
from detent.world.repo import RepoWorld


def look_over(world: RepoWorld, run: AnyRun, tip: str) -> Card:
    """The card of a run's branch, whose tip has this tree. Flags of what was done on the way stay, whatever the trees say."""
    base = world.git.tree(run.data.base) if run.data.base else ""
    stay = tuple(flag for flag in run.flags if flag.stays)
    command = world.kit_of(run).suite.base
    runner = RUNNERS.get(command.runner) if command else None
    changed = [path for _, path in world.git.patch(base, tip)[0]] if base and runner else []
    config = [path for path in changed if runner and runner.is_config(path)]
    return Card(base, tip, flags=(*stay, *(_judged_by(world.git, base, tip, path) for path in sorted(config))))


def _judged_by(git: Git, base: str, tip: str, path: str) -> Flag:
    before, after = ((git.read(tree, path) or b"").decode("utf-8", "replace") for tree in (base, tip))
    return Flag("judged-by", f"{path} changed; it decides how tests are run", path, before, after)
