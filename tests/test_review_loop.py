"""The review loop on the branch: what a review finds is worked on at the tip of the reviewed branch, and only a reviewed commit goes out."""

from pathlib import Path

import pytest

from tests.driven import scripted
from tests.executions import BRANCH, WORKS, Json, Till
from tests.test_execute_ways import ISSUE, NOT_READY, READY, RUN, with_pull_requests

CHECKS = "def add(a, b):\n    if isinstance(a, str):\n        raise TypeError(a)\n    return a + b\n"
SHOWN = "import pytest\n\nfrom calc import add\n\n\ndef test_words():\n    with pytest.raises(TypeError):\n        add('a', 'b')\n"
FIXES: Json = {"state": "RUNNING", "write": {"calc.py": CHECKS, "tests/test_words.py": SHOWN}, "reply": "Words are refused now."}


def opened(till: Till) -> int:
    file = till.project.root.parent / "opened"
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.mark.slow
def test_what_a_review_finds_is_fixed_on_the_branch_and_reviewed_again_before_it_goes_out(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path, rounds=5)
    item = till.file()
    ran = till.execute(item, WORKS, NOT_READY, FIXES, READY)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    events = till.events(RUN)
    names = [e.on for e in events]
    assert names[names.index("not-ready") :] == ["not-ready", "done", "pushed-for-review", "ready", "opened"]
    first, second = (e.run.data.pushed for e in events if e.on == "pushed-for-review")
    assert till.there("rev-parse", f"{second}^") == first and till.there("rev-parse", BRANCH) == second, "on top of what was reviewed"
    run = till.run(RUN)
    assert (run.data.reviewed, run.data.pushed) == (second, second) and opened(till) == 1
    told = next(e.briefing.briefing for e in events if e.on == "not-ready" and e.briefing)
    assert "A review found this branch not ready" in told and "words are added too" in told
    (issue,) = [i for i in till.items() if "review" in i.labels]
    assert (issue.status, till.item(item).status) == ("closed", "closed") and f"review of {second[:12]} no longer finds it" in issue.notes


@pytest.mark.slow
def test_while_it_is_being_fixed_nobody_else_takes_what_the_review_found_and_what_is_left_is_free_again(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path, rounds=2)
    held: Json = {**FIXES, "reply": "BLOCKED: the cents are not said"}
    assert till.execute(till.file(), WORKS, NOT_READY, held).json["state"] == "BLOCKED"
    claimed = next(e for e in till.events(RUN) if e.on == "not-ready")
    (issue,) = [i for i in till.items() if "review" in i.labels]
    assert claimed.run.state == "RUNNING" and (issue.status, issue.assignee) == ("open", "") and opened(till) == 0


@pytest.mark.slow
def test_an_item_that_a_review_filed_begins_at_the_tip_of_the_reviewed_branch_and_goes_out_with_it(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path, rounds=1)
    assert till.execute(till.file(), WORKS, NOT_READY).json["state"] == "NOT_READY"
    (issue,) = [i for i in till.items() if "review" in i.labels]
    before = till.run(RUN).data.pushed
    part = till.execute(issue.id, FIXES)
    assert (part.code, part.json["state"]) == (0, "COMPLETED"), part
    child = till.run(f"execute-{issue.id}-1")
    assert (child.data.part_of, child.data.base) == (RUN, before) and opened(till) == 0, "no pull request of its own"
    assert till.project.run("land", "--json").json["branches"] == [], "and it does not land alone"
    scripted(till.project, {**READY, "again": True})
    done = till.project.run("resume", "--run", RUN, "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETED") and opened(till) == 1, done
    names = [e.on for e in till.events(RUN)]
    assert names[names.index("items-closed") :] == ["items-closed", "joined", "pushed-for-review", "ready", "opened"]
    assert till.there("rev-parse", BRANCH) == child.data.pushed == till.run(RUN).data.reviewed, "its work is in the branch, and reviewed"


@pytest.mark.slow
def test_an_item_that_a_review_of_a_finished_branch_filed_begins_with_the_reviewed_code(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path)
    minor = {**READY, "reply": {"issues": [ISSUE], "summary": "all is well", "pr_ready": True}}
    assert till.execute(till.file(), WORKS, minor).json["state"] == "COMPLETED"
    (issue,) = [i for i in till.items() if "review" in i.labels]
    ran = till.execute(issue.id, FIXES, READY)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    child = till.run(f"execute-{issue.id}-1")
    assert (child.data.onto, child.data.part_of) == (BRANCH, "") and issue.status == "open"
