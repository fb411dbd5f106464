"""Go's own library, built once for all tests of an environment: every test project would otherwise need 20 s for it. Each test records it in its state."""

import fcntl
import os
import sys
import time
from pathlib import Path

from detent.evidence.runners import Command
from detent.evidence.runners.build_caches import builds, folder_of
from detent.evidence.runners.kept_builds import Build
from detent.evidence.running.suite import Suite, environment, run_line
from detent.storage import state

KNOWN = Path(sys.prefix) / "go-library"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
_digests: dict[str, str] = {}  # of libraries that this process has checked


def lend() -> None:
    """Make the library known to the state folder of the running test, as if a Go project had been built there."""
    if "XDG_STATE_HOME" not in os.environ:
        return
    env = environment(_suite(), {"HOME": os.path.expanduser("~"), **os.environ}, Path(sys.prefix), folder_of(Path(sys.prefix), os.environ))
    library = builds("go", env)["GOCACHE"].library
    if library is None:
        return
    state.write_sealed(library.record, f"{_digest(library, env)} {time.time()}", durable=False)


def _suite() -> Suite:
    return Suite(Command(("go", "test", "./..."), "go", "configured", ("./...",)), 900, PATH, fills=True)


def _digest(library: Build, env: dict[str, str]) -> str:
    """The library's digest; the first caller builds it."""
    key = str(library.folder)
    if key not in _digests:
        with KNOWN.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = KNOWN.read_text() if KNOWN.is_file() else ""
            if not library.folder.is_dir() or library._look()[1] != known:
                run_line("true", _suite(), Path(sys.prefix), env, lambda: True)
                KNOWN.write_text(library._look()[1])
            _digests[key] = KNOWN.read_text()
    return _digests[key]
