"""Runs one program and measures the cost of its whole process tree. Measures in a separate process, so that no other process becomes a subreaper.

`run` is the entry point. Started as a script, this file is that process: it adopts orphans, so that the CPU time of daemons counts too.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36
DRAIN = 20.0  # seconds that orphans get to exit
MEMORY = 6 << 30  # bytes of data per process, so that an endless loop cannot take the machine down


class Cost(NamedTuple):
    """How a program ended, its output and its cost."""

    code: int | None  # None: it timed out and was killed
    out: str
    err: str
    seconds: float
    cpu: float  # user and system seconds of all descendants


def run(argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str = "", timeout: float = 1800) -> Cost:
    """Run a program to its end. On a timeout or an interrupt, its whole process group is killed."""
    with tempfile.TemporaryDirectory(prefix="detent-meter-") as folder:
        told = Path(folder) / "cost"
        outer = [sys.executable, "-I", __file__, str(told), *argv]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            outer, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True
        )
        begun = time.monotonic()
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            return Cost(None, "", f"it took more than {timeout:.0f} seconds", time.monotonic() - begun, 0.0)
        except BaseException:
            _end(process)
            raise
        if not told.exists():
            return Cost(127, out, err, time.monotonic() - begun, 0.0)  # it could not be started
        found = json.loads(told.read_text())
    return Cost(found["code"], out, err, found["seconds"], found["cpu"])


def _end(process: subprocess.Popen[str]) -> None:
    """Terminate a program so that it can clean up; kill it if it does not end."""
    for sign, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, sign)
            process.communicate(timeout=patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def main(told: str, argv: Sequence[str]) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    begun = time.monotonic()
    code = subprocess.run(argv).returncode
    seconds = time.monotonic() - begun
    _reap()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    Path(told).write_text(json.dumps({"code": code, "seconds": seconds, "cpu": used.ru_utime + used.ru_stime}))


def _reap() -> None:
    """Wait for orphans: CPU time is only known for processes that were waited for."""
    until = time.monotonic() + DRAIN
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
