"""The database of a queue: a SQLite file beside the journal, or PostgreSQL. Opens it, creates missing tables, knows its clock.

On SQLite every transaction begins as a writer (BEGIN IMMEDIATE). Otherwise the engine's counting and claiming would not be atomic:
a global limit of 3 was seen to run 6.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from detent.errors import DetentError
from detent.queue.tables import VERSION, Tables, tables

SCHEMA = "detent"
KNOWS_SUBSEC = (3, 42)  # the first SQLite whose unixepoch has fractions of a second
MIGRATING = 0x64746E7471  # id of the advisory lock for creating tables
CLOCKS = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "(extract(epoch from clock_timestamp())::double precision)",
}


class Unreachable(DetentError):
    """The database does not answer. Nothing was changed; a retry may work."""


class Database(NamedTuple):
    """An open database with the tables of a queue."""

    engine: sa.Engine
    url: str
    tables: Tables
    leases: sa.Engine  # of the leases: on SQLite a separate file, so that renewing never waits for another writer

    @property
    def now(self) -> sa.ColumnElement[float]:
        """The database's time in seconds, since clocks of machines may differ."""
        return sa.literal_column(CLOCKS[self.engine.dialect.name], sa.Double)


def open_database(url: str, file: Path) -> Database:
    """Open the database at `url`, or else the file, and set it up."""
    import logging

    logging.getLogger("dbos").setLevel(logging.ERROR)
    logging.getLogger("dbos").addFilter(_is_news)
    if sqlite3.sqlite_version_info < KNOWS_SUBSEC and not sa.event.contains(sa.Engine, "connect", lend_clock):
        sa.event.listen(sa.Engine, "connect", lend_clock)
    database = _postgres(url) if url else _sqlite(file)
    try:
        if _version(database) != VERSION:
            _set_up(database, file)
    except sa.exc.OperationalError as e:
        raise unreachable(database.engine, e) from e
    return database


def _is_news(record: Any) -> bool:
    """A log filter that drops the engine's messages about cancelled turns, which were requested."""
    what = record.exc_info[0] if record.exc_info else None
    return what is None or "Cancelled" not in what.__name__


def lend_clock(raw: Any, _: object) -> None:
    """Define unixepoch('subsec') for DBOS, which assumes a new SQLite from Python 3.12 on; an old one returns NULL."""
    if isinstance(raw, sqlite3.Connection):
        raw.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(word: str) -> float:
    if word != "subsec":
        raise ValueError(f"unixepoch('{word}') is not asked for by anybody")
    return time.time()


def unreachable(engine: sa.Engine, e: sa.exc.SQLAlchemyError) -> Unreachable:
    """The error for a database error, without the password in its URL."""
    where = engine.url.render_as_string(hide_password=True)
    message = str(getattr(e, "orig", None) or e).strip().splitlines()[0]
    way = (
        "check the file's permissions and the disk"
        if engine.dialect.name == "sqlite"
        else "check [queue] url, and that the server is running"
    )
    return Unreachable(f"the queue at {where} cannot be reached: {message}", way)


def _postgres(url: str) -> Database:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as e:
        raise DetentError("[queue] url is not the address of a database", 'for example: url = "postgresql://user@host:5432/detent"') from e
    if not parsed.drivername.startswith("postgres"):
        raise DetentError(f"[queue] url names {parsed.drivername}; only postgresql is known", "leave it out for the embedded queue")
    engine = sa.create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=10, max_overflow=10)
    return Database(engine, url, tables(SCHEMA), engine)


def _sqlite(file: Path) -> Database:
    file.parent.mkdir(parents=True, exist_ok=True)
    found, leases = tables(None), _file(lease_file(file), "OFF")  # not durable: after a power cut leases are void anyway
    with leases.begin() as c:
        c.execute(sa.schema.CreateTable(found.workers, if_not_exists=True))
    return Database(_file(file, "FULL"), f"sqlite:///{file}", found, leases)


def lease_file(file: Path) -> Path:
    return file.with_name("leases.db")


def _file(file: Path, durable: str) -> sa.Engine:
    """An engine for a SQLite file whose transactions all begin as writers."""
    engine = sa.create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None  # transactions begin where we say
        for setting in ("busy_timeout=30000", "journal_mode=WAL", f"synchronous={durable}", "foreign_keys=ON"):
            raw.execute(f"PRAGMA {setting}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _version(database: Database) -> str:
    """The version of the existing tables; empty if there are none."""
    meta = database.tables.meta
    try:
        with database.engine.begin() as c:
            return c.execute(sa.select(meta.c.value).where(meta.c.key == "version")).scalar() or ""
    except (sa.exc.OperationalError, sa.exc.ProgrammingError) as e:
        if "no such table" in str(e) or "does not exist" in str(e):
            return ""
        raise


def _set_up(database: Database, file: Path) -> None:
    """Create the engine's tables and ours, under a lock."""
    from dbos import DBOS

    with _alone(database, file):
        found = _version(database)
        if found == VERSION:
            return
        if found:
            raise DetentError(
                f"the queue was made by another Detent (form {found}; this one knows {VERSION})", "use the Detent that made it"
            )
        DBOS.migrate(database.url)
        with database.engine.begin() as c:
            if database.engine.dialect.name == "postgresql":
                c.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
            database.tables.all.create_all(c)
            c.execute(sa.insert(database.tables.meta).values(key="version", value=VERSION))


@contextmanager
def _alone(database: Database, file: Path) -> Iterator[None]:
    if database.engine.dialect.name == "postgresql":
        # Outside any transaction: the engine creates indexes concurrently, which waits for older transactions.
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.execute(sa.select(sa.func.pg_advisory_lock(MIGRATING)))
            try:
                yield
            finally:
                c.execute(sa.select(sa.func.pg_advisory_unlock(MIGRATING)))
        return
    fd = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
