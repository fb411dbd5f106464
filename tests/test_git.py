"""git for real: snapshots, commits of judged trees, landing, hardening, and where we are."""

import os
import subprocess
from pathlib import Path

import pytest

from detent.effects.catalogue import Ways
from detent.effects.make_branch import create_branch, delete_merged, squash
from detent.effects.merge import land, offered
from detent.errors import CannotTell, DetentError
from detent.git import fingerprint, left_locks
from detent.git.checkout import clean_checkout
from detent.git.commits import branch_name, bring_to, commit_tree, free_branch, main_branch, switch
from detent.git.land_merge import fetch_main
from detent.git.place import find_place
from detent.git.repo import ZERO, Git, GitError, find_git
from detent.git.snapshot import looked_over, take, why_left_out
from tests.repos import git_at, make_repo, sh, write

AT = "2026-01-02T03:04:05+00:00"
AUTO = Ways("", "", "auto", "")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", {"a.py": "a = 1\n", "tests/test_a.py": "def test_a(): pass\n", ".gitignore": "ignored/\n"})


def never(argv: list[str]) -> None:
    raise AssertionError("no pull request is opened here")


def test_a_place_is_found_from_any_folder_below_it(repo: Path) -> None:
    place = find_place(repo / "tests")
    assert (place.root, place.git_dir, place.common_dir) == (repo, repo / ".git", repo / ".git")


def test_a_linked_worktree_shares_the_journal(repo: Path, tmp_path: Path) -> None:
    sh(repo, "git", "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    place = find_place(tmp_path / "linked")
    assert place.root == tmp_path / "linked"
    assert place.journal == find_place(repo).journal


def test_a_folder_without_a_repository_is_told_plainly(tmp_path: Path) -> None:
    with pytest.raises(DetentError, match="is not in a git repository"):
        find_place(tmp_path)


def test_a_snapshot_holds_changes_new_files_and_deletions_and_touches_nothing(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"a.py": "a = 2\n", "new.py": "n\n", "ignored/x": "x"})
    (repo / "tests/test_a.py").unlink()
    before = sh(repo, "git", "status", "--porcelain")
    snap = take(git, "r1")
    names = sh(repo, "git", "ls-tree", "-r", "--name-only", snap.tree).split()
    assert names == [".gitignore", "a.py", "new.py"]
    assert git.read(snap.tree, "a.py") == b"a = 2\n"
    assert sh(repo, "git", "status", "--porcelain") == before
    assert sh(repo, "git", "rev-parse", f"refs/detent/r1/trees/{snap.tree}") == snap.tree


@pytest.mark.parametrize(
    ("path", "why"),
    [("node_modules/x/i.js", "dependencies"), (".env", "secret"), ("deploy.pem", "secret"), ("pkg/__pycache__/a.pyc", "caches")],
)
def test_a_snapshot_leaves_out_what_does_not_belong_and_names_it(repo: Path, path: str, why: str) -> None:
    write(repo, {path: "x", "ok.py": "x"})
    snap = take(git_at(repo), "r1")
    assert path not in sh(repo, "git", "ls-tree", "-r", "--name-only", snap.tree).split()
    assert len(snap.left_out) == 1
    assert path in snap.left_out[0] and why in snap.left_out[0]


@pytest.mark.parametrize(
    "name", [".env.local", "id_rsa", "id_ed25519.pub", "a.key", "b.p12", "c.pfx", ".netrc", ".pypirc", "credentials.json", "d.keystore"]
)
def test_what_is_named_like_a_secret_is_left_out(repo: Path, name: str) -> None:
    write(repo, {f"conf/{name}": "x"})
    assert why_left_out(repo, f"conf/{name}") == "looks like a secret"


@pytest.mark.parametrize("name", [".env.example", "env", "key.py", "my_id_rsa.py", "pem", "credentials.json.md"])
def test_what_is_not_named_like_a_secret_belongs(repo: Path, name: str) -> None:
    write(repo, {f"conf/{name}": "x"})
    assert why_left_out(repo, f"conf/{name}") == ""


