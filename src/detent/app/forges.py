"""Builds the client for a repository's forge: its kind, the project there, and the token to use."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from detent.app.opened import now
from detent.config import Settings
from detent.errors import DetentError
from detent.forge import PULLS, Api, ForgeProject, Pulls, token_of, where_of
from detent.git.place import Place
from detent.git.remote import remote_url
from detent.git.repo import Git
from detent.sandbox.process import run

KEPT = (
    "HOME",
    "PATH",
    "USER",
    "LANG",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
)
PATIENCE = 20.0  # seconds for a program that prints a token
HOSTS = {"github.com": "github", "gitlab.com": "gitlab"}
HINT = 'set [forge] kind = "github" or "gitlab" in detent.toml'


def forge_of(kind: str, settings: Settings, place: Place, outer: Mapping[str, str]) -> tuple[Api, ForgeProject]:
    """The API of a forge, and the project there. An empty kind means the one of [forge], or the one known for the remote's host."""
    remote = remote_url(Git(place, outer), settings.git.remote)
    where = where_of(kind or kind_of(settings, remote), remote, settings.forge.project, outer)
    token = token_of(where, outer, _teller(place, outer))
    return Api(where.url, where.name, token, place.common_dir / "detent" / "forge", now, outer), where


def pulls_of(settings: Settings, place: Place, outer: Mapping[str, str]) -> Pulls:
    """The pull requests of a repository's forge."""
    api, where = forge_of("", settings, place, outer)
    return PULLS[where.kind](api, where)


def way_to_land(settings: Settings, place: Place, outer: Mapping[str, str]) -> str:
    """The effective [git] merge: as set; else "pull-request" at a known forge, "branch" if that cannot be used, "auto" otherwise."""
    if settings.git.merge or not settings.git.branching:
        return settings.git.merge
    remote = remote_url(Git(place, outer), settings.git.remote)
    if not remote or not _is_known(settings, remote):
        return "auto"
    if settings.git.pr_command:
        return "pull-request"
    try:
        forge_of("", settings, place, outer)
    except DetentError:
        return "branch"
    return "pull-request"


def _is_known(settings: Settings, remote: str) -> bool:
    try:
        return bool(kind_of(settings, remote))
    except DetentError:
        return False


def must_take_pushes(settings: Settings, place: Place, outer: Mapping[str, str], branch: str) -> None:
    """An error if the forge protects a branch. An unknown or silent forge does not stop anything; the push will fail instead."""
    try:
        reason = pulls_of(settings, place, outer).guarded(branch)
    except DetentError:
        return
    if reason:
        raise DetentError(f"{reason}, so it accepts no pushes", 'merge there, by pull requests: [git] merge = "pull-request"')


def kind_of(settings: Settings, remote: str) -> str:
    """The kind of a repository's forge; if it is unknown, an error that says how to configure it."""
    if settings.forge.kind or settings.tracker.kind in HOSTS.values():
        return settings.forge.kind or settings.tracker.kind
    found = next((kind for host, kind in HOSTS.items() if f"{host}/" in remote or f"{host}:" in remote), "")
    if not found:
        raise DetentError("Detent does not know which forge the remote is on", HINT)
    return found


def finder(place: Place, outer: Mapping[str, str]) -> Callable[[str], str]:
    """A lookup of programs on PATH that skips those inside the project."""

    def find(name: str) -> str:
        file = shutil.which(name, path=outer.get("PATH", os.defpath))
        inside = file is not None and Path(file).resolve().is_relative_to(place.root)
        return file if file and not inside else ""

    return find


def _teller(place: Place, outer: Mapping[str, str]) -> Callable[[str, tuple[str, ...]], str]:
    """A function that asks a forge's own program (gh, glab) for the token of its login."""
    find, env = finder(place, outer), {name: value for name, value in outer.items() if name in KEPT}

    def tell(program: str, words: tuple[str, ...]) -> str:
        file = find(program)
        if not file:
            return ""
        try:
            with open(os.devnull, "wb") as nowhere:
                ran = run([file, *words], place.root, env, PATIENCE, stderr=nowhere.fileno())
        except OSError:
            return ""
        return ran.output if ran.exit_code == 0 else ""

    return tell
