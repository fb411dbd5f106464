"""Several machines: clones in different places with state folders of their own, one remote, one PostgreSQL database."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.driven import scripted
from tests.executions import FAILS, WORKS, Till
from tests.postgres import Server
from tests.project import Project
from tests.repos import sh


class Machine:
    """A clone of the project somewhere else."""

    def __init__(self, till: Till, folder: Path, url: str) -> None:
        folder.mkdir()
        sh(folder, "git", "clone", "-q", str(till.remote), "p")
        self.project = Project(folder / "p", made=True)
        self.project.env |= {"XDG_STATE_HOME": str(folder / "state"), "DETENT_QUEUE_URL": url, "DETENT_SANDBOX_LEVEL": "none"}
        sh(self.project.root, "git", "config", "user.email", "m@example.org")
        sh(self.project.root, "git", "config", "user.name", "m")

    def work(self) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(self.project.argv("work"), cwd=self.project.root, env=self.project.env, stdout=quiet, stderr=quiet)

    def json(self, *args: str, code: int = 0) -> dict[str, Any]:
        ran = self.project.run(*args, "--json")
        assert ran.code == code, ran
        return ran.json


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
    assert till.there("log", "--format=%s", "main..beads-it-1-add-prices").splitlines() == [f"Bead {item}: Add prices"]
    assert here.json("items", "show", item)["status"] == "closed"
    assert json.loads(here.project.run("show", queued["id"], "--json").out)["events"]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_workers_that_are_killed_at_random_push_each_commit_and_file_each_follow_up_once(tmp_path: Path, postgres_server: Server) -> None:
    till, url = Till(tmp_path), postgres_server.database()
    here, bad = Machine(till, tmp_path / "here", url), tmp_path / "bad.json"
    bad.write_text(json.dumps([FAILS] * 20))  # an agent that was killed is asked again
    good = [here.json("items", "add", f"Add prices {n}")["id"] for n in range(8)]
    wrong = [here.json("items", "add", f"Add nothing {n}")["id"] for n in range(2)]
    here.json("queue", "add", *good, "--agent", scripted(here.project, *[WORKS] * 20))
    here.json("queue", "add", *wrong, "--agent", f"scripted:{bad}")
    killed, dice = 0, random.Random(7)
    workers = [here.work(), here.work()]
    try:
        while (listed := here.json("queue", "list"))["executions"]:
            if any(e["state"] == "running" for e in listed["executions"]) and dice.random() < 0.5 and killed < 8:
                at = dice.randrange(2)
                workers[at].kill()
                workers[at].wait()
                workers[at], killed = here.work(), killed + 1
            time.sleep(dice.random() * 4)
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGINT)
            worker.wait(60)
    assert killed > 2
    ended = here.json("queue", "list", "--all")["executions"]
    states = {e["item"]: e["state"] for e in ended}
    said = [(e, here.project.run("queue", "logs", e["id"]).out[-3000:]) for e in ended if (e["state"] == "done") == (e["item"] in wrong)]
    assert states == dict.fromkeys(good, "done") | dict.fromkeys(wrong, "failed"), said
    for n, item in enumerate(good):
        pushed = till.there("log", "--format=%s", f"main..beads-{item}-add-prices-{n}").splitlines()
        assert pushed == [f"Bead {item}: Add prices {n}"]
    items = here.json("items", "list", "--all")["items"]
    assert {i["id"]: i["status"] for i in items if i["id"] in states} == dict.fromkeys(good, "closed") | dict.fromkeys(wrong, "in_progress")
    assert sorted(i["found_in"][0] for i in items if i["id"] not in states) == sorted(wrong), "one follow-up for each failure"
    assert processes_below(tmp_path) == []


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
