"""`run` and `resume` in push mode: check the agents and the sandbox, drive the run, and give its result."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from detent.app import App
from detent.app.commit_settings import settings_for
from detent.app.driver_lock import driver_of, only_driver
from detent.app.live_log import keep_stop, kept_live
from detent.app.overtime import ParkingClock
from detent.app.registry import workflow_of
from detent.app.run_configs import CONFIGURED
from detent.app.run_driver import whole_driver
from detent.app.suite_on_main import tests_run
from detent.app.tally import unrecorded_usage
from detent.app.who import agents_are_ready
from detent.config import Settings
from detent.door import AnyRun
from detent.drive import Seen
from detent.drive.spent import spent_in
from detent.errors import DetentError, Outage
from detent.git.commits import commits_by_event, tip_of
from detent.kernel.model import Briefing
from detent.queue.recovery import RECOVERY
from detent.world.pulls import url_of

STUCK = ("HALTED", "BLOCKED")  # states that a person must release
OUTCOMES = {"proved": "done", "stopped": "aborted"}


class PushedCommit(NamedTuple):
    hash: str
    phase: str
    subject: str


def fit_for_push(app: App, agent: str = "", workflow: str = "") -> str:
    """Check agents and sandbox before a run is driven; returns the sandbox's name. `workflow`: of a run that is about to begin."""
    from detent.app.run_configs import must_hold

    return must_hold(agents_fit(app, agent, workflow), app.world.outer)


def fit_for_queue(app: App, agent: str) -> None:
    """Like `fit_for_push`, for a worker: what is missing raises an Outage."""
    from detent.app.away import as_outage
    from detent.app.run_configs import must_hold

    with as_outage("agent"):
        settings = agents_fit(app, agent)
    with as_outage("tests"):
        must_hold(settings, app.world.outer)


def agents_fit(app: App, agent: str, workflow: str = "") -> Settings:
    """Check that the agents (of all roles of `workflow`) can be asked; returns the settings that name them."""
    settings = settings_for(app.world.git, app.world.git.head(), app.world.outer).settings
    agents_are_ready(settings, agent, app.world.outer, app.place.root, roles_of(workflow) if workflow else ())
    for key in ("checkpoint", "squash"):
        if getattr(settings.git, key) == "agent":
            raise DetentError(
                f'[git] {key} = "agent" does not work here: an agent that the machine drives has no git',
                'set it to "auto", or leave it out',
            )
    return settings


def roles_of(workflow: str) -> list[str]:
    """The agent roles of a workflow, without the reviewer, which is checked separately."""
    states = workflow_of(workflow).table.states.values()
    return sorted({state.role for state in states if state.actor == "agent" and not (state.job and state.role == "reviewer")})


def push(app: App, run: str, watch: Callable[[Seen], None], park: bool = False) -> dict[str, Any]:
    """Drive a run until it ends or waits; returns its result object.

    `park`: raise instead of waiting long, Parked for a usage limit and Outage after some retries.
    """
    begun = time.monotonic()
    app.worlds.runs.patient, app.worlds.runs.tests_run = park, partial(tests_run, app.worlds)
    while True:
        briefing = _driven(app, run, watch, park)
        if park or not _was_answered(app, run, briefing):  # while this process still held the lock, an answer started no other
            return result(app, run, briefing, time.monotonic() - begun)


def _was_answered(app: App, run: str, briefing: Briefing) -> bool:
    """Whether a run that waited for a person has work for the machine again, and nobody does it."""
    acting = app.door.acting(run)
    if app.door.load(briefing.run).run.state == briefing.state:
        return False
    return app.door.tables[acting.workflow].states[acting.state].actor in ("agent", "system") and not driver_of(app, run)


def _driven(app: App, run: str, watch: Callable[[Seen], None], park: bool) -> Briefing:
    """Drive until the run ends or waits."""
    with only_driver(app, run), whole_driver(app, run, kept_live(app, run, watch)) as driver:
        if park:
            driver.clock = ParkingClock(driver.clock)
        try:
            briefing = _asking_again(lambda: driver.drive(run))
        except DetentError as e:
            keep_stop(app, run, e)
            raise
        if briefing.actor == "none":
            app.worlds.leave(app.door.load(run).run)
    return briefing


def _asking_again(work: Callable[[], Briefing]) -> Briefing:
    """Do something, and retry it after an Outage with exponential backoff, for as long as the recovery table says."""
    waited, pause = 0.0, 1.0
    while True:
        try:
            return work()
        except Outage as e:
            if waited + pause > RECOVERY[e.thing].here:
                raise
        time.sleep(pause)
        waited, pause = waited + pause, pause * 2


def result(app: App, run_id: str, briefing: Briefing, seconds: float) -> dict[str, Any]:
    """The result object of a driven run, as documented."""
    run, acting = app.door.load(run_id).run, app.door.acting(run_id)
    end = app.door.tables[run.workflow].states[run.state].end
    family = app.worlds.runs.family(run_id)
    total = spent_in((e for each in family for e in app.worlds.runs.history(each.id)), whole=True).usage
    total = sum((unrecorded_usage(app, each.id) for each in family), total)
    flow = workflow_of(run.workflow)
    stands = flow.tests(run) or {"completed": [], "pending": []}
    return {
        "run": run.id,
        "workflow": run.workflow,
        "state": acting.state,
        "outcome": "halted" if acting.state in STUCK else OUTCOMES[end] if end else "waiting",
        "branch": run.data.branch.removeprefix("refs/heads/") or None,
        "pull_request": url_of(app.place.common_dir, run) or None,
        "commits": [c._asdict() for c in commits_of(app, run)],
        "cycles": getattr(run.data, "cycle", 0),
        "tests": stands,
        "error": None if end == "proved" else acting.last_error or briefing.last_error,
        "usage": {
            "input_tokens": total.input_tokens + total.written_tokens,
            "output_tokens": total.output_tokens,
            "cached_tokens": total.cached_tokens,
            "usd": round(total.usd, 6),
        },
        "seconds": round(seconds, 1),
        **flow.result(app, run),
    }


def commits_of(app: App, run: AnyRun) -> list[PushedCommit]:
    """The commits that the machine made for a run and its children, in order, with the phase of each."""
    found = []
    for each in app.worlds.runs.family(run.id):
        made = commits_by_event(app.world.git, each.id, "phase")
        by_event = {event.run.seq: event for event in app.worlds.runs.history(each.id) if event.run.seq in made}
        found += [PushedCommit(made[seq], by_event[seq].was, app.world.git.message(made[seq]).splitlines()[0]) for seq in sorted(by_event)]
    return _in_order(app, run, found)


def _in_order(app: App, run: AnyRun, commits: list[PushedCommit]) -> list[PushedCommit]:
    """Commits of several runs in the order of the branch; those not on it last."""
    if len({c.hash for c in commits}) < 2 or not run.data.base:
        return commits
    tip = tip_of(app.world.git, run.id, run.data.base)
    order = app.world.git.run("rev-list", "--reverse", f"{run.data.base}..{tip}", "--").text.splitlines()
    return sorted(commits, key=lambda c: order.index(c.hash) if c.hash in order else len(order))


def recorded_agent(spec: str) -> str:
    """The agent as a run records it: the one that was named, or CONFIGURED."""
    return spec or CONFIGURED
