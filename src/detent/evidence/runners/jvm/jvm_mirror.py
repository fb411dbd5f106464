"""A second face of a project: folders of modules that are real, everything in them a link. What is built there is not built in the tree.

Maven and Gradle build beside the sources, and no option moves that. In a mirror nothing of an earlier run can be found, and nothing is
left in the tree. Files can be left out of it. Knows no runner.
"""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

BUILD_FILES = frozenset({"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"})
BUILT = frozenset({"target", "build", "out", ".gradle"})
NOT_OURS = frozenset({"node_modules", "src", *BUILT})


def modules(root: Path) -> list[str]:
    """The folders that may be built: they have a build file, or sources."""
    found = [""]
    for here, folders, files in os.walk(root):
        if "src" in folders or BUILD_FILES & set(files):
            found.append(os.path.relpath(here, root))
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.startswith(".")]
    return list(dict.fromkeys("" if path == "." else path for path in found))


def mirror(root: Path, place: Path, left_out: Collection[str] = ()) -> list[str]:
    """Make it, without these files; its modules."""
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
