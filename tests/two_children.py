"""The processes of `test_two_processes.py`, and the small workflow they work on. Each function is the whole life of one process."""

import os
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import msgspec

from detent.blocks.common import DRIVEN, PEOPLE, count, driven, people
from detent.door import AnyEvent, AnyRun, Case, Door
from detent.errors import Busy, Moved
from detent.fakes import ScriptedJudge
from detent.journal.holder import Holder, this_process
from detent.journal.journal import Entry, SqliteJournal
from detent.kernel.model import Briefing, Data, Found, Run, Sent
from detent.kernel.table import STAY, Effect, Job, Row, State, Table, by_agent, by_system, go
from tests.patience import LONG

RUN = "r1"
SINCE = "2026-01-01T00:00:00Z"
PASSED = Found()
PATIENCE = LONG  # seconds to wait for another process; only a fault waits that long


class Done(Data, frozen=True):
    """The steps that were done, in order."""

    steps: tuple[str, ...] = ()


def keep_step(run: Run[Done], sent: Sent, found: Found) -> Run[Done]:
    return msgspec.structs.replace(run, data=Done((*run.data.steps, sent.summary)))


def is_done(look: object) -> str | None:
    """The step is done."""
    return None


def kind(run: Run[Done], sent: Sent) -> str:
    if sent.verb == "submit":
        return "finish" if sent.value == "finish" else "step"
    return {"due": "", "outcome": sent.outcome}.get(sent.verb, sent.verb)


