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
@click.option("--events", is_flag=True, help="JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, the result, instead of text.")
def command(request: tuple[str, ...], workflow: str, agent: str, baseline: bool, events: bool, as_json: bool) -> int:
    """Have the machine drive agents until the work is done, the run is halted, or a person is asked.

    \b
    detent run "add a slug function that keeps umlauts"
    detent run --workflow pr docs/plan.md --agent command:./my-agent

    The agents work in a workspace of their own, inside the sandbox; your checkout stays as it is. The result is on a branch. Stop it with
    Ctrl-C at any time: `detent resume` goes on from the last event.
    """
    from detent.app.fit import Terms
    from detent.app.push import fit_for_push, said_agent
    from detent.interfaces.cli.runner import begin, here

    app = here(create=True)
    fit_for_push(app, agent)
    run = begin(app, workflow, Terms(" ".join(request), baseline=baseline, agent=said_agent(agent)))
    return follow(app, run, as_json, events)
