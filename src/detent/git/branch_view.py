"""What a sandboxed agent sees of git: a read-only git dir of its own with the history of its branch. Owns how it is made.

It is built from scratch and holds only what is copied into it: the branch's commits, the named refs, an index. No hooks, configuration,
remotes or reflogs, and nobody else's refs or objects. It is mounted read-only in place of the checkout's git dir.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from detent.git.place import Place
from detent.git.repo import Git

MOST = 5_000  # commits; older ones are cut off, as in a shallow clone
BRANCH = "refs/heads/work"  # the branch's name in the view if HEAD is detached


def make_view(git: Git, refs: Mapping[str, str] | None = None, most: int = MOST) -> Path:
    """Create or update the view of a checkout's branch and of further refs by name. Objects copied before are kept."""
    folder = git.place.git_dir / "detent" / "view"
    for part in ("objects/info", "objects/pack", "refs/heads", "info"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    wanted = {git.branch() or BRANCH: git.head(), **(refs or {})}
    _copy_objects(git, folder, wanted, most)
    _set_refs(folder, wanted)
    _write(folder / "HEAD", f"ref: {next(iter(wanted))}\n")
    exclude = git.place.common_dir / "info" / "exclude"
    _write(folder / "info" / "exclude", exclude.read_text("utf-8", "replace") if exclude.is_file() else "")
    inside = Git(Place(git.place.root, folder, folder), git.env)
    inside.run("read-tree", "HEAD")
    inside.call("update-index", "-q", "--refresh")
    return folder


def _copy_objects(git: Git, folder: Path, wanted: Mapping[str, str], most: int) -> None:
    """Copy the missing objects as one pack. The view's refs tell which commits are already there."""
    there = _tips(folder)
    if set(wanted.values()) <= set(there.values()):
        return
    shallow = folder / "shallow"
    cut = _cut(git, shallow, next(iter(wanted.values())), most) if not there else shallow.read_text().split() if shallow.exists() else []
    known = [commit for commit in there.values() if git.resolve(f"{commit}^{{commit}}")]
    lines = [*(f"--shallow {commit}" for commit in cut), *wanted.values(), "--not", *known]
    packs = folder / "objects" / "pack" / "pack"
    git.run("pack-objects", "--revs", "-q", str(packs), stdin="".join(f"{line}\n" for line in lines).encode(), timeout=600)


def _cut(git: Git, shallow: Path, tip: str, most: int) -> list[str]:
    """The oldest copied commits, if history is cut off there; also written to the view's `shallow` file."""
    rows = [line.split() for line in git.run("rev-list", "--parents", "-n", str(most), tip).text.splitlines()]
    here, own = {row[0] for row in rows}, git.place.common_dir / "shallow"
    ends = set(own.read_text("ascii").split()) if own.is_file() else set()  # where the clone itself is shallow, commits list no parents
    cut = [row[0] for row in rows if row[0] in ends or not here.issuperset(row[1:])]
    if cut:
        _write(shallow, "".join(f"{commit}\n" for commit in cut))
    return cut


def _tips(folder: Path) -> dict[str, str]:
    files = (Path(here) / name for here, _, names in os.walk(folder / "refs") for name in names)
    return {str(file.relative_to(folder)): file.read_text("ascii").strip() for file in files}


def _set_refs(folder: Path, wanted: Mapping[str, str]) -> None:
    for unwanted in set(_tips(folder)) - set(wanted):
        (folder / unwanted).unlink()
    for ref, commit in wanted.items():
        file = folder / ref
        if file.is_dir():
            shutil.rmtree(file)  # a branch of another name was below it
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, f"{commit}\n")


def _write(file: Path, text: str) -> None:
    scratch = file.with_name(f"{file.name}.new")
    scratch.write_text(text, "utf-8")
    os.replace(scratch, file)
