"""Reads and atomically writes files of a person's project. Errors are sentences."""

import os
import tempfile
from pathlib import Path

from detent.errors import DetentError


def read_text(file: Path, encoding: str = "utf-8-sig") -> str | None:
    """The exact text of a file, line ends included; None if there is no such file."""
    try:
        return file.read_bytes().decode(encoding)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except UnicodeDecodeError as e:
        raise DetentError(f"{file.name} is not UTF-8 text", "save it as UTF-8") from e
    except OSError as e:
        raise DetentError(f"{file} cannot be read: {e.strerror}", "check its owner and permissions") from e


def write_text(file: Path, text: str) -> None:
    """Write a file atomically."""
    if file.is_symlink():
        raise DetentError(f"{file.name} is a symbolic link", "init writes plain files only; replace it, or edit what it points to")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(text.encode())
                os.fchmod(out.fileno(), file.stat().st_mode & 0o777 if file.exists() else 0o644)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as e:
        raise DetentError(f"{file} cannot be written: {e.strerror}", "check its owner, its permissions and the free disk space") from e


def remove(file: Path, root: Path) -> None:
    """Remove a file, and folders below the root that become empty."""
    file.unlink()
    for folder in file.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()
