"""Flags that any code review would raise, whoever wrote the change: secrets, binaries, big files, executable bits, new dependencies, wider CI
permissions. Pure apart from reading files."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath
from typing import NamedTuple

from detent.evidence.changes.changes import TreeFiles
from detent.evidence.changes.dependencies import REQUIREMENTS, declared_dependencies, normalize_name
from detent.evidence.changes.edited_files import LARGEST, EditedFile, is_named_as_test
from detent.evidence.runners.adapter import is_shared_config
from detent.evidence.source.file_patterns import is_document
from detent.evidence.source.file_text import other_encoding
from detent.evidence.source.secret_keys import keys_added
from detent.evidence.static_analysis.package_sources import is_about_sources, other_sources
from detent.evidence.static_analysis.unseen_characters import CODE, unseen_characters
from detent.kernel.model import Flag

BIG = 1_000_000  # bytes
LONGEST = 50_000_000  # bytes read of a lock file
MOST_SOURCES = 3
HEAD = 8000  # how far to look for a NUL, as in git
EXECUTABLE, LINK, MODULE = "100755", "120000", "160000"
LOCKS = re.compile(r"(?:.*[.-])?lock(?:\.\w+)?|.*\.lock|package-lock\.json|npm-shrinkwrap\.json|go\.sum|.*\.snap")
PICTURES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".ico", ".webp", ".svg", ".bmp", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4", ".wav", ".ogg", ".pdf", ".mo"}
)  # fmt: skip
MANIFESTS = frozenset(
    {"pyproject.toml", "Pipfile", "Cargo.toml", "setup.cfg", "tox.ini", "setup.py", "package.json", "composer.json", "go.mod", "Gemfile"}
)
OTHERS = {  # manifests whose dependencies are found by a pattern
    "pom.xml": re.compile(r"<dependency>.*?<artifactId>\s*([^<\s]+)", re.DOTALL),
    "build.gradle": re.compile(r"\b(?:\w*[iI]mplementation|api|\w*[cC]ompileOnly|\w*[rR]untimeOnly)\b[ (]*[\"']([^\"':]+:[^\"':]+)"),
    "build.gradle.kts": re.compile(r"\b(?:\w*[iI]mplementation|api|\w*[cC]ompileOnly|\w*[rR]untimeOnly)\b[ (]*[\"']([^\"':]+:[^\"':]+)"),
    ".csproj": re.compile(r"<PackageReference\s+Include=\"([^\"]+)"),
    ".gemspec": re.compile(r"\.add\w*_dependency[ (]*[\"']([\w.-]+)"),
}
RIGHTS = re.compile(
    r"permissions:\s*(?:write-all|\{[^}]*write)|^\s*[\w-]+:\s*write\s*(?:#.*)?$|\bpull_request_target\b|\bworkflow_run\b|\bsecrets\.(?!GITHUB_TOKEN\b)\w+"
    r"|\bsecrets:\s*inherit|\bself-hosted\b|\bpersist-credentials:\s*true|privileged\b|\|\s*(?:sudo\s+)?(?:ba|z)?sh\b"
)


class Blob(NamedTuple):
    """The modes and sizes of a changed path in git."""

    path: str
    was: str  # the mode before; zeroes: the path did not exist
    mode: str
    size: int = 0  # bytes
    size_before: int = 0


class OneFile:
    """A single manifest as `Files`."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def exists(self, path: str) -> bool:
        return path == self.path

    def read(self, path: str) -> str | None:
        return self.text if path == self.path else None

    def paths(self) -> Iterator[str]:
        yield self.path

    def which(self, name: str) -> str | None:
        return None


def review_flags(files: tuple[EditedFile, ...], keys: Mapping[str, str]) -> Iterator[Flag]:
    """All flags of these kinds."""
    if not files:
        return
    changes = files[0].changes
    blobs = {blob.path: blob for blob in _changed_blobs(files)}
    for place in keys_added(changes.patch(), keys):
        path, line, kind = (*place.split(":", 2), "", "")[:3]
        yield Flag(
            "secrets", f"{path} adds what looks like {kind.strip()}; a commit keeps it forever", f"{path}:{line}", after="(not shown)"
        )
    for file in files:
        yield from _of_blob(file, blobs.get(file.path))
        if is_shared_config(file.path):
            yield from _rights(file)
    yield from _dependencies(files)
    yield from _sources(files)


