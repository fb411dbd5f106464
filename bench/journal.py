"""The journal: an append against a bare commit of the same bytes, and loading from a long history against a short one."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from bench import Figure
from detent.journal.anchor import journal_key
from detent.journal.journal import Entry, SqliteJournal
from detent.journal.journal_rows import INSERT, JournalProof, chain, to_row

BODY, BRIEF = 1500, 2500  # approximate bytes of an event of `pr`
APPENDS, LOADS, BLOCK = 1000, 2000, 20
LONG, SHORT = 100_000, 10
FIRST = "0" * 64  # as long as a real hash


def entry(seq: int, body: int = BODY, brief: int = BRIEF) -> Entry:
    when = "2026-01-01T00:00:00.000000Z"
    return Entry(
        "run-1", seq, "pr", "EXECUTING_TDD", "green", "SUCCESS", when, f"run-1.{seq}", "4" * 40, b"b" * body, "t" * brief,
        worktree="/home/someone/project", owes=("checkpoint", "publish"),
    )  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def in_turn(ours: Callable[[int], object], theirs: Callable[[int], object], times: int) -> tuple[float, float]:
    """The medians of two kinds of work, done in alternating blocks so that noise affects both.

    The first piece of each block does not count. With blocks of one, each commit would also wait for what the other left to write, and the
    slower one would look faster than it is (measured: 1.2 instead of 2).
    """
    took: tuple[list[float], list[float]] = ([], [])
    for first in range(1, times, BLOCK):
        for work, times_taken in zip((ours, theirs), took, strict=True):
            times_taken.extend([seconds(partial(work, i)) for i in range(first, first + BLOCK)][1:])
    return median(took[0]), median(took[1])


@contextmanager
def bare(path: Path) -> Iterator[Callable[[bytes], None]]:
    """The smallest durable commit: one table, one blob, the same settings."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE events(n INTEGER PRIMARY KEY, body BLOB NOT NULL)")

        def commit(data: bytes) -> None:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO events(body) VALUES (?)", (data,))
            db.execute("COMMIT")

        yield commit


def appending(folder: Path) -> Figure:
    sample = to_row(entry(1), 1, FIRST, FIRST)
    data = b"".join(part if isinstance(part, bytes) else str(part).encode() for part in sample)
    entries = [entry(i) for i in range(APPENDS + 1)]
    with closing(SqliteJournal(folder / "detent" / "journal.db", create=True)) as journal, bare(folder / "bare.db") as commit:
        ours, theirs = in_turn(lambda i: journal.append(entries[i], i - 1), lambda i: commit(data), APPENDS)
    return Figure("append one event, durable", ours, f"a bare SQLite commit of the same {len(data)} bytes, WAL and FULL", theirs, 1.5)


def filled(path: Path, events: int) -> SqliteJournal:
    """A journal with this many events, filled quickly; only the last event has a realistic size."""
    journal = SqliteJournal(path, create=True)
    journal.db.execute("PRAGMA synchronous=OFF")
    journal.db.execute("BEGIN")
    prev, proof = journal.id, JournalProof(journal.id, journal_key())
    for n in range(1, events):
        old = entry(n, 200, 100)
        digest = proof.signed(chain(prev, n, old))
        journal.db.execute(INSERT, to_row(old, n, prev, digest))
        prev = digest
    journal.db.execute("COMMIT")
    journal.db.execute("PRAGMA synchronous=FULL")
    journal.append(entry(events), events - 1)
    return journal


def loading(folder: Path) -> Figure:
    with (
        closing(filled(folder / "long" / "detent" / "journal.db", LONG)) as long,
        closing(filled(folder / "short" / "detent" / "journal.db", SHORT)) as short,
    ):
        ours, theirs = in_turn(lambda i: long.last("run-1"), lambda i: short.last("run-1"), LOADS)
    return Figure(f"load a run of {LONG:,} events", ours, f"load a run of {SHORT} events", theirs, 1.2)
