"""`detent queue` and `detent work` from the outside, on a project with a real remote and agents that are played from a script."""

import json
import os
import signal
import socket
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from detent.interfaces.cli.queue_text import picture
from detent.journal.holder import this_process
from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from detent.queue.lease import Leases
from detent.queue.queue_protocol import ExecutionEnd, Pace
from tests.driven import scripted
from tests.executions import CONFIG, FAILS, WORKS, Till
from tests.patience import LONG, lives, until

SLEEPS = (
    "import os, subprocess, sys, time\nopen(sys.argv[1], 'a').write(f'{os.getpid()}\\n')\nprint('at work', flush=True)\ntime.sleep(600)\n"
)


@pytest.fixture
def till(tmp_path: Path) -> Till:
    return Till(tmp_path)


def queue(till: Till, *args: str, code: int = 0) -> dict[str, Any]:
    ran = till.project.run("queue", *args, "--json")
    assert ran.code == code, ran
    return ran.json


@pytest.mark.slow
def test_items_are_queued_looked_at_held_cancelled_and_tried_again(till: Till) -> None:
    one, two = till.file("Add prices"), till.file("Round prices", priority=1)
    till.project.run("items", "dep", two, one)
    alone = till.project.run("queue", "add", two)
    assert (alone.code, f"{two} needs {one}, which is not closed and not in the queue" in alone.err) == (2, True)
    assert till.project.run("runs", "--json").json["runs"] == [], "what is refused begins no run"
    added = queue(till, "add", two, one)["executions"]
    assert [(e["item"], e["state"], e["waits_for"]) for e in added] == [(two, "waiting", [one]), (one, "ready", [])]
    assert queue(till, "add", one, two)["executions"] == [added[1], added[0]], "adding again changes nothing"
    assert "waits for it-1" in till.project.run("queue", "list").out

    assert queue(till, "pause", "the office moves")["paused"] == "the office moves"
    listed = till.project.run("queue", "list").out
    assert "PAUSED by" in listed and "the office moves" in listed and "No worker is running. Start one: detent work" in listed
    assert queue(till, "resume") == {"paused": None, "was": "the office moves"}

    gone = queue(till, "cancel", one, "--reason", "not now")["executions"][0]
    assert (gone["state"], gone["reason"]) == ("cancelled", "not now")
    assert till.run(gone["id"]).state == "CANCELLED", "the run is told so too"
    again = queue(till, "retry", one)["executions"][0]
    assert (again["state"], again["item"]) == ("ready", one)
    assert again["id"] != gone["id"], "a retry is a new run; an end stays an end"
    assert till.run(again["id"]).data.setup.agent == till.run(gone["id"]).data.setup.agent != "", "with the agent that it had"
    shown = queue(till, "show", one)
    assert (shown["id"], shown["run_state"]) == (again["id"], "QUEUED")
    assert [e["state"] for e in queue(till, "list", "--all")["executions"]] == ["ready", "waiting", "cancelled"]


@pytest.mark.slow
def test_a_list_says_that_it_is_cut_and_that_a_worker_is_gone(till: Till) -> None:
    for title in ("Add prices", "Add taxes"):
        queue(till, "add", till.file(title), "--agent", "human")
    cut = till.project.run("queue", "list", "-n", "1").out
    assert "execute-it-1-1" in cut and "execute-it-2-1" not in cut and "… and more: this shows the first 1." in cut
    assert queue(till, "list", "-n", "1")["more"] and not queue(till, "list", "-n", "2")["more"]
    with closing(DurableQueue(open_database("", till.project.root / ".git" / "detent" / "queue.db"))) as q:
        with q.database.engine.begin() as c:
            ticket = q.store._row(c, "execute-it-1-1").ticket
        assert q.store.begin("execute-it-1-1", 1, ticket, "elsewhere-1-ab")
    shown = till.project.run("queue", "list").out
    assert "worker gone" in shown and "elsewhere-1-ab is gone; another worker takes it over" in shown
    (first, second) = queue(till, "list")["executions"]
    assert (first["worker_gone"], second["worker_gone"]) == (True, False)


@pytest.mark.slow
def test_a_list_says_what_is_away_since_when_and_when_it_is_asked_again(till: Till) -> None:
    queue(till, "add", till.file())
    with closing(DurableQueue(open_database("", till.project.root / ".git" / "detent" / "queue.db"))) as opened:
        opened.store.meet_outage("tests", "pytest cannot be started")
        (away,) = opened.away()
    since, until = (datetime.fromtimestamp(at, UTC).astimezone().strftime("%H:%M:%S") for at in (away.since, away.until))
    listed = till.project.run("queue", "list").out
    assert f"AWAY tests, since {since}: pytest cannot be started\n" in listed, listed
    assert f"  Detent asks again at {until}, and continues by itself. To ask now: detent queue retry --cause tests\n" in listed, listed


