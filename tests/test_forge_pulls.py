"""An execution whose item is an issue and whose branch becomes a pull request, both at a forge on loopback: from the issue to the merge."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from detent.app.opened import queue_settings
from detent.app.pull_words import listening
from detent.app.queue_ends import read_end
from detent.app.queueing import open_queue
from detent.git.place import find_place
from tests.driven import scripted
from tests.executions import CODE, CONFIG, TITLE, WORKS, Till
from tests.forge_github import GitHub
from tests.forge_server import USERS, Said, served
from tests.test_execute_ways import NOT_READY, READY
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


@pytest.mark.slow
def test_an_issue_becomes_a_pull_request_that_closes_it_when_it_is_merged(till: AtForge) -> None:
    till.forge.put(TITLE, "Prices are to be added.\n")
    ran = till.execute("1", WORKS, READY)
    assert (ran.code, ran.json["state"], ran.json["branch"]) == (0, "COMPLETED", "issue-1-add-prices"), ran
    pull = till.pull
    assert (pull["title"], pull["branch"], till.there("rev-parse", pull["branch"])) == (
        TITLE,
        "issue-1-add-prices",
        till.git("rev-parse", "issue-1-add-prices"),
    )
    assert "Closes #1" in pull["body"] and "Prices are to be added." in pull["body"] and "| proved | `tests/test_add.py::" in pull["body"]
    assert till.item("1").status == "closed" and till.forge.issues[1]["state"] in ("open", "opened")  # done, and closed by the merge
    (told,) = till.comments()  # the claim is taken back, the proof is there
    assert pull["url"] in told and "### Detent: clean" in told and till.owed(ran.json["run"]) == []
    till.forge.merge(next(iter(till.forge.pulls)))
    assert till.forge.issues[1]["state"] == "closed"


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert all("accepts no more requests until" in said for said in parked)
    assert {e.status for e in till.events("execute-1-1")} == {"SUCCESS"}
    assert len(till.forge.pulls) == 1 and len(till.comments()) == 1 and till.run("execute-1-1").counts == {}


@pytest.mark.slow
def test_a_limit_of_the_forge_hides_nothing_of_the_queue(tmp_path: Path) -> None:
    till = AtForge("github", tmp_path, "[review]\nmax_rounds = 1\n")
    with served(till.forge):
        till.serve()
        till.forge.put(TITLE)
        assert till.project.run("queue", "add", "1", "--agent", scripted(till.project, WORKS, NOT_READY)).code == 0
        assert till.project.run("work", "--once").code == 10 and till.run("execute-1-1").state == "NOT_READY"
        till.forge.faults += [Said(429, {}, {"Retry-After": "90"})] * 9
        listed = till.project.run("queue", "list", "--all")
        assert listed.code == 0 and "it waits for a person in NOT_READY" in listed.out, listed


# -- CI --------------------------------------------------------------------------------------------------------------------------

CARED = {"state": "RUNNING", "write": {"calc.py": f"# linted\n{CODE}"}, "reply": "The linter is content."}
GREEN, RED, PENDING = (
    {"github": "success", "gitlab": "success"},
    {"github": "failure", "gitlab": "failed"},
    {"github": "", "gitlab": "running"},
)


@pytest.fixture(params=sorted(FORGES))
def checked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AtForge]:
    made = AtForge(request.param, tmp_path, "wait_for_ci = true\n")
    with served(made.forge):
        made.forge.put(TITLE)
        yield made.serve()


@pytest.mark.slow
def test_what_ci_says_is_waited_for_and_a_red_one_goes_back_to_the_agent_once(checked: AtForge) -> None:
    till, go_on = checked, ("run", "--run", "execute-1-1", "--park", "--json")
    assert till.project.run("queue", "add", "1", "--agent", scripted(till.project, WORKS, READY, CARED, READY)).code == 0
    ran = till.project.run(*go_on)  # CI has not even begun
    assert (ran.code, "CI has not finished yet" in ran.json["reason"]) == (75, True), ran
    till.forge.checks["lint"] = PENDING[till.kind]
    assert till.project.run(*go_on).code == 75 and till.run("execute-1-1").state == "OPENING"
    outcome = read_end(till.project.root, "execute-1-1", 75)
    assert (outcome.state, outcome.delay) == ("again", 60.0)
    first, till.forge.checks["lint"] = till.there("rev-parse", "issue-1-add-prices"), RED[till.kind]
    ran = till.project.run(*go_on)
    assert ran.code == 1 and ran.json["state"] == "FAILED" and "lint" in ran.json["error"], ran  # it is red a second time
    assert [e.on for e in till.events("execute-1-1")].count("ci-red") == 2 and till.there("rev-parse", "issue-1-add-prices") != first
    assert len(till.forge.pulls) == 1 and [i.title for i in till.items() if "follow-up" in i.labels] == [f"CI fails: {TITLE}"]


@pytest.mark.slow
def test_with_a_green_ci_an_execution_is_completed(checked: AtForge) -> None:
    checked.forge.checks["lint"] = GREEN[checked.kind]
    assert checked.execute("1", WORKS, READY).json["state"] == "COMPLETED"


@pytest.mark.slow
def test_a_forge_that_nobody_named_is_for_a_person_to_name(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[git]\nmerge = 'pull-request'\n")
    ran = till.execute(till.file(), WORKS, READY)
    assert (ran.code, ran.json["state"]) == (10, "HALTED"), ran
    assert "git.pr_command is not set, and no forge can be asked: Detent does not know which forge the remote is on" in ran.json["error"]


# -- what people ask for ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_people_ask_for_on_a_pull_request_comes_back_to_an_agent_once(till: AtForge) -> None:
    till.forge.put(TITLE)
    assert till.execute("1", WORKS, READY).json["state"] == "COMPLETED"
    assert till.project.run("queue", "pulls").out == "No reviewer asks for changes.\n"
    till.forge.review("COMMENTED", "Looks good!", BEN)
    till.forge.line("calc.py", 1, "I want this gone", EVE)
    assert till.project.run("queue", "pulls").out == "No reviewer asks for changes.\n"  # praise asks for nothing, and a stranger has no say
    till.forge.line("calc.py", 2, "Take decimals, please", BEN)
    (asked,) = till.project.run("queue", "pulls", "--json").json["pulls"]
    assert (asked["execution"], asked["url"]) == ("execute-1-2", till.pull["url"])
    context = till.run("execute-1-2").data.context
    assert "ben at calc.py:2: Take decimals, please" in context and "+    return a + b" in context and "gone" not in context
    assert till.item("1").status == "open" and "given this back to an agent, as `execute-1-2`" in till.comments()[-1]
    assert till.project.run("queue", "pulls", "--json").json["pulls"] == []
    till.project.run("queue", "cancel", "execute-1-2")
    assert till.project.run("queue", "pulls", "--json").json["pulls"] == []  # it was heard
    till.forge.review("CHANGES_REQUESTED", "Still no decimals", ANN)
    assert [each["execution"] for each in till.project.run("queue", "pulls", "--json").json["pulls"]] == ["execute-1-3"]


DECIMALS = {"state": "RUNNING", "write": {"calc.py": f'"""Decimals too."""\n\n{CODE}'}, "reply": "Decimals are taken."}


@pytest.mark.slow
def test_what_people_ask_for_is_added_to_the_pull_request_on_which_they_ask(till: AtForge) -> None:
    till.forge.put(TITLE)
    assert till.execute("1", WORKS, READY).json["state"] == "COMPLETED"
    branch, url = "issue-1-add-prices", till.pull["url"]
    first = till.there("rev-parse", branch)
    till.forge.line("calc.py", 2, "Take decimals, please", BEN)
    assert till.project.run("queue", "pulls").code == 0
    scripted(till.project, DECIMALS, READY)
    ran = till.project.run("run", "--run", "execute-1-2", "--park", "--json")
    assert (ran.json["state"], ran.json["branch"], ran.json["pull_request"]) == ("COMPLETED", branch, url), ran
    told = next(e.briefing.briefing for e in till.events("execute-1-2") if e.on == "started" and e.briefing)
    assert "which begins at the tip of the branch of its open pull request" in told and "Take decimals, please" in told
    assert len(till.forge.pulls) == 1 and "2 commits" in till.pull["body"]
    assert till.there("rev-parse", f"{branch}^") == first and till.there("log", "--format=%s", f"main..{branch}").count(TITLE) == 2
    assert till.project.run("queue", "pulls", "--json").json["pulls"] == [] and till.item("1").status == "closed"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["it conflicts", "a person has it checked out", "a person pushed to it"])
def test_where_the_branch_of_a_pull_request_cannot_be_added_to_the_item_is_done_again(till: AtForge, how: str) -> None:
    till.forge.put(TITLE)
    assert till.execute("1", WORKS, READY).json["state"] == "COMPLETED"
    branch = "issue-1-add-prices"
    till.forge.line("calc.py", 2, "Take decimals, please", BEN)
    if how == "it conflicts":
        till.project.write({"calc.py": "x = 1\n"})
        till.git("commit", "-qam", "another way")
        till.git("push", "-q", "origin", "main")
    elif how == "a person has it checked out":
        till.git("switch", "-q", branch)
    else:
        till.git(
            "push", "-q", "origin", f"{till.git('commit-tree', '-p', branch, '-m', 'by hand', f'{branch}^{{tree}}')}:refs/heads/{branch}"
        )
    assert till.project.run("queue", "pulls").code == 0
    scripted(till.project, DECIMALS if how == "a person pushed to it" else {**WORKS, "write": {**WORKS["write"], "new.py": ""}}, READY)
    ran = till.project.run("run", "--run", "execute-1-2", "--park", "--json")
    assert ran.json["state"] == "COMPLETED", ran
    assert ran.json["branch"] == (branch if how == "a person pushed to it" else f"{branch}-retry2")
    assert till.there("log", "--format=%s", branch).count("by hand") == (how == "a person pushed to it")


@pytest.mark.slow
def test_a_worker_looks_at_the_pull_requests_once_a_minute(till: AtForge) -> None:
    till.forge.put(TITLE)
    assert till.execute("1", WORKS, READY).json["state"] == "COMPLETED"
    till.forge.line("calc.py", 2, "Take decimals, please", BEN)
    place, env = find_place(till.project.root), till.project.env
    with closing(open_queue(place, env)) as queue:
        task = listening(place, env, queue_settings(place, env), queue)
        task.tend()
        assert [each.id for each in queue.all(("ready",))] == ["execute-1-2"]
        asked = len(till.forge.seen)
        task.tend()
        assert len(till.forge.seen) == asked


def test_without_pull_requests_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    ran = Till(tmp_path).project.run("queue", "pulls", "--json")
    assert (ran.code, ran.json["error"]) == (2, "this project opens no pull requests")


# -- protected branches ----------------------------------------------------------------------------------------------------------


def test_nothing_is_pushed_to_a_branch_that_the_forge_protects(till: AtForge) -> None:
    till.forge.protected.add("main")
    before = till.there("rev-parse", "main")
    ran = till.project.run("land", "--json")
    assert ran.code == 2 and "protects main, so it accepts no pushes" in ran.json["error"] and "pull-request" in ran.json["hint"], ran
    assert till.there("rev-parse", "main") == before


@pytest.mark.slow
def test_a_merge_that_is_landed_by_hand_closes_its_issue_too(till: AtForge) -> None:
    till.forge.put(TITLE)
    branch = till.execute("1", WORKS, READY).json["branch"]
    assert till.project.run("land", branch, "--json").code == 0
    assert "Closes #1" in till.there("log", "-1", "--format=%B", "main")


def wait(till: AtForge) -> None:
    """As a clock that went on: what a limit left is taken away."""
    for file in (till.project.root / ".git" / "detent" / "forge").glob("*.json"):
        file.unlink()
