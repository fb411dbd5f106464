"""The gateway: a client's only way to its model. Forwards its calls to the model's service with our key. Runs outside the sandbox.

The client has an address and a token that work only here. Only the few paths that a turn needs are forwarded, whatever the client asks
for. Each call and its tokens are counted, and a call over a limit is refused.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from detent.agents.agent_protocol import AgentFailed, Usage
from detent.agents.clients.client_faults import is_about_the_key, lost, now, trouble_of
from detent.agents.clients.row import Access
from detent.agents.clients.service_answers import Answers, ModelCall
from detent.agents.faults import LATER, Trouble
from detent.errors import DetentError
from detent.storage.machine import has

PATIENCE = 60.0  # seconds; if the service asks for a longer wait, the turn ends and the run waits instead
LARGEST = 32 << 20  # bytes per request
MOST = 16  # connections at a time, since a program inside may open any number
LONGEST = 1 << 20  # bytes of an error answer
SILENT = 900.0  # seconds without a byte from the service
KEYS = ("x-api-key", "x-goog-api-key", "api-key")  # headers besides `authorization` in which clients send their key
OURS = (*KEYS, "authorization", "cookie", "proxy-authorization", "chatgpt-account-id", "openai-organization", "openai-project")
PASSING = ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host", "content-length")


class Gateway:
    """The gateway for one turn of one client. `ended` is why the turn must end now, `fault` the error of the last call, if it failed."""

    def __init__(self, ways: Sequence[Access], login: str, token: str, before: Callable[[], None], stir: Callable[[], None]) -> None:
        self.ways, self.login, self.token, self.before, self.stir = ways, login, token, before, stir
        self.calls = 0
        self.answers = Answers([])
        self.fault: Trouble | None = None
        self.ended: DetentError | None = None
        self.open: set[http.client.HTTPConnection] = set()
        self.lock = threading.Lock()
        self.server = Listener(("127.0.0.1", 0), partial(Handler, self), bind_and_activate=False)

    def at(self, folder: Path | None, name: str = "model") -> Self:
        """Listen on a Unix socket in this folder or, without one, on a free local port."""
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

    # -- routing and refusing --------------------------------------------------------------------------------------------

    def way(self, path: str) -> Access | None:
        """The service that serves a path; None if a turn does not need that path."""
        found = [way for way in self.ways if way.wire_format.calls.fullmatch(path)]
        found += [way for way in self.ways if way.wire_format.paths.fullmatch(path)]
        return found[0] if found else None

    def refuses(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        """Why a request is not forwarded; empty if it is. Counts limits before a model call."""
        shown = next((headers[name] for name in KEYS if name in headers), headers.get("authorization", "").removeprefix("Bearer "))
        if not hmac.compare_digest(shown.encode(), self.token.encode()):
            return "this is not the token of the turn"
        way = self.way(path)
        if way is None or method not in ("POST", "GET"):
            return f"{method} {path} is not something a turn needs"
        if way.wire_format.calls.fullmatch(path):
            try:
                self.before()
            except AgentFailed as e:
                self.ended = self.ended or e
        return self.ended.message if self.ended else ""

    @contextlib.contextmanager
    def connected(self, way: Access) -> Iterator[http.client.HTTPConnection]:
        url = urlsplit(way.url)
        host, port = url.hostname or "", url.port
        made: http.client.HTTPConnection
        if url.scheme == "https":
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

    # -- results of calls ------------------------------------------------------------------------------------------------

    def record(self, call: ModelCall) -> None:
        with self.lock:
            self.answers.calls.append(call)

    def began(self) -> None:
        with self.lock:
            self.calls += 1

    def failed(self, call: ModelCall, trouble: Trouble) -> None:
        self.fault = call.fault = trouble

    def handle_error(self, call: ModelCall, way: Access, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Handle an error answer. A rejected key or a long wait ends the turn here; the client may retry anything else."""
        if is_about_the_key(status, body):
            self.ended = self.ended or DetentError(f"the model's service did not accept {way.how}", self.login)
            return
        self.failed(call, trouble := trouble_of(status, headers, body, now()))
        if trouble.fault is LATER and trouble.wait is not None and trouble.wait > PATIENCE:
            self.ended = self.ended or trouble.failed()

    @property
    def usage(self) -> Usage:
        """The tokens of all calls, as far as the services reported them."""
        with self.lock:
            return self.answers.usage


