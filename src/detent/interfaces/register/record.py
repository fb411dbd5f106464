"""What was registered in a checkout, and how it was before: kept in its git dir."""

from pathlib import Path

import msgspec

from detent.app.hooks_seen import FOLDER
from detent.errors import DetentError
from detent.interfaces.register.files import write
from detent.kernel.model import Value


class Touched(Value, frozen=True):
    """A file as it was before, and as we left it."""

    before: str | None
    after: str


class Registration(Value, frozen=True):
    """One client's registration: its files by their paths below the root."""

    files: dict[str, Touched] = {}


def record_file(git_dir: Path, client: str) -> Path:
    return git_dir / FOLDER / f"{client}.json"


def read_record(git_dir: Path, client: str) -> Registration:
    file = record_file(git_dir, client)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Registration)
    except FileNotFoundError:
        return Registration()
    except (OSError, msgspec.DecodeError) as e:
        raise DetentError(f"{file} cannot be read: {e}", "remove it; what was written is then removed entry by entry") from e


def keep_record(git_dir: Path, client: str, record: Registration) -> None:
    write(record_file(git_dir, client), msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")


def drop_record(git_dir: Path, client: str) -> None:
    for name in (f"{client}.json", f"{client}.seen"):
        (git_dir / FOLDER / name).unlink(missing_ok=True)
