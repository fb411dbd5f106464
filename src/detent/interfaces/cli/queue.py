"""`detent queue`: which items are executed: add, list, show, logs, cancel, retry, pause and resume."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from detent.app.plain_text import plain
from detent.app.run_rows import as_row, when
from detent.interfaces.cli.queue_text import execution_line, is_abandoned, lines, outage_lines
from detent.interfaces.cli.tell import channel
from detent.queue.recovery import RECOVERY

if TYPE_CHECKING:
    from detent.app import App
    from detent.app.estimating import Estimate
    from detent.queue.engine import DurableQueue

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
EVERY = 1.0  # seconds between polls of growing output


@contextmanager
def opened_queue() -> "Iterator[tuple[App, DurableQueue]]":
    from detent.app.queueing import open_queue
    from detent.interfaces.cli.runner import here

    app = here(create=True)
    queue = open_queue(app.place, app.world.outer)
    try:
        yield app, queue
    finally:
        queue.close()


def may(app: "App", *runs: str) -> None:
    """Refuse a decision of a person through this channel if the configuration of a run, or else the current one, forbids it."""
    from detent.app.people import allowed

    for run in runs or (None,):
        allowed(app, channel(), run)


def sent_by_person(verb: str, note: str = "") -> Any:
    """A call of a person, as a Sent value."""
    from detent.app.policy import user
    from detent.kernel.model import Sent

    return Sent(verb, by="human", channel=channel(), note=note, facts={"who": user()})


@click.group("queue")
def command() -> None:
    """Choose which work items to execute, and see how they are doing.

    `detent work` executes them, on this machine or on several. Each execution has a branch, a workspace and an agent of its own, and a
    run in the journal: its id here is the id of that run.

    \b
    detent queue add it-1 it-2        queue two items; one that needs the other waits for it
    detent queue add --ready          queue every open item that waits for nothing
    detent queue list                 what runs, what comes next, what waits for what
    detent queue logs it-1 --follow   what its agent says, as it says it
    detent work                       execute what is queued
    """


@command.command("add")
@click.argument("items", nargs=-1, metavar="ITEM…")
@click.option("--ready", is_flag=True, help="Every open item that waits for nothing and is not queued yet.")
@click.option("-p", "--priority", type=click.IntRange(0, 4), help="0 comes first (default: the item's own).")
@click.option("--agent", default="", metavar="SPEC", help="The agent (default: as [agents] says); see `detent run --help`.")
@click.option("--context", default="", metavar="TEXT", help="What the agents should know besides the item.")
@click.option("--again", is_flag=True, help="Run items even if they failed or were blocked before.")
@click.option(
    "--yes-to", multiple=True, metavar="POLICY", help="Answer in advance: flags=KIND,… accepts these kinds of flags before a push."
)
@AS_JSON
def add(
    items: tuple[str, ...], ready: bool, priority: int | None, agent: str, context: str, again: bool, yes_to: tuple[str, ...], as_json: bool
) -> None:
    """Queue items. Adding one that is queued already changes nothing.

    An item that depends on others waits for them without taking a slot; those must be closed, queued, or added with it.
    """
    if not items and not ready:
        raise click.UsageError("name the items, or use --ready; `detent items list` shows them")
    from detent.app.policy import flags_alone, read_policies
    from detent.app.push import recorded_agent
    from detent.app.queueing import QueueRequest
    from detent.app.queueing import add as add_items
    from detent.blocks.terms import Terms
    from detent.interfaces.cli.report_text import estimated

    policies = read_policies(yes_to)
    flags_alone(policies, "a queue")
    with opened_queue() as (app, queue):
        if again or policies:
            may(app)
        terms = Terms("", agent=recorded_agent(agent), context=context, again=again, policies=policies)
        added = add_items(app, queue, items, ready, QueueRequest(terms, sent_by_person("start"), priority))
        expected = _estimates(app, [e.item for e in added])
        if as_json:
            click.echo(
                json.dumps({"executions": [{**as_row(e), "estimate": x and x._asdict()} for e, x in zip(added, expected, strict=True)]})
            )
        elif added:
            click.echo("\n".join([*(execution_line(e) for e in added), f"Estimate: {estimated(expected)}"]))
        else:
            click.echo("Nothing is ready. `detent items list` shows what waits for what.")


def _estimates(app: "App", ids: "list[str]") -> "list[Estimate | None]":
    """The estimate of each item; None for each if the tracker does not answer."""
    from detent.app.estimating import estimates
    from detent.app.project import items_of
    from detent.errors import DetentError

    if not ids:
        return []
    try:
        return estimates(app, tracker := items_of(app), tracker.items(*ids))
    except DetentError:
        return [None] * len(ids)


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what has ended, the newest first.")
@click.option("-n", "limit", type=click.IntRange(1), default=200, show_default=True, help="The most to show.")
@click.option("--watch", is_flag=True, help="Stay and show the slots of all workers, on all machines, until nothing is left.")
@AS_JSON
def list_(everything: bool, limit: int, watch: bool, as_json: bool) -> None:
    """Show what runs, what comes next, and what waits; with the workers, and why nothing starts if that is the case."""
    if watch and (as_json or everything):
        raise click.UsageError("--watch shows what runs and comes next, as text; leave --json and --all away")
    from detent.app.queueing import reconcile
    from detent.queue.queue_protocol import LIVE

    with opened_queue() as (app, queue):
        reconcile(app, queue)
        if watch:
            from detent.interfaces.cli.queue_text import watch as stay

            stay(queue)
            return
        found, workers, pause, away = queue.all(() if everything else LIVE, limit + 1), queue.workers(), queue.paused(), queue.away()
        more, found, alive = len(found) > limit, found[:limit], {w.id for w in workers if w.left >= 0}
        if as_json:
            rows = [{**as_row(e), "worker_gone": is_abandoned(e, alive)} for e in found]
            held = {"paused": pause.reason or None, "paused_until": when(pause.until) if pause.until else None}
            status = {**held, "away": [each._asdict() for each in away], "more": more}
            click.echo(json.dumps({"executions": rows, "workers": [w._asdict() for w in workers], **status}))
            return
        if pause.reason:
            click.echo(f"PAUSED by {pause.by or 'a person'}: {plain(pause.reason)}\n  Continue now: detent queue resume")
        for each in away:
            click.echo(outage_lines(each))
        click.echo("\n".join(execution_line(e, alive) for e in found) or "Nothing is queued. Add something: detent queue add ITEM")
        if more:
            click.echo(
                f"… and more: this shows the first {limit}. All of them: detent queue list -n 100000{' --all' if everything else ''}"
            )
        if found and not alive:
            click.echo("No worker is running. Start one: detent work")


@command.command("show")
@click.argument("id")
@AS_JSON
def show(id: str, as_json: bool) -> None:
    """Show one execution, by its id or by its item."""
    with opened_queue() as (app, queue):
        found = queue.one(id)
        heads = app.journal.heads(found.id)
        row = {**as_row(found), "run_state": heads[0].state if heads else None}
        if as_json:
            click.echo(json.dumps(row))
            return
        click.echo(execution_line(found, {w.id for w in queue.workers() if w.left >= 0}))
        click.echo(f"  attempt {found.attempt}, started {found.starts} times, on {found.worker or 'no worker'}")
        click.echo(f"  run {found.id}: {row['run_state'] or 'not in this journal'}; see `detent show {found.id}`")
        for piece in queue.logs(found.id)[-1:]:
            click.echo("".join(f"  │ {line}\n" for line in lines(piece.text)[-10:]), nl=False)


@command.command("logs")
@click.argument("id")
@click.option("-f", "--follow", is_flag=True, help="Follow it until the execution ends.")
@click.option("--after", type=click.IntRange(0), default=0, metavar="N", help="Only what came after piece N.")
@AS_JSON
def logs(id: str, follow: bool, after: int, as_json: bool) -> None:
    """Print what an execution wrote. It is kept with the queue, so it can be read on any machine.

    With --json: the pieces with their numbers; continue with --after and the last number.
    """
    from detent.queue.queue_protocol import ENDS

    if follow and as_json:
        raise click.UsageError("--follow and --json do not go together; ask again with --after")
    with opened_queue() as (_, queue):
        found = queue.one(id)
        if as_json:
            pieces = queue.logs(found.id, after)
            click.echo(json.dumps({"id": found.id, "pieces": [p._asdict() for p in pieces], "after": pieces[-1].seq if pieces else after}))
            return
        while True:
            over = queue.one(found.id).state in ENDS
            for piece in queue.logs(found.id, after):
                after = piece.seq
                click.echo("".join(f"{line}\n" for line in lines(piece.text)), nl=False)
            if over or not follow:
                return
            time.sleep(EVERY)


@command.command("cancel")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--reason", default="", metavar="TEXT", help="The reason; kept with the execution.")
@AS_JSON
def cancel(ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Cancel executions. What is running is stopped with all its processes; work that was done stays in its branch and snapshots."""
    from detent.app.queueing import cancel as cancel_one

    with opened_queue() as (app, queue):
        may(app, *(queue.one(id).id for id in ids))
        done = [cancel_one(app, queue, id, reason, sent_by_person("cancel", reason)) for id in ids]
        click.echo(json.dumps({"executions": [as_row(e) for e in done]}) if as_json else "\n".join(execution_line(e) for e in done))


