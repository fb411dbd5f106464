"""What the go command says of code that it cannot build: which files, and whether only a name is missing there. Starts no process."""

import re
from typing import NamedTuple

FAULT = re.compile(r"^(?:vet: )?(?:\./)?([^\s:]+\.go):(\d+)(?::\d+)?: (.+)$", re.MULTILINE)
MISSING = re.compile(
    r"undefined: |\S+ undefined \((?:type|cannot refer)|undeclared name: |unknown field |no required module provides package |package \S+ is not in "
    r"|(?:main )?module \S+.* does not contain package |\"?\S+\"? imported and not used|(?:declared and not used|declared but not used)"
    r"|not enough arguments in call|too many arguments in call|assignment mismatch: |no Go files in "
)
NAMED = re.compile(
    r"undefined|undeclared|unknown field|no required module|is not in |does not contain|arguments in call|assignment mismatch|no Go files"
)


class Fault(NamedTuple):
    """What is wrong with one file."""

    file: str
    says: str
    place: str  # of the first
    missing: bool  # only names, fields or packages that are not there yet


def faults(said: str, folder: str = "") -> list[Fault]:
    """The files that cannot be built, from the words of the compiler, of vet and of the package loader. Paths relative to the project."""
    found: dict[str, list[str]] = {}
    places: dict[str, str] = {}
    for file, line, message in FAULT.findall(said):
        path = file.removeprefix(folder.rstrip("/") + "/") if folder else file
        found.setdefault(path, []).append(message)
        places.setdefault(path, f"{path}:{line}")
    return [Fault(file, "\n".join(dict.fromkeys(says)), places[file], _is_missing(says)) for file, says in found.items()]


def _is_missing(says: list[str]) -> bool:
    """Every fault is a missing name, or follows from one: an import that nothing uses any more."""
    return all(MISSING.match(each) for each in says) and any(NAMED.search(each) for each in says)
