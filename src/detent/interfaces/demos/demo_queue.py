"""The demo of the queue: six items, three slots, scripted agents; the commands are the real ones, as a person would type them."""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click

from detent.app import open_app
from detent.app.plain_text import plain
from detent.app.project import items_of
from detent.errors import DetentError
from detent.interfaces.demos.demo_queue_script import AGAIN, CONFIG, FILES, ITEMS
from detent.interfaces.demos.demo_tdd import kept_in
from detent.interfaces.demos.telling import ending, make_repo, para, wrapped

SHOWED = (
    "Six items, three at once, each in a workspace and on a branch of its own.",
    "One was blocked and says why, one failed its tests and was filed again, one conflicted with main and was done again.",
    "Only what passes on the merged tree is in main.",
)
BROKE = (2, 3)  # the environment, or a bug


def show(folder: Path, env: Mapping[str, str]) -> int:
    """Create the shop and its remote, file and queue the items, execute them, land what is done, and fix the one that conflicts."""
    begun, repo = time.monotonic(), folder / "shop"
    team, again = folder / "team.json", folder / "again.json"
    team.write_text(json.dumps([turn for item in ITEMS for turn in item.turns]), "utf-8")
    again.write_text(json.dumps(AGAIN), "utf-8")
    _make(folder, repo, CONFIG.format(again=again), env)
    env, sandbox = kept_in(repo, env)
    para(
        f"A small shop with a remote, and six work items for three agents at once. Git, tests and the queue are real, the agents are scripted. Sandbox: {sandbox}"
    )
    click.echo("")
    for item in ITEMS:
        typed(repo, env, "items", "add", item.title, "-p", str(item.priority), quiet=True)
    for n, item in enumerate(ITEMS, 1):
        if item.needs:
            typed(repo, env, "items", "dep", f"it-{n}", item.needs, quiet=True)
    typed(repo, env, "items", "list")
    typed(repo, env, "queue", "add", *(f"it-{n}" for n in range(1, len(ITEMS) + 1)), "--agent", f"scripted:{team}")
    typed(repo, env, "work", "--once")
    typed(repo, env, "land")
    typed(repo, env, "work", "--once")
    landed = typed(repo, env, "land")
    _summary(repo, env, time.monotonic() - begun)
    ending(SHOWED, landed == 0)
    return landed


def _make(folder: Path, repo: Path, config: str, env: Mapping[str, str]) -> None:
    for path, text in {**FILES, "detent.toml": config}.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, "utf-8")
    make_repo(repo, env)
    remote = str(folder / "remote.git")
    for args in (("init", "-q", "--bare", "-b", "main", remote), ("remote", "add", "origin", remote), ("push", "-q", "origin", "main")):
        subprocess.run(["git", *args], cwd=repo, env=dict(env), check=True, capture_output=True)


def typed(repo: Path, env: Mapping[str, str], *args: str, quiet: bool = False) -> int:
    """Run and show one command of a person. Exit codes of failed or waiting items are part of the story; a broken command ends the demo."""
    click.echo(click.style(wrapped(f"$ detent {shlex.join(args)}", "", "    ", " \\"), bold=True))
    sys.stdout.flush()
    argv = [sys.executable, "-m", "detent", *args]
    code = subprocess.run(argv, cwd=repo, env=dict(env), stdout=subprocess.DEVNULL if quiet else None).returncode
    if code in BROKE:
        raise DetentError(f"the demo ends here: `detent {args[0]}` exited with code {code}", "its output is above")
    if not quiet:
        click.echo("")
    return code


def _summary(repo: Path, env: Mapping[str, str], seconds: float) -> None:
    app = open_app(repo, env=env)
    ends = {head.run: head.state for head in app.journal.heads() if head.workflow == "execute"}
    log = ["git", "log", "--graph", "--oneline", "main"]
    click.echo("Main, as the machine merged it:")
    click.echo(subprocess.run(log, cwd=repo, env=dict(env), check=True, capture_output=True, text=True).stdout)
    for item in items_of(app).items():
        runs = sorted(run for run in ends if run.startswith(f"execute-{item.id}-"))
        ended = ", ".join(f"{run} {ends[run]}" for run in runs) or "filed by the machine, not queued"
        click.echo(wrapped(f"{item.id:<6} {item.status:<12} {plain(item.title)}  {ended}", "", " " * 20))
    click.echo(f"\nJournal: chain {app.journal.first_fault() or 'unbroken'}. Time: {seconds:.1f} s")
    app.journal.close()