land = Job("land", "Put what was done where it belongs.", ("landed",))
STATES = {
    "WORKING": State("agent", "engineer"),
    "LANDING": State("system", job=land),
    "DONE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}
note = Effect("note", "Write the step down.")
SMALL: Table[Done] = Table(
    name="small",
    title="one step after the other",
    data=Done,
    starts=("WORKING",),
    states=STATES,
    moves={
        "step": by_agent("submit_work", "submit"),
        "finish": by_agent("submit_work", "submit finish"),
        "landed": by_system("it is there"),
        **PEOPLE,
        **DRIVEN,
    },
    rows=(
        Row(
            "WORKING",
            "step",
            (),
            (is_done,),
            go(STAY, keep_step, owes=(note,)),
            go(STAY, count("failures"), says="FAILURE", spent=go("ABORTED")),
        ),
        Row(
            "WORKING",
            "finish",
            (),
            (is_done,),
            go("LANDING", owes=(note,)),
            go(STAY, count("failures"), says="FAILURE", spent=go("ABORTED")),
        ),
        Row("LANDING", "landed", (), (), go("DONE")),
        *driven(STATES, halt=go("ABORTED"), unavailable=go("ABORTED"), over=go("ABORTED")),
        *people(STATES),
    ),
    kind=kind,
    limits={"errors": 100, "agent": 3, "failures": 100},
    broken=go("ABORTED"),
    unproven=lambda run: (),
)


class LoggedWorld:
    """A world that only logs effects, in one file for all processes. `waits` may hold up an effect or a job."""

    def __init__(self, log: Path, waits: Callable[[str], None] = lambda name: None) -> None:
        self.log, self.waits = log, waits

    def snapshot(self, run: AnyRun) -> str:
        return "a tree"

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        self.waits(job)
        return Sent("outcome", by="system", outcome="landed")

    def settle(self, effect: str, event: AnyEvent) -> None:
        self.waits(effect)
        fd = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(fd, f"{event.run.id} {event.run.seq} {effect}\n".encode())
        finally:
            os.close(fd)


def brief(table: Table[Any], run: AnyRun) -> Briefing:
    state = table.states[run.state]
    return Briefing(
        run.id, table.name, run.state, state.actor, state.role, "", "", table.instruction(run), attempt_id=f"{run.id}.{run.seq}"
    )


def me(doing: str) -> Holder:
    return this_process(SINCE, doing)


def now() -> str:
    return SINCE


def build(
    journal: SqliteJournal,
    judge: ScriptedJudge | None = None,
    world: LoggedWorld | None = None,
    holder: Callable[[str], Holder] = me,
    clock: Callable[[], str] = now,
) -> Door:
    world = world or LoggedWorld(log_of(journal.path))
    return Door(journal, {"small": SMALL}, world, judge or ScriptedJudge(), brief, clock, holder)


def log_of(path: Path) -> Path:
    return path.with_name("effects.log")


def step(attempt: str, **fields: str) -> Sent:
    return Sent("submit", attempt_id=attempt, summary=attempt, **fields)  # type: ignore[arg-type]


def entry(seq: int, run: str, who: str) -> Entry:
    return Entry(run, seq, "small", "WORKING", "step", "SUCCESS", SINCE, f"{who} {seq}", "", who.encode(), "", "{}")


# -- the processes -----------------------------------------------------------------------------------------------------------


def open_at_once(path: Path, together: Barrier, out: Connection, times: int) -> None:
    """Create one journal after another, each at the same moment as all other processes."""
    ids: list[str] = []
    for i in range(times):
        together.wait(PATIENCE)
        with closing(SqliteJournal(path.with_name(f"journal{i}.db"), create=True)) as journal:
            ids.append(journal.id)
    out.send(ids)


def append_in_a_race(path: Path, together: Barrier, out: Connection, runs: tuple[str, ...], who: str, times: int) -> None:
    """Append to each run again and again; a process that comes too late retries."""
    won: list[tuple[str, int]] = []
    with closing(SqliteJournal(path)) as journal:
        together.wait(PATIENCE)
        for _ in range(times):
            won.extend((run, append_once(journal, run, who)) for run in runs)
    out.send(won)


def append_once(journal: SqliteJournal, run: str, who: str) -> int:
    while True:
        last = journal.last(run)
        seq = last.seq if last else 0
        try:
            journal.append(entry(seq + 1, run, who), seq)
            return seq + 1
        except Moved:
            continue


def submit_in_a_race(path: Path, together: Barrier, out: Connection, who: str, times: int, by: str) -> None:
    """Submit step after step as an agent, or steer as a person, each until it is accepted."""
    answers: list[tuple[str, str]] = []
    with closing(SqliteJournal(path)) as journal:
        door = build(journal)
        together.wait(PATIENCE)
        for i in range(times):
            name = f"{who}-{i}"
            sent = step(name) if by == "agent" else Sent("steer", by="human", note=name)
            while (status := door.submit(RUN, sent).status) in ("BUSY", "STALE"):
                pass
            answers.append((name, status))
    out.send(answers)


def submit_and_wait(path: Path, talk: Connection, sent: Sent, found: Found = PASSED, effect: str = "") -> None:
    """Submit, signal when the judging (or the named effect) has begun, wait, and report the result."""
    stands: list[bool] = []

    def judged(case: Case) -> Found:
        if not effect:
            wait_for_word(talk, "judging")
        stands.append(case.stands())
        return msgspec.structs.replace(found, heard=len(case.run.steers))

    def waits(name: str) -> None:
        if name == effect:
            wait_for_word(talk, name)

    judge = ScriptedJudge(judged)
    with closing(SqliteJournal(path)) as journal:
        verdict = build(journal, judge, LoggedWorld(log_of(path), waits)).submit(RUN, sent)
    talk.send((verdict.status, verdict.state, verdict.reasons, stands))


def wait_for_word(talk: Connection, saying: str) -> None:
    talk.send(saying)
    if not talk.poll(PATIENCE):
        raise TimeoutError(f"nobody answered {saying}")
    talk.recv()


def submit_as_a_dead_one(path: Path, talk: Connection, sent: Sent) -> None:
    """Submit with the holder of a process that does not exist, so that the claim can be broken meanwhile."""

    def judged(case: Case) -> Found:
        wait_for_word(talk, "judging")
        return Found()

    def nobody(doing: str) -> Holder:
        here = me(doing)
        return Holder(2**22 + 1, "1", here.boot, here.host, SINCE, doing)

    with closing(SqliteJournal(path)) as journal:
        verdict = build(journal, ScriptedJudge(judged), holder=nobody).submit(RUN, sent)
    talk.send((verdict.status, verdict.state, verdict.reasons, []))


def submit_late(path: Path, talk: Connection, sent: Sent) -> None:
    """Submit, and wait between looking for an earlier answer and claiming the run."""
    cases = 0

    def judged(case: Case) -> Found:
        nonlocal cases
        cases += 1
        return Found()

    def slow(doing: str) -> Holder:
        wait_for_word(talk, "claiming")
        return me(doing)

    with closing(SqliteJournal(path)) as journal:
        verdict = build(journal, ScriptedJudge(judged), holder=slow).submit(RUN, sent)
    talk.send((verdict.status, verdict.state, verdict.reasons, [cases]))


def speak_slowly(path: Path, talk: Connection, sent: Sent) -> None:
    """A person's message that is held up between reading the run and writing to it."""
    waited = False

    def clock() -> str:
        nonlocal waited
        if not waited:
            waited = True
            wait_for_word(talk, "writing")
        return SINCE

    with closing(SqliteJournal(path)) as journal:
        verdict = build(journal, clock=clock).submit(RUN, sent)
    talk.send((verdict.status, verdict.state, verdict.reasons, []))


def look_while_landing(path: Path, talk: Connection) -> None:
    """Ask for the next task, and be held up in the machine's job."""
    with closing(SqliteJournal(path)) as journal:
        talk.send(build(journal, world=LoggedWorld(log_of(path), lambda name: wait_for_word(talk, name))).next(RUN).state)


def claim_and_die(path: Path, talk: Connection) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.claim(RUN, me("submit"))
        try:
            journal.claim(RUN, me("submit"))
        except Busy as e:
            wait_for_word(talk, e.message)
