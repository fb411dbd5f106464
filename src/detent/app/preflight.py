"""The default preflight, for a project that configures none: the linters and type checkers that its files configure.

Owns which files mean that a tool is configured. Runs nothing; reports configured programs that are missing.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as NotIni
from pathlib import Path
from typing import NamedTuple

from detent.evidence.runners import Folder

Read = Callable[[str], str | None]
ESLINT = tuple(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")) + tuple(
    f".eslintrc{end}" for end in ("", ".js", ".cjs", ".json", ".yml", ".yaml")
)
SCRIPTS = {"lint": ("lint",), "typecheck": ("typecheck", "type-check")}  # purpose -> names of such a script in package.json
FIXES = ("--fix", "--write")  # a script with one of these changes files instead of checking them


class FoundTool(NamedTuple):
    """A tool that the project configures: its program and arguments."""

    program: str
    words: str


def default_preflight(read: Read, root: Path, path: str) -> tuple[str, ...]:
    """The commands of configured tools whose program exists."""
    return tuple(f"{there} {each.words}".strip() for each in _configured(read) if (there := _program(root, path, each.program)))


def missing_preflight(read: Read, root: Path, path: str) -> tuple[str, ...]:
    """The programs of configured tools that do not exist."""
    return tuple(each.program for each in _configured(read) if not _program(root, path, each.program))


def _configured(read: Read) -> Iterator[FoundTool]:
    try:
        tools = tomllib.loads(read("pyproject.toml") or "").get("tool", {})
    except tomllib.TOMLDecodeError:
        tools = {}
    if "ruff" in tools or any(read(name) is not None for name in ("ruff.toml", ".ruff.toml")):
        yield FoundTool("ruff", "check --no-cache .")
    if (options := _mypy(read, tools)) is not None:
        yield FoundTool("mypy", "--cache-dir=/dev/null" + ("" if {"files", "packages", "modules"} & options else " ."))
    yield from _javascript(read)


def _mypy(read: Read, tools: Mapping[str, object]) -> set[str] | None:
    """The options of mypy that the project sets; None if it does not configure it."""
    for name in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        ini = ConfigParser(interpolation=None)
        try:
            ini.read_string(read(name) or "")
        except NotIni:
            continue
        if "mypy" in ini:
            return set(ini["mypy"])
    ours = tools.get("mypy")
    return set(ours) if isinstance(ours, Mapping) else None


def _javascript(read: Read) -> Iterator[FoundTool]:
    """For lint and type check: the project's own npm script, or else the tool whose configuration file exists."""
    try:
        scripts = json.loads(read("package.json") or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return
    sound = {name for name, text in scripts.items() if isinstance(text, str) and not any(word in text for word in FIXES)}
    own = {what: next((name for name in names if name in sound), "") for what, names in SCRIPTS.items()}
    tools = {"lint": (ESLINT, FoundTool("eslint", ".")), "typecheck": (("tsconfig.json",), FoundTool("tsc", "--noEmit"))}
    for what, (files, tool) in tools.items():
        if own[what]:
            yield FoundTool("npm", f"run --silent {own[what]}")
        elif any(read(name) is not None for name in files):
            yield tool


def _program(root: Path, path: str, name: str) -> str:
    """The command for a program: in the project's own environment, or on PATH; empty if it is in neither."""
    for home in (".venv/bin", "venv/bin", "node_modules/.bin"):
        if (root / home / name).exists():
            return f"{home}/{name}"
    return name if Folder(root, path).which(name) else ""
