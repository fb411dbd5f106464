"""A cache of one App per worker thread, reopened when the journal file or the settings that locate it have changed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from detent.app import App, open_app
from detent.app.opened import FILES
from detent.errors import DetentError, JournalError
from detent.git.place import find_place


class KeptApps:
    """One App per thread, since a journal belongs to the thread that opened it."""

    def __init__(self, root: Path, opening: Callable[[Path], App] = lambda root: open_app(root, create=True)) -> None:
        self.root, self.opening = root, opening
        self._files = (find_place(root).journal, *(root / name for name in FILES))
        self._mine = threading.local()

    @contextmanager
    def app(self) -> Iterator[App]:
        """The App of this thread. After an unexpected error the next call gets a fresh one."""
        if getattr(self._mine, "marks", None) != self._marks():
            self._forget()
            self._mine.app = self.opening(self.root)
            self._mine.marks = self._marks()
        try:
            yield self._mine.app
        except JournalError:
            self._forget()
            raise
        except DetentError:
            raise
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        if (app := getattr(self._mine, "app", None)) is not None:
            app.journal.close()
        self._mine.app = self._mine.marks = None

    def _marks(self) -> tuple[object, ...]:
        """A value that changes when the journal is another file, or the settings may locate it elsewhere."""
        journal, *settings = self._files
        return (_file(journal)[:2], *map(_file, settings))


def _file(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
