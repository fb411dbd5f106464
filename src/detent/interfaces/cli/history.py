"""`detent history`: the events of a run."""

import json
import shutil
import sys
import textwrap

import click

from detent.app import App
from detent.app.plain_text import plain, typed
from detent.app.run_rows import about_event, cycle_fields, history_of, left_behind, newest
from detent.door import AnyEvent
from detent.interfaces.cli.tell import card_lines, flag_lines, fold, local_time

WIDE = 110  # terminal width from which an event is printed on one line


@click.command("history")
@click.option("-n", "count", type=click.IntRange(1), default=30, show_default=True, help="How many events, the newest ones.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(count: int, run: str | None, as_json: bool) -> int:
    """Show the newest events: who said what, what the machine found, where it led. Refusals and errors too.

    At the end: what the branch of the run proves, once it was about to land.
    """
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    if as_json:
        click.echo(json.dumps(history_of(app, chosen, count)))
        return 0
    from detent.git.commits import commits_by_event

    day, last, commits, about, left = "", "", commits_by_event(app.world.git, chosen), "", left_behind(app, chosen)
    rows = newest(app, chosen, count)
    if earlier := (rows[0].run.seq - 1 if rows else 0):
        click.echo(f"({earlier} earlier event{'' if earlier == 1 else 's'}: detent history -n {rows[-1].run.seq})")
    for e in rows:
        asked = e.sent.facts.get("asked", last)
        day = _show(e, day)
        now = _about(e)
        made = f"commit {commits[e.run.seq][:10]}" if e.run.seq in commits else ""
        if found := "  ".join(filter(None, (made, now if now != about or made else ""))):
            click.echo(fold(f"{'':6}{plain(found)}") if _narrow() else f"{'':38}{plain(found)}")
        about = now
        removed = [f"what it wrote was removed; it is kept under {left[e.run.seq]}"] if e.run.seq in left else []
        who = [f"asked: {asked}"] if asked != last else []
        for line in (*who, *map(typed, e.verdict.reasons), *removed, *flag_lines(e.found.flagged, hunks=False)):
            click.echo(fold(f"{'':6}{plain(line)}") if _narrow() else f"{'':38}{plain(line)}")
        last = asked
    for line in (*_children(app, chosen), *card_lines(app.place.common_dir, chosen, app.door.load(chosen).run.accepted)):
        click.echo(fold(line))
    return 0


def _text(e: AnyEvent) -> str:
    """The text of an event: an agent's summary, a person's answer or request, and the task."""
    return plain(" ".join(f"{about_event(e)} {e.sent.summary or e.sent.note or e.sent.report[:200]}".split()))


def _show(e: AnyEvent, day: str) -> str:
    """Print an event on one line; on a narrow terminal with a line for each new day, and the text below. Returns the day."""
    text, what = _text(e), f"{e.sent.by:<6}  {e.on:<16} {e.status:<14} → {e.run.state}"
    width, at = shutil.get_terminal_size().columns, local_time(e.at)
    today, clock = at.split()
    if not _narrow():
        click.echo(f"{e.run.seq:>4}  {at}  {what}" + (f"  {text}" if text else ""))
        return day
    if today != day:
        click.echo(f"{'':6}{today}")
    click.echo(f"{e.run.seq:>4}  {clock}  {what}")
    for line in textwrap.wrap(text, width - 7, break_long_words=False, break_on_hyphens=False):
        click.echo(f"{'':6}{line}")
    return today


def _narrow() -> bool:
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE


def _children(app: App, run: str) -> list[str]:
    """A line on where the events of a run's tasks are."""
    names = [head.run for head in app.journal.children(run)]
    return (
        [f"Its tasks have histories of their own: detent history --run {names[-1]} ({len(names)} in all, detent runs --all)"]
        if names
        else []
    )


def _about(e: AnyEvent) -> str:
    """The cycle and the test or step of an event."""
    found = cycle_fields(e)
    cycle = f"cycle {found['cycle']}" if found["cycle"] else ""
    return ": ".join(str(part) for part in (cycle, found["test"]) if part)
