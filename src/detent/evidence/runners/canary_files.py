"""Where a canary lies and what its file is called: beside the tests that a run takes in, and named as they are. Pure: it writes nothing."""

import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

from detent.evidence.runners.adapter import Canary, Files, Nest

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = 6


def word() -> str:
    """A word that nobody can guess and that looks like one of a person's."""
    return "".join(secrets.choice(CONSONANTS) + secrets.choice(VOWELS) for _ in range(SYLLABLES))


def words_in(nest: Nest) -> tuple[str, ...]:
    """Every word that only this file has."""
    return nest.word, nest.passes, nest.fails, nest.says


def words_of(canary: Canary) -> tuple[str, ...]:
    """Every word that only the canary has."""
    return tuple(w for nest in canary.nests for w in words_in(nest))


MOST = 3  # folders
NONE = "no folder was found that tests are run from"
SHAPE = re.compile(r"(?P<before>[tT]ests?[-_])?[^/]+?(?P<after>[-_]?(?:[tT]ests?|[sS]pec))?(?P<end>(?:\.[\w-]+)+)")


class TestFolder(NamedTuple):
    """A folder that tests are run from, with one of its test files."""

    folder: str
    name: str
    text: str  # what it says; if it is not there, what another one says

    def path(self, name: str) -> str:
        """A file of that name in the same folder."""
        return f"{self.folder}/{name}".lstrip("/")

    def nest(self, name: Callable[[str], str], text: str, spelled: Callable[[str], str] = str, **more: str) -> Nest:
        """A file beside it, with words that are made now: `name` makes its name of one, `text` has {stem}, {passes}, {fails} and {says}."""
        stem, passes, fails, says = spelled(word()), spelled(word()), spelled(word()), word()
        whole = text.format(stem=stem, passes=passes, fails=fails, says=says, **more)
        return Nest(self.path(name(stem)), whole, stem, passes, fails, says)


def places(files: Files, near: tuple[str, ...], is_run: Callable[[str], bool]) -> list[TestFolder]:
    """The folders of changed test files, the deepest first; without any, that of the first test file there is.

    A changed file that is not there (in an older tree) counts by its folder, so that the same place is looked at.
    """
    ours: dict[str, str] = {}
    for path in filter(is_run, near):
        folder = parent(path)
        if files.exists(folder or ".") and (folder not in ours or not files.exists(ours[folder])):
            ours[folder] = path
    if not ours and (first := next(filter(is_run, files.paths()), None)):
        ours = {parent(first): first}
    deepest = sorted(ours.items(), key=lambda each: -each[0].count("/"))[:MOST]
    return [TestFolder(folder, path.rpartition("/")[2], _text(files, path, is_run)) for folder, path in deepest]


def _text(files: Files, path: str, is_run: Callable[[str], bool]) -> str:
    own = files.read(path)
    if own is not None:
        return own
    other = next((each for each in files.paths() if parent(each) == parent(path) and is_run(each)), "")
    return (files.read(other) if other else None) or ""


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def named_like(name: str, word: str) -> str:
    """A file name with this word that every pattern takes in which takes the other: what makes it a test's stays."""
    found = SHAPE.fullmatch(name)
    return f"{found['before'] or ''}{word}{found['after'] or ''}{found['end']}" if found else ""