def test_a_tree_that_is_kept_among_the_packed_refs_is_kept_again(repo: Path) -> None:
    git = git_at(repo)
    tree = take(git, "r1").tree
    sh(repo, "git", "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "detent" / "r1" / "trees" / tree).exists()
    assert take(git, "r1").tree == tree == sh(repo, "git", "rev-parse", f"refs/detent/r1/trees/{tree}")


def test_the_branch_is_the_one_git_names(repo: Path, tmp_path: Path) -> None:
    def by_git() -> str:
        return subprocess.run(["git", "symbolic-ref", "-q", "HEAD"], cwd=repo, capture_output=True, text=True).stdout.strip()

    git = git_at(repo)
    assert git.branch() == by_git() == "refs/heads/main"
    sh(repo, "git", "switch", "-q", "-c", "feat/ü")
    assert git.branch() == by_git() == "refs/heads/feat/ü"
    sh(repo, "git", "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    assert git_at(tmp_path / "linked").branch() == "refs/heads/other"
    sh(repo, "git", "switch", "-q", "--detach")
    assert git.branch() == by_git() == ""
    (repo / ".git" / "HEAD").unlink()
    (repo / ".git" / "HEAD").symlink_to("refs/heads/main")  # as git once wrote it
    assert git.branch() == by_git() == "refs/heads/main"


def test_a_snapshot_leaves_out_a_big_file_and_says_how_big(repo: Path) -> None:
    (repo / "big.bin").write_bytes(b"0" * 6_000_000)
    assert take(git_at(repo), "r1").left_out == ("big.bin (6 MB, over the limit of 5 MB)",)


def test_a_snapshot_leaves_out_a_repository_inside(repo: Path) -> None:
    make_repo(repo / "inner", {"x": "x"})
    snap = take(git_at(repo), "r1")
    assert snap.left_out == ("inner/ (a repository of its own)",)


def test_files_made_by_a_test_run_do_not_belong(repo: Path) -> None:
    write(repo, {"result.log": "x"})
    assert "result.log" not in sh(repo, "git", "ls-tree", "-r", "--name-only", take(git_at(repo), "r1", {"result.log"}).tree)


def test_odd_file_names_survive_a_snapshot(repo: Path) -> None:
    names = ["ein name mit leerzeichen.py", "ümlaut.py", "-dash.py", "quote\"'.py", "new\nline.py"]
    write(repo, dict.fromkeys(names, "x"))
    (repo / os.fsdecode(b"b\xff.py")).write_text("x")
    snap = take(git_at(repo), "r1")
    listed = git_at(repo).run("ls-tree", "-r", "-z", "--name-only", snap.tree).items
    assert {*names, os.fsdecode(b"b\xff.py")} <= set(listed)


def test_an_edit_in_the_very_moment_in_which_git_looked_is_seen(repo: Path) -> None:
    moment = 1_700_000_000
    sh(repo, "git", "config", "core.trustctime", "false")  # as if the clock had stood still: only the time of a change can be set by hand
    for path in ("a.py", ".git/index"):
        sh(repo, "git", "update-index", "-q", "--refresh")
        os.utime(repo / path, (moment, moment))
    text = (repo / "a.py").read_text()
    (repo / "a.py").write_text(text[::-1])
    os.utime(repo / "a.py", (moment, moment))
    snap = take(git_at(repo), "run")
    assert sh(repo, "git", "show", f"{snap.tree}:a.py") == text[::-1].strip() != text.strip()


def test_a_file_that_changes_after_the_snapshot_is_seen(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"new.py": "n = 1\n"})
    take(git, "r1")
    assert looked_over(git, "r1") == (["new.py"], [])
    os.utime(repo / ".gitignore", (1, 1))
    assert looked_over(git, "r1") == (["new.py"], []), "data that is only touched holds what it held"
    os.utime(repo / "a.py", (1, 1))
    assert looked_over(git, "r1") == (["new.py"], ["a.py"]), "code may have been another while tests ran"
    write(repo, {"new.py": "n = 2\n"})
    assert looked_over(git, "r1") == (["new.py"], ["new.py"])


def test_the_committed_tree_is_the_judged_one_even_if_the_folder_moved_on(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"a.py": "a = 2\n"})
    tree = take(git, "r1").tree
    write(repo, {"a.py": "a = 3\n"})
    commit = commit_tree(git, "r1", 4, "checkpoint", tree, "step", AT)
    assert sh(repo, "git", "rev-parse", "HEAD", f"{commit}^{{tree}}").split() == [commit, tree]
    assert sh(repo, "git", "status", "--porcelain") == "M a.py"


