"""A scripted model service on loopback, in two forms: OpenAI's chat completions and Gemini's generateContent, streamed.

It counts what it served, so that a test can compare the sums. For other forms see model_server and responses_server.
"""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from detent.agents import Usage
from tests.machine import need

Json = dict[str, Any]
KEY = "sk-proj-test-0123456789abcdef0123456789"
EACH = Usage(10, 5, 2)  # of each answer: two of its tokens were cached


class Tool(NamedTuple):
    """A tool call."""

    name: str
    arguments: Json


class Fault(NamedTuple):
    """A fault instead of words: an error status, a stream that is cut, or one that never comes."""

    status: int = 200
    body: Json = {}
    headers: Mapping[str, str] = {}
    then: str = ""  # cut, hang


class Asked(NamedTuple):
    """One request in either form: the user's texts, the tool results, and the names of the tools."""

    body: Json
    path: str
    key: str
    users: list[str]
    results: list[str]
    tools: list[str]

    @property
    def model(self) -> str:
        named = re.findall(r"/models/([^:]+):", self.path)
        return str(named[0] if named else self.body.get("model", ""))


Says = str | Tool | Fault
Script = Sequence[Says] | Callable[[Asked], Says]


def denied(status: int, kind: str, message: str = "no", **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(status, {"error": {"type": kind, "code": status, "message": message, "status": kind}}, named)


class AnyService:
    """The service, open during its `with`. Side requests without tools get one word and do not advance the script."""

    def __init__(self, script: Script) -> None:
        need("loopback")
        self.script, self.seen, self.usage, self.at = script, list[Asked](), Usage(), 0
        self.closed, self.lock = threading.Event(), threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.outer = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{self.url}/v1"}
        self.gemini = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.url}

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    def says(self, asked: Asked) -> Says:
        with self.lock:
            self.seen.append(asked)
            if callable(self.script):
                return self.script(asked) if asked.tools else "ok"
            self.at += 1
            return self.script[self.at - 1] if self.at <= len(self.script) else "The script is over."

    def count(self) -> None:
        with self.lock:
            self.usage += EACH


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


def chat_asked(path: str, key: str, body: Json) -> Asked:
    users = [text_of(m["content"]) for m in body["messages"] if m["role"] == "user"]
    results = [text_of(m["content"]) for m in body["messages"] if m["role"] == "tool"]
    return Asked(body, path, key, users, results, [t.get("function", {}).get("name", "") for t in body.get("tools") or ()])


def gemini_asked(path: str, key: str, body: Json) -> Asked:
    parts = [part for content in body.get("contents", []) if content.get("role") == "user" for part in content.get("parts", [])]
    results = [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]
    tools = [f["name"] for tool in body.get("tools") or () for f in tool.get("functionDeclarations", [])]
    return Asked(body, path, key, [part["text"] for part in parts if "text" in part], results, tools)


def chat_chunks(says: str | Tool, model: str, number: int) -> list[Json]:
    head = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": model}
    if isinstance(says, str):
        pieces: list[Json] = [{"role": "assistant", "content": says[: len(says) // 2]}, {"content": says[len(says) // 2 :]}]
    else:
        called = {"name": says.name, "arguments": json.dumps(says.arguments)}
        pieces = [{"role": "assistant", "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": called}]}]
    finish = "stop" if isinstance(says, str) else "tool_calls"
    chunks = [{**head, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]} for piece in pieces]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    plain = EACH.input_tokens + EACH.cached_tokens
    usage = {"prompt_tokens": plain, "completion_tokens": EACH.output_tokens, "total_tokens": plain + EACH.output_tokens}
    return [*chunks, {**head, "choices": [], "usage": {**usage, "prompt_tokens_details": {"cached_tokens": EACH.cached_tokens}}}]


def gemini_chunks(says: str | Tool, model: str, number: int) -> list[Json]:
    part = (
        {"text": says} if isinstance(says, str) else {"functionCall": {"name": says.name, "args": says.arguments, "id": f"call_{number}"}}
    )
    plain = EACH.input_tokens + EACH.cached_tokens
    usage = {
        "promptTokenCount": plain,
        "candidatesTokenCount": EACH.output_tokens,
        "cachedContentTokenCount": EACH.cached_tokens,
        "totalTokenCount": plain + EACH.output_tokens,
    }
    content = {"role": "model", "parts": [part]}
    return [{"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage, "modelVersion": model}]


def handler_of(service: AnyService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            self.whole(200, {"object": "list", "data": [], "models": []})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            key = self.headers.get("x-goog-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
            is_chat = self.path.endswith("/chat/completions")
            if ":countTokens" in self.path:
                self.whole(200, {"totalTokens": 7})
                return
            asked = (chat_asked if is_chat else gemini_asked)(self.path, key, body)
            says = service.says(asked)
            with contextlib.suppress(OSError):
                if isinstance(says, Fault):
                    self.fault(says)
                else:
                    service.count()
                    chunks = (chat_chunks if is_chat else gemini_chunks)(says, asked.model, len(service.seen))
                    self.give(chunks, bool(body.get("stream")) or "streamGenerateContent" in self.path)

        def fault(self, fault: Fault) -> None:
            if fault.then == "hang":
                service.closed.wait()
                self.close_connection = True
            elif fault.then == "cut":
                self.begin("text/event-stream")
                self.piece(chat_chunks("The test is wri", "m", 1)[0])
                self.close_connection = True
            else:
                self.whole(fault.status, fault.body, fault.headers)

        def give(self, chunks: list[Json], streamed: bool) -> None:
            if not streamed:
                self.whole(200, chunks[-1] if "candidates" in chunks[-1] else as_one(chunks))
                return
            self.begin("text/event-stream")
            for chunk in chunks:
                self.piece(chunk)
            if "choices" in chunks[0]:
                self.raw(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")

        def begin(self, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()

        def piece(self, chunk: Json) -> None:
            self.raw(f"data: {json.dumps(chunk)}\n\n".encode())

        def raw(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

        def whole(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


def as_one(chunks: list[Json]) -> Json:
    """The same answer, not streamed."""
    message: Json = {"role": "assistant", "content": "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"])}
    if calls := chunks[0]["choices"][0]["delta"].get("tool_calls"):
        message["tool_calls"] = calls
    finish = [c["choices"][0]["finish_reason"] for c in chunks if c["choices"]][-1]
    return {**chunks[-1], "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
