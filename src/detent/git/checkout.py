"""Clean checkouts: the files of a tree in a folder of their own, without a git dir. For runs that must see the tree and nothing else.

What a tree only names is looked for here, and never fetched: the files of submodules, by their commit, and those of Git LFS, by their digest.
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
    """What a tree names and its checkout does not have: a sentence each, with the command that fetches it."""
    listed = git.run("ls-tree", "-r", "-z", tree).items
    for commit, path in modules(listed):
        if not store_of(git, git.place.root / path, commit):
            yield f"the submodule {path} is not here at {commit[:12]}: git submodule update --init --recursive"
    for file in pointers(listed, checkout):
        yield f"{file.relative_to(checkout)} is a pointer of Git LFS, and its file is not here: git lfs pull"


def modules(listed: Iterable[str]) -> list[tuple[str, str]]:
    """The commit and the path of each submodule in the rows of a tree."""
    rows = (row.partition("\t") for row in listed if row.startswith(MODULE))
    return [(about.split()[2], path) for about, _, path in rows]


def store_of(git: Git, folder: Path, commit: str) -> dict[str, str]:
    """The environment of a call that sees the objects of a submodule as the person has it; empty if the commit is not there.

    Only its objects are asked for, so its own settings and filters run nothing.
    """
    try:
        objects = find_place(folder).common_dir / "objects" if (folder / ".git").exists() else None
    except DetentError:
        return {}
    also = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)} if objects and ":" not in str(objects) else {}
    return also if also and git.call("cat-file", "-e", f"{commit}^{{tree}}", also=also).code == 0 else {}


def pointers(listed: Iterable[str], checkout: Path) -> list[Path]:
    """The files of a checkout that are pointers of Git LFS still."""
    files = [checkout / row.partition("\t")[2] for row in listed if row.startswith("100")]
    if not any(LFS in file.read_bytes() for file in files if file.name == ATTRIBUTES and file.is_file()):
        return []
    return [file for file in files if _is_pointer(file)]


def _is_pointer(file: Path) -> bool:
    if file.is_symlink() or not file.is_file() or file.stat().st_size > LONGEST_POINTER:
        return False
    return file.read_bytes().startswith(POINTER)


def stored(git: Git, pointer: Path) -> Path | None:
    """The file that a pointer stands for, if it was fetched and is just that."""
    rows = (line.partition(" ") for line in pointer.read_text("ascii", "replace").splitlines())
    digest = next((value.removeprefix("sha256:") for name, _, value in rows if name == "oid"), "")
    file = git.place.common_dir / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    if len(digest) != 64 or not digest.isalnum() or not file.is_file():
        return None
    with file.open("rb") as source:
        return file if file_digest(source, "sha256").hexdigest() == digest else None


POINTERS = {"GIT_LFS_SKIP_SMUDGE": "1"}  # a person's Git LFS would fetch what is missing, and fail where it cannot


@contextmanager
def clean_checkout(git: Git, tree: str, name: str = "") -> Iterator[Path]:
    """The tree in a new folder, gone afterwards. Its name says nothing of what it is for: tests may read it."""
    with scratch_folder() as folder:
        named = folder / (name or git.place.root.name)
        write_tree(git, tree, named)
        yield named


def write_tree(git: Git, tree: str, to: Path) -> None:
    """Write the files of a tree below a folder, and what it only names as far as that is here: submodules, and files of Git LFS."""
    to.mkdir(parents=True)
    _write(git, tree, to, git.place.root, to.with_name(f"{to.name}.index"), {})


def _write(git: Git, tree: str, to: Path, origin: Path, index: Path, also: dict[str, str]) -> None:
    """The same for a submodule: `origin` is where the person has it, `also` names its objects."""
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
    """The tree of one folder of a tree, without some folders below it; that of nothing where it is not there. All paths are those of the whole tree."""
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
