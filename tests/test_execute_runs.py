"""Whole executions on a real repository with a real remote, by the command line: from an item to a pushed branch, and every other end."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from detent.app import App, queue_ends
from detent.app.driver_lock import only_driver
from detent.app.live_log import live_file, read_from
from detent.app.overtime import ExecutionClock
from detent.app.run_driver import driver
from detent.blocks.terms import Terms
from detent.drive import Seen
from detent.kernel.model import Sent
from detent.workflows.execute.execute_start import starter
from tests.driven import lines_until, running, scripted, workspaces
from tests.executions import BRANCH, CODE, CONFIG, FAILS, OTHERS, TEST, TITLE, WORKS, Json, Till
from tests.proofs import NOTES, Clone, only

RUN = "execute-it-1-1"
LATE = {**WORKS, "wait": 60}
SLOW = "[sandbox]\nlevel = 'none'\n[queue]\n"


@pytest.fixture
def till(tmp_path: Path) -> Till:
    return Till(tmp_path)


def ended(till: Till, run: str = RUN) -> None:
    """What every end leaves behind: nothing is owed, no workspace, and the person's checkout as it was."""
    assert till.owed(run) == [] and not workspaces(till.project)
    assert till.git("status", "--porcelain") == "" and till.git("branch", "--show-current") == "main"


def follow_ups(till: Till) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.title, item.found_in) for item in till.items() if "follow-up" in item.labels]


def test_an_item_becomes_a_pushed_branch_with_one_commit(till: Till) -> None:
    item = till.file(TITLE, description="Totals are missing.")
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"], ran.json["outcome"], ran.json["branch"]) == (0, "COMPLETED", "done", BRANCH), ran
    assert [c["subject"] for c in ran.json["commits"]] == ["it-1: Add prices"]
    assert till.there("log", "--format=%s", f"main..{BRANCH}") == "it-1: Add prices"
    assert till.there("rev-parse", BRANCH) == ran.json["commits"][0]["hash"]
    assert till.there("show", f"{BRANCH}:calc.py") + "\n" == CODE
    assert (till.item(item).status, till.item(item).assignee, follow_ups(till)) == ("closed", "", [])
    ended(till)
    refused = till.execute(item, WORKS)
    assert (refused.code, refused.json["error"]) == (2, "it-1 is closed, so there is nothing to execute")


@pytest.mark.slow
def test_tests_that_fail_are_shown_to_the_agent_once_and_it_can_mend_them(till: Till) -> None:
    ran = till.execute(till.file(), FAILS, {**WORKS, "attempt": 2})
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    told = next(e.briefing for e in till.events(RUN) if e.on == "done" and e.status == "FAILURE")
    assert told is not None and "This is your one retry." in told.briefing and "assert 0 == 3" in told.briefing
    ended(till)


@pytest.mark.slow
def test_tests_that_fail_again_end_the_execution_with_a_follow_up(till: Till) -> None:
    item = till.file()
    key = "sk-ant-" + "a" * 30
    shows = {"calc.py": "def add(a, b):\n    return 0\n", "tests/test_add.py": TEST.replace("== 3", f"== 3, '{key}'")}
    ran = till.execute(item, {**FAILS, "write": shows, "again": True})
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (1, "FAILED", "aborted"), ran
    assert (till.item(item).status, till.item(item).assignee) == ("in_progress", "")
    assert follow_ups(till) == [("Tests fail: Add prices", (item,))]
    assert "assert 0 == 3" in till.item("it-2").description and RUN in till.item("it-2").description
    assert key not in till.item("it-2").description and "[redacted]" in till.item("it-2").description  # what a tracker has may be pushed
    assert BRANCH not in till.there("branch", "--list") and till.git("for-each-ref", f"refs/detent/{RUN}/trees")
    ended(till)
    again = till.execute(item, {**FAILS, "again": True})  # the same cause: one follow-up, which gets the details as a note
    assert (again.code, again.json["run"], again.json["branch"]) == (1, "execute-it-1-2", f"{BRANCH}-retry2")
    assert len(follow_ups(till)) == 1 and "execute-it-1-2" in till.item("it-2").notes
    with till.app() as app:
        assert [head.run for head in app.journal.heads()] == ["execute-it-1-2", RUN]  # the follow-up is filed, and not queued
    skipped = till.execute(item, WORKS)
    assert (skipped.code, skipped.json["state"], skipped.json["branch"]) == (1, "CANCELLED", None)
    assert "the item failed 2 times; it is skipped until a person has looked at it" in skipped.json["error"]
    wanted = till.execute(item, WORKS, args=("--again",))
    assert (wanted.code, wanted.json["state"], wanted.json["branch"]) == (0, "COMPLETED", f"{BRANCH}-retry3"), wanted


