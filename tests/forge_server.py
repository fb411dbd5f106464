"""Common to the stand-ins of both forges: a server on loopback with pages, ETags, tokens and faults, all in memory.

It answers as the forges document: 401 for an unknown token, 404 for a project that the token may not see, lists in pages with a Link
header, an ETag for each answer and 304 for a client that has it, 403 and 429 with rate limit headers.
"""

import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

Json = Any
CREATED = "2026-01-02T03:04:05Z"


class User(NamedTuple):
    id: int
    login: str
    writes: bool = True  # a member of the project


USERS = {"token-a": User(1, "ann"), "token-b": User(2, "ben"), "token-x": User(9, "eve", False)}


class Said(NamedTuple):
    """One answer."""

    status: int = 200
    body: Json = None
    headers: Mapping[str, str] = {}


class Seen(NamedTuple):
    method: str
    path: str
    status: int


class Call(NamedTuple):
    user: User
    words: tuple[str, ...]  # of the path, for each {} of the route
    query: dict[str, str]
    body: dict[str, Json]


Route = tuple[str, re.Pattern[str], Callable[[Call], Said]]


def route(method: str, path: str, answer: Callable[[Call], Said]) -> Route:
    """A route; {} in its path matches any word."""
    return method, re.compile("/" + path.strip("/").replace("{}", "([^/]+)")), answer


class Server:
    """One forge. `faults` are answered first, one per request; `hidden` hides the project from everyone."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.routes = prefix, list[Route]()
        self.faults: list[Said] = []
        self.seen: list[Seen] = []
        self.hidden = False
        self.meanwhile: Callable[[str, str], None] | None = None  # called just before a request is answered
        self.most = 100  # entries per page
        self.lock = threading.RLock()
        self.url = ""

    def answer(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Said:
        if self.meanwhile is not None:
            self.meanwhile(method, urlsplit(target).path)
        with self.lock:
            said = self._answered(method, target, headers, raw)
            self.seen.append(Seen(method, urlsplit(target).path.removeprefix(self.prefix), said.status))
            return said

    def _answered(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Said:
        if self.faults:
            return self.faults.pop(0)
        user = USERS.get(headers.get("authorization", "").removeprefix("Bearer "))
        if user is None:
            return Said(401, {"message": "Bad credentials"})
        split = urlsplit(target)
        path, query = split.path.removeprefix(self.prefix), dict(parse_qsl(split.query))
        if self.hidden and not path.startswith("/user"):
            return Said(404, {"message": "Not Found"})
        for verb, form, answer in self.routes:
            if verb == method and (found := form.fullmatch(path)):
                body = json.loads(raw) if raw else {}
                said = answer(Call(user, tuple(unquote(word) for word in found.groups()), query, body))
                return self._tagged(self._paged(said, split.path, query), headers) if method == "GET" else said
        return Said(404, {"message": "Not Found"})

    def _paged(self, said: Said, path: str, query: dict[str, str]) -> Said:
        if said.status != 200 or not isinstance(said.body, list):
            return said
        size, page = min(int(query.get("per_page", "30")), self.most), int(query.get("page", "1"))
        rows = said.body[(page - 1) * size : page * size]
        rest = {**query, "page": str(page + 1)}
        link = f'<{self.url}{path.removeprefix(self.prefix)}?{"&".join(f"{k}={v}" for k, v in rest.items())}>; rel="next"'
        return Said(200, rows, {"Link": link} if len(said.body) > page * size else {})

    def _tagged(self, said: Said, headers: Mapping[str, str]) -> Said:
        tag = f'W/"{hashlib.sha256(json.dumps([said.body, dict(said.headers)]).encode()).hexdigest()}"'
        if said.status == 200 and headers.get("if-none-match") == tag:
            return Said(304, None, {"ETag": tag})
        return Said(said.status, said.body, {**said.headers, "ETag": tag})

    def times(self, method: str, status: int = 0) -> int:
        return len([s for s in self.seen if s.method == method and status in (0, s.status)])


@contextlib.contextmanager
def served(server: Server) -> Iterator[None]:
    """Serve a forge on loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = server.answer(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            body = said.body if isinstance(said.body, bytes) else b"" if said.body is None else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any  # noqa: N815  # as http.server names them

        def log_message(self, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_port}{server.prefix}"
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield
        finally:
            http.shutdown()
            thread.join()
