"""Snapshots: the files that belong to the change, as a tree that stays reachable. Judged tree = committed tree.

Left out, and named: files over the size limit, dependency folders, secrets, repositories inside, and what our own test runs created.
Ignored files never belong. Files the project tracks always do; that someone added a file to git since the last good tree does not make it one.
"""

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from detent.git.place import Place
from detent.git.repo import ZERO, Git, GitError

MAX_FILE = 5_000_000
FOLDERS = (
    "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    "site-packages", ".eggs", ".gradle", ".detent",
)  # fmt: skip
SECRETS = (".env", ".netrc", ".pypirc", "credentials.json")
SECRET_BEGINNINGS = (".env.", "id_rsa", "id_ed25519")
SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".keystore")
BORROWED = (".venv", "venv", "node_modules", "vendor")  # of a person's checkout: linked into checkouts of the machine, see workspace
QUIET = ("", "gone", "made by a test run", "a link to dependencies")  # reasons that are not worth a word
CODE = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|go|rb|rs|php|java|kts?|scala|cs|c|cc|cpp|h|hpp|swift|exs?|so|dll|jar|class)$")
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")
HARMLESS = (".env.example", ".env.sample", ".env.template")


class Snapshot(NamedTuple):
    """A tree of the workspace, and what was left out of it and why."""

    tree: str
    left_out: tuple[str, ...] = ()
    unknown: frozenset[str] = frozenset()  # the files that git did not know


def why_left_out(root: Path, path: str) -> str:
    """Why an untracked file does not belong to a change; empty if it does."""
    parts = path.split("/")
    if path.endswith("/"):
        return "a repository of its own"
    if path in BORROWED and os.path.islink(root / path) and os.path.isabs(os.readlink(root / path)):
        return "a link to dependencies"
    if any(p in FOLDERS for p in parts[:-1]):
        return "a folder of dependencies or caches"
    if _is_secret(parts[-1]):
        return "looks like a secret"
    try:
        size = os.lstat(root / path).st_size
    except OSError:
        return "gone"
    return f"{size / 1e6:.0f} MB, over the limit of {MAX_FILE / 1e6:.0f} MB" if size > MAX_FILE else ""


def _is_secret(name: str) -> bool:
    """By its name. Written out, since to compile a dozen patterns takes longer than all else that is asked of a file."""
    secret = name in SECRETS or name.startswith(SECRET_BEGINNINGS) or name.endswith(SECRET_ENDINGS)
    return secret and name not in HARMLESS


def take(git: Git, run: str, created: Collection[str] = (), over: str = "") -> Snapshot:
    """Snapshot the workspace and keep the tree reachable under the run's refs. `over` is the tree whose files belong in any case."""
    index = index_of(git, run)
    real = git.place.git_dir / "index"
    if real.exists():
        shutil.copy2(real, index)  # its time too: git reads again what was written in the same moment as the index
    else:
        index.unlink(missing_ok=True)
    index.with_name(index.name + ".lock").unlink(missing_ok=True)
    look_at_all(git, index)
    snap = _tree(git, index, frozenset(created), over)
    keep(git, run, snap.tree)
    return snap


def tree_of_files(git: Git, index: Path, created: Collection[str] = ()) -> str:
    """The tree of what lies in the checkout, by way of an index of our own. It is kept nowhere: git removes it some day."""
    look_at_all(git, index)
    return _tree(git, index, frozenset(created), "").tree


def look_at_all(git: Git, index: Path) -> bool:
    """Have git look at every file, also those that it was told not to look at (assume-unchanged, skip-worktree); whether there are any.

    A file that is not there and skipped belongs to a sparse checkout, and is left so.
    """
    marks = (entry.partition(" ") for entry in git.run("ls-files", "-v", "-z", index=index).items)
    shut = [path for mark, _, path in marks if mark.islower() or (mark == "S" and os.path.lexists(git.place.root / path))]
    for word in ("--no-assume-unchanged", "--no-skip-worktree") if shut else ():
        git.run("update-index", "-z", word, "--stdin", stdin=_listed(shut), index=index)
    return bool(shut)


