"""Toolboxes over a real folder with a real shell."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from detent.sandbox.process import Ran, run
from detent.tools import Toolbox, ToolResult
from detent.tools.beneath import Opener, by_openat2, by_walk
from detent.tools.search import ripgrep

OPENERS: dict[str, Opener] = {"openat2": by_openat2, "walk": by_walk}
PROGRAMS: dict[str, Callable[[Path], Path | None]] = {"ripgrep": ripgrep, "fallback": lambda root: None}


class Bench(NamedTuple):
    """A workspace, the folder beside it, and the tools in it."""

    root: Path
    outside: Path
    tools: Toolbox

    def call(self, name: str, **arguments: object) -> ToolResult:
        return self.tools.call(name, arguments)

    def told(self, name: str, **arguments: object) -> str:
        """The text of a call that must succeed."""
        answer = self.call(name, **arguments)
        assert not answer.failed, answer.text
        return answer.text

    def refused(self, name: str, **arguments: object) -> str:
        """The text of a call that must fail."""
        answer = self.call(name, **arguments)
        assert answer.failed, answer.text
        return answer.text

    def put(self, path: str, data: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file


def bench(
    folder: Path,
    opener: Opener | None = None,
    program: Callable[[Path], Path | None] = ripgrep,
    may_write: Callable[[str], str | None] = lambda path: None,
    timeout: float = 20,
) -> Bench:
    root, outside = folder / "workspace", folder / "outside"
    root.mkdir()
    outside.mkdir()

    def shell(command: str) -> Ran:
        return run(["/bin/sh", "-c", command], root, {"PATH": os.environ["PATH"]}, timeout)

    return Bench(root, outside, Toolbox(root, may_write, shell, folder / "spill", opener, program))