@pytest.mark.slow
def test_a_worker_waits_for_a_database_that_is_not_there_yet(till: Till) -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = {**till.project.env, "DETENT_QUEUE_URL": f"postgresql://detent@127.0.0.1:{port}/none"}
    argv = till.project.argv("-C", str(till.project.root), "work", "--once")
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stderr is not None
        said = [worker.stderr.readline() for _ in range(3)]
        assert worker.poll() is None
        worker.terminate()
        worker.communicate(timeout=LONG)
    assert ["asking again in 1 s" in said[0], "asking again in 2 s" in said[1], "asking again in 4 s" in said[2]] == [True] * 3, said


@pytest.mark.slow
def test_where_decisions_need_a_terminal_the_queue_takes_none_from_elsewhere(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[decisions]\nrequire = 'terminal'\n", remote=False)
    one = till.file()
    queue(till, "add", one)  # to begin is to decide nothing
    for args in (
        ("queue", "cancel", one),
        ("queue", "retry", one),
        ("queue", "add", one, "--again"),
        ("queue", "pause"),
        ("queue", "resume"),
        ("items", "close", one),
        ("run", "--workflow", "execute", one, "--again", "--agent", "command:true"),
    ):
        ran = till.project.run(*args)
        assert ran.code == 2 and "only a person at a terminal may do this (decisions.require)" in ran.err, (args, ran)
    listed = queue(till, "list")
    assert ([e["state"] for e in listed["executions"]], listed["paused"], till.item(one).status) == (["ready"], None, "open")
    assert till.project.in_person("queue", "cancel", one).code == 0
    assert till.run("execute-it-1-1").state == "CANCELLED"


def test_what_cannot_be_is_said_in_a_sentence(till: Till) -> None:
    for args, said in (
        (("queue", "add"), "name the items, or use --ready"),
        (("queue", "add", "it-9"), "there is no item 'it-9'"),
        (("queue", "show", "it-9"), "there is no it-9 in the queue"),
        (("work", "--slots", "9"), "--slots 9 is more than the whole queue runs at once; raise [queue] slots, which is 3"),
    ):
        ran = till.project.run(*args)
        assert (ran.code, said in ran.err) == (2, True), ran


@pytest.mark.slow
def test_a_worker_takes_items_to_pushed_branches_in_the_order_of_their_needs(till: Till) -> None:
    one, two, bad = till.file("Add prices"), till.file("Add taxes"), till.file("Add nothing")
    till.project.run("items", "dep", two, one)
    taxed = "from calc import add\nfrom taxes import tax\n\n\ndef test_taxes():\n    assert tax(add(1, 2)) == 6\n"
    taxes = {"tests/test_taxes.py": taxed, "taxes.py": "def tax(n):\n    return n * 2\n"}  # calc.py comes from what it needs
    queue(
        till,
        "add",
        one,
        two,
        "--agent",
        scripted(till.project, {**WORKS, "step": "Add prices"}, {**WORKS, "step": "Add taxes", "write": taxes}),
    )
    broken = till.project.root.parent / "bad.json"
    broken.write_text(json.dumps([FAILS, FAILS]))
    queue(till, "add", bad, "--agent", f"scripted:{broken}")
    worked = till.project.run("work", "--once", "--events")
    assert worked.code == 1, worked
    told = [json.loads(line) for line in worked.out.splitlines()]
    assert told[-1] == {"done": 2, "failed": 1, "blocked": 0, "cancelled": 0, "left": 0, "paused": None}
    order = [(t["event"], t["id"]) for t in told[:-1]]
    assert order.index(("ended", "execute-it-1-1")) < order.index(("started", "execute-it-2-1"))
    states = {e["item"]: (e["state"], e["attempt"]) for e in queue(till, "list", "--all")["executions"]}
    assert states == {one: ("done", 1), two: ("done", 1), bad: ("failed", 1)}
    assert till.there("log", "--format=%s", "-1", "it-2-add-taxes").strip() == f"{two}: Add taxes"
    assert (till.item(one).status, till.item(bad).status) == ("closed", "in_progress")
    text = till.project.run("queue", "logs", one).out
    assert "done: COMPLETED" in text
    pieces = queue(till, "logs", one)
    assert queue(till, "logs", one, "--after", str(pieces["after"]))["pieces"] == []


@pytest.mark.slow
def test_ctrl_c_leaves_no_process_and_the_next_worker_goes_on(till: Till, tmp_path: Path) -> None:
    one = till.file()
    sleeper, pids = tmp_path / "sleeper.py", tmp_path / "pids"
    sleeper.write_text(SLEEPS)
    till.project.write({"detent.toml": CONFIG + f"[sandbox]\nlevel = 'none'\n[agents]\nworker = 'command:python3 {sleeper} {pids}'\n"})
    till.git("commit", "-qam", "an agent that sleeps")
    queue(till, "add", one)
    worker = subprocess.Popen(
        till.project.argv("work"), cwd=till.project.root, env=till.project.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        until(lambda: pids.exists() and pids.read_text().strip(), "the agent works")
        worker.send_signal(signal.SIGINT)
        out, err = worker.communicate(timeout=LONG)
    finally:
        worker.kill()
    assert worker.returncode == 130, (out, err)
    assert not any(lives(int(pid)) for pid in pids.read_text().split())
    assert [e["state"] for e in queue(till, "list")["executions"]] == ["ready"]
    assert queue(till, "list")["workers"] == []


@pytest.mark.slow
def test_a_killed_worker_s_execution_is_taken_up_from_its_journal(till: Till, tmp_path: Path) -> None:
    one = till.file()
    gate, pids = tmp_path / "go", tmp_path / "pids"
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import os, pathlib, sys, time\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.05)\n"
        f"pathlib.Path('calc.py').write_text({WORKS['write']['calc.py']!r}); os.makedirs('tests', exist_ok=True)\n"
        f"pathlib.Path('tests/test_add.py').write_text({WORKS['write']['tests/test_add.py']!r})\nprint('done')\n"
    )
    till.project.write({"detent.toml": CONFIG + f"[sandbox]\nlevel = 'none'\n[agents]\nworker = 'command:python3 {agent}'\n"})
    till.git("commit", "-qam", "an agent that waits")
    till.git("push", "-q", "origin", "main")
    queue(till, "add", one)
    with open(os.devnull, "wb") as nowhere:
        worker = subprocess.Popen(till.project.argv("work"), cwd=till.project.root, env=till.project.env, stdout=nowhere, stderr=nowhere)
    until(lambda: pids.exists() and pids.read_text().strip(), "the agent works")
    worker.kill()
    worker.wait()
    until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()), "its agent ends with it")
    gate.touch()
    assert till.project.run("work", "--once").code == 0
    run = queue(till, "show", one)
    assert (run["state"], run["run_state"], run["starts"]) == ("done", "COMPLETED", 2)
    assert till.there("log", "--format=%s", "main..it-1-add-prices").splitlines() == [f"{one}: Add prices"]
    assert [e.on for e in till.events(run["id"])].count("started") == 1, "it went on from the journal"


