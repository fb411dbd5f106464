"""The work of `detent serve`: token, host names, link, browser, and the server until a signal comes."""

import asyncio
import os
import secrets
import socket
from pathlib import Path

import anyio

from detent.app import open_app
from detent.errors import DetentError
from detent.interfaces.http.asgi import build, needs_token
from detent.interfaces.listening import listen, serve_until_signal
from detent.interfaces.origin_guard import Guard
from detent.storage.state import own_secret

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN = """This server listens on {host}: everyone who can reach this machine and has the token can start agents, read code and answer decisions
in your name. The connection is not encrypted: put it behind a tunnel or a proxy that is."""

STARTED = """Open {link}
It works in one tab; open further tabs from there. Stop with Ctrl-C; runs continue.
For programs: Authorization: Bearer {token}"""


def serve(host: str, port: int, to_network: bool, browse: bool) -> int:
    """Serve the checkout of this folder until a signal comes; returns 128 + its number."""
    if host not in LOOPBACK and not to_network:
        raise DetentError(
            f"{host} is not loopback: others on the network could reach this server",
            "leave --host out; or, if that is what you want, add --open-to-network",
        )
    app = open_app(Path.cwd(), create=True)
    root = app.place.root
    app.journal.close()
    listening = listen(port, "127.0.0.1" if host == "localhost" else host)
    token, word = own_secret("web-token"), secrets.token_urlsafe(16)
    port = listening.getsockname()[1]
    names = _names(host, port)
    link = f"http://{names[0]}/#once={word}"
    text = STARTED.format(link=link, token=token)
    if host not in LOOPBACK:  # printed after the link, which comes first
        text = f"{text}\n{OPEN.format(host=host)}"
    if browse:
        open_browser(link)
    ending = asyncio.Event()
    guarded = Guard(build(root, token, {word: ""}, ending), token, names, needs_token)
    return anyio.run(serve_until_signal, guarded, listening, text, ending)


def _names(host: str, port: int) -> tuple[str, ...]:
    """The accepted Host headers: the given address and the names of this machine."""
    shown = f"[{host}]" if ":" in host else host
    own = (socket.gethostname(), socket.getfqdn()) if host not in LOOPBACK else ()
    first = () if host in ("0.0.0.0", "::") else (shown,)
    return tuple(dict.fromkeys(f"{name}:{port}" for name in (*first, *own, "127.0.0.1", "localhost", "[::1]")))


def open_browser(link: str) -> None:
    """Open the link in a browser if there is a display."""
    import webbrowser

    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.uname().sysname == "Darwin":
        webbrowser.open(link)
