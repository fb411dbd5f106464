"""A program for the queue's tests: works in three steps, records each, and continues after the last one when restarted.

`queue_child.py FOLDER ID HOW`: HOW is the seconds of its work, `wait` (until FOLDER/go exists, with a child process), `fail`, `blocked`,
`again`, `die` (kills its worker too) or `silent`.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

DAEMON = "import os, sys, time; os.setsid(); open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); time.sleep(600)"


def note(folder: Path, name: str, text: str) -> None:
    with (folder / name).open("a") as file:
        file.write(f"{text}\n")
        file.flush()


def alone(folder: Path, id: str) -> int:
    """Lock the execution for the life of this process; an overlap is recorded."""
    fd = os.open(folder / f"{id}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note(folder, "overlaps", id)
        sys.exit(75)
    return fd


def work(folder: Path, id: str, seconds: float) -> None:
    done = len((folder / f"{id}.steps").read_text().splitlines()) if (folder / f"{id}.steps").exists() else 0
    for step in range(done, 3):
        time.sleep(seconds / 3)
        note(folder, f"{id}.steps", f"step {step}")
        print(f"step {step} of {id}", flush=True)
    try:
        os.close(os.open(folder / f"{id}.end", os.O_CREAT | os.O_EXCL))
        note(folder, "ends", id)
    except FileExistsError:
        pass


def wait(folder: Path, id: str) -> None:
    """Work until a file exists, with a daemon that would outlive it."""
    subprocess.Popen([sys.executable, "-c", DAEMON, str(folder / "pids")])
    print(f"waiting in {id}", flush=True)
    while not (folder / "go").exists():
        time.sleep(0.02)


def main() -> int:
    folder, id, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    held = alone(folder, id)
    note(folder, "starts", id)
    note(folder, "pids", str(os.getpid()))
    note(folder, "count", "+1")
    if how in ("fail", "blocked", "again"):
        print(f"this one ends with {how}", flush=True)
        return {"fail": 1, "blocked": 10, "again": 75}[how]
    if how == "die":
        os.kill(os.getppid(), signal.SIGKILL)
    if how == "silent":
        time.sleep(600)
    wait(folder, id) if how == "wait" else work(folder, id, float(how))
    note(folder, "count", "-1")
    os.close(held)
    return 0


if __name__ == "__main__":
    sys.exit(main())
