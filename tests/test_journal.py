"""The journal over real SQLite files: durable, chained, anchored, claimed; every damage is named and refused, and nothing ever starts empty."""

import ctypes
import gc
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from detent.errors import Busy, DetentError, JournalDamaged, JournalError, JournalForeign, JournalNewer, JournalOlder, Moved, NoJournal
from detent.journal import journal_file
from detent.journal.anchor import SLOT, Anchor, anchor_file, read_anchor
from detent.journal.holder import Holder, this_process
from detent.journal.journal import Entry, Owed, SqliteJournal
from detent.journal.journal_file import VERSION, _create, accept
from detent.journal.journal_postgres import PostgresJournal
from detent.storage.state import state_dir

Either = SqliteJournal | PostgresJournal

OWES = ("checkpoint", "publish")


def entry(seq: int, run: str = "r1", attempt: str = "", parent: str = "", ended: bool = False, body: bytes = b"{}") -> Entry:
    return Entry(
        run, seq, "pr", "EXECUTING_TDD", "red", "SUCCESS", f"2026-01-01T00:00:{seq:02}Z", attempt, f"tree{seq}",
        body, "a briefing", parent, "/some/tree", ended, OWES,
    )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "git").mkdir()
    return tmp_path / "git" / "detent" / "journal.db"


@pytest.fixture
def journal(path: Path, request: pytest.FixtureRequest) -> Iterator[Either]:
    """A new journal; in the database that the test names, in a file where it names none."""
    if getattr(request, "param", "sqlite") == "sqlite":
        opened: Either = SqliteJournal(path, create=True)
    else:
        opened = PostgresJournal(request.getfixturevalue("postgres_server").database(), create=True)
    with closing(opened):
        yield opened


BOTH = pytest.mark.parametrize("journal", ["sqlite", "postgres"], indirect=True)


def filled(path: Path, events: int = 5) -> None:
    """A journal with this many events, closed again."""
    with closing(SqliteJournal(path, create=True)) as journal:
        for seq in range(1, events + 1):
            journal.append(entry(seq), seq - 1)


def setting(journal: SqliteJournal, name: str) -> str | int:
    value: str | int = journal.db.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def dead(pid: int = 2**22 + 1) -> Holder:
    """A process of this machine and this boot that is not there."""
    me = this_process("then", "submit")
    return Holder(pid, "1", me.boot, me.host, "then", "submit")


# -- durable -----------------------------------------------------------------------------------------------------------------

FULL = 2


def test_the_journal_is_write_ahead_and_waits_for_the_disk(journal: SqliteJournal) -> None:
    assert (setting(journal, "journal_mode"), setting(journal, "synchronous")) == ("wal", FULL)


def test_appends_wait_for_the_disk_again_after_a_light_transaction(journal: SqliteJournal) -> None:
    journal.append(entry(1), 0)
    claim = journal.claim("r1", this_process("now", "submit"))
    assert setting(journal, "synchronous") == FULL
    with pytest.raises(Busy):
        journal.claim("r1", this_process("now", "submit"))
    assert setting(journal, "synchronous") == FULL
    journal.settled(journal.owed("r1")[0])
    journal.release(claim)
    assert setting(journal, "synchronous") == FULL
    assert not journal.db.in_transaction


# -- one event after the other -----------------------------------------------------------------------------------------------


def test_what_was_appended_is_read_back_as_it_was(path: Path) -> None:
    said = entry(1, attempt="a1", parent="r0", ended=True, body="{«ü»}\ud800".encode("utf-8", "surrogatepass"))
    with closing(SqliteJournal(path, create=True)) as journal:
        journal.append(said, 0)
    with closing(SqliteJournal(path)) as journal:
        found = journal.last("r1")
        assert found is not None
        assert found._replace(n=0, hash="") == said
        assert found.ended is True
        assert journal.at("r1", 1) == found == journal.attempt("r1", "a1")
        assert list(journal.events("r1")) == [found]


@BOTH
@pytest.mark.parametrize("expect", [0, 1, 3, 99])
def test_an_append_that_saw_another_event_last_is_told_so_and_writes_nothing(journal: Either, expect: int) -> None:
    for seq in (1, 2):
        journal.append(entry(seq), seq - 1)
    with pytest.raises(Moved, match=f"run r1 is at event 2, not at {expect}"):
        journal.append(entry(expect + 1, body=b"late"), expect)
    assert [e.seq for e in journal.events("r1")] == [1, 2]
    journal.append(entry(3), 2)


@BOTH
def test_the_first_event_of_a_run_is_appended_once(journal: Either) -> None:
    journal.append(entry(1), 0)
    with pytest.raises(Moved):
        journal.append(entry(1), 0)


@BOTH
def test_two_events_never_share_a_sequence_number(journal: Either) -> None:
    journal.append(entry(1), 0)
    with pytest.raises(DetentError, match=r"(?is)unique.*nothing was changed"):
        journal.append(entry(1, body=b"again"), 1)
    assert [(e.seq, e.body) for e in journal.events("r1")] == [(1, b"{}")]


