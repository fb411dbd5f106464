"""The demo of `pr`: a plan of two pull requests, a scripted agent that cheats, and the verdicts."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from detent.app import App, open_app
from detent.app.starting import start_of
from detent.blocks.terms import Terms
from detent.gates.review_gates import read_findings
from detent.interfaces.demos.demo_script import FILES, REVIEWER, TURNS, DemoTurn
from detent.interfaces.demos.telling import answered, does, ending, make_repo, para
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Sent, Verdict

SHOWED = (
    "A plan of two pull requests, each branched, reviewed, squashed and merged into main, every step only after its own evidence.",
    "`true` as test command, and a deleted test: neither was accepted. An honest mistake was found, and fixed.",
    "The reviewer's finding came back to the agent before anything was merged.",
)


def show(folder: Path, env: dict[str, str]) -> int:
    begun, repo = time.monotonic(), folder / "calculator"
    _make(repo, env, folder)
    app = open_app(repo, create=True, env=env)
    para("A throw-away repository with a plan of two pull requests. Git, pytest and the reviewer are real, the agent is scripted.")
    para("Detent merges each finished pull request into main, here in this throw-away repository.")
    run = start_of("pr", "start")(app, Sent("start", by="human", channel="demo"), Terms())
    tally: dict[str, int] = {}
    for n, (turn, step, state, verdict) in enumerate(_play(app, run, repo, env), 1):
        tally[verdict.status] = tally.get(verdict.status, 0) + 1
        does(n, f"The agent {turn.says}. ({state}{f', {step}' if step else ''})")
        answered(verdict.status, verdict.reasons[0] if verdict.reasons else "")
    end = app.door.next(run)
    _summary(app, run, repo, env, tally, time.monotonic() - begun)
    app.journal.close()
    return 0 if end.state == "DONE" else 1


def _make(repo: Path, env: dict[str, str], folder: Path) -> None:
    reviewer = folder / "reviewer.py"
    reviewer.write_text(REVIEWER, "utf-8")
    config = f"[pr]\nplan = 'docs/plan.md'\n\n[review]\nagent = 'command:{sys.executable} {reviewer}'\n\n[git]\nremote = ''\n"
    for path, text in {**FILES, "detent.toml": config}.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, "utf-8")
    make_repo(repo, env)


def _play(app: App, run: str, repo: Path, env: dict[str, str]) -> Iterator[tuple[DemoTurn, str, str, Verdict]]:
    for turn in TURNS:
        seen = app.door.load(run).run.seq
        briefing = app.door.next(run)
        _machine(app, run, seen)
        for path, text in turn.writes.items():
            if text is None:
                (repo / path).unlink()
            else:
                (repo / path).write_text(text, "utf-8")
        for command in turn.git:
            subprocess.run(["git", *command], cwd=repo, env=env, check=True, capture_output=True)
        sent = turn.sent
        if turn.marks:
            head = subprocess.run(
                ["git", "rev-parse", "--short=10", "HEAD"], cwd=repo, env=env, check=True, capture_output=True, text=True
            ).stdout
            plan = repo / "docs/plan.md"
            plan.write_text(plan.read_text("utf-8").replace(f"- {turn.marks}\n", f"- {turn.marks} [DONE] {head.strip()}\n"), "utf-8")
        yield turn, briefing.step.type if briefing.step else "", briefing.state, app.door.submit(run, sent)


def _machine(app: App, run: str, seen: int) -> None:
    """Print the machine's own moves before the agent's turn."""
    for entry in app.journal.events(run, seen):
        event = from_entry(app.door.tables["pr"], entry)
        findings = "; ".join(f.description for f in read_findings(event.sent.findings)) if event.sent.findings else ""
        para(f"the machine: {event.on}" + (f" ({findings})" if findings else ""), "   ", dim=True)


def _summary(app: App, run: str, repo: Path, env: dict[str, str], tally: dict[str, int], seconds: float) -> None:
    log = subprocess.run(
        ["git", "log", "--graph", "--oneline", "main"], cwd=repo, env=env, check=True, capture_output=True, text=True
    ).stdout
    events = app.journal.events(run, limit=10_000)
    click.echo(f"\nMain, as the machine merged it:\n{log}")
    rows = [
        ("end", app.door.load(run).run.state),
        ("events in the journal", f"{len(events)}, chain {app.journal.first_fault() or 'unbroken'}"),
        *((f"verdicts {status}", str(count)) for status, count in sorted(tally.items())),
        ("system moves", str(sum(e.on in ("branched", "none-left", "approved", "findings", "to-merge", "merged") for e in events))),
        ("time", f"{seconds:.1f} s"),
    ]
    for name, value in rows:
        click.echo(f"{name:<26} {value}")
    ending(SHOWED)
