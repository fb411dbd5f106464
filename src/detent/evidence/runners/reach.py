"""Whether the tests of a folder are run by the runner of a folder above it: then both are one project. Reads files, starts nothing.

One row for each runner; a runner without one looks at its own folder only.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.patterns import said
from detent.evidence.runners import RUNNERS, Command, Files


class Inner(NamedTuple):
    """A folder, as seen from the one above: its path, and its test files."""

    folder: str
    tests: tuple[str, ...]


def takes_in(outer: Command, files: Files, inner: Command, below: Inner) -> bool:
    """Whether a command that runs above a folder runs its tests too. `files`: those above."""
    if outer.runner != inner.runner:
        return False  # a command of which only an exit code is read gives way to any that is understood
    if not outer.runner:
        return True
    rule = REACH.get(outer.runner)
    return rule is not None and rule(outer, files, below)


def _pytest(outer: Command, files: Files, below: Inner) -> bool:
    from detent.evidence.runners.python.pytest_ini import read_ini

    ini = read_ini(outer, files)
    if any(fnmatch(part, name) for part in PurePosixPath(below.folder).parts for name in ini.not_entered):
        return False
    places = [place.partition("::")[0].removeprefix("./").rstrip("/") for place in (outer.paths or ini.folders)]
    return not places or any(_touches(place, below) for place in places)


def _touches(place: str, below: Inner) -> bool:
    """Whether a place that a command names is above a folder's tests, or among them."""
    if place in ("", "."):
        return True
    return any(test == place or test.startswith(f"{place}/") or fnmatch(test, f"{place}/*") for test in below.tests)


def _unittest(outer: Command, files: Files, below: Inner) -> bool:
    """It goes into packages only."""
    parts = PurePosixPath(below.folder).parts
    return all(files.exists(f"{'/'.join(parts[:end])}/__init__.py") for end in range(1, len(parts) + 1))


def _javascript(outer: Command, files: Files, below: Inner) -> bool:
    """What the configuration names, or else all below it."""
    if patterns := _patterns(outer, files):
        return any(said(patterns, test) for test in below.tests)
    return not outer.paths or any(_touches(path.removeprefix("./").rstrip("/"), below) for path in outer.paths)


def _mocha(outer: Command, files: Files, below: Inner) -> bool:
    """Without a word it takes `test/` beside it."""
    return bool(outer.paths or _patterns(outer, files)) and _javascript(outer, files, below)


def _patterns(outer: Command, files: Files) -> tuple[str, ...]:
    return RUNNERS[outer.runner].test_patterns(outer, files)


def _cargo(outer: Command, files: Files, below: Inner) -> bool:
    """A workspace without a package of its own runs all of its members."""
    import tomllib

    try:
        manifest = tomllib.loads(files.read("Cargo.toml") or "")
    except tomllib.TOMLDecodeError:
        return False
    members = manifest.get("workspace", {}).get("members", ())
    member = any(fnmatch(below.folder, str(each)) for each in members) if isinstance(members, list) else False
    return member and ("package" not in manifest or bool({"--workspace", "--all"} & set(outer.argv)))


def _maven(outer: Command, files: Files, below: Inner) -> bool:
    modules = [each.strip("/") for each in re.findall(r"<module>\s*([^<\s]+)\s*</module>", files.read("pom.xml") or "")]
    return any(below.folder == each or below.folder.startswith(f"{each}/") for each in modules)


def _gradle(outer: Command, files: Files, below: Inner) -> bool:
    texts = (files.read(name) or "" for name in ("settings.gradle", "settings.gradle.kts"))
    return any(re.search(rf"[:\"'/]{re.escape(PurePosixPath(below.folder).name)}[\"'/]", text) for text in texts)


def _ctest(outer: Command, files: Files, below: Inner) -> bool:
    first = re.escape(PurePosixPath(below.folder).parts[0])
    return re.search(rf"add_subdirectory\s*\(\s*\"?(?:\./)?{first}\b", files.read("CMakeLists.txt") or "", re.IGNORECASE) is not None


def _phpunit(outer: Command, files: Files, below: Inner) -> bool:
    texts = (files.read(name) or "" for name in ("phpunit.xml", "phpunit.xml.dist"))
    places = [place for text in texts for place in re.findall(r"<(?:directory|file)[^>]*>\s*([^<\s]+)", text)]
    return any(_touches(place.removeprefix("./").rstrip("/"), below) for place in places)


REACH: Mapping[str, Callable[[Command, Files, Inner], bool]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "vitest": _javascript,
    "jest": _javascript,
    "node": _javascript,
    "mocha": _mocha,
    "cargo": _cargo,
    "maven": _maven,
    "gradle": _gradle,
    "ctest": _ctest,
    "phpunit": _phpunit,
    "dotnet": lambda outer, files, below: True,
}


def tests_of(command: Command, files: Files) -> Sequence[str]:
    """The test files of a project by their names, as far as its runner knows tests by names."""
    runner = RUNNERS[command.runner] if command.runner else None
    return [path for path in files.paths() if runner is not None and runner.is_test(path)]
