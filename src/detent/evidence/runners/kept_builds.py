"""Kept builds: what a toolchain keeps between judged runs. Runs read what a run of the base left there, and add nothing.

Each run gets a folder of its own, in which finished files (objects, libraries) are links to the kept ones and everything else is copied, so
nothing large is copied. Kept files are read-only in the sandbox, and are used only while each is as it was left. Knows files, no runner.
"""

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from detent.storage import state
from detent.storage.state import state_dir

OWN = "run-"
MOST_OWN = 8  # folders of runs that are kept for reuse
RENEWED = 30 * 24 * 3600.0  # seconds after which the base rebuilds everything, since nothing else removes what is no longer needed


class KeptStamp(NamedTuple):
    """How a kept file looks. Writing or replacing it changes this, since nobody can set its ctime."""

    here: str
    to: str  # target of a link
    size: int
    mode: int
    node: int
    written: int
    touched: int


def looks(folder: Path) -> dict[str, KeptStamp]:
    """The stamp of every file below a folder, by relative path."""
    found = {}
    for here, path in _files(folder):
        seen = os.lstat(here)
        to = os.readlink(here) if stat.S_ISLNK(seen.st_mode) else ""
        found[path] = KeptStamp(here, to, seen.st_size, seen.st_mode, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns)
    return found


def digest(seen: Mapping[str, KeptStamp]) -> str:
    return sha256(os.fsencode(repr(sorted((path, *look[1:]) for path, look in seen.items())))).hexdigest()


class BuildPiece(NamedTuple):
    """A kept file as a run gets it."""

    here: str
    to: str  # target of a link; empty for a copy


Pieces = Mapping[str, BuildPiece]  # by relative path


class Build:
    """One kept folder. `finished`: names of files that no program rewrites once they exist; `library`: a kept folder that runs also read."""

    def __init__(self, folder: Path, finished: tuple[str, ...] = (), library: "Build | None" = None) -> None:
        self.folder, self.finished = Path(os.path.realpath(folder)), finished  # one folder has one seal, whatever path leads to it
        self.library = library
        name = sha256(os.fsencode(self.folder)).hexdigest()[:32]
        self.record = state_dir() / "builds" / f"{name}.json"

    def holds(self) -> bool:
        """Whether it exists and every file is as the base left it."""
        return self._read(0.0) is not None

    @contextmanager
    def lent(self, fills: bool) -> Iterator[Path]:
        """The folder for one run, with what is kept and nothing else. `fills`: this is a run of the base, whose builds are kept."""
        with _own_folder(self.folder.parent, self.folder.name) as own:
            with self._locked(fcntl.LOCK_SH), self._library() as shared:
                found = self._read(RENEWED if fills else 0.0)
                pieces = {**shared, **(found or {})}
                lay_out(own, pieces)
                yield own
            if fills:
                self._take(own, pieces, found is not None)
            with suppress(OSError):
                strip(own, pieces)  # its builds take space; the next run cleans up if this fails

    @contextmanager
    def _library(self) -> Iterator[Pieces]:
        """The pieces of the library, locked while they are in use."""
        if self.library is None:
            yield {}
        else:
            with self.library._locked(fcntl.LOCK_SH):
                yield self.library._read(0.0) or {}

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Lock the folder: shared for runs, exclusive for adding to it. BlockingIOError if it is in use."""
        self.record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _lock(os.open(self.record.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), how):
            yield

    # -- the kept folder -----------------------------------------------------------------------------------------------------

    def _read(self, most: float) -> Pieces | None:
        """The kept pieces; None if a file was touched, or if they are older than `most` seconds (0: any age)."""
        stored = state.read_sealed(self.record) if self.record.is_file() else None
        known, _, since = (stored or "").partition(" ")
        if stored is None or (most and time.time() - float(since) > most):
            return None
        with suppress(OSError):
            pieces, looked = self._look()
            return pieces if looked == known else None
        return None  # it is being rebuilt

    def _look(self) -> tuple[Pieces, str]:
        """Every file as a piece, and a digest of their stamps."""
        seen = looks(self.folder)
        pieces = {path: BuildPiece(look.here, look.to or (look.here if self._is_finished(path) else "")) for path, look in seen.items()}
        return pieces, digest(seen)

    def _is_finished(self, path: str) -> bool:
        return any(fnmatch(os.path.basename(path), name) for name in self.finished)

    def _take(self, own: Path, pieces: Pieces, whole: bool) -> None:
        """Keep what a run built: added to the kept files if these are unchanged, else replacing them. Does nothing while others use the folder."""
        with suppress(BlockingIOError), self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB):
            if whole and not self.holds():
                return
            stored = (state.read_sealed(self.record) if whole else None) or ""
            if not whole:
                shutil.rmtree(self.folder, ignore_errors=True)
            for here, path in _files(own):
                if not _is(here, pieces.get(path)):
                    self._keep(here, path)
            state.write_sealed(self.record, f"{self._look()[1]} {stored.partition(' ')[2] or time.time()}", durable=False)

    def _keep(self, here: str, path: str) -> None:
        there = self.folder / path
        there.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.islink(here) and self._is_finished(path):
            os.chmod(here, stat.S_IMODE(os.stat(here).st_mode) & 0o555)
        os.replace(here, there)


# -- the folder of a run -----------------------------------------------------------------------------------------------------


@contextmanager
def _own_folder(above: Path, name: str) -> Iterator[Path]:
    """A folder that no other run uses now. Folders are reused, because checking thousands of links is faster than creating them."""
    above.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        there = sorted(above.glob(f"{OWN}*"))
        own = next((each for each in there if _free(each, stack)), None)
        while own is None:
            fresh = Path(mkdtemp(prefix=OWN, dir=above))
            own = fresh if _free(fresh, stack) else None
        (own / name).mkdir(exist_ok=True)
        try:
            yield own / name
        finally:
            if len(there) > MOST_OWN:
                shutil.rmtree(own, ignore_errors=True)


def _free(folder: Path, stack: ExitStack) -> bool:
    """Lock a folder for this run, if no other run has it. A killed run releases its lock."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        stack.enter_context(_lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
        return folder.is_dir()
    return False


