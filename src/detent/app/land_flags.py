"""Flags of branches that `land` is about to land: which are open, which the command accepts, and the trailers that record it.

An execution asked about its branch before it was pushed; that answer holds as long as the tree is the same.
"""

from typing import NamedTuple

from detent.app import App
from detent.app.executions import made_by
from detent.app.land_asked import asked_about
from detent.app.policy import user
from detent.app.project import BranchData, stand_in
from detent.app.run_configs import CONFIGURED
from detent.blocks.open_flags import line_of, remarks_as_trailers
from detent.door import AnyRun
from detent.errors import CannotTell
from detent.git.repo import Git
from detent.kernel.model import Flag
from detent.world.before_landing import looked_at

SHORTEST = 7  # characters of a tree's name that a person may give


class Accepts(NamedTuple):
    """What a person accepts by options of `land`: trees they looked at, or kinds of flags; and the channel."""

    trees: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    channel: str = ""


class BranchSeen(NamedTuple):
    """The result of looking at a branch: why it fails, its open flags, and the trailers for accepted ones."""

    tree: str
    failed: str = ""
    open: tuple[Flag, ...] = ()
    note: str = ""
    remarks: tuple[str, ...] = ()  # what people said during the run, shown with the question


def look_at(app: App, branch: str, tip: str, main: str, accepts: Accepts) -> BranchSeen:
    """Judge a branch from its merge base with main to its tip."""
    git: Git = app.world.git
    tree, before = git.tree(tip), _execution(app, branch)
    base = git.call("merge-base", main, tip).text
    data = BranchData(branch=f"refs/heads/{branch}", base=base, good_tree=tree)
    probe = stand_in(app, "land", CONFIGURED, data, tuple(f for f in before.flags if f.stays) if before else ())
    card = looked_at(app.world, probe, tree)
    if card.unclear:
        raise CannotTell(card.unclear)
    if card.failed:
        return BranchSeen(tree, failed="\n".join(card.failed))
    remarks = before.said if before is not None else ()
    if not card.asks:
        return BranchSeen(tree, note=_recorded((), "", remarks))
    if before is not None and before.accepted == tree:
        return BranchSeen(tree, note=_recorded(card.asks, f"before it was pushed ({before.id})", remarks))
    by_tree = any(len(name) >= SHORTEST and tree.startswith(name) for name in accepts.trees)
    if by_tree or {flag.kind for flag in card.asks} <= set(accepts.kinds):
        return BranchSeen(tree, note=_recorded(card.asks, f"by {user()}, {accepts.channel}{'' if by_tree else ', beforehand'}", remarks))
    asked = asked_about(app, branch)
    if asked is not None and asked.tree == tree and asked.accepted:
        return BranchSeen(tree, note=_recorded(card.asks, asked.accepted, remarks))
    return BranchSeen(tree, open=card.asks, remarks=remarks)


def _execution(app: App, branch: str) -> AnyRun | None:
    """The newest execution that made a branch, if any."""
    return max(made_by(app, branch), key=lambda run: app.worlds.runs.when(run.id, run.seq), default=None)


def _recorded(flags: tuple[Flag, ...], how: str, remarks: tuple[str, ...]) -> str:
    """The trailers of the merge commit: one for each accepted flag, and what people said during the run."""
    accepted = [f"Flag-Accepted: {line_of(flag)} ({how})" for flag in flags]
    return "\n".join([*accepted, *filter(None, [remarks_as_trailers(remarks)])])
