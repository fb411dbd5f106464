"""One commit of the corpus for the makers of twins: its trees, its texts, and the plain runner's results for any other tree."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from bench.history import Commit, Suite
from bench.history.checkout import Checkout
from bench.history.corpus import fail_to_pass
from bench.history.names import is_code, is_module, is_test
from bench.history.twins.go import GO
from bench.history.twins.javascript import JAVASCRIPT
from bench.history.twins.python import PYTHON
from bench.history.twins.source import Edit, Function, Language, edited

LANGUAGES: dict[str, Language] = {
    ".py": PYTHON,
    ".go": GO,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), JAVASCRIPT),
}
WORDS = (".md", ".rst", ".txt", ".adoc")
Files = Mapping[str, str | None]  # None: the file is removed


def language_of(path: str) -> Language | None:
    return LANGUAGES.get(PurePosixPath(path).suffix)


def is_words(path: str) -> bool:
    return PurePosixPath(path).suffix in WORDS or PurePosixPath(path).parts[0] in ("docs", "doc")


class Scene:
    """A commit, its parent, and trees in between."""

    def __init__(self, checkout: Checkout, commit: Commit) -> None:
        self.checkout, self.commit = checkout, commit
        self.before, self.after = (checkout.git("rev-parse", f"{name}^{{tree}}") for name in (commit.parent, commit.hash))
        self.mixed = checkout.mixed(commit.parent, commit.hash, commit.tests)
        self.changed = checkout.changed(self.before, self.after)
        self.code = [path for path in self.changed if is_code(path) and language_of(path)]

    def text(self, tree: str, path: str) -> str:
        """A file of a tree as text; empty if it is missing or not text."""
        return self.checkout.text(tree, path) or ""

    def tree(self, base: str, files: Files) -> str:
        return self.checkout.overlaid(base, files)

    def suite(self, tree: str) -> Suite:
        """The plain runner's results, with a time limit, since a twin may hang."""
        return self.checkout.suite(tree, 60 + 5 * self.commit.seconds)

    def paths(self, tree: str) -> list[str]:
        return self.checkout.git("ls-tree", "-rz", "--name-only", tree).split("\0")

    @cached_property
    def sound(self) -> Suite:
        return self.suite(self.after)

    def is_green(self, suite: Suite) -> bool:
        """Whether only tests fail that also fail on the commit itself, and some pass."""
        return bool(suite.passed) and not suite.problem and suite.failed <= self.sound.failed

    def proofs_of(self, tree: str) -> tuple[str, ...]:
        """The tests of a tree that need its code, determined as for the corpus."""
        tests = tuple(path for path in self.checkout.changed(self.before, tree) if is_test(path))
        mixed = self.suite(self.checkout.mixed(self.before, tree, tests)) if tests else self.suite(self.before)
        found = Commit(self.commit.hash, "", self.commit.parent, tests)
        return fail_to_pass(found, mixed, self.suite(tree), self.checkout.runner.by_file)

    # -- the tests of the commit ---------------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> dict[str, list[Function]]:
        """The tests that the commit wrote or changed, by file."""
        found = {}
        for path in filter(is_module, self.commit.tests):
            if (language := language_of(path)) and (text := self.text(self.after, path)):
                old = self.text(self.before, path)
                known = {each.of(old) for each in language.tests(old)}
                found[path] = [each for each in language.tests(text) if each.of(text) not in known]
        return {path: tests for path, tests in found.items() if tests}

    @cached_property
    def asking(self) -> dict[str, list[Function]]:
        """The tests that need the commit: its own, else those that use data it changed."""
        if self.own:
            return self.own
        found = {}
        for path in dict.fromkeys([*self.commit.tests, *(self.sound.groups.get(proof, "") for proof in self.commit.proofs)]):
            if path and (language := language_of(path)) and (text := self.text(self.after, path)):
                found[path] = [each for each in language.tests(text) if self._is_proof(each)]
        return {path: tests for path, tests in found.items() if tests}

    def _is_proof(self, test: Function) -> bool:
        last = test.name.rpartition(".")[2]
        return any(last in proof for proof in self.commit.proofs)

    # -- the commit without its code -------------------------------------------------------------------------------------------

    @cached_property
    def bare(self) -> str:
        """A tree in which the commit's tests run and fail: the old code, or, if they cannot be loaded with it, the new functions with
        empty bodies. Empty if there is none."""
        if set(self.commit.proofs) <= set(self.suite(self.mixed).cases):
            return self.mixed
        hollow = self.tree(self.after, dict(self._hollow()))
        cases = self.suite(hollow).cases
        return hollow if set(self.commit.proofs) <= set(cases) and any(cases[proof] == "failed" for proof in self.commit.proofs) else ""

    def _hollow(self) -> Iterator[tuple[str, str]]:
        """The commit's code files with changed functions as they were, and new ones without a body."""
        for path in self.code:
            language, old, new = language_of(path), self.text(self.before, path), self.text(self.after, path)
            if language and new:
                known = {each.name: each.of(old) for each in language.functions(old)}
                edits = [
                    Edit(each.start, each.end, known[each.name]) if each.name in known else language.hollow(new, each)
                    for each in language.functions(new)
                    if known.get(each.name) != each.of(new)
                ]
                yield path, language.tidied(new, edited(new, edits))
