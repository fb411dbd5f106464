"""`detent status`: where the run of this checkout stands."""

import json

import click
import msgspec

from detent.app import App
from detent.door import AnyEvent, AnyRun
from detent.interfaces.cli.tell import card_lines, card_object, flag_lines, plain


@click.command("status")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--watch", is_flag=True, help="Stay and show it as it goes on, until it ends or waits for a person.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(run: str | None, watch: bool, as_json: bool) -> int:
    """Say where the run stands: state, step, counters, plan, last verdict. Changes nothing."""
    from detent.app.asked import at_work
    from detent.interfaces.cli.runner import here

    app = here()
    if watch and as_json:
        raise click.UsageError("--watch and --json do not go together; `detent run --events` tells JSON Lines")
    if watch:
        from detent.interfaces.cli.status_watch import watch as stay

        return stay(app, app.chosen(run))
    event = app.door.load(app.chosen(run))
    run_now, table = event.run, app.door.hands.tables[event.run.workflow]
    step = table.step(run_now)
    if as_json:
        click.echo(json.dumps(stands(app, event)))
        return 0
    click.echo(f"{run_now.id}  {run_now.workflow}  {run_now.state}" + (f"  because of: {run_now.cause}" if run_now.cause else ""))
    if step:
        click.echo(f"  Step: {step.type} of '{plain(step.task)}': {plain(step.description)}")
    for line in _driven(app, run_now):
        click.echo(f"  {plain(line)}")
    for name, count in run_now.counts.items():
        click.echo(f"  {name}: {count} of {run_now.limits[name]}")
    click.echo(f"  Last: {event.on} → {event.status} at {event.at}" + "".join(f"\n    {plain(r)}" for r in event.verdict.reasons))
    if (known := known_before(run_now))["failing"]:
        click.echo(f"  Known: {plain(told_known(known))}")
    for line in flag_lines(run_now.flags, hunks=False):
        click.echo(f"  {plain(line)}")
    acting, *beside = at_work(app, run_now.id)
    for each in (acting, *beside) if acting.id != run_now.id else ():
        click.echo(f"  At work: {each.id}  {each.state}" + (f"  because of: {each.cause}" if each.cause else ""))
    for line in card_lines(app.place.common_dir, run_now.id, run_now.accepted):
        click.echo(f"  {line}")
    told = app.door.hands.tables[acting.workflow].instruction(acting)
    click.echo(f"  Next: {told or 'the run has ended'}")
    return 0


def _driven(app: App, run: AnyRun) -> list[str]:
    """Who works, and how far the list of `tdd` has come."""
    agent, tests = _agent(app, run), _tests(run)
    done = [f"List: {len(tests['completed'])} of {sum(map(len, tests.values()))} tests done"] if tests else []
    second = _second_try(app, run)
    return [*([f"Agent: {agent}"] if agent else []), *([f"Second try: {second}"] if second else []), *done]


def known_before(run: AnyRun) -> dict[str, list[str]]:
    """What failed before the run began, tests and preflight commands, and which of it passes since."""
    setup = getattr(run.data, "setup", None)
    failing = [*getattr(setup, "baseline", ()), *getattr(setup, "red_preflight", ())]
    return {"failing": failing, "fixed": [each for each in failing if each in run.fixed]}


def told_known(known: dict[str, list[str]]) -> str:
    left = [each for each in known["failing"] if each not in known["fixed"]]
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    fixed = f"; {len(known['fixed'])} of {len(known['failing'])} fixed since, which have to go on passing" if known["fixed"] else ""
    return (
        f"{left[0]}{more} failed before the run began, held against no step" if left else "nothing that failed before fails now"
    ) + fixed


def _agent(app: App, run: AnyRun) -> str:
    from detent.app.push import is_pushed
    from detent.app.terms import driving

    return driving(app, run.id).agent if is_pushed(run) else ""


def _second_try(app: App, run: AnyRun) -> str:
    """Who is asked instead, since attempts failed; empty where nobody is, or nobody is asked."""
    from detent.app.push import is_pushed
    from detent.app.who import second_try

    return second_try(app, run) if is_pushed(run) and app.door.hands.tables[run.workflow].states[run.state].actor == "agent" else ""


def _tests(run: AnyRun) -> dict[str, list[str]]:
    from detent.app.push import tests_of

    return tests_of(run) if run.workflow == "tdd" else {}


def stands(app: App, event: AnyEvent) -> dict[str, object]:
    """Where a run stands after its newest event, as one JSON object."""
    run_now, table = event.run, app.door.hands.tables[event.run.workflow]
    step = table.step(run_now)
    return {
        "run": run_now.id,
        "workflow": run_now.workflow,
        "state": run_now.state,
        "cause": run_now.cause or None,
        "step": {"task": step.task, "type": step.type, "description": step.description} if step else None,
        "agent": _agent(app, run_now) or None,
        "second_try": _second_try(app, run_now) or None,
        "tests": _tests(run_now) or None,
        "counts": run_now.counts,
        "limits": run_now.limits,
        "branch": getattr(run_now.data, "branch", "") or None,
        "events": run_now.seq,
        "flags": [msgspec.to_builtins(flag) for flag in run_now.flags],
        "accepted": run_now.accepted or None,
        "known_failures": known_before(run_now),
        "said": list(run_now.said),
        "card": card_object(app.place.common_dir, run_now.id),
        "last": {"on": event.on, "status": event.status, "reasons": list(event.verdict.reasons), "at": event.at},
        "unproven": list(table.unproven(run_now)),
        "owed": [o.effect for o in app.journal.owed(run_now.id)],
    }