def test_a_commit_made_again_after_a_crash_is_the_same_commit(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"a.py": "a = 2\n"})
    tree = take(git, "r1").tree
    first = commit_tree(git, "r1", 4, "checkpoint", tree, "step", AT)
    assert commit_tree(git, "r1", 4, "checkpoint", tree, "step", AT) == first
    assert git.count("HEAD~1", "HEAD") == 1


def test_only_committed_paths_of_the_index_are_refreshed(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"a.py": "a = 2\n"})
    tree = take(git, "r1").tree
    write(repo, {"later.py": "x"})
    sh(repo, "git", "add", "later.py")
    commit_tree(git, "r1", 4, "checkpoint", tree, "step", AT)
    assert sh(repo, "git", "status", "--porcelain") == "A  later.py"


def test_hooks_and_fsmonitor_are_never_run(repo: Path, tmp_path: Path) -> None:
    plant = tmp_path / "ran"
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        file = repo / ".git" / "hooks" / hook
        file.write_text(f"#!/bin/sh\ntouch {plant}\n")
        file.chmod(0o755)
    sh(repo, "git", "config", "core.fsmonitor", f"touch {plant}; false")
    plant.unlink(missing_ok=True)
    git = git_at(repo)
    write(repo, {"a.py": "a = 2\n"})
    commit_tree(git, "r1", 4, "checkpoint", take(git, "r1").tree, "step", AT)
    assert not plant.exists()


@pytest.mark.parametrize(
    "plant",
    [
        "[core]\n\tfsmonitor = evil\n",
        '[FILTER "x"]\n\tclean = evil\n',
        "[include]\n\tpath = evil\n",
        "[alias]\n\tst = !evil\n",
        "[core]\n\tHooksPath = x\n",
    ],
)
def test_a_planted_configuration_stops_the_machine_before_git_is_called(repo: Path, plant: str) -> None:
    place = find_place(repo)
    fingerprint.check(place)
    fingerprint.check(place)
    with (repo / ".git" / "config").open("a") as file:
        file.write(plant)
    with pytest.raises(DetentError, match="could run programs"):
        fingerprint.check(place)
    fingerprint.remember(place)
    fingerprint.check(place)


