"""The quick answer to get-task: the same answer, with nothing imported, and only while nothing changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import PLAN, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "p").planned()
    project.task()
    return project


def get_task(project: Project, *flags: str) -> tuple[str, bool]:
    """What get-task prints, and whether it was the quick answer (one that imports no click and no msgspec)."""
    argv = [sys.executable, "-X", "importtime", "-m", "detent", "get-task", *flags]
    env = {name: value for name, value in project.env.items() if not name.startswith("COV")}  # coverage would import things of its own
    done = subprocess.run(argv, cwd=project.root, env=env, capture_output=True, text=True)
    modules = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}
    return done.stdout, not modules & {"click", "msgspec", "sqlite3", "json", "subprocess"}


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_the_second_answer_is_quick_and_the_same(project: Project, flags: tuple[str, ...]) -> None:
    slow = project.run("-C", str(project.root), "get-task", *flags).out
    quick, was_quick = get_task(project, *flags)
    assert was_quick
    assert quick == slow


def test_a_submit_leaves_the_next_answer_ready(project: Project) -> None:
    project.submit(test_command="true", expectation="FAIL")
    text, was_quick = get_task(project)
    assert was_quick and "RED" in text


CHANGES = {
    "the plan is edited by hand": lambda p: p.write({"ACTIVE_PR.json": "{}"}),
    "the state is edited by hand": lambda p: p.write({"ORCHESTRATION_STATE.json": "{}"}),
    "findings appear": lambda p: p.write({"FINDINGS.json": "[]"}),
    "the configuration changes": lambda p: p.write({"detent.toml": "\n"}),
    "a commit is made": lambda p: p.git("commit", "-q", "--allow-empty", "-m", "x"),
    "the branch is left": lambda p: p.git("switch", "-q", "main"),
    "a hook is planted": lambda p: (p.root / ".git/hooks/pre-commit").write_text("x"),
    "git is configured": lambda p: p.git("config", "core.pager", "evil"),
    "a person speaks": lambda p: p.run("steer", "mind this"),
    "the run ends": lambda p: p.run("abort"),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", CHANGES, ids=str)
def test_any_doubt_takes_the_thorough_way(project: Project, what: str) -> None:
    assert get_task(project)[1]
    CHANGES[what](project)
    text, was_quick = get_task(project)
    if what == "a person speaks":
        assert "mind this" in text
    elif what == "the run ends":
        assert "ABORTED" in text or "ended" in text
    else:
        assert not was_quick


@pytest.mark.slow
def test_a_file_edited_by_hand_is_restored_by_the_thorough_way(project: Project) -> None:
    before = (project.root / "ACTIVE_PR.json").read_text()
    project.write({"ACTIVE_PR.json": "{}"})
    get_task(project)
    assert (project.root / "ACTIVE_PR.json").read_text() == before
    assert (project.root / "ACTIVE_PR.json.rejected").read_text() == "{}"
    assert get_task(project)[1], "and then the answer is quick again"


@pytest.mark.slow
def test_outside_a_repository_and_in_a_linked_worktree_the_thorough_way_is_taken(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = subprocess.run(project.argv("get-task"), cwd=tmp_path / "empty", env=project.env, capture_output=True, text=True)
    assert done.returncode == 2 and "not in a git repository" in done.stderr
    project.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other", "main")
    assert os.path.exists(tmp_path / "linked" / PLAN)
    for call in ("start", "get-task"):
        done = subprocess.run(project.argv(call), cwd=tmp_path / "linked", env=project.env, capture_output=True, text=True)
    assert done.returncode == 0 and "Plan the next pull request" in done.stdout