@command.command("retry")
@click.argument("ids", nargs=-1, metavar="ID…")
@click.option("--from", "start", type=click.Choice(("kept", "main")), default=None, help="What a new attempt begins from: see below.")
@click.option("--all-parked", "parked", is_flag=True, help="Everything that waits because something was away.")
@click.option("--cause", type=click.Choice(tuple(RECOVERY)), default=None, help="Everything that waits because this was away.")
@AS_JSON
def retry(ids: tuple[str, ...], start: str | None, parked: bool, cause: str | None, as_json: bool) -> None:
    """Try executions again that failed, are blocked or were cancelled.

    One that waits for a person, because something was away or its review found it not ready, is released and continues where it was. One
    that has ended stays as it is: its item gets a new run with a fresh agent, which is told how this one ended, which tests failed, what
    was changed and what its agent said last. It begins from the kept work of this one, or from main; without --from as [queue] retry_from
    says.

    \b
    detent queue retry it-3 --from main     once more from the beginning
    detent queue retry --cause remote       the remote is back: whatever waited for it
    detent queue retry --all-parked         whatever waited for anything
    """
    if bool(ids) == (parked or cause is not None):
        raise click.UsageError("name the executions, or use --all-parked or --cause THING")
    from detent.app.queueing import retry as retry_one
    from detent.app.queueing import retry_parked

    with opened_queue() as (app, queue):
        may(app, *(queue.one(id).id for id in ids))
        by_name = [retry_one(app, queue, id, sent_by_person("start"), start or "") for id in ids]
        done = by_name or retry_parked(app, queue, cause or "", sent_by_person("start"), start or "")
        shown = "\n".join(execution_line(e) for e in done) or "Nothing waits for that."
        click.echo(json.dumps({"executions": [as_row(e) for e in done]}) if as_json else shown)


