"""Server-sent events of runs, for any number of clients, which can resume after what they saw last.

One thread polls the journal for all clients: it asks often for a number that changes with every write of any process, and reads
rows only when it has changed. Reads only.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from detent.app import App, open_app
from detent.app.driver_lock import locks_held
from detent.app.live_log import live_file
from detent.interfaces.http.heads import head_of
from detent.interfaces.http.run_pages import event_rows
from detent.interfaces.http.runs_board import RowStamp, RunsBoard, stands
from detent.interfaces.http.wire import Wire
from detent.journal.journal import SqliteJournal

EVERY, EVERY_FAR = 0.04, 0.25  # seconds between polls of a journal in a file, and in a remote database
BEAT = 15.0  # seconds of silence before a keep-alive
PAGE = 200  # events in one step
V = TypeVar("V")
News = Callable[[], list[bytes]]


class Pulse:
    """Polls the journal for all streams, in a single thread."""

    def __init__(self, root: Path, board: RunsBoard, wire: Wire, ending: asyncio.Event) -> None:
        self.root, self.board, self.wire, self.ending, self.beat = root, board, wire, ending, 0
        self.name, self.turn = secrets.token_hex(4), 0  # the server's random name, and the number of polls that found a change
        self.changed: dict[str, int] = {}  # run -> the turn of its last change
        self.every: dict[str, RowStamp] = {}
        self._app: App | None = None
        self._seen: tuple[object, ...] = ()
        self._moved = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, "pulse")

    @property
    def app(self) -> App:
        if self._app is None:
            self._app = open_app(self.root, create=True)
        return self._app

    async def apart(self, work: Callable[[], V]) -> V:
        """Do something in that thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def run(self) -> None:
        """Poll until the server ends, then wake all waiting streams."""
        every = EVERY if await self.apart(lambda: isinstance(self.app.journal, SqliteJournal)) else EVERY_FAR
        while not self.ending.is_set():
            if await self.apart(self._look):
                await self.tell()
            await asyncio.sleep(every)
        await self.tell()

    def _look(self) -> bool:
        """Poll once: whether anything changed. Records which runs did."""
        now = (_written(self.app), locks_held(), _grown(self.app))
        if now == self._seen:
            return False
        if now[:2] != self._seen[:2]:
            self._compare(stands(self.app))
        self._seen = now
        return True

    def _compare(self, now: dict[str, RowStamp]) -> None:
        self.turn += 1
        if self.turn > 1:  # the first poll has nothing to compare with
            self.changed |= {s.head.parent or run: self.turn for run, s in now.items() if self.every.get(run) != s}
        self.every = now

    async def tell(self) -> None:
        async with self._moved:
            self.beat += 1
            self._moved.notify_all()

    async def wait(self, seen: int, most: float) -> bool:
        """Wait for a change after beat `seen`; False after `most` seconds without one."""
        async with self._moved:
            try:
                await asyncio.wait_for(self._moved.wait_for(lambda: self.beat != seen or self.ending.is_set()), most)
            except TimeoutError:
                return False
        return True

    async def close(self) -> None:
        if self._app is not None:
            await self.apart(self._app.journal.close)
        self._thread.shutdown()


def _written(app: App) -> int:
    """A number that changes when any process writes to the journal."""
    if isinstance(app.journal, SqliteJournal):
        return int(app.journal.db.execute("PRAGMA data_version").fetchone()[0])
    return hash(tuple(app.journal.heads()[:1]))


def _grown(app: App) -> int:
    """A number that changes when the live log of any run grows."""
    folder = live_file(app, "x").parent
    try:
        return hash(tuple((f.name, f.stat().st_size) for f in folder.iterdir() if f.suffix == ".log"))
    except OSError:
        return 0


def never() -> bool:
    return False


async def frames(pulse: Pulse, news: Sequence[News], every: float = BEAT, over: Callable[[], bool] = never) -> AsyncIterator[bytes]:
    """The frames of a stream: news at each change or every `every` seconds, and keep-alives, until `over`."""
    yield b"retry: 1000\n\n"
    silent = 0.0
    while not pulse.ending.is_set():
        seen, last = pulse.beat, await pulse.apart(over)
        while frames := await pulse.apart(lambda: [frame for each in news for frame in each()]):
            silent = 0.0
            yield b"".join(frames)
        if last:
            return
        silent = 0.0 if await pulse.wait(seen, every) else silent + every
        if silent >= BEAT:
            silent = 0.0
            yield b": still here\n\n"


class StreamPosition:
    """A client's position in a combined stream. As text it is the id of each frame, and comes back as Last-Event-ID."""

    def __init__(self, pulse: Pulse, seen: str, after: int) -> None:
        board, _, number = seen.partition(":")
        name, _, turn = board.partition(".")
        self.pulse, self.kept = pulse, name == pulse.name and turn.isdecimal()
        self.turn = int(turn[:12]) if self.kept else pulse.turn
        self.after = int(number[:12]) if number.isdecimal() else after

    def __str__(self) -> str:
        return f"{self.pulse.name}.{self.turn}" + (f":{self.after}" if self.after >= 0 else "")


def of_run(pulse: Pulse, run: str, place: StreamPosition, id: Callable[[], str]) -> News:
    """The news of one run: its events after a number, and the size of its live log."""
    size = [-1]
    newest = head_of(pulse.app, run).seq
    place.after = newest if place.after < 0 else place.after

    def news() -> list[bytes]:
        found = []
        for row in event_rows(pulse.app, run, place.after, PAGE):
            place.after = row.seq
            found.append(pulse.wire.frame("event", row, id()))
        file = live_file(pulse.app, run)
        now = file.stat().st_size if file.is_file() else 0
        if now != size[0]:
            size[0] = now
            found.append(pulse.wire.frame("output", {"size": now}))
        return found

    return news


def of_all(pulse: Pulse, place: StreamPosition) -> News:
    """The news of the board: rows of changed runs and the counts by group. The first frame says whether the client missed anything."""
    hello: list[Any] = [{"kept": place.kept}]

    def news() -> list[bytes]:
        found = [pulse.wire.frame("hello", hello.pop(), str(place))] if hello else []
        runs = [run for run, turn in pulse.changed.items() if turn > place.turn and run in pulse.every]
        place.turn = pulse.turn
        found += [pulse.wire.frame("run", pulse.board.row(pulse.app, pulse.every[run]), str(place)) for run in runs]
        if runs:
            found.append(pulse.wire.frame("counts", pulse.board.counts(pulse.app, pulse.every)))
        return found

    return news
