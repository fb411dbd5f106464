"""Request timeouts for uvicorn: closes a connection whose request is not complete in time."""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD = 15.0  # seconds for a request's head
BODY = 30.0  # seconds for its body


class Patient(H11Protocol):
    """uvicorn's HTTP protocol with a timeout for incomplete requests."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if (sock := transport.get_extra_info("socket")) is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # detects a peer that lost power
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Run the timer while a request is awaited, not while one is answered."""
        if self._answers():
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD, self._give_up)

    def _give_up(self) -> None:
        self._late = None
        if not self._answers():
            self.transport.close()

    def _answers(self) -> bool:
        cycle: Any = self.cycle  # None until the first request
        return cycle is not None and not cycle.response_complete

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
