"""What agents and people say to a run, and what they are told: the same for every door. Each caller says through which channel it speaks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app import App
from detent.app.allowed import base_of, rules
from detent.app.people import allowed, by_a_person
from detent.app.plain_text import shown
from detent.app.registry import FOR_PLANS, source_of
from detent.git.snapshot import stamp
from detent.journal.journal import Hot
from detent.kernel.model import Briefing, Sent, Verdict

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


def briefed(app: App, run: str | None) -> Briefing:
    """The next briefing of a run. A run is started by a person or on purpose, never by asking for work."""
    chosen = app.chosen(run)
    run_now = app.door.load(chosen).run
    if not app.journal.heads(chosen)[0].ended and (run_now.workflow == FOR_PLANS or not run_now.data.setup.workspace):
        app.worlds.of(run_now).restore(run_now)
    briefing = app.door.next(chosen)
    remember(app, chosen)
    return briefing


def say_to_run(app: App, run: str | None, sent: Sent) -> Verdict:
    """Say something to a run, through the door."""
    chosen = app.chosen(run)
    verdict = app.door.submit(chosen, sent)
    remember(app, chosen)
    return _with_note(app, chosen, verdict) if sent.verb == "submit" else verdict


def _with_note(app: App, run: str, verdict: Verdict) -> Verdict:
    """A verdict says so if hooks are registered in this checkout and none of them runs. The journal keeps the verdict as it was given."""
    if not (app.place.git_dir / "detent" / "clients").is_dir():
        return verdict
    from detent.app.hooks_seen import silent

    first = app.journal.at(run, 1)
    note = silent(app.place.git_dir, first.at) if first else ""
    return replace(verdict, output=f"{verdict.output.rstrip()}\n\n{note}\n".lstrip("\n")) if note else verdict


def remember(app: App, run: str) -> None:
    """Keep the finished briefing for the quick way, if nothing is left to be done before it is given."""
    event = app.door.load(run)
    if event.briefing is None or event.run.parent or event.run.data.setup.workspace or app.journal.owed(run):
        return
    source = source_of(event.run.workflow)  # a workflow that is gone, or another version of it, has nothing to say
    seen = {**app.worlds.of(event.run).stamps(event.run), str(source): stamp(source)}
    stamps = "\n".join(f"{file}\t{was}" for file, was in seen.items())
    text, raw, code = shown(event.briefing)
    app.journal.keep_hot(Hot(run, event.run.seq, stamps, text, raw, code, rules(event.briefing, base_of(app, event.run))))


def spoken(app: App, by: str, verb: str, run: str | None, terms: Mapping[str, str] | None = None, /, **fields: str) -> Verdict:
    """Say something as a person. The channel is recorded; where the configuration says so, only a terminal will do.

    `terms` is what changes in who works and for how much; resuming a driven run looks for that itself.
    """
    from detent.app.driving import renewed
    from detent.app.policy import user
    from detent.app.push import is_pushed

    allowed(app, by, app.chosen(run))
    now = app.door.load(app.chosen(run)).run
    if verb == "answer" and fields.get("value") != "cancel":
        from detent.app.revising import first_taken_over

        if (verdict := first_taken_over(app, now.id, by, fields.get("decision", "the question"))) is not None:
            remember(app, now.parent or now.id)
            return verdict
    if terms is None:
        terms = renewed(app, now.id) if verb == "resume" and is_pushed(now) else {}
    verdict = say_to_run(app, run, Sent(verb, by="human", channel=by, facts={"who": user(), **terms}, **fields))  # type: ignore[arg-type]
    return _for_people(app, now.parent or now.id, verdict) if verdict.status == "REFUSED" else verdict


def _for_people(app: App, run: str, verdict: Verdict) -> Verdict:
    """A refusal says what a person does next, and never what the agent would; a question that is open is named."""
    from detent.app.next_step import after_a_word
    from detent.app.plain_text import STUCK
    from detent.app.registry import workflow_of

    acting = app.door.acting(run)
    actor = app.door.tables[acting.workflow].states[acting.state].actor
    asked = actor == "human" and acting.state not in STUCK and workflow_of(acting.workflow).has_decisions
    return replace(verdict, instruction=after_a_word(app, run)) if asked or actor == "agent" else verdict
