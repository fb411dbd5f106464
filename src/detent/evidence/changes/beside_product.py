"""Files that show, measure or document the product and that nothing of it takes in: examples, benchmarks, what builds the documentation."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from detent.evidence.changes.projects import BESIDE, is_beside
from detent.git.repo import Git

MOST_READ = 50  # files that speak of such a folder
LANGUAGES = frozenset({
    "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "rb", "rs", "php", "java", "kt", "cs", "c", "cc", "cpp", "h", "vue", "svelte", "json", "toml",
})  # code, and manifests that may name a file as the first to be loaded  # fmt: skip


class BesideProduct:
    """Tells which files of a tree are beside the product. `is_product`: whether a file is code that is no test."""

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
        """Whether code of the product, or a manifest, speaks of the folder as one speaks of files or modules."""
        out = self.git.call("grep", "-I", "-l", "-z", "-w", "-F", "-e", folder, self.tree, "--")
        paths = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
        ours = [path for path in paths if PurePosixPath(path).suffix[1:] in LANGUAGES and not is_beside(path) and self.is_product(path)]
        named = re.compile(rf"[\"'`/.\\]{re.escape(folder)}[\"'`/.\\]|\b(?:import|from|require|use)\b.*\b{re.escape(folder)}\b")
        texts = ((self.git.read(self.tree, path) or b"").decode("utf-8", "replace") for path in ours[:MOST_READ])
        return len(ours) > MOST_READ or any(map(named.search, texts))
