"""Commits and the workspace: committing a judged tree, bringing the workspace to a tree, switching branches, listing a range of commits.

Each can be repeated after a crash: a marker ref, moved in one transaction with the branch, remembers what was done.
"""

import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError
from detent.git.repo import ZERO, Git, GitError

PREFIXES = ("feat", "fix", "refactor", "docs", "test", "chore")


def marker(run: str, seq: int, what: str) -> str:
    """The marker ref of an effect that an event owed; it exists once the effect was performed."""
    return f"refs/detent/{run}/done/{seq}-{what}"


def commits_by_event(git: Git, run: str, of: str = "phase|checkpoint|plan") -> dict[int, str]:
    """The commits that the machine made for a run, by the number of the event that owed them. `of`: which effects' commits."""
    refs = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
    pairs = (re.fullmatch(rf"([0-9a-f]+) .*/([0-9]+)-(?:{of})", line) for line in refs)
    return {int(m[2]): m[1] for m in pairs if m}


def commit_tree(git: Git, run: str, seq: int, what: str, tree: str, message: str, at: str) -> str:
    """Commit a tree on top of the current branch. An unchanged tree makes no commit. Updates the index for the changed paths."""
    mark = marker(run, seq, what)
    done = git.resolve(mark)
    if not done:
        head, branch = git.head(), git.branch() or "HEAD"
        if git.tree(head) == tree:
            git.update([(mark, head, ZERO)])
            return head
        done = git.commit(tree, [head], message, at)
        git.update([(branch, done, git.head()), (mark, done, ZERO)])
    refresh_index(git, done)
    return done


def tip_of(git: Git, run: str, base: str) -> str:
    """The machine's newest commit for a run, whatever was committed since; at first, the commit that the run began from."""
    return git.resolve(f"refs/detent/{run}/tip") or base


def commit_phase(git: Git, run: str, seq: int, tree: str, message: str, at: str, base: str, session: str = "") -> str:
    """Exactly one commit for a phase, on top of the machine's last one. It absorbs commits that the agent made, and may be empty.

    The runs of one session share one tip ref, named after the session.
    """
    mark = marker(run, seq, "phase")
    done = git.resolve(mark)
    if not done:
        tip, head, branch = tip_of(git, session or run, base), git.head(), git.branch() or "HEAD"
        done = git.commit(tree, [tip], message, at)
        own = f"refs/detent/{session or run}/tip"
        git.update([(branch, done, head), (mark, done, ZERO), (own, done, git.resolve(own) or ZERO), *_kept(git, run, seq, tip, head)])
    set_index(git, done)
    return done


def back_to_tip(git: Git, run: str, seq: int, base: str) -> None:
    """Reset the branch to the machine's last commit; the agent's later commits stay reachable."""
    back_to(git, run, seq, tip_of(git, run, base))


def back_to_tree(git: Git, run: str, seq: int, base: str, tree: str) -> None:
    """Reset the branch to the newest commit with this tree, among its own and the machine's; to its base if there is none."""
    mine = git.run("log", "--first-parent", "--format=%H", f"{base}..HEAD", "--").text.split()
    made = git.run("for-each-ref", "--sort=-committerdate", "--format=%(objectname)", f"refs/detent/{run}/done/").text.split()
    trees = git.trees([f"{commit}^{{tree}}" for commit in (*mine, *made)])
    back_to(git, run, seq, next((commit for commit in (*mine, *made) if trees.get(f"{commit}^{{tree}}") == tree), base))


def back_to(git: Git, run: str, seq: int, commit: str) -> None:
    """Reset the branch to a commit; the agent's later commits stay reachable."""
    head, branch = git.head(), git.branch() or "HEAD"
    if head != commit:
        git.update([(branch, commit, head), *_kept(git, run, seq, commit, head)])
        set_index(git, commit)


def _kept(git: Git, run: str, seq: int, tip: str, head: str) -> list[tuple[str, str, str]]:
    """The update that keeps an agent's own commits reachable, if there are any."""
    ref = f"refs/detent/{run}/agent/{seq}"
    return [(ref, head, ZERO)] if head != tip and not git.resolve(ref) else []


def set_index(git: Git, tree: str) -> None:
    """Replace the checkout's index by a tree, whatever was staged; the files stay as they are."""
    git.run("read-tree", "--reset", tree)
    git.call("update-index", "-q", "--refresh")


def refresh_index(git: Git, commit: str) -> None:
    """Update the index for the paths that a commit changed, so that they look committed; leave other paths as they are."""
    paths = [path for _, path in git.changes(f"{commit}^", commit)] if git.resolve(f"{commit}^") else []
    if paths:
        _set_paths(git, commit, paths)
        git.call("update-index", "-q", "--refresh")


def _set_paths(git: Git, tree: str, paths: list[str], index: Path | None = None) -> None:
    """Set some paths of an index to their version in a tree."""
    listed = (
        git.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *paths).items
        if len(paths) < 500
        else git.run("ls-tree", "-r", "-z", tree).items
    )
    wanted = set(paths)
    there = {line.partition("\t")[2]: line for line in listed if line.partition("\t")[2] in wanted}
    lines = [there.get(p, f"0 {ZERO}\t{p}") for p in paths]
    git.run(
        "update-index", "-z", "--index-info", stdin="".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape"), index=index
    )


