"""`detent repair-notes`: write the handoff notes anew from the journal."""

import json

import click


@click.command("repair-notes")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(as_json: bool) -> int:
    """Make refs/notes/tdd-handoffs say what the journal says, for every run of `tdd`. A notes ref that cannot be read is put aside first."""
    from detent.git.notes import list_notes, put_aside
    from detent.git.repo import GitError
    from detent.interfaces.cli.runner import here
    from detent.world.tdd import NOTES, write_run_notes

    app = here()
    aside = ""
    try:
        list_notes(app.world.git, NOTES)
    except GitError:
        aside = put_aside(app.world.git, NOTES)
    runs = [head.run for head in reversed(app.journal.heads()) if head.workflow == "tdd"]
    mended = sum(write_run_notes(app.world, app.door.load(run).run) for run in runs)
    if as_json:
        click.echo(json.dumps({"runs": len(runs), "mended": mended, "put_aside": aside or None}))
        return 0
    if aside:
        click.echo(f"The notes could not be read; they were put aside as {aside}.")
    click.echo(f"{mended} of the notes of {len(runs)} runs were written anew; the others were right.")
    return 0
