"""`detent status`: where the run of this checkout stands."""

import json

import click

from detent.app import App
from detent.app.plain_text import typed
from detent.app.push import is_pushed
from detent.app.registry import workflow_of
from detent.app.run_rows import agent_at_work, costs_of, known_before, reason_of, second_try_of, stands
from detent.door import AnyRun
from detent.interfaces.cli.folding import fold
from detent.interfaces.cli.tell import card_lines, flag_lines, local_time, plain
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
    click.echo(f"{run_now.id}  {run_now.workflow}  {run_now.state}{_because(run_now)}")
    about = [f"Step: {step.type} of '{step.task}': {step.description}"] if step else []
    for line in (*about, *_driven(app, run_now), *_costs(app, run_now)):
        click.echo(f"  {plain(line)}")
    for name, count in run_now.counts.items():
        click.echo(f"  {name}: {count} of {run_now.limits[name]}")
    reasons = (f"\n{fold(f'    {typed(plain(reason))}', 4)}" for reason in event.verdict.reasons)
    click.echo(f"  Last: {event.on} → {event.status} at {local_time(event.at)}{''.join(reasons)}")
    if (known := known_before(run_now))["failing"]:
        click.echo(f"  Known: {plain(told_known(known))}")
    for line in flag_lines(run_now.flags, hunks=False):
        click.echo(fold(f"  {plain(line)}", 4))
    if url := url_of(app.place.common_dir, run_now):
        click.echo(f"  Pull request: {plain(url)}")
    acting, *beside = at_work(app, run_now.id)
    for each in (acting, *beside) if acting.id != run_now.id else ():
        click.echo(f"  At work: {each.id}  {each.state}{_because(each)}")
    for line in (*card_lines(app.place.common_dir, run_now.id, run_now.accepted), *map(plain, changed_words(app, run_now.id))):
        click.echo(f"  {line}")
    click.echo(fold(f"  {_next(app, acting)}", 4))
    return 0


def _next(app: App, run: AnyRun) -> str:
    """Whose turn it is, and the call that goes on from here."""
    table = app.door.tables[run.workflow]
    actor, told = table.states[run.state].actor, typed(table.instruction(run))
    if actor == "system":
        when = "" if is_pushed(run) else " when the agent runs `detent get-task`"
        return f"Next: Detent continues by itself{when}"
    whom = {"agent": ", for the agent", "human": ", for a person"}.get(actor, "")
    return f"Next{whom}: {told or 'nothing, the run has ended'}"


def _because(run: AnyRun) -> str:
    """Why a run waits, and what was seen, on a line below."""
    why = typed(plain(reason_of(run))) if run.cause else ""
    return (f"  because of: {run.cause}" if run.cause else "") + (f"\n  Why: {why}" if why else "")


def _driven(app: App, run: AnyRun) -> list[str]:
    """Who works, and how far the list of `tdd` has come."""
    agent, tests = agent_at_work(app, run), workflow_of(run.workflow).tests(run)
    done = [f"List: {len(tests['completed'])} of {sum(map(len, tests.values()))} tests done"] if tests else []
    second = second_try_of(app, run)
    return [*([f"Agent: {agent}"] if agent else []), *([f"Second try: {second}"] if second else []), *done]


def _costs(app: App, run: AnyRun) -> list[str]:
    """What each role took so far."""
    found = costs_of(app, run.id)
    rows = [
        f"{role} {c['turns']:g} turn{'' if c['turns'] == 1 else 's'}, {c['seconds']:.0f} s, ${c['usd']:.2f}" for role, c in found.items()
    ]
    return [f"By role: {rows[0]}", *(f"{'':9}{row}" for row in rows[1:])] if rows else []


def told_known(known: dict[str, list[str]]) -> str:
    left = [each for each in known["failing"] if each not in known["fixed"]]
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    fixed = f"; {len(known['fixed'])} of {len(known['failing'])} fixed since, which must keep passing" if known["fixed"] else ""
    return (
        f"{left[0]}{more} failed before the run began; it counts against no step" if left else "nothing that failed before fails now"
    ) + fixed