@BOTH
def test_runs_have_sequences_of_their_own_and_one_chain(journal: Either) -> None:
    for seq in (1, 2):
        journal.append(entry(seq, "r1"), seq - 1)
        journal.append(entry(seq, "r2"), seq - 1)
    assert [e.n for e in journal.events("r1")] == [1, 3]
    assert [e.n for e in journal.events("r2")] == [2, 4]
    assert journal.first_fault() is None


@BOTH
def test_events_are_read_in_pages(journal: Either) -> None:
    for seq in range(1, 8):
        journal.append(entry(seq), seq - 1)
    assert [e.seq for e in journal.events("r1", after=2, limit=3)] == [3, 4, 5]
    assert list(journal.events("nobody")) == []


@BOTH
def test_heads_show_where_each_run_stands_the_newest_first(journal: Either) -> None:
    journal.append(entry(1, "r1"), 0)
    journal.append(entry(1, "r2", parent="r1"), 0)
    journal.append(entry(2, "r1", ended=True), 1)
    assert [(h.run, h.seq, h.ended) for h in journal.heads()] == [("r1", 2, True), ("r2", 1, False)]
    assert [h.run for h in journal.heads("r2")] == ["r2"]
    assert [h.run for h in journal.children("r1")] == ["r2"]
    assert list(journal.children("")) == []


@BOTH
def test_an_attempt_is_found_by_its_id_in_its_own_run_only(journal: Either) -> None:
    journal.append(entry(1, attempt=""), 0)
    journal.append(entry(2, attempt="a2"), 1)
    journal.append(entry(1, "r2", attempt="a2"), 0)
    found, other = journal.attempt("r1", "a2"), journal.attempt("r2", "a2")
    assert found is not None
    assert other is not None
    assert (found.n, other.n) == (2, 3)
    assert journal.attempt("r1", "a3") is None
    assert journal.attempt("r1", "") is None


@BOTH
def test_an_attempt_is_answered_for_good_only_once(journal: Either) -> None:
    journal.append(entry(1, attempt="a"), 0)
    with pytest.raises(DetentError, match=r"(?i)unique"):
        journal.append(entry(2, attempt="a"), 1)
    assert [e.seq for e in journal.events("r1")] == [1]


# -- the outbox --------------------------------------------------------------------------------------------------------------


def test_effects_are_owed_in_order_until_they_are_settled(path: Path) -> None:
    filled(path, 2)
    with closing(SqliteJournal(path)) as journal:
        journal.append(entry(1, "r2"), 0)
        owed = journal.owed("r1")
        assert list(owed) == [Owed("r1", seq, pos, effect) for seq in (1, 2) for pos, effect in enumerate(OWES)]
        journal.settled(owed[0])
        journal.settled(owed[0])
        assert list(journal.owed("r1")) == list(owed[1:])
    with closing(SqliteJournal(path)) as journal:
        assert list(journal.owed("r1")) == list(owed[1:])
        assert len(journal.owed("r2")) == len(OWES)


@BOTH
def test_a_mark_that_comes_late_takes_nothing_back(journal: Either) -> None:
    for seq in (1, 2):
        journal.append(entry(seq), seq - 1)
    first, *others = journal.owed("r1")
    for owed in (*others, first):
        journal.settled(owed)
    assert list(journal.owed("r1")) == []
    journal.append(entry(3), 2)
    assert [o.seq for o in journal.owed("r1")] == [3, 3]


@BOTH
def test_an_append_that_fails_owes_nothing(journal: Either) -> None:
    with pytest.raises(Moved):
        journal.append(entry(3), 2)
    assert list(journal.owed("r1")) == []


# -- the chain ---------------------------------------------------------------------------------------------------------------

COLUMNS = (
    "n", "run", "seq", "workflow", "state", "on_", "status", "at", "attempt", "tree",
    "parent", "worktree", "ended", "owes", "prev", "hash", "body", "brief",
)  # fmt: skip


def test_the_columns_named_here_are_all_there_are(journal: SqliteJournal) -> None:
    assert tuple(row[1] for row in journal.db.execute("PRAGMA table_info(events)")) == COLUMNS


def altered(value: object) -> object:
    if isinstance(value, bytes):
        return value + b" "
    return value + 100 if isinstance(value, int) else f"{value or ''}x"


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("column", COLUMNS)
def test_an_altered_column_is_found_by_reading_all_and_by_loading_the_row(path: Path, column: str, n: int) -> None:
    with closing(SqliteJournal(path, create=True)) as journal:
        for seq in range(1, 6):
            journal.append(entry(seq, attempt="" if seq == 3 else f"a{seq}", ended=seq == 5), seq - 1)
        assert journal.first_fault() is None
        old = journal.db.execute(f"SELECT {column} FROM events WHERE n = ?", (n,)).fetchone()[0]
        sql = f"UPDATE events SET {column} = ? WHERE n = ? RETURNING run, seq, n"
        run, seq, where = journal.db.execute(sql, (altered(old), n)).fetchone()
        skipped = f"event {n + 1} does not follow the one before it"
        assert journal.first_fault() == f"{path}: {skipped if column == 'n' and n < 5 else f'event {where} was altered'}"
        with pytest.raises(JournalDamaged, match=f"event {where} was altered"):
            journal.at(run, seq)
        with pytest.raises(JournalDamaged, match=f"event {where} was altered"):
            journal.events(run)


