"""The report between the .NET wrapper and its adapter, and which file of a project declares which class. Starts no process."""

import re
from pathlib import Path, PurePosixPath

import msgspec

from detent.evidence.runners.adapter import is_below
from detent.evidence.runners.wrapper import RunOrder, source_files

CODE = frozenset({".cs", ".fs", ".vb"})
NAMESPACE = re.compile(r"^\s*namespace\s+([\w.]+)", re.MULTILINE | re.IGNORECASE)
DECLARED = re.compile(r"\b(?:class|record|struct|module|type)\s+(\w+)", re.IGNORECASE)
BUILT = re.compile(r"(?:^|/)(?:bin|obj)/")


class DotnetReport(msgspec.Struct):
    """Everything that the wrapper saw."""

    code: int
    reports: list[str] = []  # the text of each TRX file
    classes: dict[str, str] = {}  # class -> the file that declares it
    broken: dict[str, list[str]] = {}  # compiler errors by file
    project: str = ""  # the file for classes that no file declares


def classes(root: Path) -> dict[str, str]:
    """The file that declares each class, by qualified name."""
    found: dict[str, str] = {}
    for path in source_files(root):
        if PurePosixPath(path).suffix not in CODE or BUILT.search(path):
            continue
        text = (root / path).read_text("utf-8", "replace")
        space = NAMESPACE.search(text)
        for name in DECLARED.findall(text):
            found.setdefault(f"{space[1]}.{name}" if space else name, path)
    return found


def wanted(order: RunOrder, declared: dict[str, str]) -> str:
    """One filter for all selections: names as they are, files as the classes they declare."""
    named = [name for name, file in declared.items() if any(is_below(file, path) for path in order.paths)]
    parts = [*(f"({each})" for each in order.names), *(f"FullyQualifiedName~{name}." for name in named)]
    return "|".join(parts) or ("FullyQualifiedName=" if order.paths else "")
