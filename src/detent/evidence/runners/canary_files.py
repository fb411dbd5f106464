"""Where a canary's files go and what they are called: beside the tests that a run collects, and named like them. Pure: writes nothing."""

import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

from detent.evidence.runners.adapter import Canary, CanaryFile, Files

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = 6


def word() -> str:
    """A random, pronounceable word that cannot be guessed."""
    return "".join(secrets.choice(CONSONANTS) + secrets.choice(VOWELS) for _ in range(SYLLABLES))


def words_in(canary_file: CanaryFile) -> tuple[str, ...]:
    """Every random word of one canary file."""
    return canary_file.word, canary_file.passes, canary_file.fails, canary_file.says


def words_of(canary: Canary) -> tuple[str, ...]:
    """Every random word of a canary."""
    return tuple(w for canary_file in canary.canary_files for w in words_in(canary_file))


MOST = 3  # folders
NONE = "no folder was found that tests are run from"
SHAPE = re.compile(r"(?P<before>[tT]ests?[-_])?[^/]+?(?P<after>[-_]?(?:[tT]ests?|[sS]pec))?(?P<end>(?:\.[\w-]+)+)")


class TestFolder(NamedTuple):
    """A folder that tests are collected from, with one of its test files."""

    folder: str
    name: str
    text: str  # the text of that file, or of another test file if it is gone

    def path(self, name: str) -> str:
        """The path of a file of this name in the folder."""
        return f"{self.folder}/{name}".lstrip("/")

    def canary_file(self, name: Callable[[str], str], text: str, spelled: Callable[[str], str] = str, **more: str) -> CanaryFile:
        """A canary file in this folder with new random words: `name` makes its name, `text` has {stem}, {passes}, {fails} and {says}."""
        stem, passes, fails, says = spelled(word()), spelled(word()), spelled(word()), word()
        whole = text.format(stem=stem, passes=passes, fails=fails, says=says, **more)
        return CanaryFile(self.path(name(stem)), whole, stem, passes, fails, says)


def places(files: Files, near: tuple[str, ...], is_run: Callable[[str], bool]) -> list[TestFolder]:
    """The folders of changed test files, deepest first; if there are none, the folder of the project's first test file.

    A changed file that does not exist (in an older tree) still counts by its folder, so that both trees use the same place.
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
    """A file name with this word that matches every pattern the other name matches: its test prefix or suffix is kept."""
    found = SHAPE.fullmatch(name)
    return f"{found['before'] or ''}{word}{found['after'] or ''}{found['end']}" if found else ""