def test_a_planted_hook_stops_the_machine_and_an_ordinary_setting_does_not(repo: Path) -> None:
    place = find_place(repo)
    fingerprint.check(place)
    sh(repo, "git", "config", "user.nickname", "x")
    sh(repo, "git", "branch", "another")
    fingerprint.check(place)
    (repo / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    with pytest.raises(DetentError):
        fingerprint.check(place)


def test_the_environment_of_the_caller_does_not_reach_git(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = make_repo(tmp_path / "other", {"z": "z"})
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_CONFIG_COUNT": "x",
        "GIT_EXTERNAL_DIFF": "evil",
    }.items():
        monkeypatch.setenv(name, value)
    assert git_at(repo).read("HEAD", "a.py") == b"a = 1\n"


def test_a_git_program_in_the_workspace_is_not_used(repo: Path) -> None:
    (repo / "git").write_text("#!/bin/sh\nexit 1\n")
    (repo / "git").chmod(0o755)
    assert find_git(repo, f"{repo}:{os.environ['PATH']}") != str(repo / "git")
    with pytest.raises(GitError, match="not found"):
        find_git(repo, f"{repo}:relative")


@pytest.mark.slow
def test_a_lock_that_a_killed_git_left_is_taken_away_and_one_that_is_held_is_not(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_locks, "PATIENCE", 0.5)
    monkeypatch.setattr(left_locks, "OLD", 0.1)
    git, branch, lock = git_at(repo), "refs/heads/one", repo / ".git/refs/heads/one.lock"
    moves = f"start\ncreate {branch} {git.head()}\nprepare\n"
    with subprocess.Popen(["git", "update-ref", "--stdin"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdin.write(moves.encode())
        other.stdin.flush()
        assert [other.stdout.readline() for _ in range(2)] == [b"start: ok\n", b"prepare: ok\n"]
        with pytest.raises(GitError, match=r"one\.lock"):
            git.update([(branch, git.head(), ZERO)])
        other.kill()
    assert lock.exists() and not git.resolve(branch)
    git.update([(branch, git.head(), ZERO)])
    assert git.resolve(branch) == git.head() and not lock.exists()
    lock.touch()
    monkeypatch.setattr(left_locks, "OLD", 3.0)
    with pytest.raises(GitError, match=r"one\.lock"):  # whoever has just taken it is given time
        git.update([(branch, ZERO, git.head())])
    elsewhere = repo.parent / "left.lock"
    elsewhere.touch()
    os.utime(elsewhere, (1_700_000_000, 1_700_000_000))
    assert not left_locks.freed(git.place, f"Unable to create '{elsewhere}': File exists") and elsewhere.exists()


def test_refs_move_all_together_or_not_at_all(repo: Path) -> None:
    git = git_at(repo)
    head = git.head()
    with pytest.raises(GitError):
        git.update([("refs/heads/x", head, "0" * 40), ("refs/heads/main", head, "1" * 40)])
    assert git.resolve("refs/heads/x") == ""


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("feat: Implement New Feature", "feat/implement-new-feature"),
        ("fix(core)!: a bug", "fix/a-bug"),
        ("No type at all", "feat/no-type-at-all"),
        ("evil: --upload-pack=x", "feat/evil-upload-pack-x"),
        ("feat: ../../etc", "feat/etc"),
        ("feat: ümläut 漢字", "feat/uemlaeut"),
        ("!!!", "feat/change"),
    ],
)
def test_a_branch_name_is_made_safe_from_a_title(title: str, name: str) -> None:
    assert branch_name(title) == name


def test_a_taken_branch_name_gets_a_number(repo: Path) -> None:
    sh(repo, "git", "branch", "feat/x")
    sh(repo, "git", "branch", "feat/x-2")
    assert free_branch(git_at(repo), "feat/x") == "refs/heads/feat/x-3"


def test_the_main_branch_is_detected_and_never_assumed(tmp_path: Path) -> None:
    old = make_repo(tmp_path / "old", {"a": "a"}, branch="master")
    assert main_branch(git_at(old), "") == "refs/heads/master"
    odd = make_repo(tmp_path / "odd", {"a": "a"}, branch="trunk")
    with pytest.raises(DetentError, match="cannot tell which branch is main"):
        main_branch(git_at(odd), "")
    assert main_branch(git_at(odd), "trunk") == "refs/heads/trunk"
    clone = tmp_path / "clone"
    sh(tmp_path, "git", "clone", "-q", str(odd), str(clone))
    assert main_branch(git_at(clone), "") == "refs/heads/trunk"
    sh(clone, "git", "checkout", "-q", "-b", "feat/one")
    sh(clone, "git", "branch", "-q", "-D", "trunk")
    with pytest.raises(DetentError) as told:
        main_branch(git_at(clone), "")
    assert told.value.hint == "make it here: git branch trunk origin/trunk"


def test_a_branch_is_made_once_however_often_it_is_asked_for(repo: Path) -> None:
    git = git_at(repo)
    first = create_branch(git, "r1", 2, "feat: one", "", "")
    assert create_branch(git, "r1", 2, "feat: one", "", "") == first
    assert sh(repo, "git", "branch", "--format=%(refname)") == "refs/heads/feat/one\nrefs/heads/main"
    assert git.branch() == "refs/heads/feat/one"


def test_switching_refuses_to_lose_work(repo: Path) -> None:
    git = git_at(repo)
    sh(repo, "git", "checkout", "-q", "-b", "other")
    write(repo, {"a.py": "a = 5\n"})
    sh(repo, "git", "commit", "-qam", "other")
    write(repo, {"a.py": "mine\n"})
    with pytest.raises(GitError, match="cannot be switched"):
        switch(git, "refs/heads/main", git.tree("HEAD"))
    assert (repo / "a.py").read_text() == "mine\n"


def test_bringing_the_workspace_back_removes_the_attempt_and_keeps_it_reachable(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"a.py": "broken\n", "deep/new.py": "x", "ignored/keep": "k"})
    snap = take(git, "r1")
    bring_to(git, git.tree("HEAD"), snap.tree)
    assert (repo / "a.py").read_text() == "a = 1\n"
    assert not (repo / "deep").exists()
    assert (repo / "ignored/keep").exists()
    assert git.read(snap.tree, "deep/new.py") == b"x"
    assert sh(repo, "git", "status", "--porcelain") == ""


