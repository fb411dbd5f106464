"""A whole night, from the script to the report of the morning: every item ends as it should, whatever goes wrong with everything around it."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from detent.app import open_app
from detent.door import AnyEvent
from tests.machine import need
from tests.night_script import FEW, SIXTY, TOKENS, TWENTY, USD, NightItem, items_of
from tests.night_shift import Shift, processes_left, work_off
from tests.postgres import Server
from tests.repos import sh

Items = dict[str, NightItem]
MERGED = 3  # every so many of what is finished is merged in the morning, before anybody reads the report


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_night_of_sixty_items_on_two_workers_and_postgresql(tmp_path: Path, postgres_server: Server) -> None:
    need("small disks")
    with Shift(tmp_path, postgres_server, "github", machines=2).open() as shift:
        items = shift.file(items_of(SIXTY))
        faults = [
            shift.remote_away(6, 90),
            shift.database_away(16, 3),
            shift.disk_full(26, 60),
            shift.database_away(38, 35),
            shift.remote_away(46, 5),
        ]
        work_off(shift, items, faults, every=30)
        assert shift.leave() == [130, 130], shift.told
        morning(shift, items)
        assert shift.kills >= 10, shift.told


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_night_of_twenty_items_on_the_embedded_queue(tmp_path: Path) -> None:
    need("small disks")
    with Shift(tmp_path, None, "builtin", machines=1).open() as shift:
        items = shift.file(items_of(TWENTY))
        work_off(shift, items, [shift.remote_away(3, 60), shift.tests_away(6, 20), shift.disk_full(11, 45)], every=60)
        assert shift.leave() == [130], shift.told
        morning(shift, items)
        assert shift.kills >= 4, shift.told


@pytest.mark.slow
def test_a_few_items_of_a_night_end_as_the_script_says(tmp_path: Path) -> None:
    with Shift(tmp_path, None, "builtin", machines=1).open() as shift:
        items = shift.file(items_of(FEW))
        work_off(shift, items, [], every=0)
        assert shift.leave() == [130]
        morning(shift, items)


def morning(shift: Shift, items: Items) -> None:
    """Compare everything with the script; all that differs is told at once."""
    began = datetime.now(UTC).replace(hour=0, minute=0, second=0)
    wrong = [line for line in shift.logs().splitlines() if "Traceback" in line or "bug in Detent" in line]
    wrong += processes_left(shift.folder)
    wrong += [f"{shift.restarts} times a worker ended by itself"] if shift.restarts else []
    checks: list[Callable[[], None]] = [
        lambda: ended(shift, items),
        lambda: filed_once(shift, items),
        lambda: opened_reviewed(shift, items),
        lambda: reported(shift, items, merge_some(shift, items), began),
    ]
    for check in checks:
        try:
            check()
        except AssertionError as e:
            wrong.append(str(e))
    assert wrong == [], "\n\n".join([*wrong, *shift.told])


# -- how each item ended ---------------------------------------------------------------------------------------------------------


def ended(shift: Shift, items: Items) -> None:
    """Job, run and item as the script says, and nothing is left to do or held."""
    with closing(shift.queue()) as queue:
        jobs = {job.item: job for job in queue.all(limit=1000)}
        assert (queue.engine.holders(), queue.counts()["running"], list(queue.away()), queue.paused().reason) == ({}, 0, [], "")
    assert len(jobs) == len(items)
    events, owed = histories(shift, items)
    status = {row["id"]: row["status"] for row in shift.here.json("items", "list", "--all")["items"]}
    seen = {item.title: (jobs[id].state, events[id][-1].run.state, status[id]) for id, item in items.items()}
    said = [(jobs[id].item, jobs[id].reason) for id, item in items.items() if jobs[id].state != item.way.job]
    assert seen == {item.title: (item.way.job, item.way.state, item.way.status) for item in items.values()}, (said, shift.told)
    assert owed == []


def histories(shift: Shift, items: Items) -> tuple[dict[str, list[AnyEvent]], list[str]]:
    """The events of each item's run, and what they still owe."""
    project = shift.here.project
    with pytest.MonkeyPatch.context() as own:
        own.setenv("XDG_STATE_HOME", project.env["XDG_STATE_HOME"])
        with closing((app := open_app(project.root, env=project.env)).journal):
            runs = {job.item: job.id for job in shift.watched.all()}
            owed = [f"{run}: {each.effect}" for run in runs.values() for each in app.journal.owed(run)]
            return {id: list(app.worlds.runs.history(runs[id])) for id in items}, owed


# -- what was filed --------------------------------------------------------------------------------------------------------------


def filed_once(shift: Shift, items: Items) -> None:
    """One follow-up for each failure, one item for each finding of a review, one pull request, and nothing else."""
    rows = shift.here.json("items", "list", "--all")["items"]
    others = [(row["found_in"][0], row["title"], row["status"]) for row in rows if row["id"] not in items]
    wanted = [(id, f"{item.way.files}: {item.title}", "open") for id, item in items.items() if item.way.files]
    for id, item in items.items():
        parts = ("end",) if item.kind == "never" else ("doubled", "tripled")
        wanted += [(id, f"{item.name} lacks a part: {part}", how) for part, how in zip(parts, item.way.issues, strict=False)]
    assert sorted(others) == sorted(wanted)
    notes = {row["title"]: row["notes"] for row in rows if row["id"] not in items and "follow-up" in row["labels"]}
    assert not any(notes.values()), "a follow-up that is filed again gets a note"
    if shift.forge.issues and not any(i.startswith("it-") for i in items):
        said = Counter(row["issue"] for row in shift.forge.comments.values() if "### Detent:" in row["body"])
        assert set(said.values()) <= {1}, "one proof card for each"


