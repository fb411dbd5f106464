"""Forges: the services with a project's issues and pull requests, through their REST APIs. Knows no git, no runs and no items."""

from collections.abc import Callable

from detent.forge.api import Api, ForgeError, NotThere
from detent.forge.pull_requests import Checks, Pull, PullComment, Pulls
from detent.forge.token import Login, token_of
from detent.forge.where import KINDS, ForgeProject, where_of

__all__ = [
    "KINDS",
    "PULLS",
    "Api",
    "Checks",
    "ForgeError",
    "ForgeProject",
    "Login",
    "NotThere",
    "Pull",
    "PullComment",
    "Pulls",
    "token_of",
    "where_of",
]


def _github(api: Api, where: ForgeProject) -> Pulls:
    from detent.forge.github_pulls import GitHubPulls

    return GitHubPulls(api, where)


def _gitlab(api: Api, where: ForgeProject) -> Pulls:
    from detent.forge.gitlab_pulls import GitLabPulls

    return GitLabPulls(api, where)


PULLS: dict[str, Callable[[Api, ForgeProject], Pulls]] = {"github": _github, "gitlab": _gitlab}
