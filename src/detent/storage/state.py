"""The user's state folder: its secrets, the seals made with one of them, and the marks of scratch folders. Knows no purpose of any.

Each secret is created once, readable only by its owner. A seal protects a file of the machine's where agents can write: the file is
trusted only if the machine wrote it, at that very place. Without a valid seal it counts as missing, and its content is computed again. A
seal does not stop someone who can read the key, which any program with all of the user's permissions can.
"""

import fcntl
import hmac
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from detent.errors import DetentError

LENGTH = 40  # minimum length of a complete secret


def state_dir() -> Path:
    """Where Detent keeps this user's state."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "detent"


def own_secret(name: str) -> str:
    """The secret of this name, created if there is none."""
    file = state_dir() / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return _made(file)
        with os.fdopen(fd, "r", encoding="ascii", errors="replace") as source:
            seen, text = os.fstat(fd), source.read().strip()
    except OSError as e:
        raise DetentError(f"the secret {file} cannot be kept: {e.strerror}", "check the permissions of its folder") from e
    if seen.st_mode & 0o077 or seen.st_uid != os.getuid() or len(text) < LENGTH:
        raise DetentError(f"{file} can be read by others, or is incomplete", "remove it; a new one is made when it is needed")
    return text


def _made(file: Path) -> str:
    secret = os.urandom(32).hex()
    draft = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as out:
        out.write(secret + "\n")
    try:
        os.link(draft, file)  # of several processes that create it, one wins
    except FileExistsError:
        return own_secret(file.name)
    except OSError:  # no hard links here
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
    return secret


KEY = "seal-key"


def write_sealed(file: Path, text: str, durable: bool = True, key: str = "") -> None:
    """Write a sealed text atomically. Not `durable`: do not wait for the disk.

    `key`: a key that several machines share, for a file that moves between them; it is then sealed by its name, not its path.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    with scratch.open("x", encoding="ascii") as out:
        out.write(json.dumps({"seal": _seal(key or own_secret(KEY), file.name if key else os.path.realpath(file), text), "kept": text}))
        out.flush()
        if durable:
            os.fsync(out.fileno())
    os.replace(scratch, file)


def read_sealed(file: Path, key: str = "") -> str | None:
    """The sealed text; None if there is none, or if the machine did not write it. An unusable key is an error first."""
    where = file.name if key else os.path.realpath(file)
    key = key or own_secret(KEY)
    try:
        raw = json.loads(file.read_bytes())
        seal, text = str(raw["seal"]), str(raw["kept"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return text if hmac.compare_digest(seal.encode("utf-8", "surrogatepass"), _seal(key, where, text).encode()) else None


def drawing_key(of: str) -> bytes:
    """A key for pseudo-random choices about `of`: stable, and unpredictable without the seal key."""
    return hmac.digest(own_secret(KEY).encode(), f"lot\n{of}".encode("utf-8", "surrogatepass"), "sha256")


def _seal(key: str, where: str, text: str) -> str:
    """The seal of a text at a place; a copy elsewhere is invalid."""
    return hmac.digest(key.encode("utf-8", "surrogateescape"), f"{where}\n{text}".encode("utf-8", "surrogatepass"), "sha256").hex()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder, removed afterwards. Its name reveals no purpose, since tests may read it."""
    marks = state_dir() / "scratch"
    marks.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(marks)
    folder = Path(tempfile.gettempdir()) / secrets.token_hex(6)
    draft, mark = marks / f".{folder.name}", marks / folder.name
    with draft.open("x", encoding="utf-8", errors="surrogateescape") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(str(folder))
        held.flush()
        draft.rename(mark)  # visible only now: locked, and before the folder exists
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)


def _sweep(marks: Path) -> None:
    """Remove scratch folders whose process is gone, and their marks."""
    for mark in [mark for mark in marks.iterdir() if not mark.name.startswith(".")]:
        with suppress(OSError), mark.open("r", encoding="utf-8", errors="surrogateescape") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a living process holds the lock
            folder = Path(left.read())
            if folder.name == mark.name and os.path.lexists(folder) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)
