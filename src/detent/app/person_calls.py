"""Calls of people to a run, with their channel recorded: start, answer, resume. The same for CLI, MCP and HTTP."""

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


def start_run(app: App, workflow: str, terms: "Terms", by: str) -> str:
    """Create a run for a person; returns its id."""
    from detent.app.starting import start_of  # most calls start nothing

    sent = Sent("start", by="human", channel=by)
    may_begin(app, terms, by)
    return start_of(workflow, "run" if terms.agent else "start")(app, sent, terms)


def may_begin(app: App, terms: "Terms", by: str) -> None:
    """Refuse terms that only people may give, before anything is done."""
    if terms.baseline or terms.policies:  # an answer given beforehand
        by_a_person(app, by)
    if terms.again:
        allowed(app, by)


def spoken(app: App, by: str, verb: str, run: str | None, terms: Mapping[str, str] | None = None, /, **fields: str) -> Verdict:
    """Send something as a person, if their channel is allowed.

    `terms`: facts of changed agents and limits; None finds them when a driven run is resumed.
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
    """The verdict with the next step for a person instead of the agent's."""
    from detent.app.next_step import after_a_word

    acting = app.door.acting(run)
    actor = app.door.tables[acting.workflow].states[acting.state].actor
    asked = actor == "human" and acting.state not in STUCK and workflow_of(acting.workflow).has_decisions
    return replace(verdict, instruction=after_a_word(app, run)) if asked or actor == "agent" else verdict
