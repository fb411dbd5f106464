"""`detent answer`: answer what the run asks a person."""

import click

from detent.interfaces.cli.tell import tell_verdict


@click.command("answer")
@click.argument("decision")
@click.argument("value", required=False, default="")
@click.option("--note", default="", metavar="TEXT", help="A remark, kept with the answer.")
@click.option("--to", default="", metavar="ROLE", help="Whom changes are sent to (pipeline).")
@click.option("--cancel", default="", metavar="REASON", help="Decline to answer, and say why.")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(decision: str, value: str, note: str, to: str, cancel: str, run: str | None, as_json: bool) -> int:
    """Answer DECISION with VALUE. The briefing of the run that waits (`detent get-task`) names both; so does `detent decisions`.

    \b
    detent answer REVIEW approve          take the reviewed tree as it is
    detent answer REVIEW another-round    let the agent work on the findings
    detent answer REVIEW abort            end the run
    detent answer PLAN finish             end the run although an entry is open
    detent answer UD-APPROVE-DESIGN 'changes-requested: prices are in cents' --to spec
    """
    from detent.app.asked import who_asks
    from detent.interfaces.cli.runner import here, person

    if not value and not cancel:
        raise click.UsageError("say what the answer is, or --cancel REASON")
    given = {"value": "cancel", "note": cancel} if cancel else {"value": value, "note": note}
    app = here()
    asking = who_asks(app, app.chosen(run), decision)
    return tell_verdict(person("answer", asking, decision=decision, to=to, **given), as_json)
