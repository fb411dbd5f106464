"""The folder of a session in a checkout: its documents lie outside every tree, so they are kept by themselves, under a ref of the run.

Made where it is missing, kept whenever something was handed in, brought back where a workspace was made again, and shown in the person's own
checkout where the work is elsewhere. Nothing is read or written through a link.
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
from detent.world.work_tree import RepoWorld, is_plain

REJECTED, NEWER = ".rejected", ".new"
OWN = ("status.json", "report.md", "approve-design-history.jsonl")  # the machine's own
STATUS_LINE = re.compile(r"\s+status: [\w-]+$")  # of a task, as the machine writes it
LARGEST = 1_000_000  # bytes of one document


def root_id(run: AnyRun) -> str:
    """The session that a run belongs to."""
    return str(run.parent or run.id)


def kept_ref(run: AnyRun) -> str:
    return f"refs/detent/{root_id(run)}/documents"


def real_folder(root: Path, path: str) -> Path:
    """A folder below a checkout, made if it is missing; a link on the way is refused."""
    here = root
    for part in PurePosixPath(path).parts:
        here = here / part
        if here.is_symlink() or (here.exists() and not here.is_dir()):
            raise CannotTell(f"{path} is not a plain folder of the checkout; remove what is at {here.name}")
        here.mkdir(exist_ok=True)
    return here


def write_document(root: Path, path: str, text: str) -> None:
    """Write one document of a session, if it is not there word for word."""
    folder, name = path.rpartition("/")[::2]
    file = real_folder(root, folder) / name
    if read_document(root, path) != text:
        write_whole(file, text)


def read_document(root: Path, path: str) -> str | None:
    """A document of a session; None if it is not there, or not a plain file in a plain folder."""
    file = root / path
    if not is_plain(root, path) or not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
        return None
    return file.read_text("utf-8", "surrogateescape")


# -- keeping and bringing back -------------------------------------------------------------------------------------------------


def keep_documents(world: RepoWorld, run: AnyRun) -> None:
    """Keep the session's folder as it stands, as a tree under the run's ref."""
    _keep_tree(world, run, kept_ref(run))


def _keep_tree(world: RepoWorld, run: AnyRun, ref: str) -> None:
    git, folder = world.git, world.place.root / run.data.session
    if not folder.is_dir() or folder.is_symlink():
        return
    index = world.place.git_dir / "detent" / f"documents.{root_id(run)}"
    index.parent.mkdir(exist_ok=True)  # a workspace that was just made has none
    for left in (index, index.with_name(f"{index.name}.lock")):  # of a call that was killed
        left.unlink(missing_ok=True)
    git.run("add", "-f", "-A", "--", run.data.session, index=index)
    tree, was = git.run("write-tree", index=index).text, git.resolve(ref)
    index.unlink(missing_ok=True)
    at = [] if run.parent or ref != kept_ref(run) else [(at_ref(run, run.seq), tree, ZERO)]
    if tree != was:
        git.update([(ref, tree, was or ZERO), *(row for row in at if not git.resolve(row[0]))])


def at_ref(run: AnyRun, seq: int) -> str:
    """The session's folder as an event of the session left it, for whoever goes back to it."""
    return f"refs/detent/{root_id(run)}/documents-at/{seq}"


def bring_documents(world: RepoWorld, old: AnyRun, run: AnyRun) -> None:
    """A session that goes back has the documents as they stood then; those that came later go, and stay reachable under the old session's refs."""
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
    """The blobs of the documents as they were kept, by path; links are none."""
    return _blobs(git, run, kept_ref(run))


def _blobs(git: Git, run: AnyRun, ref: str) -> dict[str, str]:
    tree = git.resolve(ref)
    lines = git.run("ls-tree", "-r", "-z", tree, "--", f"{run.data.session}/").items if tree else []
    rows = [line.partition("\t") for line in lines]
    return {path: about.split()[2] for about, _, path in rows if about.startswith("100")}


def shown_documents(git: Git, run: AnyRun, paths: Iterable[str]) -> dict[str, str]:
    """Documents by path, as they lie in the session's checkout; those that do not, as they were kept."""
    root, kept = Path(run.data.setup.workspace or run.worktree), kept_documents(git, run)
    found = {path: read_document(root, path) if root.is_dir() else None for path in paths}
    return {path: text if text is not None else _shown_text(git, kept.get(path, "")) for path, text in found.items()}


def _shown_text(git: Git, blob: str) -> str:
    return git.run("cat-file", "blob", blob).raw.decode("utf-8", "replace") if blob else ""


def bring_back(world: RepoWorld, run: AnyRun) -> None:
    """Make the session's folder; what was kept and is missing is brought back."""
    real_folder(world.place.root, run.data.session)
    for path, blob in kept_documents(world.git, run).items():
        if read_document(world.place.root, path) is None:
            write_document(world.place.root, path, _text(world.git, blob))


