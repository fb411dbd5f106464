"""The report: what landed, what waits for whom and why, what failed, and the cost. Reads the journal, the queue and git; changes nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from detent.app import App
from detent.app.executions import is_execution
from detent.app.land_asked import Left, open_landings
from detent.app.outline import title_of
from detent.app.project import project_settings
from detent.app.questions import waiting, ways
from detent.app.registry import usable, workflow_of
from detent.app.report_main import MainBranch
from detent.app.report_values import GROUPS, AgentCost, CostShare, EarlierAttempt, Group, QueueNow, Report, ReportRow
from detent.app.tally import add
from detent.app.turns_taken import TakenTurns, TurnTaken
from detent.door import AnyRun
from detent.drive.spent import Spent
from detent.git.commits import short
from detent.journal.journal import Head
from detent.world.pulls import url_of

if TYPE_CHECKING:
    from detent.queue.queue_protocol import Execution

PERSON = "a person"
TO_LAND = "it is proved and not in main yet"
BARE = "no test proves it, which was accepted; "  # said of a finished run, whose flags must have been accepted
LONGEST = 300  # characters of a reason


class ItemStory(NamedTuple):
    """The attempts at one item, the newest first; a run without an item is a story by itself."""

    heads: tuple[Head, ...]
    family: tuple[Head, ...]  # the attempts and their children

    @property
    def newest(self) -> Head:
        return self.heads[0]

    def touched(self, since: str) -> bool:
        return any(head.at >= since for head in self.family)


class ReportSources(NamedTuple):
    """The data that a report is made from."""

    app: App
    jobs: "dict[str, Execution]"
    main: MainBranch
    landings: dict[str, Left]  # by branch
    took: dict[str, list[TurnTaken]]  # turns by top-level run


def stamp(when: datetime) -> str:
    """A time as the journal writes it."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def report_of(app: App, jobs: "Sequence[Execution]", queue: QueueNow | None, since: datetime, until: datetime) -> Report:
    """The report of a time span. `jobs`: all executions in the queue, ended or not; empty without a queue."""
    settings, _ = project_settings(app.world.git, app.world.outer)
    begun = stamp(since)
    heads = [head for head in app.journal.heads() if usable(head.workflow) is not None]
    turns = list(TakenTurns().since(app, heads, begun))
    took: dict[str, list[TurnTaken]] = {}
    for turn in turns:
        took.setdefault(turn.root, []).append(turn)
    main = MainBranch(app.world.git, settings, begun)
    sources = ReportSources(app, {e.id: e for e in jobs}, main, {left.branch: left for left in open_landings(app)}, took)
    rows = [row for story in stories(heads) if (row := _row(sources, story, begun)) is not None]
    rows += [_landing_row(left) for branch, left in sources.landings.items() if branch not in {row.branch for row in rows}]
    rows.sort(key=lambda row: row.at, reverse=True)
    rows.sort(key=lambda row: GROUPS.index(row.group))
    counts = Counter(row.group for row in rows)
    return Report(
        project=settings.project.name or app.place.root.name,
        since=begun,
        until=stamp(until),
        counts={group: counts[group] for group in GROUPS},
        rows=tuple(rows),
        cost=_cost(turns),
        by_role=_shares(turns, lambda turn: turn.role),
        by_model=_shares(turns, lambda turn: turn.model),
        queue=queue,
    )


def stories(heads: Iterable[Head]) -> list[ItemStory]:
    """Runs grouped into stories: the executions of an item are one."""
    by_name: dict[str, list[Head]] = {}
    children: dict[str, list[Head]] = {}
    for head in heads:
        if head.parent:
            children.setdefault(head.parent, []).append(head)
        else:
            by_name.setdefault(head.run.rpartition("-")[0] if is_execution(head.workflow) else head.run, []).append(head)
    found = []
    for mine in by_name.values():
        ordered = tuple(sorted(mine, key=_number, reverse=True))
        found.append(ItemStory(ordered, tuple(each for head in ordered for each in (head, *children.get(head.run, ())))))
    return found


def _number(head: Head) -> int:
    last = head.run.rpartition("-")[2]
    return int(last) if is_execution(head.workflow) and last.isdigit() else 0


# -- one row -------------------------------------------------------------------------------------------------------------------


def _row(sources: ReportSources, story: ItemStory, since: str) -> ReportRow | None:
    """The row of a story, if anything happened to it or it waits for somebody."""
    app, head = sources.app, story.newest
    touched = story.touched(since)
    if head.ended and not touched and not _proved(head):
        return None
    run = app.door.load(head.run).run
    branch, commit = short(getattr(run.data, "branch", "")), getattr(run.data, "pushed", "")
    if head.ended and not touched and branch not in sources.main.without and commit not in sources.main.arrived:
        return None
    stands = _stands(sources, head, run)
    if not touched and not (head.ended or stands.waits_for or stands.group == "queued"):
        return None
    kinds = Counter(flag.kind for flag in run.flags)
    is_open = not run.accepted or stands.asked
    job = sources.jobs.get(head.run)
    item = job.item if job else getattr(getattr(run.data, "item", None), "id", "")
    return ReportRow(
        run=head.run,
        item=item,
        title=title_of(run).removeprefix(f"{item}: "),
        workflow=head.workflow,
        group=stands.group,
        state=run.state,
        why=stands.why,
        waits_for=stands.waits_for,
        command=stands.command,
        branch=branch,
        commit=commit,
        pull_request=url_of(app.place.common_dir, run),
        flags=dict(kinds) if is_open else {},
        accepted={} if is_open else dict(kinds),
        attempts=len(story.heads),
        earlier=tuple(_attempt(app, each) for each in story.heads[1:]),
        cost=_cost([turn for each in story.heads for turn in sources.took.get(each.run, ())]),
        at=max(each.at for each in story.family),
    )


