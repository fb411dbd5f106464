"""An ACP agent's standard input: a socket in the turn's folder, which the relay inside the sandbox connects to the program.

Owns the writing. Lines are queued and written by a thread, so a program that does not read never blocks us.
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
    """The open connection of one turn."""

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
        """Close the input after the queued lines; most programs then exit."""
        self.lines.put(None)

    def _write(self) -> None:
        """Write queued lines to the first connection, which is the relay's, made before it starts the program; no other is accepted."""
        with contextlib.suppress(OSError):
            self.joined, _ = self.listener.accept()
            self.listener.close()
            while (line := self.lines.get()) is not None:
                self.joined.sendall(line)
            self.joined.shutdown(socket.SHUT_WR)
