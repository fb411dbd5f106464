"""`detent status`: the state of a run."""

import json

import click

from detent.app import App
from detent.app.plain_text import STUCK, plain, typed
from detent.app.registry import workflow_of
from detent.app.run_rows import agent_at_work, costs_of, known_before, reason_of, second_try_of, stands
from detent.blocks.common import is_driven
from detent.door import AnyRun
from detent.interfaces.cli.tell import card_lines, flag_lines, fold, local_time
from detent.world.pulls import url_of


@click.command("status")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--watch", is_flag=True, help="Keep showing it until it ends or waits for a person.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(run: str | None, watch: bool, as_json: bool) -> int:
    """Show where the run is: state, step, counters, plan, last verdict. Changes nothing."""
    from detent.app.questions import at_work
    from detent.app.revising import changed_words
    from detent.interfaces.cli.runner import here

    app = here()
    if watch and as_json:
        raise click.UsageError("--watch and --json do not go together; `detent run --events` prints JSON Lines")
    if watch:
        from detent.interfaces.cli.status_watch import watch as stay

        return stay(app, app.chosen(run))
    event = app.door.load(app.chosen(run))
    run_now, table = event.run, app.door.tables[event.run.workflow]
    step = table.step(run_now)
    if as_json:
        click.echo(json.dumps(stands(app, event)))
        return 0
    ended = bool(table.states[run_now.state].end)  # an ended run waits for nothing
    click.echo(f"{run_now.id}  {run_now.workflow}  {run_now.state}{'' if ended else _because(run_now) + _stopped(app, run_now)}")
    about = [f"Step: {step.type} of '{step.task}': {step.description}"] if step else []
    counted = (f"{name}: {count} of {run_now.limits[name]}" for name, count in run_now.counts.items())
    for line in (*about, *_driven(app, run_now), *_tasks(run_now), *_costs(app, run_now), *counted):
        click.echo(f"  {plain(line)}")
    reasons = (f"\n{fold(f'    {typed(plain(reason))}', 4)}" for reason in event.verdict.reasons)
    click.echo(f"  Last: {event.on} → {event.status} at {local_time(event.at)}{''.join(reasons)}")
    if (known := known_before(run_now))["failing"]:
        click.echo(f"  Known: {plain(known_failures_line(known))}")
    for line in flag_lines(run_now.flags, hunks=False):
        click.echo(fold(f"  {plain(line)}", 4))
    if url := url_of(app.place.common_dir, run_now):
        click.echo(f"  Pull request: {plain(url)}")
    acting, *beside = at_work(app, run_now.id)
    for each in (acting, *beside) if acting.id != run_now.id else ():
        click.echo(f"  {'Waits' if _waits(app, each) else 'At work'}: {each.id}  {each.state}{_because(each)}")
    for line in (*card_lines(app.place.common_dir, run_now.id, run_now.accepted), *map(plain, changed_words(app, run_now.id))):
        click.echo(fold(f"  {line}", 4))
    click.echo(fold(f"  Next: {_next(app, run_now, acting)}", 4))
    return 0


def _next(app: App, run: AnyRun, acting: AnyRun) -> str:
    """The next step: a person's if the run is driven or asks a decision, else the agent's."""
    from detent.app.next_step import after_a_word

    table = app.door.tables[acting.workflow]
    state = table.states[acting.state]
    asked = state.actor == "human" and acting.state not in STUCK and workflow_of(run.workflow).has_decisions
    if not state.end and (asked or (is_driven(run.data) and state.actor in ("agent", "system"))):
        return after_a_word(app, run.id)
    if not state.end and state.actor == "system":
        return "detent get-task: the machine continues, and says what is to be done"
    return typed(table.instruction(acting)) or "nothing, the run has ended"


def _because(run: AnyRun) -> str:
    """The cause for which a run waits, and its reason on a line below."""
    why = typed(plain(reason_of(run))) if run.cause else ""
    return (f"  because of: {run.cause}" if run.cause else "") + (f"\n  Why: {why}" if why else "")


def _stopped(app: App, run: AnyRun) -> str:
    """A line on why a run that should be driven is not, where no event says so."""
    from detent.app.next_step import nobody_drives

    reason = "" if run.cause else nobody_drives(app, app.journal.heads(run.id)[0])
    return f"\n{fold(f'  Stopped: {plain(reason)}', 4)}" if reason else ""


def _driven(app: App, run: AnyRun) -> list[str]:
    """Lines on the agent at work, and on the progress of a list of tests."""
    agent, tests = agent_at_work(app, run), workflow_of(run.workflow).tests(run)
    done = [f"List: {len(tests['completed'])} of {sum(map(len, tests.values()))} tests done"] if tests else []
    second = second_try_of(app, run)
    return [*([f"Agent: {agent}"] if agent else []), *([f"Second try: {second}"] if second else []), *done]


def _waits(app: App, run: AnyRun) -> bool:
    """Whether a task waits for a person or for a driver."""
    from detent.app.driver_lock import driver_of
    from detent.app.questions import actor_now

    idle = is_driven(run.data) and not driver_of(app, run.parent or run.id)
    return idle or actor_now(app, run) == "human"


def _tasks(run: AnyRun) -> list[str]:
    """The progress of a session's tasks."""
    parts = workflow_of(run.workflow).plan(run) if workflow_of(run.workflow).has_decisions else ()
    done = sum(part.status == "done" for part in parts)
    rows = [f"{part.name} {part.title} ({'done' if part.status == 'done' else part.status})" for part in parts]
    return [f"Tasks: {done} of {len(parts)} done", *(f"{'':7}{row}" for row in rows)] if parts else []


def _costs(app: App, run: AnyRun) -> list[str]:
    """The cost of each role so far."""
    found = costs_of(app, run.id)
    rows = [
        f"{role} {c['turns']:g} turn{'' if c['turns'] == 1 else 's'}, {c['seconds']:.0f} s"
        + (f", ${c['usd']:.2f}" if c["usd"] or c["tokens"] else "")
        for role, c in found.items()
    ]
    return [f"By role: {rows[0]}", *(f"{'':9}{row}" for row in rows[1:])] if rows else []


def known_failures_line(known: dict[str, list[str]]) -> str:
    left = [each for each in known["failing"] if each not in known["fixed"]]
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    fixed = f"; {len(known['fixed'])} of {len(known['failing'])} fixed since, which must keep passing" if known["fixed"] else ""
    return (
        f"{left[0]}{more} failed before the run began; it counts against no step" if left else "nothing that failed before fails now"
    ) + fixed
