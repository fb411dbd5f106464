"""Changes that do not change behaviour: documents, comments, layout, type hints, versions and file names. Pure apart from reading both versions.

Type hints that programs read at run time count as behaviour: fields of classes with bases or decorators (dataclasses, models), functions whose
decorator may inspect them, and hints that call something (`Annotated[int, Field(gt=0)]`). A new dependency, or one from another source, is more
than a version change. Lock files follow from manifests, so they prove nothing by themselves.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from detent.evidence.changes.changes import Changes
from detent.evidence.changes.ci_versions import runs_no_less
from detent.evidence.changes.dependencies import REQUIREMENTS, is_lock
from detent.evidence.changes.judging_config import is_judging
from detent.evidence.changes.judging_parts import asks_only_more, only_judging_differs
from detent.evidence.changes.stricter_settings import is_read_whole
from detent.evidence.runners.adapter import is_shared_config
from detent.evidence.source.diff import Changed
from detent.evidence.source.file_patterns import is_document
from detent.evidence.source.renamed_files import imports_renamed, renamed_words

MODULES = frozenset({"typing", "typing_extensions", "collections.abc", "__future__"})
INERT = frozenset(  # decorators that ignore type hints
    {"staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "wraps", "abstractmethod", "contextmanager",
     "asynccontextmanager", "override", "final", "setter", "getter", "deleter"}
)  # fmt: skip
VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})

HASHED = re.compile(
    r"(?:^|/)(?:Dockerfile|Containerfile|Makefile|Gemfile|Rakefile|Justfile|justfile)$|\.(?:ya?ml|toml|ini|cfg|rb|rake|gemspec|sh|bash|mk)$"
)
TEXT_INSIDE = re.compile(
    r"<<[~-]?['\"]?\w|[|>][+-]?\d?\s*$|\"\"\"|\'\'\'|^__END__$|^=begin|%[qQwWi]?[(\[{<|]", re.MULTILINE
)  # multi-line strings, in which a line may start with `#`
TELLS = re.compile(
    r"\s*#(?:!|\s*(?:-\*-|(?:en)?coding\b|frozen_string_literal|typed:|shareable_constant|warn_indent|syntax\s*=|escape\s*=|check\s*=))",
    re.IGNORECASE,
)


def without_hints(text: str) -> str:
    """The syntax tree of a Python program without type hints and docstrings."""
    tree = ast.parse(text)
    return ast.dump(_Bare(_casts(tree)).visit(tree))


def _casts(tree: ast.Module) -> frozenset[str]:
    """The names by which this file calls `typing.cast`, which returns its argument unchanged."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in ("typing", "typing_extensions")]
    return frozenset({"typing.cast", *(alias.asname or alias.name for node in imports for alias in node.names if alias.name == "cast")})


