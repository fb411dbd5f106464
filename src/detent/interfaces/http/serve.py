"""`detent serve`, the part behind the flags: the token, the names it answers to, the link, the browser, and the server until a signal comes."""

import asyncio
import os
import secrets
import socket
from pathlib import Path

import anyio

from detent.app import open_app
from detent.errors import DetentError
from detent.interfaces.guard import Guard
from detent.interfaces.http.asgi import build, needs_token
from detent.interfaces.listening import listen, serve_until_signal
from detent.kernel.anchor import state_dir

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN = """This server listens on {host}: everyone who can reach this machine and has the token can start agents, read code and answer decisions
in your name. The connection is not encrypted: put it behind a tunnel or a proxy that is."""


def serve(host: str, port: int, to_network: bool, browse: bool) -> int:
    """Serve the checkout of this folder until a signal comes; 128 and its number."""
    if host not in LOOPBACK and not to_network:
        raise DetentError(
            f"{host} is not loopback: others on the network could reach this server",
            "leave --host out; or, if that is what you want, add --open-to-network",
        )
    app = open_app(Path.cwd(), create=True)
    root = app.place.root
    app.journal.close()
    listening = listen(port, "127.0.0.1" if host == "localhost" else host)
    token, word = kept_token(), secrets.token_urlsafe(16)
    port = listening.getsockname()[1]
    names = _names(host, port)
    link = f"http://{names[0]}/#once={word}"
    said = f"Listening on http://{names[0]}/\nAuthorization: Bearer {token}\nOpen {link}\n(The link works in one tab; further tabs open from there. Stop with Ctrl-C; runs go on.)"
    if host not in LOOPBACK:
        said = f"{OPEN.format(host=host)}\n{said}"
    if browse:
        open_browser(link)
    ending = asyncio.Event()
    guarded = Guard(build(root, token, {word: ""}, ending), token, names, needs_token)
    return anyio.run(serve_until_signal, guarded, listening, said, ending)


def _names(host: str, port: int) -> tuple[str, ...]:
    """What may stand in the Host of a request: the address as it was given, and the names of this machine. No other name leads here."""
    shown = f"[{host}]" if ":" in host else host
    own = (socket.gethostname(), socket.getfqdn()) if host not in LOOPBACK else ()
    first = () if host in ("0.0.0.0", "::") else (shown,)
    return tuple(dict.fromkeys(f"{name}:{port}" for name in (*first, *own, "127.0.0.1", "localhost", "[::1]")))


def kept_token() -> str:
    """The token of this user: made once, readable by its owner alone."""
    file = state_dir() / "web-token"
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return _made_token(file)
        with os.fdopen(fd, "r") as source:
            seen, text = os.fstat(fd), source.read().strip()
    except OSError as e:
        raise DetentError(f"the token {file} cannot be kept: {e.strerror}", "look at the rights of its folder") from e
    if seen.st_mode & 0o077 or seen.st_uid != os.getuid() or len(text) < 40:
        raise DetentError(f"{file} can be read by others, or is not whole", "remove it; a new token is made at the next start")
    return text


def _made_token(file: Path) -> str:
    token = secrets.token_urlsafe(32)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as out:
        out.write(token + "\n")
    os.replace(draft, file)
    return token


def open_browser(link: str) -> None:
    """Open the link where a person sits at a display; elsewhere it is only printed."""
    import webbrowser

    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.uname().sysname == "Darwin":
        webbrowser.open(link)
