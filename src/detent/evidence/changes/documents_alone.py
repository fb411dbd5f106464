"""Whether a change is one of documents that nothing in the project reads: then no test can tell its two sides apart, and none needs to run.

Errs on one side. A mention of such a document, of its folder or of its ending in any other file, or a walk through folders, and the tests run.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from detent.evidence.changes.changes import Changes
from detent.evidence.source.file_patterns import NAMES, PLAIN
from detent.git.repo import Git

WORDS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org")
WALKS = (  # how programs read files that they do not name
    "glob", "os.walk", "path.walk", "walkdir", "listdir", "scandir", "iterdir", "readdir", "read_dir", "ls-files", "ls_files", "Dir[", "Dir.",
    "Find.find", "go:embed", "include_str", "include_bytes", "include_dir", "DirectoryIterator",
)  # fmt: skip
BESIDE = (  # files that no test runs by
    *(f"*{end}" for end in WORDS), ".github", ".gitlab-ci.yml", ".circleci", ".gitignore", ".gitattributes", ".editorconfig", ".pre-commit-config.yaml",
    "mkdocs.yml", "mkdocs.yaml", ".readthedocs.yml", ".readthedocs.yaml", "*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum",
)  # fmt: skip
DECLARED = re.compile(
    r"\s*['\"]?(?:readme|long[_-]description|description[_-]file|license[_-]files?)['\"]?\s*[=:]"
)  # of a package's own page
ADDRESS = re.compile(r"https?://\S+")


def documents_alone(changes: Changes, command: Sequence[str]) -> bool:
    """Whether only documents changed, none of them a test or data of one, and neither the project nor the command of its tests reads any."""
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
    """How a program could name a file: by how it ends, or by its name; or its folders, as a path or as a word in quotes."""
    where = PurePosixPath(path)
    folders = [form for part in where.parts[:-1] for form in (f"{part}/", f'"{part}"', f"'{part}'")]
    return [where.suffix or where.name, *folders]


def _reads(line: str, words: set[str]) -> bool:
    if DECLARED.match(line):
        return False
    rest = ADDRESS.sub("", line).lower()
    return any(word.lower() in rest for word in (*words, *WALKS))


def _lines_with(git: Git, tree: str, words: Sequence[str]) -> list[str]:
    """The lines of a tree that have one of these words, also in files that attributes call binary."""
    asked = [part for word in words for part in ("-e", word)]
    without = [f":(exclude,glob)**/{name}" for name in BESIDE] + [f":(exclude,glob)**/{name}/**" for name in BESIDE]
    out = git.call("grep", "-a", "-h", "-i", "--no-textconv", "--fixed-strings", *asked, tree, "--", ".", *without)
    return out.raw.decode("utf-8", "replace").splitlines() if out.code in (0, 1) else [WALKS[0]]