def _sources(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for packages that come from another source than before. Reads even long lock files whole."""
    for file in files:
        if file.how == "deleted" or not is_about_sources(file.path) or is_named_as_test(file.path):
            continue
        git, sides = file.changes.git, (file.changes.good, file.changes.tree)
        texts = [(git.read(tree, file.path) or b"")[:LONGEST].decode("utf-8", "replace") if tree else "" for tree in sides]
        for sentence in [*other_sources(file.path, *texts)][:MOST_SOURCES]:
            yield Flag("new-dependencies", f"{file.path}: {sentence}", file.path)


def _changed_blobs(files: tuple[EditedFile, ...]) -> Iterator[Blob]:
    """Modes and sizes of all changed paths, in two calls of git."""
    changes = files[0].changes
    raw = changes.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", changes.good, changes.tree).items
    rows = [(head.removeprefix(":").split(), path) for head, path in zip(raw[::2], raw[1::2], strict=True)]
    names = [name for row, _ in rows for name in row[2:4]]
    answered = changes.git.run("cat-file", "--batch-check=%(objectsize)", stdin="".join(f"{n}\n" for n in names).encode()).text.splitlines()
    sizes = {name: int(size) if size.isdecimal() else 0 for name, size in zip(names, answered, strict=False)}
    for row, path in rows:
        yield Blob(path, row[0], row[1], sizes.get(row[3], 0), sizes.get(row[2], 0))


def _of_blob(file: EditedFile, blob: Blob | None) -> Iterator[Flag]:
    if blob is None or file.how == "deleted":
        return
    if blob.mode == EXECUTABLE and blob.was != EXECUTABLE:
        yield Flag("executable-bits", f"{file.path} is now executable", file.path, after=_first_line(file))
    if blob.mode == MODULE and blob.was != MODULE:
        yield Flag("new-dependencies", f"{file.path} is a submodule now, with code of another repository", file.path)
    if blob.mode == blob.was == MODULE:
        yield Flag(
            "new-dependencies", f"{file.path} moved to another commit of its own repository, which is not checked", file.path, level="note"
        )
    if blob.mode == LINK and blob.was != LINK:
        yield from _link(file)
    if blob.mode in (LINK, MODULE):
        return
    if blob.size > BIG and blob.size_before <= BIG and not LOCKS.fullmatch(PurePosixPath(file.path).name):
        yield Flag("big-files", f"{file.path} has {blob.size / 1e6:.1f} MB", file.path, after="(not shown)")
    read = file.after.count("\n") + 1
    if blob.size > LARGEST and file.suffix in CODE and max(file.all_added, default=0) > read:
        words = f"{file.path} is too large to be read whole: what changed after line {read} was not looked at"
        yield Flag("big-files", words, f"{file.path}:{read}", after="(not shown)")
    if coding := _other_code(file):
        yield Flag(
            "binaries", f"{file.path} is read as {coding} by Python, so what runs is not what is shown", file.path, after=_first_line(file)
        )
    if unseen := unseen_characters(file):
        number, what = unseen
        yield Flag(
            "binaries",
            f"{file.path} has {what}, so what runs is not what is shown",
            f"{file.path}:{number}",
            after=ascii(file.line(number)),
        )
    if _is_binary(file):
        yield Flag("binaries", f"{file.path} is a binary file, so nobody can review it", file.path, after="(not shown)")


def _link(file: EditedFile) -> Iterator[Flag]:
    """Flags for a new symlink to code or tests, out of the project, or in place of a folder."""
    target, changes = file.after.strip(), file.changes
    leads = normpath(join(dirname(file.path), target))
    if file.suffix in CODE or is_named_as_test(target):
        yield Flag("shadow", f"{file.path} is a link to {target[:80]} now: what runs is whatever is there", file.path)
    elif target.startswith("/") or leads.startswith(".."):
        yield Flag(
            "shadow", f"{file.path} is a link that leads out of the project, to {target[:80]}: nobody reviews what is there", file.path
        )
    elif any(change.path.startswith(f"{file.path}/") for change in changes.all()):
        yield Flag("shadow", f"{file.path} was a folder and is now a link to {target[:80]}: what runs is whatever is there", file.path)


def _other_code(file: EditedFile) -> str:
    """An encoding that makes Python read a file differently from how it is shown, such as `unicode_escape`, where a comment may be a statement."""
    return other_encoding(file.after) if file.suffix in (".py", ".pyw", ".pyi") else ""


def _first_line(file: EditedFile) -> str:
    return file.line(1) or "(empty)"


def _is_binary(file: EditedFile) -> bool:
    """Whether an added or changed file is binary. Images, fonts, documents and test data do not count."""
    if file.suffix.lower() in PICTURES or is_document(file.path) or is_named_as_test(file.path):
        return False
    return "\0" in file.after[:HEAD]


def _rights(file: EditedFile) -> Iterator[Flag]:
    """A flag for the first line that gives a CI file wider permissions."""
    old_lines = {"".join(line.split()) for line in file.before.splitlines()}
    for number in sorted(file.all_added):
        text = file.line(number)
        if RIGHTS.search(text) and not text.startswith("#") and "".join(text.split()) not in old_lines:
            yield Flag("ci-permissions", f"{file.path} gains permissions: `{text[:80]}`", f"{file.path}:{number}", after=text)
            return


def _dependencies(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for third-party packages that no manifest declared before."""
    ours = [file for file in files if _is_manifest(file.path) and not is_named_as_test(file.path)]
    if not ours:
        return
    before: set[str] | None = None
    for file in ours:
        new = _declared(file.path, file.after) - _declared(file.path, file.before)
        if new and before is None:
            whole = declared_dependencies(TreeFiles(file.changes.git, file.changes.good))
            before = {*whole, *(name for each in ours for name in _declared(each.path, each.before))}
        for name in sorted(new - (before or set()))[:3]:
            yield Flag("new-dependencies", f"{file.path} adds {name}, which the project did not depend on", f"{file.path}: {name}")


def _is_manifest(path: str) -> bool:
    where = PurePosixPath(path)
    return where.name in MANIFESTS or bool(REQUIREMENTS.fullmatch(path)) or where.name in OTHERS or where.suffix in OTHERS


def _declared(path: str, text: str) -> frozenset[str]:
    where = PurePosixPath(path)
    pattern = OTHERS.get(where.name) or OTHERS.get(where.suffix)
    if pattern:
        return frozenset(normalize_name(name) for name in pattern.findall(text))
    return declared_dependencies(OneFile(path if REQUIREMENTS.fullmatch(path) else where.name, text)) if text else frozenset()