@pytest.mark.slow
def test_work_without_any_test_fails(tmp_path: Path) -> None:
    till = Till(tmp_path, CONFIG, files={"tests/test_start.py": "", "calc.py": ""})
    ran = till.execute(till.file(), {"write": {"calc.py": CODE}, "reply": "done", "again": True})
    assert (ran.code, ran.json["state"]) == (1, "FAILED") and "no test was collected" in ran.json["error"], ran


BLOCKED = {"state": "RUNNING", "write": {"half.py": "x = 1\n"}, "reply": "The key is not here.\n\nBLOCKED: no key for the API"}


@pytest.mark.slow
def test_an_agent_that_cannot_go_on_says_so_in_its_last_line(till: Till) -> None:
    item = till.file()
    ran = till.execute(item, BLOCKED)
    assert (ran.code, ran.json["state"], ran.json["outcome"], ran.json["reason"]) == (10, "BLOCKED", "halted", "no key for the API"), ran
    assert till.item(item).status == "blocked" and follow_ups(till) == [("Blocked: Add prices", (item,))]
    ended(till)
    tree = till.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{RUN}/trees").splitlines()
    assert any("half.py" in till.git("ls-tree", "--name-only", each) for each in tree)
    refused = till.execute(item, WORKS)
    assert (refused.code, refused.json["state"]) == (1, "CANCELLED") and "it-1 is blocked" in refused.json["error"]


@pytest.mark.slow
def test_blocked_in_quoted_text_means_nothing(till: Till) -> None:
    said = "The old log said:\n```\nBLOCKED: no key\n```\n> BLOCKED: no key\nI found the key, and all is done."
    ran = till.execute(till.file(), {**WORKS, "say": ["BLOCKED: no key"], "reply": said})
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    with till.app() as app:
        file = live_file(app, RUN)
    text = read_from(file, 0).text
    assert "\nBLOCKED: no key\n" in text, "what an agent says is shown as it says it"
    assert text.count('"kind": "verdict"') == 1


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "cause"), [("timeout = 3", "Timeout"), ("silence = 2", "Timeout without output")])
def test_time_ends_an_execution_and_every_process_of_its_agent(tmp_path: Path, limit: str, cause: str) -> None:
    till = Till(tmp_path, f"{CONFIG}{SLOW}{limit}\n")
    marker = f"600.{abs(hash(tmp_path)) % 10**6}"
    agent = till.project.root.parent / "agent.sh"
    agent.write_text(f"#!/bin/sh\nsetsid sleep {marker} &\nsleep {marker}\n")
    agent.chmod(0o755)
    item = till.file()
    ran = till.execute(item, agent=f"command:{agent}")
    assert (ran.code, ran.json["state"]) == (1, "TIMEOUT"), ran
    assert (till.item(item).status, till.item(item).labels, till.item(item).assignee) == ("open", ("timeout",), "")
    assert follow_ups(till) == [(f"{cause}: Add prices", (item,))]
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in _read(p)]
    assert left == []
    ended(till)


def begun(till: Till, app: App, *entries: Json) -> str:
    return starter(app, Sent("start", by="human"), Terms(agent=scripted(till.project, *entries)))(till.file())


@pytest.mark.slow
def test_time_is_what_was_worked_and_not_what_the_clock_on_the_wall_says(till: Till) -> None:
    with till.app() as app:
        run = begun(till, app, WORKS)
        app.worlds.own.clock = lambda: "2020-01-01T00:00:00+00:00"  # the machine slept since, or somebody set its clock
        with only_driver(app, run):
            assert driver(app, run, lambda seen: None).drive(run).state == "COMPLETED"
        assert app.door.load(run).run.data.started.startswith("2020")


@pytest.mark.slow
def test_an_execution_that_a_usage_limit_holds_is_left_until_then(till: Till) -> None:
    later = (datetime.now(UTC) + timedelta(hours=5)).isoformat()
    with till.app() as app:
        run = begun(till, app, {"fail": {"sort": "RateLimit", "message": "come back later", "not_before": later}})
    parked = till.project.run("run", "--run", run, "--park", "--json")
    assert (parked.code, parked.json["outcome"], parked.json["not_before"]) == (75, "parked", later), parked
    outcome = queue_ends.read_end(till.project.root, run, parked.code)
    assert (outcome.state, 17_000 < outcome.delay <= 18_000) == ("again", True)
    assert outcome.reason == f"a usage limit holds it until {later}"


