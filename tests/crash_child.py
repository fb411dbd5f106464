"""Runs a whole `pr` run that is killed at a chosen point and continued by a new process. A program of its own.

 python tests/crash_child.py FOLDER KIND FIRST STEP DEPTH

KIND `calls`: points are before and after every append, settled mark, claim, release, effect, job and snapshot. KIND `lines:PATH`: before every
line of Detent's files below PATH. The run is first done undisturbed; then, for every STEP-th point from FIRST on, it is killed there (SIGKILL) and
continued. With a DEPTH, the continuing process is killed too, at each of its first DEPTH points. Prints JSON; every difference is a sentence.
"""

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

import detent
from detent.door import AnyEvent, AnyRun, Door
from detent.errors import Busy
from detent.fakes import MemoryJudge, MemoryWorld
from detent.gates.plan_entries import open_entries
from detent.journal.holder import Holder, this_process
from detent.journal.journal import Entry, Owed, RunClaim, SqliteJournal
from detent.journal.journal_rows import chain
from detent.kernel.model import Briefing, Run, Sent
from detent.kernel.table import Table
from detent.workflows.pr.pr_data import PrData
from detent.workflows.pr.pr_table import PR

RUN, TITLE = "r1", "Greet the world"
MOST_CALLS = 40  # per process; the whole run needs twelve
SOURCE = str(Path(detent.__file__).parent)
STEPS = [{"type": t, "description": f"{t}: greet", "status": "TODO"} for t in ("RED", "GREEN")]
ACTIVE_PR = {
    "masterPlanPath": "PLAN.md",
    "prTitle": TITLE,
    "summary": "Greets.",
    "verificationPlan": "The tests.",
    "tasks": [{"taskName": "greet", "status": "TODO", "tdd_steps": STEPS}],
}