def bring_to(git: Git, tree: str, leave: str = "") -> None:
    """Bring the workspace to a tree. With a snapshot in `leave`, only untracked files that are in the snapshot are removed."""
    doomed = [path for letter, path in git.changes(tree, leave) if letter == "A"] if leave else []
    if leave:
        git.run("read-tree", "--reset", leave)  # keeps files that were staged but are in no snapshot
    git.run("read-tree", "-u", "--reset", tree)
    for path in doomed:
        _remove(git.place.root, path)


def bring_back(git: Git, tree: str, snapshot: str, paths: list[str]) -> None:
    """Restore some paths of the workspace from a tree; all others stay as in the snapshot."""
    index = git.place.git_dir / "detent" / "index.back"
    git.run("read-tree", snapshot, index=index)
    _set_paths(git, tree, paths, index)
    bring_to(git, git.run("write-tree", index=index).text, snapshot)
    index.unlink()
    set_index(git, "HEAD")


def _remove(root: Path, path: str) -> None:
    """Remove a file below the root, and folders that become empty; never follows symlinks."""
    file = root / path
    try:
        if not stat.S_ISDIR(os.lstat(file).st_mode) and file.parent.resolve() == Path(os.path.normpath(file.parent)):
            file.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return
    folder = file.parent
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def switch(git: Git, branch: str, old_tree: str, detach: bool = False) -> None:
    """Check out a branch, unless that would lose anything in the workspace."""
    target = git.resolve(f"{branch}^{{commit}}")
    out = git.call("read-tree", "-u", "-m", old_tree, target)
    if out.code != 0:
        raise GitError(f"the checkout cannot be switched to {short(branch)}: {out.err}", "commit or stash the files named, then try again")
    if detach:
        git.run("update-ref", "--no-deref", "HEAD", target)
    else:
        git.run("symbolic-ref", "HEAD", branch)
    git.call("update-index", "-q", "--refresh")


def short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def branch_name(title: str) -> str:
    """A branch name from a title: a known type prefix, then only [a-z0-9-]."""
    kind, _, rest = title.partition(":")
    kind = re.sub(r"\(.*\)|!", "", kind).strip().lower()
    prefix, words = (kind, rest) if kind in PREFIXES and rest.strip() else ("feat", title)
    return f"{prefix}/{slug(words, 60) or 'change'}"


def free_branch(git: Git, wanted: str) -> str:
    """A free branch name: the wanted one, or with -2, -3, … appended."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-{n}"
        if git.call("check-ref-format", "--branch", name).code != 0:
            raise DetentError(f"'{name}' cannot be a branch", "choose another title")
        if not git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    raise DetentError(f"every branch from {wanted} to {wanted}-999 exists", "delete old branches")


def main_branch(git: Git, configured: str) -> str:
    """The main branch: the configured one, else origin/HEAD, init.defaultBranch, main or master. DetentError if none exists."""
    remote = git.call("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    names = [
        configured,
        remote.text.removeprefix("origin/") if remote.code == 0 else "",
        "" if git.call("config", "--local", "--get", "init.defaultBranch").code == 0 else git.config("init.defaultBranch"),
        "main",
        "master",
    ]
    looked = [name for name in ([configured] if configured else names) if name]
    for name in looked:
        if git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    away = next((name for name in looked if git.resolve(f"refs/remotes/origin/{name}")), "")  # as in a single-branch clone
    hint = f"make it here: git branch {away} origin/{away}" if away else "set [git] main in detent.toml"
    raise DetentError(f"there is no branch '{configured}'" if configured else "Detent cannot tell which branch is main", hint)


SPELLED = {
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "ß": "ss",
    "æ": "ae",
    "ø": "o",
    "å": "a",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
}


def slug(text: str, most: int) -> str:
    """A text as part of a name, ASCII only; empty if no character is left."""
    lower = unicodedata.normalize("NFC", text.lower())
    written = unicodedata.normalize("NFKD", "".join(SPELLED.get(letter, letter) for letter in lower))
    plain = "".join(letter for letter in written if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:most].strip("-")


class Commit(NamedTuple):
    """A commit of a range."""

    hash: str
    tree: str
    parents: tuple[str, ...]
    subject: str


def commits_between(git: Git, base: str, tip: str) -> list[Commit]:
    out = git.run("log", "--reverse", "--topo-order", "--format=%H%x00%T%x00%P%x00%s", f"{base}..{tip}", "--").text
    rows = (line.split("\0") for line in out.split("\n") if line)
    return [Commit(row[0], row[1], tuple(row[2].split()), row[3]) for row in rows]


def paths_between(git: Git, before: str, after: str) -> tuple[str, ...]:
    """The files that differ between two trees."""
    return tuple(git.run("diff-tree", "-r", "-z", "--name-only", before, after).items)
