"""The budget and the window of the queue: it pauses with the reason, says when it continues, and does; a person's word comes first."""

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from detent.app.opened import queue_settings
from detent.app.queue_budget import BUDGET, KINDS, WINDOW, hold_of, keep_within, period, queue_now, within_budget
from detent.app.queueing import open_queue, task_of
from detent.app.report_values import BudgetRow
from detent.app.times import window_of
from detent.app.turns_taken import TakenTurns
from detent.config.settings import QueueSettings
from detent.queue.queue_protocol import MOST_FAILURES, ExecutionEnd, QueueJob
from tests.driven import scripted
from tests.executions import CONFIG, WORKS, Till
from tests.nights import held, night, queued, turned
from tests.queues import BOTH, Rig, rig

__all__ = ["rig"]

NIGHT = QueueSettings(window="22:00-07:00")


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-{text}")


@pytest.mark.parametrize(
    ("window", "now", "is_open", "opens"),
    [
        ("22:00-07:00", "04T21:59", False, "04T22:00"),
        ("22:00-07:00", "04T22:00", True, "05T22:00"),
        ("22:00-07:00", "05T03:00", True, "05T22:00"),
        ("22:00-07:00", "05T07:00", False, "05T22:00"),
        ("09:00-17:00", "05T08:59", False, "05T09:00"),
        ("09:00-17:00", "05T12:00", True, "06T09:00"),
        ("09:00-17:00", "05T17:00", False, "06T09:00"),
    ],
)
def test_a_window_may_go_over_midnight(window: str, now: str, is_open: bool, opens: str) -> None:
    found = window_of(window)
    assert (found.is_open(at(now)), found.opens(at(now))) == (is_open, at(opens))


def test_outside_of_its_window_the_queue_holds_and_says_until_when() -> None:
    hold = hold_of(NIGHT, (), at("04T12:00"), 0.0)
    assert (hold.kind, hold.until) == (WINDOW, at("04T22:00").timestamp())
    assert hold.reason == "it is outside of [queue] window 22:00-07:00; it continues at 22:00"
    assert hold_of(NIGHT, (), at("05T06:59"), 0.0).reason == ""


def test_a_person_who_resumes_it_outside_of_the_window_is_heard_until_it_closes_again() -> None:
    said = at("04T12:00").timestamp()
    assert hold_of(NIGHT, (), at("04T13:00"), said).reason == ""
    assert hold_of(NIGHT, (), at("05T07:01"), said).kind == WINDOW


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (BudgetRow("usd", 10.5, 10), "$10 of [queue] usd are used up ($10.50)"),
        (BudgetRow("tokens", 2_000_000, 2_000_000), "2,000,000 [queue] tokens are used up (2,000,000)"),
        (BudgetRow("hours", 6.04, 6), "6 [queue] hours of agents' work are used up (6.0)"),
    ],
)
def test_a_budget_that_is_used_up_holds_the_queue_until_the_next_night(row: BudgetRow, reason: str) -> None:
    hold = hold_of(NIGHT, (row,), at("05T03:00"), 0.0)
    assert (hold.kind, hold.until) == (BUDGET, at("05T22:00").timestamp())
    assert hold.reason == f"{reason}; it continues at 22:00, or with `detent queue resume`"
    assert hold_of(QueueSettings(), (row,), at("05T03:00"), 0.0).until == at("06T00:00").timestamp()
    assert hold_of(NIGHT, (BudgetRow(row.name, 0, row.most),), at("05T03:00"), 0.0).reason == ""


def test_a_budget_counts_from_the_opening_from_midnight_or_from_a_persons_word() -> None:
    assert period(NIGHT, at("05T03:00"), 0.0) == at("04T22:00")
    assert period(QueueSettings(), at("05T03:00"), 0.0) == at("05T00:00")
    assert period(NIGHT, at("05T03:00"), at("05T01:00").timestamp()) == at("05T01:00")
    assert period(NIGHT, at("05T03:00"), at("01T01:00").timestamp()) == at("04T22:00")


