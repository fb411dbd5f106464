"""The projects of a repository: folders with a manifest whose tests no project above them runs. Also the files that are only tooling.

Files that demonstrate, measure or document the product, and that the product does not use, are beside it: examples, benchmarks, the
documentation's build. Reads files; runs nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from detent.evidence.runners import RUNNERS, find_command
from detent.evidence.runners.adapter import NOT_THE_PROJECT, Command, Files, InnerProject
from detent.evidence.source.file_patterns import is_below_tests
from detent.git.repo import Git

MANIFESTS = frozenset(
    {
        "pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "package.json",
        "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "phpunit.xml", "phpunit.xml.dist", "Gemfile", ".rspec",
        "CMakeLists.txt",
    }
)  # fmt: skip
ENDINGS = (".gemspec", ".csproj", ".fsproj", ".vbproj", ".sln", ".slnx")
TOOLING = re.compile(
    r"[\w.-]+\.config\.[cm]?[jt]s|(?:setup|noxfile|fabfile|dodo)\.py|(?:gulp|Grunt|Jake)file\.[cm]?[jt]s|build\.rs|Rakefile|Makefile"
    r"|MANIFEST\.in|\.(?:git|npm|docker)ignore"
    r"|(?:package|package-lock|bower|component|composer|jsr|deno)\.jsonc?|Cargo\.toml|go\.(?:mod|sum)"
)
AT_THE_ROOT = frozenset({"tasks.py", "conf.py", "build.py"})  # in other folders these are often product files
BESIDE = frozenset(
    {
        "bench",
        "benches",
        "benchmark",
        "benchmarking",
        "benchmarks",
        "example",
        "examples",
        "demo",
        "demos",
        "samples",
        "playground",
        "docs",
        "doc",
    }
)
BESIDE_BY_NAME = re.compile(  # settings of editors, and of services that publish the project or its documentation
    r"\.readthedocs\.ya?ml|mkdocs\.ya?ml|book\.toml|typedoc\.json|antora\.ya?ml|\.editorconfig|\.mailmap|\.all-contributorsrc|CITATION\.cff|codemeta\.json"
    r"|\.zenodo\.json|\.git-blame-ignore-revs|\.gitpod\.ya?ml"
)
BESIDE_FOLDERS = frozenset({".vscode", ".idea", ".devcontainer"})
TOOLS = BESIDE | {"scripts", ".github"}
SOURCES = frozenset(
    {"src", "lib", "app", "source", "pkg", "internal", "cmd", "crates"}
)  # everything below is product code, whatever its name
BUILT = frozenset({"go", "cargo", "maven", "gradle", "ctest", "dotnet"})  # runners whose tests need no files of their own


def manifest_folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders below the root that have a manifest and are not part of tests, tools or dependencies."""
    return frozenset(str(where.parent) for path in paths if is_manifest(path) and _is_own((where := PurePosixPath(path)).parent))


def is_manifest(path: str) -> bool:
    """Whether a file makes its folder a project."""
    where = PurePosixPath(path)
    return where.name in MANIFESTS or where.suffix in ENDINGS


def _is_own(folder: PurePosixPath) -> bool:
    foreign = any(part.startswith(".") or part in NOT_THE_PROJECT or part in TOOLS for part in folder.parts)
    return bool(folder.parts) and not foreign and not is_below_tests(f"{folder}/x")


def nearest(path: str, folders: Iterable[str]) -> str:
    """The deepest of these folders that contains a path; empty if none does."""
    return max((each for each in folders if each and path.startswith(f"{each}/")), key=len, default="")


def chain(folder: str, folders: Iterable[str]) -> list[str]:
    """The folder and its ancestors among `folders`, from the nearest to the root."""
    above = [each for each in folders if each and (folder == each or folder.startswith(f"{each}/"))]
    return [*sorted(above, key=len, reverse=True), ""]


class OutsideFiles:
    """The files of a folder without those of the projects inside it."""

    def __init__(self, files: Files, inner: Iterable[str]) -> None:
        self.files, self.inner = files, tuple(f"{each}/" for each in inner)

    def exists(self, path: str) -> bool:
        return self.files.exists(path)

    def read(self, path: str) -> str | None:
        return self.files.read(path)

    def paths(self) -> Iterator[str]:
        return (path for path in self.files.paths() if not path.startswith(self.inner))

    def which(self, name: str) -> str | None:
        return self.files.which(name)


