"""Shared by several commands: the app of this folder, calls to a run through the command line's channel, and submitting.

Knows nothing of flags; imports no click.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from detent.app import App, journal_at, open_app
from detent.errors import DetentError, RedStart
from detent.interfaces.cli.tell import channel, fold
from detent.kernel.model import Briefing, Sent, Value, Verdict

if TYPE_CHECKING:
    from detent.blocks.terms import Terms

MOST_SHOWN = 10
WORKFLOW_HELP = "Which workflow; else `pr` for a plan (a file, or no REQUEST), `tdd` for a request in words. `detent graph` lists them."


def here(create: bool = False) -> App:
    return open_app(Path.cwd(), create)


def begin_or_ask(app: App, workflow: str, terms: "Terms") -> str:
    """Create a run. If the baseline is red, ask a person at a terminal whether to accept that."""
    from detent.app.person_calls import start_run
    from detent.interfaces.cli.progress import watched

    try:
        with watched(f"detent: starting a run of {workflow}", app):
            return start_run(app, workflow, terms, channel())
    except RedStart as e:
        if channel() != "terminal":
            raise
        import click

        click.echo("These fail before the run begins:")
        for name in e.failing[:MOST_SHOWN]:
            click.echo(f"  {name}")
        if len(e.failing) > MOST_SHOWN:
            click.echo(f"  and {len(e.failing) - MOST_SHOWN} more")
        if not click.confirm("Accept them as known failures that count against no step?", default=False):
            raise
        with watched(f"detent: starting a run of {workflow}", app):
            return start_run(app, workflow, terms._replace(baseline=True), channel())


def chosen_workflow(request: str, workflow: str) -> str:
    """The named workflow, or the one for the request; the same for `start` and `run`."""
    from detent.app.starting import workflow_for
    from detent.config.sources import load
    from detent.git.place import find_place

    if workflow:
        return workflow
    root = find_place(Path.cwd()).root
    plan = load(lambda name: (root / name).read_text("utf-8", "replace") if (root / name).is_file() else None, os.environ).pr.plan
    return workflow_for(request, root, plan)


def say_where_it_lands(app: App, workflow: str, quiet: bool) -> None:
    """Tell a person how finished work will land, before the first step."""
    from detent.app.starting import landing_of

    if not quiet and (sentence := landing_of(app, workflow)):
        sys.stderr.write(f"{fold(sentence, 0, sys.stderr)}\n")


def next_briefing(run: str | None) -> Briefing:
    from detent.app.conversation import briefed

    return briefed(here(), run)


def say(run: str | None, sent: Sent) -> Verdict:
    from detent.app.conversation import say_to_run

    return say_to_run(here(), run, sent)


def person(verb: str, run: str | None, terms: Mapping[str, str] | None = None, /, **fields: str) -> Verdict:
    """Send something as a person."""
    from detent.app.person_calls import spoken

    return spoken(here(), channel(), verb, run, terms, **fields)


def may_decide(what: str) -> None:
    """Refuse `what`, which concerns the whole repository, unless a person calls. An unreadable journal may have open runs, so then only a
    terminal will do."""
    from detent.app.people import NOWHERE, WAY_ON, allowed, must_be_a_persons_shell
    from detent.errors import DetentError, NoJournal

    try:
        journal_at(Path.cwd()).close()
    except NoJournal:
        must_be_a_persons_shell(channel())
    except DetentError as e:
        must_be_a_persons_shell(channel())
        if channel() == NOWHERE:
            raise DetentError(f"only a person at a terminal may {what}: {e.message}", WAY_ON) from e
    else:
        allowed(here(), channel())


LARGEST = 5_000_000


Handed = str | dict[str, object] | list[object]


class SubmitFields(Value, frozen=True):
    """The fields of a submit, from flags or one JSON object on standard input."""

    summary: str
    test_command: str = ""
    expectation: str = ""
    analysis_decision: str = ""
    commit_hash: str = ""
    findings: Handed = ""  # JSON, or the path of a file
    reply: Handed = ""  # JSON, the path of a file, or the word ALREADY_SATISFIED or TEST_WRONG
    no_pr_left: bool = False
    attempt_id: str = ""
    run: str = ""


def submit(call: SubmitFields) -> Verdict:
    """Submit the work."""
    sent = Sent(
        "submit",
        channel="cli",
        attempt_id=call.attempt_id,
        summary=call.summary,
        test_command=call.test_command,
        expectation=call.expectation,
        analysis_decision=call.analysis_decision,
        commit_hash=call.commit_hash,
        findings=_text(call.findings, "findings"),
        reply=_text(call.reply, "reply"),
        no_pr_left=call.no_pr_left,
    )
    return say(call.run or None, sent)


def _text(value: Handed, what: str) -> str:
    """The text of a field that is JSON, a fixed word, or the path of a file."""
    if not isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return (
        value if value.lstrip()[:1] in ("", "{", "[", '"') or value.strip() in ("ALREADY_SATISFIED", "TEST_WRONG") else _file(value, what)
    )


def _file(path: str, what: str) -> str:
    try:
        file = Path(path)
        if file.stat().st_size > LARGEST:
            raise DetentError(f"{what}: {path} is larger than 5 MB", "hand in a shorter one")
        return file.read_text("utf-8", "replace") or "\n"
    except OSError as e:
        raise DetentError(f"{what}: {path} cannot be read: {e.strerror}", "name a file that exists") from e