@BOTH
def test_a_pause_that_ends_by_itself_gives_way_to_one_that_does_not(rig: Rig) -> None:
    queue = rig.queue
    queue.hold("it is day", WINDOW, 100.0)
    first = queue.paused()
    queue.hold("it is still day", WINDOW, 200.0)
    assert queue.paused() == first._replace(reason="it is still day", until=200.0), "the same pause, with newer words"
    queue.hold("too much", BUDGET, 300.0)
    assert queue.paused().kind == WINDOW
    queue.pause("a person says so", "ann")
    assert (queue.paused().reason, queue.paused().kind) == ("a person says so", "")
    queue.release(KINDS)
    queue.hold("it is day", WINDOW, 100.0)
    assert queue.paused().reason == "a person says so", "only a person ends it"
    assert queue.resumed() == 0.0
    queue.resume()
    assert queue.paused().reason == "" and queue.resumed() > 0
    queue.hold("it is day", WINDOW, 100.0)
    for n in range(MOST_FAILURES):
        queue.release(KINDS)
        queue.add([QueueJob(f"r{n}")])
        if n == MOST_FAILURES - 1:
            ticket = f"r{n}~1~0"
            assert queue.store.begin(f"r{n}", 1, ticket, "worker")
            queue.hold("it is day", WINDOW, 100.0)
            assert queue.store.finish(f"r{n}", 1, "worker", ExecutionEnd("failed"), 1, 0.0)
        else:
            held(queue, f"r{n}", ExecutionEnd("failed"))
    assert queue.paused().reason.startswith(f"{MOST_FAILURES} executions failed in a row") and queue.paused().kind == ""


@pytest.mark.slow
def test_what_executions_took_pauses_the_queue_and_a_person_grants_it_again(tmp_path: Path) -> None:
    with night(tmp_path) as (till, app, queue):
        first, second = queued(app, queue, till.file("One"), till.file("Two"))
        limits, turns = QueueSettings(usd=0.4, tokens=1_000_000, hours=10), TakenTurns()
        assert turned(app, first, "over-budget") == "FAILED"
        assert keep_within(app, queue, limits, turns).reason == "" and queue.paused().reason == ""
        assert turned(app, second, "over-budget") == "FAILED"
        assert keep_within(app, queue, limits, turns).reason.startswith(
            "$0.4 of [queue] usd are used up ($0.50); it continues at 00:00 on "
        )
        pause = queue.paused()
        assert (pause.kind, pause.by) == (BUDGET, "detent") and pause.until > pause.since
        (third,) = queued(app, queue, till.file("Three"))
        assert not queue.store.begin(third, 1, f"{third}~1~0", "worker"), "nothing new starts"
        assert keep_within(app, queue, QueueSettings(usd=0.6), turns).reason == "" and queue.paused().reason == "", (
            "a budget that is raised counts"
        )
        keep_within(app, queue, limits, turns)
        queue.resume()
        assert keep_within(app, queue, limits, turns).reason == "", "the same is granted again"
        tomorrow = datetime.fromtimestamp(pause.until) + timedelta(minutes=1)  # noqa: DTZ006 - local time, as the window has it
        queue.hold("spent", BUDGET, pause.until)
        assert keep_within(app, queue, limits, TakenTurns(), tomorrow).reason == "" and queue.paused().reason == ""


@pytest.mark.slow
def test_a_worker_looks_at_the_budget_before_it_starts_anything_and_after_each_end(tmp_path: Path) -> None:
    with night(tmp_path, "[queue]\nusd = 0.2\n") as (till, app, queue):
        settings = queue_settings(app.place, app.world.outer)
        task, look = within_budget(app.place, app.world.outer, queue, task_of(app.place, app.world.outer, settings, queue))
        (first,) = queued(app, queue, till.file("One"))
        look()
        assert queue.paused().reason == ""
        assert turned(app, first, "over-budget") == "FAILED"
        assert task.judge(first, 1, "").state == "failed"
        assert queue.paused().kind == BUDGET
        now = queue_now(app, queue)
        assert now.budget == (BudgetRow("usd", 0.25, 0.2),) and now.paused is not None and now.paused.until > now.paused.since


@pytest.mark.slow
def test_work_outside_of_the_window_starts_nothing_and_says_when_it_continues(tmp_path: Path) -> None:
    """From the outside: a window that is never open for long, a worker, the list."""
    here = datetime.now()  # noqa: DTZ005 - local time, as the window has it
    window = f"{here + timedelta(hours=2):%H:%M}-{here + timedelta(hours=3):%H:%M}"
    till = Till(tmp_path, f"{CONFIG}[queue]\nwindow = '{window}'\n")
    item = till.file()
    till.project.run("queue", "add", item, "--agent", scripted(till.project, WORKS))
    ran = till.project.run("work", "--once", "--json")
    assert (ran.code, ran.json["done"], ran.json["left"]) == (1, 0, 1), ran
    assert ran.json["paused"].startswith(f"it is outside of [queue] window {window}; it continues at {here + timedelta(hours=2):%H:%M}")
    listed = till.project.run("queue", "list")
    assert "PAUSED by detent: it is outside of" in listed.out and "Continue now: detent queue resume" in listed.out
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        assert queue.one(item).starts == 0 and queue.paused().until > queue.paused().since
