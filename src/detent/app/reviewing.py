"""Wires reviewers: which agent is asked about a run, with which tools, sandbox and limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.driving import Driving, driving
from detent.app.opened import App
from detent.app.registry import workflow_of
from detent.app.run_configs import DEFAULT, PULL, home_of, sandbox_of
from detent.app.who import catalog_of
from detent.config import Settings
from detent.door import AnyRun
from detent.evidence.runners.build_caches import for_agents
from detent.world.reviewer import Asking

if TYPE_CHECKING:
    from detent.agents import Budget, Turn

TURN, SILENCE = 3600, 600  # longest review, and longest silence, in seconds; [queue] can shorten them


def asking_of(app: App, run: AnyRun) -> Asking:
    """How the reviewer of a run is asked. Its cost counts towards the run's budget."""
    from detent.drive.spent import left, limits_of, spent_in

    terms, events = driving(app, run.id), app.worlds.runs.spent(run.parent or run.id)
    budget = left(limits_of(terms.settings.limits), spent_in(sorted(events, key=lambda e: e.at)))
    return asking_with(app, run, terms, budget)


def asking_with(app: App, run: AnyRun, terms: Driving, budget: "Budget") -> Asking:
    settings = terms.settings
    env = for_agents(app.worlds.own.collector(run).env)
    file = app.place.common_dir / "detent" / "transcripts" / run.id / f"{run.id}.{run.seq}.review.jsonl"

    def turn(folder: Path) -> "Turn":
        from detent.agents import Turn
        from detent.tools import Toolbox

        own = replace(settings, sandbox=replace(settings.sandbox, pull=PULL))  # a person's reviewer needs the login in their home
        inside = sandbox_of(own, bool(run.data.setup.agent), app.world.outer, home_of(run, settings, app.place))
        shell = inside.shell(folder, env, float(settings.bash.timeout), app.worlds.runs.wanted)
        kept_in = inside.sandbox.name != PULL  # a model gets no shell without a sandbox
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
            wanted=app.worlds.runs.wanted,
            start=inside.agent,
            apart=inside.apart,
            transcript=file,
            model=settings.agents.model,
            catalog=catalog_of(settings),
        )

    return Asking(reviewer_of(run.workflow, terms.named, settings), app.world.outer, turn)


def reviewer_of(workflow: str, named: str, settings: Settings) -> str:
    """The reviewer's spec: the configured one; for executions, else an agent like the author's, in a fresh context."""
    if workflow_of(workflow).items is None:
        return settings.review.agent
    return settings.review.agent or named or settings.agents.of("reviewer") or DEFAULT
