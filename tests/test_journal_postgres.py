"""What is different about a journal in PostgreSQL: claims are locks of a connection, several machines write, and the server may go away."""

import os
import re
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from detent.errors import Busy, DetentError, JournalAway, JournalDamaged, JournalError, JournalNewer, JournalOlder, Moved, NoJournal
from detent.journal import journal_postgres
from detent.journal.anchor import anchor_of, read_anchor
from detent.journal.holder import Holder, this_process
from detent.journal.journal import Owed, RunClaim
from detent.journal.journal_file import VERSION
from detent.journal.journal_postgres import APPENDING, PostgresJournal
from detent.storage.state import state_dir
from tests.cases import await_that
from tests.patience import LONG
from tests.postgres import Server, answers, running, start
from tests.test_journal import OWES, child, dead, entry

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
    ("DELETE FROM detent.events WHERE n = 2", "1 of its 3 events are gone"),
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


VERSIONS = (
    ("99", JournalNewer, "newer Detent (schema 99;", "use the newer Detent"),
    ("1", JournalOlder, "older Detent (schema 1;", "use the older Detent"),
)


@pytest.mark.parametrize(("version", "kind", "sentence", "hint"), VERSIONS)
def test_a_journal_of_another_version_is_refused_and_nobody_accepts_it(
    url: str, version: str, kind: type[JournalError], sentence: str, hint: str
) -> None:
    filled(url, 1)
    say(url, f"UPDATE detent.meta SET value = '{version}' WHERE key = 'version'")
    for accept in (False, True):
        with pytest.raises(kind, match=re.escape(sentence)) as told:
            PostgresJournal(url, accept=accept)
        assert told.value.hint == hint


