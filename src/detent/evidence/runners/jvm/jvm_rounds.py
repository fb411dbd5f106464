"""Repeated calls of a build tool until every test file compiles or is left out, and one report of them all. Decides nothing.

Knows how to leave out files that do not compile; each tool's own call is passed in.
"""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.evidence.runners.jvm.jvm_files import classes, named, selected, test_sources
from detent.evidence.runners.jvm.jvm_report import JvmReport, Log
from detent.evidence.runners.wrapper import RunOrder, write


class JvmRound(NamedTuple):
    """One call of the build tool."""

    code: int
    output: str
    refused: dict[str, list[str]]  # compiler errors by file
    logs: list[Log]
    fault: str = ""
    ended: tuple[str, ...] = ()


Attempt = Callable[[Path, RunOrder, list[str], Mapping[str, list[str]]], JvmRound]


def run_rounds(report: Path, order: RunOrder, attempt: Attempt) -> int:
    """Run all rounds and write the report; returns the exit code."""
    root = Path.cwd()
    sources = test_sources(root)
    chosen = selected(order.paths, sources)
    if order.paths and not chosen:
        write(report, JvmReport(0))
        return 0
    broken: dict[str, list[str]] = {}
    follows: list[str] = []
    output = ""
    while True:
        once = attempt(root, order, chosen, broken)
        output += f"{once.output}\n"
        new = {file: words for file, words in once.refused.items() if file not in broken}
        follows += new if broken else []
        broken |= new
        if not new or not new.keys() <= set(sources) or (chosen and all(each in broken for each in chosen)):
            break
    meant = {file: words for file, words in broken.items() if _meant(file, order, chosen, sources)}
    code = 1 if once.code or meant else 0
    write(report, JvmReport(code, once.logs, classes(root, sources), meant, follows, list(once.ended), once.fault))
    sys.stdout.write(output)
    return code


def refusals(found: Iterable[tuple[str, str]], place: Path, root: Path) -> dict[str, list[str]]:
    """Compiler errors by file of the project, whether the tool names it in the mirror or in the project."""
    errors: dict[str, list[str]] = {}
    for file, words in found:
        errors.setdefault(file.removeprefix(f"{place}/").removeprefix(f"{root}/"), []).append(words)
    return errors


def _meant(file: str, order: RunOrder, chosen: list[str], sources: list[str]) -> bool:
    """Whether a file that does not compile belongs to the selection. Code always does, and so does any test file if the names match no file."""
    if file not in sources or not (order.paths or order.names):
        return True
    names = ",".join(order.names)
    return file in chosen if order.paths else named(file, names) or not any(named(each, names) for each in sources)


BUILD_FILES = frozenset({"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"})
BUILT = frozenset({"target", "build", "out", ".gradle"})
NOT_OURS = frozenset({"node_modules", "src", *BUILT})


def modules(root: Path) -> list[str]:
    """The folders that may be built: those with a build file or sources."""
    found = [""]
    for here, folders, files in os.walk(root):
        if "src" in folders or BUILD_FILES & set(files):
            found.append(os.path.relpath(here, root))
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.startswith(".")]
    return list(dict.fromkeys("" if path == "." else path for path in found))


def mirror(root: Path, place: Path, left_out: Collection[str] = ()) -> list[str]:
    """Create a mirror of the project without these files; returns its modules."""
    built = modules(root)
    real = {parent for path in (*built, *(os.path.dirname(each) for each in left_out)) for parent in _upwards(path)}
    for folder in sorted(real):
        (place / folder).mkdir(parents=True, exist_ok=True)
        for entry in os.scandir(root / folder):
            path = os.path.join(folder, entry.name)
            if path in real or path in left_out or (folder in built and entry.name in BUILT):
                continue
            if entry.name in BUILD_FILES and entry.is_file():
                shutil.copy2(entry.path, place / path)
            else:
                (place / path).symlink_to(entry.path)
    return built


def _upwards(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]
