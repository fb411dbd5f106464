"""`detent start`: create a run in pull mode, and print its first briefing."""

import click

from detent.app.registry import FOR_PLANS
from detent.interfaces.cli.tell import tell_briefing


@click.command("start")
@click.argument("request", nargs=-1)
@click.option("--workflow", default=FOR_PLANS, show_default=True, metavar="NAME", help="Which workflow to run: `detent graph` lists them.")
@click.option("--adopt", is_flag=True, help="Take over changes that are not committed.")
@click.option("--baseline", is_flag=True, help="Accept the tests that fail now as known failures.")
@click.option("--lean", is_flag=True, help="The short way of pipeline: one small task, no design, no release.")
@click.option("--research", is_flag=True, help="Have the Researcher work before the architecture is drawn (pipeline).")
@click.option("--ui", is_flag=True, help="Have the Designer work after it (pipeline).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    request: tuple[str, ...], workflow: str, adopt: bool, baseline: bool, lean: bool, research: bool, ui: bool, as_json: bool
) -> int:
    """Create a run in this checkout and print its first briefing.

    For `tdd` and `pipeline`, REQUEST says what is wanted; for `pr` it may be the path of the plan (else [pr] plan).
    The checkout must be clean, on a branch, with at least one commit.
    """
    from detent.app.starting import options_fit
    from detent.blocks.terms import Terms
    from detent.interfaces.cli.runner import begin_or_ask, here

    terms = Terms(" ".join(request), adopt, baseline, lean, research=research, ui=ui)
    options_fit(workflow, terms, {"adopt": "--adopt", "lean": "--lean", "research": "--research", "ui": "--ui"})
    app = here(create=True)
    run = begin_or_ask(app, workflow, terms)
    return tell_briefing(app.door.next(run), as_json)
