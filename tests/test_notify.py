"""Notifications: a command, a webhook on loopback, the desktop. Once for each event, few at a time, without secrets, and never in the way of a run."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from detent.app import notifying
from detent.app.notifying import AWAY_LONG, Notifier, notices, with_notices
from detent.app.queue_budget import BUDGET, WINDOW
from detent.notify import Notification, NotifyWay, send
from detent.queue import outages
from detent.queue.notices import AGAIN, MOST_TRIES, Notices
from detent.queue.queue_protocol import ExecutionEnd, ExecutionProcess, WorkerTask
from tests.driven import scripted
from tests.executions import FAILS, Till
from tests.nights import held, night, queued, turned
from tests.queues import BOTH, Rig, rig

__all__ = ["rig"]

EVENTS = ("person", "paused", "budget", "over")
SECRET = "sk-ant-abcdefghijklmnopqrstuvwxyz"


class Hook:
    """A webhook on loopback: what it was sent, and what it answers."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.status, self.location = 200, ""
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(hook.status)
                if hook.location:
                    self.send_header("Location", hook.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook/T0KEN"


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def message(**fields: Any) -> Notification:
    items = ({"item": "it-1", "title": "Add <prices> & more", "why": "flags", "command": "detent answer FLAGS accept"},)
    return Notification("abc", "person", "till: it-1 waits for a person", "flags", "till", "2026-03-04T07:00:00+00:00", items)._replace(
        **fields
    )


def way(to: str, folder: Path, **env: str) -> NotifyWay:
    found = {name: str(folder / name) for name in os.listdir(folder)}
    return NotifyWay(
        to, folder, {"PATH": os.environ["PATH"], **env}, lambda name: found.get(name, ""), lambda text: text.replace("T0KEN", "[redacted]")
    )


def program(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


# -- the ways -----------------------------------------------------------------------------------------------------------------


def test_a_command_gets_the_event_as_json_and_no_key_of_the_environment(tmp_path: Path) -> None:
    file = program(tmp_path, "tell", 'cat > got.json; env > env.txt; test "$1" = "two words"')
    sent = way(f"{file} 'two words'", tmp_path, ANTHROPIC_API_KEY=SECRET, NOTIFY_TOKEN="mine", HOME="/home/ann")
    assert send(message(), {"command": sent}) == []
    assert json.loads((tmp_path / "got.json").read_text()) == json.loads(json.dumps(message().as_object()))
    seen = (tmp_path / "env.txt").read_text()
    assert SECRET not in seen and "NOTIFY_TOKEN=mine" in seen and "HOME=/home/ann" in seen


def test_a_command_that_fails_or_is_not_there_is_said_in_a_line(tmp_path: Path) -> None:
    bad = program(tmp_path, "bad", "echo no account T0KEN >&2; exit 3")
    assert send(message(), {"command": way(str(bad), tmp_path)}) == [f"command: '{bad}' exited with code 3: no account [redacted]"]
    assert send(message(), {"command": way("/nowhere/tell", tmp_path)}) == [
        "command: '/nowhere/tell' could not be started: No such file or directory"
    ]
    assert send(message(), {"command": way("'", tmp_path)})[0].startswith("command: [notify] command cannot be read")


def test_a_webhook_gets_json_or_slacks_form(tmp_path: Path, hook: Hook) -> None:
    assert send(message(), {"webhook": way(hook.url, tmp_path)}) == []
    assert send(message(items=message().items * 25), {"webhook": way(f"slack:{hook.url}", tmp_path)}) == []
    plain, slack = hook.got
    assert (plain["event"], plain["id"], plain["items"][0]["command"]) == ("person", "abc", "detent answer FLAGS accept")
    assert set(slack) == {"text"} and slack["text"].startswith(
        "*till: it-1 waits for a person*\nflags\n• it-1 Add &lt;prices&gt; &amp; more: flags\n"
    )
    assert slack["text"].endswith("and 5 more")


def test_a_webhook_that_refuses_redirects_or_is_away_is_said_without_its_address(tmp_path: Path, hook: Hook) -> None:
    hook.status = 500
    assert send(message(), {"webhook": way(hook.url, tmp_path)}) == ["webhook: it answered 500"]
    hook.status, hook.location = 302, f"{hook.url}/elsewhere"
    assert send(message(), {"webhook": way(hook.url, tmp_path)}) == ["webhook: it answered 302"]
    assert len(hook.got) == 2, "nothing was sent to where it points"
    (fault,) = send(message(), {"webhook": way("http://127.0.0.1:1/T0KEN", tmp_path)})
    assert fault.startswith("webhook: it cannot be reached: ") and "T0KEN" not in fault


def test_the_desktop_gets_words_and_no_markup(tmp_path: Path) -> None:
    assert send(message(), {"desktop": way("desktop", tmp_path)})[0].startswith("desktop: there is no notify-send here")
    program(tmp_path, "notify-send", 'printf "%s\\n" "$@" > said.txt')
    assert send(message(title="--help"), {"desktop": way("desktop", tmp_path)}) == []
    said = (tmp_path / "said.txt").read_text().splitlines()
    assert said == ["--app-name=Detent", "--urgency=critical", "--", "--help", "flags", "it-1 Add &lt;prices&gt; &amp; more"]


# -- once, and few ------------------------------------------------------------------------------------------------------------


@BOTH
def test_each_event_is_claimed_once_and_a_kind_waits_between_two_messages(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = rig.queue.notices, Notices(rig.queue.store)
    assert one.claim("person", ["a", "b"], 300) == ["a", "b"]
    one.sent("person", ["a", "b"])
    assert other.claim("person", ["a", "b", "c"], 300) == [], "c waits until the time is over"
    assert other.claim("over", ["a"], 300) == ["a"], "another kind does not wait"
    assert other.claim("person", ["a", "b", "c"], 0) == ["c"]
    assert one.claim("person", ["c"], 0) == [], "somebody else is sending it"
    other.failed("person", "no answer")
    assert one.fault() == "no answer" and one.claim("person", ["c"], 300) == []
    monkeypatch.setattr("detent.queue.notices.AGAIN", 0.0)
    for _ in range(MOST_TRIES - 1):
        assert one.claim("person", ["c"], 0) == ["c"]
        one.failed("person", "no answer")
    assert one.claim("person", ["c"], 0) == [], f"after {MOST_TRIES} tries it is left; {AGAIN:.0f} s lie between two"
    one.claim("person", ["d"], 0)
    one.sent("person", ["d"])
    assert one.fault() == ""


@contextmanager
def told(tmp_path: Path, hook: Hook, more: str = "every = 0\n") -> Iterator[tuple[Till, Any, Any, Notifier]]:
    with night(tmp_path, f"[notify]\nwebhook = '{hook.url}'\n{more}") as (till, app, queue):
        yield till, app, queue, Notifier(app.place, {**app.world.outer, "MY_API_KEY": "hunter2-hunter2"}, queue)


@pytest.mark.slow
def test_a_person_is_told_once_over_restarts_in_one_message_without_secrets(tmp_path: Path, hook: Hook) -> None:
    with told(tmp_path, hook, "every = 0\nevents = ['person']\n") as (till, app, queue, notifier):
        one, two = queued(app, queue, till.file(f"Use {SECRET}"), till.file("Use hunter2-hunter2"))
        held(queue, one, ExecutionEnd("blocked", f"it waits for a person, see {SECRET}"))
        held(queue, two, ExecutionEnd("blocked", "it waits for a person"))
        assert len(notifier.tell()) == 1 and notifier.tell() == []
        again = Notifier(notifier.place, notifier.env, queue)
        assert again.tell() == [], "a restart tells nothing twice"
        assert hook.url not in app.door.load(one).run.data.setup.settings, "what is journaled names no address"
        (got,) = hook.got
        assert (got["event"], got["title"], len(got["items"])) == ("person", "till: 2 executions wait for a person", 2)
        assert SECRET not in json.dumps(got) and "hunter2" not in json.dumps(got) and "[redacted]" in json.dumps(got)
        queue.retry(two)
        held(queue, two, ExecutionEnd("blocked", "it waits for a person once more"))
        (message,) = again.tell()
        assert message.title == "till: it-2 waits for a person" and message.text == "it waits for a person once more"


@pytest.mark.slow
def test_what_comes_soon_after_another_waits_and_comes_together(tmp_path: Path, hook: Hook) -> None:
    with told(tmp_path, hook, "every = 300\nevents = ['person']\n") as (till, app, queue, notifier):
        runs = queued(app, queue, *(till.file(f"Item {n}") for n in range(3)))
        held(queue, runs[0], ExecutionEnd("blocked", "x"))
        assert len(notifier.tell()) == 1
        for run in runs[1:]:
            held(queue, run, ExecutionEnd("blocked", "x"))
        assert notifier.tell() == []
        with queue.database.engine.begin() as c:  # five minutes later
            c.execute(queue.store.meta.update().where(queue.store.meta.c.key == "notified:person").values(value=str(time.time() - 301)))
        assert [len(m.items) for m in notifier.tell()] == [2]


@pytest.mark.slow
def test_pauses_budgets_and_the_end_of_the_night_are_told(tmp_path: Path, hook: Hook) -> None:
    with told(tmp_path, hook) as (till, app, queue, notifier):
        one, two = queued(app, queue, till.file("One"), till.file("Two"))
        assert notifier.tell() == [], "there is work left to do"
        assert turned(app, one, "over-budget", "a budget of the run is used up: 3 of 2 usd") == "FAILED"
        held(queue, one, ExecutionEnd("failed", "a budget of the run is used up: 3 of 2 usd"))
        assert [m.event for m in notifier.tell()] == ["budget"]
        queue.pause("ann says so", "ann")
        (over,) = notifier.tell()
        assert over.event == "over", "who paused it knows; nothing runs and nothing will"
        assert over.text.startswith("1 failed, 1 queued; $0.25, 1,500 tokens") and [item["item"] for item in over.items] == ["it-1"], over
        queue.resume()
        queue.hold("outside of its window", WINDOW, 0.0)
        assert notifier.tell() == []
        queue.release((WINDOW,))
        queue.hold("$1 of [queue] usd are used up", BUDGET, 0.0)
        assert [(m.event, m.text) for m in notifier.tell()] == [("budget", "$1 of [queue] usd are used up")]
        queue.release((BUDGET,))
        queue.store.pause("5 executions failed in a row", "detent")
        assert [(m.event, m.text) for m in notifier.tell()] == [("paused", "5 executions failed in a row")]
        queue.resume()
        queue.store.meet_outage("tests", "pytest cannot be started")
        assert notifier.tell() == [], "what is away for a moment wakes nobody"
        (row,) = queue.away()
        with queue.store.changing() as c:
            queue.store._put(c, outages.KEY, outages.write({"tests": row._replace(since=row.since - AWAY_LONG)}))
        (away,) = notifier.tell()
        assert (away.event, away.text) == ("paused", "pytest cannot be started. The queue waits until that is over")
        assert away.items[0]["command"] == "detent queue retry --cause tests"
        queue.wake("tests")
        held(queue, two, ExecutionEnd("done"))
        assert [m.event for m in notifier.tell()] == ["over"] and notifier.tell() == []
        assert {m["event"] for m in hook.got} == {"budget", "over", "paused"}


@pytest.mark.slow
def test_nothing_that_goes_wrong_reaches_the_worker(tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    with told(tmp_path, hook, "every = 0\nevents = ['person']\n") as (till, app, queue, notifier):
        (one,) = queued(app, queue, till.file())
        held(queue, one, ExecutionEnd("blocked", "x"))
        hook.status = 503
        looked: list[str] = []
        task = with_notices(
            WorkerTask(
                lambda id: ExecutionProcess([], tmp_path, {}),
                lambda id, code, last: ExecutionEnd("done"),
                1,
                1,
                lambda: looked.append("tended"),
            ),
            notifier,
        )
        task.tend()
        notifier.close()
        assert looked == ["tended"] and len(hook.got) == 1
        assert queue.notices.fault() == "webhook: it answered 503"
        with monkeypatch.context() as broken:
            broken.setattr(notifying, "notices", lambda *_: 1 / 0)
            task.tend()
            notifier.close()
        assert queue.notices.fault() == "ZeroDivisionError: division by zero"
        monkeypatch.setattr("detent.queue.notices.AGAIN", 0.0)
        hook.status = 200
        assert len(notifier.tell()) == 1 and queue.notices.fault() == "", "it is sent once that works again"


def test_without_a_way_nobody_is_told_and_only_what_is_wanted_is_looked_at(tmp_path: Path) -> None:
    with night(tmp_path) as (till, app, queue):
        (one,) = queued(app, queue, till.file())
        held(queue, one, ExecutionEnd("blocked", "x"))
        assert Notifier(app.place, app.world.outer, queue).tell() == []
        assert {notice.kind for notice in notices(app, queue, EVENTS)} == {"person", "over"}
        assert {notice.kind for notice in notices(app, queue, ("over",))} == {"over"}


@pytest.mark.slow
def test_what_only_lies_in_the_checkout_names_no_command(tmp_path: Path) -> None:
    tell = program(tmp_path, "tell.sh", f"touch {tmp_path}/told")
    with night(tmp_path) as (till, app, queue):
        (one,) = queued(app, queue, till.file())
        held(queue, one, ExecutionEnd("blocked", "x"))
        till.project.write({"detent.toml": f"[notify]\ncommand = '{tell}'\n"})
        assert Notifier(app.place, app.world.outer, queue).tell() == [] and not (tmp_path / "told").exists()
        till.git("commit", "-qam", "tell people")
        assert len(Notifier(app.place, app.world.outer, queue).tell()) == 2 and (tmp_path / "told").exists()


@pytest.mark.slow
def test_a_worker_tells_that_the_night_is_over_and_report_tries_it_out(tmp_path: Path) -> None:
    """From the outside: a command of the user's, a real worker, an execution that fails."""
    tell = program(tmp_path, "tell.sh", f"cat >> {tmp_path}/told; echo >> {tmp_path}/told")
    till = Till(tmp_path, f"[notify]\ncommand = '{tell}'\n")
    tried = till.project.run("report", "--send")
    assert tried.code == 0 and "Sent." in tried.err, tried
    till.project.run("queue", "add", till.file(), "--agent", scripted(till.project, FAILS, FAILS))
    ran = till.project.run("work", "--once", "--json")
    assert ran.json["failed"] == 1, ran
    first, last = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert first["event"] == "report" and (last["event"], last["title"]) == (
        "over",
        f"{till.project.root.name}: The queue has nothing left to do",
    )
    assert last["text"].startswith("1 failed; ") and last["items"][0]["command"].startswith("detent queue retry ")