@pytest.mark.slow
def test_what_earlier_drivers_worked_counts_and_what_is_waited_does_not(till: Till) -> None:
    item = till.file()
    assert till.execute(item, {**FAILS, "wait": 1.0}, WORKS).code == 0
    with till.app() as app:
        clock = ExecutionClock(app, RUN, 0, till.events(RUN))
        before = clock.seconds()
        assert before >= 1.0, "the turn of the first agent took that long"
        clock.sleep(2)
        assert clock.seconds() - before < 1.5


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
def test_a_rejected_push_is_rebased_tested_and_pushed(till: Till, tmp_path: Path) -> None:
    till.hook(OTHERS.format(text="others = 1", path="others.py"))
    ran = till.execute(till.file(), WORKS)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    assert till.there("log", "--format=%s", f"main..{BRANCH}").splitlines() == ["it-1: Add prices", "someone else was faster"]
    assert till.there("show", f"{BRANCH}:others.py") == "others = 1" and till.there("show", f"{BRANCH}:calc.py").startswith("def add")
    assert [e.on for e in till.events(RUN)] == ["start", "started", "done", "rejected", "rebased", "pushed"]
    ended(till)
    clone = Clone(till.remote, tmp_path / "clone", BRANCH, till.project.env)
    theirs, ours = clone.commits()
    proof = clone.verify(ours)
    assert (proof.answer, [link.name for link in proof.links]) == ("verified", ["1 work: Add prices"]), "what was pushed is claimed"
    only(clone.verify(), "not-verifiable", theirs, "claim", "no claim is made for it")


@pytest.mark.slow
def test_a_rebase_that_conflicts_moves_nothing_and_files_a_follow_up(till: Till) -> None:
    till.hook(OTHERS.format(text="def add(a): pass", path="calc.py"))
    item = till.file()
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"]) == (1, "FAILED") and "calc.py" in ran.json["error"], ran
    assert till.there("log", "-1", "--format=%s", BRANCH) == "someone else was faster"
    assert till.git("log", "-1", "--format=%s", BRANCH) == "it-1: Add prices"  # the work is kept here
    assert follow_ups(till) == [("Merge conflict: Add prices", (item,))] and till.item(item).status == "in_progress"
    ended(till)


@pytest.mark.slow
def test_a_remote_that_always_says_no_fails_the_execution(till: Till) -> None:
    till.hook("echo 'not today' >&2; exit 1")
    ran = till.execute(till.file(), WORKS)
    assert (ran.code, ran.json["state"]) == (1, "FAILED") and "not today" in ran.json["error"], ran
    assert [title for title, _ in follow_ups(till)] == ["Push is rejected: Add prices"]


@pytest.mark.slow
def test_a_remote_that_is_gone_halts_the_execution_and_nothing_is_lost(till: Till) -> None:
    item = till.file()
    moved = till.remote.with_name("moved.git")
    till.hook(f"mv '{till.remote}' '{moved}'; exit 1")
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (10, "HALTED", "halted"), ran
    assert "cannot be reached" in ran.json["error"] and till.item(item).status == "in_progress" and follow_ups(till) == []
    moved.rename(till.remote)
    (till.remote / "hooks" / "update").unlink()
    assert till.project.run("run", "--run", RUN, "--json").code == 10  # it waits for a person
    done = till.project.run("resume", "--run", RUN, "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETED"), done
    ended(till)


@pytest.mark.slow
def test_the_evidence_is_pushed_with_the_branch_also_where_another_machine_wrote_it(till: Till) -> None:
    def lose(seen: Seen) -> None:
        if seen.kind == "verdict":
            till.git("update-ref", "-d", NOTES)  # it was written, and is not here when the branch is pushed

    with till.app() as app:
        run = begun(till, app, WORKS)
        with only_driver(app, run):
            assert driver(app, run, lose).drive(run).state == "COMPLETED"
    assert till.there("notes", f"--ref={NOTES}", "list").split()[1:] == [till.there("rev-parse", BRANCH)]


@pytest.mark.slow
def test_an_item_that_is_not_there_or_must_wait_is_not_run(till: Till) -> None:
    unknown = till.execute("it-9", WORKS)
    assert (unknown.code, unknown.json["error"]) == (2, "there is no item 'it-9'")
    first = till.file("First")
    second = till.file(depends_on=(first,))
    waits = till.execute(second, WORKS)
    assert (waits.code, waits.json["state"], waits.json["branch"]) == (1, "CANCELLED", None)
    assert "it-1 is not closed, and this item depends on it" in waits.json["error"]
    assert till.item(second).status == "open" and follow_ups(till) == []
    till.change(first, status="closed")
    assert till.execute(second, WORKS).json["state"] == "COMPLETED"


