"""The fingerprint of what git could be made to execute: hooks, config keys that name programs, attributes. Read without git.

In a person's own checkout an agent can write the git dir. A change of this fingerprint stops the machine before git is called. It is kept
by the path of the git dir, and the git dir by the path of its checkout: a copy in its place is another one, not a new one.
"""

import hashlib
import os
import re
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import Place
from detent.journal.anchor import anchor_file, older_anchor_file
from detent.storage.seal import keep, kept
from detent.storage.state import state_dir

SECTIONS = (
    "filter", "diff", "merge", "include", "includeif", "alias", "gpg", "url", "protocol", "credential", "trailer", "sequence", "interactive",
    "submodule", "extensions", "uploadpack", "mergetool", "difftool", "hook",
)  # fmt: skip
KEYS = (
    "hookspath", "fsmonitor", "sshcommand", "pager", "editor", "gitproxy", "askpass", "attributesfile", "worktree", "alternaterefscommand",
    "uploadpack", "receivepack", "vcs", "promisor", "sshvariant", "packobjectshook",
)  # fmt: skip
ACCEPT = "if it was you, accept it with `detent doctor --accept`"


def fingerprint(place: Place) -> str:
    """One hash over everything that can execute."""
    h = hashlib.sha256()
    for line in (*_hooks(place.common_dir / "hooks"), *_config(place.common_dir / "config"), *_config(place.git_dir / "config.worktree")):
        h.update(line.encode("utf-8", "surrogateescape") + b"\n")
    for file in (place.common_dir / "info" / "attributes", place.common_dir / "objects" / "info" / "alternates"):
        h.update(file.read_bytes() if file.is_file() else b"-")
    return h.hexdigest()


def _hooks(folder: Path) -> list[str]:
    files = sorted(f for f in folder.iterdir() if not f.name.endswith(".sample")) if folder.is_dir() else []
    return [f"hook {f.name} {hashlib.sha256(f.read_bytes()).hexdigest() if f.is_file() else 'folder'}" for f in files]


def _config(file: Path) -> list[str]:
    """The lines of a config file that can name a program, whatever their case."""
    section, lines, goes_on = "", list[str](), False
    for raw in file.read_text("utf-8", "surrogateescape").splitlines() if file.is_file() else []:
        line = raw.strip()
        if m := re.match(r"\[\s*([^\s\"\]]+)", line):
            section = m.group(1).lower().split(".")[0]
        key = line.partition("=")[0].strip().lower()
        named = key in KEYS or (line.startswith("[") and any(k in line.lower() for k in KEYS))
        if goes_on or section in SECTIONS or named:
            lines.append(f"{section} {line}")
        goes_on = line.endswith("\\") and (goes_on or section in SECTIONS or named)
    return lines


def _file(place: Place) -> Path:
    return state_dir() / "fingerprints" / anchor_file(place.journal).name


def _checkout_file(place: Place) -> Path:
    return state_dir() / "checkouts" / hashlib.sha256(os.fsencode(place.root)).hexdigest()[:24]


def files_of(place: Place) -> tuple[Path, ...]:
    """What is kept of a checkout in the user's state folder."""
    return _file(place), _checkout_file(place)


def bind(place: Place, again: bool = False) -> None:
    """Keep which git dir a checkout has, once; again where a person accepts another one."""
    file = _checkout_file(place)
    if again or not file.exists():
        keep(file, os.path.realpath(place.common_dir), durable=False)


def must_be_bound(place: Place) -> None:
    """Stop if a checkout has another git dir than it had: what was kept of the one says nothing of the other."""
    file = _checkout_file(place)
    if file.exists() and (was := kept(file)) != os.path.realpath(place.common_dir):
        raise DetentError(
            f"the git dir of {place.root} is {place.common_dir}, and it was {was or 'another one'} when Detent last looked",
            f"put it back; {ACCEPT}",
        )


def remember(place: Place) -> None:
    """Take the present state as the one a person accepts."""
    keep(_file(place), fingerprint(place), durable=False)
    bind(place)


def begin(place: Place, busy: bool) -> None:
    """Before a run starts: a person may have changed what they like since the last one; not beside a run that is open."""
    check(place) if busy else remember(place)


def check(place: Place) -> None:
    """Stop before git is called, if what it could execute changed."""
    must_be_bound(place)
    file, older = _file(place), state_dir() / "fingerprints" / older_anchor_file(place.journal).name
    if not file.exists() and (older.is_file() or not anchor_file(place.journal).exists()):
        remember(place)  # the first look; or, once, the first one since it is kept by the path
        older.unlink(missing_ok=True)
    elif kept(file) != fingerprint(place):
        raise DetentError(
            "the hooks, the attributes or the configuration of this repository changed in a way that could run programs",
            f"look at .git/hooks and .git/config; {ACCEPT}",
        )
