"""What main has: which commits came in since a time, and which branches are not in it. Asks git here; fetches only when it is told to."""

from collections.abc import Mapping
from functools import cached_property

from detent.config import Settings
from detent.errors import CannotTell
from detent.git.commits import main_branch, short
from detent.git.land_merge import fetch_main
from detent.git.repo import Git

MOST = 100_000  # commits that are looked at


def ask_remote(git: Git, settings: Settings) -> str:
    """Bring what is known of the remote's main up to date; why that could not be done, empty if it was."""
    try:
        fetch_main(git, main_branch(git, settings.git.main), settings.git.remote)
    except CannotTell as e:
        return str(e)
    return ""


class MainBranch:
    """The main branch here and as the remote had it when it was last asked."""

    def __init__(self, git: Git, settings: Settings, since: str) -> None:
        self.git, self.since, remote = git, since, settings.git.remote
        here = main_branch(git, settings.git.main)
        there = f"refs/remotes/{remote}/{short(here)}"
        self.refs = tuple(ref for ref in (here, there if remote else "") if ref and git.resolve(f"{ref}^{{commit}}"))
        self._branches = ("refs/heads", *([f"refs/remotes/{remote}"] if remote else []))

    @cached_property
    def arrived(self) -> frozenset[str]:
        """The commits that came into main since then."""
        return frozenset(commit for ref in self.refs for commit in self._arrived(ref))

    def _arrived(self, ref: str) -> list[str]:
        old = self.git.run("rev-list", "-1", "--first-parent", f"--before={self.since}", ref).text.strip()
        return self.git.run("rev-list", f"--max-count={MOST}", ref, *([f"^{old}"] if old else [])).text.split()

    @cached_property
    def without(self) -> Mapping[str, str]:
        """The branches that main does not have, by name, each with its commit."""
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
        """Whether main has a commit, or the same change as a commit of its own: a forge may squash it."""
        if not commit or not self.git.resolve(f"{commit}^{{commit}}"):
            return False
        if commit in self.arrived or any(self.git.is_ancestor(commit, ref) for ref in self.refs):
            return True
        return any(self._same_change(ref, commit) for ref in self.refs)

    def _same_change(self, ref: str, commit: str) -> bool:
        said = self.git.call("cherry", ref, commit)
        return said.code == 0 and bool(said.text.strip()) and all(line.startswith("-") for line in said.text.splitlines())
