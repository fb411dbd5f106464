"""The API calls by which people change runs: start, resume, steer, abort, answer. Uses the same functions of app/ as the command line, with the channel `web`."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

from detent.app import App
from detent.app.driver_lock import hand_over, held_for_another
from detent.app.executions import is_execution
from detent.app.land_asked import accept_flags
from detent.app.live_log import driver_log
from detent.app.people import allowed
from detent.app.person_calls import spoken, start_run
from detent.app.policy import read_policies, user
from detent.app.push import STUCK, fit_for_push, recorded_agent
from detent.app.queueing import catch_up, go_on
from detent.app.revising import edited_documents, looked_at, papers, report_text, revise, stages
from detent.app.rolling_back import roll_back
from detent.app.starting import PAGE, options_fit, policies_fit, start_of
from detent.blocks.common import is_driven
from detent.blocks.open_flags import ACCEPT
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.interfaces.http import shapes, shapes_revise
from detent.interfaces.http.heads import StalePage, head_of
from detent.interfaces.http.inbox import DRIVE, LANDING, answer_of, left_of, show_decision
from detent.kernel.model import Verdict
from detent.sandbox.process import start_detached

CHANNEL = "web"
MOVED = ("SUCCESS", "FAILURE", "NEEDS_ANALYSIS", "STALE")  # after these, a run may have work for the machine
FRESH = Verdict("SUCCESS", "", instruction="The run continues.")


def start(app: App, asked: shapes.StartAsked) -> str:
    """Create a run and start a driver; returns its id."""
    policies = read_policies(asked.yes_to)
    terms = Terms(asked.request, baseline=asked.baseline, lean=asked.lean, policies=policies, agent=recorded_agent(asked.agent))
    start_of(asked.workflow, PAGE)
    options_fit(asked.workflow, terms, {"lean": "lean"})
    policies_fit(asked.workflow, terms, "yes_to")
    fit_for_push(app, asked.agent, asked.workflow)
    run = start_run(app, asked.workflow, terms, CHANNEL)
    drive_on(app, run)
    return run


def resume(app: App, run: str, guidance: str) -> Verdict:
    """Release a waiting run, and start a driver for a driven one."""
    head = head_of(app, run)
    if not is_driven(app.door.load(run).run.data) or app.door.acting(run).state in STUCK or head.ended:
        return _driven(app, run, lambda: spoken(app, CHANNEL, "resume", run, guidance=guidance))
    return _driven(app, run, lambda: spoken(app, CHANNEL, "steer", run, note=guidance) if guidance else FRESH)


def steer(app: App, run: str, text: str) -> Verdict:
    head_of(app, run)
    return spoken(app, CHANNEL, "steer", run, note=text)


def papers_of(app: App, run: str) -> shapes_revise.Papers:
    """The documents and stages of a run that people may revise."""
    head_of(app, run)
    session, changed = app.door.load(run).run.data.session if stages(app, run) else "", edited_documents(app, run)
    rows = papers(app, run).items()
    made = (shapes_revise.Paper(name=path.removeprefix(f"{session}/"), text=text, edited=changed.get(path, "")) for path, text in rows)
    return shapes_revise.Papers(papers=tuple(made), stages=stages(app, run), report=report_text(app, run))


def revision(app: App, run: str, asked: shapes_revise.ReviseAsked) -> shapes_revise.RevisionShown:
    """Preview a revision; changes nothing."""
    head_of(app, run)
    planned = looked_at(app, run, _by_path(app, run, asked), asked.to)
    return shapes_revise.RevisionShown(diff=planned.diff, void=planned.void)


def revise_run(app: App, run: str, asked: shapes_revise.ReviseAsked) -> Verdict:
    """Apply a person's changes, or have a stage done again, and start a driver."""
    head_of(app, run)
    return _driven(app, run, lambda: revise(app, run, CHANNEL, _by_path(app, run, asked), asked.to, asked.text))


