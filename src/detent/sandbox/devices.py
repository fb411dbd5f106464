"""Devices of a room's own, for root: those of the machine belong to root, and so would a program inside, which could change their rights.

Owns how they are made; knows no program that isolates.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from detent.storage.state import state_dir

DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}


def make_devices(folder: Path) -> None:
    """The few that every program expects."""
    for name, number in DEVICES.items():
        os.mknod(folder / name, stat.S_IFCHR, os.makedev(*number))
        (folder / name).chmod(0o666)


@contextmanager
def own_devices() -> Iterator[Path | None]:
    """A folder of them, gone afterwards. None for whom the machine's own are out of reach anyway, and where none can be made or opened."""
    for place in _places() if os.getuid() == 0 else ():
        with tempfile.TemporaryDirectory(prefix="detent-dev-", dir=place, ignore_cleanup_errors=True) as made:
            if _work(Path(made)):
                yield Path(made)
                return
    yield None


def _places() -> Iterator[Path]:
    """A file system may forbid devices."""
    with suppress(OSError):
        state_dir().mkdir(parents=True, exist_ok=True)
        yield state_dir()
    yield from (Path(tempfile.gettempdir()), Path("/var/tmp"))


def _work(folder: Path) -> bool:
    try:
        make_devices(folder)
        (folder / "null").write_bytes(b"")
    except OSError:
        return False
    return True
