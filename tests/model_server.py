"""A scripted model service on loopback with faults and its own count of the cache: the streaming Messages API, and at its own path OpenAI's
chat completions (tests/chat_dialect.py).

It checks requests as the real service does (a wrong one gets 400) and bills them likewise: a prefix that an earlier call marked is read,
what follows up to the last mark is written, the rest is plain input. So a test need not trust either side's count, and compares them.
"""

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple, Self

from tests import chat_dialect
from tests.machine import need

MODELS = ("claude-opus-4-5-20251101", "claude-haiku-4-5")
KEY = "sk-ant-test-0123456789abcdef0123456789"
LOOKBACK = 20  # blocks before a mark in which an earlier prefix is searched
MARKS = 4
WRITE, READ = 1.25, 0.1

Json = dict[str, Any]
Then = Literal["end", "early", "cut", "hang", "ping"]


class Event(NamedTuple):
    name: str
    data: Json


class Reply(NamedTuple):
    """One answer of the service: an error status, or a stream of events and how it ends."""

    status: int = 200
    headers: Mapping[str, str] = {}
    events: tuple[Event, ...] = ()
    body: Json | None = None
    then: Then = "end"  # the stream ends · ends before its message does · is cut · goes silent · only pings
    blocks: tuple[Json, ...] = ()
    stop: str = "end_turn"
    model: str = ""  # the model that answers; empty: the requested one
    raw: bytes = b""  # send these bytes instead
    counts: bool = False  # in the chat dialect: send token counts unasked


class Seen(NamedTuple):
    """One request; if it was answered, with its bill."""

    body: Json
    headers: Mapping[str, str]
    input: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    path: str = ""

    @property
    def billed(self) -> float:
        return self.input + READ * self.read + WRITE * self.written

    @property
    def plain(self) -> int:
        return self.input + self.read + self.written


# -- building a script -------------------------------------------------------------------------------------------------------


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def tool(name: str, arguments: object, id: str = "") -> Json:
    """A tool call; `arguments` given as text are sent as they are, valid JSON or not."""
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "tool_use", "id": id or f"toolu_{hashlib.sha256((name + sent).encode()).hexdigest()[:16]}", "name": name, "sent": sent}


def say(*words: str) -> Reply:
    return Reply(blocks=tuple(text(w) for w in words))


def call(*calls: Json, words: str = "") -> Reply:
    numbered = tuple({**c, "id": f"{c['id']}_{i}"} for i, c in enumerate(calls))
    return Reply(blocks=((text(words),) if words else ()) + numbered, stop="tool_use")


def error(status: int, kind: str, message: str = "no", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, named, body={"type": "error", "error": {"type": kind, "message": message}})


def broken(reply: Reply, kind: str = "overloaded_error") -> Reply:
    """The beginning of a reply, then an error event."""
    return reply._replace(events=(Event("error", {"type": "error", "error": {"type": kind, "message": "sorry"}}),), then="cut")


def cut(reply: Reply) -> Reply:
    return reply._replace(then="cut")


# -- the service -------------------------------------------------------------------------------------------------------------


