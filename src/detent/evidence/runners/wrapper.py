"""Wrappers: our own programs between the machine and a test runner, which start it as often as needed and write one report.

Owns how a wrapper is called and how it starts programs. Its order comes as one JSON value, so no word can be taken for an option.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.evidence.runners.adapter import Call, Command, Files

BUILT = frozenset({"target", "build", "node_modules"})


class ProgramEnded(NamedTuple):
    """How a program ended, with its output."""

    code: int
    stdout: str
    stderr: str


class RunOrder(msgspec.Struct):
    """What a wrapper must run."""

    program: list[str] = []
    options: list[str] = []
    paths: list[str] = []  # files, folders, and whatever else the runner takes as paths
    names: list[str] = []  # test names, or patterns of names
    targets: list[str] = []  # build targets: --lib, --test=name and the like


def wrapped(module: str, order: Callable[[Command, tuple[str, ...], Files | None], RunOrder]) -> Call:
    """The machine's call of a runner through a wrapper, isolated from the project's own Python modules."""

    def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        return [sys.executable, "-I", "-m", module, report_path, msgspec.json.encode(order(base, selectors, files)).decode()]

    return argv


def ordered() -> tuple[Path, RunOrder]:
    """The report's path and the order, from the command line."""
    return Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=RunOrder)


def start(argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None) -> ProgramEnded:
    """Run a program to its end, with separate output streams."""
    try:
        done = subprocess.run(argv, env={**os.environ, **(env or {})}, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as e:
        sys.exit(f"'{argv[0]}' could not be started: {e.strerror}")
    return ProgramEnded(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def write(report: Path, found: msgspec.Struct | bytes) -> None:
    """Write the report into the existing file."""
    with report.open("r+b") as file:
        file.write(found if isinstance(found, bytes) else msgspec.json.encode(found))
        file.truncate()


def source_files(root: Path) -> Iterator[str]:
    """The files of a tree, without built and hidden ones."""
    for here, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and (name not in BUILT or "/src/" in f"{here}/"))
        yield from (os.path.relpath(os.path.join(here, name), root) for name in sorted(files))
