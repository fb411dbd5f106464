"""Calls for programs of ours that stand between the machine and a test runner: they start it as often as needed and write one report.

Owns how such a program is called and how it calls others. Its words come as one JSON value, so that none can be taken for an option.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class Done(NamedTuple):
    """A program that ended."""

    code: int
    stdout: str
    stderr: str


def calls(module: str, report_path: str, order: msgspec.Struct) -> list[str]:
    """The call of a program of ours. Nothing of the project can stand in the way of its modules."""
    return [sys.executable, "-I", "-m", module, report_path, msgspec.json.encode(order).decode()]


def ordered(kind: type[T]) -> tuple[Path, T]:
    """Where the report goes, and what was asked for."""
    return Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=kind)


def start(argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None) -> Done:
    """Run a program to its end, its two streams apart."""
    try:
        done = subprocess.run(argv, env={**os.environ, **(env or {})}, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as e:
        sys.exit(f"'{argv[0]}' could not be started: {e.strerror}")
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def write(report: Path, found: msgspec.Struct) -> None:
    """The report, into the file that is already there."""
    with report.open("r+b") as file:
        file.write(msgspec.json.encode(found))
        file.truncate()
