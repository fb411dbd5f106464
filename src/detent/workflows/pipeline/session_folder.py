"""The document folder of a session in a checkout. Documents are in no judged tree, so they are kept separately, under a ref of the run.

The folder is made where it is missing, kept after every submit, restored in a new workspace, and copied to the person's own checkout when the
work is done elsewhere. Nothing is read or written through a link.
"""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path, PurePosixPath

from detent.door import AnyRun
from detent.effects.publish import write_whole
from detent.errors import CannotTell
from detent.gates.documents import TASKS
from detent.gates.tree import PROJECT
from detent.git.repo import ZERO, Git
from detent.world.work_tree import RepoWorld, stays_inside

REJECTED, NEWER = ".rejected", ".new"
OWN = ("status.json", "report.md", "approve-design-history.jsonl")  # files that only the machine writes
STATUS_LINE = re.compile(r"\s+status: [\w-]+$")  # of a task; written by the machine
LARGEST = 1_000_000  # bytes of one document


def root_id(run: AnyRun) -> str:
    """The id of the session that a run belongs to."""
    return str(run.parent or run.id)


def kept_ref(run: AnyRun) -> str:
    return f"refs/detent/{root_id(run)}/documents"


def real_folder(root: Path, path: str) -> Path:
    """Create a folder below a checkout if it is missing; refuse a link on the way."""
    here = root
    for part in PurePosixPath(path).parts:
        here = here / part
        if here.is_symlink() or (here.exists() and not here.is_dir()):
            raise CannotTell(f"{path} is not a plain folder of the checkout; remove what is at {here.name}")
        here.mkdir(exist_ok=True)
    return here


def write_document(root: Path, path: str, text: str) -> None:
    """Write one document of a session, unless it is there with the same text."""
    folder, name = path.rpartition("/")[::2]
    file = real_folder(root, folder) / name
    if read_document(root, path) != text:
        write_whole(file, text)


def read_document(root: Path, path: str) -> str | None:
    """The text of a session's document; None if it is missing or not a plain file in plain folders."""
    file = root / path
    if not stays_inside(root, path) or not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
        return None
    return file.read_text("utf-8", "surrogateescape")


# -- keeping and restoring -----------------------------------------------------------------------------------------------------


def keep_documents(world: RepoWorld, run: AnyRun) -> None:
    """Store the session's current folder as a tree under the run's ref."""
    _keep_tree(world, run, kept_ref(run))


def _keep_tree(world: RepoWorld, run: AnyRun, ref: str) -> None:
    git, folder = world.git, world.place.root / run.data.session
    if not folder.is_dir() or folder.is_symlink():
        return
    index = world.place.git_dir / "detent" / f"documents.{root_id(run)}"
    index.parent.mkdir(exist_ok=True)  # a new workspace has no such folder
    for left in (index, index.with_name(f"{index.name}.lock")):  # left by a call that was killed
        left.unlink(missing_ok=True)
    git.run("add", "-f", "-A", "--", run.data.session, index=index)
    tree, was = git.run("write-tree", index=index).text, git.resolve(ref)
    index.unlink(missing_ok=True)
    at = [] if run.parent or ref != kept_ref(run) else [(at_ref(run, run.seq), tree, ZERO)]
    if tree != was:
        git.update([(ref, tree, was or ZERO), *(row for row in at if not git.resolve(row[0]))])


def at_ref(run: AnyRun, seq: int) -> str:
    """The ref of the session's folder as one event left it, for a rollback to that event."""
    return f"refs/detent/{root_id(run)}/documents-at/{seq}"


def bring_documents(world: RepoWorld, old: AnyRun, run: AnyRun) -> None:
    """Give a rolled-back session the documents of that time. Later ones are removed but stay reachable under the old session's refs."""
    git, root = world.git, world.place.root
    tree = documents_at(git, old, old.seq) or git.resolve(kept_ref(old))
    if not tree:
        return
    shown = git.resolve(shown_ref(old))
    refs = [(kept_ref(run), tree), (at_ref(run, 1), tree), *([(shown_ref(run), shown)] if shown else [])]
    git.update([(ref, value, ZERO) for ref, value in refs])
    then = kept_documents(git, run)
    for path, blob in kept_documents(git, old).items():
        if path not in then and read_document(root, path) == _text(git, blob):
            (root / path).unlink()
    real_folder(root, run.data.session)
    for path, blob in then.items():
        write_document(root, path, _text(git, blob))


