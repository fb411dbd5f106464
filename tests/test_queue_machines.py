"""Several machines: clones in different places with state folders of their own, one remote, one PostgreSQL database."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from tests.driven import scripted
from tests.executions import FAILS, WORKS, Till
from tests.patience import LONG, until
from tests.postgres import Server
from tests.project import Project
from tests.repos import sh


class Machine:
    """A clone of the project somewhere else."""

    def __init__(self, till: Till, folder: Path, url: str) -> None:
        folder.mkdir()
        sh(folder, "git", "clone", "-q", str(till.remote), "p")
        self.project = Project(folder / "p", made=True)
        shared = {"DETENT_QUEUE_URL": url} if url else {}
        key = folder / "state" / "detent" / "journal-key"  # the one file that machines with one journal share
        key.parent.mkdir(parents=True)
        key.touch(0o600)
        key.write_text("5ba1e9" * 11)
        self.project.env |= {"XDG_STATE_HOME": str(folder / "state"), "DETENT_SANDBOX_LEVEL": "none", **shared}
        sh(self.project.root, "git", "config", "user.email", "m@example.org")
        sh(self.project.root, "git", "config", "user.name", "m")

    def work(self) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(self.project.argv("work"), cwd=self.project.root, env=self.project.env, stdout=quiet, stderr=quiet)

    def json(self, *args: str, code: int = 0) -> dict[str, Any]:
        ran = self.project.run(*args, "--json")
        assert ran.code == code, ran
        return ran.json


@pytest.mark.slow
def test_what_one_machine_queues_another_executes_and_both_see_it(tmp_path: Path, postgres_server: Server) -> None:
    till, url = Till(tmp_path), postgres_server.database()
    here, there = Machine(till, tmp_path / "here", url), Machine(till, tmp_path / "there", url)
    item = here.json("items", "add", "Add prices")["id"]
    queued = here.json("queue", "add", item, "--agent", scripted(here.project, WORKS))["executions"][0]
    assert [e["id"] for e in there.json("queue", "list")["executions"]] == [queued["id"]]
    worked = there.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"]) == (0, 1), (worked, here.project.run("queue", "logs", item))
    seen = here.json("queue", "show", item)
    assert (seen["state"], seen["run_state"]) == ("done", "COMPLETED")
    assert till.there("log", "--format=%s", "main..it-1-add-prices").splitlines() == [f"{item}: Add prices"]
    assert here.json("items", "show", item)["status"] == "closed"
    assert json.loads(here.project.run("show", queued["id"], "--json").out)["events"]


AGENT = """
import os, pathlib, time
pathlib.Path({begun!r}).touch()
while {waits} and not pathlib.Path({go!r}).exists():
    time.sleep(0.05)
