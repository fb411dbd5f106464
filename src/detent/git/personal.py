"""What of a person's own git settings holds in our calls: line ends, ignored files, Git LFS as it is installed. Nothing that names a program.

Whoever can write the home could otherwise have a program run by a filter and an attribute of `~/.config/git`. Calls that only read settings
or speak to a remote keep the person's settings: they need identities, helpers and proxies, and run no filter. Reads files; starts nothing.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from detent.storage.state import state_dir

ALLOWED = {
    "core": ("autocrlf", "eol", "safecrlf", "excludesfile", "ignorecase", "precomposeunicode", "filemode", "symlinks"),
    "user": ("name", "email"),
    "init": ("defaultbranch",),
    "safe": ("directory",),
    "i18n": ("commitencoding",),
}
LFS = {  # the one filter that most who have one have; only as its own installer writes it
    "clean": "git-lfs clean -- %f",
    "smudge": "git-lfs smudge -- %f",
    "process": "git-lfs filter-process",
    "required": "true",
}
HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')


def personal_config(env: Mapping[str, str]) -> str:
    """The path of a file with the person's harmless settings, for GIT_CONFIG_GLOBAL; the null device if there are none."""
    home = env.get("HOME", "")
    xdg = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = (Path("/etc/gitconfig"), Path(xdg) / "git" / "config", Path(home or "/nonexistent") / ".gitconfig")
    text = "".join(line for file in files for line in _harmless(_text(file)))
    return str(_kept(text)) if text else os.devnull


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _harmless(text: str) -> Iterator[str]:
    """The settings that are let through, each with its section."""
    section = name = ""
    for raw in re.sub(r"\\\r?\n", "", text).splitlines():
        line = raw.strip()
        if found := HEADER.match(line):
            section, name, line = found[1].lower(), found[2] or "", found[3]
        key, _, value = (part.strip() for part in line.partition("="))
        if key.lower() in ALLOWED.get(section, ()) and not name:
            yield f"[{section}]\n\t{key} = {value}\n"
        elif section == "filter" and name == "lfs" and value and LFS.get(key.lower()) == value.strip('"'):
            yield f'[filter "lfs"]\n\t{key} = {value}\n'


def _kept(text: str) -> Path:
    """The settings as a file of ours; written again unless it is what it should be."""
    data = text.encode("utf-8", "surrogateescape")
    file = state_dir() / "git" / f"{hashlib.sha256(data).hexdigest()[:24]}.config"
    if not file.is_file() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
        draft.write_bytes(data)
        os.replace(draft, file)
    return file
