"""Trackers for tests: each kind in a folder of its own, the stand-in for `bd` as a program on PATH, and the forges on loopback."""

import os
import sys
from pathlib import Path
from typing import Any

from detent.app.trackers import tracker_of
from detent.config import Settings
from detent.config.settings import Forge, TrackerSettings
from detent.git.place import Place, find_place
from detent.tracker import Tracker
from tests import forge_github, forge_gitlab
from tests.repos import make_repo

FAKE = Path(__file__).with_name("fake_bd.py")


def put_bd(folder: Path) -> str:
    """Install the stand-in as `bd` in a folder; returns the folder for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bd"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{FAKE}" "$@"\n')
    program.chmod(0o755)
    return str(folder)


def beads_folder(root: Path) -> None:
    (root / ".beads").mkdir()
    (root / ".beads" / "issues.jsonl").write_text("")


FORGES: dict[str, tuple[type[forge_github.GitHub] | type[forge_gitlab.GitLab], str, str, str]] = {
    "github": (forge_github.GitHub, forge_github.PROJECT, "GITHUB_API_URL", "GITHUB_TOKEN"),
    "gitlab": (forge_gitlab.GitLab, forge_gitlab.PROJECT, "CI_API_V4_URL", "GITLAB_TOKEN"),
}  # the stand-in, its project, and the variables with its address and token


def kind_at(kind: str, place: Place, env: dict[str, str], **wanted: str) -> Tracker:
    """The tracker of a kind for a checkout."""
    project = FORGES[kind][1] if kind in FORGES else ""
    more: dict[str, Any] = {"kind": kind, **wanted}
    return tracker_of(Settings(tracker=TrackerSettings(**more), forge=Forge(project=project)), place, env)


def at_forge(kind: str, folder: Path, url: str, token: str = "token-a", **wanted: str) -> Tracker:
    """The tracker of a forge at an address, in a repository of its own."""
    root = folder / "p" if (folder / "p").exists() else make_repo(folder / "p", {"a.txt": "a"})
    return kind_at(kind, find_place(root), {"PATH": "/usr/bin:/bin", FORGES[kind][2]: url, FORGES[kind][3]: token}, **wanted)


def made(kind: str, folder: Path, url: str = "") -> Tracker:
    """An empty tracker: builtin, shared (builtin in the database at `url`), bd (as a program), bd-raw and bd-items (older output shapes), or file."""
    root = make_repo(folder / "p", {"a.txt": "a"})
    env = {**os.environ, "PATH": "/usr/bin:/bin"}
    if kind == "shared":
        kind, env["DETENT_QUEUE_URL"] = "builtin", url
    if kind != "builtin":
        beads_folder(root)
    if kind.startswith("bd"):
        env["PATH"] = f"{put_bd(folder / 'bin')}:{env['PATH']}"
        (root / ".beads" / "shape").write_text(kind.removeprefix("bd").removeprefix("-") or "data")
    return kind_at("builtin" if kind == "builtin" else "beads", find_place(root), env)
