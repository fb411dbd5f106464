"""The demo of `tdd`: one of the examples, built test by test by a scripted agent, through push mode as a person would use it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import click

from detent.app import open_app
from detent.app.fit import Terms
from detent.app.push import fit_for_push, push
from detent.app.start_tdd import start_tdd
from detent.errors import DetentError
from detent.interfaces.cli.demo_repo import make_repo
from detent.interfaces.cli.live import Terminal, tell_result
from detent.kernel.model import Sent

EXAMPLE = "python-slugify"
SCRIPT = "agent.yaml"


def example() -> Path:
    """Where the examples are: beside the source, or inside the installed package."""
    here = Path(__file__).parents[2]
    for folder in (here / "examples", here.parents[1] / "examples"):
        if (folder / EXAMPLE / SCRIPT).is_file():
            return folder / EXAMPLE
    raise DetentError("the examples are not installed", "take a clone of the project and run ./x demo tdd")


def show(folder: Path, env: Mapping[str, str]) -> int:
    """Copy the example into a throw-away repository, and have the machine drive the scripted agent through its feature."""
    source, repo = example(), folder / EXAMPLE
    shutil.copytree(source, repo, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    script = folder / SCRIPT
    (repo / SCRIPT).replace(script)
    make_repo(repo, env)
    env, sandbox = kept_in(repo, env)
    click.echo(f"The example {EXAMPLE}; git and pytest are real, the agent is scripted, mistakes and cheats included. Sandbox: {sandbox}\n")
    app = open_app(repo, create=True, env=env)
    view = Terminal(os.isatty(1), app)
    run = start_tdd(
        app, Sent("start", by="human", channel="demo"), Terms((repo / "feature.md").read_text("utf-8"), agent=f"scripted:{script}")
    )
    try:
        done = push(app, run, view.see)
    finally:
        view.close()
    click.echo("")
    tell_result(done)
    note = ["git", "notes", "--ref=tdd-handoffs", "show", str(done["branch"])]
    click.echo("\nThe handoff note on the last commit, as `git notes --ref=tdd-handoffs show` prints it:\n")
    click.echo(subprocess.run(note, cwd=repo, env=dict(env), check=True, capture_output=True, text=True).stdout)
    app.journal.close()
    return 0 if done["outcome"] == "done" else 1


def kept_in(repo: Path, env: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """The sandbox where it is there; where it is not, the demo says so and does without."""
    try:
        return env, fit_for_push(open_app(repo, create=True, env=env))
    except DetentError as e:
        return {**env, "DETENT_SANDBOX_LEVEL": "none"}, f"none ({e.message})"
