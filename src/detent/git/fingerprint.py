"""The fingerprint of what git could be made to execute: hooks, config keys that name programs, attributes. Read without git.

In a person's own checkout an agent can write the git dir. A change of this fingerprint stops the machine before git is called. It is kept
by the path of the git dir, and the git dir by the path of its checkout: a copy in its place is another one, not a new one.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import Place
from detent.journal.anchor import anchor_file
from detent.storage.state import keep, kept, state_dir

SECTIONS = (
    "filter", "diff", "merge", "include", "includeif", "alias", "gpg", "url", "protocol", "credential", "trailer", "sequence", "interactive",
    "submodule", "extensions", "uploadpack", "mergetool", "difftool", "hook", "lfs",
)  # fmt: skip
KEYS = (
    "hookspath", "fsmonitor", "sshcommand", "pager", "editor", "gitproxy", "askpass", "attributesfile", "worktree", "alternaterefscommand",
    "uploadpack", "receivepack", "vcs", "promisor", "sshvariant",
)  # fmt: skip
PROGRAM = re.compile(r".*(?:command|hook|helper|program|cmd)")  # how keys are called whose value is run
OF_LFS = ("repositoryformatversion", "locksverify", "access")  # what Git LFS writes down by itself
HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"[^"\\\x00-\x1f]*")?\]')
PLAIN = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\x00-\x08\x0a-\x1f]*)?")
UNKNOWN = "?"  # the section of lines that git may read otherwise than we do
DEEPEST = 10  # included files that include others
INCLUDES = ("include", "includeif")
ACCEPT = "if it was you, accept it with `detent doctor --accept`"


def fingerprint(place: Place) -> str:
    """One hash over everything that can execute, and how it was made."""
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
    """The lines of a config file, and of those that it includes, that can name a program, whatever their case; each with its header.

    Only lines of the plainest form are left out: what git might read otherwise than we do counts, and so does all that stands below it.
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


def _included(file: Path, said: str) -> Path:
    name = said.strip('"')
    return Path(os.path.expanduser(name)) if name.startswith("~") else file.parent / name


def _text(file: Path) -> str:
    """What a file says; a missing one says nothing, and one that cannot be read is no plain one."""
    try:
        return file.read_text("utf-8", "surrogateescape") if file.is_file() else ""
    except OSError as e:
        return f"?{e.errno}"


def _file(place: Place) -> Path:
    """Where it is kept: for all worktrees of a repository once, and apart for one that has such settings of its own."""
    own = place.git_dir != place.common_dir and any(_config(place.git_dir / "config.worktree"))
    return state_dir() / "fingerprints" / (_short(place.git_dir) if own else anchor_file(place.journal).name)


def _short(path: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]


def _checkout_file(place: Place) -> Path:
    return state_dir() / "checkouts" / _short(place.root)


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
    file = _file(place)
    if not file.exists() and not anchor_file(place.journal).exists():
        remember(place)  # the first look
    elif not file.exists() or kept(file) != fingerprint(place):
        raise DetentError(
            "the hooks, the attributes or the configuration of this repository changed in a way that could run programs",
            f"look at .git/hooks and .git/config; {ACCEPT}",
        )
