"""One branch and its remote: names that are free, pushes that are never forced, commits that are replayed, and work that another machine takes up."""

from pathlib import Path

import pytest

from detent.errors import Away, CannotTell
from detent.git.remote import answers, fetch_branch, free_name, names_at, push_branch, replay, share, take_in
from detent.git.repo import Git
from detent.git.snapshot import keep
from detent.git.workspace import make_workspace
from tests.repos import git_at, make_repo, sh, write


@pytest.fixture
def one(tmp_path: Path) -> Git:
    """A clone with a bare remote."""
    root = make_repo(tmp_path / "one", {"a.txt": "a\n", "b.txt": "b\n"})
    sh(tmp_path, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
    sh(root, "git", "remote", "add", "origin", str(tmp_path / "remote.git"))
    sh(root, "git", "push", "-q", "origin", "main")
    return git_at(root)


def commit(git: Git, branch: str, files: dict[str, str], message: str = "m") -> str:
    root = git.place.root
    sh(root, "git", "switch", "-q", *([] if git.resolve(f"refs/heads/{branch}") else ["-c"]), branch)
    write(root, files)
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", message)
    return git.head()


def test_a_name_that_is_taken_here_or_there_gets_a_number(one: Git) -> None:
    assert free_name(one, "beads-1-x", frozenset()) == "refs/heads/beads-1-x"
    commit(one, "beads-1-x", {"a.txt": "2\n"})
    sh(one.place.root, "git", "push", "-q", "origin", "beads-1-x:beads-1-x-retry2")
    there = names_at(one, "origin", "beads-1-x")
    assert there == {"beads-1-x-retry2"} and free_name(one, "beads-1-x", there) == "refs/heads/beads-1-x-retry3"


def test_a_push_that_does_not_fit_is_rejected_and_one_without_a_remote_says_nothing(one: Git, tmp_path: Path) -> None:
    first = commit(one, "x", {"a.txt": "2\n"})
    assert push_branch(one, "origin", first, "refs/heads/x").ok and push_branch(one, "origin", first, "refs/heads/x").ok
    sh(one.place.root, "git", "switch", "-q", "main")
    other = commit(one, "y", {"b.txt": "2\n"})
    said = push_branch(one, "origin", other, "refs/heads/x")
    assert not said.ok and "rejected" in said.output and fetch_branch(one, "origin", "refs/heads/x") == first
    assert fetch_branch(one, "origin", "refs/heads/nowhere") == ""
    (tmp_path / "remote.git").rename(tmp_path / "gone.git")
    for call in (lambda: push_branch(one, "origin", other, "refs/heads/x"), lambda: names_at(one, "origin", "x")):
        with pytest.raises(CannotTell, match="cannot be reached"):
            call()


def test_a_push_that_a_hook_refuses_is_told_by_its_reason_and_is_no_outage(one: Git, tmp_path: Path) -> None:
    tip = commit(one, "x", {"a.txt": "2\n"})
    hook = tmp_path / "remote.git" / "hooks" / "update"
    hook.write_text("#!/bin/sh\necho 'sign your commits' >&2\nexit 1\n")
    hook.chmod(0o755)
    said = push_branch(one, "origin", tip, "refs/heads/x").output.splitlines()[0]
    assert said == "the push was refused: [remote rejected] (hook declined): sign your commits"
    with pytest.raises(CannotTell, match=r"the remote origin refuses: \[remote rejected\] .*sign your commits") as told:
        share(one, "origin", ["r1"], "refs/heads/x")
    assert not isinstance(told.value, Away)
    hook.unlink()
    assert answers(one, "origin")
    (tmp_path / "remote.git").rename(tmp_path / "gone.git")
    assert not answers(one, "origin")
    with pytest.raises(Away, match=r"the remote origin cannot be reached: fatal: .*does not appear to be a git repository") as away:
        push_branch(one, "origin", tip, "refs/heads/x")
    assert away.value.thing == "remote"


def test_commits_are_replayed_one_by_one_or_what_conflicts_is_named(one: Git) -> None:
    base = one.head()
    commit(one, "mine", {"a.txt": "mine\n"}, "first")
    tip = commit(one, "mine", {"c.txt": "c\n"}, "second")
    sh(one.place.root, "git", "switch", "-q", "main")
    theirs = commit(one, "theirs", {"b.txt": "theirs\n"})
    sh(one.place.root, "git", "switch", "-q", "main")
    clash = commit(one, "clash", {"a.txt": "clash\n"})
    done = replay(one, base, tip, theirs, "2020-01-01T00:00:00Z")
    assert not done.conflict and [one.message(new) for _, new in done.commits] == ["first", "second"]
    assert one.run("log", "--format=%s", done.tip).text.splitlines() == ["second", "first", "m", "start"]
    assert one.read(done.tip, "a.txt") == b"mine\n" and one.read(done.tip, "b.txt") == b"theirs\n"
    assert replay(one, base, tip, clash, "2020-01-01T00:00:00Z").conflict == "first: a.txt"
    assert one.resolve("refs/heads/mine") == tip  # nothing was moved


def test_another_machine_takes_up_what_was_shared(one: Git, tmp_path: Path) -> None:
    base = one.head()
    tip = commit(one, "beads-1-x", {"a.txt": "2\n"})
    write(one.place.root, {"a.txt": "3\n"})
    sh(one.place.root, "git", "add", "-A")
    judged = one.run("write-tree").text
    keep(one, "execute-1-1", judged)
    share(one, "origin", ("execute-1-1", "execute-1-1.work"), "refs/heads/beads-1-x")
    sh(tmp_path, "git", "clone", "-q", f"file://{tmp_path / 'remote.git'}", "two")
    two = git_at(tmp_path / "two")
    assert not two.resolve(f"{judged}^{{tree}}")
    for _ in range(2):  # doing it again changes nothing
        take_in(two, "origin", ("execute-1-1", "execute-1-1.work"), "refs/heads/beads-1-x")
    assert two.resolve("refs/heads/beads-1-x") == tip and two.resolve(f"refs/detent/execute-1-1/trees/{judged}") == judged
    inner = make_workspace(two, tmp_path / "two-workspace", "refs/heads/beads-1-x", base)
    assert inner.head() == tip and (tmp_path / "two-workspace" / "a.txt").read_text() == "2\n"
