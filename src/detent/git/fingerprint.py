"""The fingerprint of everything that git could execute: hooks, config keys that name programs, attributes. Computed without git.

In a person's own checkout an agent can write to the git dir, so a changed fingerprint stops the machine before it calls git. It is stored
under the git dir's path, and the git dir under its checkout's path, so that a swapped copy shows up as a change, not as something new.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import Place
from detent.journal.anchor import anchor_file
from detent.storage.state import read_sealed, state_dir, write_sealed

SECTIONS = (
    "filter", "diff", "merge", "include", "includeif", "alias", "gpg", "url", "protocol", "credential", "trailer", "sequence", "interactive",
    "submodule", "extensions", "uploadpack", "mergetool", "difftool", "hook", "lfs",
)  # fmt: skip
KEYS = (
    "hookspath", "fsmonitor", "sshcommand", "pager", "editor", "gitproxy", "askpass", "attributesfile", "worktree", "alternaterefscommand",
    "uploadpack", "receivepack", "vcs", "promisor", "sshvariant",
)  # fmt: skip
PROGRAM = re.compile(r".*(?:command|hook|helper|program|cmd)")  # names of keys whose value is executed
OF_LFS = ("repositoryformatversion", "locksverify", "access")  # written by Git LFS itself
HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"[^"\\\x00-\x1f]*")?\]')
PLAIN = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\x00-\x08\x0a-\x1f]*)?")
UNKNOWN = "?"  # the section of lines that git may parse differently than we do
DEEPEST = 10  # levels of nested includes
INCLUDES = ("include", "includeif")
ACCEPT = "if it was you, accept it with `detent doctor --accept`"


def fingerprint(place: Place) -> str:
    """One hash over everything that git could execute."""
    h = hashlib.sha256()
    for line in (*_hooks(place.common_dir / "hooks"), *_config(place.common_dir / "config"), *_config(place.git_dir / "config.worktree")):
        h.update(line.encode("utf-8", "surrogateescape") + b"\n")
    for file in (place.common_dir / "info" / "attributes", place.common_dir / "objects" / "info" / "alternates"):
        h.update(file.read_bytes() if file.is_file() else b"-")
    return h.hexdigest()


def _hooks(folder: Path) -> list[str]:
    files = sorted(f for f in folder.iterdir() if not f.name.endswith(".sample")) if folder.is_dir() else []
    return [f"hook {f.name} {hashlib.sha256(f.read_bytes()).hexdigest() if f.is_file() else 'folder'}" for f in files]


def _config(file: Path, depth: int = 0) -> Iterator[str]:
    """The config lines that could name a program, from a file and those it includes; each with its section header.

    Only lines of the plainest form are skipped: a line that git might parse differently counts, and so does everything below it.
    """
    head = section = ""
    for line in (raw.strip(" \t\r") for raw in _text(file).split("\n")):
        if (found := HEADER.fullmatch(line)) is not None:
            head, section = line, found[1].lower().split(".")[0]
            continue
        if not line or (line.startswith(("#", ";")) and section != UNKNOWN):
            continue
        plain = PLAIN.fullmatch(line)
        if plain is None or line.endswith("\\"):
            section = UNKNOWN
        key = plain[1].lower() if plain else ""
        if _can_run(section, key):
            yield f"{head} {line}"
        if key == "path" and section in INCLUDES and depth < DEEPEST:
            yield from _config(_included(file, line.partition("=")[2].strip()), depth + 1)


def _can_run(section: str, key: str) -> bool:
    """Whether a setting may name a program, or lead to one."""
    return section == UNKNOWN or key in KEYS or PROGRAM.fullmatch(key) is not None or (section in SECTIONS and key not in OF_LFS)


def _included(file: Path, path: str) -> Path:
    name = path.strip('"')
    return Path(os.path.expanduser(name)) if name.startswith("~") else file.parent / name


def _text(file: Path) -> str:
    """The text of a file; empty if it is missing, an unparsable marker if it cannot be read."""
    try:
        return file.read_text("utf-8", "surrogateescape") if file.is_file() else ""
    except OSError as e:
        return f"?{e.errno}"


def _file(place: Place) -> Path:
    """Where the fingerprint is kept: one for all worktrees of a repository; a worktree with settings of its own that matter has its own."""
    own = place.git_dir != place.common_dir and any(_config(place.git_dir / "config.worktree"))
    return state_dir() / "fingerprints" / (_short(place.git_dir) if own else anchor_file(place.journal).name)


def _short(path: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]


def _checkout_file(place: Place) -> Path:
    return state_dir() / "checkouts" / _short(place.root)


def files_of(place: Place) -> tuple[Path, ...]:
    """The files in the user's state folder about a checkout."""
    return _file(place), _checkout_file(place)


def bind(place: Place, again: bool = False) -> None:
    """Remember the git dir of a checkout, once; again when a person accepts another one."""
    file = _checkout_file(place)
    if again or not file.exists():
        write_sealed(file, os.path.realpath(place.common_dir), durable=False)


def must_be_bound(place: Place) -> None:
    """DetentError if a checkout has another git dir than before, since what is known of the old one does not apply to it."""
    file = _checkout_file(place)
    if file.exists() and (was := read_sealed(file)) != os.path.realpath(place.common_dir):
        raise DetentError(
            f"the git dir of {place.root} is {place.common_dir}, and it was {was or 'another one'} when Detent last looked",
            f"put it back; {ACCEPT}",
        )


def remember(place: Place) -> None:
    """Remember the current state as the one that a person accepts."""
    write_sealed(_file(place), fingerprint(place), durable=False)
    bind(place)


def begin(place: Place, busy: bool) -> None:
    """Before a run starts: accept whatever a person changed since the last run; but if a run is open, check instead."""
    check(place) if busy else remember(place)


def check(place: Place) -> None:
    """DetentError, before git is called, if anything that it could execute has changed."""
    must_be_bound(place)
    file = _file(place)
    if not file.exists() and not anchor_file(place.journal).exists():
        remember(place)  # the first look
    elif not file.exists() or read_sealed(file) != fingerprint(place):
        raise DetentError(
            "the hooks, the attributes or the configuration of this repository changed in a way that could run programs",
            f"look at .git/hooks and .git/config; {ACCEPT}",
        )
