"""Snapshots: the files that belong to a change, as a tree that stays reachable. The tree that is judged is the tree that is committed.

Left out, by name: files over the size limit, dependency folders, secrets, nested repositories, and what our own test runs created. Ignored
files never belong; files that the project tracks always do, but adding a file to git since the last good tree does not make it tracked.
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
BORROWED = (".venv", "venv", "node_modules", "vendor")  # of a person's checkout; linked into workspaces (see workspace.py)
QUIET = ("", "gone", "made by a test run", "a link to dependencies")  # reasons that are not reported
CODE = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|go|rb|rs|php|java|kts?|scala|cs|c|cc|cpp|h|hpp|swift|exs?|so|dll|jar|class)$")
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")
HARMLESS = (".env.example", ".env.sample", ".env.template")


class Snapshot(NamedTuple):
    """A tree of the workspace, and what was left out of it and why."""

    tree: str
    left_out: tuple[str, ...] = ()
    unknown: frozenset[str] = frozenset()  # the untracked files


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
    """Whether a file name looks like a secret. Not a regex: compiling one takes longer than everything else that is checked."""
    secret = name in SECRETS or name.startswith(SECRET_BEGINNINGS) or name.endswith(SECRET_ENDINGS)
    return secret and name not in HARMLESS


def take(git: Git, run: str, created: Collection[str] = (), over: str = "") -> Snapshot:
    """Snapshot the workspace and keep the tree reachable under the run's refs. Files of the tree `over` always belong."""
    index = index_of(git, run)
    real = git.place.git_dir / "index"
    if real.exists():
        shutil.copy2(real, index)  # keeps its mtime: git rereads files that changed at the same moment as the index
    else:
        index.unlink(missing_ok=True)
    index.with_name(index.name + ".lock").unlink(missing_ok=True)
    look_at_all(git, index)
    snap = _tree(git, index, frozenset(created), over)
    keep(git, run, snap.tree)
    return snap


def tree_of_files(git: Git, index: Path, created: Collection[str] = ()) -> str:
    """The tree of a checkout's files, built in an index of our own. No ref keeps it, so git removes it eventually."""
    look_at_all(git, index)
    return _tree(git, index, frozenset(created), "").tree


def look_at_all(git: Git, index: Path) -> bool:
    """Clear assume-unchanged and skip-worktree marks, so that git looks at every file. Returns whether any was cleared.

    A skipped file that does not exist belongs to a sparse checkout and keeps its mark.
    """
    marks = (entry.partition(" ") for entry in git.run("ls-files", "-v", "-z", index=index).items)
    shut = [path for mark, _, path in marks if mark.islower() or (mark == "S" and os.path.lexists(git.place.root / path))]
    for word in ("--no-assume-unchanged", "--no-skip-worktree") if shut else ():
        git.run("update-index", "-z", word, "--stdin", stdin=_listed(shut), index=index)
    return bool(shut)


def hidden_changes(git: Git) -> list[str]:
    """The tracked files that differ from HEAD, if marks hide some from git; empty if there are no marks, since git itself then tells."""
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
    """The index of a run's newest snapshot: a copy of the checkout's, so that the person's is untouched and few files are read again."""
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
    """Remove files from the index that were added to git since the tree `over` and would otherwise not belong."""
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
    """At most eight entries; the others are counted."""
    return tuple(left) if len(left) <= 8 else (*left[:8], f"and {len(left) - 8} more")


def untracked(git: Git, index: Path | None = None) -> list[str]:
    """Untracked files that are not ignored; a nested repository ends in a slash."""
    return git.run(*UNTRACKED, index=index).items


def keep(git: Git, run: str, tree: str) -> None:
    """Keep a tree reachable. Idempotent."""
    ref = f"refs/detent/{run}/trees/{tree}"
    if _text(git.place.common_dir / ref) != tree:  # a packed ref has no file; then git answers
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
    """Untracked files, and the paths that changed in the workspace since the run's newest snapshot."""
    index, asked = index_of(git, run), ("diff-files", "-z", "--name-only")
    unknown, changed = git.run_both(UNTRACKED, asked, index)
    if changed:  # some tests only touch data files, so their content is compared; code that was touched could have been different meanwhile
        git.call("update-index", "-q", "--refresh", index=index)
        other = git.run(*asked, index=index).items
        changed = [path for path in changed if path in other or CODE.search(path)]
    return unknown, changed


def stamp(file: Path) -> str:
    """A cheap stamp of a file that changes when the file does: size, mtime, inode."""
    try:
        st = os.stat(file)
    except OSError:
        return ""
    return f"{st.st_size}:{st.st_mtime_ns}:{st.st_ino}"
