"""Server-sent events: what happens to runs, as it happens, to any number of readers. Whoever comes back says what they saw last.

One look at the journal serves everyone: a number that changes with every write of any process is asked for often, rows are read only when it
did. Reads only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec

from detent.app import App, open_app
from detent.app.live import live_file
from detent.interfaces.http.heads import head_of
from detent.interfaces.http.reading import event_rows, run_row
from detent.interfaces.http.tally import Tally
from detent.kernel.journal import Head, SqliteJournal

EVERY, EVERY_FAR = 0.04, 0.25  # seconds between two looks at a journal: in a file, in a database elsewhere
BEAT = 15.0  # seconds of silence before a sign of life
PAGE = 200  # events in one go


class Pulse:
    """Looks at the journal for all streams, in the server's own thread."""

    def __init__(self, root: Path, tally: Tally) -> None:
        self.root, self.tally, self.beat = root, tally, 0
        self._app: App | None = None
        self._moved = asyncio.Condition()
        self.ending = asyncio.Event()

    @property
    def app(self) -> App:
        if self._app is None:
            self._app = open_app(self.root, create=True)
        return self._app

    async def run(self) -> None:
        """Look until the server ends."""
        seen: tuple[int, int] = (-1, -1)
        while not self.ending.is_set():
            now = (_written(self.app), _grown(self.app))
            if now != seen:
                seen = now
                await self.tell()
            await asyncio.sleep(EVERY if isinstance(self.app.journal, SqliteJournal) else EVERY_FAR)

    async def tell(self) -> None:
        async with self._moved:
            self.beat += 1
            self._moved.notify_all()

    async def end(self) -> None:
        self.ending.set()
        await self.tell()

    async def wait(self, seen: int) -> bool:
        """Until something moved; False: nothing did for a while."""
        async with self._moved:
            try:
                await asyncio.wait_for(self._moved.wait_for(lambda: self.beat != seen or self.ending.is_set()), BEAT)
            except TimeoutError:
                return False
        return True

    def close(self) -> None:
        if self._app is not None:
            self._app.journal.close()


def _written(app: App) -> int:
    """A number that changes when any process writes to the journal."""
    if isinstance(app.journal, SqliteJournal):
        return int(app.journal.db.execute("PRAGMA data_version").fetchone()[0])
    return hash(tuple(app.journal.heads()[:1]))


def _grown(app: App) -> int:
    """A number that changes when the running output of any run grows."""
    folder = live_file(app, "x").parent
    try:
        return hash(tuple((f.name, f.stat().st_size) for f in folder.iterdir() if f.suffix == ".log"))
    except OSError:
        return 0


def frame(kind: str, value: Any, id: str = "") -> bytes:
    """One event of the stream. JSON has no line breaks of its own."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {kind}\ndata: ".encode() + msgspec.json.encode(value) + b"\n\n"


async def _told(pulse: Pulse, news: Callable[[], list[bytes]]) -> AsyncIterator[bytes]:
    """What is new, whenever something moved; a sign of life in between."""
    yield b"retry: 1000\n\n"
    while not pulse.ending.is_set():
        seen = pulse.beat
        while frames := news():
            yield b"".join(frames)
            await asyncio.sleep(0)  # a long history leaves room for others
        if not await pulse.wait(seen):
            yield b": still here\n\n"


def of_run(pulse: Pulse, run: str, after: int) -> AsyncIterator[bytes]:
    """The events of a run after a number, and word of its running output."""
    at = [head_of(pulse.app, run).seq if after < 0 else after]
    size = [-1]

    def news() -> list[bytes]:
        rows = event_rows(pulse.app, run, at[0], PAGE)
        at[0] = rows[-1].seq if rows else at[0]
        found = [frame("event", row, str(row.seq)) for row in rows]
        file = live_file(pulse.app, run)
        now = file.stat().st_size if file.is_file() else 0
        if now != size[0]:
            size[0] = now
            found.append(frame("output", {"size": now}))
        return found

    return _told(pulse, news)


def of_all(pulse: Pulse) -> AsyncIterator[bytes]:
    """Every run that changed since the last look, as its row of the board."""
    known: dict[str, Head] = {h.run: h for h in pulse.app.journal.heads()}

    def news() -> list[bytes]:
        heads = pulse.app.journal.heads()
        changed = [h for h in heads if known.get(h.run) != h]
        known.update({h.run: h for h in changed})
        tops = dict.fromkeys(h.parent or h.run for h in changed)
        return [frame("run", run_row(pulse.app, pulse.tally, head_of(pulse.app, run))) for run in tops]

    return _told(pulse, news)
