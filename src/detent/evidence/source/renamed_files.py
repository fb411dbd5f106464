"""Files that were only renamed, with the imports of them updated. Pure: texts in, pairs out."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

IMPORTS = re.compile(
    r"^\s*(?:from|import|use|pub use|require|require_relative|include|#include|export\b.*\bfrom|(?:const|let|var)\b.*=\s*require)\b"
)


def moves(deleted: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Old path -> new path of renamed files. Their texts must be equal, apart from imports of renamed files."""
    by_text: dict[str, list[str]] = {}
    for path, text in added.items():
        by_text.setdefault(text, []).append(path)
    found: dict[str, str] = {}
    for path, text in deleted.items():
        same = [each for each in by_text.get(text, ()) if _end(each) == _end(path) and each not in found.values()]
        if same:
            found[path] = same[0]
    words = renamed_words(found)
    for path, text in deleted.items():
        for each in added if path not in found else ():
            if each not in found.values() and _end(each) == _end(path) and imports_renamed(text, words) == added[each]:
                found[path] = each
                break
    return found


def renamed_words(pairs: Mapping[str, str]) -> dict[str, str]:
    """The parts of paths that were renamed: old -> new."""
    found: dict[str, str] = {}
    for old, new in pairs.items():
        before, after = PurePosixPath(old).with_suffix("").parts, PurePosixPath(new).with_suffix("").parts
        if len(before) == len(after):
            found |= {one: other for one, other in zip(before, after, strict=True) if one != other}
    return found


def imports_renamed(text: str, words: Mapping[str, str]) -> str:
    """A text with the new names in its import lines."""
    if not words:
        return text
    rule = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
    lines = text.split("\n")
    return "\n".join(rule.sub(lambda found: words[found[0]], line) if IMPORTS.match(line) else line for line in lines)


def _end(path: str) -> str:
    return PurePosixPath(path).suffix
