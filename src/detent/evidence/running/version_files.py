"""The version files that building a Python project writes (setuptools-scm, hatch-vcs, pdm, flit-scm): git ignores them, and the package needs them.

They are lent like what is installed. A test or an agent may have written to the one in a person's checkout, so it counts only if it holds
nothing but constants about a version. Knows files; runs nothing.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from detent.evidence.running.checkout_files import copy_in

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
NAMED = re.compile(r"""["']?(?:version[-_]file|write[-_]to)["']?\s*[=:]\s*["']?([\w./-]+\.py)\b""")


def lend_version_files(lender: Path, whole: Path, is_wanted: Callable[[str], bool] = lambda path: True) -> None:
    """Copy the version files that a checkout's manifests name, where it has none and the lender has a plain one."""
    for path in version_files(whole):
        source = lender / path
        if source.is_file() and not source.is_symlink() and is_wanted(path) and _is_plain(source):
            copy_in(source, whole, path)


def version_files(folder: Path) -> Iterator[str]:
    """The version files that the manifests of a folder name."""
    for name in MANIFESTS:
        manifest = folder / name
        if manifest.is_file() and not manifest.is_symlink():
            found = NAMED.findall(manifest.read_text("utf-8", "replace"))
            yield from (path for path in dict.fromkeys(found) if not path.startswith("/") and ".." not in Path(path).parts)


def _is_plain(file: Path) -> bool:
    from detent.evidence.source.version_text import is_plain  # few projects have such a file

    return is_plain(file.read_text("utf-8", "replace"))