class ModelServer:
    """Plays its script, one reply per request; a function may make the reply from the request. Runs during its `with`."""

    def __init__(
        self,
        script: Sequence[Reply] | Callable[[Json, int], Reply],
        caching: bool = True,
        least: int = 1024,
        models: Sequence[str] = MODELS,
        fields: Sequence[str] = (),
    ) -> None:
        need("loopback")
        self.script, self.caching, self.least, self.models = script, caching, least, models
        self.fields = chat_dialect.FIELDS | set(fields)  # of a chat request
        self.seen: list[Seen] = []
        self.kept: dict[str, int] = {}  # cached prefixes with their tokens
        self.lock, self.closed, self.hung = threading.Lock(), threading.Event(), threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.outer = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{self.url}/v1"}

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def bodies(self) -> list[Json]:
        return [seen.body for seen in self.seen]

    def answer(self, body: Json, headers: Mapping[str, str], path: str) -> tuple[Reply, Seen]:
        """The next reply of the script, or the error for an invalid request."""
        with self.lock:
            seen = Seen(body, headers, path=path)
            fault = refuse(seen, self.models, self.fields)
            seen = seen if fault else self.bill(seen)
            self.seen.append(seen)
            number = len(self.seen) - 1
        reply = fault or (self.script(body, number) if callable(self.script) else self.scripted(number))
        if reply.status == 200 and not reply.raw:
            seen = self.seen[number] = seen._replace(output=max(1, len(json.dumps(reply.blocks)) // 4))
        return reply, seen

    def scripted(self, number: int) -> Reply:
        assert not callable(self.script)
        return self.script[number] if number < len(self.script) else error(500, "api_error", "the script is over")

    def bill(self, seen: Seen) -> Seen:
        """Count a request's tokens as the service does, and cache its marked prefixes."""
        blocks = list(chat_dialect.blocks_of(seen.body) if is_chat(seen.path) else blocks_of(seen.body))
        sizes = [max(1, len(json.dumps(block)) // 4) for block, _ in blocks]
        marks = [i for i, (_, marked) in enumerate(blocks) if marked] if self.caching else []
        prefixes = list(prefix_hashes(block for block, _ in blocks))
        found = [i for mark in marks for i in range(mark, max(-1, mark - LOOKBACK), -1) if prefixes[i] in self.kept]
        read = sum(sizes[: max(found) + 1]) if found else 0
        ends = [i for i in marks if sum(sizes[: i + 1]) >= self.least]
        for i in ends:
            self.kept[prefixes[i]] = sum(sizes[: i + 1])
        written = max(0, sum(sizes[: ends[-1] + 1]) - read) if ends and not is_chat(seen.path) else 0
        return seen._replace(input=sum(sizes) - read - written, read=read, written=written)


def blocks_of(body: Json) -> Iterator[tuple[object, bool]]:
    """Every block of a request in prefix order (tools, system, messages), and whether it is marked."""
    for block in [*body.get("tools", []), *(s for s in body.get("system", []) if isinstance(s, dict))]:
        yield without_mark(block), "cache_control" in block
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else [text(message["content"])]:
            yield [message["role"], without_mark(block)], "cache_control" in block


def without_mark(block: Json) -> Json:
    return {name: value for name, value in block.items() if name != "cache_control"}


def prefix_hashes(blocks: Iterator[object]) -> Iterator[str]:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(json.dumps(block, sort_keys=True).encode() + b"\n")
        yield digest.hexdigest()


def is_chat(path: str) -> bool:
    return path.endswith("/chat/completions")


def refuse(seen: Seen, models: Sequence[str], fields: set[str]) -> Reply | None:
    """The error for a request that the service refuses before any model reads it."""
    body, headers = seen.body, seen.headers
    if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):  # clients send it either way
        return error(401, "authentication_error", "invalid x-api-key")
    if body.get("model") not in models:
        return error(404, "not_found_error", f"model: {body.get('model')}")
    fault = chat_dialect.fault_of(body, fields) if is_chat(seen.path) else fault_of(body)
    return error(400, "invalid_request_error", fault) if fault else None


def fault_of(body: Json) -> str:
    messages = body.get("messages", [])
    if not body.get("stream") or not body.get("max_tokens") or not messages:
        return "stream, max_tokens and messages are needed"
    if sum(marked for _, marked in blocks_of(body)) > MARKS:
        return f"a maximum of {MARKS} blocks with cache_control"
    if [m["role"] for m in messages] != [("user", "assistant")[i % 2] for i in range(len(messages))]:
        return "roles must alternate"
    for before, after in zip([{"content": []}, *messages], messages, strict=False):
        wanted = [b["id"] for b in before["content"] if isinstance(b, dict) and b["type"] == "tool_use"]
        given = [b["tool_use_id"] for b in after["content"] if isinstance(b, dict) and b["type"] == "tool_result"]
        if wanted != given:
            return f"tool_use ids {wanted} were answered by {given}"
        if not after["content"] or any(b["type"] == "text" and not b["text"].strip() for b in after["content"] if isinstance(b, dict)):
            return "text content blocks must be non-empty"
    return ""


def events_of(reply: Reply, body: Json, seen: Seen) -> Iterator[Event]:
    """A message as the service streams it."""
    usage = {
        "input_tokens": seen.input,
        "cache_read_input_tokens": seen.read,
        "cache_creation_input_tokens": seen.written,
        "output_tokens": 1,
    }
    head: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply.model or body["model"],
        "content": [],
        "stop_reason": None,
    }
    yield Event("message_start", {"type": "message_start", "message": {**head, "stop_sequence": None, "usage": usage}})
    yield Event("ping", {"type": "ping"})
    for index, block in enumerate(reply.blocks):
        empty = {"type": "text", "text": ""} if block["type"] == "text" else {**{k: block[k] for k in ("type", "id", "name")}, "input": {}}
        yield Event("content_block_start", {"type": "content_block_start", "index": index, "content_block": empty})
        words, kind, name = (
            (block["text"], "text_delta", "text") if block["type"] == "text" else (block["sent"], "input_json_delta", "partial_json")
        )
        half = len(words) // 2
        for part in (words[:half], words[half:]):
            yield Event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: part}})
        if reply.then != "end" and index == len(reply.blocks) - 1:
            break  # the rest never comes
        yield Event("content_block_stop", {"type": "content_block_stop", "index": index})
    yield from reply.events
    if reply.then == "end":
        counted = {"output_tokens": seen.output}
        yield Event(
            "message_delta", {"type": "message_delta", "delta": {"stop_reason": reply.stop, "stop_sequence": None}, "usage": counted}
        )
        yield Event("message_stop", {"type": "message_stop"})


def handler_of(service: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # send small pieces at once

        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply, seen = service.answer(body, {name.lower(): value for name, value in self.headers.items()}, self.path)
            with contextlib.suppress(OSError):
                self.give(reply, body, seen)

        def give(self, reply: Reply, body: Json, seen: Seen) -> None:
            if reply.status == 0:  # not even a status line
                service.hung.set()
                service.closed.wait()
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.body is not None:
                data = json.dumps(reply.body).encode()
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.stream(reply, body, seen)

        def stream(self, reply: Reply, body: Json, seen: Seen) -> None:
            if reply.raw:
                self.chunk(reply.raw)
            elif is_chat(seen.path):
                for line in chat_dialect.lines_of(reply, body, seen):
                    self.chunk(f"data: {line}\n\n".encode())
            else:
                for event in events_of(reply, body, seen):
                    self.send(event)
            if reply.then == "hang":
                service.hung.set()
                service.closed.wait()
            while reply.then == "ping" and not service.closed.wait(0.05):
                self.chunk(b": still here\n\n") if is_chat(seen.path) else self.send(Event("ping", {"type": "ping"}))
            if reply.then in ("end", "early"):
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True

        def send(self, event: Event) -> None:
            self.chunk(f"event: {event.name}\ndata: {json.dumps(event.data)}\n\n".encode())

        def chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()

    return Handler
