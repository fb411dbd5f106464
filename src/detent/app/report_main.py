"""The main branch for a report: commits that arrived since a time, and branches not merged. Fetches only in `ask_remote`."""

from collections.abc import Mapping
from functools import cached_property

from detent.config import Settings
from detent.errors import CannotTell
from detent.git.commits import main_branch, short
from detent.git.land_merge import fetch_main
from detent.git.repo import Git

MOST = 100_000  # commits that are read


def ask_remote(git: Git, settings: Settings) -> str:
    """Fetch the remote's main; returns why that failed, or ""."""
    try:
        fetch_main(git, main_branch(git, settings.git.main), settings.git.remote)
    except CannotTell as e:
        return str(e)
    return ""


class MainBranch:
    """The local main branch and the remote's, as last fetched."""

    def __init__(self, git: Git, settings: Settings, since: str) -> None:
        self.git, self.since, remote = git, since, settings.git.remote
        here = main_branch(git, settings.git.main)
        there = f"refs/remotes/{remote}/{short(here)}"
        self.refs = tuple(ref for ref in (here, there if remote else "") if ref and git.resolve(f"{ref}^{{commit}}"))
        self._branches = ("refs/heads", *([f"refs/remotes/{remote}"] if remote else []))

    @cached_property
    def arrived(self) -> frozenset[str]:
        """The commits that arrived in main since that time."""
        return frozenset(commit for ref in self.refs for commit in self._arrived(ref))

    def _arrived(self, ref: str) -> list[str]:
        old = self.git.run("rev-list", "-1", "--first-parent", f"--before={self.since}", ref).text.strip()
        return self.git.run("rev-list", f"--max-count={MOST}", ref, *([f"^{old}"] if old else [])).text.split()

    @cached_property
    def without(self) -> Mapping[str, str]:
        """The tips of branches that main does not have, by name."""
        found: dict[str, str] = {}
        for line in self._listed():
            tip, name = line.split(" ", 1)
            place = next(place for place in self._branches if name.startswith(f"{place}/"))
            found[name.removeprefix(f"{place}/")] = tip
        return found

    def _listed(self) -> list[str]:
        asked = ("for-each-ref", "--format=%(objectname) %(refname)")
        lists = [set(self.git.run(*asked, f"--no-merged={ref}", *self._branches).text.splitlines()) for ref in self.refs]
        return sorted(set.intersection(*lists), reverse=True) if lists else []

    def has(self, commit: str) -> bool:
        """Whether main has a commit, or another commit with the same change, as after a squash merge."""
        if not commit or not self.git.resolve(f"{commit}^{{commit}}"):
            return False
        if commit in self.arrived or any(self.git.is_ancestor(commit, ref) for ref in self.refs):
            return True
        return any(self._same_change(ref, commit) for ref in self.refs)

    def _same_change(self, ref: str, commit: str) -> bool:
        cherry = self.git.call("cherry", ref, commit)
        return cherry.code == 0 and bool(cherry.text.strip()) and all(line.startswith("-") for line in cherry.text.splitlines())
