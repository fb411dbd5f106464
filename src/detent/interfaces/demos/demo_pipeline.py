"""The demo of `pipeline`: a scripted team takes a feature of a small web service from a request to a release; a scripted person decides."""

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from detent.app import App, open_app
from detent.app.plain_text import plain
from detent.app.push import push
from detent.app.questions import asked_of, who_asks
from detent.app.starting import start_of
from detent.blocks.terms import Terms
from detent.door import AnyEvent
from detent.interfaces.cli.live import COLOURS, LiveTerminal
from detent.interfaces.demos.demo_pipeline_script import ANSWERS, FILES, REQUEST, DemoAnswer, team
from detent.interfaces.demos.demo_tdd import kept_in
from detent.interfaces.demos.telling import ending, make_repo, para, width, wrapped
from detent.kernel.model import Sent

SHOWED = (
    "Every document and every task was judged before the next role began; what was found wrong came back as a repair.",
    "A person was asked where only a person can decide, and the answers are in the journal.",
    "The acceptance checks ran on the very tree that was merged.",
)
REPAIRS = ("FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY", "FIX_BUILD")


def show(folder: Path, env: Mapping[str, str]) -> int:
    """Create the service, drive the scripted team, and answer its questions as the scripted person."""
    repo, script, begun = folder / "service", folder / "team.json", time.monotonic()
    for path, text in FILES.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, "utf-8")
    make_repo(repo, env)
    env, sandbox = kept_in(repo, env)
    app = open_app(repo, create=True, env=env)
    run = start_of("pipeline", "run")(app, Sent("start", by="human", channel="demo"), Terms(REQUEST, agent=f"scripted:{script}"))
    script.write_text(json.dumps(team(app.door.load(run).run.data.session)), "utf-8")
    para(f"Request: {REQUEST}")
    para(
        "A team of agents takes it from a specification to a release; a person decides at the gates. "
        f"Git, tests and checks are real, team and person are scripted. Sandbox: {sandbox}"
    )
    click.echo("")
    done = _play(app, run)
    _summary(app, run, env, done, time.monotonic() - begun)
    app.journal.close()
    return 0 if done["outcome"] == "done" else 1


def _play(app: App, run: str) -> dict[str, Any]:
    """Drive to the end, answering each question on the way."""
    answers = iter(ANSWERS)
    while True:
        view = LiveTerminal(os.isatty(1), app, width())
        try:
            done = push(app, run, view.see)
        finally:
            view.close()
        asked = [d for d in asked_of(app, run) if d["status"] == "pending"]
        given = next(answers, None) if asked else None
        if given is None:
            return done
        _answer(app, run, asked[0], given)


def _answer(app: App, run: str, asked: dict[str, object], given: DemoAnswer) -> None:
    id, words = str(asked["decision_id"]), plain(str(asked["question"])).splitlines()
    click.echo(click.style(f"\n? {id}", fg="magenta", bold=True))
    for line in words:
        para(line, "  ")
    answer = given.value + (f" --to {given.to}" if given.to else "") + (f" --note '{given.note}'" if given.note else "")
    click.echo(click.style("  the person: ", bold=True) + answer)
    sent = Sent(
        "answer", by="human", channel="demo", decision=id, value=given.value, note=given.note, to=given.to, facts={"who": "the person"}
    )
    verdict = app.door.submit(who_asks(app, run, id), sent)
    status = click.style(verdict.status, fg=COLOURS.get(verdict.status, "yellow"), bold=True)
    click.echo(f"  {status} → {verdict.state}\n")


def _summary(app: App, run: str, env: Mapping[str, str], done: dict[str, Any], seconds: float) -> None:
    root = app.door.load(run).run
    family = app.worlds.runs.family(run)
    events = [e for each in family for e in app.worlds.runs.history(each.id)]
    repairs = [f"{name} ({sum(e.run.state == name != e.was for e in events)})" for name in REPAIRS if any(e.was == name for e in events)]
    proofs = [f"{p.check.removeprefix('cmd: ')} {p.outcome}" for p in root.data.proofs]
    log = ["git", "log", "--graph", "--oneline", "main"]
    click.echo("\nMain, as the machine merged it:")
    click.echo(subprocess.run(log, cwd=app.place.root, env=dict(env), check=True, capture_output=True, text=True).stdout)
    rows = [
        ("end", f"{done['state']}, tree {root.data.good_tree[:12]}"),
        ("acceptance, at that tree", "; ".join(proofs)),
        *((str(d["decision_id"]), f"{d['answer']}" + (f" ({d['note']})" if d["note"] else "")) for d in asked_of(app, run)),
        ("changes requested", str(sum(e.on.startswith("correct-") for e in events))),
        ("repairs", ", ".join(repairs) or "none"),
        ("turns by role", ", ".join(f"{role} {turns}" for role, turns in _turns(app, events).items())),
        ("events in the journal", f"{len(events)}, chain {app.journal.first_fault() or 'unbroken'}"),
        ("report", f"{root.data.session}/report.md"),
        ("time", f"{seconds:.1f} s"),
    ]
    for name, value in rows:
        click.echo(wrapped(f"{name:<26} {plain(value)}", "", " " * 27))
    click.echo("\nThe report, the documents and the repository stay there with --keep.")
    ending(SHOWED)


def _turns(app: App, events: Iterable[AnyEvent]) -> dict[str, int]:
    """The number of turns of each role."""
    found = Counter[str]()
    for event in events:
        state = app.door.tables[event.run.workflow].states.get(event.was)
        if state is not None and state.role and (event.sent.verb == "submit" or "usage" in event.sent.facts):
            found[state.role] += int(event.sent.facts.get("turns", "1"))
    return dict(found)
