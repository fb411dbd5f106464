"""The door, with a journal of its own for each of two callers in one process: who comes between whom is decided by the step that waits for the other."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.blocks.common import PEOPLE, people
from detent.door import MOST_MOVES, Case, Door
from detent.errors import CannotTell, DetentError, JournalDamaged, NotYet, Unwanted
from detent.fakes import ScriptedJudge
from detent.journal.holder import Holder
from detent.journal.journal import Entry, SqliteJournal
from detent.journal.journal_rows import from_entry
from detent.kernel.decide import MOST_ALIKE
from detent.kernel.model import Event, Found, Run, Sent
from detent.kernel.table import STAY, Child, Row, State, Table, by_system, go
from tests.two_children import RUN, SINCE, SMALL, Done, LoggedWorld, build, log_of, me, step

replace = msgspec.structs.replace
START, ABORT = Sent("start", by="human"), Sent("abort", by="human", note="enough")
FRESH: Run[Done] = Run(RUN, "small", "WORKING", 0, Done())


@pytest.fixture
def journals(tmp_path: Path) -> Iterator[tuple[SqliteJournal, SqliteJournal]]:
    """One journal, opened by each of two callers."""
    path = tmp_path / "git" / "detent" / "journal.db"
    with closing(SqliteJournal(path, create=True)) as one, closing(SqliteJournal(path)) as other:
        yield one, other


@pytest.fixture
def journal(journals: tuple[SqliteJournal, SqliteJournal]) -> SqliteJournal:
    """The journal of the caller that is looked at, with a run that has started."""
    build(journals[0]).start(FRESH, START)
    return journals[0]


@pytest.fixture
def other(journals: tuple[SqliteJournal, SqliteJournal], journal: SqliteJournal) -> Door:
    """The door of another caller."""
    return build(journals[1])


def history(journal: SqliteJournal, run: str = RUN) -> list[Event[Done]]:
    return [from_entry(SMALL, e) for e in journal.events(run)]


def effects(journal: SqliteJournal) -> list[str]:
    return log_of(journal.path).read_text().splitlines() if log_of(journal.path).exists() else []


def meanwhile(does: Callable[[], object]) -> Callable[[], str]:
    """A clock that lets something else happen once, just before an event is written."""
    left = [does]

    def clock() -> str:
        if left:
            left.pop()()
        return SINCE

    return clock


def judged(does: Callable[[], object]) -> tuple[ScriptedJudge, list[bool]]:
    """A judge that lets something else happen while it is at work, and whether its verdict was waited for after that."""
    stood: list[bool] = []

    def script(case: Case) -> Found:
        does()
        stood.append(case.stands())
        return Found()

    return ScriptedJudge(script), stood


# -- what is there -----------------------------------------------------------------------------------------------------------


def test_a_run_that_another_starts_at_the_same_moment_is_started_once(journals: tuple[SqliteJournal, SqliteJournal]) -> None:
    one, two = journals
    first = replace(FRESH, data=Done(("theirs",)))
    door = build(one, clock=meanwhile(lambda: build(two).start(first, START)))
    assert door.start(FRESH, START).run.data.steps == ("theirs",)
    assert [e.run.data.steps for e in history(one)] == [("theirs",)]


def test_a_run_that_there_is_not_is_told_with_the_command_that_lists_them(other: Door) -> None:
    with pytest.raises(DetentError, match=r"^there is no run nowhere$") as told:
        other.next("nowhere")
    assert told.value.hint == "see `detent runs`"


def test_a_run_of_a_workflow_that_is_not_installed_is_told_and_left_as_it_is(journal: SqliteJournal) -> None:
    door = build(journal)
    door.tables = {}
    for call in (lambda: door.next(RUN), lambda: door.submit(RUN, step("a1")), lambda: door.start(replace(FRESH, id="r2"), START)):
        with pytest.raises(DetentError, match=r"^the workflow 'small' is not installed here$") as told:
            call()
        assert "`detent show RUN` still shows what happened" in told.value.hint
    assert [e.on for e in journal.events(RUN)] == ["start"] and journal.last("r2") is None


@pytest.mark.parametrize("part", ["body", "brief"])
def test_an_event_of_a_newer_detent_is_told_and_nothing_is_judged(journal: SqliteJournal, part: str) -> None:
    newest = journal.last(RUN)
    assert newest is not None
    body = msgspec.json.encode({**msgspec.json.decode(newest.body), "aura": 1})
    said = newest._replace(seq=2, body=body) if part == "body" else newest._replace(seq=2, brief='{"aura": 1}')
    journal.append(Entry(*said[:15]), 1)
    judge = ScriptedJudge()
    with pytest.raises(JournalDamaged, match=f"^event 2 of run {RUN} cannot be read: ") as told:
        build(journal, judge).submit(RUN, step("a1"))
    assert (told.value.hint, judge.cases) == ("a newer Detent may have written it", [])
    assert journal.first_fault() is None, "the rows themselves are as they were written"


# -- while another speaks ------------------------------------------------------------------------------------------------------


def test_an_attempt_that_is_answered_before_the_run_is_claimed_is_answered_once(journal: SqliteJournal, other: Door) -> None:
    judge = ScriptedJudge()

    def slow(doing: str) -> Holder:
        assert other.submit(RUN, step("a1")).status == "SUCCESS"
        return me(doing)

    assert build(journal, judge, holder=slow).submit(RUN, step("a1")).status == "SUCCESS"
    assert judge.cases == []
    assert [e.run.data.steps for e in history(journal)] == [(), ("a1",)]


def test_a_word_that_is_said_twice_at_the_same_moment_is_taken_once(journal: SqliteJournal, other: Door) -> None:
    twice = Sent("steer", by="human", note="mind the gap", attempt_id="click-1")
    verdict = build(journal, clock=meanwhile(lambda: other.submit(RUN, twice))).submit(RUN, twice)
    assert (verdict.status, verdict.state) == ("SUCCESS", "WORKING")
    assert [e.on for e in history(journal)] == ["start", "steer"]
    assert history(journal)[-1].run.steers == ("mind the gap",)


def test_work_that_is_judged_while_a_person_steers_is_judged_once_and_taken(journal: SqliteJournal, other: Door) -> None:
    judge, stood = judged(lambda: other.submit(RUN, Sent("steer", by="human", note="mind the gap")))
    assert build(journal, judge).submit(RUN, step("a1")).status == "SUCCESS"
    assert (len(judge.cases), stood) == (1, [True])
    assert [e.on for e in history(journal)] == ["start", "steer", "step"]
    assert history(journal)[-1].run.steers == ("mind the gap",), "nobody has read it yet"


def test_work_that_is_judged_while_a_person_aborts_is_stale_and_marks_nothing(journal: SqliteJournal, other: Door) -> None:
    judge, stood = judged(lambda: other.submit(RUN, ABORT))
    verdict = build(journal, judge).submit(RUN, step("a1"))
    assert (verdict.status, verdict.state, verdict.instruction) == ("STALE", "ABORTED", "Call get_task.")
    assert verdict.reasons == (f"run {RUN} moved to ABORTED in the meantime; nothing was recorded",)
    assert stood == [False], "a judge that is at work can stop"
    assert [e.on for e in history(journal)] == ["start", "abort"] and journal.attempt(RUN, "a1") is None
    assert effects(journal) == [f"{RUN} 2 snapshot", f"{RUN} 2 publish"], "whoever held the run did what the abort owes"


@pytest.mark.parametrize(("said", "end"), [(ABORT, "ABORTED"), (Sent("steer", by="human", note="hm"), "LANDING")], ids=["abort", "steer"])
def test_a_persons_word_holds_though_the_run_moves_while_it_is_said(journal: SqliteJournal, other: Door, said: Sent, end: str) -> None:
    door = build(journal, clock=meanwhile(lambda: other.submit(RUN, step("a1", value="finish"))))
    verdict = door.submit(RUN, said)
    assert (verdict.status, verdict.state) == ("SUCCESS", end)
    assert [e.on for e in history(journal)] == ["start", "finish", said.verb]


def test_a_call_that_was_taken_back_while_it_was_judged_marks_nothing(journal: SqliteJournal) -> None:
    waits = [True]
    judge, stood = judged(waits.clear)
    door = build(journal, judge)
    door.wanted = lambda: bool(waits)
    with pytest.raises(Unwanted, match=f"^the call to run {RUN} was cancelled; nothing was recorded$"):
        door.submit(RUN, step("a1"))
    assert stood == [False] and [e.on for e in history(journal)] == ["start"] and journal.held() == []
    assert build(journal).submit(RUN, step("a1")).status == "SUCCESS", "and can be made again"


def test_a_refusal_that_is_repeated_for_ever_does_not_fill_the_journal(journal: SqliteJournal, other: Door) -> None:
    other.submit(RUN, ABORT)
    said = {(v.status, v.reasons) for v in (other.submit(RUN, step(f"a{n}")) for n in range(MOST_ALIKE + 5))}
    assert said == {("REFUSED", ("submit_work is not possible in ABORTED. The run has ended.",))}
    assert len(history(journal)) == 2 + MOST_ALIKE


# -- the machine's own moves ---------------------------------------------------------------------------------------------------


class HeldUpWorld(LoggedWorld):
    """A world in which something happens once, before a job, an effect or a snapshot is done."""

    def __init__(self, journal: SqliteJournal, at: str, does: Callable[[], object]) -> None:
        self.at, self.left = at, [does]
        super().__init__(log_of(journal.path), self.hold_up)

    def hold_up(self, name: str) -> None:
        if name == self.at and self.left:
            self.left.pop()()

    def snapshot(self, run: Run[Any]) -> str:
        self.waits("snapshot of the tree")
        return super().snapshot(run)


def fails(e: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise e

    return fail


def landing(other: Door) -> None:
    assert other.submit(RUN, step("a1", value="finish")).state == "LANDING"


def test_a_job_that_a_person_stops_while_it_is_done_does_not_move_the_run(journal: SqliteJournal, other: Door) -> None:
    landing(other)
    world = HeldUpWorld(journal, "land", lambda: other.submit(RUN, ABORT))
    assert build(journal, world=world).next(RUN).state == "ABORTED"
    assert [e.on for e in history(journal)] == ["start", "finish", "abort"]


def test_a_job_that_cannot_tell_is_an_error_that_moves_nothing_and_is_tried_again(journal: SqliteJournal, other: Door) -> None:
    landing(other)
    door = build(journal, world=HeldUpWorld(journal, "land", fails(CannotTell("main cannot be read", {"seen": "no"}))))
    told = door.next(RUN)
    assert (told.state, told.last_error) == ("LANDING", "main cannot be read")
    failed = history(journal)[-1]
    assert (failed.status, failed.run.state, failed.run.counts) == ("ERROR", "LANDING", {"errors": 1})
    assert (failed.found.unclear, failed.found.output, failed.sent.facts) == ("main cannot be read", "main cannot be read", {"seen": "no"})
    assert door.next(RUN).state == "DONE"


def test_a_job_that_waits_for_somebody_is_shown_and_counts_nothing(journal: SqliteJournal, other: Door) -> None:
    landing(other)
    told = build(journal, world=HeldUpWorld(journal, "land", fails(NotYet("close your editor first")))).next(RUN)
    assert (told.state, told.last_error) == ("LANDING", "close your editor first")
    assert told.briefing.startswith("> close your editor first\n")
    assert [e.on for e in history(journal)] == ["start", "finish"] and journal.held() == []


def test_a_tree_that_cannot_be_read_is_an_error_that_moves_nothing(journal: SqliteJournal) -> None:
    judge = ScriptedJudge()
    door = build(journal, judge, HeldUpWorld(journal, "snapshot of the tree", fails(CannotTell("no space left"))))
    verdict = door.submit(RUN, step("a1"))
    assert (verdict.status, verdict.state, verdict.reasons, judge.cases) == ("ERROR", "WORKING", ("no space left",), [])
    assert door.submit(RUN, step("a1")).status == "SUCCESS"


def test_what_an_event_owes_is_done_once_whoever_was_cut_off(journal: SqliteJournal, other: Door) -> None:
    door = build(journal, world=HeldUpWorld(journal, "note", fails(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        door.submit(RUN, step("a1"))
    assert [o.effect for o in journal.owed(RUN)] == ["note"] and effects(journal) == []
    held = journal.claim(RUN, me("submit"))
    other.settle(RUN)
    assert effects(journal) == [], "whoever holds the run does it"
    journal.release(held)
    for _ in range(2):
        other.settle(RUN)
    assert effects(journal) == [f"{RUN} 2 note"] and list(journal.owed(RUN)) == []


def circling(run: Run[Done], sent: Sent) -> str:
    return "spin" if sent.verb == "due" else SMALL.kind(run, sent)


def test_a_table_that_moves_in_circles_is_stopped_and_called_a_fault(journal: SqliteJournal) -> None:
    spin: Row[Done] = Row("WORKING", "spin", (), (), go(STAY))
    table = msgspec.structs.replace(SMALL, moves={**SMALL.moves, "spin": by_system("again")}, rows=(*SMALL.rows, spin), kind=circling)
    door = build(journal)
    door.tables = {"small": table}
    door.start(replace(FRESH, id="r2"), START)
    with pytest.raises(DetentError, match=r"^run r2 never stops making system moves$") as told:
        door.next("r2")
    assert told.value.hint == "this is a bug in its workflow table"
    assert [e.on for e in journal.events("r2")] == ["start", *["spin"] * MOST_MOVES] and journal.held() == []
    assert door.submit("r2", ABORT).state == "ABORTED", "a person can end it"


# -- a parent and its children -------------------------------------------------------------------------------------------------

WAITS = {"WAITING": State("system", children=True), "ABORTED": State("none", end="stopped")}
FAMILY: Table[Done] = Table(
    name="family",
    title="a run that waits for two others",
    data=Done,
    starts=("WAITING",),
    states=WAITS,
    moves={"child": by_system("one of them has ended"), **PEOPLE},
    rows=(Row("WAITING", "child", (), (), go(STAY)), *people(WAITS)),
    kind=lambda run, sent: "" if sent.verb == "due" else sent.verb,
    limits={"errors": 3},
    broken=go("ABORTED"),
    unproven=lambda run: (),
    children=lambda run: (Child("one", "small", "WORKING", Done()), Child("two", "small", "WORKING", Done())),
)


@pytest.fixture
def parent(journal: SqliteJournal) -> Door:
    """A door for a run that is called `p` and has two children."""
    door = build(journal)
    door.tables = {"small": SMALL, "family": FAMILY}
    door.start(Run("p", "family", "WAITING", 0, Done()), START)
    return door


def test_a_parent_that_is_tended_has_its_children_and_hears_of_each_end_once(parent: Door, journal: SqliteJournal) -> None:
    for _ in range(2):
        assert parent.tend("p") == ("p.one", "p.two")
    assert [h.run for h in journal.children("p")] == ["p.one", "p.two"] and [e.on for e in journal.events("p")] == ["start"]
    parent.submit("p.one", ABORT)
    for _ in range(2):
        assert parent.tend("p") == ("p.two",)
    assert parent.load("p").run.joined == ("one",)
    assert [e.on for e in journal.events("p")] == ["start", "child"] and journal.held() == []
    assert parent.tend("p.two") == (), "it waits for nobody"


def test_a_stop_is_passed_on_to_the_children_that_have_not_ended(parent: Door, journal: SqliteJournal) -> None:
    parent.tend("p")
    parent.submit("p.one", Sent("abort", by="human", note="this one alone"))
    assert parent.submit("p", replace(ABORT, channel="terminal")).state == "ABORTED"
    ends = {run: [(e.on, e.sent.note, e.sent.channel) for e in history(journal, run)[1:]] for run in ("p.one", "p.two")}
    assert ends == {"p.one": [("abort", "this one alone", "")], "p.two": [("abort", "enough", "terminal")]}
    assert [list(journal.owed(run)) for run in ("p", "p.one", "p.two")] == [[], [], []]
    assert parent.tend("p") == ()
