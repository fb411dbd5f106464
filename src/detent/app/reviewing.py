"""Reviewers, wired: who is asked about a run, with which tools, in which sandbox, under which limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.cell import PULL, cell_of
from detent.app.kit import DEFAULT, home_of
from detent.app.terms import Driving, Wired, driving
from detent.app.who import catalog_of
from detent.config import Settings
from detent.door import AnyRun
from detent.evidence.runners.kept import for_agents
from detent.world.reviewer import Asking

if TYPE_CHECKING:
    from detent.agents import Budget, Turn

TURN, SILENCE = 3600, 600  # seconds at most for a review, and without a sign of life, unless [queue] says less


def asking_of(app: Wired, run: AnyRun) -> Asking:
    """How the reviewer of a run is asked. What it takes counts among what the run may take."""
    from detent.drive.spent import left, limits_of, spent_in

    terms, gear = driving(app, run.id), app.worlds.gear
    events = (e for each in gear.family(run.parent or run.id) for e in gear.history(each.id))
    budget = left(limits_of(terms.settings.limits), spent_in(sorted(events, key=lambda e: e.at)))
    return asking_with(app, run, terms, budget)


def asking_with(app: Wired, run: AnyRun, terms: Driving, budget: "Budget") -> Asking:
    settings = terms.settings
    env = for_agents(app.worlds.own.collector(run).env)
    file = app.place.common_dir / "detent" / "transcripts" / run.id / f"{run.id}.{run.seq}.review.jsonl"

    def turn(folder: Path) -> "Turn":
        from detent.agents import Turn
        from detent.tools import Toolbox

        own = replace(settings, sandbox=replace(settings.sandbox, pull=PULL))  # a person's own reviewer has its log-in in the person's home
        cell = cell_of(own, bool(run.data.setup.agent), app.world.outer, home_of(run, settings, app.place))
        shell = cell.shell(folder, env, float(settings.bash.timeout), app.worlds.gear.wanted)
        kept_in = cell.sandbox.name != PULL  # a model gets no shell that nothing holds
        return Turn(
            briefing="",
            prompt="",
            system="",
            workspace=folder,
            toolbox=Toolbox(folder, lambda path: "a review changes no file", shell, file.parent / "spill") if kept_in else None,
            env=env,
            timeout=float(min(settings.queue.timeout, TURN)),
            silence=float(min(settings.queue.silence, SILENCE)),
            budget=budget,
            wanted=app.worlds.gear.wanted,
            start=cell.agent,
            apart=cell.apart,
            transcript=file,
            model=settings.agents.model,
            catalog=catalog_of(settings),
        )

    return Asking(reviewer_of(run.workflow, terms.named, settings), app.world.outer, turn)


def reviewer_of(workflow: str, named: str, settings: Settings) -> str:
    """Who reviews: the configured reviewer; for a branch, else an agent like the one that works, in a fresh context."""
    if workflow != "execute":
        return settings.review.agent
    return settings.review.agent or named or settings.agents.of("reviewer") or DEFAULT
