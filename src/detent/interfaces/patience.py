"""How long a server waits for what a client has begun to say. One that is silent in the middle of a request is let go."""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD = 15.0  # seconds for a request's head, from the first byte or from the connection on
BODY = 30.0  # seconds for its body


class Patient(H11Protocol):
    """HTTP, where a connection that has not said a whole request in time is closed."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if (sock := transport.get_extra_info("socket")) is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # so that a peer without power is noticed
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """The clock runs while a request is awaited, and not while one is answered."""
        if self._answers():
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD, self._give_up)

    def _give_up(self) -> None:
        self._late = None
        if not self._answers():
            self.transport.close()

    def _answers(self) -> bool:
        cycle: Any = self.cycle  # None until the first request is there
        return cycle is not None and not cycle.response_complete

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
