"""A scripted model service on loopback: the streaming Responses API, as far as a coding client needs it."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.machine import need

Json = dict[str, Any]
USAGE = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 2,
}


def denied(status: int, kind: str, message: str = "no", headers: dict[str, str] | None = None, **more: object) -> Json:
    """An error with its status, in place of an item."""
    return {"denied": status, "headers": headers or {}, "body": {"error": {"type": kind, "message": message, **more}}}


def cut(item: Json) -> Json:
    """An item after which the stream is cut."""
    return {**item, "cut": True}


class ResponsesServer:
    """One output item per request, made by a function of the request and its number. Runs during its `with`."""

    def __init__(self, script: Callable[[Json, int], Json]) -> None:
        need("loopback")
        self.script = script
        self.seen: list[Json] = []
        self.keys: list[str] = []
        self.closed = threading.Event()
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, body: Json, key: str) -> Json:
        """The script's answer to a request."""
        with self.lock:
            number = len(self.seen)
            self.seen.append(body)
            self.keys.append(key)
            return {"id": f"item_{number}", **self.script(body, number)}


def events_of(item: Json) -> list[Json]:
    """The events of one response, without the last one if it is cut."""
    response = {"id": f"resp_{item['id']}"}
    sent = {name: value for name, value in item.items() if name != "cut"}
    events: list[Json] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": sent},
        {"type": "response.completed", "response": {**response, "usage": USAGE}},
    ]
    return events[:-1] if "cut" in item else events


def handler_of(service: ResponsesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            says = service.answer(body, self.headers.get("authorization", "").removeprefix("Bearer "))
            if "hang" in says:
                service.closed.wait()
                return
            if "denied" in says:
                self.give(says["denied"], "application/json", json.dumps(says["body"]), **says["headers"])
                return
            text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events_of(says))
            self.close_connection = "cut" in says
            self.give(200, "text/event-stream", text, missing=100 if "cut" in says else 0)

        def do_GET(self) -> None:
            self.give(404, "application/json", "{}")

        def give(self, status: int, kind: str, text: str, missing: int = 0, **headers: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data) + missing))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

    return Handler