class Death:
    """Counts the points passed, and kills its own process at one of them (0: at none)."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at = kind, at
        self.passed: list[str] = []

    def near(self, kind: str, what: str) -> None:
        if kind != self.kind.partition(":")[0]:
            return
        self.passed.append(what)
        if len(self.passed) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        self.near("calls", f"before {what}")
        yield
        self.near("calls", f"after {what}")

    def trace(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """A sys.settrace function: every line of the chosen files is a point."""
        if not frame.f_code.co_filename.startswith(SOURCE + self.kind.partition(":")[2]):
            return None
        if event == "line":
            self.near("lines", f"{frame.f_code.co_filename.removeprefix(SOURCE)}:{frame.f_lineno}")
        return self.trace


class MortalJournal(SqliteJournal):
    """The real journal, with points before and after each change."""

    def __init__(self, path: Path, death: Death) -> None:
        super().__init__(path, create=True)
        self.death = death

    def append(self, entry: Entry, expect: int, claim: RunClaim | None = None) -> None:
        with self.death.around(f"append of event {entry.seq}"):
            super().append(entry, expect, claim)

    def settled(self, owed: Owed) -> None:
        with self.death.around(f"mark of {owed.effect} of event {owed.seq}"):
            super().settled(owed)

    def claim(self, run: str, holder: Holder) -> RunClaim:
        with self.death.around("claim"):
            return super().claim(run, holder)

    def release(self, claim: RunClaim) -> None:
        with self.death.around("release"):
            super().release(claim)


class Kept(msgspec.Struct):
    """The state of the world on disk."""

    files: dict[str, str]
    trees: dict[str, dict[str, str]] = {}
    commits: list[tuple[str, str]] = []
    base: int = 0
    done: list[tuple[str, int, str]] = []
    jobs: dict[str, Sent] = {}


class FileWorld(MemoryWorld):
    """The world in memory, saved to disk after each effect, job or agent action, as a whole."""

    def __init__(self, file: Path, death: Death) -> None:
        kept = msgspec.json.decode(file.read_bytes(), type=Kept) if file.exists() else Kept({"PLAN.md": f"- {TITLE}\n"})
        super().__init__(kept.files)
        self.trees, self.commits, self.base, self.jobs = kept.trees, kept.commits, kept.base, kept.jobs
        self.done = dict.fromkeys(kept.done, "")
        self.file, self.death = file, death

    def save(self) -> None:
        kept = Kept(self.files, self.trees, self.commits, self.base, list(self.done), self.jobs)
        draft = self.file.with_name("draft")
        draft.write_bytes(msgspec.json.encode(kept))
        os.replace(draft, self.file)

    def snapshot(self, run: AnyRun) -> str:
        with self.death.around("snapshot"):
            tree = super().snapshot(run)
            self.save()
        return tree

    def settle(self, effect: str, event: AnyEvent) -> None:
        with self.death.around(f"effect {effect} of event {event.run.seq}"):
            super().settle(effect, event)
            self.save()

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        """Perform a job once per event; later calls get the kept outcome."""
        key = f"{run.id} {run.seq} {job}"
        with self.death.around(f"job {job} of event {run.seq}"):
            if key not in self.jobs and (sent := super().perform(job, run)) is not None:
                self.jobs[key] = sent
                self.save()
        return self.jobs.get(key)


def brief(table: Table[Any], run: AnyRun) -> Briefing:
    state = table.states[run.state]
    return Briefing(
        run.id,
        table.name,
        run.state,
        state.actor,
        state.role,
        "",
        "",
        table.instruction(run),
        step=table.step(run),
        attempt_id=f"{run.id}.{run.seq}",
    )


def act(world: FileWorld, task: Briefing) -> Sent:
    """The scripted agent: its actions follow from the briefing alone, so they can be repeated."""
    sent = Sent("submit", summary="done", attempt_id=task.attempt_id)
    replace = msgspec.structs.replace
    match task.state, task.step.type if task.step else "":
        case "INITIALIZING", _ if open_entries(world.files["PLAN.md"]):
            world.files["ACTIVE_PR.json"] = msgspec.json.encode(ACTIVE_PR).decode()
        case "INITIALIZING", _:
            sent = replace(sent, no_pr_left=True)
        case "EXECUTING_TDD", "RED":
            world.files["tests/greet"] = "greets: hello\n"
            sent = replace(sent, test_command="run-tests", expectation="FAIL")
        case "EXECUTING_TDD" | "DEBUGGING" as state, "GREEN":
            world.files["src/greet"] = "goodbye\n" if state == "EXECUTING_TDD" else "hello\n"
            sent = replace(sent, test_command="run-tests", expectation="PASS")
        case "NEEDS_ANALYSIS", _:
            sent = replace(sent, analysis_decision="SUCCESS")
        case "CODE_REVIEW", _:
            sent = replace(sent, findings="[]")
        case "AWAITING_FINALIZATION", _:
            sent = replace(sent, commit_hash=world.squash(TITLE))
        case "FINALIZE_COMPLETE", _:
            world.files["PLAN.md"] = f"- {TITLE} [DONE] {world.head()}\n"
    world.save()
    return sent


def live(folder: Path, death: Death) -> None:
    """One process: start or continue the run, up to its end."""
    world = FileWorld(folder / "world.json", death)
    with closing(MortalJournal(folder / "git" / "detent" / "journal.db", death)) as journal:
        door = Door(journal, {"pr": PR}, world, MemoryJudge(world), brief, lambda: "then", lambda doing: this_process("then", doing))
        door.start(Run(RUN, "pr", "INITIALIZING", 0, PrData()), Sent("start", by="human"))
        for _ in range(MOST_CALLS):
            task = door.next(RUN)
            if PR.states[task.state].end:
                return
            door.submit(RUN, act(world, task))
    raise RuntimeError(f"the run does not end; it is at {task.state}")


class Outcome(msgspec.Struct):
    """How a run ended: everything that must not depend on crashes."""

    trail: list[tuple[str, str, str]]  # event, status, state after it
    hashes: list[str]
    commits: list[tuple[str, str]]
    files: dict[str, str]
    effects: list[tuple[str, int, str]]
    jobs: list[str]
    unpaid: list[tuple[str, int, str]]  # owed by an event and never done
    owed: list[str]
    free: bool  # no dead process still holds the run
    fault: str | None


def outcome(folder: Path) -> Outcome:
    kept = msgspec.json.decode((folder / "world.json").read_bytes(), type=Kept)
    with closing(SqliteJournal(folder / "git" / "detent" / "journal.db")) as journal:
        events = journal.events(RUN)
        due = [(RUN, e.seq, effect) for e in events for effect in e.owes]
        return Outcome(
            trail=[(e.on, e.status, e.state) for e in events],
            hashes=[chain("", e.n, e) for e in events],  # each journal has an id, which is part of its hashes
            commits=kept.commits,
            files=kept.files,
            effects=kept.done,
            jobs=list(kept.jobs),
            unpaid=[one for one in due if one not in kept.done],
            owed=[o.effect for o in journal.owed(RUN)],
            free=is_free(journal),
            fault=journal.first_fault(),
        )


def is_free(journal: SqliteJournal) -> bool:
    try:
        journal.release(journal.claim(RUN, this_process("then", "look")))
    except Busy:
        return False
    return True


def differences(found: Outcome, reference: Outcome) -> Iterator[str]:
    for name in found.__struct_fields__:
        if (now := getattr(found, name)) != (then := getattr(reference, name)):
            yield f"{name} is {now}, not {then}"
    if found.unpaid or found.owed or found.fault or not found.free:
        yield f"unpaid {found.unpaid}, owed {found.owed}, free {found.free}, fault {found.fault}"
    if len(set(found.effects)) != len(found.effects):
        yield f"an effect was done twice: {found.effects}"


class Lab(msgspec.Struct):
    """Where the runs are made, and what counts as a point."""

    folder: Path
    kind: str

    def process(self, home: Path, at: int) -> tuple[int, list[str]]:
        """Fork a process that dies at a point; its exit code, and the points it passed if it survived."""
        pid = os.fork()
        if pid == 0:
            os._exit(self._child(home, at))
        status = os.waitpid(pid, 0)[1]
        said = home / "passed.json"
        return os.waitstatus_to_exitcode(status), msgspec.json.decode(said.read_bytes(), type=list[str]) if said.exists() else []

    def _child(self, home: Path, at: int) -> int:
        death = Death(self.kind, at)
        try:
            sys.settrace(death.trace if self.kind.startswith("lines") else None)
            live(home, death)
            sys.settrace(None)
            (home / "passed.json").write_bytes(msgspec.json.encode(death.passed))
        except BaseException:  # noqa: BLE001 whatever ends this process is reported by the reader of the file
            (home / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
            return 1
        return 0

    def home(self, name: str) -> Path:
        """A new folder for a run; from now on its state folder is in use."""
        home = self.folder / name
        (home / "git").mkdir(parents=True)
        os.environ["XDG_STATE_HOME"] = str(home / "state")
        return home

    def sweep(self, reference: Outcome, *deaths: int) -> Iterator[str]:
        """Kill one process after another at these points, let the next one finish, and compare."""
        home = self.home("-".join(map(str, deaths)))
        where = f"killed at {', then at '.join(map(str, deaths))}"
        for at in deaths:
            code, _ = self.process(home, at)
            if code not in (-signal.SIGKILL, 0) or (code == 0 and at == deaths[0]):
                yield f"{where}: ended with {code} {self._error(home)}"
        code, _ = self.process(home, 0)
        if code != 0:
            yield f"{where}: taking it up ended with {code} {self._error(home)}"
        else:
            yield from (f"{where}: {d}" for d in differences(outcome(home), reference))
        shutil.rmtree(home)

    def _error(self, home: Path) -> str:
        file = home / "error.txt"
        return file.read_text("utf-8") if file.exists() else ""


class Report(msgspec.Struct):
    build: str
    points: list[str]
    undisturbed: Outcome
    swept: int
    faults: list[str]


def main(folder: Path, kind: str, first: int, step: int, depth: int) -> None:
    lab = Lab(folder, kind)
    home = lab.home("undisturbed")
    code, points = lab.process(home, 0)
    assert code == 0, (home / "error.txt").read_text("utf-8")
    reference = outcome(home)
    faults = [f"undisturbed: {d}" for d in differences(reference, reference)]
    swept = [
        (at, *again) for at in range(first, len(points) + 1, step) for again in ([()] if not depth else [(n,) for n in range(1, depth + 1)])
    ]
    for deaths in swept:
        faults.extend(f"({points[deaths[0] - 1]}) {fault}" for fault in lab.sweep(reference, *deaths))
    print(msgspec.json.encode(Report(SOURCE, points, reference, len(swept), faults)).decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6]))
