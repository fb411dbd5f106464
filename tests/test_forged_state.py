"""State that an agent would forge: a git dir copied, replaced or put back, rows rewritten, a journal of somebody else. None of it is believed."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from detent.errors import JournalDamaged, JournalOlder
from detent.journal.anchor import anchor_file
from detent.journal.journal import SqliteJournal
from detent.journal.journal_file import VERSION, accept
from detent.journal.journal_rows import ENTRY_COLUMNS, Entry, chain
from detent.storage.state import state_dir
from tests.project import RED, Project, Ran
from tests.repos import sh
from tests.test_journal import entry, filled

SAID = json.dumps({"summary": "s", "test_command": "pytest", "expectation": "PASS"})
FAILED = "UPDATE events SET status = 'SUCCESS' WHERE n = (SELECT max(n) FROM events)"


def at_red(folder: Path) -> Project:
    """A run in pull mode with a few events, the last of them a refusal that an agent would like to take back."""
    p = Project(folder)
    p.task()
    p.write({"calc.py": "broken = (\n"})
    assert p.submit(test_command="pytest", expectation="PASS")["status"] == "REFUSED"
    return p


def journal_of(p: Project) -> Path:
    return p.root / ".git" / "detent" / "journal.db"


def forge(path: Path, statement: str = "") -> None:
    """Change rows as one pleases, then make the plain chain and the list of runs fit again: all that can be done without the key."""
    with closing(sqlite3.connect(path)) as db:
        if statement:
            db.execute(statement)
        prev = db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()[0]
        for row in db.execute(f"SELECT {ENTRY_COLUMNS} FROM events ORDER BY n").fetchall():
            *rest, ended, owes, n, _ = row
            digest = chain(prev, n, Entry._make((*rest, ended, tuple(owes.split("\n")) if owes else (), n, "")))
            db.execute("UPDATE events SET prev = ?, hash = ? WHERE n = ?", (prev, digest, n))
            prev = digest
        db.execute(
            "UPDATE heads SET (seq, n, state, ended) = (SELECT seq, n, state, ended FROM events e WHERE e.run = heads.run ORDER BY seq DESC LIMIT 1)"
        )
        db.commit()


def copied(p: Project) -> None:
    """The same git dir under the same name, in a new folder."""
    shutil.copytree(p.root / ".git", p.root / "copy", symlinks=True)
    shutil.rmtree(p.root / ".git")
    (p.root / "copy").rename(p.root / ".git")


# -- a journal in another's place ------------------------------------------------------------------------------------------------


def copy_and_forge(p: Project, other: Path) -> None:
    copied(p)
    forge(journal_of(p), FAILED)


def copy_and_cut(p: Project, other: Path) -> None:
    copied(p)
    forge(journal_of(p), "DELETE FROM events WHERE n = (SELECT max(n) FROM events)")


def gitfile(p: Project, other: Path) -> None:
    (p.root / ".git").rename(other)
    (p.root / ".git").write_text(f"gitdir: {other}\n")
    shutil.rmtree(other / "detent")


def link(p: Project, other: Path) -> None:
    (p.root / ".git").rename(other)
    (p.root / ".git").symlink_to(other)
    shutil.rmtree(other / "detent")


def gitfile_with_forged_journal(p: Project, other: Path) -> None:
    (p.root / ".git").rename(other)
    (p.root / ".git").write_text(f"gitdir: {other}\n")
    forge(other / "detent" / "journal.db", FAILED)


def journal_of_another_checkout(p: Project, other: Path) -> None:
    q = Project(other)
    q.task()
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (p.root / ".git" / "detent" / name).unlink(missing_ok=True)
        if (q.root / ".git" / "detent" / name).exists():
            shutil.copy2(q.root / ".git" / "detent" / name, p.root / ".git" / "detent" / name)


def rows_rewritten_in_place(p: Project, other: Path) -> None:
    forge(journal_of(p), FAILED)


def a_row_added(p: Project, other: Path) -> None:
    """Beyond what the anchor remembers, where it may lag."""
    with closing(sqlite3.connect(journal_of(p))) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(events)")]
        kept = ", ".join(f"{c} + 1" if c in ("n", "seq") else "NULL" if c == "attempt" else c for c in columns)
        db.execute(f"INSERT INTO events SELECT {kept} FROM events WHERE n = (SELECT max(n) FROM events)")
        db.commit()
    with closing(sqlite3.connect(journal_of(p))) as db:
        *_, (n, prev) = db.execute("SELECT n, hash FROM events ORDER BY n LIMIT (SELECT max(n) - 1 FROM events)").fetchall()
        row = db.execute(f"SELECT {ENTRY_COLUMNS} FROM events WHERE n = ?", (n + 1,)).fetchone()
        *rest, ended, owes, n, _ = row
        digest = chain(prev, n, Entry._make((*rest, ended, tuple(owes.split("\n")) if owes else (), n, "")))
        db.execute("UPDATE events SET prev = ?, hash = ? WHERE n = ?", (prev, digest + "0" * 64, n))
        db.execute("UPDATE heads SET seq = seq + 1, n = n + 1")
        db.commit()


def the_first_rows_gone(p: Project, other: Path) -> None:
    """The anchor's own row is there, and what came before it is not."""
    with closing(sqlite3.connect(journal_of(p))) as db:
        db.execute("DELETE FROM events WHERE n = 1")
        db.commit()


