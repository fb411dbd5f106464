"""What a program writes, on its way into the queue's tables: gathered for a moment, kept in pieces, its last line at hand."""

import codecs
import threading
import time
from collections.abc import Callable

PIECE = 60_000  # characters at most in one
EVERY = 0.5  # seconds between two pieces


class Output:
    """The output of one execution. Fed by one thread; whoever looks at the last line may be another."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        self.keep = keep
        self.last, self.heard = "", time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text, self._kept, self._lock = "", time.monotonic(), threading.Lock()

    def feed(self, chunk: bytes) -> None:
        self.heard = time.monotonic()
        with self._lock:
            self._text += self._decoder.decode(chunk)
            lines = [line for line in self._text.splitlines() if line.strip()]
            self.last = lines[-1] if lines else self.last
        if self.heard - self._kept > EVERY or len(self._text) > PIECE:
            self.flush()

    def flush(self) -> None:
        """Keep what has gathered."""
        with self._lock:
            text, self._text = self._text, ""
        self._kept = time.monotonic()
        for at in range(0, len(text), PIECE):
            self.keep(text[at : at + PIECE])

    def silent(self) -> float:
        """Seconds since it wrote something."""
        return time.monotonic() - self.heard
