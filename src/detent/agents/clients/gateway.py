"""The one way out of a client: takes its calls, adds what pays for them, and passes them on to one service. Runs outside, in our process.

The client has an address and a token that mean nothing elsewhere. Whatever it asks for, the request goes to the service of its model, to the
few paths that a turn needs, with our key in the place of its own. Each call is counted and may be refused: limits are held here.
"""

import contextlib
import hmac
import http.client
import json
import os
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from detent.agents.clients.faults import lost, now, trouble_of
from detent.agents.clients.row import Access, Row
from detent.agents.faults import LATER, Trouble
from detent.agents.protocol import AgentFailed
from detent.errors import DetentError

PATIENCE = 60.0  # seconds; a client that would wait longer for the service is ended, and the run waits
LARGEST = 32 << 20  # bytes of a request
MOST = 16  # connections at a time: a program inside may open as many as it likes
LONGEST = 1 << 20  # bytes of an answer that is an error
SILENT = 900.0  # seconds without a byte from the service
OURS = ("authorization", "x-api-key", "cookie", "proxy-authorization", "chatgpt-account-id", "openai-organization", "openai-project")
PASSING = ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host", "content-length")


class Gateway:
    """Open for one turn of one client. `ended` says why the turn must end now, `fault` what the last call came to if it failed."""

    def __init__(self, row: Row, access: Access, token: str, before: Callable[[], None], stir: Callable[[], None]) -> None:
        self.row, self.access, self.token, self.before, self.stir = row, access, token, before, stir
        self.url = urlsplit(access.url)
        self.calls = 0
        self.fault: Trouble | None = None
        self.ended: DetentError | None = None
        self.open: set[http.client.HTTPConnection] = set()
        self.lock = threading.Lock()
        self.server = Listener(("127.0.0.1", 0), partial(Handler, self), bind_and_activate=False)

    def at(self, folder: Path | None, name: str = "model") -> Self:
        """Listen at a socket in a folder, or at a free port of this machine."""
        self.server.socket.close()
        self.server.socket = listening(folder, name)
        return self

    @property
    def port(self) -> int:
        number: int = self.server.socket.getsockname()[1]
        return number

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError, AttributeError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    # -- what a request is told ------------------------------------------------------------------------------------------

    def refuses(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        """Why a request is not passed on; empty if it is."""
        shown = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(shown.encode(), self.token.encode()):
            return "this is not the token of the turn"
        if path not in self.row.calls | self.row.paths or method not in ("POST", "GET"):
            return f"{method} {path} is not what a turn needs"
        if path in self.row.calls:
            try:
                self.before()
            except AgentFailed as e:
                self.ended = self.ended or e
        return self.ended.message if self.ended else ""

    def sent(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request as the service gets them."""
        kept = {name: value for name, value in headers.items() if name not in (*OURS, *PASSING, "accept-encoding")}
        return {**kept, "accept-encoding": "identity", **self.access.headers}

    @contextlib.contextmanager
    def connected(self) -> Iterator[http.client.HTTPConnection]:
        host, port = self.url.hostname or "", self.url.port
        made: http.client.HTTPConnection
        if self.url.scheme == "https":
            made = http.client.HTTPSConnection(host, port, timeout=SILENT, context=ssl.create_default_context())
        else:
            made = http.client.HTTPConnection(host, port, timeout=SILENT)
        with self.lock:
            self.open.add(made)
        try:
            yield made
        finally:
            with self.lock:
                self.open.discard(made)
            made.close()

    # -- what a call came to ---------------------------------------------------------------------------------------------

    def answered(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The service said no. What no second try can mend ends the turn here; everything else is the client's to try again."""
        if status == 401:
            said = f"the model's service did not accept {self.access.how}"
            self.ended = self.ended or DetentError(said, self.row.login)
            return
        self.fault = trouble_of(status, headers, body, now())
        if self.fault.fault is LATER and self.fault.wait is not None and self.fault.wait > PATIENCE:
            self.ended = self.ended or self.fault.failed()

    def began(self, is_call: bool) -> None:
        with self.lock:
            self.calls += is_call


def listening(folder: Path | None, name: str) -> socket.socket:
    if folder is None:
        return socket.create_server(("127.0.0.1", 0))
    made, place = socket.socket(socket.AF_UNIX), os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        made.bind(f"/proc/self/fd/{place}/{name}")  # the folder's own path may be too long for a socket
    finally:
        os.close(place)
    made.listen()
    return made


class Listener(ThreadingHTTPServer):
    """Takes connections, no more than so many at a time; one that breaks is nobody's trouble."""

    daemon_threads = True

    def __init__(self, *args: Any, **more: Any) -> None:
        self.free = threading.BoundedSemaphore(MOST)
        super().__init__(*args, **more)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return self.free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    wbufsize = 0

    def __init__(self, gate: Gateway, *of_server: Any) -> None:
        self.gate = gate
        super().__init__(*of_server)

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        with contextlib.suppress(OSError):  # the client is gone
            self.serve({name.lower(): value for name, value in self.headers.items()})

    def do_POST(self) -> None:
        self.do_GET()

    def serve(self, headers: dict[str, str]) -> None:
        path = self.path.partition("?")[0]
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > LARGEST:
            self.close_connection = True
            self.refuse(411, "the length of a request must be told, and be no more than it can be")
            return
        body = self.rfile.read(int(length))
        if said := self.gate.refuses(self.command, path, headers):
            self.refuse(403, said)
        else:
            self.forward(path in self.gate.row.calls, body, headers)

    def forward(self, is_call: bool, body: bytes, headers: dict[str, str]) -> None:
        with self.gate.connected() as service:
            try:
                service.request(self.command, self.gate.url.path.rstrip("/") + self.path, body or None, self.gate.sent(headers))
                answer = service.getresponse()
            except (OSError, http.client.HTTPException, ValueError) as e:  # a ValueError: headers that cannot be sent on
                self.gate.fault = lost(e)
                self.refuse(502, "the model's service cannot be reached")
                return
            if answer.status >= 400:
                self.deny(is_call, answer)
            else:
                self.gate.began(is_call)
                self.stream(is_call, answer)

    def deny(self, is_call: bool, answer: http.client.HTTPResponse) -> None:
        try:
            body = answer.read(LONGEST)
        except (OSError, http.client.HTTPException):
            body = b""
        if is_call:
            self.gate.answered(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
        self.head(answer, {"content-length": str(len(body))})
        self.wfile.write(body)

    def stream(self, is_call: bool, answer: http.client.HTTPResponse) -> None:
        """Pass an answer on as it comes. One that is cut there is cut here."""
        self.head(answer, {"transfer-encoding": "chunked"})
        try:
            while data := answer.read1(1 << 16):
                self.gate.stir()
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
        except (http.client.HTTPException, TimeoutError, ConnectionError) as e:
            self.gate.fault = lost(e)
            self.close_connection = True
            return
        if is_call:
            self.gate.fault = None
        self.wfile.write(b"0\r\n\r\n")

    def head(self, answer: http.client.HTTPResponse, more: Mapping[str, str]) -> None:
        self.send_response_only(answer.status)
        for name, value in [*((n, v) for n, v in answer.getheaders() if n.lower() not in PASSING), *more.items()]:
            self.send_header(name, value)
        self.end_headers()

    def refuse(self, status: int, said: str) -> None:
        data = json.dumps({"type": "error", "error": {"type": "refused_by_detent", "message": f"Refused by Detent: {said}."}}).encode()
        self.send_response_only(status)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(data))), ("x-should-retry", "false")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
