"""The configuration that pytest reads at a project's root: what is collected, which files are tests, and the part of a shared file that
concerns pytest. A change elsewhere in such a file is an ordinary change."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.runners.adapter import Command, Files, InnerProject
from detent.evidence.runners.python import pytest_command
from detent.evidence.source.file_patterns import folders, is_outside, telling_patterns

Values = dict[str, str | list[str]]
NOT_ENTERED = (".*", "build", "dist", "CVS", "_darcs", "{arch}", "*.egg", "venv", "node_modules")


class Ini(NamedTuple):
    """What pytest collects, as the project configures it."""

    functions: tuple[str, ...] = ("test",)
    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    folders: tuple[str, ...] = ()  # testpaths
    not_entered: tuple[str, ...] = NOT_ENTERED
    words: tuple[str, ...] = ()  # addopts


def read_ini(base: Command, files: Files) -> Ini:
    """The values of the first configuration file that pytest would read."""
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
    """pytest's tables in the order in which it looks for them; a file of its own counts even if empty."""
    if named := _named(base):
        yield _of(named, files.read(named) or "", whole=True) or {}
        return
    for name in ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        text = files.read(name)
        found = _of(name, text) if text is not None else None
        if found is not None:
            yield found


def _named(base: Command) -> str:
    """The configuration file that the command names."""
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
    import configparser  # imported late: most projects configure it elsewhere

    parser = configparser.RawConfigParser(strict=False, delimiters=("=", ":"), comment_prefixes=("#", ";"), inline_comment_prefixes=(" #",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    section = next((s for s in ("pytest", "tool:pytest") if parser.has_section(s)), "")
    return dict(parser[section]) if section else None


def runner_part(path: str, text: str) -> str:
    """The part of a file that concerns the test run, as text to compare; the whole file if it cannot be parsed."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _tools(text)
    if name in ("setup.cfg", "tox.ini"):
        return _own_sections(text)
    return text


def _tools(text: str) -> str:
    import tomllib

    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return text
    return json.dumps({name: tools.get(name) for name in ("pytest", "coverage", "tox", "hatch")}, sort_keys=True, default=str)


def _own_sections(text: str) -> str:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return text
    ours = [s for s in parser.sections() if s.split(":")[0] in ("tool", "pytest", "coverage", "testenv", "tox")]
    return json.dumps({s: dict(parser[s]) for s in ours}, sort_keys=True)


DOCTESTS = "--doctest-modules"
NAMED = re.compile(r"tests?|testing")


def patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """Configured name patterns, limited to `testpaths` if set, and folders that contain nothing but tests."""
    ini = read_ini(base or Command(("pytest",), "pytest"), files)
    configured = [path.partition("::")[0] for path in (*ini.folders, *(base.paths if base else ()))]
    places = [each.removeprefix("./").rstrip("/") for each in configured if each.strip("./")]
    names = [name for name in ini.files if name not in Ini().files]
    ours = telling_patterns(name if "/" not in name else f"**/{name.lstrip('/')}" for name in names)
    within = [place for place in places if not place.endswith(".py") and not is_outside(place)]
    kept = tuple(f"{place}/**/{name}" for place in within for name in ours) if ini.folders and within else ours
    doctests = DOCTESTS in ini.words or (base is not None and DOCTESTS in base.argv)
    alone = [] if doctests else [place for place in within if _holds_only_tests(place, ini, files)]
    single = [] if doctests else [place for place in places if place.endswith(".py") and not is_outside(place)]
    return (*folders(alone, _names(files)), *kept, *single)


def _holds_only_tests(folder: str, ini: Ini, files: Files) -> bool:
    """Whether a folder contains only tests: some are outside its test subfolders, and none of those is beside the module it tests."""
    if set("*?[") & set(folder):
        return False
    there = {path for path in files.paths() if path.startswith(f"{folder}/") and path.endswith(".py")}
    tests = [path for path in there if any(fnmatch(PurePosixPath(path).name, name) for name in ini.files)]
    near = [path for path in tests if not any(NAMED.fullmatch(part) for part in PurePosixPath(path.removeprefix(f"{folder}/")).parts[:-1])]
    return bool(near) and not any(other in there for path in near for other in _about(path))


def _about(test: str) -> Iterator[str]:
    """The module beside a test that it tests, by its name."""
    where = PurePosixPath(test)
    for stem in {where.stem.removeprefix("test_"), where.stem.removesuffix("_test")} - {where.stem}:
        yield where.with_name(f"{stem}.py").as_posix()


def _names(files: Files) -> list[str]:
    """The project's names; a folder with such a name is its code."""
    texts = (files.read("pyproject.toml") or "", files.read("setup.cfg") or "")
    return [name for text in texts for name in re.findall(r"^name\s*=\s*[\"']?([\w.-]+)", text, re.MULTILINE)]


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    """Whether pytest collects the tests of a folder from the project above it."""
    ini = read_ini(outer, files)
    if any(fnmatch(part, name) for part in PurePosixPath(below.folder).parts for name in ini.not_entered):
        return False
    places = [place.partition("::")[0] for place in (outer.paths or ini.folders)]
    return not places or any(map(below.touched_by, places))
