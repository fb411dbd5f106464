"""Trackers for tests: each kind in a folder of its own, and the stand-in for `bd` as a program on PATH."""

import os
import sys
from pathlib import Path

from detent.app.trackers import tracker_of
from detent.git.place import find_place
from detent.tracker import Tracker
from tests.repos import make_repo

FAKE = Path(__file__).with_name("fake_bd.py")


def put_bd(folder: Path) -> str:
    """The stand-in as `bd` in a folder; that folder, for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bd"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{FAKE}" "$@"\n')
    program.chmod(0o755)
    return str(folder)


def beads_folder(root: Path) -> None:
    (root / ".beads").mkdir()
    (root / ".beads" / "issues.jsonl").write_text("")


def made(kind: str, folder: Path, url: str = "") -> Tracker:
    """A tracker of a kind, empty: builtin, shared (the same in the database at `url`), bd (its program), bd-raw and bd-items (older shapes of its answers), or file."""
    root = make_repo(folder / "p", {"a.txt": "a"})
    env = {**os.environ, "PATH": "/usr/bin:/bin"}
    if kind == "shared":
        kind, env["DETENT_QUEUE_URL"] = "builtin", url
    if kind != "builtin":
        beads_folder(root)
    if kind.startswith("bd"):
        env["PATH"] = f"{put_bd(folder / 'bin')}:{env['PATH']}"
        (root / ".beads" / "shape").write_text(kind.removeprefix("bd").removeprefix("-") or "data")
    return tracker_of("builtin" if kind == "builtin" else "beads", find_place(root), env)
