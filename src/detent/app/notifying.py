"""Notifications to people about the queue, each sent once, by workers. A failure to send affects nothing else.

Notices are derived from the queue and the journal each time, so they survive restarts; the queue records which were sent.
"""

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from detent.app import App, now, open_app
from detent.app.forges import finder
from detent.app.project import project_settings
from detent.app.queue_budget import BUDGET, WINDOW, queue_now
from detent.app.report_values import Report
from detent.app.reporting import one_line, report_of
from detent.config.settings import Notify
from detent.errors import DetentError
from detent.git.place import Place
from detent.kernel.redact import Redact, redact_all, redactor, secrets_of
from detent.notify import Notification, NotifyWay, send
from detent.notify.by_webhook import SLACK
from detent.queue.queue_protocol import WorkerTask
from detent.queue.recovery import RECOVERY

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue

A_DAY, HALF_A_DAY = 86400.0, 43200.0
AWAY_LONG = 600.0  # seconds that an outage lasts before people are notified
MOST_ITEMS = 50  # in one message
MACHINE = "detent"  # who paused the queue, when no person did
WORDS = {"landed": "landed", "finished": "to merge", "waits": "waiting for a person", "failed": "failed", "running": "running", "queued": "queued"}  # fmt: skip

TITLES = {"paused": "The queue is paused", "budget": "A budget is used up", "over": "The queue has nothing left to do"}


class Notice(NamedTuple):
    """One thing to notify people about. `key` is unique within its kind forever."""

    kind: str
    key: str
    item: Mapping[str, str]


# -- finding notices -----------------------------------------------------------------------------------------------------------


def notices(app: App, queue: "DurableQueue", wanted: Sequence[str]) -> Iterator[Notice]:
    """All notices of the wanted kinds that hold now, sent before or not."""
    made = {"person": _persons, "paused": _paused, "budget": _budgets, "over": _over}
    return (notice for kind in wanted for notice in made[kind](app, queue))


def _persons(app: App, queue: "DurableQueue") -> Iterator[Notice]:
    for e in queue.all(("blocked",)):
        yield Notice("person", f"{e.id}:{e.attempt}", {"run": e.id, "item": e.item, "title": e.title, "why": one_line(e.reason)})


def _paused(app: App, queue: "DurableQueue") -> Iterator[Notice]:
    pause = queue.paused()
    if pause.reason and pause.by == MACHINE and pause.kind not in (WINDOW, BUDGET):
        yield Notice("paused", f"{pause.since:.3f}", {"why": pause.reason, "command": "detent queue resume"})
    for each in queue.away():
        if RECOVERY[each.thing].holds and each.until - each.since > AWAY_LONG:
            why = f"{one_line(each.said)}. The queue waits until that is over"
            yield Notice("paused", f"{each.thing} {each.since:.3f}", {"why": why, "command": f"detent queue retry --cause {each.thing}"})


def _budgets(app: App, queue: "DurableQueue") -> Iterator[Notice]:
    """Notices that the budget of the queue, or of an execution, is used up."""
    pause = queue.paused()
    if pause.kind == BUDGET:
        yield Notice("budget", f"{pause.since:.3f}", {"why": pause.reason, "command": "detent queue resume"})
    for e in queue.all(("failed",), limit=200):
        if e.ended and e.ended > time.time() - A_DAY and app.journal.heads(e.id) and app.door.load(e.id).run.cause == BUDGET:
            yield Notice("budget", e.id, {"run": e.id, "item": e.item, "title": e.title, "why": one_line(e.reason)})


def _over(app: App, queue: "DurableQueue") -> Iterator[Notice]:
    """The notice that the queue has nothing left to run, after something ended."""
    counts, pause = queue.counts(), queue.paused()
    if counts["running"] or (counts["ready"] and not pause.reason):
        return
    ended = max((e.ended for e in queue.all(("done", "failed", "blocked", "cancelled"), limit=1) if e.ended), default=0.0)
    if ended > time.time() - HALF_A_DAY:
        yield Notice("over", f"{ended:.3f}", {})


# -- as messages ---------------------------------------------------------------------------------------------------------------


def message_of(app: App, queue: "DurableQueue", kind: str, found: Sequence[Notice], since: float) -> Notification:
    """One message for all notices of a kind."""
    count, name = len(found), project_settings(app.world.git, app.world.outer)[0].project.name or app.place.root.name
    items, text = tuple(notice.item for notice in found[:MOST_ITEMS]), ""
    if kind == "over":
        report = report_since(app, queue, datetime.fromtimestamp(max(since, time.time() - A_DAY), UTC))
        text, items = summary_of(report), items_of(report)
    else:
        text = items[0]["why"] if count == 1 else ""
    title = _title(kind, [notice.item for notice in found])
    id = hashlib.sha256("\n".join((kind, *sorted(notice.key for notice in found))).encode()).hexdigest()[:24]
    return Notification(id, kind, f"{name}: {title}", text, name, now(), items)


def _title(kind: str, items: Sequence[Mapping[str, str]]) -> str:
    if kind != "person":
        return TITLES[kind]
    return f"{items[0]['item'] or items[0]['run']} waits for a person" if len(items) == 1 else f"{len(items)} executions wait for a person"


