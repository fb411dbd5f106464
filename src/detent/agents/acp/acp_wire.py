"""The way to an agent's standard input: a socket in the folder of the turn, to which the relay inside connects the program. Owns the writing.

A program that does not read is not waited for: what it is sent waits in a line of its own, and ends with the turn.
"""

import contextlib
import queue
import socket
import threading
from pathlib import Path
from typing import Self

from detent.agents.clients.gateway import listening

NAME = "words"


class AcpWire:
    """Open for one turn."""

    def __init__(self, folder: Path) -> None:
        self.listener = listening(folder, NAME)
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.joined: socket.socket | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._write, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()
        for each in (self.listener, self.joined):
            if each:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def send(self, line: bytes) -> None:
        self.lines.put(line)

    def end(self) -> None:
        """Nothing more comes: most programs end by themselves then."""
        self.lines.put(None)

    def _write(self) -> None:
        """The first to connect is the relay, before it starts the program; nobody else is let in."""
        with contextlib.suppress(OSError):
            self.joined, _ = self.listener.accept()
            self.listener.close()
            while (line := self.lines.get()) is not None:
                self.joined.sendall(line)
            self.joined.shutdown(socket.SHUT_WR)
