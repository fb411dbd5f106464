"""A night of work: machines with real workers, a forge on loopback, a remote, a database, and faults in each of them.

The faults come one after another, each once a number of executions have ended, and workers are killed all the time.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from detent.errors import DetentError
from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from detent.queue.queue_protocol import ENDS, Execution
from tests.executions import CONFIG, Till, passing
from tests.forge_github import PROJECT, GitHub
from tests.forge_server import Call, Said, served
from tests.machine import lacks
from tests.night_script import AGENT, ROUNDS, SILENCE, NightItem, play
from tests.patience import LONG
from tests.postgres import Server
from tests.repos import sh
from tests.test_queue_machines import Machine

MEGABYTES = 400  # of the small disk
FREE = 12  # megabytes that each execution needs free
AT_ONCE = 10  # items queued together; those of the scripted agent first
LONGEST = 3000.0  # seconds of a whole night
REJECTS = 'case $1 in refs/heads/*rejected*) echo "no branch of this name is taken" >&2; exit 1;; esac'
SETTINGS = f"""{CONFIG}[git]
merge = 'pull-request'
[forge]
kind = 'github'
project = '{PROJECT}'
[review]
max_rounds = {ROUNDS}
[queue]
silence = {SILENCE}
free_disk = {FREE}
"""


class NightForge(GitHub):
    """A forge that records the commit at which each pull request was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, str]] = []
        self.tip: Callable[[str], str] = lambda branch: ""

    def _open(self, call: Call) -> Said:
        said = super()._open(call)
        if said.status == 201:
            self.opened.append((call.body["head"], self.tip(call.body["head"])))
        return said


class Fault(NamedTuple):
    """A fault: begins once `after` executions have ended, and lasts `lasts` seconds from when the workers notice it."""

    name: str
    after: int
    lasts: float
    begin: Callable[[], None]
    met: Callable[[], bool]
    end: Callable[[], None]


class Shift:
    """One night: its machines, workers and queue."""

    def __init__(self, folder: Path, server: Server | None, tracker: str, machines: int, slots: int = 3) -> None:
        self.folder, self.server, self.forge = folder, server, NightForge()
        self.prepares = passing(folder / "env" / "prepare")
        env = f"[workspace]\nsetup = '{self.prepares}'\n[sandbox]\nmounts = ['{self.prepares.parent}']\n"
        more = f"slots = {slots}\n[tracker]\nkind = '{tracker}'\n{env}"
        self.till = Till(folder, SETTINGS + more)
        self.till.hook(REJECTS)
        self.forge.tip = lambda branch: self.till.there("rev-parse", branch)
        self.url = server.database() if server else ""
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.places = [self.disk / "one", folder / "two"][:machines]
        self.kills, self.restarts, self.told = 0, 0, list[str]()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.begun = time.monotonic()

    @contextmanager
    def open(self) -> Iterator["Shift"]:
        """Start everything, and stop it afterwards."""
        with served(self.forge), small_disk(self.disk):
            self.machines = [Machine(self.till, place, self.url) for place in self.places]
            for machine in self.machines:
                machine.project.env |= {"GITHUB_API_URL": self.forge.url, "GITHUB_TOKEN": "token-a"}
            self.here = self.machines[-1]
            self.watched = self.queue()
            try:
                yield self
            finally:
                self.watched.close()
                for worker in self.workers:
                    if worker.poll() is None:
                        worker.kill()
                    worker.wait(LONG)

    def queue(self) -> DurableQueue:
        return DurableQueue(open_database(self.url, self.here.project.root / ".git" / "detent" / "queue.db"))

    def file(self, items: Sequence[NightItem]) -> dict[str, NightItem]:
        """File and queue the items; returns them by id."""
        lines = [f"- {item.title}" + (f"\n  needs: {item.needs}" if item.needs else "") for item in items]
        plan = self.folder / "plan.md"
        plan.write_text("\n".join(lines) + "\n")
        listed = {row["title"]: row["id"] for row in self.here.json("items", "add", "--file", str(plan))["items"]}
        script = self.folder / "script.json"
        first, then = ([item for item in items if bool(item.needs) == needs] for needs in (False, True))  # needed items are queued first
        for some in (part[n : n + AT_ONCE] for part in (first, then) for n in range(0, len(part), AT_ONCE)):
            for agent, scripted in ((play(items, script), True), (AGENT, False)):
                if ids := [listed[item.title] for item in some if item.way.scripted == scripted]:
                    self.here.json("queue", "add", *ids, "--agent", agent)
        play(items, script)
        return {listed[item.title]: item for item in items}

    # -- workers -----------------------------------------------------------------------------------------------------------------

    def work(self) -> None:
        self.workers = [self._start(machine) for machine in self.machines]

    def _start(self, machine: Machine) -> subprocess.Popen[bytes]:
        env = machine.project.env
        with (self.folder / f"work-{self.places[self.machines.index(machine)].name}.log").open("ab") as log:
            return subprocess.Popen(machine.project.argv("work", "--events"), cwd=machine.project.root, env=env, stdout=log, stderr=log)

    def kill(self, at: int) -> None:
        self.workers[at].kill()
        self.workers[at].wait(LONG)
        self.kills += 1
        self.say(f"worker {at + 1} is killed")
        self.workers[at] = self._start(self.machines[at])

    def keep_up(self) -> None:
        """Restart workers that have ended, as a service manager does."""
        for at, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.say(f"worker {at + 1} ended with {worker.returncode}")
                self.restarts += 1
                self.workers[at] = self._start(self.machines[at])

    def leave(self) -> list[int]:
        """Ask every worker to stop; their exit codes."""
        for worker in self.workers:
            worker.send_signal(signal.SIGINT)
        return [worker.wait(LONG) for worker in self.workers]

    def logs(self) -> str:
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.folder.glob("work-*.log")))

    # -- faults ------------------------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self.told.append(f"{time.monotonic() - self.begun:6.1f} s  {text}")
        (self.folder / "night.log").write_text("\n".join(self.told))

    def away(self, thing: str) -> bool:
        return any(each.thing == thing for each in self.seen("away"))

    def seen(self, what: str) -> Sequence[Any]:
        """What the queue answers; nothing while it cannot be reached."""
        with suppress(DetentError, sa.exc.SQLAlchemyError):
            return self.watched.away() if what == "away" else self.watched.all()
        return ()

    def remote_away(self, after: int, lasts: float) -> Fault:
        moved = self.till.remote.with_name("moved.git")
        return Fault(
            "remote",
            after,
            lasts,
            lambda: back(self.till.remote, moved),
            lambda: self.away("remote"),
            lambda: back(moved, self.till.remote),
        )

    def tests_away(self, after: int, lasts: float) -> Fault:
        """A fault: the program that the tests need is missing."""
        moved = self.prepares.with_name("moved")
        return Fault(
            "tests", after, lasts, lambda: back(self.prepares, moved), lambda: self.away("tests"), lambda: back(moved, self.prepares)
        )

    def disk_full(self, after: int, lasts: float) -> Fault:
        filler = self.disk / "filler"
        since: list[float] = []

        def met() -> bool:
            since.append(time.monotonic())
            return self.away("disk") or since[-1] - since[0] > 60  # a queue on that very disk cannot say so

        return Fault("disk", after, lasts, lambda: fill(filler), met, filler.unlink)

    def database_away(self, after: int, lasts: float) -> Fault:
        assert self.server is not None
        return Fault("database", after, lasts, self.server.stop, lambda: True, self.server.start_again)


