"""What several commands share: the repository of this folder, and speaking to a run of it through the command line's channel."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from detent.app import App, open_app
from detent.errors import RedStart
from detent.interfaces.cli.tell import channel
from detent.kernel.model import Briefing, Sent, Verdict

if TYPE_CHECKING:
    from detent.blocks.terms import Terms

MOST_SHOWN = 10


def here(create: bool = False) -> App:
    return open_app(Path.cwd(), create)


def begin_or_ask(app: App, workflow: str, terms: "Terms") -> str:
    """Create a run. If the project is red before it begins, a person at a terminal is asked whether to accept that."""
    from detent.app.conversation import begin

    try:
        return begin(app, workflow, terms, channel())
    except RedStart as e:
        if channel() != "terminal":
            raise
        import click

        click.echo("These fail before the run begins:")
        for name in e.failing[:MOST_SHOWN]:
            click.echo(f"  {name}")
        if len(e.failing) > MOST_SHOWN:
            click.echo(f"  and {len(e.failing) - MOST_SHOWN} more")
        if not click.confirm("Accept them as known failures, held against no step?", default=False):
            raise
        return begin(app, workflow, terms._replace(baseline=True), channel())


def next_briefing(run: str | None) -> Briefing:
    from detent.app.conversation import briefed

    return briefed(here(create=True), run, channel())


def say(run: str | None, sent: Sent) -> Verdict:
    from detent.app.conversation import say_to_run

    return say_to_run(here(), run, sent)


def person(verb: str, run: str | None, terms: Mapping[str, str] | None = None, /, **fields: str) -> Verdict:
    """Say something as a person."""
    from detent.app.conversation import spoken

    return spoken(here(), channel(), verb, run, terms, **fields)
