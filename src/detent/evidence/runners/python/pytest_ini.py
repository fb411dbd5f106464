"""Which configuration pytest takes for itself in a project's root, and the few of its values that decide what is collected."""

import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.python import pytest_command

Values = dict[str, str | list[str]]
NOT_ENTERED = (".*", "build", "dist", "CVS", "_darcs", "{arch}", "*.egg", "venv", "node_modules")


class Ini(NamedTuple):
    """What is collected, as the project configures it."""

    functions: tuple[str, ...] = ("test",)
    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    folders: tuple[str, ...] = ()  # testpaths
    not_entered: tuple[str, ...] = NOT_ENTERED
    words: tuple[str, ...] = ()  # addopts


def read_ini(base: Command, files: Files) -> Ini:
    """The values of the first file that pytest would take."""
    values = next(_tables(base, files), {})

    def listed(name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = values.get(name)
        return default if value is None else tuple(map(str, value)) if isinstance(value, list) else _split(str(value))

    plain = Ini()
    return Ini(
        listed("python_functions", plain.functions),
        listed("python_files", plain.files),
        listed("testpaths", ()),
        listed("norecursedirs", plain.not_entered),
        listed("addopts", ()),
    )


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text, comments=False))
    except ValueError:
        return tuple(text.split())


def _tables(base: Command, files: Files) -> Iterator[Values]:
    """The tables for pytest, in the order it asks for them; a file of its own counts even if it is empty."""
    if named := _named(base):
        yield _of(named, files.read(named) or "", whole=True) or {}
        return
    for name in ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        text = files.read(name)
        found = _of(name, text) if text is not None else None
        if found is not None:
            yield found


def _named(base: Command) -> str:
    """The file that the command itself names."""
    words = base.argv[pytest_command.program_end(base.argv) :]
    for at, word in enumerate(words):
        if word in ("-c", "--config-file") and at + 1 < len(words):
            return words[at + 1]
        if word.startswith("--config-file="):
            return word.partition("=")[2]
    return ""


def _of(name: str, text: str, whole: bool = False) -> Values | None:
    reader: Callable[[str], Values | None] = _toml if name.endswith(".toml") else _sections
    found = reader(text)
    own = name.rpartition("/")[2].lstrip(".").startswith("pytest.")
    return found if found is not None else {} if own or whole else None


def _toml(text: str) -> Values | None:
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    tool = table.get("tool", {}).get("pytest", table.get("pytest"))
    if not isinstance(tool, dict):
        return None
    inner = tool.get("ini_options", tool)
    return {str(k): v for k, v in inner.items() if isinstance(v, str | list)} if isinstance(inner, dict) else None


def _sections(text: str) -> Values | None:
    import configparser  # most projects keep their settings elsewhere

    parser = configparser.RawConfigParser(strict=False, delimiters=("=", ":"), comment_prefixes=("#", ";"), inline_comment_prefixes=(" #",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    section = next((s for s in ("pytest", "tool:pytest") if parser.has_section(s)), "")
    return dict(parser[section]) if section else None