def test_what_a_person_accepts_is_taken_as_it_is_and_signed_from_then_on(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(url, 3)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another key"))
    with pytest.raises(JournalDamaged, match="event 1 was not written with the key"):
        PostgresJournal(url)
    PostgresJournal(url, accept=True).close()
    with closing(PostgresJournal(url)) as journal:
        assert [e.seq for e in journal.events("r1")] == [1, 2, 3]
        journal.append(entry(4), 3)
        assert journal.first_fault() is None
        assert journal.db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone() == (str(VERSION),)
        found = journal.last("r1")
    assert found is not None and read_anchor(anchor_of(journal.name)) == (journal.id, 4, found.hash, 3)
    say(url, "UPDATE detent.events SET hash = left(hash, 64) WHERE n = 4")
    with pytest.raises(JournalDamaged, match="event 4 is not the one that was written"):
        PostgresJournal(url)


def test_nobody_accepts_events_that_do_not_fit_each_other(url: str) -> None:
    filled(url, 3)
    say(url, "UPDATE detent.events SET status = 'FORGED' WHERE n = 2")
    with pytest.raises(JournalDamaged, match="event 2 was altered") as told:
        PostgresJournal(url, accept=True)
    assert told.value.hint == "the events before it are intact; restore the database from a backup"
    with pytest.raises(JournalDamaged, match="nothing on this machine vouches for it"):
        PostgresJournal(url)


def waiting(url: str, like: str) -> int:
    """How many others wait in a statement like this."""
    ask = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE %s"
    with psycopg.connect(url) as c:
        return int((c.execute(ask, (like,)).fetchone() or (0,))[0])


def test_of_two_that_create_the_journal_at_once_both_get_the_same_one(url: str) -> None:
    ids: list[str] = []

    def work() -> None:
        with closing(PostgresJournal(url, create=True)) as journal:
            ids.append(journal.id)

    threads = [threading.Thread(target=work) for _ in range(2)]
    with psycopg.connect(url, autocommit=True) as before:
        before.execute("SELECT pg_advisory_lock(%s)", (APPENDING,))
        for thread in threads:
            thread.start()
        await_that(lambda: waiting(url, "SELECT pg_advisory_xact_lock%") == 2)
    for thread in threads:
        thread.join()
    assert len(ids) == 2 and ids[0] == ids[1]


CLAIM = """
import sys
from detent.journal.journal_file import VERSION
from detent.journal.journal_postgres import APPENDING, PostgresJournal
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


# -- a connection that is gone -------------------------------------------------------------------------------------------------


def cut_off(url: str) -> None:
    """End every connection to the database, as a server does that is stopped, and wait until they are gone."""
    say(
        url,
        "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


def test_a_claim_outlives_the_connection_and_nothing_is_doubled(url: str, journal: PostgresJournal) -> None:
    claim = journal.claim("r1", this_process("now", "submit"))
    journal.append(entry(1), 0, claim)
    cut_off(url)
    assert [e.seq for e in journal.events("r1")] == [1]
    with closing(PostgresJournal(url)) as other, pytest.raises(Busy):
        other.claim("r1", this_process("now", "submit"))
    cut_off(url)
    with closing(PostgresJournal(url)) as other:
        other.append(entry(2), 1)  # as if it had been written before the connection was gone
    journal.append(entry(2), 1, claim)
    with pytest.raises(Moved):
        journal.append(entry(2), 1, claim)
    cut_off(url)
    with pytest.raises(Moved):
        journal.append(entry(2, body=b"late"), 1, claim)
    for owed in journal.owed("r1"):
        cut_off(url)
        journal.settled(owed)
    assert [(e.seq, e.body) for e in journal.events("r1")] == [(1, b"{}"), (2, b"{}")]
    assert list(journal.owed("r1")) == [] and journal.first_fault() is None


def test_a_claim_that_another_took_while_the_connection_was_gone_is_lost(url: str, journal: PostgresJournal) -> None:
    lost = journal.claim("r1", this_process("then", "submit"))
    cut_off(url)
    with closing(PostgresJournal(url)) as other:
        claim = other.claim("r1", this_process("now", "submit"))
        with pytest.raises(Busy, match="run r1 was taken over by another process"):
            journal.append(entry(1), 0, lost)
        with pytest.raises(Busy, match="since now"):
            journal.claim("r1", this_process("later", "submit"))
        other.append(entry(1), 0, claim)
        other.release(claim)
        assert journal.claim("r1", this_process("later", "submit")).epoch == 3, "whoever lost it can take it again"
        journal.release(lost)
        with pytest.raises(Busy, match="since later"):
            other.claim("r1", this_process("now", "submit"))


def refuse(server: Server, url: str) -> None:
    """Let nobody reach the database: whoever asks is cut off."""
    name = url.rpartition("/")[2]
    server.say(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    server.say(f"SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = '{name}'")


def allow(server: Server, url: str) -> None:
    server.say(f"ALTER DATABASE {url.rpartition('/')[2]} ALLOW_CONNECTIONS true")


def test_a_database_that_is_away_for_a_moment_is_waited_for(postgres_server: Server, url: str, journal: PostgresJournal) -> None:
    refuse(postgres_server, url)
    told = f'"{url.rpartition("/")[2]}" is not currently accepting connections'

    def back() -> None:
        await_that(lambda: told in (postgres_server.folder / "log").read_text())
        allow(postgres_server, url)

    thread = threading.Thread(target=back)
    thread.start()
    journal.append(entry(1), 0)
    thread.join()
    assert [e.seq for e in journal.events("r1")] == [1]


def test_a_database_that_stays_away_is_told_and_found_again_once_it_is_back(
    postgres_server: Server, url: str, journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(entry(1), 0)
    monkeypatch.setattr(journal_postgres, "PATIENCE", 0.0)
    refuse(postgres_server, url)
    calls: tuple[Callable[[], object], ...] = (lambda: journal.append(entry(2), 1), lambda: journal.last("r1"))
    for call in calls:
        with pytest.raises(JournalAway, match=f"the journal at {journal.name} was lost: ") as told:
            call()
        assert told.value.hint == "nothing was changed; try again"
    allow(postgres_server, url)
    journal.append(entry(2), 1)
    assert [e.seq for e in journal.events("r1")] == [1, 2]


# -- a server that says no -----------------------------------------------------------------------------------------------------


def test_what_the_server_will_not_do_is_told_and_nothing_is_changed(url: str, journal: PostgresJournal) -> None:
    journal.append(entry(1), 0)
    journal.db.execute("SET lock_timeout = '20ms'")  # as an administrator sets it for a role
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE detent.events")
        with pytest.raises(DetentError, match=r"(?s)the journal could not be written \(.*lock timeout.*\); nothing was changed") as told:
            journal.append(entry(2), 1)
        assert told.value.hint == f"check the database {journal.name}"
        with pytest.raises(JournalDamaged, match=f"{journal.name} cannot be read: .*lock timeout"):
            journal.last("r1")
    assert [e.seq for e in journal.events("r1")] == [1]
    journal.append(entry(2), 1)


def test_a_process_that_is_gone_is_waited_for_until_the_server_notices_it_too(url: str, journal: PostgresJournal) -> None:
    """A connection may outlive its process for a moment."""
    gone = PostgresJournal(url)
    gone.claim("r1", dead())

    def notice() -> None:
        await_that(lambda: bool(waiting(url, "SELECT pg_sleep%")))
        gone.close()

    thread = threading.Thread(target=notice)
    thread.start()
    claim = journal.claim("r1", this_process("now", "submit"))
    thread.join()
    assert claim.epoch == 2
    journal.append(entry(1), 0, claim)


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
