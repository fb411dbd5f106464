"""Git from 2.30 on: what newer ones do in one call is done another way where git does not know it, and comes to the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.git.place import find_place
from detent.git.repo import Git
from detent.git.tree_merge import merge_trees, merged_in_files
from detent.git.workspace import checked_out_elsewhere
from tests.project import Project
from tests.repos import make_repo, sh, write

REAL = str(shutil.which("git"))
LINES = "".join(f"line {n}\n" for n in range(20))
START = {"a.txt": LINES, "b.txt": "b\n", "deep/c.txt": "c\n", ".gitignore": "*.log\n"}
SIDES: dict[str, tuple[dict[str, str | None], dict[str, str | None]]] = {
    "other files": ({"a.txt": "ours\n"}, {"b.txt": "theirs\n", "new/d.txt": "d\n"}),
    "other lines of one file": ({"a.txt": LINES.replace("line 2\n", "ours\n")}, {"a.txt": LINES.replace("line 17\n", "theirs\n")}),
    "the same lines": ({"a.txt": LINES.replace("line 2\n", "ours\n")}, {"a.txt": LINES.replace("line 2\n", "theirs\n")}),
    "a file that was moved": (
        {"a.txt": None, "moved/a.txt": LINES},
        {"a.txt": LINES.replace("line 5\n", "theirs\n")},
    ),
    "a file that was deleted": ({"b.txt": None}, {"b.txt": "theirs\n"}),
    "the same new file": ({"n.txt": "ours\n"}, {"n.txt": "theirs\n"}),
    "nothing on one side": ({}, {"b.txt": "theirs\n"}),
}


class OldGit:
    """A git that knows nothing of what came after 2.30, as far as it is asked here."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.asked = folder / "asked"
        refused = "*'merge-tree --write-tree'*|*'worktree list --porcelain -z'*"
        script = f'#!/bin/sh\ncase "$*" in {refused}) echo x >>{self.asked}; echo usage: >&2; exit 129;; esac\nexec {REAL} "$@"\n'
        (folder / "git").write_text(script)
        (folder / "git").chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def old(tmp_path: Path) -> OldGit:
    return OldGit(tmp_path / "old")


def sides(folder: Path, ours: dict[str, str | None], theirs: dict[str, str | None]) -> Path:
    root = make_repo(folder, START)
    for name, files in (("ours", ours), ("theirs", theirs)):
        sh(root, "git", "switch", "-q", "-c", name, "main")
        for path in [path for path, text in files.items() if text is None]:
            (root / path).unlink()
        write(root, {path: text for path, text in files.items() if text is not None})
        sh(root, "git", "add", "-A")
        sh(root, "git", "commit", "-q", "--allow-empty", "-m", name)
    sh(root, "git", "switch", "-q", "main")
    return root


@pytest.mark.parametrize("case", SIDES)
def test_a_merge_in_files_is_the_merge_that_git_makes_by_itself(tmp_path: Path, case: str) -> None:
    root = sides(tmp_path / "p", *SIDES[case])
    git = Git(find_place(root), os.environ)
    before = sh(root, "git", "status", "--porcelain", "--ignored"), sh(root, "git", "for-each-ref"), sh(root, "git", "ls-files", "-s")
    new, older = merge_trees(git, "ours", "theirs"), merged_in_files(git, "ours", "theirs")
    assert (older.clean, older.files) == (new.clean, new.files)
    if new.clean:
        assert older.tree == new.tree
    else:
        assert sh(root, "git", "ls-tree", "-r", "--name-only", older.tree) == sh(root, "git", "ls-tree", "-r", "--name-only", new.tree)
    assert (
        sh(root, "git", "status", "--porcelain", "--ignored"),
        sh(root, "git", "for-each-ref"),
        sh(root, "git", "ls-files", "-s"),
    ) == before


def test_a_conflict_has_its_marks_in_the_tree(tmp_path: Path, old: OldGit) -> None:
    root = sides(tmp_path / "p", *SIDES["the same lines"])
    made = merge_trees(Git(find_place(root), {**os.environ, "PATH": old.path}), "ours", "theirs")
    assert old.asked.exists() and not made.clean and made.files == ("a.txt",)
    text = sh(root, "git", "show", f"{made.tree}:a.txt")
    assert "<<<<<<< " in text and "ours" in text and "theirs" in text and ">>>>>>> " in text


def test_files_that_git_ignores_and_knows_are_merged_too(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", START)
    write(root, {"kept.log": "1\n"})
    sh(root, "git", "add", "-f", "kept.log")
    sh(root, "git", "commit", "-q", "-m", "kept")
    sh(root, "git", "switch", "-q", "-c", "theirs")
    write(root, {"kept.log": "2\n"})
    sh(root, "git", "commit", "-q", "-a", "-m", "theirs")
    git = Git(find_place(root), os.environ)
    assert git.read(merged_in_files(git, "main", "theirs").tree, "kept.log") == b"2\n"


def test_commits_that_have_nothing_in_common_are_not_merged(tmp_path: Path, old: OldGit) -> None:
    root = make_repo(tmp_path / "p", START)
    sh(root, "git", "switch", "-q", "--orphan", "alone")
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "alone")
    for path in (os.environ["PATH"], old.path):
        with pytest.raises(CannotTell, match="git could not merge"):
            merge_trees(Git(find_place(root), {**os.environ, "PATH": path}), "main", "alone")


def test_a_branch_that_is_checked_out_elsewhere_is_found(tmp_path: Path, old: OldGit) -> None:
    root = make_repo(tmp_path / "p", START)
    sh(root, "git", "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked one"))
    git = Git(find_place(root), {**os.environ, "PATH": old.path})
    assert checked_out_elsewhere(git, "refs/heads/other") == str(tmp_path / "linked one")
    assert checked_out_elsewhere(git, "refs/heads/main") == "" and old.asked.exists()


@pytest.mark.slow
def test_a_branch_lands_with_an_old_git(tmp_path: Path, old: OldGit) -> None:
    project = Project(
        tmp_path / "p", {"calc.py": "A = 1\n", "tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"}
    )
    for branch, path in (("ready", "b.py"), ("main", "c.py")):
        project.git("switch", "-q", *(["-c"] if branch == "ready" else []), branch)
        project.write({path: "x = 1\n"})
        project.git("add", path)
        project.git("commit", "-q", "-m", path)
    project.env["PATH"] = f"{old.path.partition(':')[0]}:{project.env['PATH']}"
    landed = project.run("land", "ready", "--yes-to", "flags=no-proof", "--json")
    assert landed.code == 0 and landed.json["branches"][0]["outcome"] == "landed", landed
    assert old.asked.exists() and (project.root / "b.py").exists()


@pytest.mark.slow
def test_doctor_says_that_a_git_is_too_old(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    (folder := tmp_path / "ancient").mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo git version 2.29.3 && exit\nexec {REAL} "$@"\n')
    (folder / "git").chmod(0o755)
    argv = [sys.executable, "-m", "detent", "doctor", "--json"]
    done = subprocess.run(
        argv, cwd=project.root, env={**project.env, "PATH": f"{folder}:{project.env['PATH']}"}, capture_output=True, text=True
    )
    row = next(row for row in json.loads(done.stdout)["checks"] if row["name"] == "git")
    assert done.returncode == 2 and not row["ok"] and row["fix"] == "install git 2.30 or newer"
