"""`detent answer`: answer what the run asks a person."""

import click
from msgspec.structs import replace

from detent.app import App
from detent.blocks.common import is_driven
from detent.interfaces.cli.tell import exit_code, tell_verdict
from detent.kernel.model import Verdict


@click.command("answer")
@click.argument("decision")
@click.argument("value", required=False, default="")
@click.option("--note", default="", metavar="TEXT", help="A remark, kept with the answer.")
@click.option("--to", default="", metavar="STAGE", help="Which stage runs again with the changes (pipeline).")
@click.option("--cancel", default="", metavar="REASON", help="Decline to answer, and say why.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(decision: str, value: str, note: str, to: str, cancel: str, run: str | None, as_json: bool) -> int:
    """Answer DECISION with VALUE. `detent decisions` names both, and so does the briefing of the run that waits.

    \b
    detent answer REVIEW approve          take the reviewed tree as it is
    detent answer REVIEW another-round    let the agent work on the findings
    detent answer REVIEW abort            end the run
    detent answer REVIEW override --run execute-it-7-1    open the pull request even though the review says no
    detent answer PLAN finish             end the run with an entry still open
    detent answer FLAGS accept            land the branch with the flags it has, at this tree
    detent answer FLAGS fix --note TEXT   have them fixed (where work can still continue)
    detent answer UD-APPROVE-DESIGN 'changes-requested: prices are in cents' --to spec
    detent answer UD-REVIEW-STRATEGY 'changes-requested: one task for each module'
    """
    from detent.app.executions import is_execution
    from detent.app.next_step import after_a_word
    from detent.app.questions import who_asks
    from detent.app.registry import workflow_of
    from detent.interfaces.cli.runner import here, person

    if not value and not cancel:
        raise click.UsageError("say what the answer is, or --cancel REASON")
    given = {"value": "cancel", "note": cancel} if cancel else {"value": value, "note": note}
    app = here()
    chosen = app.chosen(run)
    verdict = person("answer", who_asks(app, chosen, decision), decision=decision, to=to, **given)
    if is_execution((now := app.door.load(chosen).run).workflow) and not exit_code(verdict):
        verdict = replace(verdict, instruction=_how_it_continues(app, chosen))
    elif (
        workflow_of(now.workflow).has_decisions
        and verdict.status in ("SUCCESS", "FAILURE", "STALE")
        and not app.journal.heads(chosen)[0].ended
    ):
        verdict = replace(verdict, instruction=after_a_word(app, chosen), reasons=verdict.reasons or _why(app, chosen, verdict))
    elif is_driven(now.data) and not exit_code(verdict) and not app.journal.heads(chosen)[0].ended:
        verdict = replace(verdict, instruction=f"Continue: detent resume{f' --run {run}' if run else ''}")
    return tell_verdict(verdict, as_json)


def _why(app: App, run: str, verdict: Verdict) -> tuple[str, ...]:
    """Why an answer was not accepted."""
    error = app.door.acting(run).last_error
    return (error,) if verdict.status == "FAILURE" and error else ()


def _how_it_continues(app: App, run: str) -> str:
    """A sentence on how an execution continues: queued again, by `resume`, or not at all because it ended."""
    from detent.app.queueing import catch_up, go_on

    catch_up(app, run)
    if app.journal.heads(run)[0].ended:
        return f"The run has ended. To try its item again: detent queue retry {run}"
    if go_on(app, run):
        return f"It is queued again; a worker continues it (detent work). See: detent queue show {run}"
    return f"Continue: detent resume --run {run}"
