"""Buffers a program's output on its way into the queue's tables: stores it in pieces, and keeps the last line at hand."""

import codecs
import threading
import time
from collections.abc import Callable

PIECE = 60_000  # characters of a piece, at most
EVERY = 0.5  # seconds between pieces
TAIL = 4_000  # characters of the end that are kept in memory
MOST_UNKEPT = 4_000_000  # characters buffered while nothing can be stored; older ones are dropped


class ExecutionOutput:
    """The output of one execution. Fed by one thread; others may read the last line."""

    def __init__(self, keep: Callable[[str], bool | None]) -> None:
        self.keep = keep  # returns False if it cannot store now
        self.tail = ""
        self.last, self.last_fed = "", time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text, self._kept, self._lock = "", time.monotonic(), threading.Lock()

    def feed(self, chunk: bytes) -> None:
        self.last_fed = time.monotonic()
        with self._lock:
            text = self._decoder.decode(chunk)
            self._text += text
            self.tail = (self.tail + text)[-TAIL:]
            lines = [line for line in self._text.splitlines() if line.strip()]
            self.last = lines[-1] if lines else self.last
        if self.last_fed - self._kept > EVERY or len(self._text) > PIECE:
            self._keep(self._text.rfind("\n") + 1 or (len(self._text) if len(self._text) > PIECE else 0))

    def flush(self) -> None:
        """Store the buffer, including an unfinished line."""
        self._keep(len(self._text))

    def _keep(self, end: int) -> None:
        """Store the buffer up to `end`, in pieces that end at line ends unless a line is longer than a piece."""
        with self._lock:
            text, self._text = self._text[:end], self._text[end:]
        self._kept = time.monotonic()
        while text:
            at = len(text) if len(text) <= PIECE else text.rfind("\n", 0, PIECE) + 1 or PIECE
            if self.keep(text[:at]) is False:
                with self._lock:
                    self._text = (text + self._text)[-MOST_UNKEPT:]
                return
            text = text[at:]

    def silent(self) -> float:
        """Seconds since the last output."""
        return time.monotonic() - self.last_fed
