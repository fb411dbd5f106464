"""Builds the configured tracker of a repository, with what it needs of the machine."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence

from detent.app.forges import finder, forge_of
from detent.app.opened import now, shared_url
from detent.config import Settings
from detent.forge import Api, ForgeProject
from detent.git.place import Place
from detent.sandbox.process import run
from detent.tracker import Means, Tracker, TrackerError, TrackerResult, make_tracker

KEPT = ("HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK")  # what a tracker's program may see
PATIENCE = 120.0  # seconds for one call


def tracker_of(settings: Settings, place: Place, outer: Mapping[str, str]) -> Tracker:
    """The tracker that the settings name, for a checkout."""
    url, wanted, find, call = shared_url(place, outer), settings.tracker, finder(place, outer), _caller(place, outer)

    def forge(kind: str) -> tuple[Api, ForgeProject]:
        return forge_of(kind, settings, place, outer)

    means = Means(place.root, place.common_dir / "detent", now, find, call, outer, url, forge, wanted.query, wanted.ready)
    return make_tracker(wanted.kind, means)


def _caller(place: Place, outer: Mapping[str, str]) -> Callable[[Sequence[str], Mapping[str, str]], TrackerResult]:
    """A function that runs a tracker's program in the person's checkout, with a timeout and stderr apart."""
    env = {k: v for k, v in outer.items() if k in KEPT or k.startswith(("BD_", "BEADS_"))}

    def call(argv: Sequence[str], more: Mapping[str, str]) -> TrackerResult:
        with tempfile.TemporaryFile() as errors:
            try:
                ran = run(argv, place.root, {**env, **more}, PATIENCE, stderr=errors.fileno())
            except OSError as e:
                raise TrackerError(f"`{argv[0]}` could not be started: {e.strerror}", "see `detent doctor`") from e
            errors.seek(0)
            stderr = errors.read(100_000).decode("utf-8", "replace")
        if ran.timed_out:
            raise TrackerError(f"`{os.path.basename(argv[0])} {argv[1]}` did not finish within {PATIENCE:.0f} s", "try it by hand")
        return TrackerResult(ran.exit_code, ran.output, stderr)

    return call
