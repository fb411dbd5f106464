"""`detent run`: push mode. The machine drives the agents itself, in a workspace of its own, until the run ends or a person is needed."""

import click

from detent.interfaces.cli.live import follow


@click.command("run")
@click.argument("request", nargs=-1)
@click.option("--workflow", type=click.Choice(["tdd", "pr", "pipeline"]), default="tdd", show_default=True, help="Which workflow to run.")
@click.option(
    "--agent",
    default="",
    metavar="SPEC",
    help="Who works: anthropic[:MODEL], claude[:MODEL], codex[:MODEL], command:PROGRAM, scripted:FILE, human. Else [agents] decides.",
)
@click.option("--baseline", is_flag=True, help="Accept the tests that fail now as known failures.")
@click.option("--lean", is_flag=True, help="The short way of pipeline: one small task, no design, no release.")
@click.option(
    "--yes-to",
    multiple=True,
    metavar="POLICY",
    help="Answer beforehand, for runs nobody attends (pipeline): approve-design, review-strategy=recommended, notes=accept.",
)
@click.option("--events", is_flag=True, help="JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, the result, instead of text.")
def command(
    request: tuple[str, ...], workflow: str, agent: str, baseline: bool, lean: bool, yes_to: tuple[str, ...], events: bool, as_json: bool
) -> int:
    """Have the machine drive agents until the work is done, the run is halted, or a person is asked.

    \b
    detent run "add a slug function that keeps umlauts"
    detent run --workflow pr docs/plan.md --agent command:./my-agent
    detent run --workflow pipeline "a till that adds prices" --yes-to approve-design,review-strategy

    The agents work in a workspace of their own, inside the sandbox; your checkout stays as it is. The result is on a branch. Stop it with
    Ctrl-C at any time: `detent resume` goes on from the last event.
    """
    from detent.app.fit import Terms
    from detent.app.policy import read_policies
    from detent.app.push import fit_for_push, said_agent
    from detent.interfaces.cli.runner import begin, for_pipeline, here

    policies = read_policies(yes_to)
    for_pipeline(workflow, {"--lean": lean, "--yes-to": bool(policies)})
    app = here(create=True)
    fit_for_push(app, agent)
    terms = Terms(" ".join(request), baseline=baseline, lean=lean, policies=policies, agent=said_agent(agent))
    run = begin(app, workflow, terms)
    return follow(app, run, as_json, events)
