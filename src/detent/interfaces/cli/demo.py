"""`detent demo`: a scripted agent in a throw-away repository, shown live. Real git, real tests, no network, no key."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import click

from detent.errors import DetentError

DEMOS = ("pr", "tdd", "pipeline", "queue")  # each a module of interfaces/demos


@click.command("demo")
@click.argument("name", default="pr")
@click.option("--keep", is_flag=True, help="Leave the repository there, to look at it.")
def command(name: str, keep: bool) -> int:
    """Watch scripted agents at work: NAME is `pr` (a plan of two pull requests), `tdd` (a feature, test by test),
    `pipeline` (a team, from a request to a release) or `queue` (six work items, three at once).

    It makes honest mistakes and mends them, and it cheats: `true` as test command, a deleted test, a weakened one, code written with
    its test. Every verdict is the machine's own: git and the tests are real.
    """
    if name not in DEMOS:
        raise DetentError(f"there is no demo '{name}'", f"there are: {', '.join(DEMOS)}")
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


def _environment(folder: Path) -> dict[str, str]:
    """The demo's own: nothing of it stays behind, and pytest is found beside this Python."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    env = {**os.environ, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
    found = subprocess.run([sys.executable, "-c", "import pytest"], env=env, capture_output=True)
    if found.returncode != 0:
        raise DetentError("the demo runs real tests and pytest is not installed beside Detent", "pip install pytest")
    return {k: v for k, v in env.items() if not k.startswith("DETENT_")}
