"""The commits that the machine made for a run, found by the refs that their effects left."""

import re

from detent.git.repo import Git
from detent.world.work_tree import RepoWorld


def commits_by_event(git: Git, run: str) -> dict[int, str]:
    """The commits that the machine made for a run on its branch, by the event that owed them, whatever the workflow calls them."""
    refs = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
    pairs = (re.fullmatch(r"([0-9a-f]+) .*/([0-9]+)-(?:phase|checkpoint|plan)", line) for line in refs)
    return {int(m[2]): m[1] for m in pairs if m}


def phase_commits(world: RepoWorld, run: str) -> dict[int, str]:
    """The commits that the machine made for a run, by the event that owed them."""
    refs = world.git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
    pairs = (re.fullmatch(r"([0-9a-f]+) .*/([0-9]+)-phase", line) for line in refs)
    return {int(m[2]): m[1] for m in pairs if m}