def take_back(world: RepoWorld, run: AnyRun, own: tuple[str, ...]) -> None:
    """Documents that the role at work does not own are as they were kept; an edited copy stands beside them as *.rejected."""
    for path, blob in kept_documents(world.git, run).items():
        if any(path == glob or (glob.endswith("/**") and path.startswith(glob[:-2])) for glob in own) or path.endswith(REJECTED):
            continue
        was, now = _text(world.git, blob), read_document(world.place.root, path)
        if now != was:
            if now is not None:
                write_document(world.place.root, f"{path}{REJECTED}", now)
            write_document(world.place.root, path, was)


def forget_turn(world: RepoWorld, run: AnyRun) -> None:
    """Bring the session's folder back to how it was kept last, after a turn that came to nothing. What the turn wrote stays under a ref."""
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
    """Every plain file of a session's folder, by its path in the checkout."""
    found = ((Path(here), name) for here, _, names in os.walk(root / session) for name in names)
    return [str((here / name).relative_to(root)) for here, name in found]


def _text(git: Git, blob: str) -> str:
    return git.run("cat-file", "blob", blob).raw.decode("utf-8", "surrogateescape")


def is_editable(path: str, run: AnyRun) -> bool:
    """Whether a document is a person's to change as well."""
    name = path.removeprefix(f"{run.data.session}/")
    return name not in OWN and not name.startswith(("instructions/", "diffs/")) and not name.endswith((REJECTED, NEWER))


def edited_documents(git: Git, run: AnyRun, writes: tuple[str, ...]) -> dict[str, str]:
    """Documents that a person changed in their own checkout and that do not count yet, as they stand there: path -> text.

    Where the agent works in that same checkout, what the role at work may write is its own.
    """
    home, apart = Path(run.worktree), bool(run.data.setup.workspace)
    known = _blobs(git, run, shown_ref(run) if apart else kept_ref(run))
    found = {}
    for path, blob in known.items():
        name = path.removeprefix(f"{run.data.session}/")
        theirs = not apart and any(name == w or (w.endswith("/**") and name.startswith(w[:-2])) for w in writes)
        if is_editable(path, run) and not theirs and (text := read_document(home, path)) is not None and text != _text(git, blob):
            found[path] = text
    return found


def documents_at(git: Git, run: AnyRun, seq: int) -> str:
    """The tree of the session's folder after an event of the session; empty if that is not known."""
    marks = git.run("for-each-ref", "--format=%(refname)", at_ref(run, 0)[:-1]).text.splitlines()
    until = [at for ref in marks if (at := int(ref.rpartition("/")[2])) <= seq]
    return git.resolve(at_ref(run, max(until))) if until else ""


def documents_diff(git: Git, run: AnyRun, before: int, after: int, paths: tuple[str, ...]) -> str:
    """How documents differ between two events of the session, as a diff has it; empty if that is not known."""
    was, now = documents_at(git, run, before), documents_at(git, run, after)
    if not was or not now or was == now or not paths:
        return ""
    lines: list[str] = []
    for path in sorted(paths):
        old, new = (_without_statuses(path, git.read(tree, path) or b"") for tree in (was, now))
        changed = list(unified_diff(old, new, "", path.removeprefix(f"{run.data.session}/"), n=1, lineterm=""))
        lines += changed[1:]  # the name once
    return "\n".join(lines)


def _without_statuses(path: str, text: bytes) -> list[str]:
    """The lines of a document. How far tasks have come is the machine's to say, and no change that a person is asked about."""
    lines = text.decode("utf-8", "replace").splitlines()
    return [line for line in lines if not STATUS_LINE.match(line)] if path.endswith(f"/{TASKS}") else lines


def shown_ref(run: AnyRun) -> str:
    return f"refs/detent/{root_id(run)}/shown"


def show(world: RepoWorld, run: AnyRun) -> None:
    """Where the work is in a workspace: the session's folder in the person's own checkout says the same.

    A document that the person changed there stays as they left it, with the machine's newer one beside it as *.new; a file of the machine's own is
    written again, and what stood there is beside it as *.rejected.
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
            continue  # theirs: it counts once they say so, and is named until then
        if there is not None and there != shown:
            write_document(home, f"{path}{REJECTED}", there)
        write_document(home, path, text)
    now, before = git.resolve(kept_ref(run)), git.resolve(shown_ref(run))
    if now and now != before:
        git.update([(shown_ref(run), now, before or ZERO)])


@contextmanager
def alone(world: RepoWorld, run: AnyRun) -> Iterator[None]:
    """One at a time for a session: its tasks may be at work at once, and its folder is one."""
    file = world.place.common_dir / "detent" / f"documents-{root_id(run)}.lock"
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def lay_instructions(world: RepoWorld, run: AnyRun) -> tuple[str, ...]:
    """The project's own instructions as they are at the base commit, copied into the session's folder; their paths."""
    found: Mapping[str, bytes | None] = {name: world.git.read(run.data.base, name) for name in PROJECT}
    paths = []
    for name, data in found.items():
        if data is not None:
            paths.append(f"{run.data.session}/instructions/{name.rpartition('/')[2]}")
            write_document(world.place.root, paths[-1], data.decode("utf-8", "surrogateescape"))
    return tuple(paths)
