"""What a program writes, on its way into the queue's tables: gathered for a moment, kept in pieces, its last line at hand."""

import codecs
import threading
import time
from collections.abc import Callable

PIECE = 60_000  # characters at most in one
EVERY = 0.5  # seconds between two pieces
TAIL = 4_000  # characters at the end that stay at hand
MOST_UNKEPT = 4_000_000  # characters that wait while nothing can be kept; of more, the newest


class ExecutionOutput:
    """The output of one execution. Fed by one thread; whoever looks at the last line may be another."""

    def __init__(self, keep: Callable[[str], bool | None]) -> None:
        self.keep = keep  # False: it cannot be kept now
        self.tail = ""
        self.last, self.heard = "", time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text, self._kept, self._lock = "", time.monotonic(), threading.Lock()

    def feed(self, chunk: bytes) -> None:
        self.heard = time.monotonic()
        with self._lock:
            text = self._decoder.decode(chunk)
            self._text += text
            self.tail = (self.tail + text)[-TAIL:]
            lines = [line for line in self._text.splitlines() if line.strip()]
            self.last = lines[-1] if lines else self.last
        if self.heard - self._kept > EVERY or len(self._text) > PIECE:
            self._keep(self._text.rfind("\n") + 1 or (len(self._text) if len(self._text) > PIECE else 0))

    def flush(self) -> None:
        """Keep what has gathered, also a line that has no end yet."""
        self._keep(len(self._text))

    def _keep(self, end: int) -> None:
        """Keep what stands before there, in pieces that end where a line ends unless a line is longer than a piece."""
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
        """Seconds since it wrote something."""
        return time.monotonic() - self.heard
