"""Changes that say nothing: of documents, of comments, of layout. No test can be asked to need them. Pure but for reading both versions."""

import ast
import re
from pathlib import PurePosixPath

from detent.evidence.changes import Changes
from detent.evidence.look import Changed
from detent.evidence.mutate.textual import blanked

DOCUMENTS = (
    ".md",
    ".markdown",
    ".rst",
    ".txt",
    ".adoc",
    ".asciidoc",
    ".org",
    ".svg",
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".ico",
    ".po",
    ".pot",
    ".mo",
)
CODE = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".php", ".go", ".rs", ".pl")
NAMES = re.compile(r"(?i)^(?:license|licence|copying|notice|authors|contributors|changelog|changes|history|news|readme|codeowners)(?:\.|$)")
PARTS = re.compile(r"(?i)^(?:.*requirements.*|.*constraints.*|cmakelists)\.txt$")  # they say what is installed or built
FOLDERS = frozenset({"docs", "doc", "documentation", "changelog.d", "changes", "newsfragments", "news"})


def says_nothing(changes: Changes, change: Changed) -> bool:
    """Whether a change is one of words or layout only."""
    if is_document(change.path):
        return True
    if change.how != "modified":
        return False
    text = changes.text(change.path)
    return same_code(change.path, text(changes.good), text(changes.tree))


def is_document(path: str) -> bool:
    """Whether a file is for people to read."""
    return is_words(path) or (bool(FOLDERS & set(PurePosixPath(path).parts[:-1])) and not PARTS.match(PurePosixPath(path).name))


def is_words(path: str) -> bool:
    """Whether a file is for people to read by its own name, wherever it lies."""
    where = PurePosixPath(path)
    named = where.suffix.lower() in DOCUMENTS or (bool(NAMES.match(where.name)) and where.suffix.lower() not in CODE)
    return named and not PARTS.match(where.name)


def same_code(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file are the same but for comments and layout (Python: docstrings and type hints of names too)."""
    if path.endswith(".py"):
        try:
            return _bare(old) == _bare(new)
        except (SyntaxError, ValueError, RecursionError):
            return False
    suffix = PurePosixPath(path).suffix
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


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//[^\n]*$|/\*.*?\*/", "", text, flags=re.MULTILINE | re.DOTALL)
