"""What is said to a run, and the briefing that it answers with: the same for every door. What only people say is in person_calls."""

from msgspec.structs import replace

from detent.app import App
from detent.app.allowed import base_of, rules
from detent.app.plain_text import shown
from detent.app.registry import FOR_PLANS, source_of
from detent.git.snapshot import stamp
from detent.journal.journal import Hot
from detent.kernel.model import Briefing, Sent, Verdict


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
