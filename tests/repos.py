"""Real repositories for tests, made with git in the test's own folder."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from detent.git.place import find_place
from detent.git.repo import Git
from tests.go_library import lend as lend_go_library

IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example"}
PLAIN = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def sh(folder: Path, *argv: str, check: bool = True) -> str:
    """Run a program as a person would."""
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, env={**os.environ, **IDENTITY, **PLAIN})
    if check and done.returncode:
        raise AssertionError(f"{argv}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def _runs_go(folder: Path, files: dict[str, str]) -> bool:
    """Whether these are tests of a Go module; without one nothing can run them."""
    return any(path.endswith("_test.go") for path in files) and ("go.mod" in files or (folder / "go.mod").is_file())


def write(folder: Path, files: dict[str, str]) -> None:
    if _runs_go(folder, files):
        lend_go_library()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def make_repo(folder: Path, files: dict[str, str], branch: str = "main") -> Path:
    """A repository with one commit of these files, copied from the second time on."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) or not all(isinstance(text, str) for text in files.values()):
        return _made(folder, files, branch)
    if _runs_go(folder, files):
        lend_go_library()
    shutil.copytree(_like(tuple(files.items()), branch), folder, symlinks=True, dirs_exist_ok=True)
    sh(folder, "git", "update-index", "-q", "--refresh")  # the copies have new file times
    return folder


@cache
def _like(files: tuple[tuple[str, str], ...], branch: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="repo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _made(folder, dict(files), branch)


def _made(folder: Path, files: dict[str, str], branch: str) -> Path:
    sh(folder, "git", "init", "-q", "-b", branch)
    for example in (folder / ".git/hooks").glob("*.sample"):
        example.unlink()  # it would be copied each time
    with (folder / ".git/config").open("a") as config:
        config.write("[user]\n\tname = A Person\n\temail = person@example\n")
    write(folder, files)
    sh(folder, "git", "add", "-A")
    sh(folder, "git", "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def git_at(folder: Path) -> Git:
    return Git(find_place(folder), os.environ)
