"""`detent run`: push mode. The machine drives the agents itself, in a workspace of its own, until the run ends or a person is needed."""

import json
from typing import TYPE_CHECKING, Any

import click

from detent.blocks.common import is_driven
from detent.interfaces.cli.live import PARKED, follow
from detent.interfaces.cli.runner import WORKFLOW_HELP

if TYPE_CHECKING:
    from detent.blocks.terms import Terms

OPTIONS = ("lean", "research", "ui", "parallel", "context", "again")  # options that only some workflows have


@click.command("run")
@click.argument("request", nargs=-1)
@click.option("--workflow", default="", metavar="NAME", help=WORKFLOW_HELP)
@click.option(
    "--agent",
    default="",
    metavar="SPEC",
    help="Who works: anthropic[:MODEL], openai[:MODEL[@SERVICE]], claude[:MODEL], codex[:MODEL], acp:NAME[:MODEL], command:PROGRAM, scripted:FILE, human. Else [agents] decides.",
)
@click.option("--baseline", is_flag=True, help="Accept the tests that fail now as known failures.")
@click.option("--lean", is_flag=True, help="The short way of pipeline: one small task, no design, no release.")
@click.option("--research", is_flag=True, help="Have the Researcher work before the architecture (pipeline).")
@click.option("--ui", is_flag=True, help="Have the Designer work after the architecture (pipeline).")
@click.option(
    "--yes-to",
    multiple=True,
    metavar="POLICY",
    help="Answer beforehand, for runs nobody attends: flags=KIND,… (any workflow); approve-design, notes=accept, questions, "
    "review-strategy=recommended (pipeline).",
)
@click.option("--parallel", type=click.IntRange(1, 16), default=1, metavar="N", help="How many tasks of pipeline may run at once.")
@click.option("--context", default="", metavar="TEXT", help="What the agent should know besides the item (execute).")
@click.option("--again", is_flag=True, help="Run the item even if it failed or was blocked before (execute).")
@click.option("--run", "known", default="", metavar="ID", help="Drive an existing run, from its last event on.")
@click.option(
    "--park",
    is_flag=True,
    help="With --run: exit with 75 instead of waiting for a usage limit or for something that is away. Workers do.",
)
@click.option("--events", is_flag=True, help="Print JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object instead of text.")
def command(
    request: tuple[str, ...],
    workflow: str,
    agent: str,
    yes_to: tuple[str, ...],
    known: str,
    park: bool,
    events: bool,
    as_json: bool,
    **how: Any,
) -> int:
    """Drive agents until the work is done, the run is halted, or a person is asked.

    \b
    detent run "add a slug function that keeps umlauts"
    detent run docs/plan.md --agent claude     a plan, pull request by pull request; without a REQUEST: [pr] plan
    detent run --workflow pipeline "a till that adds prices" --yes-to approve-design,review-strategy
    detent run --workflow execute it-7         one work item, to a pushed branch

    The agents work in a workspace of their own, inside the sandbox; your checkout stays as it is. The result is on a branch. Stop it with
    Ctrl-C at any time: `detent resume` continues from the last event.
    """
    from detent.app.policy import read_policies
    from detent.blocks.terms import Terms

    asked = Terms(" ".join(request), policies=read_policies(yes_to), agent=agent, **how)  # the other options are named like its fields
    if known:
        return _drive_on(known, asked == Terms(), as_json, events, park)
    return _begin(asked, workflow, as_json, events)


def _begin(asked: "Terms", workflow: str, as_json: bool, events: bool) -> int:
    """Begin a run and drive it, after all checks that could refuse it."""
    from detent.app.person_calls import may_begin
    from detent.app.push import fit_for_push, recorded_agent
    from detent.app.starting import options_fit, policies_fit
    from detent.interfaces.cli.runner import begin_or_ask, chosen_workflow, here, say_where_it_lands
    from detent.interfaces.cli.tell import channel

    workflow = chosen_workflow(asked.request, workflow)
    options_fit(workflow, asked, {name: f"--{name}" for name in OPTIONS})
    policies_fit(workflow, asked, "--yes-to")
    app = here(create=True)
    may_begin(app, asked, channel())
    fit_for_push(app, asked.agent, workflow)
    run = begin_or_ask(app, workflow, asked._replace(agent=recorded_agent(asked.agent)))
    say_where_it_lands(app, workflow, as_json or events)
    return follow(app, run, as_json, events)


def _known(run: str, alone: bool, as_json: bool, events: bool, park: bool) -> int:
    """Continue a run. One that waits for a person still waits."""
    from detent.app.driving import driving
    from detent.app.push import fit_for_push, fit_for_queue
    from detent.interfaces.cli.runner import here

    app = here()
    now = app.door.load(app.chosen(run)).run
    if not alone or now.parent or not is_driven(now.data):
        raise click.UsageError("--run names a run that `detent run` or a queue began, and stands alone")
    if not app.journal.heads(now.id)[0].ended:
        (fit_for_queue if park else fit_for_push)(app, driving(app, now.id).named)
    return follow(app, now.id, as_json, events, park)


def _drive_on(run: str, alone: bool, as_json: bool, events: bool, park: bool) -> int:
    """Continue a run. For a worker, an outage is reported in the last line of output, and the run is parked."""
    from detent.app.away import parked_by

    try:
        return _known(run, alone, as_json, events, park)
    except Exception as e:
        parked = parked_by(e) if park else None
        if parked is None:
            raise
        click.echo(json.dumps({"run": run, "outcome": "parked", "cause": parked.cause, "reason": parked.message}))
        return PARKED
