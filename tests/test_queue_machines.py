"""Several machines: clones in different places with state folders of their own, one remote, one PostgreSQL database."""

import json
from pathlib import Path
from typing import Any

from tests.driven import scripted
from tests.executions import WORKS, Till
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
