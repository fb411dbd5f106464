"""Whether a change touches only documents that nothing in the project reads: no test can then notice it, so none needs to run.

In doubt, the tests run: if any other file mentions such a document, its folder or its suffix, or lists the files of folders.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from detent.evidence.changes.changes import Changes
from detent.evidence.source.file_patterns import NAMES, PLAIN
from detent.git.repo import Git

WORDS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org")
WALKS = (  # how programs read files without naming them
    "glob", "os.walk", "path.walk", "walkdir", "listdir", "scandir", "iterdir", "readdir", "read_dir", "ls-files", "ls_files", "Dir[", "Dir.",
    "Find.find", "go:embed", "include_str", "include_bytes", "include_dir", "DirectoryIterator",
)  # fmt: skip
UNUSED_BY_TESTS = (  # files that no test run depends on
    *(f"*{end}" for end in WORDS), ".github", ".gitlab-ci.yml", ".circleci", ".gitignore", ".gitattributes", ".editorconfig", ".pre-commit-config.yaml",
    "mkdocs.yml", "mkdocs.yaml", ".readthedocs.yml", ".readthedocs.yaml", "*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum",
)  # fmt: skip
DECLARED = re.compile(
    r"\s*['\"]?(?:readme|long[_-]description|description[_-]file|license[_-]files?)['\"]?\s*[=:]"
)  # a manifest key for the package's own page
ADDRESS = re.compile(r"https?://\S+")


def documents_alone(changes: Changes, command: Sequence[str]) -> bool:
    """Whether only documents changed, none of them a test or test data, and neither the project nor the test command reads them."""
    found = changes.all()
    if not found or any(c.sort == "test" or c.how not in ("modified", "added") or not _is_prose(c.path) for c in found):
        return False
    words = {word for c in found for word in _mentions(c.path)}
    lines = [*_lines_with(changes.git, changes.tree, [*words, *WALKS]), " ".join(command)]
    return not any(_reads(line, words) for line in lines)


def _is_prose(path: str) -> bool:
    where = PurePosixPath(path)
    return where.suffix.lower() in WORDS or (bool(NAMES.match(where.name)) and where.suffix.lower() in PLAIN)


def _mentions(path: str) -> list[str]:
    """How a program could refer to a file: by its suffix, or its name if it has none, or by one of its folders, as a path or as a quoted word."""
    where = PurePosixPath(path)
    folders = [form for part in where.parts[:-1] for form in (f"{part}/", f'"{part}"', f"'{part}'")]
    return [where.suffix or where.name, *folders]


def _reads(line: str, words: set[str]) -> bool:
    if DECLARED.match(line):
        return False
    rest = ADDRESS.sub("", line).lower()
    return any(word.lower() in rest for word in (*words, *WALKS))


def _lines_with(git: Git, tree: str, words: Sequence[str]) -> list[str]:
    """The lines of a tree that contain one of these words, including files that gitattributes mark as binary."""
    asked = [part for word in words for part in ("-e", word)]
    without = [f":(exclude,glob)**/{name}" for name in UNUSED_BY_TESTS] + [f":(exclude,glob)**/{name}/**" for name in UNUSED_BY_TESTS]
    out = git.call("grep", "-a", "-h", "-i", "--no-textconv", "--fixed-strings", *asked, tree, "--", ".", *without)
    return out.raw.decode("utf-8", "replace").splitlines() if out.code in (0, 1) else [WALKS[0]]
