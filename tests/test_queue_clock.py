"""The clock that the queue's engine asks SQLite for: an old SQLite under a new Python does not have it, so it is lent one."""

import sqlite3
import time
from contextlib import closing

import pytest

from detent.queue.database import lend_clock


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
