"""`detent work`: a worker of the queue, and a view of its slots."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from detent.app import App

if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.app.notifying import Notifier
    from detent.config import Settings
    from detent.queue.engine import DurableQueue
    from detent.queue.queue_protocol import WorkerEvent
    from detent.queue.worker import LocalWorker

AUTO = "auto"
KINDS = (AUTO, "systemd-user", "systemd", "launchd")
T = TypeVar("T")
ONCE_WAITS = 600.0  # seconds that `--once` waits for an outage


@click.command("work")
@click.option("--slots", type=click.IntRange(1), help="Executions at once on this worker; [queue] slots bounds all workers together.")
@click.option("--once", is_flag=True, help="End when nothing is left that could run.")
@click.option("--events", is_flag=True, help="Print JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end instead of text.")
@click.option(
    "--service",
    type=click.Choice(KINDS),
    is_flag=False,
    flag_value=AUTO,
    help="Print a unit that starts this worker and restarts it; start nothing.",
)
def command(slots: int | None, once: bool, events: bool, as_json: bool, service: str | None) -> int:
    """Execute what is queued, until Ctrl-C. Start it on as many machines as share the queue.

    \b
    detent work                 up to [queue] slots executions at once
    detent work --slots 1       one after the other
    detent work --once          work off the queue, then end; exit 1 if something failed
    detent work --service       print a unit for systemd or launchd, with how to install it

    Ctrl-C stops what runs here and gives it back: it continues from its last event, here or elsewhere. No process is left behind. A
    worker that is killed is noticed by the others within half a minute, on the same machine at once. What is away (remote, database,
    disk, tracker, model) is asked again automatically, and the work continues when it is back.
    """
    from detent.app.opened import queue_settings
    from detent.interfaces.cli.runner import here
    from detent.interfaces.cli.work_view import view_of

    app = patiently(lambda: here(create=True))
    settings = queue_settings(app.place, app.world.outer)
    limit, own = settings.queue.slots, slots or settings.queue.slots
    if own > limit:
        raise click.UsageError(f"--slots {own} is more than the whole queue runs at once; raise [queue] slots, which is {limit}")
    if service:
        return _print_unit(app, service, slots)
    queue = patiently(lambda: _opened(app))
    view = view_of(queue, own, as_json, events)
    worker, notifier = _worker(app, queue, settings, own, view.put)
    patiently(lambda: worker.start(limit))
    try:
        view.show(lambda: once and _is_over(queue, worker))
        code = _result(queue, view.ends, as_json or events)
    except KeyboardInterrupt:
        code = 130
    finally:
        view.close()
        worker.leave()
        notifier.close()
    if code == 130 and not (as_json or events):
        click.echo("Stopped. The next worker continues what ran here.", err=True)
    return code


def _print_unit(app: App, kind: str, slots: int | None) -> int:
    from detent.interfaces.cli.work_unit import unit_of

    click.echo(unit_of(kind, app.place.root, app.world.outer, slots), nl=False)
    return 0


def _worker(
    app: App, queue: "DurableQueue", settings: "Settings", slots: int, see: "Callable[[WorkerEvent], None]"
) -> "tuple[LocalWorker, Notifier]":
    """A worker that also polls pull requests, enforces the queue's budget and notifies people. Checks the budget before it starts."""
    from detent.app.notifying import Notifier, with_notices
    from detent.app.pull_words import listening
    from detent.app.queue_budget import within_budget
    from detent.queue.queue_protocol import Pace
    from detent.queue.worker import LocalWorker

    place, env = app.place, app.world.outer
    task, look = within_budget(place, env, queue, listening(place, env, settings, queue))
    look()
    notifier = Notifier(place, env, queue)
    return LocalWorker(queue, with_notices(task, notifier), slots, Pace(), see, begin_again), notifier


def patiently(work: Callable[[], T]) -> T:
    """Do something, retrying while the database is unavailable or the disk is full."""
    from detent.app.away import ParkReason, parked_by
    from detent.queue.database import Unreachable
    from detent.queue.recovery import RECOVERY

    tries = 0
    while True:
        try:
            return work()
        except Exception as e:
            away = parked_by(e) or (ParkReason("database", e.message) if isinstance(e, Unreachable) else None)
            if away is None or away.cause not in ("database", "disk"):
                raise
            tries += 1
            pause = RECOVERY[away.cause].wait(tries)
            click.echo(f"detent: {away.message}; asking again in {pause:.0f} s", err=True)
        time.sleep(pause)


def begin_again(why: str) -> None:
    """Replace this process by a fresh worker, after its leases may have expired because the database was unavailable for too long.
    Its programs are stopped; the new one waits for the database."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"detent: {why}. Its programs are stopped; it starts again once the database answers\n".encode())
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _opened(app: App) -> "DurableQueue":
    """The queue, after a sweep of executions that other machines ended."""
    from detent.app.queueing import open_queue
    from detent.app.sweep import sweep

    queue = open_queue(app.place, app.world.outer)
    sweep(app)
    return queue


def _is_idle(queue: "DurableQueue", worker: "LocalWorker") -> bool:
    """Whether nothing runs and nothing can start: no execution is ready, or the queue is paused or held by an outage."""
    counts, now = queue.counts(), queue.board.now()
    held = bool(queue.paused().reason) or any(now - each.since > ONCE_WAITS for each in queue.away())
    return not worker.running and not counts["running"] and (not counts["ready"] or held)


def _is_over(queue: "DurableQueue", worker: "LocalWorker") -> bool:
    """Whether the worker is still idle after a `tend`, which may make executions ready."""
    if not _is_idle(queue, worker):
        return False
    worker.task.tend()
    return _is_idle(queue, worker)


def _result(queue: "DurableQueue", ends: Counter[str], as_json: bool) -> int:
    counts, pause = queue.counts(), queue.paused().reason
    row: dict[str, Any] = {state: ends[state] for state in ("done", "failed", "blocked", "cancelled")}
    row |= {"left": counts["ready"] + counts["waiting"], "paused": pause or None}
    if as_json:
        sys.stdout.write(json.dumps(row) + "\n")
    else:
        summary = ", ".join(f"{n} {state}" for state, n in row.items() if isinstance(n, int) and n) or "nothing to do"
        click.echo(f"Finished: {summary}." + (f" The queue is paused: {pause}" if pause else ""))
        if row["blocked"] or row["left"]:
            click.echo("A person is needed; `detent queue list --all` says for what.")
    return 1 if row["failed"] or pause else 10 if row["blocked"] or row["left"] else 0