def _by_path(app: App, run: str, asked: shapes_revise.ReviseAsked) -> dict[str, str]:
    session = app.door.load(run).run.data.session if stages(app, run) else ""
    return {f"{session}/{name}": text for name, text in asked.documents.items()}


def rollback(app: App, run: str, event: int) -> str:
    """Roll back to an event as a new run, and start a driver; returns its id."""
    head_of(app, run)
    allowed(app, CHANNEL, run)
    fresh = roll_back(app, run, str(event), CHANNEL)
    app.door.next(fresh)
    drive_on(app, fresh)
    return fresh


def abort(app: App, run: str, reason: str) -> Verdict:
    """End a run for good. Its driver notices that and stops."""
    head = head_of(app, run)
    verdict = spoken(app, CHANNEL, "abort", run, note=reason)
    if is_execution(head.workflow):
        catch_up(app, run)
    return verdict


def answer(app: App, id: str, asked: shapes.AnswerAsked) -> Verdict:
    if id.startswith(LANDING):
        return _accept(app, id, asked)
    run, verb, fields = answer_of(app, id, asked)
    if verb == DRIVE:
        return resume(app, run, fields["guidance"])
    return _driven(app, run, lambda: spoken(app, CHANNEL, verb, run, **fields))


def _accept(app: App, id: str, asked: shapes.AnswerAsked) -> Verdict:
    """Record that a person accepts the flags of a `land` question. It does not land the branch."""
    if show_decision(app, id).shown != asked.shown:
        raise StalePage("what was shown has changed since; nothing was recorded", "look at it again, then answer")
    if asked.value != ACCEPT:
        raise DetentError(f"'{asked.value}' is not an answer here", f"it takes: {ACCEPT}")
    allowed(app, CHANNEL)
    left, note = left_of(app, id), " ".join(asked.note.split())
    accept_flags(app, left, f"by {user()}, {CHANNEL}{f': {note[:200]}' if note else ''}")
    return Verdict("SUCCESS", "", instruction=f"detent land {left.branch}")


def drive_on(app: App, run: str) -> None:
    """Have a run driven that has no driver. An execution of the queue is queued again instead."""
    _driven(app, run, lambda: FRESH)


def _driven(app: App, run: str, say: Callable[[], Verdict]) -> Verdict:
    """Say something to a run, then have it driven if it has no driver.

    The driver's lock is held from before that, so that nobody sees the run without a driver in between.
    """
    head = head_of(app, run)
    top = head.parent or head.run
    if is_execution(head_of(app, top).workflow):  # a worker may take it at once, so its lock is free until nobody does
        verdict = say()
        return verdict if verdict.status not in MOVED or _queued(app, top) else _driven_here(app, top, lambda: verdict)
    return _driven_here(app, top, say)


def _driven_here(app: App, top: str, say: Callable[[], Verdict]) -> Verdict:
    if not is_driven(app.door.load(top).run.data):
        return say()
    with held_for_another(app, top) as lock:
        verdict = say()
        if lock is not None:
            _start_driver(app, top, verdict, lock)
            return verdict
    with held_for_another(app, top) as lock:  # whoever drove it may have left before it could see what was said
        if lock is not None:
            _start_driver(app, top, verdict, lock)
    return verdict


def _queued(app: App, execution: str) -> bool:
    catch_up(app, execution)
    return go_on(app, execution)


def _start_driver(app: App, run: str, verdict: Verdict, lock: TextIO) -> None:
    """Start a detached driver process if there may be work. It gets the lock, and outlives this server."""
    if verdict.status not in MOVED or head_of(app, run).ended:
        return
    argv = [sys.executable, "-I", "-m", "detent", "-C", str(app.place.root), "run", "--run", run, "--json"]
    hand_over(lock, start_detached(argv, app.place.root, os.environ, driver_log(app, run), lock.fileno()))
