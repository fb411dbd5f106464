"""Clean checkouts: a tree's files in a folder without a git dir, for test runs that must see the tree and nothing else.

Submodules (by commit) and Git LFS files (by digest) are copied if they are on this machine; they are never fetched.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import find_place
from detent.git.repo import Git
from detent.storage.state import scratch_folder

MODULE = "160000"
POINTER = b"version https://git-lfs.github.com/spec/"
LONGEST_POINTER = 1024  # bytes
ATTRIBUTES, LFS = ".gitattributes", b"filter=lfs"


def missing(git: Git, tree: str, checkout: Path) -> Iterator[str]:
    """One sentence for each submodule or Git LFS file of a tree that is not on this machine, with the command that fetches it."""
    listed = git.run("ls-tree", "-r", "-z", tree).items
    for commit, path in modules(listed):
        if not store_of(git, git.place.root / path, commit):
            yield f"the submodule {path} is not here at {commit[:12]}: git submodule update --init --recursive"
    for file in pointers(listed, checkout):
        yield f"{file.relative_to(checkout)} is a pointer of Git LFS, and its file is not here: git lfs pull"


def modules(listed: Iterable[str]) -> list[tuple[str, str]]:
    """(commit, path) of each submodule among a tree's entries."""
    rows = (row.partition("\t") for row in listed if row.startswith(MODULE))
    return [(about.split()[2], path) for about, _, path in rows]


def store_of(git: Git, folder: Path, commit: str) -> dict[str, str]:
    """Environment variables that let git read a submodule's objects in the person's checkout; empty if the commit is not there.

    Only its objects are used, so its own settings and filters run nothing.
    """
    try:
        objects = find_place(folder).common_dir / "objects" if (folder / ".git").exists() else None
    except DetentError:
        return {}
    also = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)} if objects and ":" not in str(objects) else {}
    return also if also and git.call("cat-file", "-e", f"{commit}^{{tree}}", also=also).code == 0 else {}


def pointers(listed: Iterable[str], checkout: Path) -> list[Path]:
    """The files of a checkout that are still Git LFS pointers."""
    files = [checkout / row.partition("\t")[2] for row in listed if row.startswith("100")]
    if not any(LFS in file.read_bytes() for file in files if file.name == ATTRIBUTES and file.is_file()):
        return []
    return [file for file in files if _is_pointer(file)]


def _is_pointer(file: Path) -> bool:
    if file.is_symlink() or not file.is_file() or file.stat().st_size > LONGEST_POINTER:
        return False
    return file.read_bytes().startswith(POINTER)


def stored(git: Git, pointer: Path) -> Path | None:
    """The fetched file that a pointer stands for, if its digest matches; else None."""
    rows = (line.partition(" ") for line in pointer.read_text("ascii", "replace").splitlines())
    digest = next((value.removeprefix("sha256:") for name, _, value in rows if name == "oid"), "")
    file = git.place.common_dir / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    if len(digest) != 64 or not digest.isalnum() or not file.is_file():
        return None
    with file.open("rb") as source:
        return file if file_digest(source, "sha256").hexdigest() == digest else None


POINTERS = {"GIT_LFS_SKIP_SMUDGE": "1"}  # otherwise the person's Git LFS would fetch missing files, and fail if it cannot


@contextmanager
def clean_checkout(git: Git, tree: str, name: str = "") -> Iterator[Path]:
    """A tree in a temporary folder. The folder's name reveals no purpose, since tests may read it."""
    with scratch_folder() as folder:
        named = folder / (name or git.place.root.name)
        write_tree(git, tree, named)
        yield named


def write_tree(git: Git, tree: str, to: Path) -> None:
    """Write a tree's files to a folder, with the submodules and Git LFS files that are on this machine."""
    to.mkdir(parents=True)
    _write(git, tree, to, git.place.root, to.with_name(f"{to.name}.index"), {})


def _write(git: Git, tree: str, to: Path, origin: Path, index: Path, also: dict[str, str]) -> None:
    """Write one tree; recurses into submodules. `origin` is where the person has it, `also` makes its objects readable."""
    git.run("read-tree", tree, index=index, also=also)
    git.run("checkout-index", "-a", "-f", f"--prefix={to}/", index=index, also={**also, **POINTERS})
    listed = git.run("ls-tree", "-r", "-z", tree, also=also).items
    for commit, path in modules(listed):
        if objects := store_of(git, origin / path, commit):
            (to / path).mkdir(parents=True, exist_ok=True)
            _write(git, commit, to / path, origin / path, index, objects)
    for file in pointers(listed, to):
        if there := stored(git, file):
            file.write_bytes(there.read_bytes())


def part_of(git: Git, tree: str, folder: str, without: tuple[str, ...] = ()) -> str:
    """The tree of one folder, without some folders below it; the empty tree if it is missing. All paths are relative to the whole tree."""
    found = git.trees([name]).get(name, "") if (name := f"{tree}:{folder}") and folder else tree
    if not found:
        return git.run("mktree").text
    inner = [path.removeprefix(f"{folder}/") if folder else path for path in without]
    if not (there := [path for path in inner if git.resolve(f"{found}:{path}")]):
        return found
    with scratch_folder() as scratch:
        git.run("read-tree", found, index=scratch / "index")
        git.run("rm", "-r", "-q", "-f", "--cached", "--", *(f":(top,literal){path}" for path in there), index=scratch / "index")
        return git.run("write-tree", index=scratch / "index").text
