"""An execution whose item is an issue and whose branch becomes a pull request, both at a forge on loopback: from the issue to the merge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driven import scripted
from tests.executions import CONFIG, TITLE, WORKS, Till
from tests.forge_github import GitHub
from tests.forge_server import USERS, Said, served
from tests.test_execute_ways import READY
from tests.trackers import FORGES

ANN, BEN, EVE = USERS["token-a"], USERS["token-b"], USERS["token-x"]


class AtForge(Till):
    """A project whose issues and pull requests are at a forge."""

    def __init__(self, kind: str, folder: Path, more: str = "") -> None:
        self.kind, self.forge = kind, FORGES[kind][0]()
        config = f"{CONFIG}[tracker]\nkind = '{kind}'\n[forge]\nproject = '{FORGES[kind][1]}'\n[git]\nmerge = 'pull-request'\n{more}"
        super().__init__(folder, config)

    def serve(self) -> "AtForge":
        self.project.env.update({FORGES[self.kind][2]: self.forge.url, FORGES[self.kind][3]: "token-a"})
        return self

    @property
    def pull(self) -> dict[str, str]:
        (pull,) = self.forge.pulls.values()
        return {
            "body": pull.get("description", ""),
            **pull,
            "branch": pull.get("head") or pull["source_branch"],
            "url": pull.get("html_url") or pull["web_url"],
        }

    def comments(self) -> list[str]:
        rows = self.forge.comments if isinstance(self.forge, GitHub) else self.forge.notes
        return [row["body"] for row in rows.values()]


@pytest.fixture(params=sorted(FORGES))
def till(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AtForge]:
    made = AtForge(request.param, tmp_path)
    with served(made.forge):
        yield made.serve()


def test_an_issue_becomes_a_pull_request_that_closes_it_when_it_is_merged(till: AtForge) -> None:
    till.forge.put(TITLE, "Prices are to be added.\n")
    ran = till.execute("1", WORKS, READY)
    assert (ran.code, ran.json["state"], ran.json["branch"]) == (0, "COMPLETED", "beads-1-add-prices"), ran
    pull = till.pull
    assert (pull["title"], pull["branch"], till.there("rev-parse", pull["branch"])) == (
        TITLE,
        "beads-1-add-prices",
        till.git("rev-parse", "beads-1-add-prices"),
    )
    assert "Closes #1" in pull["body"] and "Prices are to be added." in pull["body"] and "| proved | `tests/test_add.py::" in pull["body"]
    assert till.item("1").status == "closed" and till.forge.issues[1]["state"] in ("open", "opened")  # done, and closed by the merge
    (told,) = till.comments()  # the claim is taken back, the proof is there
    assert pull["url"] in told and "### Detent: clean" in told and till.owed(ran.json["run"]) == []
    till.forge.merge(next(iter(till.forge.pulls)))
    assert till.forge.issues[1]["state"] == "closed"


def test_where_its_pull_request_is_stands_wherever_a_run_is_shown(till: AtForge) -> None:
    till.forge.put(TITLE)
    run = till.execute("1", WORKS, READY).json["run"]
    url = till.pull["url"]
    assert (
        url in till.project.run("status", "--run", run).out
        and till.project.run("status", "--run", run, "--json").json["pull_request"] == url
    )
    assert url in till.project.run("show", run).out and till.project.run("show", run, "--json").json["pull_request"] == url
    assert url in till.project.run("items", "show", "1").out and till.run(run).data.pull == url
    assert till.project.run("run", "--run", run, "--json").json["pull_request"] == url


def test_a_limit_of_the_forge_parks_an_execution_and_fails_nothing(till: AtForge) -> None:
    till.forge.put(TITLE)
    due = [("GET", "/issues/1"), ("POST", "/1/comments"), ("POST", "/pulls")]
    due = due if till.kind == "github" else [("GET", "/issues/1"), ("POST", "/1/notes"), ("POST", "/merge_requests")]

    def limit(method: str, path: str) -> None:
        if (each := next((each for each in due if method == each[0] and path.endswith(each[1])), None)) is not None:
            due.remove(each)
            till.forge.faults.append(Said(403, {"message": "You have exceeded a secondary rate limit"}, {"Retry-After": "90"}))

    assert till.project.run("queue", "add", "1", "--agent", scripted(till.project, WORKS, READY)).code == 0
    till.forge.meanwhile, parked = limit, []
    while (ran := till.project.run("run", "--run", "execute-1-1", "--park", "--json")).code == 75:
        parked.append(ran.json["reason"])
        wait(till)
    assert ran.json["state"] == "COMPLETED" and not due and len(parked) == 3, (ran, parked)
    assert all("takes no more requests until" in said for said in parked)
    assert {e.status for e in till.events("execute-1-1")} == {"SUCCESS"}
    assert len(till.forge.pulls) == 1 and len(till.comments()) == 1 and till.run("execute-1-1").counts == {}


def wait(till: AtForge) -> None:
    """As a clock that went on: what a limit left is taken away."""
    for file in (till.project.root / ".git" / "detent" / "forge").glob("*.json"):
        file.unlink()
