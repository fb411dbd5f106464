"""Outages: whether an error means that something outside is unavailable (remote, tracker, disk, tests), not that the work is wrong, and whether it is back."""

import errno
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from detent.app import open_app
from detent.app.project import items_of, project_settings
from detent.app.suite_on_main import tests_run
from detent.config import Settings
from detent.errors import DetentError, JournalAway, Outage, Unreached
from detent.git.place import Place
from detent.git.remote import answers, has_remote
from detent.storage.state import state_dir

FULL = (errno.ENOSPC, errno.EDQUOT)
MEGABYTE = 1_000_000


class ParkReason(NamedTuple):
    """Why a run is parked: the thing that is unavailable, and the error's message."""

    cause: str
    message: str


def parked_by(error: BaseException) -> ParkReason | None:
    """The outage that an error, or one in its chain of causes, stands for; None if it means something else."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, Outage):
            return ParkReason(seen.thing, seen.message)
        if isinstance(seen, JournalAway):
            return ParkReason("database", seen.message)
        if is_full(seen):
            return ParkReason("disk", "no space is left on the disk")
        if isinstance(seen, Unreached) and not seen.until:
            return ParkReason("tracker", seen.message)
        seen = seen.__cause__
    return None


def is_full(error: BaseException) -> bool:
    return (isinstance(error, OSError) and error.errno in FULL) or (isinstance(error, sqlite3.OperationalError) and "full" in str(error))


@contextmanager
def as_outage(thing: str) -> Iterator[None]:
    """Turn a DetentError raised inside into an Outage of `thing`."""
    try:
        yield
    except DetentError as e:
        raise Outage(thing, f"{e.message} ({e.hint})" if e.hint else e.message) from e


# -- asking ------------------------------------------------------------------------------------------------------------------


def room(place: Place, need: int) -> Callable[[int], str]:
    """A check for free disk space: given the number of running executions, why there is none for one more (each needs `need` MB); else ""."""

    def look(running: int) -> str:
        for folder in (place.common_dir, _there(state_dir())):
            free = shutil.disk_usage(folder).free // MEGABYTE
            if need and free < need * (running + 1):
                beside = f" beside the {running} at work" if running else ""
                return (
                    f"{free} MB are free on the disk of {folder}, and an execution{beside} needs {need * (running + 1)} ([queue] free_disk)"
                )
        return ""

    return look


def _there(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def back(place: Place, env: Mapping[str, str], settings: Settings) -> Callable[[str], bool]:
    """A check whether a thing that was unavailable answers again."""
    asked: dict[str, Callable[[], bool]] = {
        "remote": lambda: _remote_answers(place, env),
        "tracker": lambda: _tracker_answers(place, env),
        "disk": lambda: not room(place, settings.queue.free_disk)(0),
        "tests": lambda: _tests_answer(place, env),
    }
    return lambda thing: asked[thing]() if thing in asked else True


def _remote_answers(place: Place, env: Mapping[str, str]) -> bool:
    app = open_app(place.root, env=env)  # one of this thread's own
    with closing(app.journal):
        remote = project_settings(app.world.git, env)[0].git.remote
        return not has_remote(app.world.git, remote) or answers(app.world.git, remote)


def _tracker_answers(place: Place, env: Mapping[str, str]) -> bool:
    app = open_app(place.root, env=env)
    with closing(app.journal):
        try:
            items_of(app).items()
        except Unreached:
            return False
        return True


def _tests_answer(place: Place, env: Mapping[str, str]) -> bool:
    app = open_app(place.root, env=env)
    with closing(app.journal):
        return tests_run(app.worlds)
