"""Excludes files with local paths from git in this clone, by a block in .git/info/exclude that is removed exactly."""

import os
from collections.abc import Sequence

from detent.errors import DetentError
from detent.git.place import Place
from detent.git.repo import Git
from detent.interfaces.register.files import read_text, write_text

BEGIN, END = "# >>> detent init --client {}: these name a program of this machine", "# <<< detent"


def tracked(place: Place, paths: Sequence[str]) -> frozenset[str]:
    """The files among these that git tracks."""
    try:
        return frozenset(Git(place, os.environ).run("ls-files", "-z", "--", *paths).items)
    except DetentError:
        return frozenset()


def keep_out(place: Place, client: str, paths: Sequence[str]) -> None:
    """Set the excluded files of a client; an empty list removes its block."""
    file = place.common_dir / "info" / "exclude"
    text = read_text(file, "utf-8") or ""
    begin = BEGIN.format(client) + "\n"
    head, found, rest = text.partition(begin)
    after = rest.partition(f"{END}\n")[2] if found else ""
    gap = "\n" if paths and head and not head.endswith("\n") else ""
    block = begin + "".join(f"/{path}\n" for path in paths) + f"{END}\n" if paths else ""
    new = head + gap + block + after
    if new != text:
        write_text(file, new)