@contextmanager
def _lock(fd: int, how: int) -> Iterator[None]:
    try:
        fcntl.flock(fd, how)
        yield
    finally:
        os.close(fd)


def lay_out(own: Path, pieces: Pieces) -> None:
    """Make a run's folder match the pieces. Leftovers of earlier runs are not trusted: links are read, copies compared."""
    try:
        strip(own, pieces)
    except OSError:  # something that an earlier run made cannot be removed
        own.rename(own.with_name(f"lost-{os.urandom(8).hex()}"))
        own.mkdir()
    for path, piece in pieces.items():
        there = own / path
        if _is(str(there), piece):
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if piece.to:
            there.symlink_to(piece.to)
        else:
            there.unlink(missing_ok=True)
            shutil.copy2(piece.here, there)


def strip(own: Path, pieces: Pieces) -> None:
    """Remove whatever is not one of these pieces, even from folders whose permissions a run changed."""
    wanted = {parent for path in pieces for parent in _above(path)}
    left, folders = [""], list[str]()
    while left:
        at = left.pop()
        os.chmod(own / at, 0o755)
        with os.scandir(own / at) as entries:
            for entry in list(entries):
                path = os.path.join(at, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    left.append(path)
                    folders.append(path)
                elif not _is(entry.path, pieces.get(path)):
                    os.unlink(entry.path)
    for path in reversed(folders):
        if path not in wanted:
            os.rmdir(own / path)


def _is(here: str, piece: BuildPiece | None) -> bool:
    """Whether a file of a run's folder is exactly this piece."""
    try:
        seen = os.lstat(here)
        if piece is None or stat.S_ISLNK(seen.st_mode) or piece.to:
            return piece is not None and bool(piece.to) and stat.S_ISLNK(seen.st_mode) and os.readlink(here) == piece.to
        if not stat.S_ISREG(seen.st_mode) or seen.st_nlink > 1 or Path(here).read_bytes() != Path(piece.here).read_bytes():
            return False
        shutil.copystat(piece.here, here)
    except OSError:
        return False
    return True


def _above(path: str) -> Iterator[str]:
    while path := os.path.dirname(path):
        yield path


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file and link below a folder, with its relative path."""
    for here, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        for name in (*files, *links):
            path = os.path.join(here, name)
            yield path, os.path.relpath(path, folder)
