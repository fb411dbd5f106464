"""OpenAI's chat dialect for the tests' model service: how it checks a request, counts tokens, and streams a message.

The cache needs no marks here: the common prefix of two requests is read from it.
"""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
STOPS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
FIELDS = {"model", "messages", "stream", "tools", "stream_options"}  # fields that every such service accepts


def fault_of(body: Json, fields: set[str]) -> str:
    """What is wrong with a request; empty if nothing."""
    if unknown := sorted(set(body) - fields):
        return f"extra inputs are not permitted: {unknown}"
    if not body.get("stream") or not body.get("messages"):
        return "stream and messages are needed"
    owed: list[str] = []
    seen: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if not owed or message["tool_call_id"] != owed.pop(0):
                return f"no call has the id {message['tool_call_id']}"
            continue
        if owed:
            return f"tool_call_ids without an answer: {owed}"
        owed = [called["id"] for called in message.get("tool_calls", [])]
        seen += owed
        if message["role"] != "assistant" and not str(message["content"]).strip():
            return "content must not be empty"
    return "ids must be there, once each" if owed or len(set(seen)) < len(seen) or "" in seen else ""


def blocks_of(body: Json) -> Iterator[tuple[object, bool]]:
    """Every part of a request in prefix order; any of them may be cached."""
    for part in [*body.get("tools", []), *body["messages"]]:
        yield part, True


def lines_of(reply: Any, body: Json, seen: Any) -> Iterator[str]:
    """A message as the service streams it."""

    def chunk(delta: Json, **more: object) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": None, **more}
        return json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]})

    model = reply.model or body["model"]
    yield chunk({"role": "assistant", "content": ""})
    for block in reply.blocks:
        words = block["text"] if block["type"] == "text" else block["sent"]
        parts = [words[: len(words) // 2], words[len(words) // 2 :]]
        if block["type"] == "text":
            yield from (chunk({"content": part}) for part in parts)
            continue
        calls = [b for b in reply.blocks if b["type"] != "text"]
        yield from (chunk({"tool_calls": [piece]}) for piece in pieces_of(block, parts, calls.index(block)))
    yield from (json.dumps(event.data) for event in reply.events)
    if reply.then != "end":
        return
    yield chunk({}, finish_reason=STOPS.get(reply.stop, reply.stop))
    if body.get("stream_options", {}).get("include_usage") or reply.counts:
        usage = {"prompt_tokens": seen.plain, "completion_tokens": seen.output, "total_tokens": seen.plain + seen.output}
        cached = {"prompt_tokens_details": {"cached_tokens": seen.read}}
        yield json.dumps(
            {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model, "choices": [], "usage": {**usage, **cached}}
        )
    yield "[DONE]"


def pieces_of(block: Json, parts: list[str], number: int) -> Iterator[Json]:
    """A tool call in pieces: id and name first, then its arguments. `odd` replaces or drops (None) fields in every piece."""
    odd = block.get("odd", {})
    first = {"index": number, "id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": parts[0]}}
    for piece in (first, {"index": number, "function": {"arguments": parts[1]}}):
        merged = {**piece, **{name: value for name, value in odd.items() if name in piece}}
        yield {name: value for name, value in merged.items() if value is not None}
