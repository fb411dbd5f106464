"""Wires push mode: which agent is asked, with which tools, sandbox and limits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import msgspec

from detent.agents import AgentFailed, Reply, Turn, ask
from detent.agents.kept import keep_reply, kept_reply
from detent.app import App, open_app
from detent.app.away import as_outage
from detent.app.conversation import base_of, may_write, only
from detent.app.driving import driving
from detent.app.executions import is_execution
from detent.app.overtime import ExecutionClock
from detent.app.policy import answer_of
from detent.app.registry import workflow_of
from detent.app.run_configs import OPEN, RunSandbox, home_of, sandbox_of
from detent.app.turn_context import with_context
from detent.app.turn_standing import prepare_turn, undo
from detent.app.who import agent_of, agents_are_ready, catalog_of
from detent.blocks.briefs import system_prompt
from detent.config import Settings
from detent.door import AnyEvent, AnyRun
from detent.drive import Driven, Driver, NoLimitClock, Seen
from detent.drive.spent import failed_tries, limits_of
from detent.drive.together import Together
from detent.errors import CannotTell, DetentError, Outage, Unreached
from detent.evidence.runners.build_caches import for_agents
from detent.git.branch_view import make_view
from detent.git.repo import GitError
from detent.kernel.model import Briefing
from detent.tools import Toolbox
from detent.world.turn_tree import left_by
from detent.world.turn_tree import turn as at_turn
from detent.world.work_tree import RepoWorld, is_parallel_task

PERSON = "human"  # the agent whose unfinished work is not undone
OUTAGES = {"Network": "limited"}  # for an execution, network failures count as a limit, not against its item
TURN, SILENCE = 3600, 600  # longest turn, and longest silence, in seconds; [queue] can shorten them


def never() -> bool:
    return False


class RunTurns:
    """Makes and asks the agent turns of one run. `stopped` turns true when nobody waits for the agent any more."""

    def __init__(self, app: App, run_id: str, stopped: Callable[[], bool] = never) -> None:
        self.app, self.run_id, self.stopped = app, run_id, stopped
        self.terms = driving(app, run_id)
        self.settings = self.terms.settings
        self.clock: ExecutionClock | None = None
        if is_execution(app.door.load(run_id).run.workflow):  # an execution has a timeout over all its turns
            self.clock = ExecutionClock(app, run_id, self.settings.queue.timeout, self.history(run_id))

    def workflow(self, name: str) -> Driven:
        return workflow_of(name)

    def history(self, run: str) -> list[AnyEvent]:
        """The events that share the run's budget, in order: its own, its children's, and those of runs it was rolled back from."""
        return sorted(self.app.worlds.runs.spent(self.run_id), key=lambda e: e.at)

    def turn_of(self, run: AnyRun, briefing: Briefing) -> Turn:
        app = self.app
        app.worlds.of(app.door.load(run.parent).run if run.parent else run)  # makes the workspace before anyone looks into it
        agent = agent_of(self.terms, briefing.role, failed_tries(app.worlds.runs.history(briefing.run)))
        if kept_reply(_transcript(app, briefing)) is None and agent != PERSON:
            prepare_turn(app, run, briefing)
        inside = sandbox_of(self.settings, True, app.world.outer, home_of(run, self.settings, app.place))
        elapsed = self.clock.seconds() if self.clock else 0.0
        made = _turn(app, run, briefing, self.settings, inside, self.settings.queue.timeout - elapsed)
        return made._replace(agent=agent)

    def ask(self, briefing: Briefing, turn: Turn) -> Reply:
        """The agent's reply. A reply that was stored before a crash is not asked for again; a failed turn is undone."""
        if (kept := kept_reply(turn.transcript)) is not None:
            return kept
        with self._or_away(briefing, turn), at_turn(self.app.place.common_dir, self.run_id if self.clock else briefing.run):
            reply = ask(turn.agent, turn._replace(wanted=lambda: turn.wanted() and not self.stopped()), self.app.world.outer)
            keep_reply(turn.transcript, reply)
            return reply

    @contextmanager
    def _or_away(self, briefing: Briefing, turn: Turn) -> Iterator[None]:
        """Undo a turn that fails. For a worker, an agent that cannot be asked at all becomes an Outage instead of a failure."""
        app, patient = self.app, self.app.worlds.runs.patient
        try:
            yield
        except CannotTell as e:  # the sandbox broke, or a guarded path was touched
            undo(app, briefing)
            raise AgentFailed("Crashed", str(e)) from e
        except AgentFailed as e:
            if e.sort != "Stopped":  # a stopped turn is repeated, or its run has ended
                undo(app, briefing)
            if e.sort == "Crashed" and patient:
                with as_outage("agent"):  # its program may have been uninstalled
                    agents_are_ready(self.settings, turn.agent, app.world.outer, app.place.root)
            raise
        except DetentError as e:
            undo(app, briefing)
            if patient and not isinstance(e, Unreached):
                raise Outage("agent", f"{e.message} ({e.hint})") from e
            raise

    def command(self, run: AnyRun) -> str:
        base = base_of(self.app, run)
        return base.text if base else ""


