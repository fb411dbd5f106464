"""`detent report`: what happened since a time, what waits for whom, and the cost."""

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

if TYPE_CHECKING:
    from detent.app import App
    from detent.app.report_values import Report

DEFAULT = "24h"


@click.command("report")
@click.option("--since", default=DEFAULT, metavar="WHEN", show_default=True, help="8h, 2d, 22:00, yesterday, 2026-03-01T22:00.")
@click.option("--markdown", is_flag=True, help="Markdown instead of text.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.option("--fetch", is_flag=True, help="Fetch main from the remote first, so that what was merged there counts as landed.")
@click.option("--send", is_flag=True, help="Also send it as [notify] says; exit 1 if that fails.")
def command(since: str, markdown: bool, as_json: bool, fetch: bool, send: bool) -> int:
    """Report what landed, what waits for whom and why, what failed, and what it cost.

    \b
    detent report                   the last 24 hours
    detent report --since 22:00     since last night at ten
    detent report --markdown        for a pull request, a chat or a file
    detent report --send            try out [notify]

    The numbers come from the journal, the queue and git, as this clone knows them.
    """
    if markdown and as_json:
        raise click.UsageError("--markdown and --json do not go together")
    from detent.app.times import time_of
    from detent.interfaces.cli.report_text import as_markdown, as_text
    from detent.interfaces.cli.runner import here

    app = here(create=True)
    if fetch and (fault := _fetched(app)):
        click.echo(f"Main could not be fetched, so this is as it was known here: {fault}", err=True)
    found = _made(app, time_of(since, datetime.now(UTC).astimezone()))
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        click.echo((as_markdown if markdown else as_text)(found), nl=False)
    return _sent(app, found) if send else 0


def _fetched(app: "App") -> str:
    from detent.app.project import project_settings
    from detent.app.report_main import ask_remote

    return ask_remote(app.world.git, project_settings(app.world.git, app.world.outer)[0])


def _made(app: "App", since: datetime) -> "Report":
    from detent.app.queueing import has_queue, open_queue, reconcile
    from detent.app.reporting import report_of

    until = datetime.now(UTC)
    if not has_queue(app.place, app.world.outer):
        return report_of(app, (), None, since, until)
    from detent.app.notifying import report_since

    with closing(open_queue(app.place, app.world.outer)) as queue:
        reconcile(app, queue)
        return report_since(app, queue, since)


def _sent(app: "App", found: "Report") -> int:
    from detent.app.notifying import report_message, send_all
    from detent.app.project import project_settings
    from detent.errors import DetentError

    notify = project_settings(app.world.git, app.world.outer)[0].notify
    if not notify.is_set:
        raise DetentError(
            "no way to notify people is configured",
            'set one in detent.toml on main: [notify] command = "…", webhook = "…" or desktop = true',
        )
    faults = send_all(report_message(app, found), notify, app.place, app.world.outer)
    click.echo("\n".join(f"Not sent by {fault}" for fault in faults) or "Sent.", err=True)
    return 1 if faults else 0
