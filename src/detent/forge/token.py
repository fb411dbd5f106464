"""The token for a forge: from the environment, or from the forge's own program if somebody is logged in there.

A token from the environment is only for the forge's public host or the host that the environment names; no other host ever sees it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from detent.forge.api import ForgeError
from detent.forge.where import ForgeProject

Ask = Callable[[str, tuple[str, ...]], str]  # (program, arguments) -> its output; empty if it is missing or failed


class Login(NamedTuple):
    """Where tokens for one kind of forge are found."""

    variables: tuple[str, ...]  # for the public host, or the named one
    hosts: tuple[str, ...]
    named: str  # the variable that names another host
    elsewhere: tuple[str, ...]  # variables for any other host
    program: str
    words: tuple[str, ...]  # arguments that make the program print the token
    log_in: str


LOGINS = {
    "github": Login(
        ("GH_TOKEN", "GITHUB_TOKEN"), ("github.com", ".ghe.com"), "GH_HOST", ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
        "gh", ("auth", "token", "--hostname"), "gh auth login",
    ),
    "gitlab": Login(("GITLAB_TOKEN",), ("gitlab.com",), "GITLAB_HOST", (), "glab", ("config", "get", "token", "--host"), "glab auth login"),
}  # fmt: skip


def token_of(where: ForgeProject, env: Mapping[str, str], ask: Ask) -> str:
    """The token for a forge; ForgeError says how to provide one."""
    login = LOGINS[where.kind]
    names = login.variables if where.is_configured or _is_known(where.host, login, env) else login.elsewhere
    found = next((env[name].strip() for name in names if env.get(name, "").strip()), "")
    token = found or ask(login.program, (*login.words, where.host)).strip()
    if not token:
        ways = (
            f"set {login.variables[-1]}, or log in: {login.log_in}"
            if names is login.variables
            else f"log in: {login.log_in} --hostname {where.host}"
        )
        raise ForgeError(f"there is no token for {where.name} at {where.host}", ways)
    if any(c.isspace() or not c.isprintable() or ord(c) > 126 for c in token):
        raise ForgeError(
            f"the token for {where.name} is not one line of plain characters",
            f"set {login.variables[-1]} again, without line breaks or spaces",
        )
    return token


def _is_known(host: str, login: Login, env: Mapping[str, str]) -> bool:
    named = env.get(login.named, "")
    return any(host == each or (each[0] == "." and host.endswith(each)) for each in login.hosts) or host == (
        urlsplit(named).hostname or named
    )
