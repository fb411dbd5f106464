"""`detent demo`: a scripted agent in a throw-away repository, shown live. Real git, real tests, no network, no key."""

import os
import shutil
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

from detent.config.values import unknown
from detent.errors import DetentError
from detent.installation import adding

DEMOS: dict[str, tuple[str, ...]] = {  # each a module of interfaces/demos, and the packages that it needs beside Detent
    "cheat": (),
    "pr": ("pytest",),
    "tdd": ("pytest",),
    "pipeline": ("pytest",),
    "queue": ("pytest", "dbos"),
}


@click.command("demo")
@click.argument("name", default="cheat")
@click.option("--keep", is_flag=True, help="Keep the repository, to look at it.")
def command(name: str, keep: bool) -> int:
    """Watch scripted agents at work, in a throw-away repository: git and the tests are real, no key and no network are needed.

    \b
    detent demo             an agent cheats three times, and is caught; takes seconds
    detent demo pr          a plan of two pull requests, with review and merge
    detent demo tdd         a feature, test by test
    detent demo pipeline    a team, from a request to a release
    detent demo queue       six work items, three at once

    Every verdict is Detent's own: a demo that does not go as scripted exits with code 1.
    """
    if name not in DEMOS:
        raise unknown(f"there is no demo '{name}'", name, DEMOS, "detent demo {}", f"there are: {', '.join(DEMOS)}")
    _has_all(name)
    folder = Path(tempfile.mkdtemp(prefix="detent-demo-"))
    try:
        env = _environment(folder)
        shown: int = import_module(f"detent.interfaces.demos.demo_{name}").show(folder, env)
        return shown
    finally:
        if keep:
            click.echo(f"\nEverything is in {folder}.")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _has_all(name: str) -> None:
    """Refuse a demo whose packages are not installed."""
    if missing := [package for package in DEMOS[name] if find_spec(package) is None]:
        message = f"the demo '{name}' needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed with Detent"
        raise DetentError(message, f"install it: {adding(*missing)}\n`detent demo` alone needs nothing")


def _environment(folder: Path) -> dict[str, str]:
    """The demo's own environment: state in its folder, and this Python's programs first on PATH."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    env = {**os.environ, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
    return {k: v for k, v in env.items() if not k.startswith("DETENT_")}
