"""Folders for a while: gone afterwards, kept while their process lives, and taken away by the next call if it was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from detent.git.checkout import part_of
from detent.storage.state import scratch_folder, state_dir
from tests.repos import git_at, make_repo, sh

KILLED = "import os, signal\nfrom detent.storage.state import scratch_folder\nwith scratch_folder() as f:\n    (f / 'x').write_text('')\n    os.kill(os.getpid(), 9)\n"


def test_a_folder_is_gone_afterwards_whatever_happened() -> None:
    made: list[Path] = []

    def fail() -> None:
        with scratch_folder() as folder:
            made.append(folder)
            (folder / "a").mkdir()
            raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        fail()
    assert not made[0].exists() and not list((state_dir() / "scratch").iterdir())


def test_what_a_killed_process_left_is_taken_away_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    with scratch_folder() as ours:
        subprocess.run(
            [sys.executable, "-c", KILLED], env={"TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(state_dir().parent)}, check=False
        )
        (left,) = tmp_path.iterdir()
        with scratch_folder() as other:
            assert ours.is_dir() and other.is_dir() and not left.exists()
        assert len([*(state_dir() / "scratch").iterdir()]) == 1


def test_a_mark_that_names_another_folder_takes_nothing_away(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    marks = state_dir() / "scratch"
    marks.mkdir(parents=True)
    (marks / "abc").write_text(str(tmp_path / "mine"))
    with scratch_folder():
        assert (tmp_path / "mine").is_dir() and not (marks / "abc").exists()


def test_a_part_of_a_tree_is_the_tree_of_its_folder_without_what_is_named(tmp_path: Path) -> None:
    git = git_at(make_repo(tmp_path / "p", {"a/x": "1", "a/b/y": "2", "a/[c]/z": "3", "top": "4"}))
    tree = git.tree("HEAD")

    def paths(of: str) -> list[str]:
        return git.run("ls-tree", "-r", "-z", "--name-only", of).items

    assert paths(part_of(git, tree, "a")) == ["[c]/z", "b/y", "x"]
    assert paths(part_of(git, tree, "a", ("a/[c]", "a/nowhere"))) == ["b/y", "x"]
    assert paths(part_of(git, tree, "", ("a",))) == ["top"] and part_of(git, tree, "", ("nowhere",)) == tree
    assert paths(part_of(git, tree, "top")) == paths(part_of(git, tree, "nowhere")) == [], "a file is no folder"
    assert sh(tmp_path / "p", "git", "status", "--porcelain") == ""