def branch_of(id: str, item: NightItem) -> str:
    prefix = id if id.startswith("it-") else f"issue-{id}"
    return f"{prefix}-{item.title.lower().replace(' ', '-')}"


def opened_reviewed(shift: Shift, items: Items) -> None:
    """Each commit at the remote was proved, and each pull request was opened once, at a commit that a review had found ready."""
    runs, _ = histories(shift, items)
    branches = set(shift.till.there("branch", "--format=%(refname:short)").split())
    assert branches == {"main", *(branch_of(id, item) for id, item in items.items() if item.way.pushed)}, "each under one name"
    opened = dict(shift.forge.opened)
    assert len(opened) == len(shift.forge.opened) == len(shift.forge.pulls), "no branch was opened twice"
    assert set(opened) == {branch_of(id, item) for id, item in items.items() if item.way.open}
    for id, item in ((id, item) for id, item in items.items() if item.way.pushed):
        branch, run = branch_of(id, item), runs[id][-1].run
        assert shift.till.there("rev-parse", branch) == run.data.pushed
        commits = shift.till.there("log", "--first-parent", "--format=%H %T", f"{run.data.base}..{branch}").splitlines()
        proved = {event.found.tree for event in runs[id] if event.on == "done" and event.status == "SUCCESS"}
        assert len(commits) == item.way.commits and {line.split()[1] for line in commits} <= proved, (item.title, commits)
        if item.way.open:
            ready = [event.run.data.pushed for event in runs[id] if event.on == "ready"]
            assert ready == [opened[branch]] == [run.data.reviewed], item.title


# -- the report of the morning -----------------------------------------------------------------------------------------------------


def merge_some(shift: Shift, items: Items) -> set[str]:
    """What a person merges at the forge before the report is read."""
    clone, done = shift.folder / "person", [id for id, item in items.items() if item.way.open and not item.needs][::MERGED]
    sh(shift.folder, "git", "clone", "-q", str(shift.till.remote), str(clone))
    for id in done:
        branch = branch_of(id, items[id])
        sh(
            clone,
            "git",
            "-c",
            "user.name=p",
            "-c",
            "user.email=p@example.org",
            "merge",
            "-q",
            "--no-ff",
            "-m",
            f"Merge {branch}",
            f"origin/{branch}",
        )
        shift.forge.merge(next(number for number, pull in shift.forge.pulls.items() if pull["head"] == branch))
    sh(clone, "git", "push", "-q", "origin", "main")
    shutil.rmtree(clone)
    return set(done)


def reported(shift: Shift, items: Items, merged: set[str], since: datetime) -> None:
    report = shift.here.json("report", "--fetch", "--since", since.isoformat(timespec="seconds"))
    rows = {row["item"]: row for row in report["rows"]}
    assert set(rows) == set(items) and len(report["rows"]) == len(items), "one row for each item"
    groups = {id: "landed" if id in merged else item.way.group for id, item in items.items()}
    assert {items[id].title: row["group"] for id, row in rows.items()} == {items[id].title: group for id, group in groups.items()}
    assert report["counts"] == {**dict.fromkeys(report["counts"], 0), **Counter(groups.values())}
    more = limits_told_again(shift, items)
    wrong = [(items[id].title, said) for id, row in rows.items() if (said := differs(row, items[id], id in merged, more[id]))]
    assert wrong == [], wrong
    queue = report["queue"]
    stuck = sum(item.way.job == "waiting" for item in items.values())
    assert (queue["waiting"], queue["ready"], queue["running"], queue["paused"]) == (stuck, 0, 0, None)
    added_up(report, items, sum(more.values()))


def limits_told_again(shift: Shift, items: Items) -> dict[str, int]:
    """How often more than once each item met its usage limit: each machine's scripted agent says it once, if the run comes there."""
    told = {id: sum(event.on == "limited" for event in events) for id, events in histories(shift, items)[0].items()}
    assert all((1 <= n <= len(shift.machines)) == (items[id].kind == "limited") for id, n in told.items()), told
    return {id: max(0, n - 1) for id, n in told.items()}


def differs(row: dict[str, Any], item: NightItem, merged: bool, more: int) -> list[tuple[object, object]]:
    """What the report says of an item and the script does not."""
    way = item.way
    pairs: list[tuple[object, object]] = [
        (row["state"], way.state),
        (row["title"], item.title),
        (bool(re.search(way.why, row["why"])) or row["why"], True if not merged else row["why"]),
        (row["attempts"], 1),
        (row["flags"], way.flags),
        (row["waits_for"] if item.kind != "stuck" else "", "" if merged else way.waits_for),
        (bool(row["pull_request"]), way.open),
        (bool(row["command"]), way.group in ("failed", "waits")),
        (row["cost"]["turns"], sum(way.turns) + more),
    ]
    return [pair for pair in pairs if pair[0] != pair[1]]


def added_up(report: dict[str, Any], items: Items, more: int) -> None:
    """What it took: turns by role, and what the scripted agents say that theirs took."""
    turns = {share["name"]: share["cost"]["turns"] for share in report["by_role"]}
    worked, reviewed = (sum(item.way.turns[n] for item in items.values()) for n in (0, 1))
    worked += more
    assert turns == {"worker": worked, "reviewer": reviewed}
    paid = sum(2 for item in items.values() if item.way.scripted and item.way.open)
    assert (report["cost"]["tokens"], report["cost"]["usd"]) == (paid * TOKENS, round(paid * USD, 4))
    assert report["cost"]["turns"] == worked + reviewed
