"""Finding the file of a test in a foreign report: by the path it names, or by the name of a class or suite. Starts no process."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)(?:tests?|test[_-][^/]*|[^/]*[._-](?:tests?|spec)|[^/]*(?:Tests?|Spec))\.\w+$|\.(?:bats|t)$"
)
MARK = re.compile(r"[._-](?:tests?|spec)$|^test[_-]")
TYPES = (".d.ts", ".d.mts", ".d.cts", ".test-d.ts")
BETWEEN = re.compile(r"::|[./\\]|\s+›\s+")


class FoundFile(NamedTuple):
    """A file, and the rest of the words that named it."""

    file: str
    rest: tuple[str, ...]


class TestFilesOf:
    """The test files of a project, by all names that may mean them."""

    __test__ = False

    def __init__(self, paths: Iterable[str], root: str) -> None:
        self.root = root
        self.paths = frozenset(paths)
        self._named: dict[str, set[str]] = {}
        self._tests = sorted(path for path in self.paths if TESTS.search(path) and not path.endswith(TYPES))
        self._texts: dict[str, str] = {}
        for path in filter(TESTS.search, self.paths):
            where = PurePosixPath(path)
            for stem in {where.stem, MARK.sub("", where.stem)}:
                parts = (*BETWEEN.split(where.parent.as_posix()), stem)
                for at in range(len(parts)):
                    self._named.setdefault("/".join(parts[at:]), set()).add(path)

    def find(self, words: str) -> FoundFile | None:
        """The one file that a path, dotted name or title starts with; None if none or several match."""
        plain = self.relative(words.strip())
        if plain in self.paths:
            return FoundFile(plain, ())
        parts = [each for each in BETWEEN.split(plain) if each]
        named = [path for path in self.paths if path.rpartition("/")[2] == plain]
        if len(named) == 1:
            return FoundFile(named[0], ())
        for end in range(len(parts), 0, -1):
            fits = self._named.get("/".join(parts[:end]), ())
            if len(fits) == 1:
                return FoundFile(next(iter(fits)), tuple(parts[end:]))
        return None

    def saying(self, title: str) -> FoundFile | None:
        """The one test file that contains a title, or the only test file, for reports with nothing but titles; None if several match."""
        quoted = re.compile(rf"""(["'`]){re.escape(title)}\1""")
        fits = self._tests if len(self._tests) == 1 else [path for path in self._tests if title and quoted.search(self._text(path))]
        return FoundFile(fits[0], (title,) if title else ()) if len(fits) == 1 else None

    def _text(self, path: str) -> str:
        if path not in self._texts:
            file = Path(self.root, path)
            self._texts[path] = file.read_text("utf-8", "replace") if file.is_file() else ""
        return self._texts[path]

    def relative(self, path: str) -> str:
        return re.sub(r"^(?:file:)?//+", "/", path).removeprefix(f"{self.root}/").removeprefix("./")

    def place(self, text: str) -> str:
        """The first `file:line` of the project in a failure's message."""
        places = (*re.findall(r"([\w./@-]+\.\w+)(?::|, line )(\d+)", text),)
        return next((f"{file}:{line}" for path, line in places if (file := self.relative(path)) in self.paths), "")
