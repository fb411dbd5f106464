"""Detects settings for `detent init` from a project's files: test command, preflight, plan, main branch. Starts no program."""

import os
from collections.abc import Iterator
from pathlib import Path

from detent.app.preflight import default_preflight
from detent.evidence.runners import Folder, find_command
from detent.git.place import Place
from detent.interfaces.cli.init_file import Found
from detent.interfaces.register.files import read_text

PLANS = ("docs/Plan_Doc/Active_Plan.md", "docs/Active_Plan.md", "Active_Plan.md", "docs/PLAN.md", "docs/plan.md", "PLAN.md", "plan.md")


def detected(place: Place) -> Found:
    """The detected settings, by name."""
    root, path = place.root, os.environ.get("PATH", os.defpath)
    found: Found = {}
    if call := find_command(Folder(root, path)):
        found["test.command"] = call.text
    if preflight := default_preflight(lambda name: read_text(root / name), root, path):
        found["preflight.commands"] = list(preflight)
    if plan := next((p for p in PLANS if (root / p).is_file()), ""):
        found["pr.plan"] = plan
    if main := _main_branch(place):
        found["git.main"] = main
    return found


def _main_branch(place: Place) -> str:
    """The main branch, from git's files alone: origin/HEAD, main, master, or the only branch."""
    branches = set(_branches(place.common_dir))
    remote = _pointed(place.common_dir / "refs" / "remotes" / "origin" / "HEAD", "refs/remotes/origin/")
    head = _pointed(place.git_dir / "HEAD", "refs/heads/")
    only = head if not branches or branches == {head} else ""
    return next((name for name in (remote, "main", "master") if name in branches), only)


def _branches(common_dir: Path) -> Iterator[str]:
    heads = common_dir / "refs" / "heads"
    yield from (p.relative_to(heads).as_posix() for p in heads.rglob("*") if p.is_file() and not p.name.endswith(".lock"))
    for line in (read_text(common_dir / "packed-refs") or "").splitlines():
        name = line.partition(" ")[2]
        if name.startswith("refs/heads/") and not line.startswith("#"):
            yield name.removeprefix("refs/heads/")


def _pointed(file: Path, prefix: str) -> str:
    """The branch that a symbolic ref names; empty for a detached HEAD and with reftable refs."""
    text = (read_text(file) or "").strip().removeprefix("ref: ")
    name = text.removeprefix(prefix) if text.startswith(prefix) else ""
    return "" if name == ".invalid" else name