def test_a_letter_moved_from_one_column_to_the_next_is_found(path: Path) -> None:
    filled(path)
    with closing(SqliteJournal(path)) as journal:
        journal.db.execute("UPDATE events SET workflow = 'prE', state = 'XECUTING_TDD' WHERE n = 2")
        assert journal.first_fault() == f"{path}: event 2 was altered"


@pytest.mark.parametrize("value", ["no number", b"\xff\xfe", None, 7.5, 9])
@pytest.mark.parametrize("column", ["seq", "ended", "owes", "body", "state", "brief"])
def test_a_value_of_another_type_is_found_too(path: Path, column: str, value: object) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'events'")
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE events SET {column} = ? WHERE n = 2", (value,))
        db.commit()
    with closing(SqliteJournal(path)) as journal:
        assert journal.first_fault() == f"{path}: event 2 was altered"


def test_text_that_is_not_unicode_is_found_and_not_a_crash(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE events SET state = CAST(x'ff' AS TEXT) WHERE n = 5")
        db.commit()
    with pytest.raises(JournalDamaged, match="does not show run r1 as its newest event does"):
        SqliteJournal(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE heads SET state = CAST(x'ff' AS TEXT)")
        db.commit()
    with closing(SqliteJournal(path)) as journal:
        assert "cannot be read" in (journal.first_fault() or "")
        with pytest.raises(JournalDamaged, match="cannot be read"):
            journal.last("r1")


TAMPERED = (
    ("DELETE FROM events WHERE n = 3", "event 4 does not follow the one before it"),
    ("DELETE FROM events WHERE n = 1", "event 2 does not follow the one before it"),
    ("UPDATE events SET hash = (SELECT hash FROM events WHERE n = 1), prev = '' WHERE n = 2", "event 2 was altered"),
    ("UPDATE heads SET state = 'DONE'", "the list of runs does not show run r1 as its newest event does"),
    ("UPDATE heads SET seq = 3, n = 3", "the list of runs does not show run r1 as its newest event does"),
    ("DELETE FROM heads", "the list of runs does not show run r1 as its newest event does"),
    ("INSERT INTO heads SELECT 'ghost', seq, n, workflow, state, parent, worktree, at, ended FROM heads", "does not show run ghost"),
)


@pytest.mark.parametrize(("sql", "sentence"), TAMPERED)
def test_rows_taken_out_or_put_in_are_found(path: Path, sql: str, sentence: str) -> None:
    filled(path)
    with closing(SqliteJournal(path)) as journal:
        journal.db.execute(sql)
        assert sentence in (journal.first_fault() or "")


def test_a_run_is_loaded_from_its_events_whatever_the_list_of_runs_says(path: Path) -> None:
    filled(path)
    with closing(SqliteJournal(path)) as journal:
        journal.db.execute("UPDATE heads SET seq = 3, n = 3")
        found = journal.last("r1")
        assert found is not None
        assert found.seq == 5
        with pytest.raises(Moved):
            journal.append(entry(4), 3)


def test_a_flipped_bit_is_named_or_touches_no_event(path: Path) -> None:
    filled(path)
    with closing(SqliteJournal(path)) as journal:
        whole = list(journal.events("r1"))
    sound = path.read_bytes()
    assert len(sound) > 4096, "the events are in the file itself"
    found = 0
    for at in range(0, len(sound), 61):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 0x10]) + sound[at + 1 :])
        found += is_named_or_whole(path, whole)
        for beside in path.parent.glob("journal.db-*"):
            beside.unlink()
    assert found > 20


def is_named_or_whole(path: Path, whole: list[Entry]) -> bool:
    """Whether the damage was named; if it was not, every event must be as it was."""
    try:
        with closing(SqliteJournal(path)) as journal:
            if journal.first_fault():
                return True
            assert list(journal.events("r1")) == whole
            return False
    except JournalError:
        return True


# -- loading is quick, however long the history ------------------------------------------------------------------------------


def use_all(journal: SqliteJournal, run: str, seq: int) -> None:
    """Every operation that a call on a run is made of."""
    journal.last(run)
    journal.at(run, seq)
    journal.attempt(run, "a1")
    claim = journal.claim(run, this_process("now", "submit"))
    for owed in journal.owed(run):
        journal.settled(owed)
    journal.append(entry(seq + 1, run, attempt=f"next{seq}"), seq, claim)
    journal.release(claim)
    journal.children(run)


def plans(journal: SqliteJournal, statements: list[str]) -> list[str]:
    explained = [s for s in statements if s.split()[0] in ("SELECT", "UPDATE", "DELETE", "INSERT")]
    return [f"{row[3]}: {s}" for s in explained for row in journal.db.execute(f"EXPLAIN QUERY PLAN {s}")]


def test_no_operation_on_a_run_reads_through_a_table(journal: SqliteJournal) -> None:
    journal.append(entry(1, attempt="a1"), 0)
    statements: list[str] = []
    journal.db.set_trace_callback(statements.append)
    use_all(journal, "r1", 1)
    journal.db.set_trace_callback(None)
    found = plans(journal, statements)
    assert len([p for p in found if p.startswith("SEARCH")]) >= 8
    assert [p for p in found if p.startswith("SCAN")] == []
    assert [p for p in plans(journal, ["SELECT * FROM events WHERE tree = 't'"]) if p.startswith("SCAN")], (
        "a scan is seen where there is one"
    )


