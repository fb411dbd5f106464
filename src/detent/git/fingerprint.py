"""The fingerprint of what git could be made to execute: hooks, config keys that name programs, attributes. Read without git.

In a person's own checkout an agent can write the git dir. A change of this fingerprint stops the machine before git is called.
"""

import hashlib
import re
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import Place
from detent.kernel.anchor import anchor_file, state_dir

SECTIONS = ("filter", "diff", "merge", "include", "includeif", "alias", "gpg", "url", "protocol", "credential")
KEYS = (
    "hookspath",
    "fsmonitor",
    "sshcommand",
    "pager",
    "editor",
    "gitproxy",
    "askpass",
    "attributesfile",
    "worktree",
    "alternaterefscommand",
)


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
    section, kept = "", []
    for raw in file.read_text("utf-8", "surrogateescape").splitlines() if file.is_file() else []:
        line = raw.strip()
        if m := re.match(r"\[\s*([^\s\"\]]+)", line):
            section = m.group(1).lower().split(".")[0]
        key = line.partition("=")[0].strip().lower()
        if section in SECTIONS or key in KEYS or (line.startswith("[") and any(k in line.lower() for k in KEYS)):
            kept.append(f"{section} {line}")
    return kept


def _file(place: Place) -> Path:
    return state_dir() / "fingerprints" / anchor_file(place.journal).name


def remember(place: Place) -> None:
    """Take the present state as the one a person accepts."""
    file = _file(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(fingerprint(place), "ascii")


def check(place: Place) -> None:
    """Stop before git is called, if what it could execute changed."""
    file = _file(place)
    if not file.is_file():
        remember(place)
    elif file.read_text("ascii") != fingerprint(place):
        raise DetentError(
            "the hooks, the attributes or the configuration of this repository changed in a way that could run programs",
            "look at .git/hooks and .git/config; if it was you, accept it with `detent doctor --accept`",
        )
