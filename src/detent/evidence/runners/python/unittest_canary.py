"""The canary of a unittest run: a test class in a folder that tests are discovered in. Pure: writes nothing.

All files are loaded before the first test runs, in one process, so it notices what any of them does to unittest.
"""

from fnmatch import fnmatch

import msgspec

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files, is_below
from detent.evidence.runners.canary_files import NONE, TestFolder, places
from detent.evidence.runners.canary_output import unittest as tidy
from detent.evidence.runners.python import unittest_command

PATTERN = "test*.py"  # unittest's default
TEXT = """import unittest


class T{stem}(unittest.TestCase):
    def test_{passes}(self):
        def plain():
            assert not __debug__, "{says}"
            raise AssertionError("{says}")

        def raising():
            with self.assertRaises(ValueError):
                pass

        wrong = {{
            "assert": plain,
            "assertRaises": raising,
            "assertEqual": lambda: self.assertEqual("{says}", ""),
            "assertTrue": lambda: self.assertTrue(""),
            "assertFalse": lambda: self.assertFalse("{says}"),
            "assertIs": lambda: self.assertIs("{says}", None),
            "assertIn": lambda: self.assertIn("{says}", []),
            "assertListEqual": lambda: self.assertListEqual(["{says}"], []),
            "fail": lambda: self.fail("{says}"),
        }}
        for name, each in wrong.items():
            try:
                each()
            except AssertionError:
                continue
            raise RuntimeError("{says}: what is wrong was let pass by " + name)

    def test_{fails}(self):
        self.assertEqual("{says}", "")
"""


class Search:
    """What the project's own command discovers."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.names: list[str] = []
        found: dict[str, str] = {}
        left = list(words)
        self.finds = not left or left[0] == "discover" or left[0].startswith("-")
        while left:
            name, equals, value = left.pop(0).partition("=")
            option = unittest_command.VALUES.get(name, "")
            if option:
                found[option] = value if equals else left.pop(0) if left else ""
            elif not name.startswith("-"):
                self.names.append(name)
        if self.names and self.names[0] == "discover":
            found = {**dict(zip(("-s", "-p", "-t"), self.names[1:], strict=False)), **found}
        self.finds = self.finds and not (self.names and self.names[0] != "discover")
        self.by_name = found.get("-k", "")
        self.start = found.get("-s", ".")
        self.pattern = found.get("-p", PATTERN)


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    search = Search(base.argv[unittest_command.program_end(base.argv) :])
    if search.by_name:
        return "the project's own command selects tests by name"
    if "*" not in search.pattern or set(search.pattern) & set("?["):
        return "the project's pattern for test files cannot match a test of Detent's"
    scope = [each.partition("::")[0] for each in selectors if not each.startswith("-")]
    named = [] if search.finds else [unittest_command.as_path(each).partition("::")[0] for each in search.names]

    def is_run(path: str) -> bool:
        if not fnmatch(path.rpartition("/")[2], search.pattern) or not is_below(path, search.start):
            return False
        return (not scope or any(is_below(path, each) for each in scope)) and (not named or any(is_below(path, each) for each in named))

    canary_files = tuple(_canary_file(place, search.pattern) for place in places(files, near, is_run))
    if not canary_files:
        return NONE
    more = base if search.finds else msgspec.structs.replace(base, argv=(*base.argv, *(canary_file.path for canary_file in canary_files)))
    return Canary(more, (*selectors, *_also(selectors, scope, canary_files)), canary_files, tidy)


def _also(selectors: tuple[str, ...], scope: list[str], canary_files: tuple[CanaryFile, ...]) -> tuple[str, ...]:
    """Selectors that include the canary, for each way the run selects by."""
    names = [f"-k={each}" for canary_file in canary_files for each in (canary_file.passes, canary_file.fails)]
    files = [f"-p={canary_file.path.rpartition('/')[2]}" for canary_file in canary_files]
    paths = [canary_file.path for canary_file in canary_files]
    has = {option: any(each.startswith(option) for each in selectors) for option in ("-k=", "-p=")}
    return (*(paths if scope else ()), *(names if has["-k="] else ()), *(files if has["-p="] else ()))


def _canary_file(place: TestFolder, pattern: str) -> CanaryFile:
    front, _, back = pattern.partition("*")
    joint = "_" if front and not front.endswith("_") else ""
    return place.canary_file(lambda stem: f"{front}{joint}{stem}{back.replace('*', '')}", TEXT)
