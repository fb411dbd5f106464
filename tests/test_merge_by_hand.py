"""Two lines of work that have to be brought together: never without the remote's commits, and what a person is told to type ends right."""

import subprocess
from pathlib import Path

import pytest

from detent.effects.catalogue import Ways
from detent.effects.make_branch import make_branch
from detent.effects.merge import Landed, land
from detent.errors import Parted
from detent.git.repo import Git
from detent.git.workspace import make_workspace
from tests.cases import project
from tests.repos import PLAIN, git_at, make_repo, sh, write

AT = "2026-01-01T00:00:00+00:00"
BRANCH = "refs/heads/feat/x"


@pytest.fixture
def one(tmp_path: Path) -> Git:
    """A clone with a bare remote, on a branch with one commit of its own."""
    root = make_repo(tmp_path / "one", {"a file.txt": "a\n", "b.txt": "b\n"})
    sh(tmp_path, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
    sh(root, "git", "remote", "add", "origin", str(tmp_path / "remote.git"))
    sh(root, "git", "push", "-q", "origin", "main")
    sh(root, "git", "switch", "-q", "-c", "feat/x")
    commit(root, {"a file.txt": "mine\n"}, "feat: x")
    return git_at(root)


def commit(folder: Path, files: dict[str, str], message: str) -> None:
    write(folder, files)
    sh(folder, "git", "add", "-A")
    sh(folder, "git", "commit", "-qm", message)


def on_main(git: Git, files: dict[str, str], message: str) -> None:
    """A commit on main here, made elsewhere."""
    folder = git.place.root.parent / "elsewhere"
    sh(git.place.root, "git", "worktree", "add", "-q", str(folder), "main")
    commit(folder, files, message)
    sh(git.place.root, "git", "worktree", "remove", str(folder))


def colleague(git: Git, files: dict[str, str], message: str) -> None:
    """A commit on main at the remote."""
    folder = git.place.root.parent / "colleague"
    if not folder.exists():
        sh(folder.parent, "git", "clone", "-q", str(folder.parent / "remote.git"), str(folder))
    sh(folder, "git", "pull", "-q")
    commit(folder, files, message)
    sh(folder, "git", "push", "-q")


def landed(git: Git, merge: str = "auto", push: bool = False, wrong: str = "") -> Landed:
    return land(git, BRANCH, AT, Ways("main", "origin", merge, "", push), lambda tree: wrong or None, lambda argv: None)


def typed(git: Git, text: str, files: dict[str, str]) -> None:
    """Do what a text says, line by line, in a person's shell; where it says to edit, these files are written."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    assert lines[-1] == "detent resume"
    shell = "set -u\n" + "\n".join('sh -c "$EDIT"' if line.startswith("# ") else line for line in lines[:-1]) + "\n"
    edit = "\n".join(f"printf '%s' '{text}' > '{path}'" for path, text in files.items())
    env = {**PLAIN, "EDIT": edit, "GIT_EDITOR": "true", "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent"}
    done = subprocess.run(["bash", "-c", shell], cwd=git.place.root, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{shell}\n{done.stdout}{done.stderr}"


def subjects(git: Git, rev: str) -> set[str]:
    return set(sh(git.place.root, "git", "log", "--format=%s", rev).splitlines())


def test_mains_that_parted_stop_a_branch_and_a_merge_with_both_sides_and_the_way_out(one: Git) -> None:
    on_main(one, {"c.txt": "c\n"}, "ours")
    colleague(one, {"d.txt": "d\n"}, "theirs")
    with pytest.raises(Parted, match=r'Only here: .* "ours"\.\nOnly at origin: .* "theirs"\.'):
        make_branch(one, "r1", 1, lambda: "refs/heads/y", "main", "origin")
    before = sh(one.place.root, "git", "rev-parse", "main", "origin/main")
    said = landed(one)
    assert said.outcome == "conflict" and "have both moved" in said.output
    assert sh(one.place.root, "git", "rev-parse", "main", "origin/main") == before
    typed(one, said.output, {})
    assert one.branch() == BRANCH
    assert landed(one).outcome == "merged"
    assert {"ours", "theirs", "feat: x"} <= subjects(one, "main")


@pytest.mark.sample(3)
@pytest.mark.parametrize("where", ["here", "elsewhere", "workspace"])
@pytest.mark.parametrize("ahead", [False, True], ids=["main here moved", "the remote moved"])
def test_a_conflict_names_sides_files_and_commands_and_typing_them_lands_the_branch(one: Git, where: str, ahead: bool) -> None:
    (colleague if ahead else on_main)(one, {"a file.txt": "theirs\n"}, "theirs")
    git = one
    if where == "workspace":
        sh(one.place.root, "git", "switch", "-q", "main")
        git = make_workspace(one, one.place.root.parent / "state" / "ws", BRANCH, one.resolve(BRANCH))
    if where == "elsewhere":
        sh(one.place.root, "git", "worktree", "add", "-q", str(one.place.root.parent / "other folder"), "main")
    said = landed(git)
    assert said.outcome == "conflict"
    assert "conflicts in: a file.txt" in said.output and '"theirs"' in said.output and '"feat: x"' in said.output
    typed(one, said.output, {"a file.txt": "both\n"})
    assert landed(git).outcome == "merged"
    assert sh(one.place.root, "git", "show", "main:a file.txt") == "both"
    assert {"theirs", "feat: x"} <= subjects(one, "main")


def test_a_merge_that_does_not_pass_is_fixed_on_the_branch_as_the_text_says(one: Git) -> None:
    colleague(one, {"c.txt": "c\n"}, "theirs")
    said = landed(one, wrong="test_c fails")
    assert said.outcome == "red-merge" and said.output.startswith("test_c fails")
    typed(one, said.output, {"b.txt": "fixed\n"})
    assert landed(one).outcome == "merged"
    assert sh(one.place.root, "git", "show", "main:b.txt") == "fixed"


def test_main_is_pushed_where_that_is_asked_for_and_a_push_meanwhile_is_merged_too(one: Git) -> None:
    once: list[str] = []

    def verify(tree: str) -> None:
        if not once:
            colleague(one, {"c.txt": "c\n"}, "theirs")
        once.append(tree)

    done = land(one, BRANCH, AT, Ways("main", "origin", "auto", "", True), verify, lambda argv: None)
    assert (done.outcome, len(once)) == ("merged", 2)
    at_remote = sh(one.place.root.parent / "remote.git", "git", "rev-parse", "main")
    assert at_remote == one.resolve("refs/heads/main")
    assert {"theirs", "feat: x"} <= subjects(one, "main")


def test_main_stays_here_unless_a_push_is_asked_for(one: Git) -> None:
    before = sh(one.place.root.parent / "remote.git", "git", "rev-parse", "main")
    assert landed(one).outcome == "merged"
    assert sh(one.place.root.parent / "remote.git", "git", "rev-parse", "main") == before


@pytest.mark.parametrize("way", [("merge", "-q", "--no-ff", "-m", "by a person"), ("merge", "-q", "--squash")], ids=["merged", "squashed"])
def test_what_was_merged_at_the_forge_is_in_main_here_before_the_run_continues(one: Git, way: tuple[str, ...]) -> None:
    sh(one.place.root, "git", "push", "-q", "origin", "feat/x")
    assert landed(one, merge="pull-request").outcome == ""
    colleague(one, {"c.txt": "c\n"}, "theirs")
    there = one.place.root.parent / "colleague"
    sh(there, "git", "fetch", "-q")
    sh(there, "git", *way, "origin/feat/x")
    if "--squash" in way:
        sh(there, "git", "commit", "-qm", "feat: x (#1)")
    sh(there, "git", "push", "-q")
    assert landed(one, merge="pull-request").outcome == "merged"
    assert one.branch() == "refs/heads/main"
    assert (one.place.root / "a file.txt").read_text() == "mine\n" and (one.place.root / "c.txt").exists()


def test_a_branch_that_conflicts_is_not_in_main_though_git_leaves_the_side_of_main_in_the_tree(one: Git) -> None:
    sh(one.place.root, "git", "rm", "-q", "b.txt")
    sh(one.place.root, "git", "commit", "-q", "--amend", "-m", "feat: without b")
    sh(one.place.root, "git", "checkout", "-q", "main", "--", "a file.txt")
    sh(one.place.root, "git", "commit", "-q", "--amend", "-m", "feat: only without b")
    colleague(one, {"b.txt": "more\n"}, "theirs")
    assert landed(one, merge="branch", wrong="it was looked at").outcome == "red-merge"
    assert (landed(one, merge="branch").outcome, one.branch()) == ("", BRANCH)


def test_a_run_halts_with_both_sides_before_its_branch_is_made_and_continues_once_they_are_brought_together(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    sh(p.root.parent, "git", "clone", "-q", "--bare", str(p.root), str(p.root.parent / "remote.git"))
    p.git("remote", "add", "origin", str(p.root.parent / "remote.git"))
    git = git_at(p.root)
    colleague(git, {"d.txt": "d\n"}, "theirs")
    commit(p.root, {"c.txt": "c\n"}, "ours")
    p.task()
    p.write_plan()
    assert p.submit()["state"] == "CREATING_BRANCH"
    halted = p.run("get-task", "--json")
    assert (halted.code, halted.json["state"]) == (10, "HALTED") and '"theirs"' in halted.json["last_error"]
    assert "because of: conflict\n  Why: main here and main at origin have both moved" in p.run("status").out
    typed(git, halted.json["last_error"], {})
    assert p.run("resume").code == 0
    assert p.task()["state"] == "EXECUTING_TDD"
    assert {"ours", "theirs"} <= subjects(git, "HEAD")
