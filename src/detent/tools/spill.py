"""Outputs too long for an answer, kept in a folder outside the workspace. Read and Grep open them by name: `output:bash-1.txt`."""

import contextlib
import os
import re
from itertools import count
from pathlib import Path

from detent.errors import ToolError
from detent.tools.beneath import READ, FileContent, content, file_trouble

NAME = re.compile(r"output:([a-z]+-[0-9]{1,9}\.txt)")


def keep(folder: Path, kind: str, data: bytes) -> str:
    """Keep an output and return its name."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in count(1 + sum(1 for _ in folder.iterdir())):
        with contextlib.suppress(FileExistsError):
            fd = os.open(folder / f"{kind}-{number}.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as out:
                out.write(data)
            return f"output:{kind}-{number}.txt"
    raise AssertionError("count does not end")


def is_kept(name: str) -> bool:
    return name.startswith("output:")


def read_spilled(folder: Path, name: str) -> FileContent:
    """The output kept under this name."""
    match = NAME.fullmatch(name)
    if match is None:
        raise ToolError("No output is kept under this name. Kept ones are named like output:bash-1.txt.")
    with file_trouble(name):
        fd = os.open(folder / match[1], READ | os.O_NOFOLLOW)
        try:
            return content(fd, name)
        finally:
            os.close(fd)
