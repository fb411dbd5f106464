"""The clock that the queue's engine asks SQLite for: an old SQLite under a new Python does not have it, so it is lent one."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from detent.errors import DetentError
from detent.interfaces.cli.demo_queue import _detent
from detent.queue.database import lend_clock
from tests.project import Project


def test_a_connection_has_the_time_in_parts_of_a_second_whatever_its_sqlite_knows() -> None:
    with closing(sqlite3.connect(":memory:")) as raw:
        lend_clock(raw, None)
        raw.execute("CREATE TABLE t (n INTEGER, at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")
        raw.execute("INSERT INTO t (n) VALUES (1)")
        ((at,),) = raw.execute("SELECT at FROM t").fetchall()
        assert abs(at / 1000 - time.time()) < 60
        with pytest.raises(sqlite3.OperationalError):
            raw.execute("SELECT unixepoch('now')")


def test_what_is_no_sqlite_is_left_alone() -> None:
    lend_clock(object(), None)


def test_a_command_that_breaks_ends_the_demo(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    p = Project(tmp_path / "p")
    with pytest.raises(DetentError, match="the demo ends here: `detent queue` ended with 2"):
        _detent(p.root, p.env, "queue", "dance")
    assert "$ detent queue dance" in capfd.readouterr().out
