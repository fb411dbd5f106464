"""Push mode, wired: who is asked, with which tools, in which sandbox, under which limits. And the lock: one driver at a time."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from detent.agents import AgentFailed, Reply, Turn, ask
from detent.app import App, now
from detent.app.allowed import base_of, may_write
from detent.app.cell import Cell, cell_of
from detent.app.policy import answer_of
from detent.config import Settings
from detent.door import AnyEvent, AnyRun
from detent.drive import Crew, Seen
from detent.drive.spent import Limits
from detent.errors import Busy, CannotTell
from detent.kernel.model import Briefing
from detent.tools import Toolbox
from detent.workflows.prompts import system_prompt

CONFIGURED = "configured"  # as the agent of a run: each role's own, from [agents]
DEFAULT = "anthropic"
TURN, SILENCE = 3600, 600  # seconds at most for one turn, and without a sign of life, unless [queue] says less


def agent_of(run: AnyRun, role: str, settings: Settings) -> str:
    """The agent that is asked in a role: the one the run was started with, else the configured one."""
    named: str = run.data.setup.agent
    return named if named != CONFIGURED else settings.agents.of(role) or DEFAULT


def crew_of(app: App, run_id: str, watch: Callable[[Seen], None]) -> Crew:
    """Everything the driver of a run works with."""
    first = app.door.load(run_id).run
    settings = msgspec.json.decode(first.data.setup.settings, type=Settings)
    outer: Mapping[str, str] = app.world.outer
    cell = cell_of(settings, True, outer, Path(first.worktree))
    limits = Limits(settings.limits.tokens, settings.limits.usd, settings.limits.minutes, settings.limits.turns)

    def turn_of(run: AnyRun, briefing: Briefing) -> Turn:
        return _turn(app, run, briefing, settings, cell)

    def asked(briefing: Briefing, turn: Turn) -> Reply:
        try:
            return ask(agent_of(first, briefing.role, settings), turn, outer)
        except CannotTell as e:  # the sandbox broke, or a guarded path was touched
            raise AgentFailed("Crashed", str(e)) from e

    def defaults(run: AnyRun, briefing: Briefing) -> dict[str, str]:
        return _known(app, run, briefing)

    def transcript(briefing: Briefing) -> Path:
        return app.place.common_dir / "detent" / "transcripts" / briefing.run / f"{briefing.attempt_id}.jsonl"

    def history(run: str) -> list[AnyEvent]:
        """A run's events and its children's, as they happened: a budget is one for all of them."""
        gear = app.worlds.gear
        return sorted((e for each in gear.family(run) for e in gear.history(each.id)), key=lambda e: e.at)

    return Crew(app.door, history, asked, turn_of, defaults, transcript, _backoff, limits, watch, answers=answer_of)


def _turn(app: App, run: AnyRun, briefing: Briefing, settings: Settings, cell: Cell) -> Turn:
    world = app.worlds.of(run)
    root: Path = world.place.root
    env = {**world.collector(run).env, "DETENT_RUN": run.id, "DETENT_STATE": run.state, "DETENT_ROLE": briefing.role}
    shell = cell.shell(root, env, float(settings.bash.timeout), lambda: app.door.load(run.id).run.state == run.state)
    spill = app.place.common_dir / "detent" / "transcripts" / run.id / "spill"
    return Turn(
        briefing=msgspec.json.encode(briefing).decode(),
        prompt=briefing.briefing,
        system=system_prompt(run.workflow, briefing.role, str(root)),
        workspace=root,
        toolbox=Toolbox(root, may_write(briefing, base_of(app, run)), shell, spill),
        env=env,
        timeout=float(min(settings.queue.timeout, TURN)),
        silence=float(min(settings.queue.silence, SILENCE)),
        start=cell.agent,
        apart=cell.apart,
        model=settings.agents.model,
    )


EXPECTATIONS = {"RED": "FAIL", "GREEN": "PASS", "REFACTOR": "PASS"}


def _known(app: App, run: AnyRun, briefing: Briefing) -> dict[str, str]:
    """What of a submit the machine knows by itself: the step's expectation and the full test command."""
    base = base_of(app, run)
    if run.workflow != "pr" or briefing.state not in ("EXECUTING_TDD", "DEBUGGING") or briefing.step is None:
        return {}
    return {"expectation": EXPECTATIONS[briefing.step.type], **({"test_command": base.text} if base else {})}


def _backoff(run: AnyRun) -> float:
    if run.workflow != "tdd":
        return 0.0
    from detent.workflows.tdd_data import backoff

    return float(backoff(run))


@contextmanager
def only_driver(app: App, run: str) -> Iterator[None]:
    """One driver of a run at a time, whatever happens to it: the lock goes with the process. Its file stays: one that is removed could be held twice."""
    file = app.place.common_dir / "detent" / f"drive-{run}.lock"
    with file.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            lock.seek(0)
            raise Busy(f"run {run} is being driven by process {lock.read().strip() or '?'}", "wait for it, or stop it first") from e
        lock.truncate(0)
        lock.write(f"{os.getpid()} since {now()}")
        lock.flush()
        yield
