"""Progress of long commands on stderr: a moving line in a terminal, one plain line per phase elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detent.app import App


@contextmanager
def progress(name: str) -> Iterator[Callable[[str], None]]:
    """A function that reports progress in words. A part in brackets at the end changes often, and shows in a terminal only."""
    if not sys.stderr.isatty():
        yield _plain(name)
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"{name}: starting", spinner="line") as status:
        yield lambda words: status.update(f"{name}: {escape(words)}")


@contextmanager
def watched(name: str, app: "App") -> Iterator[None]:
    """Show an app's progress in a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield
        return
    runs, before = app.worlds.runs, app.worlds.runs.say
    with progress(name) as say:
        runs.say = say
        try:
            yield
        finally:
            runs.say = before


def _plain(name: str) -> Callable[[str], None]:
    """One line per phase, for logs."""
    last = [""]

    def say(words: str) -> None:
        phase = words.partition(" (")[0]
        if phase != last[0]:
            last[0] = phase
            print(f"{name}: {phase}", file=sys.stderr, flush=True)

    return say
