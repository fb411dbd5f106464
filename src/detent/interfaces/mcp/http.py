"""The MCP server over HTTP on loopback, for clients with the token. Host and Origin are checked before anything is read."""

import secrets

import anyio

from detent.interfaces.listening import listen, serve_until_signal
from detent.interfaces.mcp.server import build
from detent.interfaces.origin_guard import Guard


def serve(port: int, dialogs: bool) -> int:
    """Serve until a signal comes; returns 128 + its number."""
    listening = listen(port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(32)
    guarded = Guard(build(dialogs).streamable_http_app(), token, (f"127.0.0.1:{port}", f"localhost:{port}"))
    text = f"Listening on http://127.0.0.1:{port}/mcp\nAuthorization: Bearer {token}"
    return anyio.run(serve_until_signal, guarded, listening, text)