def hidden_changes(git: Git) -> list[str]:
    """The tracked files that differ from HEAD, if git was told not to look at some; none else, since git itself then says what differs."""
    index, real = index_of(git, "all"), git.place.git_dir / "index"
    if not real.exists():
        return []
    shutil.copy2(real, index)
    try:
        if not look_at_all(git, index):
            return []
        git.call("update-index", "-q", "--refresh", index=index)
        return git.run("diff-index", "-z", "--name-only", "HEAD", index=index).items
    finally:
        index.unlink()


def index_of(git: Git, run: str) -> Path:
    """The index of a run's newest snapshot: a copy of the checkout's, so that nothing of the person's is touched and little is read twice."""
    folder = git.place.git_dir / "detent"
    folder.mkdir(exist_ok=True)
    return folder / f"index.{run}"


def _tree(git: Git, index: Path, created: frozenset[str], over: str) -> Snapshot:
    git.run("add", "-u", "--", ":/", index=index)
    if over:
        _forget_added(git, index, over)
    left, taken, unknown = [], [], untracked(git, index)
    for path in unknown:
        why = "made by a test run" if path in created else why_left_out(git.place.root, path)
        if why not in QUIET:
            left.append(f"{path} ({why})")
        if not why:
            taken.append(path)
    if taken:
        git.run("update-index", "-z", "--add", "--stdin", stdin=_listed(taken), index=index)
    return Snapshot(git.run("write-tree", index=index).text, _short(left), frozenset(unknown))


def _forget_added(git: Git, index: Path, over: str) -> None:
    """Take files out of the index that were added to git since a tree and would not belong if they had not been."""
    added = git.run("diff-index", "-z", "--cached", "--name-only", "--diff-filter=A", over, index=index).items
    if not added:
        return
    ignored = set(git.call("check-ignore", "-z", "--stdin", "--no-index", stdin=_listed(added)).items)
    root = git.place.root
    doomed = [p for p in added if p in ignored or why_left_out(root, f"{p}/" if (root / p).is_dir() else p)]
    git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_listed(doomed), index=index)


def _listed(paths: list[str]) -> bytes:
    return "".join(f"{p}\0" for p in paths).encode("utf-8", "surrogateescape")


def _short(left: list[str]) -> tuple[str, ...]:
    """At most a handful of names; the rest is counted."""
    return tuple(left) if len(left) <= 8 else (*left[:8], f"and {len(left) - 8} more")


def untracked(git: Git, index: Path | None = None) -> list[str]:
    """Files git does not know and does not ignore; a repository inside ends in a slash."""
    return git.run(*UNTRACKED, index=index).items


def keep(git: Git, run: str, tree: str) -> None:
    """Keep a tree reachable. Keeping it again changes nothing."""
    ref = f"refs/detent/{run}/trees/{tree}"
    if _text(git.place.common_dir / ref) != tree:  # a ref among the packed ones is not there; git then says so
        try:
            git.update([(ref, tree, ZERO)])
        except GitError:
            if git.resolve(ref) != tree:
                raise


def newest_kept(place: Place, run: str) -> str:
    """The tree that was kept last for a run; empty if there is none, or git has packed its ref."""
    refs = sorted((place.common_dir / "refs" / "detent" / run / "trees").glob("*"), key=lambda file: file.stat().st_mtime_ns)
    return refs[-1].name if refs else ""


def _text(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def looked_over(git: Git, run: str) -> tuple[list[str], list[str]]:
    """Files git does not know, and the paths of the run's newest snapshot that are not as they were in the workspace any more."""
    index, asked = index_of(git, run), ("diff-files", "-z", "--name-only")
    unknown, changed = git.both(UNTRACKED, asked, index)
    if changed:  # data may only be touched, as some tests do: what it holds is read. Code could have been another meanwhile
        git.call("update-index", "-q", "--refresh", index=index)
        other = git.run(*asked, index=index).items
        changed = [path for path in changed if path in other or CODE.search(path)]
    return unknown, changed


def stamp(file: Path) -> str:
    """What changes when a file does, without reading it."""
    try:
        st = os.stat(file)
    except OSError:
        return ""
    return f"{st.st_size}:{st.st_mtime_ns}:{st.st_ino}"