@pytest.mark.slow
def test_the_slots_of_all_workers_are_watched_until_nothing_is_left(till: Till) -> None:
    one, two = till.file("Add prices"), till.file("Add taxes")
    till.project.run("items", "dep", two, one)
    queue(till, "add", one, two, "--agent", scripted(till.project, WORKS))
    with closing(DurableQueue(open_database("", till.project.root / ".git" / "detent" / "queue.db"))) as held:
        Leases(held.database, "there-7", this_process("", "work"), 2, Pace()).renew()  # a worker of another process
        assert held.store.begin("execute-it-1-1", 1, "execute-it-1-1~1~0", "there-7")
        held.store.write("execute-it-1-1", 1, "reading the prices\n")
        said = click.unstyle(picture(held)).splitlines()
        assert said[0] == "1 running on 1 workers with 2 slots, 0 ready, 1 waiting"
        assert [line.split()[:2] for line in said[1:]] == [
            ["running", "execute-it-1-1"], ["on", "there-7"], ["│", "reading"], ["waiting", "execute-it-2-1"], ["waits", "for"],
        ]  # fmt: skip
        held.store.finish("execute-it-1-1", 1, "there-7", ExecutionEnd("done"), 0, 0)
        held.cancel("execute-it-2-1")
    over = till.project.run("queue", "list", "--watch")
    assert (over.code, over.out) == (0, "0 running on 1 workers with 2 slots, 0 ready, 0 waiting\n")
    assert till.project.run("queue", "list", "--watch", "--json").code == 2
