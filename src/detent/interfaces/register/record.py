"""What was registered in a checkout, and how it was before: kept in its git dir. And whether the registered hooks do run."""

from datetime import datetime
from pathlib import Path

import msgspec

from detent.errors import DetentError
from detent.interfaces.register.files import write
from detent.kernel.model import Value

FOLDER = "detent/clients"  # below the git dir; a hook marks `NAME.seen` there


class Touched(Value, frozen=True):
    """A file as it was before, and as we left it."""

    before: str | None
    after: str


class Record(Value, frozen=True):
    """One client's registration: its files by their paths below the root."""

    files: dict[str, Touched] = {}


def record_file(git_dir: Path, client: str) -> Path:
    return git_dir / FOLDER / f"{client}.json"


def read_record(git_dir: Path, client: str) -> Record:
    file = record_file(git_dir, client)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Record)
    except FileNotFoundError:
        return Record()
    except (OSError, msgspec.DecodeError) as e:
        raise DetentError(f"{file} cannot be read: {e}", "remove it; what was written is then taken out entry by entry") from e


def keep_record(git_dir: Path, client: str, record: Record) -> None:
    write(record_file(git_dir, client), msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")


def drop_record(git_dir: Path, client: str) -> None:
    for name in (f"{client}.json", f"{client}.seen"):
        (git_dir / FOLDER / name).unlink(missing_ok=True)


def registered(git_dir: Path) -> list[str]:
    """The clients that are registered in a checkout."""
    return sorted(file.stem for file in (git_dir / FOLDER).glob("*.json"))


def silent(git_dir: Path, since: str) -> str:
    """A sentence if hooks are registered in this checkout and none of them has run since a moment; else nothing."""
    named = registered(git_dir)
    begun = datetime.fromisoformat(since).timestamp()
    if not named or any(seen.stat().st_mtime >= begun for seen in (git_dir / FOLDER).glob("*.seen")):
        return ""
    return (
        f"Note: hooks of {', '.join(named)} are registered here, and none has run since this run began. Clients skip hooks that their user "
        f"does not trust, without a word; the page of the client in docs/clients of Detent says how to switch them on."
    )
