"""`detent revise`: change the documents of a session in the middle, or have a stage done again."""

import json

import click

from detent.app import App
from detent.app.plain_text import plain
from detent.app.revising import Revision
from detent.interfaces.cli.tell import channel, exit_code, fold, tell_verdict
from detent.kernel.model import Verdict


@click.command("revise")
@click.argument("text", required=False, default="")
@click.option(
    "--to", default="", metavar="STAGE", help="Have this stage done again: spec, acceptance, research, architecture, design or plan."
)
@click.option("--show", is_flag=True, help="Only show what would change and what that invalidates.")
@click.option("--yes", is_flag=True, help="Do not ask before it is done.")
@click.option("--run", metavar="ID", help="The session (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(text: str, to: str, show: bool, yes: bool, run: str | None, as_json: bool) -> int:
    """Apply your changes to a session's documents, or have a stage done again, with TEXT saying what must change.

    Edit spec.md, acceptance.json, architecture.md, tasks.yaml or another document in the session's folder, then run this: the diff is
    shown, with what it invalidates, and the session continues from there. You are asked again about what was approved.

    \b
    detent revise                                        apply your edits
    detent revise --show                                 see what they would do
    detent revise --to acceptance "test it with pytest -q tests/test_add.py"
    detent revise --to plan "one task for each module"
    """
    from detent.app.revising import edited_documents, looked_at, revise
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    documents = {} if to else edited_documents(app, chosen)
    if not to and not documents:
        return _nothing(app, chosen, as_json)
    planned = looked_at(app, chosen, documents, to)
    if show:
        return _shown(planned, as_json)
    if not as_json and not yes and channel() == "terminal":
        _shown(planned, False)
        if not click.confirm("Do it?"):
            return 1
    verdict = revise(app, chosen, channel(), documents, to, text)
    if not as_json and channel() != "terminal" and not exit_code(verdict):
        _shown(planned, False)
    return tell_verdict(_with_next(app, chosen, verdict), as_json)


def _shown(planned: Revision, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({"documents": sorted(planned.documents), "diff": planned.diff, "void": list(planned.void)}))
        return 0
    if planned.diff:
        click.echo(plain(planned.diff) + "\n")
    click.echo("This invalidates:")
    for line in planned.void:
        click.echo(fold(f"  - {plain(line)}", 4))
    return 0


def _nothing(app: App, run: str, as_json: bool) -> int:
    """Report that no document was changed, where they are, and what else can be done."""
    from detent.app.revising import stages

    now = app.door.load(run).run
    if as_json:
        click.echo(json.dumps({"documents": [], "diff": "", "void": []}))
    elif not stages(app, run):
        click.echo(f"{run} has no documents to revise. To tell the agent something: detent steer TEXT", err=True)
    else:
        click.echo(f"You changed no document of {run}. Edit one below {now.worktree}/{now.data.session}, then: detent revise", err=True)
        click.echo(f"To have a stage done again: detent revise --to {'|'.join(stages(app, run))} TEXT", err=True)
    return 1


def _with_next(app: App, run: str, verdict: Verdict) -> Verdict:
    from msgspec.structs import replace

    from detent.app.next_step import after_a_word

    return verdict if exit_code(verdict) else replace(verdict, instruction=after_a_word(app, run))
