"""`detent repair-notes`: write the handoff notes and the evidence again from the journal."""

import json

import click


@click.command("repair-notes")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(as_json: bool) -> int:
    """Make refs/notes/tdd-handoffs and refs/notes/detent-evidence say what the journal says, for every run.

    A notes ref that cannot be read is moved aside first. Runs that have not ended publish here what they have proved so far.
    """
    from detent.app.registry import usable
    from detent.app.starting import note_writers
    from detent.evidence.outcomes.claims import REF
    from detent.git.notes import list_notes, put_aside
    from detent.git.repo import GitError
    from detent.interfaces.cli.runner import here
    from detent.world.publish_claims import write_claims

    app, aside = here(), list[str]()
    for ref in (*(notes.ref for notes in note_writers().values()), REF):
        try:
            list_notes(app.world.git, ref)
        except GitError:
            aside.append(put_aside(app.world.git, ref))
    heads = list(reversed(app.journal.heads()))
    writers = note_writers()
    runs = [app.door.load(head.run).run for head in heads if head.workflow in writers]
    proving = [app.door.load(head.run).run for head in heads if not head.parent and usable(head.workflow) is not None]
    rewritten = sum(writers[run.workflow].write(app.world, run) for run in runs)
    claims = sum(write_claims(app.world, run) for run in proving)
    if as_json:
        click.echo(json.dumps({"runs": len(runs), "rewritten": rewritten, "claims": claims, "put_aside": ", ".join(aside) or None}))
        return 0
    if aside:
        click.echo(f"Notes could not be read; they were moved aside as {', '.join(aside)}.")
    click.echo(f"{rewritten} of the notes of {len(runs)} runs were rewritten; the rest were correct.")
    click.echo(f"{claims} of the claims of {len(proving)} runs were rewritten; the rest were correct.")
    return 0