def report_since(app: App, queue: "DurableQueue", since: datetime) -> Report:
    return report_of(app, queue.all(limit=1_000_000), queue_now(app, queue), since, datetime.now(UTC))


def summary_of(report: Report) -> str:
    """The counts of a report, in one line."""
    counts = ", ".join(f"{n} {WORDS[group]}" for group, n in report.counts.items() if n and group in WORDS) or "nothing happened"
    return f"{counts}; ${report.cost.usd:.2f}, {report.cost.tokens:,} tokens"


def items_of(report: Report) -> tuple[Mapping[str, str], ...]:
    """The rows that a person has to look at: waiting, failed, or ready to merge."""
    names = ("run", "item", "title", "group", "why", "command", "branch", "pull_request")
    rows = [row for row in report.rows if row.group in ("waits", "failed", "finished")]
    return tuple({name: getattr(row, name) for name in names if getattr(row, name)} for row in rows[:MOST_ITEMS])


def report_message(app: App, report: Report) -> Notification:
    """The message for a report that a person sends by hand."""
    id = hashlib.sha256(f"report\n{report.until}".encode()).hexdigest()[:24]
    return Notification(id, "report", f"{report.project}: report", summary_of(report), report.project, now(), items_of(report))


# -- sending -------------------------------------------------------------------------------------------------------------------


def ways_of(notify: Notify, place: Place, env: Mapping[str, str]) -> dict[str, NotifyWay]:
    """The configured ways to notify, by name."""
    redact = redactor((*secrets_of(env), *([notify.webhook] if notify.webhook else [])))
    to = {"command": notify.command, "webhook": notify.webhook and f"{SLACK if notify.form == 'slack' else ''}{notify.webhook}"}
    to["desktop"] = "desktop" if notify.desktop else ""
    find = finder(place, env)
    return {name: NotifyWay(where, place.root, env, find, redact) for name, where in to.items() if where}


def redacted(message: Notification, redact: Redact) -> Notification:
    """A message with secrets redacted: what looks like a key, and the values of this machine's."""
    items = cast("list[Mapping[str, str]]", redact_all(redact, [dict(item) for item in message.items]))
    return message._replace(title=redact(message.title), text=redact(message.text), items=tuple(items))


def send_all(message: Notification, notify: Notify, place: Place, env: Mapping[str, str]) -> list[str]:
    """Send a message by every configured way; returns the errors."""
    ways = ways_of(notify, place, env)
    return send(redacted(message, redactor(secrets_of(env))), ways)


class Notifier:
    """Sends the notifications of a queue in a thread of its own. Errors are only recorded, to be shown."""

    def __init__(self, place: Place, env: Mapping[str, str], queue: "DurableQueue") -> None:
        self.place, self.env, self.queue = place, env, queue
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Start sending, unless that is under way."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._safely, name="notify", daemon=True)
            self._thread.start()

    def close(self, patience: float = 40.0) -> None:
        """Wait for the sending thread."""
        if self._thread is not None:
            self._thread.join(patience)

    def _safely(self) -> None:
        try:
            self.tell()
        except Exception as e:  # noqa: BLE001 - telling people must never end a worker
            message = e.message if isinstance(e, DetentError) else f"{type(e).__name__}: {e}"
            with suppress(Exception):  # the database may be unavailable too
                self.queue.notices.failed("any", redactor(secrets_of(self.env))(message))

    def tell(self) -> list[Notification]:
        """Send all new notices; returns the messages that were sent."""
        app = open_app(self.place.root, env=self.env)  # one of this thread's own
        with closing(app.journal):
            notify = project_settings(app.world.git, app.world.outer)[0].notify  # as main has it: an agent cannot name a command
            if not notify.is_set:
                return []
            found: dict[str, list[Notice]] = {}
            for notice in notices(app, self.queue, notify.events):
                found.setdefault(notice.kind, []).append(notice)
            sent = (self._send(app, notify, kind, each) for kind, each in found.items())
            return [message for message in sent if message is not None]

    def _send(self, app: App, notify: Notify, kind: str, found: list[Notice]) -> Notification | None:
        """Send the new notices of a kind as one message. Claimed before and marked after, so that no other worker sends them."""
        since = self.queue.notices.last(kind)
        mine = set(self.queue.notices.claim(kind, [notice.key for notice in found], notify.every))
        if not mine:
            return None
        message = message_of(app, self.queue, kind, [notice for notice in found if notice.key in mine], since)
        faults = send_all(message, notify, self.place, self.env)
        if faults and len(faults) == len(ways_of(notify, self.place, self.env)):
            self.queue.notices.failed(kind, "; ".join(faults))
            return None
        self.queue.notices.sent(kind, sorted(mine))
        if faults:
            self.queue.notices.failed("any", "; ".join(faults))
        return message


def with_notices(task: WorkerTask, notifier: Notifier) -> WorkerTask:
    """A worker's task that also sends notifications."""

    def tend() -> None:
        task.tend()
        notifier.look()

    return task._replace(tend=tend)
