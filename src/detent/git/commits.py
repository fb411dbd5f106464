"""Commits and the workspace: commit a judged tree, bring the workspace to a tree, switch branches; and what a range of commits has.

Each can be done again after a crash. What was done is remembered by a marker ref, moved in one transaction with the branch, so that doing
it again finds it done.
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
    """The ref that says: this effect of this event was done."""
    return f"refs/detent/{run}/done/{seq}-{what}"


def commits_by_event(git: Git, run: str, of: str = "phase|checkpoint|plan") -> dict[int, str]:
    """The commits that the machine made for a run on its branch, by the event that owed them; `of`: what effects call them."""
    refs = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
    pairs = (re.fullmatch(rf"([0-9a-f]+) .*/([0-9]+)-(?:{of})", line) for line in refs)
    return {int(m[2]): m[1] for m in pairs if m}


def commit_tree(git: Git, run: str, seq: int, what: str, tree: str, message: str, at: str) -> str:
    """Put a tree as a commit on top of the branch that is checked out; an empty change makes no commit. The index follows."""
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
    """The commit that the machine made last for a run, whatever was committed meanwhile; at the start, the one the run began from."""
    return git.resolve(f"refs/detent/{run}/tip") or base


def commit_phase(git: Git, run: str, seq: int, tree: str, message: str, at: str, base: str, session: str = "") -> str:
    """Exactly one commit for a phase, over the machine's own last one: commits that an agent made become part of it, none becomes an empty one.

    The runs of one session stand on one tip, which bears the session's name.
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
    """Bring the branch back to the machine's own last commit; what an agent committed over it stays reachable."""
    back_to(git, run, seq, tip_of(git, run, base))


def back_to_tree(git: Git, run: str, seq: int, base: str, tree: str) -> None:
    """Bring the branch back to the newest commit that holds a tree, of its own or of those the machine made; to its base if there is none."""
    mine = git.run("log", "--first-parent", "--format=%H", f"{base}..HEAD", "--").text.split()
    made = git.run("for-each-ref", "--sort=-committerdate", "--format=%(objectname)", f"refs/detent/{run}/done/").text.split()
    trees = git.trees([f"{commit}^{{tree}}" for commit in (*mine, *made)])
    back_to(git, run, seq, next((commit for commit in (*mine, *made) if trees.get(f"{commit}^{{tree}}") == tree), base))


def back_to(git: Git, run: str, seq: int, commit: str) -> None:
    """Bring the branch back to a commit; what an agent committed over it stays reachable."""
    head, branch = git.head(), git.branch() or "HEAD"
    if head != commit:
        git.update([(branch, commit, head), *_kept(git, run, seq, commit, head)])
        set_index(git, commit)


def _kept(git: Git, run: str, seq: int, tip: str, head: str) -> list[tuple[str, str, str]]:
    """The ref that keeps an agent's own commits, if there are any."""
    ref = f"refs/detent/{run}/agent/{seq}"
    return [(ref, head, ZERO)] if head != tip and not git.resolve(ref) else []


def set_index(git: Git, tree: str) -> None:
    """Make the checkout's index a tree, whatever was staged; the files stay as they are."""
    git.run("read-tree", "--reset", tree)
    git.call("update-index", "-q", "--refresh")


def refresh_index(git: Git, commit: str) -> None:
    """Make the paths that a commit changed look committed in the checkout's index; leave all others as they are."""
    paths = [path for _, path in git.changes(f"{commit}^", commit)] if git.resolve(f"{commit}^") else []
    if paths:
        _set_paths(git, commit, paths)
        git.call("update-index", "-q", "--refresh")


def _set_paths(git: Git, tree: str, paths: list[str], index: Path | None = None) -> None:
    """Make some paths of an index what a tree has."""
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
    """Bring the workspace to a tree. `leave` is a snapshot: of the untracked files, only those in it are removed."""
    doomed = [path for letter, path in git.changes(tree, leave) if letter == "A"] if leave else []
    if leave:
        git.run("read-tree", "--reset", leave)  # so that a file that was staged and is in no snapshot stays where it is
    git.run("read-tree", "-u", "--reset", tree)
    for path in doomed:
        _remove(git.place.root, path)


def bring_back(git: Git, tree: str, snapshot: str, paths: list[str]) -> None:
    """Bring some paths of the workspace back to what a tree has; all others stay as a snapshot of it has them."""
    index = git.place.git_dir / "detent" / "index.back"
    git.run("read-tree", snapshot, index=index)
    _set_paths(git, tree, paths, index)
    bring_to(git, git.run("write-tree", index=index).text, snapshot)
    index.unlink()
    set_index(git, "HEAD")


def _remove(root: Path, path: str) -> None:
    """Remove a file below the root, and the folders it leaves empty; never through a link."""
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
    """Check out a branch, if nothing in the workspace would be lost by it."""
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
    """A branch name from a title: a type prefix from a fixed list, then [a-z0-9-] only."""
    kind, _, rest = title.partition(":")
    kind = re.sub(r"\(.*\)|!", "", kind).strip().lower()
    prefix, words = (kind, rest) if kind in PREFIXES and rest.strip() else ("feat", title)
    return f"{prefix}/{slug(words, 60) or 'change'}"


def free_branch(git: Git, wanted: str) -> str:
    """The wanted branch, or with -2, -3, … if it is taken."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-{n}"
        if git.call("check-ref-format", "--branch", name).code != 0:
            raise DetentError(f"'{name}' cannot be a branch", "choose another title")
        if not git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    raise DetentError(f"every branch from {wanted} to {wanted}-999 exists", "delete old branches")


def main_branch(git: Git, configured: str) -> str:
    """The main branch: configured, or origin/HEAD, init.defaultBranch, main, master. Never assumed."""
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
    away = next((name for name in looked if git.resolve(f"refs/remotes/origin/{name}")), "")  # as in a clone of one branch
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
    """A text as part of a name; empty if nothing of it can be written so."""
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
