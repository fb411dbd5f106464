"""`detent start`: creates a run in pull mode. Prints the first briefing, or at a terminal what a person does next."""

from typing import TYPE_CHECKING

import click

from detent.app.plain_text import plain, render_briefing
from detent.interfaces.cli.runner import WORKFLOW_HELP
from detent.interfaces.cli.tell import columns, fold, tell_briefing

if TYPE_CHECKING:
    from detent.app import App

CLIENTS = {
    "claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "qwen": "Qwen Code", "copilot": "Copilot CLI", "opencode": "opencode",
    "cursor": "Cursor",
}  # fmt: skip
WITHOUT_CLIENT = "Tell your agent: run `detent get-task` and do what it says"
MEANWHILE = (("detent status --watch", "where it stands"), ("detent get-task", "the briefing that the agent reads"))


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
    """Create a run in this checkout for an agent that calls by itself.

    \b
    detent start                                the plan that [pr] plan names, pull request by pull request (pr)
    detent start docs/plan.md                   another plan (pr)
    detent start "add a longest length"         a request in words, test by test (tdd)
    detent start --workflow pipeline "a till"   from a request to a release (pipeline)

    The checkout must be clean, on a branch, with at least one commit. `detent run` takes the same requests, and drives the agent itself.

    At a terminal it says what to do next; elsewhere it prints the first briefing, as `detent get-task` does.
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
        from detent.app.outline import first_words

        if sentences := first_words(app, run):
            click.echo("".join(f"{fold(plain(line))}\n" for line in sentences))
    briefing = briefed(app, run)  # stores the briefing for the fast path and hooks, as get-task does
    return tell_briefing(briefing, as_json) if as_json or not columns() else _tell_person(app, run, render_briefing(briefing)[2])


def _tell_person(app: "App", run: str, code: int) -> int:
    """Tell a person how to start the agent."""
    from detent.app.hooks_seen import registered

    named = [CLIENTS[name] for name in registered(app.place.git_dir) if name in CLIENTS]
    who = f"Open {' or '.join(named)} in this folder, and say: do what get_task says" if named else WITHOUT_CLIENT
    click.echo(fold(f"{run} has begun. {who}, until it says that you are done."))
    for typed, why in MEANWHILE:
        click.echo(f"  {typed:<22}  {why}")
    return code
