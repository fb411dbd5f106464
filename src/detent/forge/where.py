"""Where a project is hosted: the forge's API and the project's name, from the remote's URL and the environment.

The API's address is never read from a file of the project: whoever can write that file would be sent the person's token.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from detent.errors import DetentError

KINDS = ("github", "gitlab")
NAMES = {"github": "GitHub", "gitlab": "GitLab"}
API_VARIABLES = {"github": "GITHUB_API_URL", "gitlab": "CI_API_V4_URL"}  # as set by their CI
PROJECT = {
    "github": (re.compile(r"[\w.-]+/[\w.-]+", re.ASCII), "owner/name"),
    "gitlab": (re.compile(r"[\w.-]+(/[\w.-]+)+", re.ASCII), "group/name"),
}
SCP = re.compile(r"(?:[^@/]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^/\\].*)", re.ASCII)  # git@host:path
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ForgeProject(NamedTuple):
    """One project at one forge."""

    kind: str
    url: str  # of the API, without a trailing slash
    host: str  # the host whose login is used
    project: str
    is_configured: bool = False  # the environment names the API

    @property
    def name(self) -> str:
        return NAMES[self.kind]

    @property
    def path(self) -> str:
        """The prefix of every API path of the project."""
        return f"/repos/{self.project}" if self.kind == "github" else f"/projects/{quote(self.project, safe='')}"


def where_of(kind: str, remote: str, project: str, env: Mapping[str, str]) -> ForgeProject:
    """The project that a remote's URL names on a kind of forge. `project` overrides the URL's path."""
    host, path = _parts(remote)
    configured = env.get(API_VARIABLES[kind], "").strip().rstrip("/")
    project = _project(kind, project or path, remote)
    if not configured and not host:
        raise DetentError(
            f"the remote is {_shown(remote)}, which names no host of {NAMES[kind]}", f"set {API_VARIABLES[kind]} to the address of its API"
        )
    url = configured or _api(kind, host)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DetentError(f"{API_VARIABLES[kind]} is not a web address: {url[:80]}", "write it as https://host/path")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise DetentError(f"{url[:80]} is not encrypted, so no token is sent there", f"set {API_VARIABLES[kind]} to an https address")
    return ForgeProject(kind, url, host or parts.hostname, project, bool(configured))


def _parts(remote: str) -> tuple[str, str]:
    """Host and path of a remote's URL; both empty if it names no host."""
    if "://" in remote:
        split = urlsplit(remote)
        if split.scheme not in ("http", "https", "ssh", "git", "git+ssh"):
            return "", ""
        host, path = split.hostname or "", split.path
    else:
        found = SCP.fullmatch(remote)
        host, path = (found["host"], found["path"]) if found else ("", "")
    return host.lower(), path.strip("/").removesuffix(".git") if host else ""


def _project(kind: str, name: str, remote: str) -> str:
    form, expected = PROJECT[kind]
    if form.fullmatch(name) and not {".", ".."} & set(name.split("/")):
        return name
    if name:
        raise DetentError(f"'{name[:80]}' is not a project of {NAMES[kind]}", f'write it as [forge] project = "{expected}"')
    raise DetentError(
        f"the remote is {_shown(remote)}, which names no project of {NAMES[kind]}", f'set [forge] project = "{expected}" in detent.toml'
    )


def _api(kind: str, host: str) -> str:
    if kind == "gitlab":
        return f"https://{host}/api/v4"
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def _shown(remote: str) -> str:
    """A remote's URL without credentials."""
    return re.sub(r"//[^@/]*@", "//", remote)[:120] or "not set"