def older_journal_behind_a_link(p: Project, other: Path) -> None:
    """The same rows but the last, in a file elsewhere that the journal's name leads to."""
    other.mkdir()
    shutil.copy2(journal_of(p), other / "journal.db")
    forge(other / "journal.db", "DELETE FROM events WHERE n = (SELECT max(n) FROM events)")
    journal_of(p).unlink()
    journal_of(p).symlink_to(other / "journal.db")


def folder_of_state_behind_a_link(p: Project, other: Path) -> None:
    """All of `.git/detent` elsewhere, with a verdict turned."""
    shutil.copytree(p.root / ".git" / "detent", other)
    forge(other / "journal.db", FAILED)
    shutil.rmtree(p.root / ".git" / "detent")
    (p.root / ".git" / "detent").symlink_to(other)


def run_on(p: Project, *statements: str) -> None:
    with closing(sqlite3.connect(journal_of(p))) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def a_view_that_leaves_out_the_last_row(p: Project, other: Path) -> None:
    run_on(p, "ALTER TABLE events RENAME TO more", "CREATE VIEW events AS SELECT * FROM more WHERE n < (SELECT max(n) FROM more)")


def a_list_of_runs_without_any(p: Project, other: Path) -> None:
    run_on(p, "DELETE FROM heads")