def kept_documents(git: Git, run: AnyRun) -> dict[str, str]:
    """The blobs of the kept documents by path, without links."""
    return _blobs(git, run, kept_ref(run))


def _blobs(git: Git, run: AnyRun, ref: str) -> dict[str, str]:
    tree = git.resolve(ref)
    lines = git.run("ls-tree", "-r", "-z", tree, "--", f"{run.data.session}/").items if tree else []
    rows = [line.partition("\t") for line in lines]
    return {path: about.split()[2] for about, _, path in rows if about.startswith("100")}


def shown_documents(git: Git, run: AnyRun, paths: Iterable[str]) -> dict[str, str]:
    """The texts of documents by path: from the session's checkout, else from the kept copies."""
    root, kept = Path(run.data.setup.workspace or run.worktree), kept_documents(git, run)
    found = {path: read_document(root, path) if root.is_dir() else None for path in paths}
    return {path: text if text is not None else _shown_text(git, kept.get(path, "")) for path, text in found.items()}


def _shown_text(git: Git, blob: str) -> str:
    return git.run("cat-file", "blob", blob).raw.decode("utf-8", "replace") if blob else ""


def bring_back(world: RepoWorld, run: AnyRun) -> None:
    """Create the session's folder, and restore kept documents that are missing."""
    real_folder(world.place.root, run.data.session)
    for path, blob in kept_documents(world.git, run).items():
        if read_document(world.place.root, path) is None:
            write_document(world.place.root, path, _text(world.git, blob))


def take_back(world: RepoWorld, run: AnyRun, own: tuple[str, ...]) -> None:
    """Restore kept documents that the acting role may not change; an edited copy stays beside them as *.rejected."""
    for path, blob in kept_documents(world.git, run).items():
        if any(path == glob or (glob.endswith("/**") and path.startswith(glob[:-2])) for glob in own) or path.endswith(REJECTED):
            continue
        was, now = _text(world.git, blob), read_document(world.place.root, path)
        if now != was:
            if now is not None:
                write_document(world.place.root, f"{path}{REJECTED}", now)
            write_document(world.place.root, path, was)


def forget_turn(world: RepoWorld, run: AnyRun) -> None:
    """Restore the session's folder to its last kept state after a turn without result. What the turn wrote stays under a ref."""
    kept, root = kept_documents(world.git, run), world.place.root
    with alone(world, run):
        there = _documents_in(root, run.data.session) if kept else []
        extra = [path for path in there if path not in kept]
        changed = [path for path, blob in kept.items() if read_document(root, path) != _text(world.git, blob)]
        if not extra and not changed:
            return
        _keep_tree(world, run, f"refs/detent/{root_id(run)}/left-documents")
        for path in extra:
            (root / path).unlink()
        for path in changed:
            write_document(root, path, _text(world.git, kept[path]))


def _documents_in(root: Path, session: str) -> list[str]:
    """The paths of all files in a session's folder, relative to the checkout."""
    found = ((Path(here), name) for here, _, names in os.walk(root / session) for name in names)
    return [str((here / name).relative_to(root)) for here, name in found]


def _text(git: Git, blob: str) -> str:
    return git.run("cat-file", "blob", blob).raw.decode("utf-8", "surrogateescape")


def is_editable(path: str, run: AnyRun) -> bool:
    """Whether a person may edit a document."""
    name = path.removeprefix(f"{run.data.session}/")
    return name not in OWN and not name.startswith(("instructions/", "diffs/")) and not name.endswith((REJECTED, NEWER))


