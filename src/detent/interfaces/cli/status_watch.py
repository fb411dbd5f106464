"""`detent status --watch`: follows a run in the terminal: its plan, newest events, and its agent's output. Changes nothing."""

import sys
import time
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING

import click

from detent.app import App
from detent.app.driver_lock import driver_of
from detent.app.live_log import MARK, live_file, read_from
from detent.app.outline import plan_of, title_of
from detent.app.plain_text import plain, typed
from detent.app.questions import actor_now
from detent.app.run_rows import newest
from detent.app.tally import UsageTally, add, budget_of
from detent.blocks.common import is_driven
from detent.interfaces.cli.tell import COLOURS, local_time

if TYPE_CHECKING:
    from rich.console import RenderableType

EVERY = 0.4  # seconds between polls
EVENTS, AGENT_LINES, PARTS = 10, 5, 12  # lines shown of each kind
NAMES = {31: "red", 32: "green", 33: "yellow", 35: "magenta"}
SIGNS = {"done": "[green]✓[/]", "now": "[bold blue]›[/]", "blocked": "[red]![/]", "open": "·"}


def watch(app: App, run: str) -> int:
    """Follow a run until it ends or waits for a person; at a terminal in place, elsewhere a line for each event."""
    return _in_place(app, run) if sys.stdout.isatty() else _lines(app, run)


def _numbers(app: App, run: str) -> Iterator[int]:
    """The number of the newest event at each poll, until only a person can continue or the run has ended."""
    while True:
        yield app.journal.heads(run)[0].seq
        if actor_now(app, app.door.acting(run)) in ("human", "none"):
            return
        time.sleep(EVERY)


def _alone(app: App, run: str) -> str:
    """A sentence if a driven run has no driver; else empty."""
    head = app.journal.heads(run)[0]
    top = head.parent or run
    if head.ended or not is_driven(app.door.load(run).run.data) or driver_of(app, top):
        return ""
    return f"No process drives it. Continue: detent resume --run {top}"


def _lines(app: App, run: str) -> int:
    seen, alone = 0, ""
    for seq in _numbers(app, run):
        for e in newest(app, run, seq - seen) if seq > seen else ():
            text = typed("; ".join(e.verdict.reasons)) or e.sent.summary or e.sent.note
            click.echo(
                f"{e.run.seq:>4}  {local_time(e.at)[11:]}  {e.on:<16} {e.status:<14} → {e.run.state}" + (f"  {plain(text)}" if text else "")
            )
        seen, before, alone = seq, alone, _alone(app, run)
        if alone and alone != before and seq == app.journal.heads(run)[0].seq:
            click.echo(f"      {alone}")
    return 0


def _in_place(app: App, run: str) -> int:
    from rich.live import Live

    tally = UsageTally()
    with Live(_drawn(app, tally, run), refresh_per_second=4) as view:
        for _ in _numbers(app, run):
            view.update(_drawn(app, tally, run))
        view.update(_drawn(app, tally, run))
    return 0


def _spent(app: App, tally: UsageTally, run: str) -> str:
    """The cost of the run so far, with its limits."""
    family = (*app.journal.heads(run), *app.journal.children(run))
    spent = reduce(add, (tally.of(app, h.run, h.seq).whole for h in family))
    limits = {limit.name: limit for limit in budget_of(app, tally, app.door.load(run).run, family)}
    usd = f"${spent.usage.usd:.2f}" + (f" of ${limits['usd'].most:.2f}" if "usd" in limits else "")
    rest = [f"{limit.used:g} of {limit.most:g} {name}" for name, limit in limits.items() if name != "usd"]
    return " · ".join([usd, f"{spent.usage.tokens} tokens", f"{spent.turns} turns", f"{spent.seconds:.0f} s", *rest])


def _drawn(app: App, tally: UsageTally, run: str) -> "RenderableType":
    from rich.console import Group
    from rich.markup import escape
    from rich.panel import Panel
    from rich.text import Text

    now, acting = app.door.load(run).run, app.door.acting(run)
    step = app.door.tables[acting.workflow].step(acting)
    parts: list[RenderableType] = []
    if step:
        parts.append(Text(plain(f"{step.type}: {step.description}"), style="bold"))
    parts += [Text.from_markup(f"{SIGNS[p.status]} {escape(plain(p.title))}") for p in plan_of(now)[:PARTS]]
    parts.append(Text(_spent(app, tally, run), style="dim"))
    if alone := _alone(app, run):
        parts.append(Text(alone, style="yellow"))
    parts.append(_events(app, run))
    parts += [Text(f"│ {line}", style="dim", no_wrap=True, overflow="ellipsis") for line in _agent_lines(app, run)]
    where = f"{acting.state}" + (f" ({acting.cause})" if acting.cause else "")
    return Panel(
        Group(*parts), title=escape(plain(title_of(now))), subtitle=escape(f"{run}  {where}"), title_align="left", subtitle_align="left"
    )


def _events(app: App, run: str) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for e in newest(app, run, EVENTS):
        text = typed("; ".join(e.verdict.reasons)) or e.sent.summary or e.sent.note
        tone = NAMES.get(COLOURS.get(e.status, 33), "")
        words = (
            Text(str(e.run.seq), style="dim"),
            Text(local_time(e.at)[11:], style="dim"),
            Text(e.on),
            Text(e.status, style=tone),
            Text(f"→ {e.run.state}"),
        )
        table.add_row(*words, Text(plain(text), no_wrap=True, overflow="ellipsis"))
    return table


def _agent_lines(app: App, run: str) -> list[str]:
    """The last lines of the live log that come from an agent."""
    lines = read_from(live_file(app, run), -4000).text.splitlines()
    return [plain(line) for line in lines if not line.startswith(MARK)][-AGENT_LINES:]