@command.command("pause")
@click.argument("reason", default="")
@AS_JSON
def pause(reason: str, as_json: bool) -> None:
    """Start nothing new, on any machine. What is running continues. The queue pauses by itself after five failures in a row."""
    from detent.app.policy import user

    with opened_queue() as (app, queue):
        may(app)
        held = queue.pause(reason or "a person paused it", user())
        row = {"paused": held.reason, "by": held.by, "since": held.since}
        click.echo(json.dumps(row) if as_json else f"Paused by {held.by}: {plain(held.reason)}. Continue: detent queue resume")


@command.command("resume")
@AS_JSON
def resume(as_json: bool) -> None:
    """Let executions start again, and count failures in a row from 0."""
    with opened_queue() as (app, queue):
        may(app)
        before = queue.resume()
        if as_json:
            click.echo(json.dumps({"paused": None, "was": before.reason or None}))
        else:
            click.echo(f"Resumed; it was paused because: {plain(before.reason)}" if before.reason else "It was not paused.")


@command.command("pulls")
@AS_JSON
def pulls(as_json: bool) -> None:
    """Check the open pull requests, and requeue the items that reviewers asked changes for.

    `detent work` does this once a minute. Only comments by people with write access count, each once; Detent replies on the pull
    request that it has seen them.
    """
    from detent.app.pull_words import bring_back

    with opened_queue() as (app, _):
        may(app)
        found = bring_back(app, sent_by_person("start"))
    if as_json:
        click.echo(json.dumps({"pulls": [{**each._asdict(), "words": [word._asdict() for word in each.words]} for each in found]}))
        return
    click.echo(
        "\n".join(f"{each.execution}  {each.url}  {plain(each.words[0].text)[:80]}" for each in found) or "No reviewer asks for changes."
    )
