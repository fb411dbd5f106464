"""Workspaces: creating one of a large project, against git's own worktree; and the time of bringing a spare one up to date."""

import os
import subprocess
from functools import partial
from pathlib import Path
from statistics import median

from bench import Figure
from bench.journal import seconds
from detent.git.place import find_place
from detent.git.repo import Git
from detent.git.workspace import make_workspace

FILES, ROUNDS = 8_000, 5
WHO = {"GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@x", "GIT_COMMITTER_NAME": "b", "GIT_COMMITTER_EMAIL": "b@x"}


def making(folder: Path) -> Figure:
    """Alternating; only the creation is measured."""
    repo, git = _project(folder)
    ours, theirs = [], []
    for n in range(ROUNDS):
        ours.append(seconds(partial(make_workspace, git, folder / f"ours-{n}", "", git.head())))
        theirs.append(seconds(partial(_git, repo, "worktree", "add", "-q", "--detach", str(folder / f"theirs-{n}"))))
    return Figure(f"make a workspace of {FILES:,} files", median(ours), "git worktree add", median(theirs), 1.2)


def spare(folder: Path) -> Figure:
    """What a pool of spare workspaces would need: bring one to a commit that changes ten files. See decisions/011."""
    repo, git = _project(folder)
    first = git.head()
    for n in range(10):
        (repo / f"d{n}" / "f0.py").write_text("changed = True\n")
    _git(repo, "commit", "-qam", "ten files")
    commits = (git.head(), first)
    inner = make_workspace(git, folder / "spare", "", first)
    ours, theirs = [], []
    for n in range(ROUNDS):
        ours.append(seconds(partial(inner.run, "read-tree", "-u", "--reset", commits[n % 2])))
        theirs.append(seconds(partial(make_workspace, git, folder / f"new-{n}", "", first)))
    return Figure("bring a spare workspace up to date", median(ours), "make a new one", median(theirs), 1.0)


def _project(folder: Path) -> tuple[Path, Git]:
    repo = folder / "p"
    for n in range(FILES):
        file = repo / f"d{n % 100}" / f"f{n // 100}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {n}\n" * 50)
    _git(repo, "init", "-q", "-b", "main")
    _git(repo, "add", "-A")
    _git(repo, "commit", "-qm", "start")
    return repo, Git(find_place(repo), dict(os.environ))


def _git(repo: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=repo, env={**os.environ, **WHO}, check=True, capture_output=True)
