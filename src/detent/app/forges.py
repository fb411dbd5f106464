"""The forge of a repository, wired: which kind it is, the project there, and the token of whoever asks."""

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
PATIENCE = 20.0  # seconds for a program that says a token
HOSTS = {"github.com": "github", "gitlab.com": "gitlab"}
HINT = 'set [forge] kind = "github" or "gitlab" in detent.toml'


def forge_of(kind: str, settings: Settings, place: Place, outer: Mapping[str, str]) -> tuple[Api, ForgeProject]:
    """The forge of a kind, and the project there. Without a kind: the one that [forge] names, or that the remote's host is known as."""
    remote = remote_url(Git(place, outer), settings.git.remote)
    where = where_of(kind or kind_of(settings, remote), remote, settings.forge.project, outer)
    token = token_of(where, outer, _teller(place, outer))
    return Api(where.url, where.name, token, place.common_dir / "detent" / "forge", now, outer), where


def pulls_of(settings: Settings, place: Place, outer: Mapping[str, str]) -> Pulls:
    """Where the pull requests of a repository are opened."""
    api, where = forge_of("", settings, place, outer)
    return PULLS[where.kind](api, where)


def way_to_land(settings: Settings, place: Place, outer: Mapping[str, str]) -> str:
    """What [git] merge is where nobody set it: a pull request where the remote is at a forge that lets one in, a person where it does not, else Detent."""
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
    """An error if the forge protects a branch. A forge that is not known, or does not say, is no reason to stop: the push will tell."""
    try:
        said = pulls_of(settings, place, outer).guarded(branch)
    except DetentError:
        return
    if said:
        raise DetentError(f"{said}, so it accepts no pushes", 'merge there, by pull requests: [git] merge = "pull-request"')


def kind_of(settings: Settings, remote: str) -> str:
    """What kind of forge a repository is at; an error that says how to name it if that is not known."""
    if settings.forge.kind or settings.tracker.kind in HOSTS.values():
        return settings.forge.kind or settings.tracker.kind
    found = next((kind for host, kind in HOSTS.items() if f"{host}/" in remote or f"{host}:" in remote), "")
    if not found:
        raise DetentError("Detent does not know which forge the remote is on", HINT)
    return found


def finder(place: Place, outer: Mapping[str, str]) -> Callable[[str], str]:
    """Programs on PATH; never one that lies in the project itself."""

    def find(name: str) -> str:
        file = shutil.which(name, path=outer.get("PATH", os.defpath))
        inside = file is not None and Path(file).resolve().is_relative_to(place.root)
        return file if file and not inside else ""

    return find


def _teller(place: Place, outer: Mapping[str, str]) -> Callable[[str, tuple[str, ...]], str]:
    """How a forge's own program is asked for the token of whoever is logged in there."""
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
