"""The server over HTTP, on loopback only: any number of clients that know the token. Host and Origin are checked before anything is read."""

import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn

from detent.errors import DetentError
from detent.interfaces.mcp.server import build
from detent.interfaces.mcp.stdio import end_on_signal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
GRACE = 2  # seconds for open answers once the end has come


class Quiet(uvicorn.Server):
    """A server that leaves signals to us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(port: int, dialogs: bool) -> int:
    """Serve until a signal comes; 128 and its number."""
    return anyio.run(_serve, _listen(port), dialogs)


async def _serve(listening: socket.socket, dialogs: bool) -> int:
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(32)
    app = build(dialogs).streamable_http_app()
    config = uvicorn.Config(Guard(app, token, port), log_level="warning", timeout_graceful_shutdown=GRACE, lifespan="on")
    server, ended_by = Quiet(config), [0]

    def end() -> None:
        server.should_exit = True

    async with anyio.create_task_group() as group:
        group.start_soon(end_on_signal, end, ended_by)
        print(f"Listening on http://127.0.0.1:{port}/mcp\nAuthorization: Bearer {token}", flush=True)
        await server.serve([listening])
        group.cancel_scope.cancel()
    return ended_by[0]


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as e:
        raise DetentError(f"port {port} cannot be used: {e.strerror}", "choose another one with --port, or 0 for any that is free") from e


class Guard:
    """Lets through only whoever speaks to this very address, comes from no other site, and knows the token."""

    def __init__(self, app: Asgi, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        no = self.refusal({k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope.get("headers", ())})
        if scope["type"] == "lifespan" or not no:
            await self.app(scope, receive, send)
        else:
            await _refuse(send, *no)

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """(status, sentence) if the request is not let in."""
        if headers.get("host", "") not in self.hosts:
            return 421, "this address is not served here"
        if "origin" in headers and headers["origin"].removeprefix("http://") not in self.hosts:
            return 403, "requests from other sites are not taken"
        scheme, _, token = headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), self.token.encode())
        return None if known else (401, "the bearer token that was printed at the start is missing or wrong")


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *([(b"www-authenticate", b"Bearer")] if status == 401 else [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
