"""Notes: none is lost, whoever writes at the same time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.git.notes import TRIES, list_notes, push_notes, read_note, write_notes
from tests.project import ROOT
from tests.repos import git_at, make_repo, sh

REF = "tdd-handoffs"
WRITER = """
import sys
from pathlib import Path
from tests.repos import git_at
from detent.git.notes import write_notes
folder, first = Path(sys.argv[1]), int(sys.argv[2])
commits = sys.argv[3:]
for n, commit in enumerate(commits):
    write_notes(git_at(folder), "tdd-handoffs", {commit: f"note {first + n}\\n"})
"""


def commits_of(repo: Path, count: int) -> list[str]:
    for n in range(count):
        sh(repo, "git", "commit", "-q", "--allow-empty", "-m", f"c{n}")
    return sh(repo, "git", "log", f"-{count}", "--format=%H").split()


def test_a_note_is_shown_by_git_itself_and_can_be_replaced(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "p", {"a": "a"})
    git = git_at(repo)
    head = git.head()
    assert read_note(git, REF, head) is None
    write_notes(git, REF, {head: "one\n"})
    write_notes(git, REF, {head: '{"phase": "RED"}\n'})
    assert sh(repo, "git", "notes", f"--ref={REF}", "show", head) == '{"phase": "RED"}'
    assert list(list_notes(git, REF)) == [head]
    assert sh(repo, "git", "for-each-ref", "--format=%(refname)", "refs/notes/") == f"refs/notes/{REF}"


def test_writing_the_same_note_again_changes_nothing(tmp_path: Path) -> None:
    git = git_at(make_repo(tmp_path / "p", {"a": "a"}))
    write_notes(git, REF, {git.head(): "one\n"})
    before = git.resolve(f"refs/notes/{REF}")
    write_notes(git, REF, {git.head(): "one\n"})
    assert git.resolve(f"refs/notes/{REF}") == before


def test_forty_notes_written_by_four_processes_all_survive(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "p", {"a": "a"})
    commits = commits_of(repo, 40)
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(repo), str(n), *commits[n : n + 10]], env=env) for n in range(0, 40, 10)]
    assert [w.wait() for w in writers] == [0, 0, 0, 0]
    git = git_at(repo)
    assert [read_note(git, REF, c) for c in commits] == [f"note {n}\n" for n in range(40)]


FASTER = """
test "$(cat count 2>/dev/null | wc -l)" -lt 8 || exit 0
echo >> count
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export GIT_AUTHOR_NAME=o GIT_AUTHOR_EMAIL=o@x GIT_COMMITTER_NAME=o GIT_COMMITTER_EMAIL=o@x
old=$(git rev-parse -q --verify $1 || true)
git update-ref $1 $(git commit-tree $(git mktree </dev/null) ${old:+-p $old} -m "$(wc -l < count)")
exit 1
"""  # a hook of the remote: at each of the first pushes, someone else pushes notes first


@pytest.mark.slow
def test_notes_get_to_a_remote_at_which_many_push_and_are_given_up_only_where_it_stands_still(tmp_path: Path) -> None:
    sh(tmp_path, "git", "init", "-q", "--bare", "hub")
    hook = tmp_path / "hub" / "hooks" / "update"
    git = git_at(make_repo(tmp_path / "p", {"a": "a"}))
    git.run("remote", "add", "origin", str(tmp_path / "hub"))
    write_notes(git, REF, {git.head(): "mine\n"})
    hook.write_text("#!/bin/sh\necho 'not today' >&2\necho >> refused\nexit 1\n")
    hook.chmod(0o755)
    assert "not today" in push_notes(git, "origin", REF)
    assert len((tmp_path / "hub" / "refused").read_text().splitlines()) == TRIES
    hook.write_text(f"#!/bin/sh\nset -e\n{FASTER}")
    assert push_notes(git, "origin", REF) == ""
    assert sh(tmp_path / "hub", "git", "notes", f"--ref={REF}", "show", git.head()) == "mine"
    assert int(sh(tmp_path / "hub", "git", "rev-list", "--count", "--no-merges", f"refs/notes/{REF}")) == 9, "nothing of theirs is lost"
