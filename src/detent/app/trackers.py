"""The tracker of a repository, wired: the kind that is configured, with what it needs of the machine."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from detent.app.clock import now
from detent.app.shared import shared_url
from detent.git.place import Place
from detent.sandbox.process import run
from detent.tracker import TRACKERS, Means, Said, Tracker, TrackerError

KEPT = ("HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK")  # what a tracker's program may see
PATIENCE = 120.0  # seconds for one call


def tracker_of(kind: str, place: Place, outer: Mapping[str, str]) -> Tracker:
    """The tracker of a kind for a checkout."""
    url = shared_url(place, outer)
    return TRACKERS[kind](Means(place.root, place.common_dir / "detent", now, _finder(place, outer), _caller(place, outer), url))


def _finder(place: Place, outer: Mapping[str, str]) -> Callable[[str], str]:
    """Programs on PATH; never one that lies in the project itself."""

    def find(name: str) -> str:
        file = shutil.which(name, path=outer.get("PATH", os.defpath))
        inside = file is not None and Path(file).resolve().is_relative_to(place.root)
        return file if file and not inside else ""

    return find


def _caller(place: Place, outer: Mapping[str, str]) -> Callable[[Sequence[str], Mapping[str, str]], Said]:
    """How a tracker's program is run: in the person's checkout, in bounded time, its two streams apart."""
    env = {k: v for k, v in outer.items() if k in KEPT or k.startswith(("BD_", "BEADS_"))}

    def call(argv: Sequence[str], more: Mapping[str, str]) -> Said:
        with tempfile.TemporaryFile() as errors:
            try:
                ran = run(argv, place.root, {**env, **more}, PATIENCE, stderr=errors.fileno())
            except OSError as e:
                raise TrackerError(f"`{argv[0]}` could not be started: {e.strerror}", "see `detent doctor`") from e
            errors.seek(0)
            said = errors.read(100_000).decode("utf-8", "replace")
        if ran.timed_out:
            raise TrackerError(f"`{os.path.basename(argv[0])} {argv[1]}` did not end within {PATIENCE:.0f} s", "try it by hand")
        return Said(ran.exit_code, ran.output, said)

    return call