def _attempt(app: App, head: Head) -> EarlierAttempt:
    run = app.door.load(head.run).run
    return EarlierAttempt(head.run, run.state, "" if _proved(head) else reason_of(run))


class _Stands(NamedTuple):
    group: Group
    why: str = ""
    waits_for: str = ""
    command: str = ""
    asked: bool = False  # whether a person is asked about its flags


def _proved(head: Head) -> bool:
    return head.ended and workflow_of(head.workflow).table.states[head.state].end == "proved"


def _stands(sources: ReportSources, head: Head, run: AnyRun) -> _Stands:
    if _proved(head):
        return _done(sources, run)
    if head.ended:
        group: Group = "cancelled" if run.state in ("CANCELLED", "ABORTED") else "failed"
        return _Stands(group, reason_of(run), "", f"detent queue retry {run.id}" if run.id in sources.jobs and group == "failed" else "")
    if (asking := next(waiting(sources.app, head.run), None)) is not None:
        return _Stands("waits", reason_of(asking), PERSON, _command(sources.app, head.run, asking), asking.cause == "flags")
    job = sources.jobs.get(head.run)
    if job is None or job.state not in ("waiting", "ready", *_LEFT):
        return _Stands("running", _parked(run), _until(run))
    if job.state in _LEFT:
        return _Stands(_LEFT[job.state], one_line(job.reason), "", f"detent queue retry {job.id}")
    if job.waits_for:
        items = ", ".join(job.waits_for)
        return _Stands("queued", f"it needs {items}", items)
    return _Stands("queued", one_line(job.reason) or _parked(run), _until(run))


_LEFT: dict[str, Group] = {
    "failed": "failed",
    "blocked": "waits",
    "cancelled": "cancelled",
}  # by the state of a job that ended before its run


def _done(sources: ReportSources, run: AnyRun) -> _Stands:
    """The standing of a proved run: landed, waiting for an answer, or to be merged."""
    branch, url = short(getattr(run.data, "branch", "")), url_of(sources.app.place.common_dir, run)
    commit = getattr(run.data, "pushed", "") or sources.main.without.get(branch, "")
    if left := sources.landings.get(branch):
        return _Stands("waits", one_line(left.question), PERSON, left.command, asked=True)
    if not branch or sources.main.has(commit or sources.app.world.git.resolve(f"refs/heads/{branch}^{{commit}}")):
        return _Stands("landed")
    bare = BARE if any(flag.kind == "no-proof" for flag in run.flags) else ""
    if url:
        return _Stands("finished", f"{bare}its pull request is not merged", PERSON)
    return _Stands("finished", f"{bare}it is not in main yet" if bare else TO_LAND, PERSON, f"detent land {branch}")


def _command(app: App, root: str, run: AnyRun) -> str:
    """The command by which a person lets a run continue."""
    found = ways(app, run)
    answers = {word: sent for word, sent in found.items() if sent.verb == "answer"}
    if answers:
        decision = next(iter(answers.values())).decision
        words = [word for word, sent in answers.items() if sent.decision == decision and " " not in word]
        return f"detent answer {decision} {'|'.join(words) or 'VALUE'} --run {root}"
    return f"detent resume --run {root}" if "resume" in found else f"detent decisions --run {root}"


def _parked(run: AnyRun) -> str:
    return f"a usage limit holds it until {run.not_before}" if run.not_before > stamp(datetime.now(UTC)) else ""


def _until(run: AnyRun) -> str:
    return run.not_before if run.not_before > stamp(datetime.now(UTC)) else ""


def _landing_row(left: Left) -> ReportRow:
    """The row of a branch without a run that `land` left because of its flags."""
    kinds, none = Counter(flag.kind for flag in left.flags), AgentCost()
    return ReportRow(
        "", "", left.branch, "land", "waits", "", one_line(left.question), PERSON, left.command, left.branch, "", "", dict(kinds), {}, 0, (), none, left.at
    )  # fmt: skip


def reason_of(run: AnyRun) -> str:
    """Why a run is in its state, in one line."""
    review = getattr(getattr(run.data, "review", None), "summary", "")
    return one_line(getattr(run.data, "reason", "") or (review if run.cause == "review" else "") or run.last_reason or run.cause)


def one_line(text: str) -> str:
    words = " ".join(text.split())
    return (words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…").rstrip(". ")


# -- cost ------------------------------------------------------------------------------------------------------------------------


def cost_of(spent: Spent) -> AgentCost:
    return AgentCost(round(spent.usage.usd, 4), spent.usage.tokens, round(spent.seconds, 1), spent.turns)


def _cost(turns: Sequence[TurnTaken]) -> AgentCost:
    return cost_of(reduce(add, (turn.spent for turn in turns), Spent()))


def _shares(turns: Sequence[TurnTaken], name: Callable[[TurnTaken], str]) -> tuple[CostShare, ...]:
    """The cost by name (of a role or a model), the most expensive first."""

    def shares() -> Iterator[CostShare]:
        for each in sorted({name(turn) for turn in turns}):
            yield CostShare(each, _cost([turn for turn in turns if name(turn) == each]))

    return tuple(sorted(shares(), key=lambda share: (-share.cost.usd, -share.cost.tokens, -share.cost.seconds, share.name)))
