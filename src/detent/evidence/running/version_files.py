"""The version files that building a Python project writes (setuptools-scm, hatch-vcs, pdm, flit-scm): git ignores them, and the package needs them.

They are lent like what is installed. A test or an agent may have written to the one in a person's checkout, so it counts only if it holds
nothing but constants about a version. Knows files; runs nothing.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from detent.evidence.running.checkout_files import copy_in

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
NAMED = re.compile(r"""["']?(?:version[-_]file|write[-_]to)["']?\s*[=:]\s*["']?([\w./-]+\.py)\b""")
ABOUT = re.compile(r"(?i)version|commit|^__all__$|^type_checking$|revision|^distance$|^dirty$")
LARGEST = 20_000  # characters
HINTS = (ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Load)  # what a type hint is made of


def lend_version_files(lender: Path, whole: Path, is_wanted: Callable[[str], bool] = lambda path: True) -> None:
    """Copy the version files that a checkout's manifests name, where it has none and the lender has a plain one."""
    for path in version_files(whole):
        source = lender / path
        if source.is_file() and not source.is_symlink() and is_plain(source.read_text("utf-8", "replace")) and is_wanted(path):
            copy_in(source, whole, path)


def version_files(folder: Path) -> Iterator[str]:
    """The version files that the manifests of a folder name."""
    for name in MANIFESTS:
        manifest = folder / name
        if manifest.is_file() and not manifest.is_symlink():
            found = NAMED.findall(manifest.read_text("utf-8", "replace"))
            yield from (path for path in dict.fromkeys(found) if not path.startswith("/") and ".." not in Path(path).parts)


def is_plain(text: str) -> bool:
    """Whether a module of Python says only which version this is: it can do nothing when it is imported."""
    if len(text) > LARGEST:
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(map(_is_plain, body))


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return True
        case ast.ImportFrom(module="typing") | ast.Import(names=[ast.alias(name="typing")]):
            return True
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_about, targets)) and (_is_constant(value) or _is_hint(value))
        case ast.AnnAssign(target=target, annotation=hint, value=value):
            return _is_about(target) and _is_hint(hint) and (value is None or _is_constant(value))
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=other):
            return all(map(_is_plain, (*body, *other)))
        case _:
            return False


def _is_about(target: ast.expr) -> bool:
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(name, ast.Name) and ABOUT.search(name.id) for name in names)


def _is_constant(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_hint(value: ast.expr) -> bool:
    return all(isinstance(node, HINTS) for node in ast.walk(value))
