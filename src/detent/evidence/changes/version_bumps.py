"""Changes that only name other versions: of dependencies, in lock files and manifests, and of the project itself, also in its code. Pure: texts in, an answer out.

A new dependency, or one from another source, is not just another version. Lock files follow from manifests, so they prove nothing by themselves.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from detent.evidence.changes.dependencies import REQUIREMENTS, is_lock

VERSION = re.compile(r"[\s^~<>=!|]*v?\d[\w\s^~<>=!,|*.+-]*|\*|latest")
SPECIFIED = re.compile(r"\s*(?:[<>=!~]=?=?)\s*[\w.*+!-]+(?:\s*,\s*(?:[<>=!~]=?=?)\s*[\w.*+!-]+)*")
NEEDS = ("dependencies", "requires", "packages")  # parts of the names of tables and lists that name packages
GO = re.compile(r"(?<=\s)v\d[\w.+-]*")
NUMBER = r"""(?:["']v?\d+(?:\.\w+)+(?:[-+][\w.+-]+)?["']|\(\d+(?:,\s*(?:\d+|["']\w*["']))+,?\))"""
DUNDER = re.compile(rf"^(__version(?:_info)?__\s*(?::\s*\w+\s*)?=\s*){NUMBER}", re.MULTILINE)
OWN = re.compile(
    rf"^((?:export\s+)?(?:(?:const|let|var)\s+)?(?:VERSION|version|Version)(?:_info|_INFO)?\s*(?::\s*\w+\s*)?=\s*){NUMBER}", re.MULTILINE
)
CONSTANT = re.compile(
    rf"^(\s+(?:(?:public|final|static|private)\s+)*(?:const\s+)?(?:VERSION|STRING)\s*=\s*)(?:{NUMBER})(?=(?:\.freeze)?;?\s*$)", re.MULTILINE
)
SET_UP = re.compile(rf"^(\s+version\s*=\s*){NUMBER}", re.MULTILINE)
PLAIN = re.compile(r"^(version\s*=\s*)v?\d[\w.+-]*$", re.MULTILINE)
TELLS_VERSION = re.compile(r"_*(?:version|about|init)_*\.\w+", re.IGNORECASE)  # files that have the project's own


def only_versions_changed(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file differ in versions alone."""
    name = PurePosixPath(path).name
    if is_lock(path) and not REQUIREMENTS.fullmatch(name):
        return True
    bare = _requirements if REQUIREMENTS.fullmatch(name) else BARE.get(name) or _own_of(name)
    try:
        return bool(old.strip()) and bare(old) == bare(new)
    except (ValueError, AttributeError, RecursionError):
        return False


def _requirements(text: str) -> str:
    lines = (SPECIFIED.sub("", line.partition(" #")[0].partition(" --hash")[0]).rstrip(" \\") for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith(("#", "--hash")))


def _own_of(name: str) -> Callable[[str], str]:
    """How a file of code is read without the version of the project that it tells: `__version__` anywhere, other names only in files that are for it."""
    rules = (DUNDER, OWN, CONSTANT) if TELLS_VERSION.fullmatch(name) else (DUNDER, SET_UP) if name == "setup.py" else (DUNDER,)

    def bare(text: str) -> str:
        for rule in rules:
            text = rule.sub(r"\1", text)
        return text

    return bare


def _json(text: str) -> str:
    return json.dumps(_blanked(json.loads(text)), sort_keys=True)


def _toml(text: str) -> str:
    import tomllib

    return json.dumps(_blanked(tomllib.loads(text)), sort_keys=True, default=str)


def _blanked(value: object, needs: bool = False) -> object:
    """The same without versions: those of packages, and that of the project itself."""
    if isinstance(value, dict):
        return {key: "" if _is_version(key, each, needs) else _blanked(each, needs or _names_packages(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [SPECIFIED.sub("", each) if needs and isinstance(each, str) else _blanked(each, needs) for each in value]
    return value


def _is_version(key: str, value: object, needs: bool) -> bool:
    return isinstance(value, str) and (needs or key == "version") and VERSION.fullmatch(value) is not None


def _names_packages(key: str) -> bool:
    return any(part in key.lower() for part in NEEDS)


BARE: Mapping[str, Callable[[str], str]] = {
    "package.json": _json,
    "composer.json": _json,
    "pyproject.toml": _toml,
    "Pipfile": _toml,
    "Cargo.toml": _toml,
    "go.mod": lambda text: GO.sub("", text),
    "setup.cfg": lambda text: PLAIN.sub(r"\1", text),
}
