"""The demo of `tdd`: an example project, built test by test by a scripted agent in push mode."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from detent.app import App, open_app
from detent.app.plain_text import plain
from detent.app.push import fit_for_push, push
from detent.app.starting import start_of
from detent.blocks.open_flags import ACCEPT, CAUSE, QUESTION, asking, line_of, question_of
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.interfaces.cli.live import LiveTerminal, tell_result
from detent.interfaces.demos.telling import ending, make_repo, para, width
from detent.kernel.model import Sent

EXAMPLE = "python-slugify"
SCRIPT = "agent.yaml"
SHOWED = (
    "Four tests, each seen failing before its code was written, each phase a commit with a note that says what was proved.",
    "Code written in the step for tests, and a test changed in the step for code: both were caught.",
    "A test that passed at once proves nothing new, so a person was asked before the branch was done.",
)


def example() -> Path:
    """The folder of the example: beside the source, or inside the installed package."""
    here = Path(__file__).parents[2]
    for folder in (here / "examples", here.parents[1] / "examples"):
        if (folder / EXAMPLE / SCRIPT).is_file():
            return folder / EXAMPLE
    raise DetentError("the examples are not installed", "take a clone of the project and run ./x demo tdd")


def show(folder: Path, env: Mapping[str, str]) -> int:
    """Copy the example into a throw-away repository, and drive the scripted agent through its feature."""
    source, repo = example(), folder / EXAMPLE
    shutil.copytree(source, repo, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    script = folder / SCRIPT
    (repo / SCRIPT).replace(script)
    make_repo(repo, env)
    env, sandbox = kept_in(repo, env)
    para(
        f"The example {EXAMPLE}, built test by test: a test that fails, the code that makes it pass, a clean-up. "
        f"Git and pytest are real, the agent is scripted, cheats included. Sandbox: {sandbox}"
    )
    click.echo("")
    app = open_app(repo, create=True, env=env)
    run = start_of("tdd", "run")(
        app, Sent("start", by="human", channel="demo"), Terms((repo / "feature.md").read_text("utf-8"), agent=f"scripted:{script}")
    )
    done = _push(app, run)
    if app.door.load(run).run.cause == CAUSE:
        _accept(app, run)
        done = _push(app, run)
    click.echo("")
    tell_result(done)
    note = ["git", "notes", "--ref=tdd-handoffs", "show", str(done["branch"])]
    click.echo("\nThe handoff note on the last commit, as `git notes --ref=tdd-handoffs show` prints it:\n")
    click.echo(subprocess.run(note, cwd=repo, env=dict(env), check=True, capture_output=True, text=True).stdout)
    app.journal.close()
    as_expected = done["outcome"] == "done"
    ending(SHOWED, as_expected)
    return 0 if as_expected else 1


def _push(app: App, run: str) -> dict[str, Any]:
    view = LiveTerminal(os.isatty(1), app, width())
    try:
        return push(app, run, view.see)
    finally:
        view.close()


def _accept(app: App, run: str) -> None:
    """The person accepts the flags of the branch: one test passed at once, since an earlier step had written its code."""
    flags = asking(app.door.load(run).run)
    click.echo(click.style(f"\n? {QUESTION}", fg="magenta", bold=True))
    para(question_of(flags), "  ")
    for flag in flags:
        para(plain(line_of(flag)), "  ")
    sent = Sent("answer", by="human", channel="demo", decision=QUESTION, value=ACCEPT, facts={"who": "the person"})
    verdict = app.door.submit(run, sent)
    click.echo(click.style("  the person: ", bold=True) + f"{ACCEPT}\n  {verdict.status} → {verdict.state}\n")


def kept_in(repo: Path, env: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """The environment for the demo, and the name of its sandbox; "none" where no sandbox is available."""
    try:
        return env, fit_for_push(open_app(repo, create=True, env=env))
    except DetentError as e:
        return {**env, "DETENT_SANDBOX_LEVEL": "none"}, f"none ({e.message})"
