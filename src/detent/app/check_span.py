"""Resolves what `check` is asked about: a range of commits, the index, the working tree or a push. Runs no test; leaves the checkout as it is."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

from detent.app.commit_settings import main_at
from detent.app.verify_span import commit_named, common_base, main_commit
from detent.errors import DetentError
from detent.evidence.outcomes.card import Change
from detent.evidence.running.canary import made_by_tests
from detent.git.commits import Commit, commits_between, main_branch, paths_between, short
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.git.snapshot import tree_of_files

What = Literal["range", "staged", "worktree"]
DECLARES = "Detent-Change"  # the trailer by which a commit declares its kind
DECLARED = ("refactor", "docs", "chore")
WHOLE = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b")  # a full hash, shown with 12 digits
UNCOMMITTED = "what is not committed: detent check --worktree"
UNSHALLOW = "fetch the whole history: git fetch --unshallow (in CI: fetch-depth: 0)"


def change_of(git: Git, what: What, text: str, main: str, declared: str = "") -> Change:
    """The change that a person asks about. `declared`: its kind as they give it, instead of what its commits declare."""
    if not git.head():
        raise DetentError("this repository has no commit yet, so there is nothing to compare with", "make a first one: git commit")
    return _whole(git, {"range": _range, "staged": _staged, "worktree": _worktree}[what](git, text, main), declared)


def each_of(git: Git, change: Change, declared: str = "") -> list[Change]:
    """A change as one change per commit, along the first parents."""
    firsts = git.run("rev-list", "--reverse", "--first-parent", f"{change.base}..{change.commits[-1].hash}", "--").text.split()
    by_hash = {commit.hash: commit for commit in change.commits}
    return [_whole(git, _one(git, by_hash[name]), declared) for name in firsts if by_hash[name].parents]


def _whole(git: Git, found: Change, declared: str) -> Change:
    """A change completed with its declared kind and its files."""
    paths = paths_between(git, found.before, found.after)
    name = WHOLE.sub(r"\1", found.name)
    return found._replace(name=name, declared=declared or _declared(git, found.commits), paths=paths)


def _one(git: Git, commit: Commit) -> Change:
    return Change(f"{commit.hash[:12]} {commit.subject}", commit.parents[0], git.tree(commit.parents[0]), commit.tree, (commit,))


def _range(git: Git, text: str, main: str) -> Change:
    if text and ".." not in text:
        tip = commit_named(git, text)
        old, name = _parent(git, tip, text), text
    elif text:
        left, _, right = text.partition("..")
        right = right.lstrip(".") or "HEAD"
        tip, old = (_or_fetch(git, partial(_end, git, end)) for end in (right, left or "HEAD"))
        name = f"{left or 'HEAD'}…{right}"
    else:
        tip = commit_named(git, "HEAD")
        old, beside = _beside(git, main, tip)
        name = f"{beside}…HEAD"
    base = _base(git, old, tip)
    if base == tip:
        raise _empty(git, text, old, tip, name.partition("…")[0])
    return Change(name, base, git.tree(base), git.tree(tip), tuple(commits_between(git, base, tip)))


def _beside(git: Git, main: str, tip: str) -> tuple[str, str]:
    """The commit to compare HEAD with, and its name: the main branch, or its upstream where HEAD is main itself."""
    old, name = main_commit(git, main), _main_name(git, main)
    there = git.call("rev-parse", "--verify", "--quiet", "--abbrev-ref", "@{upstream}") if old == tip else None
    if there is not None and there.code == 0 and (pushed := git.resolve(f"{there.text}^{{commit}}")) and pushed != tip:
        return pushed, there.text
    return old, name


def _main_name(git: Git, main: str) -> str:
    try:
        return short(main_branch(git, main))
    except DetentError:  # only the remote has it
        return f"origin/{main or 'main'}"


def _parent(git: Git, commit: str, text: str) -> str:
    return _or_fetch(git, lambda: commit_named(git, f"{commit}^1", f"{text} has no parent, so there is nothing to compare it with"))


def _end(git: Git, name: str) -> str:
    """The commit at one end of a range. One before the first commit is called that."""
    below = name.rstrip("~^0123456789")
    if below != name and not git.resolve(f"{name}^{{commit}}") and git.resolve(f"{below}^{{commit}}"):
        return commit_named(git, name, f"there is no commit '{name}': no commit of {below} is as old as that", UNCOMMITTED)
    return commit_named(git, name)


def _base(git: Git, old: str, tip: str) -> str:
    return _or_fetch(git, lambda: common_base(git, old, tip))


def _or_fetch(git: Git, find: Callable[[], str]) -> str:
    """The result of `find`; in a shallow clone, its error says how to fetch the missing history."""
    try:
        return find()
    except DetentError as e:
        shallow = git.call("rev-parse", "--is-shallow-repository").text == "true"
        raise DetentError(f"{e.message}, as far as this shallow clone goes", UNSHALLOW) if shallow else e from None


def _empty(git: Git, text: str, old: str, tip: str, beside: str) -> DetentError:
    """The error for an empty range: why it is empty, and what to type instead."""
    if not text:
        last = "the last commit: detent check HEAD~1..HEAD\n" if git.resolve("HEAD~1") else ""
        return DetentError(f"there is nothing to check: HEAD has no commit that {beside} does not have", f"{last}{UNCOMMITTED}")
    if old == tip:
        return DetentError(f"{text} is empty: both ends are {tip[:12]}", "name a range: detent check A..B")
    left, _, right = text.partition("..")
    left, right = left or "HEAD", right.lstrip(".") or "HEAD"
    return DetentError(f"{text} is empty: {right} is older than {left}", f"swap the two ends: detent check {right}..{left}")


def _staged(git: Git, text: str, main: str) -> Change:
    try:
        tree = git.run("write-tree").text
    except GitError as e:
        raise DetentError(f"what is staged cannot be read: {e}", "finish the merge, or unstage what conflicts") from e
    return _uncommitted(git, "what is staged", tree, "stage something first: git add PATH")


def _worktree(git: Git, text: str, main: str) -> Change:
    with tempfile.TemporaryDirectory(prefix="detent-check-") as folder:
        index = Path(folder) / "index"
        if (real := git.place.git_dir / "index").exists():
            shutil.copy2(real, index)
        tree = tree_of_files(git, index, made_by_tests(git.place))
    return _uncommitted(git, "the checkout", tree, "change something first, or name a range: detent check A..B")


def _uncommitted(git: Git, name: str, tree: str, hint: str) -> Change:
    head = git.head()
    if tree == git.tree(head):
        raise DetentError(f"there is nothing to check: {name} is as HEAD has it", hint)
    return Change(name, head, git.tree(head), tree, ())


def _declared(git: Git, commits: tuple[Commit, ...]) -> str:
    """The kinds that the commits declare, if every one declares one."""
    words = [_trailer(git, commit.hash) for commit in commits]
    return "+".join(sorted(set(words))) if words and all(word in DECLARED for word in words) else ""


def _trailer(git: Git, commit: str) -> str:
    wish = f"--format=%(trailers:key={DECLARES},valueonly,separator=%x2C)"
    return git.run("show", "-s", wish, commit).text.strip().lower()


def what_is_new(git: Git, new: str, old: str, main: str) -> str:
    """The range of a push: from the remote's old commit if this clone has it, else from main. Empty if nothing is new."""
    tip = commit_named(git, new)
    start = git.resolve(f"{old}^{{commit}}") if old.strip("0") else ""
    try:
        base = _base(git, start or main_commit(git, main), tip)
    except DetentError as e:
        if e.hint == UNSHALLOW:
            raise
        return ""  # a history that shares no commit with main cannot be compared
    return f"{base[:12]}..{tip[:12]}" if base != tip else ""


FROM, TO = "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"
BRANCHES = "refs/heads/"


def pushed(start: Path, env: Mapping[str, str], lines: Iterable[str]) -> list[str]:
    """The ranges of a push, from the lines that git gives a pre-push hook. Tags and deletions have none."""
    git = Git(find_place(start), env)
    moves = [(env[TO], env.get(FROM, ""))] if env.get(TO) else [_move(line) for line in lines if line.strip()]
    found = [what_is_new(git, new, old, main_at(git, env)) for new, old in moves if new.strip("0")]
    return list(dict.fromkeys(filter(None, found)))


def _move(line: str) -> tuple[str, str]:
    """The new and the old commit of one ref in a push; empty for a tag."""
    words = line.split()
    if len(words) != 4:
        raise DetentError(
            f"this is not a line of a push: {line.strip()[:80]!r}", "--pushed is for a pre-push hook: detent init --hook pre-push"
        )
    _, new, ref, old = words
    return (new, old) if ref.startswith(BRANCHES) else ("", "")
