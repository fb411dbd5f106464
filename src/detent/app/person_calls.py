"""What people say to a run, through a channel that is recorded: starting one, answering, resuming. The same for every door."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app import App
from detent.app.conversation import remember, say_to_run
from detent.app.people import allowed, by_a_person
from detent.app.plain_text import STUCK
from detent.app.registry import workflow_of
from detent.blocks.common import is_driven
from detent.kernel.model import Sent, Verdict

if TYPE_CHECKING:
    from detent.blocks.terms import Terms


def begin(app: App, workflow: str, terms: "Terms", by: str) -> str:
    """Create a run as a person asked for it, through a channel; its id."""
    from detent.app.starting import start_of  # most calls start nothing

    sent = Sent("start", by="human", channel=by)
    may_begin(app, terms, by)
    return start_of(workflow, "run" if terms.agent else "start")(app, sent, terms)


def may_begin(app: App, terms: "Terms", by: str) -> None:
    """Whether a run may be asked for in these terms, through a channel: what only people say is refused before anything is looked at or done."""
    if terms.baseline or terms.policies:  # an answer given beforehand
        by_a_person(app, by)
    if terms.again:
        allowed(app, by)


def spoken(app: App, by: str, verb: str, run: str | None, terms: Mapping[str, str] | None = None, /, **fields: str) -> Verdict:
    """Say something as a person. The channel is recorded; where the configuration says so, only a terminal will do.

    `terms` is what changes in who works and for how much; resuming a driven run looks for that itself.
    """
    from detent.app.driving import renewed
    from detent.app.policy import user

    allowed(app, by, app.chosen(run))
    now = app.door.load(app.chosen(run)).run
    if verb == "answer" and fields.get("value") != "cancel":
        from detent.app.revising import first_taken_over

        if (verdict := first_taken_over(app, now.id, by, fields.get("decision", "the question"))) is not None:
            remember(app, now.parent or now.id)
            return verdict
    if terms is None:
        terms = renewed(app, now.id) if verb == "resume" and is_driven(now.data) else {}
    verdict = say_to_run(app, run, Sent(verb, by="human", channel=by, facts={"who": user(), **terms}, **fields))  # type: ignore[arg-type]
    return _for_people(app, now.parent or now.id, verdict) if verdict.status == "REFUSED" else verdict


def _for_people(app: App, run: str, verdict: Verdict) -> Verdict:
    """A refusal says what a person does next, and never what the agent would; a question that is open is named."""
    from detent.app.next_step import after_a_word

    acting = app.door.acting(run)
    actor = app.door.tables[acting.workflow].states[acting.state].actor
    asked = actor == "human" and acting.state not in STUCK and workflow_of(acting.workflow).has_decisions
    return replace(verdict, instruction=after_a_word(app, run)) if asked or actor == "agent" else verdict