def sent(way: Access, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers to forward: without the client's credentials and hop-by-hop headers, with ours."""
    kept = {name: value for name, value in headers.items() if name not in (*OURS, *PASSING, "accept-encoding")}
    return {**kept, "accept-encoding": "identity", **way.headers}


def target(way: Access, path: str, query: str) -> str:
    """The path and query to forward, without a key in the query."""
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "key"]
    return urlsplit(way.url).path.rstrip("/") + way.wire_format.inner(path) + (f"?{urlencode(kept)}" if kept else "")


def listening(folder: Path | None, name: str) -> socket.socket:
    if folder is None:
        return socket.create_server(("127.0.0.1", 0))
    made, place = socket.socket(socket.AF_UNIX), os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        made.bind(f"/proc/self/fd/{place}/{name}" if has("proc") else str(folder / name))  # its own path may be too long for a socket
    finally:
        os.close(place)
    made.listen()
    return made


class Listener(ThreadingHTTPServer):
    """The gateway's server, with at most MOST connections at a time. A broken connection is ignored."""

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
        path, _, query = self.path.partition("?")
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > LARGEST:
            self.close_connection = True
            self.refuse(411, "a request needs a content length that is not too large")
            return
        body = self.rfile.read(int(length))
        reason, way = self.gate.refuses(self.command, path, headers), self.gate.way(path)
        if reason or way is None:
            self.refuse(403, reason)
            return
        call = ModelCall(way.wire_format, path, body) if way.wire_format.calls.fullmatch(path) else None
        if call:
            self.gate.record(call)
        self.forward(way, call, target(way, path, query), body, headers)

    def forward(self, way: Access, call: ModelCall | None, target: str, body: bytes, headers: dict[str, str]) -> None:
        with self.gate.connected(way) as service:
            try:
                service.request(self.command, target, body or None, sent(way, headers))
                answer = service.getresponse()
            except (OSError, http.client.HTTPException, ValueError) as e:  # a ValueError: headers that cannot be forwarded
                self.broke(call, e)
                self.refuse(502, "the model's service cannot be reached")
                return
            if answer.status >= 300:  # redirects are never followed
                self.deny(way, call, answer)
            else:
                self.stream(call, answer)

    def broke(self, call: ModelCall | None, why: Exception) -> None:
        if call:
            self.gate.failed(call, lost(why))

    def deny(self, way: Access, call: ModelCall | None, answer: http.client.HTTPResponse) -> None:
        try:
            body = answer.read(LONGEST)
        except (OSError, http.client.HTTPException):
            body = b""
        if call:
            self.gate.handle_error(call, way, answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
        self.head(answer, {"content-length": str(len(body))})
        self.wfile.write(body)

    def stream(self, call: ModelCall | None, answer: http.client.HTTPResponse) -> None:
        """Forward an answer as it arrives. If the service cuts it off, so do we."""
        if call:
            self.gate.began()
            call.is_stream = "event-stream" in answer.headers.get("content-type", "")
        self.head(answer, {"transfer-encoding": "chunked"})
        try:
            while data := answer.read1(1 << 16):
                self.gate.stir()
                if call:
                    call.feed(data)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
        except (http.client.HTTPException, TimeoutError, ConnectionError) as e:
            self.broke(call, e)
            self.close_connection = True
            return
        if call:
            call.end()
            self.gate.fault = None
        self.wfile.write(b"0\r\n\r\n")

    def head(self, answer: http.client.HTTPResponse, more: Mapping[str, str]) -> None:
        self.send_response_only(answer.status)
        for name, value in [*((n, v) for n, v in answer.getheaders() if n.lower() not in PASSING), *more.items()]:
            self.send_header(name, value)
        self.end_headers()

    def refuse(self, status: int, reason: str) -> None:
        data = json.dumps({"type": "error", "error": {"type": "refused_by_detent", "message": f"Refused by Detent: {reason}."}}).encode()
        self.send_response_only(status)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(data))), ("x-should-retry", "false")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
