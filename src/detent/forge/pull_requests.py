"""The protocol of pull requests on a forge: the shared values, and its operations. Knows no runs."""

from typing import Literal, NamedTuple, Protocol

Result = Literal["green", "red", "pending", "none"]


class Pull(NamedTuple):
    """An open pull request."""

    number: int
    url: str


class PullComment(NamedTuple):
    """A person's comment on a pull request. `asks`: it requests a change."""

    id: str
    who: str
    text: str
    place: str = ""  # path:line, if it is about one
    asks: bool = False


class Checks(NamedTuple):
    """CI's result for a commit: green, red, pending, or none at all."""

    result: Result
    names: str = ""  # the names of checks that failed or are pending


class BranchRules(Protocol):
    """What a forge says about commits and branches."""

    def checks(self, commit: str) -> Checks: ...

    def guarded(self, branch: str) -> str:
        """Why we may not push to a branch; empty if we may, or if the forge does not say."""
        ...


class Pulls(BranchRules, Protocol):
    """The pull requests of one project."""

    def offer(self, branch: str, onto: str, title: str, body: str) -> Pull:
        """Open a pull request, or update the branch's open one."""
        ...

    def found(self, branch: str) -> Pull | None:
        """The open pull request of a branch."""
        ...

    def words(self, pull: Pull) -> list[PullComment]:
        """Comments by people who may write to the project, including our own; oldest first."""
        ...

    def say(self, pull: Pull, body: str) -> None: ...


def summed(results: dict[str, Result]) -> Checks:
    """The combined result of a commit's checks."""
    for result in ("red", "pending"):
        if names := sorted(name for name, each in results.items() if each == result):
            return Checks(result, ", ".join(names)[:500])
    return Checks("green" if results else "none")
