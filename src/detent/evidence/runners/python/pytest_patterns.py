"""Which files a project tells pytest to collect tests from, as patterns: `python_files`, `testpaths`, and the paths of its command."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

from detent.evidence.patterns import folders, is_outside, telling
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.python.pytest_ini import Ini, read_ini

DOCTESTS = "--doctest-modules"
NAMED = re.compile(r"tests?|testing")


def patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """Names, kept to `testpaths` where these are set, and the folders in which nothing but tests lies."""
    ini = read_ini(base or Command(("pytest",), "pytest"), files)
    said = [path.partition("::")[0] for path in (*ini.folders, *(base.paths if base else ()))]
    places = [each.removeprefix("./").rstrip("/") for each in said if each.strip("./")]
    names = [name for name in ini.files if name not in Ini().files]
    ours = telling(name if "/" not in name else f"**/{name.lstrip('/')}" for name in names)
    within = [place for place in places if not place.endswith(".py") and not is_outside(place)]
    kept = tuple(f"{place}/**/{name}" for place in within for name in ours) if ini.folders and within else ours
    doctests = DOCTESTS in ini.words or (base is not None and DOCTESTS in base.argv)
    alone = [] if doctests else [place for place in within if _holds_only_tests(place, ini, files)]
    single = [] if doctests else [place for place in places if place.endswith(".py") and not is_outside(place)]
    return (*folders(alone, _names(files)), *kept, *single)


def _holds_only_tests(folder: str, ini: Ini, files: Files) -> bool:
    """Whether a folder is one of tests: some lie there, in no folder of their own, and none beside the module that it is about."""
    if set("*?[") & set(folder):
        return False
    there = {path for path in files.paths() if path.startswith(f"{folder}/") and path.endswith(".py")}
    tests = [path for path in there if any(fnmatch(PurePosixPath(path).name, name) for name in ini.files)]
    near = [path for path in tests if not any(NAMED.fullmatch(part) for part in PurePosixPath(path.removeprefix(f"{folder}/")).parts[:-1])]
    return bool(near) and not any(other in there for path in near for other in _about(path))


def _about(test: str) -> Iterator[str]:
    """The module that a test beside it is about, by its name."""
    where = PurePosixPath(test)
    for stem in {where.stem.removeprefix("test_"), where.stem.removesuffix("_test")} - {where.stem}:
        yield where.with_name(f"{stem}.py").as_posix()


def _names(files: Files) -> list[str]:
    """What the project is called: a folder of that name is its code."""
    texts = (files.read("pyproject.toml") or "", files.read("setup.cfg") or "")
    return [name for text in texts for name in re.findall(r"^name\s*=\s*[\"']?([\w.-]+)", text, re.MULTILINE)]