class _Bare(ast.NodeTransformer):
    """Removes what only type checkers read."""

    def __init__(self, casts: frozenset[str]) -> None:
        self.casts = casts
        self.fields_count = False  # inside a class whose field hints may be read at run time

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._bodied(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self.fields_count = (
            self.fields_count,
            bool(node.decorator_list or node.keywords or [b for b in node.bases if not _is_generic(b)]),
        )
        node.bases = [base for base in node.bases if not _is_generic(base)]
        self._bodied(node)
        self.fields_count = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST | None:
        return self._function(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if self.fields_count or _calls(node.annotation):
            return node
        return self.visit(ast.Assign(targets=[node.target], value=node.value)) if node.value else None

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if isinstance(node.value, ast.Call) and _name(node.value.func) in VARIABLES else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module in MODULES and not node.level else node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        node.names = [alias for alias in node.names if alias.name not in MODULES]
        return node if node.names else None

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _name(node.test) == "TYPE_CHECKING" and not node.orelse else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_cast = ast.unparse(node.func) in self.casts and len(node.args) == 2 and not node.keywords
        return self.visit(node.args[1]) if is_cast else self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | None:
        decorators = [_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
        if "overload" in decorators:
            return None
        if set(decorators) <= INERT:
            every = node.args
            for arg in (*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg):
                if arg is not None and not _calls(arg.annotation):
                    arg.annotation = None
            node.returns = None
        outer, self.fields_count = self.fields_count, False
        self._bodied(node)
        self.fields_count = outer
        return node

    def _bodied(self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            del node.body[0]
        return self.generic_visit(node)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_generic(base: ast.expr) -> bool:
    return isinstance(base, ast.Subscript) and _name(base.value) == "Generic"


def _calls(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(isinstance(node, ast.Call) for node in ast.walk(annotation))


VERSION = re.compile(r"[\s^~<>=!|]*v?\d[\w\s^~<>=!,|*.+-]*|\*|latest")
SPECIFIED = re.compile(r"\s*(?:[<>=!~]=?=?)\s*[\w.*+!-]+(?:\s*,\s*(?:[<>=!~]=?=?)\s*[\w.*+!-]+)*")
NEEDS = ("dependencies", "requires", "packages")  # substrings of keys whose values list packages
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
TELLS_VERSION = re.compile(r"_*(?:version|about|init)_*\.\w+", re.IGNORECASE)  # files that declare the project's version


def only_versions_changed(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file differ only in version numbers."""
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
    """A function that removes the project's version from a code file: `__version__` in any file, other names only in files meant for it."""
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
    """The value with the versions of packages and of the project itself blanked."""
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


def is_only_words(changes: Changes, change: Changed) -> bool:
    """Whether a change touches only documents, comments or layout."""
    if is_document(change.path):
        return True
    return change.how == "modified" and same_code(change.path, *map(changes.text(change.path), (changes.good, changes.tree)))


def is_no_substance(changes: Changes, change: Changed) -> bool:
    """Whether a change to the product touches only words, layout, type hints, versions or file names, so that no test can be expected to need it."""
    if is_only_words(changes, change) or change.path in changes.moves or change.path in changes.moves.values():
        return True
    old, new = map(changes.text(change.path), (changes.good, changes.tree))
    renamed = imports_renamed(old, renamed_words(changes.moves))
    return change.how == "modified" and (
        same_code(change.path, renamed, new)
        or only_hints_changed(change.path, old, new)
        or only_versions_changed(change.path, old, new)
        or only_judging_differs(change.path, old, new)
        or ((is_shared_config(change.path) or is_judging(change.path)) and runs_no_less(change.path, old, new))
        or (is_read_whole(change.path) and asks_only_more(change.path, old, new))
    )


def only_hints_changed(path: str, old: str, new: str) -> bool:
    """Whether two versions of a Python file differ only in what type checkers read."""
    if not path.endswith(".py"):
        return False
    try:
        return without_hints(old) == without_hints(new)
    except (SyntaxError, ValueError, RecursionError):
        return False


def same_code(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file differ only in comments and layout (in Python, docstrings too)."""
    if path.endswith(".py"):
        try:
            return _bare(old) == _bare(new)
        except (SyntaxError, ValueError, RecursionError):
            return False
    from detent.evidence.mutate.textual import blanked  # imports the mutations of all languages

    suffix = PurePosixPath(path).suffix
    if HASHED.search(path) and not any(TEXT_INSIDE.search(text) for text in (old, new)):
        return _without_hashed(old) == _without_hashed(new)
    if not blanked(suffix, "x"):
        return old.split() == new.split()
    return _without_comments(old).split() == _without_comments(new).split()


def _bare(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            del body[0]
    return ast.dump(tree)


def _without_hashed(text: str) -> list[str]:
    """The lines of a text with `#` comments, without comment lines."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and (not line.lstrip().startswith("#") or TELLS.match(line))]


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//(?!go:|export\b|\s*\+build\b|\s*#)[^\n]*$|/\*.*?\*/", "", text, flags=re.MULTILINE | re.DOTALL)