def on_branch(repo: Path, change: dict[str, str]) -> Git:
    git = git_at(repo)
    create_branch(git, "r1", 2, "feat: one", "", "")
    write(repo, change)
    commit_tree(git, "r1", 3, "checkpoint", take(git, "r1").tree, "step one", AT)
    return git


def test_a_squash_keeps_the_tree_and_the_old_commits(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    write(repo, {"c.py": "c\n"})
    old = commit_tree(git, "r1", 4, "checkpoint", take(git, "r1").tree, "step two", AT)
    tree, base = git.tree("HEAD"), git.resolve("refs/heads/main")
    commit = squash(git, "r1", 5, base, tree, "feat: one", AT)
    assert squash(git, "r1", 5, base, tree, "feat: one", AT) == commit
    assert (git.count(base, "HEAD"), git.tree("HEAD"), git.message("HEAD")) == (1, tree, "feat: one")
    assert git.resolve("refs/detent/r1/squashed/5") == old


def test_a_merge_lands_on_the_then_current_main_by_a_merge_commit(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    sh(repo, "git", "update-ref", "refs/heads/main", sh(repo, "git", "commit-tree", "main^{tree}", "-p", "main", "-m", "someone else"))
    seen: list[str] = []
    landed = land(git, "refs/heads/feat/one", AT, AUTO, lambda tree: seen.append(tree), never)
    assert landed.outcome == "merged"
    assert sh(repo, "git", "log", "--first-parent", "--format=%s", "main").splitlines() == [
        "Merge branch 'feat/one'",
        "someone else",
        "start",
    ]
    assert seen == [git.tree("refs/heads/main")]
    assert git.branch() == "refs/heads/main"
    assert sh(repo, "git", "status", "--porcelain") == ""
    assert land(git, "refs/heads/feat/one", AT, AUTO, lambda tree: None, never).outcome == "merged"
    delete_merged(git, "refs/heads/feat/one", landed.main)
    assert git.resolve("refs/heads/feat/one") == ""


def test_a_red_merge_moves_nothing(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    main = git.resolve("refs/heads/main")
    assert land(git, "refs/heads/feat/one", AT, AUTO, lambda tree: "2 tests fail", never).outcome == "red-merge"
    assert git.resolve("refs/heads/main") == main


def test_a_conflicting_merge_moves_nothing_and_says_how_to_go_on(repo: Path) -> None:
    git = on_branch(repo, {"a.py": "a = 2\n"})
    sh(repo, "git", "worktree", "add", "-q", str(repo.parent / "w"), "main")
    write(repo.parent / "w", {"a.py": "a = 3\n"})
    sh(repo.parent / "w", "git", "commit", "-qam", "theirs")
    landed = land(git, "refs/heads/feat/one", AT, AUTO, lambda tree: None, never)
    assert landed.outcome == "conflict"
    assert "a.py" in landed.output and "detent resume" in landed.output


def test_main_that_moves_while_the_merge_is_tested_is_merged_again(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    trees: list[str] = []

    def verify(tree: str) -> str | None:
        trees.append(tree)
        if len(trees) == 1:
            sh(repo, "git", "update-ref", "refs/heads/main", sh(repo, "git", "commit-tree", "main^{tree}", "-p", "main", "-m", "meanwhile"))
        return None

    assert land(git, "refs/heads/feat/one", AT, AUTO, verify, never).outcome == "merged"
    assert len(trees) == 2
    assert "meanwhile" in sh(repo, "git", "log", "--format=%s", "main")


def test_a_main_checked_out_elsewhere_with_changes_is_not_moved(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    elsewhere = repo.parent / "w"
    sh(repo, "git", "worktree", "add", "-q", str(elsewhere), "main")
    write(elsewhere, {"a.py": "mine\n"})
    with pytest.raises(CannotTell, match="not committed"):
        land(git, "refs/heads/feat/one", AT, AUTO, lambda tree: None, never)


def test_a_remote_that_is_gone_is_an_error_that_names_the_way_out(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    sh(repo, "git", "remote", "add", "origin", str(repo.parent / "gone"))
    with pytest.raises(CannotTell, match=r"cannot be reached.*remote = "):
        land(git, "refs/heads/feat/one", AT, AUTO._replace(remote="origin"), lambda tree: None, never)


def test_with_merge_by_a_person_the_run_waits_until_the_branch_is_in_main(repo: Path) -> None:
    git = on_branch(repo, {"b.py": "b\n"})
    ways = AUTO._replace(merge="branch")
    said = land(git, "refs/heads/feat/one", AT, ways, lambda tree: "it fails", never)
    assert said.outcome == "red-merge" and said.output.startswith("it fails\n"), "what is offered was tested"
    tested: list[str] = []
    for _ in range(2):
        assert land(git, "refs/heads/feat/one", AT, ways, lambda tree: tested.append(tree), never).outcome == ""
    assert tested == [git.tree("refs/heads/feat/one")], "and that once"
    sh(repo, "git", "update-ref", "refs/heads/main", "refs/heads/feat/one")
    assert land(git, "refs/heads/feat/one", AT, ways, lambda tree: None, never).outcome == "merged"


def test_a_tree_that_would_be_dangerous_to_check_out_is_not_fetched(repo: Path) -> None:
    bare, git = repo.parent / "bare.git", git_at(repo)
    sh(repo.parent, "git", "clone", "-q", "--bare", str(repo), str(bare))
    sh(repo, "git", "remote", "add", "origin", str(bare))
    entry = b"100644 .GIT\0" + bytes.fromhex(sh(bare, "git", "rev-parse", "main:a.py"))
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"], cwd=bare, input=entry, capture_output=True, check=True
    ).stdout.decode()
    commit = sh(bare, "git", "-c", "user.name=a", "-c", "user.email=a@a", "commit-tree", made.strip(), "-p", "main", "-m", "x")
    sh(bare, "git", "update-ref", "refs/heads/main", commit)
    with pytest.raises(CannotTell, match="cannot be reached"):
        fetch_main(git, "refs/heads/main", "origin")
    assert git.call("cat-file", "-e", commit).code != 0


def test_a_pull_request_is_pushed_and_opened_once(repo: Path) -> None:
    bare = repo.parent / "bare.git"
    sh(repo.parent, "git", "clone", "-q", "--bare", str(repo), str(bare))
    sh(repo, "git", "remote", "add", "origin", str(bare))
    git = on_branch(repo, {"b.py": "b\n"})
    opened: list[list[str]] = []
    ways = Ways("", "origin", "pull-request", "gh pr create --fill")
    for _ in range(2):
        assert land(git, "refs/heads/feat/one", AT, ways, lambda tree: None, opened.append).outcome == ""
    assert opened == [["gh", "pr", "create", "--fill"]]
    assert sh(bare, "git", "rev-parse", "feat/one") == git.resolve("refs/heads/feat/one")
    offered(git, "refs/heads/feat/one").unlink()
    land(git, "refs/heads/feat/one", AT, ways._replace(pr_command=""), lambda tree: None, opened.append)
    assert opened[1:] == [[]]  # whoever opens it knows another way


def test_a_clean_checkout_has_the_tree_and_nothing_else(repo: Path) -> None:
    git = git_at(repo)
    write(repo, {"new.py": "n\n", "ignored/x": "x"})
    with clean_checkout(git, take(git, "r1").tree) as folder:
        assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
            ".gitignore",
            "a.py",
            "new.py",
            "tests/test_a.py",
        ]
    assert not folder.exists()
