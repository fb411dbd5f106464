"""Whole executions on a real repository with a real remote: from an item to a pushed branch, and every other end."""

from pathlib import Path

import pytest

from tests.driven import workspaces
from tests.executions import BRANCH, TITLE, WORKS, Till


@pytest.fixture
def till(tmp_path: Path) -> Till:
    return Till(tmp_path)


def test_an_item_becomes_a_pushed_branch_with_one_commit(till: Till) -> None:
    item = till.file(TITLE, "-d", "Totals are missing.")
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"], ran.json["outcome"], ran.json["branch"]) == (0, "COMPLETED", "done", BRANCH), ran
    assert [c["subject"] for c in ran.json["commits"]] == ["Bead it-1: Add prices"]
    assert till.there("log", "--format=%s", f"main..{BRANCH}") == "Bead it-1: Add prices"
    assert till.there("rev-parse", BRANCH) == ran.json["commits"][0]["hash"]
    assert till.there("show", f"{BRANCH}:calc.py").startswith("def add")
    assert (till.item(item).status, till.item(item).assignee) == ("closed", "")
    assert not workspaces(till.project) and till.owed("execute-it-1-1") == [] and till.git("status", "--porcelain") == ""
