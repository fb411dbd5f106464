"""Registers and unregisters a client in a checkout: computes the changes of all files first, then writes them.
A record in the git dir keeps the files as they were.
"""

import difflib
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.app.hooks_seen import FOLDER
from detent.errors import DetentError
from detent.git.place import Place
from detent.installation import DISTRIBUTION, install_source
from detent.interfaces.register import PARTS
from detent.interfaces.register.files import read_text, remove, write_text
from detent.interfaces.register.local_only import keep_out, tracked
from detent.kernel.model import Value

OF_UVX = ("/uv/archive-v", "/uv/environments-v")  # where uv keeps what `uvx` runs


class Touched(Value, frozen=True):
    """A file before registering, and after."""

    before: str | None
    after: str


class Registration(Value, frozen=True):
    """The record of one client's registration: its files by path from the root."""

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
    write_text(record_file(git_dir, client), msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")


def drop_record(git_dir: Path, client: str) -> None:
    for name in (f"{client}.json", f"{client}.seen"):
        (git_dir / FOLDER / name).unlink(missing_ok=True)


class FileChange(NamedTuple):
    """A changed file; None: it does not exist."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was, is_now = (self.path if text is not None else "/dev/null" for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, was, is_now)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class DetentCall(NamedTuple):
    """The command by which a client calls detent, and whether it works on this machine only."""

    words: list[str]
    local: bool = False


def program() -> list[str]:
    """The command of this installation of detent."""
    return call_of().words


def call_of() -> DetentCall:
    """How to call this installation: plain `detent` if on PATH, uvx if run from uv's cache, else by path, which is local."""
    home = Path(sys.executable).parent
    plain = shutil.which("detent")
    if plain and Path(os.path.realpath(plain)).parent == Path(os.path.realpath(home / "detent")).parent:
        return DetentCall(["detent"])
    if shutil.which("uvx") and any(part in sys.prefix.replace(os.sep, "/") for part in OF_UVX):
        return _by_uvx(install_source())
    beside = home / "detent"
    return DetentCall([str(beside)] if beside.exists() else [sys.executable, "-I", "-m", "detent"], local=True)


def _by_uvx(origin: str) -> DetentCall:
    """The call through uvx: by name if installed from an index, else with the file or repository it came from."""
    if not origin:
        return DetentCall(["uvx", DISTRIBUTION])
    return DetentCall(["uvx", "--from", origin, "detent"], local=not origin.startswith("git+"))


def register(place: Place, client: str) -> list[FileChange]:
    """Add what the client needs and is missing, and record the old files.

    A call by a local path is written only into untracked files, which are then excluded from git.
    """
    call = call_of()
    shared = tracked(place, [part.path for part in PARTS[client](call.words)]) if call.local else frozenset()
    pairs = zip(PARTS[client](call.words), PARTS[client](["detent"]), strict=True)
    parts = [plain if plain.path in shared else ours for ours, plain in pairs]
    found = [(part.path, read_text(place.root / part.path, "utf-8"), part) for part in parts]
    changes = [FileChange(path, before, part.added(before)) for path, before, part in found]
    record = read_record(place.git_dir, client)
    files = {c.path: _touched(c, record.files.get(c.path)) for c in changes if c.after is not None}
    keep_record(place.git_dir, client, Registration(files))
    keep_out(place, client, [c.path for c in changes if c.path not in shared] if call.local else [])
    for change in changes:
        if change.after is not None and change.after != change.before:
            write_text(place.root / change.path, change.after)
    return [c for c in changes if c.before != c.after]


def which() -> str:
    """A sentence on what the clients' files call, and whether to commit them."""
    call = call_of()
    if not call.local:
        return f"They call `{' '.join(call.words)}`, so they hold on every machine that has it on PATH. Commit them."
    return (
        "`detent` is not on PATH here, so they name this machine's copy and are kept out of git (.git/info/exclude); files that git knows "
        "already call plain `detent`. For files to commit, put detent on PATH and call this again."
    )


def _touched(change: FileChange, was: Touched | None) -> Touched:
    """The record of a file: its text before our first change, unless somebody else changed it since."""
    assert change.after is not None, "registering removes no file"
    if was is not None and was.after == change.before:
        return Touched(was.before, change.after)
    return Touched(change.before, change.after)


def unregister(place: Place, client: str) -> list[FileChange]:
    """Remove what was added: by restoring files that are as we left them, else entry by entry."""
    record = read_record(place.git_dir, client)
    changes = []
    for part in PARTS[client](program()):
        now, kept = read_text(place.root / part.path, "utf-8"), record.files.get(part.path)
        if now is not None:
            changes.append(FileChange(part.path, now, kept.before if kept and kept.after == now else part.taken(now)))
    for change in changes:
        if change.after is None:
            remove(place.root / change.path, place.root)
        elif change.after != change.before:
            write_text(place.root / change.path, change.after)
    drop_record(place.git_dir, client)
    keep_out(place, client, [])
    return [c for c in changes if c.before != c.after]
