"""The keeper between Detent and a container engine. Runs as a program of its own: standard library only, nothing of Detent.

An engine leaves a monitor process that outlives its caller. The keeper adopts what the engine starts and, however suddenly Detent dies,
has the engine remove the container. It exits with the engine's exit code once the monitor is gone as well.

    keeper.py PARENT ERRORS REMOVE… -- RUN…      ERRORS: a file for the engine's stderr, or - for the keeper's own
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

SET_DEATH_SIGNAL, SET_SUBREAPER = 1, 36
PATIENCE = 10.0  # seconds for the monitor to exit after the engine


def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


def is_monitor(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip() in ("conmon", "podman")
    except OSError:
        return False


def wait_for_the_monitor() -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and any(is_monitor(pid) for pid in children()):
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            time.sleep(0.005)


def end(engine: "subprocess.Popen[bytes]", remove: list[str]) -> None:
    """Detent is gone: remove the container and kill what is left."""
    engine.kill()
    subprocess.run(remove, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    for pid in children():
        os.kill(pid, signal.SIGKILL)
    os._exit(1)


def main() -> int:
    parent, errors, *words = sys.argv[1:]
    at = words.index("--")
    remove, run = words[:at], words[at + 1 :]
    libc = ctypes.CDLL(None)
    libc.prctl(SET_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    libc.prctl(SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    stderr = None if errors == "-" else os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    engine = subprocess.Popen(run, stderr=stderr, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM}))
    signal.signal(signal.SIGTERM, lambda *_: end(engine, remove))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if os.getppid() != int(parent):  # it died before its death could be noticed
        end(engine, remove)
    code = engine.wait()
    wait_for_the_monitor()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
