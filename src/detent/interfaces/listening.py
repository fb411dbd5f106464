"""Runs an ASGI app on a port with uvicorn, and shuts it down cleanly. Knows nothing of what is served."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.requests import ClientDisconnect

from detent.errors import DetentError
from detent.interfaces.ending import end_on_signal
from detent.interfaces.origin_guard import Asgi, Receive, Scope, Send
from detent.interfaces.patience import Patient

GRACE = 2  # seconds for open responses at shutdown


class Quiet(uvicorn.Server):
    """A uvicorn server that installs no signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(port: int, host: str = "127.0.0.1") -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as e:
        message = f"{host} port {port} cannot be used: {e.strerror}" if host != "127.0.0.1" else f"port {port} cannot be used: {e.strerror}"
        raise DetentError(message, "choose another one with --port, or 0 for any that is free") from e


def leaving(app: Asgi) -> Asgi:
    """An app that ignores clients that disconnect mid-request, instead of logging a traceback."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except* ClientDisconnect:
            pass

    return call


async def serve_until_signal(app: Asgi, listening: socket.socket, text: str, ending: asyncio.Event | None = None) -> int:
    """Serve until a signal comes, printing `said` once ready; returns 128 + the signal's number. `ending` is set first, so that
    endless responses can finish."""
    config = uvicorn.Config(
        leaving(app), log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE, lifespan="on", http=Patient
    )
    server, ended_by = Quiet(config), [0]

    def end() -> None:
        if ending is not None:
            ending.set()
        server.should_exit = True

    async with anyio.create_task_group() as group:
        await group.start(end_on_signal, end, ended_by)
        print(text, flush=True)
        await server.serve([listening])
        group.cancel_scope.cancel()
    return ended_by[0]
