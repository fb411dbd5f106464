"""The schema of the queue's own tables: jobs, needs, workers, logs and meta. The engine has its own."""

from typing import NamedTuple

import sqlalchemy as sa

VERSION = "2"
LIVE_ITEM = "item <> '' AND state IN ('waiting', 'ready', 'running')"


class Tables(NamedTuple):
    """The tables, in the schema of a database."""

    all: sa.MetaData
    meta: sa.Table
    jobs: sa.Table
    needs: sa.Table
    workers: sa.Table
    logs: sa.Table


def tables(schema: str | None) -> Tables:
    """Define the tables in a schema."""
    every = sa.MetaData(schema=schema)
    meta = sa.Table("queue_meta", every, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False))
    needs = sa.Table(
        "queue_needs",
        every,
        sa.Column("job", sa.Text, primary_key=True),
        sa.Column("item", sa.Text, primary_key=True),
        sa.Index("queue_needs_by_item", "item"),
    )
    return Tables(every, meta, _jobs(every), needs, _workers(every), _logs(every))


def _jobs(every: sa.MetaData) -> sa.Table:
    return sa.Table(
        "queue_jobs",
        every,
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("starts", sa.Integer, nullable=False),
        sa.Column("added", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("ended", sa.Double),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("ticket", sa.Text, nullable=False),  # the engine's id of this turn of the job
        sa.Column("exit_code", sa.Integer),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False, server_default=""),  # the outage it waits for, or ""
        sa.Index("queue_jobs_by_state", "state", "priority", "added"),
        sa.Index("queue_jobs_by_item", "item"),
        sa.Index("queue_jobs_by_worker", "worker", sqlite_where=sa.text("worker <> ''"), postgresql_where=sa.text("worker <> ''")),
        sa.Index("queue_jobs_live_item", "item", unique=True, sqlite_where=sa.text(LIVE_ITEM), postgresql_where=sa.text(LIVE_ITEM)),
    )


def _workers(every: sa.MetaData) -> sa.Table:
    return sa.Table(
        "queue_workers",
        every,
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
    )


def _logs(every: sa.MetaData) -> sa.Table:
    return sa.Table(
        "queue_logs",
        every,
        sa.Column("job", sa.Text, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