def the_write_ahead_log_gone(p: Project, other: Path) -> None:
    """What was written last stands only there."""
    with closing(sqlite3.connect(journal_of(p))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy2(journal_of(p), other)
        forge(other, "DELETE FROM events WHERE n = (SELECT max(n) FROM events)")
    for name in ("journal.db-wal", "journal.db-shm"):
        journal_of(p).with_name(name).unlink(missing_ok=True)
    shutil.copy2(other, journal_of(p))


ATTACKS: tuple[Callable[[Project, Path], None], ...] = (
    copy_and_forge, copy_and_cut, gitfile, link, gitfile_with_forged_journal, journal_of_another_checkout, rows_rewritten_in_place, a_row_added,
    the_first_rows_gone, older_journal_behind_a_link, folder_of_state_behind_a_link, a_view_that_leaves_out_the_last_row, a_list_of_runs_without_any,
    the_write_ahead_log_gone,
)  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_journal_that_was_put_in_anothers_place_is_refused_by_every_call(tmp_path: Path, attack: Callable[[Project, Path], None]) -> None:
    p = at_red(tmp_path / "p")
    attack(p, tmp_path / "other")
    for words in (("status",), ("history",), ("submit-work", "-", "--json")):
        ran = p.run(*words, stdin=SAID)
        assert ran.code == 2 and "detent doctor" in ran.err + ran.out, (words, ran)


def test_an_older_copy_of_the_whole_git_dir_that_is_put_back_is_refused(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.task()
    shutil.copytree(p.root / ".git", tmp_path / "kept", symlinks=True)
    p.write({"calc.py": "broken = (\n"})
    p.submit(test_command="pytest", expectation="PASS")
    shutil.rmtree(p.root / ".git")
    shutil.copytree(tmp_path / "kept", p.root / ".git", symlinks=True)
    ran = p.run("status")
    assert ran.code == 2 and "was cut: it has" in ran.err, ran


def test_a_failure_of_an_older_run_cannot_be_taken_out_from_under_a_newer_one(tmp_path: Path) -> None:
    """The anchor remembers the newest event alone, which is another run's."""
    path = tmp_path / "git" / "detent" / "journal.db"
    filled(path, 3)
    with closing(SqliteJournal(path)) as journal:
        journal.append(entry(1, "r2"), 0)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM events WHERE run = 'r1' AND seq = 3")
        db.execute("UPDATE heads SET seq = 2, n = 2 WHERE run = 'r1'")
        db.commit()
    with pytest.raises(JournalDamaged, match="1 of its 4 events are gone"):
        SqliteJournal(path)


@pytest.mark.parametrize("statement", ["UPDATE heads SET ended = 1", "DELETE FROM heads", "UPDATE heads SET state = 'DONE'"])
def test_a_run_cannot_be_hidden_in_the_list_of_runs(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "git" / "detent" / "journal.db"
    filled(path, 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    with pytest.raises(JournalDamaged, match="the list of runs does not show"):
        SqliteJournal(path)


def test_a_row_of_another_journal_of_the_same_user_is_not_one_of_this(tmp_path: Path) -> None:
    """Signed with the same key, under the same number, and chained to a row that looks the same."""
    mine, other = (tmp_path / name / "git" / "detent" / "journal.db" for name in ("mine", "other"))
    for path in (mine, other):
        filled(path, 2)
    with closing(sqlite3.connect(mine)) as db:
        db.execute("ATTACH ? AS o", (str(other),))
        db.execute("DELETE FROM events")
        db.execute("INSERT INTO events SELECT * FROM o.events")
        db.commit()
    with pytest.raises(JournalDamaged, match="is not the one that was written"):
        SqliteJournal(mine)
    anchor_file(mine).unlink()
    with pytest.raises(JournalDamaged, match="nothing in your state folder vouches for them"):
        SqliteJournal(mine)


# -- what a person accepts -------------------------------------------------------------------------------------------------------


def accepted(p: Project) -> Ran:
    return p.run("doctor", "--accept")


def test_a_checkout_that_a_person_moved_goes_on_once_they_accept_it(tmp_path: Path) -> None:
    p = at_red(tmp_path / "p")
    p.root = p.root.rename(tmp_path / "moved")
    ran = p.run("runs")
    assert ran.code == 2 and "nothing in your state folder vouches for them" in ran.err and "detent doctor --accept" in ran.err, ran
    assert "events of the journal are taken as they are" in accepted(p).err
    ran = p.run("runs", "--all")
    assert ran.code == 0 and "pr" in ran.out, ran
    p.root.rename(tmp_path / "p")
    p.root = tmp_path / "p"
    p.write({"calc.py": "", "tests/test_add.py": RED})
    assert p.run("status").code == 0, "and at its old place it is what it was"


def test_nobody_accepts_a_journal_whose_rows_do_not_fit_each_other(tmp_path: Path) -> None:
    p = at_red(tmp_path / "p")
    with closing(sqlite3.connect(journal_of(p))) as db:
        db.execute("UPDATE events SET status = 'FORGED' WHERE n = 1")
        db.commit()
    copied(p)
    assert "event 1 was altered" in (ran := accepted(p)).err + ran.out
    assert p.run("history").code == 2


def test_a_linked_worktree_needs_nobodys_word(tmp_path: Path) -> None:
    p = at_red(tmp_path / "p")
    sh(p.root, "git", "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "beside")
    q = Project(tmp_path / "beside", made=True)
    assert q.run("runs", "--all").code == 0
    assert q.task()["state"] == "PREFLIGHT" or q.task()["workflow"] == "pr"


def test_a_lost_key_is_told_and_a_person_can_accept_it(tmp_path: Path) -> None:
    p = at_red(tmp_path / "p")
    (state_dir() / "journal-key").unlink()
    ran = p.run("status")
    assert ran.code == 2 and "doctor --accept" in ran.err, ran
    accepted(p)
    assert p.run("status").code == 0


def test_a_signed_journal_is_not_taken_for_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "git" / "detent" / "journal.db"
    filled(path, 3)
    forge(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={VERSION - 1}")
    with pytest.raises(JournalOlder):
        SqliteJournal(path)
    assert accept(path) == ""


# -- what git could be made to run -----------------------------------------------------------------------------------------------

FILTER = '[filter "x"]\n\tclean = "touch {ran}; cat"\n\tsmudge = cat\n'


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", ["copied", "gitfile", "started anew", "sub-key on the header's line"])
def test_a_filter_that_comes_with_another_git_dir_never_runs(tmp_path: Path, how: str) -> None:
    p = at_red(tmp_path / "p")
    ran = tmp_path / "ran"
    if how == "copied":
        copied(p)
    elif how == "gitfile":
        (p.root / ".git").rename(tmp_path / "other")
        (p.root / ".git").write_text(f"gitdir: {tmp_path / 'other'}\n")
    git_dir = tmp_path / "other" if how == "gitfile" else p.root / ".git"
    text = FILTER.format(ran=ran)
    with (git_dir / "config").open("a") as config:
        config.write(text.replace("]\n\tclean", "] clean") if how.startswith("sub-key") else text)
    p.write({".gitattributes": "* filter=x\n", "tests/test_add.py": RED})
    if how == "started anew":
        p.run("start")
    p.run("submit-work", "-", "--json", stdin=SAID)
    assert not ran.exists()
    told = p.run("submit-work", "-", stdin=SAID)
    assert told.code == 2 and "doctor --accept" in told.err, told


def test_a_filter_that_a_person_had_before_the_run_is_theirs(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    with (p.root / ".git" / "config").open("a") as config:
        config.write('[filter "upper"]\n\tclean = tr a-z A-Z\n')
    assert p.task()["workflow"] == "pr"
    p.write({".gitattributes": "*.txt filter=upper\n", "a.txt": "abc\n"})
    assert p.run("submit-work", "-", "--json", stdin='{"summary": "s"}').code in (0, 1)


def test_a_fingerprint_that_somebody_else_wrote_or_took_away_vouches_for_nothing(tmp_path: Path) -> None:
    p = at_red(tmp_path / "p")
    file = next((state_dir() / "fingerprints").iterdir())
    for spoil in (lambda: file.write_text("x"), file.unlink):
        spoil()
        ran = p.run("submit-work", "-", "--json", stdin=SAID)
        assert ran.code == 2 and "could run programs" in ran.err + ran.out, ran
    assert os.path.isdir(p.root / ".git")
