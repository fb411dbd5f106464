"""The rows of the board, cached until something happens to their run. Changes nothing."""

import threading
import time
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple, TypeVar

from detent.app import App
from detent.app.driver_lock import driver_of, locks_held
from detent.app.outline import plan_of, title_of
from detent.app.push import OUTCOMES
from detent.app.questions import actor_now
from detent.app.registry import usable
from detent.app.tally import UsageTally, add
from detent.blocks.common import is_driven
from detent.interfaces.http import shapes
from detent.interfaces.http.shape import Group
from detent.interfaces.http.usage import usage_of
from detent.journal.journal import Head
from detent.world.pulls import url_of

V = TypeVar("V")
MOST = 1000  # rows in one answer
GROUPS: tuple[Group, ...] = ("waiting", "working", "ended")
SETTINGS_FOR = 10.0  # seconds that the configured agents are cached


class RowStamp(NamedTuple):
    """The cache key of a row: the head of the run, those of its children, and its driver."""

    head: Head
    children: tuple[Head, ...]
    driver: str


def stands(app: App) -> dict[str, RowStamp]:
    """The stamps of all runs whose workflow is installed, the last changed first."""
    heads, held = [head for head in app.journal.heads() if usable(head.workflow) is not None], locks_held()
    below: dict[str, list[Head]] = {}
    for head in heads:
        below.setdefault(head.parent, []).append(head)
    return {h.run: RowStamp(h, tuple(sorted(below.get(h.run, ()))), _driver(app, h, held)) for h in heads}


def stamp_of(app: App, head: Head, held: frozenset[str] | None = None) -> RowStamp:
    """The stamp of one run. `held`: the locks held now, to save reading them for each of many runs."""
    return RowStamp(head, tuple(app.journal.children(head.run)), _driver(app, head, locks_held() if held is None else held))


def _driver(app: App, head: Head, held: frozenset[str]) -> str:
    return "" if head.ended else driver_of(app, head.parent or head.run, held)


class RunsBoard:
    """Rows and groups, cached by stamp. Thread-safe."""

    def __init__(self, tally: UsageTally) -> None:
        self.tally = tally
        self._rows: dict[str, tuple[RowStamp, shapes.RunRow]] = {}
        self._groups: dict[str, tuple[RowStamp, Group]] = {}
        self._agent = (float("-inf"), "")
        self._lock = threading.Lock()

    def row(self, app: App, stamp: RowStamp) -> shapes.RunRow:
        return self._kept(self._rows, stamp, lambda: run_row(app, self.tally, stamp))

    def group(self, app: App, stamp: RowStamp) -> Group:
        """The group of a run: waiting, working or ended. Its head decides, unless a child is at work."""
        return self._kept(self._groups, stamp, lambda: _group(app, stamp))

    def counts(self, app: App, every: dict[str, RowStamp]) -> dict[str, int]:
        found = [self.group(app, stamp) for stamp in every.values() if not stamp.head.parent]
        return {group: found.count(group) for group in GROUPS}

    def _kept(self, kept: dict[str, tuple[RowStamp, V]], stamp: RowStamp, make: Callable[[], V]) -> V:
        with self._lock:
            before = kept.get(stamp.head.run)
            if before is None or before[0] != stamp:
                before = kept[stamp.head.run] = (stamp, make())
            return before[1]

    def configured(self, app: App) -> str:
        """The configured agents, cached for a few seconds."""
        from detent.app.commit_settings import settings_at

        if time.monotonic() - self._agent[0] > SETTINGS_FOR:
            roles = settings_at(app.world.git, "HEAD", app.world.outer).agents.roles
            self._agent = (time.monotonic(), ", ".join(dict.fromkeys(roles.values())))
        return self._agent[1]


def runs(app: App, board: RunsBoard, asked: shapes.RunsAsked) -> shapes.RunList:
    """A page of runs. Filters by stamps first; rows are built only for the page, or for a search."""
    every = stands(app)
    mine = [s for s in every.values() if asked.children or not s.head.parent]
    found = [s for s in mine if asked.workflow in ("", s.head.workflow) and asked.group in ("", board.group(app, s))]
    if words := asked.q.lower().split():
        found = [s for s in found if _has(board.row(app, s), words)]
    if asked.sort == "group":
        found.sort(key=lambda s: GROUPS.index(board.group(app, s)))
    if asked.ended is not None:
        found = _fewer_ended(found, asked.ended)
    end = asked.offset + min(asked.limit, MOST)
    return shapes.RunList(
        runs=tuple(board.row(app, s) for s in found[asked.offset : end]),
        total=len(found),
        counts=board.counts(app, every),
        next=end if end < len(found) else None,
        project=app.place.root.name,
        agent=board.configured(app),
    )


def _fewer_ended(found: list[RowStamp], most: int) -> list[RowStamp]:
    """The runs, with only the `most` last ended ones."""
    kept = {s.head.run for s in [s for s in found if s.head.ended][:most]}
    return [s for s in found if not s.head.ended or s.head.run in kept]


def _has(row: shapes.RunRow, words: list[str]) -> bool:
    text = " ".join((row.title, row.plan, row.run, row.state, row.acting_state, row.branch, row.workflow)).lower()
    return all(word in text for word in words)


def _group(app: App, stamp: RowStamp) -> Group:
    head = stamp.head
    if head.ended:
        return "ended"
    children = any(not child.ended for child in stamp.children)
    if not children and app.door.tables[head.workflow].states[head.state].actor != "human":
        return "working"
    return "waiting" if actor_now(app, app.door.acting(head.run)) == "human" else "working"


def run_row(app: App, tally: UsageTally, stamp: RowStamp) -> shapes.RunRow:
    head = stamp.head
    event = app.door.load(head.run)
    run, table = event.run, app.door.tables[head.workflow]
    acting = run if head.ended else app.door.acting(run.id)
    step, parts = app.door.tables[acting.workflow].step(acting), plan_of(run)
    sums = [tally.of(app, h.run, h.seq) for h in (head, *stamp.children)]
    return shapes.RunRow(
        run=run.id,
        workflow=run.workflow,
        state=run.state,
        title=title_of(run),
        plan=getattr(run.data.setup, "plan", ""),
        group=_group(app, stamp),
        outcome=OUTCOMES.get(table.states[run.state].end, ""),  # type: ignore[arg-type]  # a value of OUTCOMES, or empty
        cause=acting.cause,
        at=head.at,
        started=sums[0].started,
        events=head.seq,
        parent=head.parent,
        acting=acting.id if acting.id != run.id else "",
        acting_state=acting.state,
        step=f"{step.type}: {step.description}" if step else "",
        branch=getattr(run.data, "branch", "").removeprefix("refs/heads/"),
        pull_request=url_of(app.place.common_dir, run),
        pushed=is_driven(run.data),
        driven=bool(stamp.driver),
        done=sum(p.status == "done" for p in parts),
        parts=len(parts),
        usage=usage_of(reduce(add, (s.whole for s in sums))),
        last=event.status,
        checkout=head.worktree,
    )
