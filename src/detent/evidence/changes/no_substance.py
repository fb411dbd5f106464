"""Changes that change no behaviour: of documents, comments and layout; and of type hints, versions and names. Pure but for reading both versions."""

import ast
import re
from pathlib import PurePosixPath

from detent.evidence.changes.changes import Changes
from detent.evidence.changes.type_hints import without_hints
from detent.evidence.changes.version_bumps import only_versions_changed
from detent.evidence.source.diff import Changed
from detent.evidence.source.document_paths import is_document
from detent.evidence.source.renamed_files import imports_renamed, renamed_words

HASHED = re.compile(
    r"(?:^|/)(?:Dockerfile|Containerfile|Makefile|Gemfile|Rakefile|Justfile|justfile)$|\.(?:ya?ml|toml|ini|cfg|rb|rake|gemspec|sh|bash|mk)$"
)
TEXT_INSIDE = re.compile(
    r"<<[~-]?['\"]?\w|[|>][+-]?\d?\s*$|\"\"\"|\'\'\'|^__END__$|^=begin|%[qQwWi]?[(\[{<|]", re.MULTILINE
)  # where `#` may begin a line of text
TELLS = re.compile(
    r"\s*#(?:!|\s*(?:-\*-|(?:en)?coding\b|frozen_string_literal|typed:|shareable_constant|warn_indent|syntax\s*=|escape\s*=|check\s*=))",
    re.IGNORECASE,
)


def is_only_words(changes: Changes, change: Changed) -> bool:
    """Whether a change is one of words or layout only."""
    if is_document(change.path):
        return True
    return change.how == "modified" and same_code(change.path, *map(changes.text(change.path), (changes.good, changes.tree)))


def is_no_substance(changes: Changes, change: Changed) -> bool:
    """Whether a change of the product is one of words, layout, type hints, versions or names of files: no test can be asked to need it."""
    if is_only_words(changes, change) or change.path in changes.moves or change.path in changes.moves.values():
        return True
    old, new = map(changes.text(change.path), (changes.good, changes.tree))
    renamed = imports_renamed(old, renamed_words(changes.moves))
    return change.how == "modified" and (
        same_code(change.path, renamed, new) or only_hints_changed(change.path, old, new) or only_versions_changed(change.path, old, new)
    )


def only_hints_changed(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file of Python differ only in what type checkers read."""
    if not path.endswith(".py"):
        return False
    try:
        return without_hints(old) == without_hints(new)
    except (SyntaxError, ValueError, RecursionError):
        return False


def same_code(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file are the same but for comments and layout (Python: docstrings too)."""
    if path.endswith(".py"):
        try:
            return _bare(old) == _bare(new)
        except (SyntaxError, ValueError, RecursionError):
            return False
    from detent.evidence.mutate.textual import blanked  # it comes with the mutations of all languages

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
    """The lines of a text in which `#` begins a comment, without lines of words alone."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and (not line.lstrip().startswith("#") or TELLS.match(line))]


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//(?!go:|export\b|\s*\+build\b|\s*#)[^\n]*$|/\*.*?\*/", "", text, flags=re.MULTILINE | re.DOTALL)