pathlib.Path("calc.py").write_text({code!r})
os.makedirs("tests", exist_ok=True)
pathlib.Path("tests/test_add.py").write_text({test!r})
print("done")
"""


@pytest.mark.parametrize("stage", [pytest.param("agent", marks=pytest.mark.slow), pytest.param("push", marks=pytest.mark.slow)])
def test_another_machine_goes_on_where_one_was_lost_with_all_it_had(tmp_path: Path, postgres_server: Server, stage: str) -> None:
    till, url = Till(tmp_path), postgres_server.database()
    lost, other = Machine(till, tmp_path / "lost", url), Machine(till, tmp_path / "other", url)
    begun, go, agent = tmp_path / "begun", tmp_path / "go", tmp_path / "agent.py"
    wrote = WORKS["write"]
    words = {"begun": str(begun if stage == "agent" else tmp_path / "asked"), "go": str(go), "waits": stage == "agent"}
    agent.write_text(AGENT.format(**words, code=wrote["calc.py"], test=wrote["tests/test_add.py"]))
    if stage == "push":
        till.hook(f"case $1 in refs/heads/it*) touch '{begun}'; while [ ! -f '{go}' ]; do sleep 0.05; done;; esac")
    item = lost.json("items", "add", "Add prices")["id"]
    lost.json("queue", "add", item, "--agent", f"command:{sys.executable} {agent}")
    worker = lost.work()
    until(begun.exists, f"the {stage} is at work")
    worker.kill()
    worker.wait()
    (tmp_path / "lost").rename(tmp_path / "gone")
    go.touch()
    worked = other.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"]) == (0, 1), (worked, other.project.run("queue", "logs", item))
    assert till.there("log", "--format=%s", "main..it-1-add-prices").splitlines() == [f"{item}: Add prices"]
    assert till.there("branch", "--format=%(refname:short)").split() == ["it-1-add-prices", "main"], "and no second branch"
    assert other.json("items", "show", item)["status"] == "closed"
    assert not (tmp_path / "lost").exists(), "nothing was written where the other machine had its work"


@pytest.mark.slow
def test_another_machine_goes_on_with_what_began_from_unlanded_work(tmp_path: Path, postgres_server: Server) -> None:
    till, url = Till(tmp_path), postgres_server.database()
    lost, other = Machine(till, tmp_path / "lost", url), Machine(till, tmp_path / "other", url)
    needed = lost.json("items", "add", "Add prices")["id"]
    lost.json("queue", "add", needed, "--agent", scripted(lost.project, WORKS))
    assert lost.project.run("work", "--once").code == 0
    till.project.write({"other.py": "other = 1\n"})
    till.git("add", "-A")
    till.git("commit", "-qm", "main went on, so that both are merged")
    till.git("push", "-q", "origin", "main")
    begun, go, agent = tmp_path / "begun", tmp_path / "go", tmp_path / "agent.py"
    words = {"begun": str(begun), "go": str(go), "waits": True}
    code, test = (WORKS["write"][path].replace("add", "plus") for path in ("calc.py", "tests/test_add.py"))
    agent.write_text(
        AGENT.format(**words, code=WORKS["write"]["calc.py"] + "\n\n" + code, test=test).replace("test_add.py", "test_plus.py")
    )
    item = lost.json("items", "add", "Add taxes", "--dep", needed)["id"]
    lost.json("queue", "add", item, "--agent", f"command:{sys.executable} {agent}")
    worker = lost.work()
    until(begun.exists, "the agent is at work")
    worker.kill()
    worker.wait()
    (tmp_path / "lost").rename(tmp_path / "gone")
    go.touch()
    worked = other.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"]) == (0, 1), (worked, other.project.run("queue", "logs", item))


@pytest.mark.slow
def test_a_machine_that_comes_back_to_what_another_went_on_with_takes_in_what_that_one_did(tmp_path: Path, postgres_server: Server) -> None:
    till, url = Till(tmp_path), postgres_server.database()
    first, other = Machine(till, tmp_path / "first", url), Machine(till, tmp_path / "other", url)
    begun, go, pushes, agent = tmp_path / "begun", tmp_path / "go", tmp_path / "pushes", tmp_path / "agent.py"
    wrote = WORKS["write"]
    words = {"begun": str(begun), "go": str(go), "waits": True}
    agent.write_text(AGENT.format(**words, code=wrote["calc.py"], test=wrote["tests/test_add.py"]))
    till.hook(f"case $1 in refs/heads/it*) touch '{pushes}'; while [ ! -f '{pushes}.go' ]; do sleep 0.05; done;; esac")
    item = first.json("items", "add", "Add prices")["id"]
    first.json("queue", "add", item, "--agent", f"command:{sys.executable} {agent}")
    for machine, reached in (
        (first, begun),
        (other, pushes),
    ):  # the first is killed as its agent works, the other as it pushes what was proved
        worker = machine.work()
        until(reached.exists, f"{reached.name} is there")
        worker.kill()
        worker.wait()
        go.touch()
    Path(f"{pushes}.go").touch()
    worked = first.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"]) == (0, 1), (worked, first.project.run("queue", "logs", item))
    assert till.there("log", "--format=%s", "main..it-1-add-prices").splitlines() == [f"{item}: Add prices"]
    assert first.json("items", "show", item)["status"] == "closed"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("database", "workers", "count"), [("postgres", 2, 10), ("postgres", 2, 200), ("embedded", 1, 200)])
def test_workers_that_are_killed_at_random_push_each_commit_and_file_each_follow_up_once(
    tmp_path: Path, postgres_server: Server, database: str, workers: int, count: int
) -> None:
    till, url = Till(tmp_path), postgres_server.database() if database == "postgres" else ""
    here, bad = Machine(till, tmp_path / "here", url), tmp_path / "bad.json"
    machines = [here, *([Machine(till, tmp_path / "there", url)] if url else [])]
    bad.write_text(json.dumps([FAILS] * 20))  # an agent that was killed is asked again
    titles = [f"Add nothing {n}" if n % 5 == 4 and n < 50 else f"Add prices {n}" for n in range(count)]
    ids = {here.json("items", "add", title)["id"]: title for title in titles}
    wrong = [id for id, title in ids.items() if "nothing" in title]
    good = [id for id in ids if id not in wrong]
    here.json("queue", "add", *good, "--agent", scripted(here.project, *[WORKS] * 20))
    here.json("queue", "add", *wrong, "--agent", f"scripted:{bad}")
    killed = work_off(machines, workers, kills=max(8, count // 6))
    assert killed > count // 50
    ended = here.json("queue", "list", "--all", "-n", str(count))["executions"]
    states = {e["item"]: e["state"] for e in ended}
    said = [(e, here.project.run("queue", "logs", e["id"]).out[-3000:]) for e in ended if (e["state"] == "done") == (e["item"] in wrong)]
    assert states == dict.fromkeys(good, "done") | dict.fromkeys(wrong, "failed"), said
    for item in good:
        branch = f"{item}-{ids[item].lower().replace(' ', '-')}"
        assert till.there("log", "--format=%s", f"main..{branch}").splitlines() == [f"{item}: {ids[item]}"]
    items = here.json("items", "list", "--all")["items"]
    assert {i["id"]: i["status"] for i in items if i["id"] in states} == dict.fromkeys(good, "closed") | dict.fromkeys(wrong, "in_progress")
    assert sorted(i["found_in"][0] for i in items if i["id"] not in states) == sorted(wrong), "one follow-up for each failure"
    assert processes_below(tmp_path) == []
    branches = {f"{item}-{ids[item].lower().replace(' ', '-')}" for item in good}
    assert set(till.there("branch", "--format=%(refname:short)").split()) == {"main", *branches}, "each pushed under one name"
    queue = DurableQueue(open_database(url, here.project.root / ".git" / "detent" / "queue.db"))
    assert (queue.engine.holders(), queue.counts()["running"]) == ({}, 0), "no slot is left taken"
    until(lambda: not queue.slots(), "one that was killed at the very end has slots still, though its lease is over")
    queue.close()


def work_off(machines: list[Machine], count: int, kills: int) -> int:
    """So many workers until nothing is left, one after the other killed meanwhile; how often. What fails in a row pauses the queue: go on."""
    killed, dice, here = 0, random.Random(7), machines[0]
    workers = [machines[n % len(machines)].work() for n in range(count)]
    try:
        while (listed := here.json("queue", "list"))["executions"]:
            if listed["paused"]:
                here.json("queue", "resume")
            if any(e["state"] == "running" for e in listed["executions"]) and dice.random() < 0.5 and killed < kills:
                at = dice.randrange(count)
                workers[at].kill()
                workers[at].wait()
                workers[at], killed = machines[at % len(machines)].work(), killed + 1
            time.sleep(dice.random() * 4)
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGINT)
            worker.wait(LONG)
    return killed


def processes_below(folder: Path) -> list[str]:
    """Programs that still work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(process / "cwd").resolve().is_relative_to(folder):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
