"""Clean checkouts: the files of a tree in a folder of their own, without a git dir. For runs that must see the tree and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from detent.git.named import modules, pointers, store_of, stored
from detent.git.repo import Git
from detent.storage.state import scratch_folder

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