def edited_documents(git: Git, run: AnyRun, writes: tuple[str, ...]) -> dict[str, str]:
    """Documents that a person edited in their own checkout and that do not count yet: path -> text.

    If the agent works in the same checkout, the files that the acting role may write are left out.
    """
    home, apart = Path(run.worktree), bool(run.data.setup.workspace)
    kept = kept_documents(git, run)
    found = {}
    for path, blob in (_blobs(git, run, shown_ref(run)) if apart else kept).items():
        name = path.removeprefix(f"{run.data.session}/")
        theirs = not apart and any(name == w or (w.endswith("/**") and name.startswith(w[:-2])) for w in writes)
        counts = (_text(git, each) for each in {blob, kept.get(path, blob)})  # a newer one may be on its way here
        if is_editable(path, run) and not theirs and (text := read_document(home, path)) is not None and text not in counts:
            found[path] = text
    return found


def documents_at(git: Git, run: AnyRun, seq: int) -> str:
    """The tree of the session's folder after an event; empty if unknown."""
    marks = git.run("for-each-ref", "--format=%(refname)", at_ref(run, 0)[:-1]).text.splitlines()
    until = [at for ref in marks if (at := int(ref.rpartition("/")[2])) <= seq]
    return git.resolve(at_ref(run, max(until))) if until else ""


def documents_diff(git: Git, run: AnyRun, before: int, after: int, paths: tuple[str, ...]) -> str:
    """The diff of documents between two events of the session; empty if one of them is unknown."""
    was, now = documents_at(git, run, before), documents_at(git, run, after)
    if not was or not now or was == now or not paths:
        return ""
    lines: list[str] = []
    for path in sorted(paths):
        old, new = (_without_statuses(path, git.read(tree, path) or b"") for tree in (was, now))
        changed = list(unified_diff(old, new, "", path.removeprefix(f"{run.data.session}/"), n=1, lineterm=""))
        lines += changed[1:]  # without the line for the old name
    return "\n".join(lines)


def _without_statuses(path: str, text: bytes) -> list[str]:
    """The lines of a document without task statuses, which the machine writes and nobody is asked about."""
    lines = text.decode("utf-8", "replace").splitlines()
    return [line for line in lines if not STATUS_LINE.match(line)] if path.endswith(f"/{TASKS}") else lines


def shown_ref(run: AnyRun) -> str:
    return f"refs/detent/{root_id(run)}/shown"


def show(world: RepoWorld, run: AnyRun) -> None:
    """Copy the session's folder from a workspace to the person's own checkout.

    A document that the person edited there is left alone, and a newer version is put beside it as *.new. A machine-written file is overwritten, and
    an edit of it is put beside it as *.rejected.
    """
    home = Path(run.worktree)
    if not run.data.setup.workspace or home == world.place.root or not home.is_dir():
        return
    git, was = world.git, _blobs(world.git, run, shown_ref(run))
    for path in kept_documents(git, run):
        text, there = read_document(world.place.root, path), read_document(home, path)
        if text is None or there == text:
            continue
        shown = _text(git, was[path]) if path in was else None
        if there is not None and there != shown and is_editable(path, run):
            if text != shown:
                write_document(home, f"{path}{NEWER}", text)
            continue  # the person's edit; it counts once they submit it, and is listed until then
        if there is not None and there != shown:
            write_document(home, f"{path}{REJECTED}", there)
        write_document(home, path, text)
    now, before = git.resolve(kept_ref(run)), git.resolve(shown_ref(run))
    if now and now != before:
        git.update([(shown_ref(run), now, before or ZERO)])


@contextmanager
def alone(world: RepoWorld, run: AnyRun) -> Iterator[None]:
    """The session's lock on its folder, which tasks in parallel share."""
    file = world.place.common_dir / "detent" / f"documents-{root_id(run)}.lock"
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def lay_instructions(world: RepoWorld, run: AnyRun) -> tuple[str, ...]:
    """Copy the project's own agent instructions, as of the base commit, into the session's folder; their paths."""
    found: Mapping[str, bytes | None] = {name: world.git.read(run.data.base, name) for name in PROJECT}
    paths = []
    for name, data in found.items():
        if data is not None:
            paths.append(f"{run.data.session}/instructions/{name.rpartition('/')[2]}")
            write_document(world.place.root, paths[-1], data.decode("utf-8", "surrogateescape"))
    return tuple(paths)