def driver(app: App, run_id: str, watch: Callable[[Seen], None], stopped: Callable[[], bool] = never) -> Driver:
    """A driver of a run that does its tasks one after the other."""
    turns = RunTurns(app, run_id, stopped)
    made = Driver(app.door, turns, turns.clock or NoLimitClock(), limits_of(turns.settings.limits), watch, answer_of)
    made.outages = OUTAGES if turns.clock else {}
    return made


@contextmanager
def whole_driver(app: App, run_id: str, watch: Callable[[Seen], None]) -> Iterator[Driver]:
    """The driver of a run. Parallel tasks each get a thread and an App of their own."""
    made, most = driver(app, run_id, watch), getattr(app.door.load(run_id).run.data, "parallel", 1)
    if most < 2:
        yield made
        return
    made.watch = one_by_one = _one_at_a_time(watch)

    def work(child: str, stopped: Callable[[], bool]) -> Briefing:
        return _apart(app, run_id, child, one_by_one, stopped)

    made.together = Together(most, work, lambda child: f"{child}.{app.door.load(child).run.seq}")
    try:
        yield made
    finally:
        made.together.close()


def _apart(app: App, run_id: str, child: str, watch: Callable[[Seen], None], stopped: Callable[[], bool]) -> Briefing:
    """Drive one child in its thread until it ends or waits; the workspace of an ended one is removed."""
    own = open_app(app.place.root, env=app.world.outer, wanted=lambda: not stopped())
    try:
        briefing = driver(own, run_id, watch, stopped).drive(child)
        if briefing.actor == "none" and is_parallel_task(ended := own.door.load(child).run):
            own.worlds.leave(ended)
        return briefing
    finally:
        own.journal.close()


def _one_at_a_time(watch: Callable[[Seen], None]) -> Callable[[Seen], None]:
    lock = Lock()

    def see(seen: Seen) -> None:
        with lock:
            watch(seen)

    return see


def _turn(app: App, run: AnyRun, briefing: Briefing, settings: Settings, inside: RunSandbox, left: float) -> Turn:
    """One turn; `left`: the remaining seconds of an execution."""
    world, flow = app.worlds.of(run), workflow_of(run.workflow)
    root: Path = world.place.root
    inside = inside._replace(only=only(briefing, root), view=_view(world, run) if inside.sandbox.name not in OPEN else None)
    briefing = with_context(app, run, briefing)
    env = {**for_agents(world.collector(run).env), "DETENT_RUN": run.id, "DETENT_STATE": run.state, "DETENT_ROLE": briefing.role}
    shell = inside.shell(root, env, float(settings.bash.timeout), lambda: app.door.load(run.id).run.state == run.state)
    transcripts = app.place.common_dir / "detent" / "transcripts"
    return Turn(
        briefing=msgspec.json.encode(briefing).decode(),
        prompt=briefing.briefing,
        system=system_prompt(flow.prompt_folder, briefing.role, flow.hand_in, str(root)),
        workspace=root,
        toolbox=Toolbox(root, may_write(briefing, base_of(app, run)), shell, transcripts / run.id / "spill"),
        env=env,
        timeout=left if flow.items else min(left, TURN),
        silence=float(settings.queue.silence if flow.items else min(settings.queue.silence, SILENCE)),
        start=inside.agent,
        apart=inside.apart,
        model=settings.agents.model,
        catalog=catalog_of(settings),
        transcript=_transcript(app, briefing),
    )


def _transcript(app: App, briefing: Briefing) -> Path:
    return app.place.common_dir / "detent" / "transcripts" / briefing.run / f"{briefing.attempt_id}.jsonl"


def _view(world: RepoWorld, run: AnyRun) -> tuple[Path, Path] | None:
    """The git dir that the agent sees instead of the checkout's: its branch and the leftovers of earlier turns.

    None if it cannot be made, as in a clone that lacks objects; the agent then sees nothing of git.
    """
    try:
        left = {each.ref: world.git.resolve(each.ref) for each in left_by(world.git, run.id).values()}
        return make_view(world.git, left), world.place.git_dir
    except (GitError, OSError):
        return None
