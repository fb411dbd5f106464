"""What is different about a journal in PostgreSQL: claims are locks of a connection, several machines write, and the server may go away."""

import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from detent.errors import Busy, JournalDamaged, JournalError, JournalNewer, Moved, NoJournal
from detent.journal.holder import Holder, this_process
from detent.journal.journal import Owed, RunClaim
from detent.journal.journal_postgres import PostgresJournal
from detent.storage.state import state_dir
from tests.cases import await_that
from tests.patience import LONG
from tests.postgres import Server, answers, running, start
from tests.test_journal import OWES, child, entry

COLUMNS = ("workflow", "state", "on_", "status", "at", "tree", "worktree", "owes", "prev", "hash", "brief")


@pytest.fixture
def url(postgres_server: Server) -> str:
    return postgres_server.database()


@pytest.fixture
def journal(url: str) -> Iterator[PostgresJournal]:
    with closing(PostgresJournal(url, create=True)) as opened:
        yield opened


def filled(url: str, events: int) -> None:
    with closing(PostgresJournal(url, create=True)) as journal:
        for seq in range(1, events + 1):
            journal.append(entry(seq), seq - 1)


def say(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as c:
        c.execute(sql.encode())


def test_what_was_appended_is_read_back_as_it_was_and_what_is_owed_with_it(url: str) -> None:
    said = entry(1, attempt="a1", parent="r0", ended=True, body="{«ü»}\ud800".encode("utf-8", "surrogatepass"))
    with closing(PostgresJournal(url, create=True)) as journal:
        journal.append(said, 0)
    with closing(PostgresJournal(url)) as journal:
        found = journal.last("r1")
        assert found is not None
        assert (found._replace(n=0, hash=""), found.ended) == (said, True)
        assert journal.at("r1", 1) == found == journal.attempt("r1", "a1")
        assert list(journal.owed("r1")) == [Owed("r1", 1, pos, effect) for pos, effect in enumerate(OWES)]
        journal.settled(journal.owed("r1")[0])
        assert [o.pos for o in journal.owed("r1")] == [1]


def test_without_a_journal_one_is_created_only_on_request(url: str) -> None:
    with pytest.raises(NoJournal, match=r"^there is no run in this repository yet$"):
        PostgresJournal(url)


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    with pytest.raises(JournalError, match="cannot be reached") as told:
        PostgresJournal("postgresql://someone:geheim@127.0.0.1:1/x")
    assert "geheim" not in f"{told.value.message}{told.value.hint}"


@pytest.mark.parametrize("column", COLUMNS)
def test_an_altered_column_is_found(journal: PostgresJournal, column: str) -> None:
    for seq in range(1, 4):
        journal.append(entry(seq), seq - 1)
    assert journal.first_fault() is None
    journal.db.execute(f"UPDATE events SET {column} = {column} || 'x' WHERE n = 2".encode())
    assert "event 2" in (journal.first_fault() or "")
    with pytest.raises(JournalDamaged, match="event 2 was altered"):
        journal.at("r1", 2)


DAMAGES = (
    ("DROP SCHEMA detent CASCADE", "is gone, and had 3 events"),
    ("DELETE FROM detent.events WHERE n = 3", "was cut: it has 2 events and had at least 3"),
    ("UPDATE detent.meta SET value = 'other' WHERE key = 'id'", "is not the journal that was here"),
    ("UPDATE detent.events SET hash = '' WHERE n = 3", "event 3 is not the one that was written"),
)


@pytest.mark.parametrize(("sql", "sentence"), DAMAGES)
def test_a_journal_that_lost_something_is_named_and_refused(url: str, sql: str, sentence: str) -> None:
    filled(url, 3)
    say(url, sql)
    with pytest.raises(JournalDamaged, match=sentence):
        PostgresJournal(url, create=True)


def test_another_machine_has_an_anchor_of_its_own(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(url, 3)
    first = state_dir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert state_dir() != first
    with pytest.raises(JournalDamaged, match="event 1 was not written with the key") as told:
        PostgresJournal(url)
    assert "share the file `journal-key`" in told.value.hint and "detent doctor --accept" in told.value.hint
    (state_dir() / "journal-key").unlink()
    shutil.copy2(first / "journal-key", state_dir())
    with closing(PostgresJournal(url)) as journal:
        journal.append(entry(4), 3)
    monkeypatch.setenv("XDG_STATE_HOME", str(first.parent))
    with closing(PostgresJournal(url)) as journal:
        assert journal.first_fault() is None, "an anchor that lags behind is no damage"


def test_a_journal_of_a_newer_detent_is_refused(url: str) -> None:
    filled(url, 1)
    say(url, "UPDATE detent.meta SET value = '99' WHERE key = 'version'")
    with pytest.raises(JournalNewer, match="schema 99"):
        PostgresJournal(url)


CLAIM = """
import sys
from detent.journal.journal_postgres import PostgresJournal
from tests.test_journal import this_process
journal = PostgresJournal(sys.argv[1])
journal.claim("r1", this_process("then", "submit"))
print("claimed", flush=True)
sys.stdin.read()
"""


def test_the_claim_of_a_killed_process_is_broken(url: str) -> None:
    filled(url, 1)
    with closing(PostgresJournal(url)) as journal, child(CLAIM, url) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(Busy, match=f"by process {process.pid} on {socket.gethostname()} .* since then"):
            journal.claim("r1", this_process("now", "submit"))
        process.kill()
        process.wait()
        claim = journal.claim("r1", this_process("now", "submit"))
        journal.append(entry(2), 1, claim)


def once_free(journal: PostgresJournal, run: str) -> RunClaim:
    """A claim, as soon as the server has heard that the connection of the one before is closed."""
    got: list[RunClaim] = []

    def is_free() -> bool:
        with suppress(Busy):
            got.append(journal.claim(run, this_process("now", "submit")))
        return bool(got)

    await_that(is_free)
    return got[0]


def test_a_holder_on_another_machine_holds_as_long_as_its_connection(url: str) -> None:
    away = Holder(1, "1", "its-boot", "another-machine", "then", "submit")
    with closing(PostgresJournal(url, create=True)) as here:
        there = PostgresJournal(url)
        lost = there.claim("r1", away)
        with pytest.raises(Busy, match="on another-machine"):
            here.claim("r1", this_process("now", "submit"))
        there.close()
        claim = once_free(here, "r1")
        assert claim.epoch == lost.epoch + 1
        here.append(entry(1), 0, claim)
        with pytest.raises(Busy, match="taken over by another process"):
            here.append(entry(2), 1, lost)
        here.release(lost)
        with closing(PostgresJournal(url)) as third, pytest.raises(Busy):
            third.claim("r1", away)


def test_many_that_append_at_once_make_one_chain(url: str) -> None:
    filled(url, 1)
    faults: list[BaseException] = []

    def work(run: str) -> None:
        try:
            with closing(PostgresJournal(url)) as journal:
                for seq in range(1, 31):
                    journal.append(entry(seq, run), seq - 1)
        except (JournalError, Moved, OSError) as e:
            faults.append(e)

    threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with closing(PostgresJournal(url)) as journal:
        assert journal.first_fault() is None
        assert len(journal.heads()) == 5


def test_of_several_that_saw_the_same_event_last_one_appends(url: str) -> None:
    filled(url, 1)
    with closing(PostgresJournal(url)) as one, closing(PostgresJournal(url)) as other:
        one.append(entry(2), 1)
        with pytest.raises(Moved, match="run r1 is at event 2, not at 1"):
            other.append(entry(2, body=b"late"), 1)


@pytest.mark.slow
def test_a_server_that_was_away_for_a_moment_is_waited_for_and_nothing_is_doubled() -> None:
    with running() as server:
        url = server.database()
        with closing(PostgresJournal(url, create=True)) as journal:
            claim = journal.claim("r1", this_process("now", "submit"))
            journal.append(entry(1), 0, claim)
            restart(server)
            journal.append(entry(2), 1, claim)
            with closing(PostgresJournal(url)) as other, pytest.raises(Busy):
                other.claim("r1", this_process("now", "submit"))
            restart(server)
            with closing(PostgresJournal(url)) as other:
                other.append(entry(3), 2)  # as if it had been written before the server went away
            journal.append(entry(3), 2, claim)
            with pytest.raises(Moved):
                journal.append(entry(3), 2, claim)
            assert [e.seq for e in journal.events("r1")] == [1, 2, 3]
            assert journal.first_fault() is None


def restart(server: Server) -> None:
    """Take the server down at once, and bring it up again."""
    pid = int((server.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGINT)
    server.process.wait(LONG)
    server.process = start(server.folder, server.port)
    answers(server.port, server.process)
