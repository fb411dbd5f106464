"""`detent start`: create a run in pull mode, and print its first briefing."""

import click

from detent.interfaces.cli.runner import WORKFLOW_HELP
from detent.interfaces.cli.tell import plain, tell_briefing


@click.command("start")
@click.argument("request", nargs=-1)
@click.option("--workflow", default="", metavar="NAME", help=WORKFLOW_HELP)
@click.option("--adopt", is_flag=True, help="Include the changes that are not committed.")
@click.option("--baseline", is_flag=True, help="Accept the tests that fail now as known failures.")
@click.option("--lean", is_flag=True, help="The short way of pipeline: one small task, no design, no release.")
@click.option("--research", is_flag=True, help="Have the Researcher work before the architecture (pipeline).")
@click.option("--ui", is_flag=True, help="Have the Designer work after the architecture (pipeline).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    request: tuple[str, ...], workflow: str, adopt: bool, baseline: bool, lean: bool, research: bool, ui: bool, as_json: bool
) -> int:
    """Create a run in this checkout and print its first briefing.

    \b
    detent start                                the plan that [pr] plan names, pull request by pull request (pr)
    detent start docs/plan.md                   another plan (pr)
    detent start "add a longest length"         a request in words, test by test (tdd)
    detent start --workflow pipeline "a till"   from a request to a release (pipeline)

    The checkout must be clean, on a branch, with at least one commit. `detent run` takes the same requests, and drives the agent itself.
    """
    from detent.app.conversation import briefed
    from detent.app.starting import options_fit
    from detent.blocks.terms import Terms
    from detent.interfaces.cli.runner import begin_or_ask, chosen_workflow, here, say_where_it_lands

    terms = Terms(" ".join(request), adopt, baseline, lean, research=research, ui=ui)
    workflow = chosen_workflow(terms.request, workflow)
    options_fit(workflow, terms, {"adopt": "--adopt", "lean": "--lean", "research": "--research", "ui": "--ui"})
    app = here(create=True)
    run = begin_or_ask(app, workflow, terms)
    say_where_it_lands(app, workflow, as_json)
    if not as_json:
        from detent.app.start_words import said_at_start

        if said := said_at_start(app, run):
            click.echo("".join(f"{plain(line)}\n" for line in said))
    return tell_briefing(briefed(app, run), as_json)  # kept for the quick way and for hooks, as get-task keeps it
