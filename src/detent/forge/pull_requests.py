"""What a forge does for pull requests: the values that both share, and the five things it can do. Knows no runs."""

from typing import Literal, NamedTuple, Protocol

Result = Literal["green", "red", "pending", "none"]


class Pull(NamedTuple):
    """An open pull request."""

    number: int
    url: str


class PullComment(NamedTuple):
    """What a person said below a pull request. `asks`: they want a change."""

    id: str
    who: str
    text: str
    place: str = ""  # path:line, where it is about one
    asks: bool = False


class Checks(NamedTuple):
    """What CI says of a commit: green, red, not yet, or nothing at all."""

    result: Result
    said: str = ""  # the checks that failed, or that are waited for


class BranchRules(Protocol):
    """What a forge says of commits and branches."""

    def checks(self, commit: str) -> Checks: ...

    def guarded(self, branch: str) -> str:
        """Why nobody may push to a branch; empty if we may, or if the forge does not say."""
        ...


class Pulls(BranchRules, Protocol):
    """The pull requests of one project."""

    def offer(self, branch: str, onto: str, title: str, body: str) -> Pull:
        """Open one, or bring the open one of this branch up to date."""
        ...

    def found(self, branch: str) -> Pull | None:
        """The open one of a branch."""
        ...

    def words(self, pull: Pull) -> list[PullComment]:
        """What people who may write to the project said, the oldest first; what we said ourselves too."""
        ...

    def say(self, pull: Pull, body: str) -> None: ...


def summed(results: dict[str, Result]) -> Checks:
    """The checks of a commit, by name, as one."""
    for result in ("red", "pending"):
        if names := sorted(name for name, each in results.items() if each == result):
            return Checks(result, ", ".join(names)[:500])
    return Checks("green" if results else "none")