def effort(journal: SqliteJournal, work: Callable[[], object]) -> int:
    """How many instructions SQLite's machine ran."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    journal.db.set_progress_handler(tick, 1)
    work()
    journal.db.set_progress_handler(None, 1)
    return count


def test_loading_the_last_of_many_events_costs_what_loading_the_only_one_costs(journal: SqliteJournal) -> None:
    journal.append(entry(1), 0)
    first = effort(journal, lambda: journal.last("r1"))
    for seq in range(2, 400):
        journal.append(entry(seq), seq - 1)
    assert 0 < effort(journal, lambda: journal.last("r1")) <= first
    assert effort(journal, lambda: journal.events("r1")) > 100 * first, "the measure grows where the work does"


def test_what_is_owed_is_found_without_reading_what_was_settled(journal: SqliteJournal) -> None:
    def settle(seq: int) -> int:
        journal.append(entry(seq), seq - 1)
        for owed in journal.owed("r1"):
            journal.settled(owed)
        return effort(journal, lambda: journal.owed("r1"))

    first = settle(1)
    assert {settle(seq) for seq in range(2, 100)} == {first}


# -- appending is one short transaction --------------------------------------------------------------------------------------


def test_an_append_is_five_statements(journal: SqliteJournal) -> None:
    journal.append(entry(1, attempt="a1"), 0)
    statements: list[str] = []
    journal.db.set_trace_callback(statements.append)
    journal.append(entry(2, attempt="a2"), 1)
    assert [s.split()[0] for s in statements] == ["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]


def test_an_append_writes_the_event_and_at_most_five_pages_beside_it(journal: SqliteJournal) -> None:
    journal.db.execute("PRAGMA wal_autocheckpoint=0")
    log = Path(f"{journal.path}-wal")
    page, size, times = int(setting(journal, "page_size")), 4000, 300
    before = log.stat().st_size
    for seq in range(1, times + 1):
        journal.append(entry(seq, attempt=f"r1.{seq}", body=b"b" * size), seq - 1)
    frames = (log.stat().st_size - before) / (page + 24)
    assert frames / times < size / page + 5.5, (
        "the event's leaf, two indexes, the list of runs, the file's first page; now and then a split"
    )
    assert frames / times > size / page, "the measure counts the event too"


# -- the anchor: a journal that was cut, emptied, removed or swapped ---------------------------------------------------------


def cut(path: Path, tmp_path: Path) -> None:
    filled(path, 3)
    copy = shutil.copy(path, tmp_path / "copy")
    with closing(SqliteJournal(path)) as journal:
        for seq in (4, 5):
            journal.append(entry(seq), seq - 1)
    shutil.copy(copy, path)


def emptied(path: Path, tmp_path: Path) -> None:
    filled(path)
    path.write_bytes(b"")


def removed(path: Path, tmp_path: Path) -> None:
    filled(path)
    path.unlink()


def folder_removed(path: Path, tmp_path: Path) -> None:
    filled(path)
    shutil.rmtree(path.parent)


def swapped(path: Path, tmp_path: Path) -> None:
    filled(path)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "detent" / "journal.db"
    filled(other, 9)
    shutil.copy(other, path)


def rewritten(path: Path, tmp_path: Path) -> None:
    """The same journal, as long as it was, with another end."""
    cut(path, tmp_path)
    anchor = anchor_file(path)
    kept = anchor.read_bytes()
    accept(path)
    with closing(SqliteJournal(path)) as journal:
        for seq in (4, 5):
            journal.append(entry(seq, body=b"another"), seq - 1)
    anchor.write_bytes(kept)


def without_its_log(path: Path, tmp_path: Path) -> None:
    crash(path, 3)
    Path(f"{path}-wal").unlink()


def without_the_newer_log(path: Path, tmp_path: Path) -> None:
    filled(path, 3)
    crash(path, 5)
    Path(f"{path}-wal").unlink()


def gone_and_anchor_unreadable(path: Path, tmp_path: Path) -> None:
    filled(path)
    path.unlink()
    anchor_file(path).write_bytes(b"")


def begun_again(path: Path, tmp_path: Path) -> None:
    """A database in its place that has no tables yet, as a creation that was cut short leaves it."""
    filled(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")


CRASH = """
import os, signal, sys
from pathlib import Path
from tests.test_journal import SqliteJournal, entry
journal = SqliteJournal(Path(sys.argv[1]), create=True)
last = journal.last("r1")
for seq in range(last.seq + 1 if last else 1, int(sys.argv[2]) + 1):
    journal.append(entry(seq), seq - 1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def child(script: str, *args: object) -> subprocess.Popen[str]:
    """A process of its own that runs a script with this test's modules at hand."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, "-c", script, *map(str, args)]
    return subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent)


def crash(path: Path, events: int) -> None:
    """Let a process append up to this many events and die by SIGKILL, with its log not yet taken into the file."""
    with child(CRASH, path, events) as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert Path(f"{path}-wal").stat().st_size > 0


Damage = Callable[[Path, Path], None]
DAMAGES: tuple[tuple[Damage, str], ...] = (
    (cut, "was cut: it has 3 events and had at least 5"),
    (emptied, "is empty, and had 5 events"),
    (removed, "is gone, and had 5 events"),
    (folder_removed, "is gone, and had 5 events"),
    (swapped, "is not the journal that was here"),
    (rewritten, "event 5 is not the one that was written"),
    (without_its_log, "was cut: it has 0 events and had at least 3"),
    (without_the_newer_log, "was cut: it has 3 events and had at least 5"),
    (gone_and_anchor_unreadable, "is gone, and had events"),
    (begun_again, "was cut: it has 0 events and had at least 5"),
)


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(("damage", "sentence"), DAMAGES, ids=lambda d: getattr(d, "__name__", ""))
def test_a_journal_that_lost_something_is_named_and_refused_and_left_as_it_is(
    path: Path, tmp_path: Path, damage: Damage, sentence: str, create: bool
) -> None:
    damage(path, tmp_path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(JournalDamaged) as told:
        SqliteJournal(path, create=create)
    assert told.value.message == f"{path} {sentence}" or told.value.message == f"{path}: {sentence}"
    assert "detent doctor --accept" in told.value.hint
    assert (path.read_bytes() if path.exists() else None) == before


def test_after_a_crash_every_acknowledged_event_is_there(path: Path) -> None:
    crash(path, 4)
    with closing(SqliteJournal(path)) as journal:
        assert [e.seq for e in journal.events("r1")] == [1, 2, 3, 4]
        assert journal.first_fault() is None
        journal.append(entry(5), 4)


def test_an_anchor_that_lags_behind_is_no_damage(path: Path) -> None:
    filled(path, 3)
    old = anchor_file(path).read_bytes()
    with closing(SqliteJournal(path)) as journal:
        journal.append(entry(4), 3)
    anchor_file(path).write_bytes(old)
    with closing(SqliteJournal(path)) as journal:
        assert journal.first_fault() is None


@pytest.mark.parametrize("text", ["", " " * 256, "{", "[]", '{"journal": "x"}', '{"journal": "x", "n": "many", "hash": ""}'])
def test_an_anchor_that_says_nothing_vouches_for_nothing_until_a_person_does(path: Path, text: str) -> None:
    filled(path, 3)
    anchor_file(path).write_text(text)
    with pytest.raises(JournalDamaged, match="has 3 events, and nothing in your state folder vouches for them"):
        SqliteJournal(path)
    assert accept(path) == "the 3 events of the journal are taken as they are"
    with closing(SqliteJournal(path)) as journal:
        journal.append(entry(4), 3)
    assert read_anchor(anchor_file(path)) == Anchor(journal.id, 4, hash_of(path, 4), since=3)


def hash_of(path: Path, n: int) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("SELECT hash FROM events WHERE n = ?", (n,)).fetchone()[0])


@pytest.mark.slow
def test_an_anchor_read_while_it_was_written_says_nothing_rather_than_something_wrong(path: Path) -> None:
    filled(path, 3)
    old = anchor_file(path).read_bytes()
    with closing(SqliteJournal(path)) as journal:
        journal.append(entry(4), 3)
    new = anchor_file(path).read_bytes()
    torn = [new[:i] + old[i:] for i in range(len(new))]
    for text in torn:
        anchor_file(path).write_bytes(text)
        with closing(SqliteJournal(path)) as journal:
            assert journal.first_fault() is None
    assert len([t for t in torn if t not in (old, new)]) > 60, "most of these are neither the one nor the other"


def test_an_anchor_is_written_in_place(journal: SqliteJournal) -> None:
    journal.append(entry(1), 0)
    before = anchor_file(journal.path).stat()
    journal.append(entry(2), 1)
    after = anchor_file(journal.path).stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)


def test_a_journal_in_a_new_folder_of_the_same_name_begins_anew_once_a_person_accepts_it(path: Path) -> None:
    filled(path)
    path.parent.parent.rename(path.parent.parent.with_name("moved away"))
    path.parent.parent.mkdir()
    with pytest.raises(JournalDamaged, match="is gone, and had 5 events"):
        SqliteJournal(path, create=True)
    assert accept(path) == "there is no journal; a new one may begin"
    with closing(SqliteJournal(path, create=True)) as journal:
        assert journal.last("r1") is None


def test_threads_with_journals_of_their_own_keep_the_anchor_whole(path: Path) -> None:
    faults: list[BaseException] = []

    def work(run: str) -> None:
        try:
            with closing(SqliteJournal(path)) as journal:
                for seq in range(1, 61):
                    journal.append(entry(seq, run), seq - 1)
        except (DetentError, OSError) as e:
            faults.append(e)

    filled(path, 1)
    threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with closing(SqliteJournal(path)) as journal:
        assert journal.first_fault() is None


# -- files that are no journal, or not ours to write -------------------------------------------------------------------------


def test_where_there_is_no_journal_one_is_created_only_on_request(path: Path) -> None:
    with pytest.raises(NoJournal, match=r"^there is no run in this repository yet$"):
        SqliteJournal(path)
    assert not path.parent.exists()


def test_a_creation_that_was_cut_short_is_no_journal_yet(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
    assert path.stat().st_size > 0
    with pytest.raises(NoJournal):
        SqliteJournal(path)
    filled(path, 1)


def test_an_empty_file_where_no_journal_was_is_filled(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with pytest.raises(NoJournal):
        SqliteJournal(path)
    assert path.read_bytes() == b""
    filled(path, 2)
    with closing(SqliteJournal(path)) as journal:
        assert [e.seq for e in journal.events("r1")] == [1, 2]


def test_of_two_that_fill_the_same_empty_file_the_second_finds_it_done(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as one, closing(sqlite3.connect(path, isolation_level=None)) as other:
        _create(one)
        id = one.execute("SELECT value FROM meta").fetchall()
        _create(other)
        assert not other.in_transaction and other.execute("SELECT value FROM meta").fetchall() == id
    filled(path, 1)


def test_a_database_of_another_program_is_refused_and_nobody_accepts_it(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE places(url TEXT)")
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(JournalForeign, match="is a database, but not a journal of Detent"):
            SqliteJournal(path, create=create)
    assert accept(path) == "" and not anchor_file(path).exists()
    assert path.read_bytes() == before


def test_a_journal_of_a_newer_detent_is_refused_with_its_version(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={VERSION + 6}")
    before = anchor_file(path).read_bytes()
    assert accept(path) == "" and anchor_file(path).read_bytes() == before, "nor can a person accept it"
    with pytest.raises(JournalNewer, match=rf"newer Detent \(schema {VERSION + 6}; this one knows {VERSION}\)"):
        SqliteJournal(path)


def test_a_journal_of_an_older_detent_is_refused_with_its_version_and_left_as_it_is(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={VERSION - 1}")
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(JournalOlder, match=rf"older Detent \(schema {VERSION - 1}; this one knows {VERSION}\)") as told:
            SqliteJournal(path, create=create)
        assert "end its runs with the older Detent" in told.value.hint
    assert path.read_bytes() == before


def test_a_journal_without_its_id_is_damaged(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM meta")
        db.commit()
    with pytest.raises(JournalDamaged, match="has lost its id"):
        SqliteJournal(path)


@pytest.mark.parametrize(
    "garbage", [b"\0" * 5000, b"not a database, only words\n" * 300, b"SQLite format 3\0" + b"\xaa" * 5000, b"x", b"SQLite format 3\0"]
)
def test_bytes_that_are_no_database_are_refused_and_kept(path: Path, garbage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(garbage)
    with pytest.raises(JournalDamaged, match="cannot be read"):
        SqliteJournal(path, create=True)
    assert path.read_bytes() == garbage


def test_a_folder_in_the_journals_place_is_told(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(JournalError, match="cannot be opened"):
        SqliteJournal(path, create=True)


def test_a_file_in_the_place_of_its_folder_is_told(path: Path) -> None:
    path.parent.write_text("in the way")
    with pytest.raises(JournalError, match="cannot be opened"):
        SqliteJournal(path, create=True)


CAP_VERSION, CAPS_OVER_RIGHTS = 0x20080522, 0b1110  # dac_override, dac_read_search, fowner


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Rights of files count for this thread, even where the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, caps = (ctypes.c_uint32 * 2)(CAP_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, caps) == 0
    effective = caps[0]
    try:
        caps[0] = effective & ~CAPS_OVER_RIGHTS
        assert libc.capset(header, caps) == 0
        yield
    finally:
        caps[0] = effective
        assert libc.capset(header, caps) == 0


@contextmanager
def rights(path: Path, mode: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        with as_ordinary_user():
            yield
    finally:
        path.chmod(before)


def test_a_folder_that_cannot_be_written_is_told_when_the_journal_is_created(path: Path) -> None:
    with rights(path.parent.parent, 0o500), pytest.raises(JournalError, match=r"cannot be opened.*ermission denied") as told:
        SqliteJournal(path, create=True)
    assert "permissions" in told.value.hint


def test_a_folder_that_cannot_be_entered_is_told(path: Path) -> None:
    filled(path)
    with rights(path.parent, 0o000), pytest.raises(JournalError, match="cannot be opened"):
        SqliteJournal(path)


def test_a_read_only_folder_is_told_and_nothing_is_lost(path: Path) -> None:
    filled(path)
    with rights(path.parent, 0o500), pytest.raises(JournalError, match="cannot be opened"):
        SqliteJournal(path)
    with closing(SqliteJournal(path)) as journal:
        assert len(journal.events("r1")) == 5


def test_a_read_only_file_is_told_and_nothing_is_lost(path: Path) -> None:
    filled(path)
    with rights(path, 0o400), pytest.raises(DetentError, match="readonly"), closing(SqliteJournal(path)) as journal:
        journal.append(entry(6), 5)
    with closing(SqliteJournal(path)) as journal:
        assert [e.seq for e in journal.events("r1")] == [1, 2, 3, 4, 5]


# -- another program at work on the file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", ["append", "claim"])
def test_a_journal_that_another_program_writes_all_the_time_is_told_and_left_as_it_was(journal: SqliteJournal, work: str) -> None:
    journal.append(entry(1), 0)
    journal.db.execute("PRAGMA busy_timeout=1")  # milliseconds; half a minute as it is opened
    with closing(sqlite3.connect(journal.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        statements: list[str] = []
        journal.db.set_trace_callback(statements.append)
        with pytest.raises(DetentError, match=r"the journal could not be written \(database is locked\); nothing was changed") as told:
            journal.append(entry(2), 1) if work == "append" else journal.claim("r1", this_process("now", "submit"))
        assert str(journal.path) in told.value.hint
        assert [s for s in statements if not s.startswith("PRAGMA")] == ["BEGIN IMMEDIATE"], "nothing is tried outside a transaction"
    assert (setting(journal, "synchronous"), journal.db.in_transaction) == (FULL, False)
    assert [e.seq for e in journal.events("r1")] == [1] and journal.held() == []
    journal.append(entry(2), 1, journal.claim("r1", this_process("now", "submit")))


def test_a_journal_that_another_program_has_locked_is_told_and_can_be_opened_once_it_is_free(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    monkeypatch.setattr(journal_file, "PATIENCE", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=DELETE")  # as some tools leave a database that they looked at
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        with pytest.raises(JournalError, match=f"^{path} is locked by another program$") as told:
            SqliteJournal(path)
        assert told.value.hint == "try again" and not isinstance(told.value, JournalDamaged)
    with closing(SqliteJournal(path)) as journal:
        assert setting(journal, "journal_mode") == "wal" and len(journal.events("r1")) == 5


# -- a disk that is full -----------------------------------------------------------------------------------------------------


@contextmanager
def pages_run_out(journal: SqliteJournal) -> Iterator[None]:
    journal.db.execute(f"PRAGMA max_page_count={setting(journal, 'page_count')}")
    yield
    journal.db.execute("PRAGMA max_page_count=1000000")


@contextmanager
def disk_takes_no_more(journal: SqliteJournal) -> Iterator[None]:
    """No file of this process grows past the log as it is: the write itself fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{journal.path}-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("full", [pages_run_out, disk_takes_no_more])
def test_a_full_disk_is_told_and_leaves_everything_as_it_was(
    journal: SqliteJournal, full: Callable[[SqliteJournal], AbstractContextManager[None]]
) -> None:
    journal.append(entry(1), 0)
    anchor = anchor_file(journal.path).read_bytes()
    with full(journal):
        with pytest.raises(DetentError, match=r"the journal could not be written \(.*\); nothing was changed") as told:
            journal.append(entry(2, body=b"x" * 100_000), 1)
        assert str(journal.path) in told.value.hint
        assert [e.seq for e in journal.events("r1")] == [1]
        assert len(journal.owed("r1")) == len(OWES)
    assert anchor_file(journal.path).read_bytes() == anchor
    assert journal.first_fault() is None
    with closing(SqliteJournal(journal.path)) as other:
        assert [e.seq for e in other.events("r1")] == [1]
    journal.append(entry(2), 1)


def test_an_anchor_that_cannot_be_written_stops_the_work(path: Path) -> None:
    filled(path, 1)
    with closing(SqliteJournal(path)) as journal:
        with rights(anchor_file(path), 0o400), pytest.raises(DetentError, match=r"anchor cannot be written.*nothing was changed") as told:
            journal.append(entry(2), 1)
        assert "anchors" in told.value.hint
        assert [e.seq for e in journal.events("r1")] == [1]
        journal.append(entry(2), 1)


def test_an_anchor_that_was_taken_away_meanwhile_is_written_anew(journal: SqliteJournal) -> None:
    journal.append(entry(1), 0)
    anchor_file(journal.path).unlink()
    journal.append(entry(2), 1)
    anchor = read_anchor(anchor_file(journal.path))
    assert anchor is not None
    assert anchor.n == 2


def test_a_state_folder_that_cannot_be_created_stops_the_work(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with closing(SqliteJournal(path, create=True)) as journal:
        with rights(tmp_path / "state", 0o500), pytest.raises(DetentError, match="anchor cannot be written"):
            journal.append(entry(1), 0)
        assert journal.last("r1") is None


def test_a_full_state_folder_stops_the_work(journal: SqliteJournal) -> None:
    journal.append(entry(1), 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(DetentError, match="nothing was changed"):
            journal.append(entry(2), 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [e.seq for e in journal.events("r1")] == [1]


def test_a_state_folder_that_takes_half_an_anchor_stops_the_work(journal: SqliteJournal) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SLOT, hard))
    try:
        with pytest.raises(DetentError, match=r"anchor cannot be written \(it was written in part only\); nothing was changed"):
            journal.append(entry(1), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert journal.last("r1") is None
    journal.append(entry(1), 0)
    assert read_anchor(anchor_file(journal.path)) == Anchor(journal.id, 1, hash_of(journal.path, 1))


def test_an_anchor_that_cannot_be_looked_at_is_told(path: Path) -> None:
    filled(path)
    with rights(state_dir() / "anchors", 0o000), pytest.raises(DetentError, match="anchor cannot be read"):
        SqliteJournal(path)


# -- claims ------------------------------------------------------------------------------------------------------------------


@BOTH
def test_a_second_caller_is_told_who_works_on_the_run_at_what_and_since_when(journal: Either) -> None:
    journal.claim("r1", this_process("12:34", "submit"))
    with pytest.raises(Busy) as told:
        journal.claim("r1", this_process("12:35", "get_task"))
    assert told.value.message == f"run r1 is being worked on by process {os.getpid()} on {socket.gethostname()} (submit) since 12:34"


@BOTH
def test_the_digest_of_a_report_stands_in_an_event_and_not_in_what_somebody_wrote(journal: Either) -> None:
    journal.append(entry(1, body=b'{"reports":{"abc":"123"},"summary":"\\"abd\\":\\"124\\""}'), expect=0)
    assert journal.has_report("abc", "123")
    assert not journal.has_report("abc", "124") and not journal.has_report("abd", "124")


@BOTH
def test_who_works_on_which_run_is_told_and_those_that_are_gone_are_not(journal: Either) -> None:
    assert journal.held() == []
    claim = journal.claim("r1", holder := this_process("now", "submit"))
    journal.claim("r2", dead())
    assert journal.held() == [("r1", holder)]
    journal.release(claim)
    assert journal.held() == []


def test_a_claim_is_of_one_run_and_ends_when_it_is_released(journal: Either) -> None:
    first = journal.claim("r1", this_process("now", "submit"))
    journal.claim("r2", this_process("now", "submit"))
    journal.release(first)
    assert journal.claim("r1", this_process("now", "submit")).epoch > first.epoch


CLAIM = """
import sys
from pathlib import Path
from tests.test_journal import SqliteJournal, this_process
journal = SqliteJournal(Path(sys.argv[1]))
journal.claim("r1", this_process("then", "submit"))
print("claimed", flush=True)
sys.stdin.read()
"""


@pytest.mark.needs("proc")  # it says that a process has ended which nobody waited for
def test_the_claim_of_a_killed_process_is_broken_even_before_anyone_buried_it(path: Path) -> None:
    filled(path, 1)
    with closing(SqliteJournal(path)) as journal, child(CLAIM, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(Busy, match=f"by process {process.pid} on .* since then"):
            journal.claim("r1", this_process("now", "submit"))
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        claim = journal.claim("r1", this_process("now", "submit"))
        process.wait()
        journal.append(entry(2), 1, claim)


@pytest.mark.needs("proc")  # it has when a process began
def test_a_process_that_only_has_the_same_number_is_not_the_holder(journal: SqliteJournal) -> None:
    me = this_process("then", "submit")
    journal.claim("r1", Holder(me.pid, str(int(me.start) - 1), me.boot, me.host, "then", "submit"))
    assert journal.claim("r1", me).epoch == 2


def test_a_holder_from_before_the_last_boot_is_gone(journal: SqliteJournal) -> None:
    me = this_process("then", "submit")
    journal.claim("r1", Holder(me.pid, me.start, "another-boot", me.host, "then", "submit"))
    assert journal.claim("r1", me).epoch == 2


def test_a_holder_on_another_machine_counts_as_alive(journal: SqliteJournal) -> None:
    journal.claim("r1", Holder(1, "1", "its-boot", "another-machine", "then", "submit"))
    with pytest.raises(Busy, match="on another-machine"):
        journal.claim("r1", this_process("now", "submit"))


def test_whoever_lost_the_claim_can_neither_append_nor_free_it(journal: SqliteJournal) -> None:
    lost = journal.claim("r1", dead())
    held = journal.claim("r1", this_process("now", "submit"))
    with pytest.raises(Busy, match="was taken over by another process"):
        journal.append(entry(1, body=b"late"), 0, lost)
    journal.release(lost)
    with pytest.raises(Busy, match="is being worked on"):
        journal.claim("r1", this_process("now", "submit"))
    journal.append(entry(1), 0, held)
    assert [e.body for e in journal.events("r1")] == [b"{}"]


@BOTH
def test_a_person_appends_without_a_claim_while_another_holds_it(journal: Either) -> None:
    held = journal.claim("r1", this_process("now", "submit"))
    journal.append(entry(1), 0)
    with pytest.raises(Moved):
        journal.append(entry(1), 0, held)
    journal.append(entry(2), 1, held)


def test_a_claim_that_cannot_be_read_is_damage_and_nobodys(journal: SqliteJournal) -> None:
    journal.claim("r1", this_process("now", "submit"))
    journal.db.execute("UPDATE claims SET holder = 'nobody'")
    with pytest.raises(JournalDamaged, match="the claim on run r1 cannot be read"):
        journal.claim("r1", this_process("now", "submit"))


@pytest.mark.parametrize("spoil", ["truncate", "remove"])
def test_an_anchor_that_is_cut_or_removed_under_an_open_journal_is_written_anew(path: Path, spoil: str) -> None:
    with closing(SqliteJournal(path, create=True)) as journal:
        journal.append(entry(1), 0)
        file = anchor_file(path)
        if spoil == "truncate":
            os.truncate(file, 0)
        else:
            file.unlink()
        journal.append(entry(2), 1)
        anchor = read_anchor(file)
        assert anchor is not None and anchor.n == 2


def test_a_journal_that_nobody_has_any_more_closes_its_file(path: Path) -> None:
    """From Python 3.13 on, a connection that goes without being closed is warned of, and warnings are errors here."""
    journal = SqliteJournal(path, create=True)
    db = journal.db
    del journal
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
