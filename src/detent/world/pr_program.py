"""Runs `git.pr_command` to open a pull request, at most once per run, across crashes and machines.

If it is killed, nobody knows whether it had opened one. So a shared ref records that it was started, and afterwards the forge is
asked, or without a known forge a person.
"""

from collections.abc import Callable, Sequence

from detent.door import AnyRun
from detent.errors import CannotTell, DetentError, Unreached
from detent.forge import Pulls
from detent.gates.item import ItemData
from detent.git.commits import short
from detent.git.repo import ZERO
from detent.sandbox.process import run as run_program
from detent.world.pulls import URL, keep_url, url_of
from detent.world.work_tree import RepoWorld

TIME = 120.0  # seconds
CUT_OFF = (
    "git.pr_command was started for {branch} and cut off, so it is unknown whether a pull request is open. "
    "If one is, give its URL: detent resume --run {run} --guidance URL. If none is: detent resume --run {run}"
)


def opened_by(world: RepoWorld, run: AnyRun, argv: Sequence[str], env: dict[str, str], update: Callable[[], str]) -> str:
    """The URL of the pull request that the program opened, now or earlier. If the forge is known, an open one is updated there."""
    common, branch = world.place.common_dir, short(run.data.branch)
    if asked := _asked(world, run):
        pulls = _forge(world, run)
        if pulls is not None and pulls.found(branch) is not None:
            return keep_url(common, run.id, update())
        if pulls is None and world.git.resolve(_opened(run)):
            return url_of(common, run)  # the push has updated it
        if pulls is None and isinstance(run.data, ItemData):
            guidance = _guidance_since(world, run, max(asked.values()))
            if guidance is None:
                raise CannotTell(CUT_OFF.format(branch=branch, run=run.id))
            if URL.search(guidance):
                return keep_url(common, run.id, guidance)
    _mark(world, run, f"refs/detent/{run.id}/pull-asked/{run.seq}")
    world.runs.share(run)
    output = _start(world, run, argv, env)
    _mark(world, run, _opened(run))
    return keep_url(common, run.id, output)


def _start(world: RepoWorld, run: AnyRun, argv: Sequence[str], env: dict[str, str]) -> str:
    """Run the program; returns its output. If it exits with an error, it has opened nothing."""
    try:
        ran = run_program(argv, world.place.root, env, TIME, world.runs.wanted)
    except OSError as e:
        _forget(world, run)
        raise CannotTell(f"git.pr_command: '{argv[0]}' could not be started: {e.strerror}") from e
    if ran.exit_code == 0:
        return ran.output
    if ran.exit_code is not None and ran.exit_code > 0:
        _forget(world, run)
    slow = f" (it took more than {TIME:.0f} s)" if ran.timed_out else ""
    raise CannotTell(f"git.pr_command failed{slow}: {ran.output[-2000:]}")


def _forge(world: RepoWorld, run: AnyRun) -> Pulls | None:
    """The forge of a run, or None if it is unknown or there is no access."""
    try:
        return world.config_of(run).pulls()
    except Unreached:
        raise
    except DetentError:
        return None


# -- refs --------------------------------------------------------------------------------------------------------------------


def _opened(run: AnyRun) -> str:
    return f"refs/detent/{run.id}/pull-opened"


def _asked(world: RepoWorld, run: AnyRun) -> dict[str, int]:
    """The starts of the program for a run: ref -> number of the event."""
    names = world.git.run("for-each-ref", "--format=%(refname)", f"refs/detent/{run.id}/pull-asked/").text.split()
    return {name: int(name.rpartition("/")[2]) for name in names}


def _guidance_since(world: RepoWorld, run: AnyRun, since: int) -> str | None:
    """The guidance of a person who resumed the run after event `since`; None if nobody did."""
    words = [event.sent.guidance for event in world.runs.history(run.id) if event.on == "resume" and event.run.seq > since]
    return words[-1] if words else None


def _mark(world: RepoWorld, run: AnyRun, ref: str) -> None:
    tip, old = world.git.resolve(f"{run.data.branch}^{{commit}}"), world.git.resolve(ref)
    if tip != old:
        world.git.update([(ref, tip, old or ZERO)])


def _forget(world: RepoWorld, run: AnyRun) -> None:
    world.git.update([(ref, ZERO, world.git.resolve(ref)) for ref in _asked(world, run)])