def back(one: Path, other: Path) -> None:
    one.rename(other)


def fill(file: Path) -> None:
    """Fill a disk completely."""
    with file.open("wb", buffering=0) as out, suppress(OSError):
        while out.write(b"x" * 1_000_000):
            pass
    with file.open("ab", buffering=0) as out, suppress(OSError):
        while out.write(b"x" * 512):
            pass


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a small disk at a folder, if the machine can."""
    if lacks("small disks"):
        yield
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        sh(folder.parent, "umount", "-l", str(folder))


# -- the night itself ------------------------------------------------------------------------------------------------------------


def is_over(jobs: Sequence[Execution], items: dict[str, NightItem]) -> bool:
    return bool(jobs) and all(job.state in ENDS or (job.state == "waiting" and items[job.item].way.job == "waiting") for job in jobs)


def work_off(shift: Shift, items: dict[str, NightItem], faults: Sequence[Fault], every: float) -> None:
    """Work until nothing is left: faults one after another, and a worker killed every `every` seconds."""
    left, active, met, killed = list(faults), None, 0.0, time.monotonic()
    shift.begun = time.monotonic()
    shift.work()
    while True:
        now = time.monotonic()
        assert now - shift.begun < LONGEST, (shift.told, [(e.item, e.state, e.reason) for e in shift.seen("all")])
        jobs = shift.seen("all")
        if active is None and left and sum(job.state in ENDS for job in jobs) >= left[0].after and any(j.state == "running" for j in jobs):
            active, met = left.pop(0), 0.0
            shift.say(f"{active.name} away")
            active.begin()
        elif active is not None and not met and active.met():
            met = now
            shift.say(f"{active.name} is missed")
        elif active is not None and met and now - met >= active.lasts:
            active.end()
            shift.say(f"{active.name} back")
            active = None
        elif active is None and not left and is_over(jobs, items):
            return
        if every and now - killed > every:
            shift.kill(shift.kills % len(shift.workers))
            killed = time.monotonic()
        shift.keep_up()
        time.sleep(0.5)


def processes_left(folder: Path) -> list[str]:
    """Programs that still work in a folder or were started from it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.path.realpath(process / "cwd").startswith(str(folder)):
                found.append((process / "cmdline").read_text())
    return found