@pytest.mark.slow
def test_an_item_that_someone_else_claimed_is_left_to_them(till: Till) -> None:
    item = till.file()
    till.change(item, status="in_progress", assignee="alice")
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"]) == (1, "CANCELLED") and "it-1 is claimed by alice" in ran.json["error"]
    assert (till.item(item).status, till.item(item).assignee) == ("in_progress", "alice")


@pytest.mark.slow
def test_a_person_cancels_and_the_agent_ends_with_it(till: Till) -> None:
    item = till.file()
    agent = scripted(till.project, LATE)
    with running(till.project, "run", "--workflow", "execute", item, "--agent", agent, "--events") as child:
        lines_until(child, event="turn")
        ran = till.project.run("abort", "--run", RUN, "--json")
        assert (ran.code, ran.json["state"]) == (0, "CANCELLED"), ran
        out, _ = child.communicate()
        assert child.returncode == 1 and json.loads(out.splitlines()[-1])["state"] == "CANCELLED"
    assert (till.item(item).status, till.item(item).assignee, follow_ups(till)) == ("open", "", [])
    ended(till)


HOSTILE = [
    "--upload-pack=touch /tmp/x; $(reboot) `id`",
    "../../etc/passwd",
    "refs/heads/main",
    "a..b~c^d:e?f*[g\\h.lock",
    "\N{PILE OF POO} \u202egnp.exe \x1b]52;c;aGk=\x07",
    "x" * 500,
    "line\nBLOCKED: by the title",
    "'\"; DROP TABLE items; --",
]


@pytest.mark.parametrize("title", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_title_is_only_words(till: Till, title: str) -> None:
    from detent.git.remote import free_name
    from detent.workflows.execute.execute_effects import branch_wanted
    from tests.repos import git_at

    name = branch_wanted("{id}-{title}", "it-1", title)
    assert name == "it-1" or name.startswith("it-1-")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and len(name) < 90 and not name.endswith("-")
    assert free_name(git_at(till.project.root), name, frozenset()) == f"refs/heads/{name}"


@pytest.mark.slow
def test_a_hostile_title_runs_like_any_other(till: Till) -> None:
    ran = till.execute(till.file("--upload-pack=x; $(id)\nBLOCKED: by the title \x1b[31m"), WORKS)
    assert (ran.code, ran.json["state"], ran.json["branch"]) == (0, "COMPLETED", "it-1-upload-pack-x-id-blocked-by-the-title-31m"), ran
    assert till.there("log", "-1", "--format=%s", ran.json["branch"]).startswith("it-1: --upload-pack=x; $(id) BLOCKED: by the title")


@pytest.mark.slow
def test_without_a_remote_the_branch_stays_here(tmp_path: Path) -> None:
    till = Till(tmp_path, remote=False)
    ran = till.execute(till.file(), WORKS)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED") and till.git("log", "-1", "--format=%s", BRANCH) == "it-1: Add prices"
    assert TEST.strip() == till.git("show", f"{BRANCH}:tests/test_add.py")


@pytest.mark.slow
def test_a_budget_that_is_spent_fails_the_execution(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[limits]\ntokens = 100\n")
    spends: dict[str, Any] = {**FAILS, "usage": {"input_tokens": 200}}
    ran = till.execute(till.file(), spends, WORKS)
    assert (ran.code, ran.json["state"]) == (1, "FAILED") and "200 of 100 tokens" in ran.json["error"], ran
    assert [title for title, _ in follow_ups(till)] == ["The budget is used up: Add prices"]


@pytest.mark.slow
def test_what_passes_only_beside_a_file_that_no_tree_has_is_not_pushed(tmp_path: Path) -> None:
    till = Till(tmp_path, files={".gitignore": "__pycache__/\nanswers.py\n"})
    beside = {"answers.py": CODE, "calc.py": "from answers import add\n", "tests/test_add.py": TEST}
    works = {"state": "RUNNING", "write": beside, "reply": "done"}
    ran = till.execute(till.file(), works, works)
    assert (ran.code, ran.json["state"]) == (1, "FAILED") and "in a clean checkout" in ran.json["reason"], ran
    assert BRANCH not in till.there("branch")
