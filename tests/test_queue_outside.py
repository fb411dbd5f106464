"""What people do to items and runs beside the queue: it hears of it, nothing waits for ever, and each is told what they can do."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from detent.app.questions import choices, ways
from detent.app.sweep import forget_landed, sweep
from detent.git.workspace import choose_root, make_workspace
from detent.kernel.model import Run
from detent.workflows.execute.execute_data import ExecuteData
from detent.workflows.pr.pr_data import PrData
from tests.driven import scripted, workspaces
from tests.executions import CONFIG, FAILS, WORKS, Till, passing
from tests.patience import LONG, until

RUN = "execute-it-1-1"
ISSUE = {"title": "No error handling", "description": "words are added too", "priority": 1, "type": "bug", "severity": "high"}
NOT_READY = {"state": "REVIEWING", "role": "reviewer", "reply": {"issues": [ISSUE], "summary": "One issue is left.", "pr_ready": False}}
PULL_REQUESTS = f"{CONFIG}[git]\nmerge = 'pull-request'\npr_command = 'true'\n[review]\nmax_rounds = 1\n"
READY = {"state": "REVIEWING", "role": "reviewer", "reply": {"issues": [], "summary": "All is well.", "pr_ready": True}}


def two_items(till: Till, *entries: dict[str, Any]) -> None:
    """The second needs the first; both are queued, and a worker takes them as far as they go."""
    one, two = till.file("Add prices"), till.file("Add taxes")
    till.project.run("items", "dep", two, one)
    added = till.project.run("queue", "add", one, two, "--agent", scripted(till.project, *entries))
    assert added.code == 0, added


def states(till: Till) -> dict[str, str]:
    return {e["item"]: e["state"] for e in till.project.run("queue", "list", "--all", "--json").json["executions"]}


def reason(till: Till) -> str:
    return str(till.project.run("queue", "show", RUN, "--json").json["reason"])


@pytest.mark.slow
def test_an_item_that_a_person_closes_is_waited_for_no_more(tmp_path: Path) -> None:
    till = Till(tmp_path)
    two_items(till, FAILS, FAILS)
    assert till.project.run("work", "--once").code == 1
    again = till.project.run("work", "--once", "--json")
    assert (again.code, again.json["left"]) == (10, 1), "what waits for what failed needs a person"
    assert states(till) == {"it-1": "failed", "it-2": "waiting"}
    till.project.run("items", "close", "it-1", "--reason", "done by hand")
    listed = till.project.run("queue", "list", "--json").json["executions"]
    assert [(e["item"], e["state"], e["waits_for"]) for e in listed] == [("it-2", "ready", [])]


@pytest.mark.slow
def test_an_item_that_is_closed_where_the_queue_does_not_see_it_is_noticed_by_the_worker(tmp_path: Path) -> None:
    till = Till(tmp_path)
    two_items(till, FAILS, FAILS)
    assert till.project.run("work", "--once").code == 1
    till.change("it-1", status="closed")
    agent = {**WORKS, "reply": "done"}
    scripted(till.project, agent)
    worked = till.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"]) == (0, 1), worked


@pytest.mark.slow
def test_a_run_that_a_person_resumes_to_its_end_ends_its_job_and_frees_what_waits(tmp_path: Path) -> None:
    till = Till(tmp_path)
    halted(till)
    worked = till.project.run("work", "--once")
    assert (worked.code, "A person is needed; `detent queue list --all` says for what." in worked.out) == (10, True), worked
    assert "it waits for a person in HALTED: the remote origin cannot be reached" in reason(till)
    assert reason(till).endswith(f"Fix that, then: detent queue retry {RUN}")
    asked = till.project.run("decisions")
    assert f"{RUN} waits to be released: detent resume --run {RUN}" in asked.out, asked
    assert till.project.run("resume", "--run", RUN).code == 0
    assert states(till) == {"it-1": "done", "it-2": "ready"}


def halted(till: Till) -> None:
    """Two items are queued; the first was driven by a person while the remote was away, and waits. The remote is back since."""
    two_items(till, WORKS)
    moved = till.remote.with_name("moved.git")
    till.hook(f"mv '{till.remote}' '{moved}'; exit 1")
    assert till.project.run("run", "--run", RUN, "--json").json["state"] == "HALTED"
    moved.rename(till.remote)
    (till.remote / "hooks" / "update").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("words", [(RUN,), ("--cause", "tests"), ("--all-parked",)])
def test_a_retry_releases_what_waits_and_it_really_continues(tmp_path: Path, words: tuple[str, ...]) -> None:
    till = Till(tmp_path)
    halted(till)
    assert till.project.run("work", "--once").code == 10
    said = till.project.run("queue", "retry", *words)
    assert said.code == 0 and "ready" in said.out, said
    assert till.run(RUN).state != "HALTED", "the run itself was released"
    till.project.run("queue", "cancel", "it-2")
    worked = till.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"], states(till)["it-1"]) == (0, 1, "done"), worked
    assert till.project.run("queue", "retry", "--cause", "remote").out == "Nothing waits for that.\n"


@pytest.mark.slow
def test_a_remote_that_is_away_holds_the_queue_and_the_work_continues_by_itself_when_it_is_back(tmp_path: Path) -> None:
    till = Till(tmp_path)
    two_items(
        till,
        WORKS,
        {
            **WORKS,
            "write": {"taxes.py": "TAX = 19\n", "tests/test_tax.py": "from taxes import TAX\n\n\ndef test_tax():\n    assert TAX == 19\n"},
        },
    )
    moved = till.remote.with_name("moved.git")
    till.hook(f"mv '{till.remote}' '{moved}'; exit 1")
    argv = till.project.argv("-C", str(till.project.root), "work", "--once", "--json")
    with subprocess.Popen(argv, env=till.project.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        until(lambda: held(till))
        (away,) = till.project.run("queue", "list", "--json").json["away"]
        assert away["thing"] == "remote" and "cannot be reached" in away["said"]
        listed = till.project.run("queue", "list").out
        assert (
            ": the remote origin cannot be reached" in listed
            and "AWAY remote, since " in listed
            and "To ask now: detent queue retry --cause remote" in listed
        )
        assert states(till) == {"it-1": "ready", "it-2": "waiting"} and till.item("it-1").status == "in_progress"
        moved.rename(till.remote)
        (till.remote / "hooks" / "update").unlink()
        out, err = worker.communicate(timeout=LONG)
    assert (worker.returncode, json.loads(out)["done"], json.loads(out)["failed"]) == (0, 2, 0), (out, err)
    assert [e.status for e in till.events(RUN)].count("ERROR") == 0, "an outage is no event of the run"
    assert [item.title for item in till.items()] == ["Add prices", "Add taxes"], "and no follow-up"


def held(till: Till) -> bool:
    return bool(till.project.run("queue", "list", "--json").json["away"])


@pytest.mark.slow
def test_an_answer_lets_a_queued_execution_go_on_and_says_so(tmp_path: Path) -> None:
    till = Till(tmp_path, PULL_REQUESTS)
    two_items(till, WORKS, NOT_READY)
    assert till.project.run("work", "--once").code == 10
    assert reason(till) == (
        "it waits for a person in NOT_READY: One issue is left. "
        f"It is reviewed again once the items of its review are closed. Or: detent answer REVIEW fix (or override) --run {RUN}"
    )
    told = till.project.run("decisions").out
    assert "REVIEW  pending" in told and f"detent answer REVIEW VALUE --run {RUN}" in told and "Takes: fix, override, abort" in told, told
    (row,) = till.project.run("decisions", "--run", RUN, "--json").json["decisions"]
    assert (row["decision_id"], row["options"], row["run"]) == ("REVIEW", ["fix", "override", "abort"], RUN)
    said = till.project.run("answer", "REVIEW", "override", "--run", RUN)
    assert f"Next: It is queued again; a worker continues it (detent work). See: detent queue show {RUN}" in said.out, said
    assert states(till) == {"it-1": "ready", "it-2": "waiting"}
    assert till.project.run("resume", "--run", RUN).code == 0, "or a person goes on with it at once"
    assert states(till) == {"it-1": "done", "it-2": "ready"}


@pytest.mark.slow
def test_a_branch_that_its_review_held_back_is_reviewed_again_once_the_items_of_the_review_are_closed(tmp_path: Path) -> None:
    till = Till(tmp_path, PULL_REQUESTS)
    till.project.run("queue", "add", till.file(), "--agent", scripted(till.project, WORKS, NOT_READY, READY))
    assert till.project.run("work", "--once").code == 10
    assert till.project.run("work", "--once", "--json").json["done"] == 0, "an item is open"
    (found,) = [i["id"] for i in till.project.run("items", "list", "--json").json["items"] if i["title"] == ISSUE["title"]]
    till.change(found, status="closed")  # where the queue does not see it
    worked = till.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["done"], states(till)) == (0, 1, {"it-1": "done"}), worked


def test_what_a_table_takes_for_an_answer_is_offered_and_an_end_where_it_is_one(tmp_path: Path) -> None:
    pr = {cause: Run("p", "pr", "HALTED", 4, PrData(), cause=cause) for cause in ("review rounds", "conflict")}
    with Till(tmp_path, remote=False).app() as app:
        waits: Run[ExecuteData] = Run("e", "execute", "NOT_READY", 4, ExecuteData(), cause="review")
        assert list(ways(app, waits)) == [*choices(app, waits), "abort"] == ["fix", "override", "review", "abort"]
        assert list(ways(app, pr["review rounds"])) == ["resume", "approve", "another-round", "abort"]
        assert list(ways(app, pr["conflict"])) == ["resume"]


@pytest.mark.slow
def test_an_answer_can_give_a_queued_execution_up(tmp_path: Path) -> None:
    till = Till(tmp_path, PULL_REQUESTS)
    till.project.run("queue", "add", till.file(), "--agent", scripted(till.project, WORKS, NOT_READY))
    assert till.project.run("work", "--once").code == 10
    said = till.project.run("answer", "REVIEW", "abort", "--note", "not now", "--run", RUN)
    assert said.code == 0 and f"Next: The run has ended. To try its item again: detent queue retry {RUN}" in said.out, said
    assert (till.run(RUN).state, states(till)) == ("CANCELLED", {"it-1": "cancelled"})


@pytest.mark.slow
def test_a_worker_clears_up_after_what_another_machine_ended_and_keeps_what_lies_there(tmp_path: Path) -> None:
    till = Till(tmp_path)
    assert till.execute(till.file(), WORKS).code == 0
    with till.app() as app:
        root = choose_root(app.place, RUN)
        make_workspace(app.world.git, root, "", till.git("rev-parse", "main"))  # as if this machine had been lost at work, and is back
        (root / "half.py").write_text("half = 1\n")
        assert sweep(app) == [RUN]
        assert not root.exists() and sweep(app) == []
        kept = till.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{RUN}/trees").split()
        assert any("half.py" in till.git("ls-tree", "--name-only", tree) for tree in kept)

        till.git("push", "-q", "origin", f"main:refs/detent/{RUN}/head", f"main:refs/detent/{RUN}.work/tip", "main:refs/detent/other/head")
        assert forget_landed(app) == [], "what is not in main stays"
        assert till.project.run("land").code == 0
        assert forget_landed(app) == [RUN, f"{RUN}.work"]
        assert till.there("for-each-ref", "--format=%(refname)", "refs/detent").split() == ["refs/detent/other/head"]


@pytest.mark.slow
def test_an_execution_that_waits_for_a_person_can_be_cancelled_and_aborted(tmp_path: Path) -> None:
    till = Till(tmp_path, PULL_REQUESTS)
    one, two = till.file("Add prices"), till.file("Add taxes")
    till.project.run("queue", "add", one, "--agent", scripted(till.project, WORKS, NOT_READY))
    till.project.run("queue", "add", two)
    till.project.run("abort", "--run", "execute-it-2-1")
    assert states(till) == {one: "ready", two: "cancelled"}, "its run has ended, so its job has"
    assert till.project.run("work", "--once").code == 10
    gone = till.project.run("queue", "cancel", one, "--reason", "not now", "--json").json["executions"][0]
    assert (gone["state"], till.run(RUN).state) == ("cancelled", "CANCELLED")


ENVIRONMENT = """
[test]
command = '{env}/tests'
[workspace]
setup = '{env}/prepare'
[sandbox]
mounts = ['{env}']
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", ["tests", "prepare"])
def test_a_test_environment_that_is_broken_holds_the_queue_and_the_work_continues_by_itself_when_it_works(
    tmp_path: Path, part: str
) -> None:
    env = tmp_path / "env"
    for name in ("tests", "prepare"):
        passing(env / name)
    till = Till(tmp_path, CONFIG + ENVIRONMENT.format(env=env))
    two_items(till, WORKS, {**WORKS, "write": {"taxes.py": "TAX = 19\n"}})
    (env / part).rename(env / "broken")
    argv = till.project.argv("-C", str(till.project.root), "work", "--once", "--json")
    with subprocess.Popen(argv, env=till.project.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        until(lambda: held(till))
        (away,) = till.project.run("queue", "list", "--json").json["away"]
        assert away["thing"] == "tests" and part in away["said"], away
        assert "To ask now: detent queue retry --cause tests" in till.project.run("queue", "list").out
        assert states(till) == {"it-1": "ready", "it-2": "waiting"}
        (env / "broken").rename(env / part)
        out, err = worker.communicate(timeout=LONG)
    assert (worker.returncode, json.loads(out)["done"], json.loads(out)["failed"]) == (0, 2, 0), (out, err)
    assert [e.status for e in till.events(RUN)].count("ERROR") == 0, "an outage is no event of the run"
    assert len([e for e in till.events(RUN) if e.was == "RUNNING" and e.sent.verb == "submit"]) == 1, "the agent was asked once"
    assert [item.title for item in till.items()] == ["Add prices", "Add taxes"], "and no follow-up"
    assert workspaces(till.project) == []
