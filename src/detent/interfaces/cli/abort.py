"""`detent abort`: end a run for good."""

import click

from detent.interfaces.cli.tell import fold, tell_verdict


@click.command("abort")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--reason", default="", metavar="TEXT", help="The reason; kept in the journal.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(run: str | None, reason: str, as_json: bool) -> int:
    """End the run. Files and branch stay as they are, a snapshot is kept; a test run in progress is stopped."""
    from detent.app.executions import is_execution
    from detent.git.snapshot import newest_kept
    from detent.interfaces.cli.runner import here, person

    app = here()
    chosen = app.chosen(run)
    driven = app.door.load(chosen).run.data.setup.workspace
    verdict = person("abort", chosen, note=reason)
    if is_execution(app.door.load(chosen).run.workflow):
        from detent.app.queueing import catch_up

        catch_up(app, chosen)
    code = tell_verdict(verdict, as_json)
    if driven and not as_json and (tree := newest_kept(app.place, chosen)):
        click.echo(fold(f"The agent's files are kept as the tree {tree[:12]}: `git restore --source={tree[:12]} -- FILE` restores one."))
    return code