def owner(views: Mapping[str, Files]) -> str:
    """The project of a folder with a manifest: the folder itself if it has tests that no project above runs, else one above it; empty: the root.

    `views`: the files of the folder and of each possible project above it, in the order of `chain`.
    """
    chosen: tuple[str, Command] | None = None
    for each, files in views.items():
        command = find_command(files)
        if command is None or (each and not _has_tests(command, files)):
            continue
        if chosen is None:
            chosen = each, command
            continue
        path = chosen[0].removeprefix(f"{each}/") if each else chosen[0]
        tests = tuple(f"{path}/{test}" for test in tests_of(chosen[1], views[chosen[0]]))
        if takes_in(command, files, chosen[1], InnerProject(path, tests)):
            chosen = each, command
    return chosen[0] if chosen else ""


def _has_tests(command: Command, files: Files) -> bool:
    return not command.runner or command.runner in BUILT or bool(tests_of(command, files))


def is_tooling(path: str) -> bool:
    """Whether a file builds, measures or demonstrates the product without being part of it: no test is expected to notice it."""
    where = PurePosixPath(path)
    named = TOOLING.fullmatch(where.name) is not None or (len(where.parts) == 1 and where.name in AT_THE_ROOT)
    return named or _is_below(TOOLS, where)


def is_beside(path: str) -> bool:
    """Whether a file is a benchmark, an example, part of the documentation's build or an editor setting."""
    where = PurePosixPath(path)
    return BESIDE_BY_NAME.fullmatch(where.name) is not None or where.parts[0] in BESIDE_FOLDERS or _is_below(BESIDE, where)


def _is_below(folders: frozenset[str], where: PurePosixPath) -> bool:
    """Whether a file is in one of these folders, and that folder is not below a source folder."""
    above = list(takewhile(lambda part: part not in SOURCES, where.parts[:-1]))
    return not folders.isdisjoint(above)


def takes_in(outer: Command, files: Files, inner: Command, below: InnerProject) -> bool:
    """Whether the command of an outer project also runs the tests of an inner one. `files`: those of the outer project."""
    if outer.runner != inner.runner:
        return False  # a command known only by its exit code yields to one with a known runner
    return not outer.runner or RUNNERS[outer.runner].reaches(outer, files, below)


def tests_of(command: Command, files: Files) -> Sequence[str]:
    """The test files of a project, by its runner's naming rule."""
    return [path for path in files.paths() if RUNNERS[command.runner].is_test(path)] if command.runner else []


MOST_READ = 50  # files read that mention such a folder
LANGUAGES = frozenset({
    "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "rb", "rs", "php", "java", "kt", "cs", "c", "cc", "cpp", "h", "vue", "svelte", "json", "toml",
})  # code, and manifests that may name an entry point  # fmt: skip


class BesideProduct:
    """Decides which files of a tree are beside the product. `is_product`: whether a file is code and not a test."""

    def __init__(self, git: Git, tree: str, is_product: Callable[[str], bool]) -> None:
        self.git, self.tree, self.is_product, self.taken = git, tree, is_product, dict[str, bool]()

    def __call__(self, path: str) -> bool:
        folder = next((part for part in PurePosixPath(path).parts[:-1] if part in BESIDE), "")
        if not folder or not is_beside(path):
            return False
        if folder not in self.taken:
            self.taken[folder] = self._is_taken_in(folder)
        return not self.taken[folder]

    def _is_taken_in(self, folder: str) -> bool:
        """Whether product code or a manifest refers to the folder as a path or a module."""
        out = self.git.call("grep", "-I", "-l", "-z", "-w", "-F", "-e", folder, self.tree, "--")
        paths = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
        ours = [path for path in paths if PurePosixPath(path).suffix[1:] in LANGUAGES and not is_beside(path) and self.is_product(path)]
        named = re.compile(rf"[\"'`/.\\]{re.escape(folder)}[\"'`/.\\]|\b(?:import|from|require|use)\b.*\b{re.escape(folder)}\b")
        texts = ((self.git.read(self.tree, path) or b"").decode("utf-8", "replace") for path in ours[:MOST_READ])
        return len(ours) > MOST_READ or any(map(named.search, texts))
