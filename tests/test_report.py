"""The report: what landed, what waits for whom, what failed, what it took; as values, as text and as markdown."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.agents import Usage
from detent.app.estimating import Estimate, PastExecution, estimate_of
from detent.app.notifying import report_since
from detent.app.report_main import MainBranch
from detent.app.report_values import GROUPS, AgentCost, CostShare, PausedQueue, QueueNow, Report, ReportRow
from detent.app.reporting import report_of, stamp
from detent.app.times import time_of
from detent.config import Settings
from detent.drive.spent import Spent
from detent.errors import DetentError
from detent.interfaces.cli.report_text import WIDTH, as_markdown, as_text, duration_text, estimated, money, short_number
from detent.kernel.model import Sent
from detent.queue.queue_protocol import ExecutionEnd
from detent.tracker import Item
from tests.executions import BRANCH, CODE, WORKS, Till
from tests.nights import begun, held, night, queued, turned
from tests.repos import sh

NOW = datetime(2026, 3, 4, 7, 30, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

# -- times and numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("8h", "2026-03-03T23:30"),
        ("90m", "2026-03-04T06:00"),
        ("2d", "2026-03-02T07:30"),
        ("22:00", "2026-03-03T22:00"),
        ("7:00", "2026-03-04T07:00"),
        ("today", "2026-03-04T00:00"),
        ("Yesterday", "2026-03-03T00:00"),
        ("2026-03-01", "2026-03-01T00:00"),
        ("2026-03-01T22:00", "2026-03-01T22:00"),
        ("2026-03-01T22:00+01:00", "2026-03-01T21:00"),
    ],
)
def test_times_are_read_as_people_write_them(text: str, then: str) -> None:
    assert time_of(text, NOW) == datetime.fromisoformat(f"{then}+00:00")


@pytest.mark.parametrize("text", ["", "soon", "25:00", "8 parsecs", "2027-01-01", "-3h"])
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(DetentError) as e:
        time_of(text, NOW)
    assert "22:00" in e.value.hint


def test_numbers_are_short() -> None:
    assert [short_number(n) for n in (0, 999, 1000, 12_345, 1_200_000, 25_000_000)] == ["0", "999", "1k", "12k", "1.2M", "25M"]
    assert [money(n) for n in (0, 0.004, 0.25, 1234.5)] == ["$0.00", "$0.0040", "$0.25", "$1,234.50"]
    assert [duration_text(n) for n in (0, 59, 60, 3599, 3600, 36_000)] == ["0 s", "59 s", "1 min", "59 min", "1 h 00 min", "10 h 00 min"]


# -- as it is shown --------------------------------------------------------------------------------------------------------------


def row(**fields: Any) -> ReportRow:
    known: dict[str, Any] = {
        "run": "execute-it-1-1", "item": "it-1", "title": "Add prices", "workflow": "execute", "group": "landed", "state": "COMPLETED", "why": "",
        "waits_for": "", "command": "", "branch": BRANCH, "commit": "", "pull_request": "", "flags": {}, "accepted": {}, "attempts": 1, "earlier": (),
        "cost": AgentCost(0.25, 1500, 90, 2), "at": "2026-03-04T06:00:00.000+00:00",
    }  # fmt: skip
    return ReportRow(**{**known, **fields})


def shown(*rows: ReportRow, **fields: Any) -> Report:
    known: dict[str, Any] = {
        "project": "till", "since": "2026-03-03T22:00:00.000+00:00", "until": "2026-03-04T07:00:00.000+00:00",
        "counts": {group: sum(each.group == group for each in rows) for group in GROUPS}, "rows": rows, "cost": AgentCost(0.5, 3000, 180, 4),
        "by_role": (CostShare("worker", AgentCost(0.5, 3000, 180, 4)),), "by_model": (CostShare("command:" + "/very/long" * 12, AgentCost(0.5, 3000, 180, 4)),), "queue": None,
    }  # fmt: skip
    return Report(**{**known, **fields})


def test_the_text_says_who_must_do_what_in_80_columns() -> None:
    answer = "detent answer FLAGS accept|fix --run execute-it-7-1"
    waits = row(group="waits", item="it-7", title="Round " * 30, why="word " * 60, command=answer, flags={"unnoticed": 2, "no-proof": 1})
    failed = row(
        group="failed", item="it-8", title="\x1b[31mred\u202e", why="it failed", attempts=2, pull_request="https://forge.example/pulls/7"
    )
    queue = QueueNow(
        1, 2, 0, 1, PausedQueue("it is outside of [queue] window", "detent", "2026-03-04T07:00:00+00:00", "2026-03-04T22:00:00+00:00")
    )
    text = as_text(shown(row(), waits, failed, queue=queue))
    assert all(len(line) <= WIDTH for line in text.splitlines()), max(text.splitlines(), key=len)
    assert "1 waiting for a person, 1 failed, 1 landed" in text
    assert f"Next: {answer}" in text and "Flags: unnoticed (2), no-proof" in text
    assert "https://forge.example/pulls/7 · detent show execute-it-1-1" in text and f"{BRANCH} · detent show" in text
    assert "PAUSED since Wed 07:00: it is outside of [queue] window (continues Wed 04 Mar 22:00)" in " ".join(text.split())
    assert "\x1b" not in text and "\u202e" not in text and "\\x1b[31mred" in text
    assert text.index("Waiting for a person (1)") < text.index("Failed (1)") < text.index("Landed (1)")
    assert f"{'By role':<38}" in text and "worker" in text


def test_the_markdown_links_and_no_title_can_become_markup() -> None:
    text = as_markdown(
        shown(row(title="<b>*x*</b> [a](b) `c`", pull_request="https://forge.example/pulls/7", why="a | b"), row(group="failed"))
    )
    assert "\\<b\\>\\*x\\*\\</b\\> \\[a\\](b) \\`c\\`" in text and "a \\| b" in text
    assert "<https://forge.example/pulls/7>, run `execute-it-1-1`" in text
    assert "| worker | $0.50 | 3k | 3 min | 4 |" in text
    assert "## Failed (1)" in text and "## Queued" not in text


def test_nothing_is_said_plainly() -> None:
    text = as_text(shown(cost=AgentCost(), by_role=(), by_model=()))
    assert "nothing happened, and nothing waits for a person" in text and "$" not in text


# -- estimates -------------------------------------------------------------------------------------------------------------------


def past(id: str, sort: str, usd: float, *labels: str) -> PastExecution:
    return PastExecution(Item(id, id, type=sort, labels=labels), Spent(Usage(input_tokens=100, usd=usd), 60.0, 1))


def test_an_estimate_is_the_median_of_what_is_most_alike() -> None:
    history = [
        past("a", "bug", 1, "ui"),
        past("b", "bug", 2, "ui"),
        past("c", "bug", 9, "ui"),
        past("d", "bug", 50),
        past("e", "task", 100),
    ]
    item = Item("x", "x", type="bug", labels=("ui",))
    assert estimate_of(item, history) == Estimate(2, 100, 60.0, 3, "of type bug with a label of this item")
    assert estimate_of(Item("x", "x", type="bug"), history) == Estimate(5.5, 100, 60.0, 4, "of type bug")
    assert estimate_of(Item("x", "x", type="chore"), history) == Estimate(9, 100, 60.0, 5, "of all items")
    assert estimate_of(item, history[:1]) == Estimate(1, 100, 60.0, 1, "of all items")
    assert estimate_of(item, ()) is None and estimate_of(history[0].item, history[:1]) is None, "its own executions say nothing new"


def test_estimates_are_told_in_a_line() -> None:
    one = Estimate(0.25, 1500, 90.0, 3, "of type bug")
    assert estimated([None]) == "no history yet"
    assert estimated([one]) == "$0.25, 1.5k tokens, 1 min (median of 3 finished executions of type bug)"
    assert (
        estimated([one, one, None])
        == "$0.50, 3k tokens, 3 min for 2 items (each the median of similar finished executions; 1 without history)"
    )


# -- from the journal, the queue and git -----------------------------------------------------------------------------------------


def test_a_night_is_told_as_it_was(tmp_path: Path) -> None:
    """Failed twice, halted, waiting for another item, cancelled, untouched: counted, with attempts, reasons, commands and cost."""
    with night(tmp_path) as (till, app, queue):
        twice, halts, first, second, gone = (till.file(title) for title in ("Twice", "Halts", "First", "Second", "Gone"))
        till.project.run("items", "dep", second, first)
        (one,) = queued(app, queue, twice)
        assert turned(app, one, "over-budget", "a budget of the run is used up: 3 of 2 usd") == "FAILED"
        held(queue, one, ExecutionEnd("failed", "a budget of the run is used up: 3 of 2 usd"))
        till.change(twice, status="open", assignee="")
        (two,) = queued(app, queue, twice, again=True)
        assert turned(app, two, "over-budget", "again too much", agent="claude") == "FAILED"
        held(queue, two, ExecutionEnd("failed", "again too much"))
        (halted,) = queued(app, queue, halts)
        assert turned(app, halted, "no-model", "there is no such model") == "HALTED"
        held(queue, halted, ExecutionEnd("blocked", "it waits for a person"))
        queued(app, queue, second, first)
        (end,) = queued(app, queue, gone)
        app.door.submit(end, Sent("cancel", by="human", note="not now"))
        held(queue, end, ExecutionEnd("cancelled"))
        found = report_since(app, queue, datetime.now(UTC) - timedelta(hours=1))
        later = report_since(app, queue, datetime.now(UTC) + timedelta(seconds=1))
    by_item = {each.item: each for each in found.rows}
    assert found.counts == {"waits": 1, "failed": 1, "landed": 0, "finished": 0, "running": 0, "queued": 2, "cancelled": 1}
    assert (by_item[twice].run, by_item[twice].attempts, [a.run for a in by_item[twice].earlier]) == (two, 2, [one])
    assert by_item[twice].why == "again too much" and by_item[twice].command == f"detent queue retry {two}"
    assert by_item[twice].earlier[0].why == "a budget of the run is used up: 3 of 2 usd"
    assert by_item[twice].cost == AgentCost(0.5, 3000, 180.0, 4)
    assert (by_item[halts].waits_for, by_item[halts].command) == ("a person", f"detent resume --run {halted}")
    assert (by_item[second].waits_for, by_item[second].group, by_item[first].waits_for) == (first, "queued", "")
    assert found.cost == AgentCost(0.75, 4500, 270.0, 6) and found.by_role == (CostShare("worker", found.cost),)
    assert {share.name: share.cost.turns for share in found.by_model} == {"opus": 4, "claude-opus-4-5-20251101": 2}
    assert found.queue is not None and (found.queue.waiting, found.queue.ready) == (1, 1)
    assert later.counts == {**found.counts, "failed": 0, "cancelled": 0}, "what waits is said again; what is over is not"
    assert later.cost == AgentCost() and [each.cost for each in later.rows] == [AgentCost()] * 3
    text = as_text(found)
    assert f"2 attempts; before: {one} FAILED (a budget" in " ".join(text.split()) and all(len(line) <= WIDTH for line in text.splitlines())


def merged_at_the_forge(till: Till, branch: str) -> None:
    """Another clone squashes a branch into main, as forges do."""
    elsewhere = till.remote.parent / "forge"
    sh(till.remote.parent, "git", "clone", "-q", str(till.remote), str(elsewhere))
    who = ("-c", "user.name=f", "-c", "user.email=f@x")
    sh(elsewhere, "git", *who, "merge", "-q", "--squash", f"origin/{branch}")
    sh(elsewhere, "git", *who, "commit", "-qm", "Add prices (#1)")
    sh(elsewhere, "git", "push", "-q", "origin", "main")


@pytest.mark.slow
def test_what_is_proved_is_told_until_main_has_it_whoever_merges_it(tmp_path: Path) -> None:
    """The one case from the outside: the command, before and after a landing, and where a forge squashed the branch."""
    till = Till(tmp_path)
    item = till.file()
    usage = {"input_tokens": 1000, "output_tokens": 500, "usd": 0.25}
    assert till.execute(item, {**WORKS, "usage": usage}).code == 0
    before = till.project.run("report", "--since", "1h", "--json").json
    (row,) = before["rows"]
    assert (row["group"], row["item"], row["branch"], row["command"]) == ("finished", item, BRANCH, f"detent land {BRANCH}")
    assert (row["attempts"], row["cost"]["turns"], before["counts"]["finished"]) == (1, 1, 1) and row["cost"]["seconds"] > 0
    merged_at_the_forge(till, BRANCH)
    assert till.project.run("report", "--json").json["counts"]["finished"] == 1, "this clone does not know yet"
    after = till.project.run("report", "--since", "1h", "--fetch")
    assert after.code == 0 and "1 landed" in after.out and "detent land" not in after.out, after
    shown = till.project.run("items", "show", till.file("A third"))
    assert "estimate: " in shown.out and "median of 1 finished execution of all items" in shown.out, shown
    assert till.project.run("report", "--since", "soon").code == 2


@pytest.mark.slow
def test_what_a_person_accepted_without_a_proof_is_not_called_proved(tmp_path: Path) -> None:
    till = Till(tmp_path)
    run = f"execute-{till.file()}-1"
    assert till.execute("it-1", {**WORKS, "write": {"calc.py": CODE}}).code == 10
    assert till.project.run("answer", "FLAGS", "accept", "--run", run).code == 0
    assert till.project.run("resume", "--run", run).code == 0
    (row,) = till.project.run("report", "--json").json["rows"]
    assert (row["group"], row["accepted"]) == ("finished", {"no-proof": 1})
    assert row["why"] == "no test proves it, which was accepted; it is not in main yet"
    for shown in (till.project.run("report").out, till.project.run("report", "--markdown").out):
        assert "Not in main yet (1)" in shown and "proved and" not in shown and "Proved" not in shown, shown


def test_main_is_asked_by_commits_and_by_changes(tmp_path: Path) -> None:
    till = Till(tmp_path, remote=False)
    for branch in ("merged", "squashed", "open"):
        till.git("checkout", "-qb", branch, "main")
        till.project.write({f"{branch}.py": "x = 1\n"})
        till.git("add", "-A")
        till.git("commit", "-qm", branch)
    till.git("checkout", "-q", "main")
    till.git("merge", "-q", "--no-ff", "-m", "land", "merged")
    till.git("merge", "-q", "--squash", "squashed")
    till.git("commit", "-qm", "squashed (#2)")
    tip = {branch: till.git("rev-parse", branch).strip() for branch in ("merged", "squashed", "open")}
    with till.app() as app:
        main = MainBranch(app.world.git, Settings(), stamp(datetime.now(UTC) - timedelta(hours=1)))
        later = MainBranch(app.world.git, Settings(), stamp(datetime.now(UTC) + timedelta(hours=1)))
        assert [main.has(tip[branch]) for branch in ("merged", "squashed", "open")] == [True, True, False]
        assert main.without == {"squashed": tip["squashed"], "open": tip["open"]}
        assert tip["merged"] in main.arrived and later.arrived == frozenset() and later.has(tip["merged"])
        assert not main.has("") and not main.has("0" * 40)


def test_a_run_that_no_queue_has_is_told_too(tmp_path: Path) -> None:
    with night(tmp_path) as (till, app, _):
        run = begun(app, till.file())
        app.door.next(run)
        found = report_of(app, (), None, LONG_AGO, datetime.now(UTC))
        assert [(each.run, each.item, each.title, each.group) for each in found.rows] == [(run, "it-1", "Add prices", "running")]
        assert "  it-1 Add prices" in as_text(found) and "it-1: Add prices" not in as_markdown(found), "the item is named once"
        assert msgspec.json.decode(msgspec.json.encode(found), type=Report) == found
