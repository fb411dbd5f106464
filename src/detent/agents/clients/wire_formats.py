"""The wire formats of model services: their paths, and how an answer's tokens and ending are read. Pure.

A client may claim anything about its turn; the service's answers show what was paid for and whether the model had finished.
"""

import re
from collections.abc import Callable
from functools import partial, reduce
from typing import Literal, NamedTuple, TypeVar

import msgspec

from detent.agents.agent_protocol import Usage

T = TypeVar("T")
Stop = Literal["", "end", "tools", "length", "refusal"]  # empty: the answer has not ended


class Served(NamedTuple):
    """What one answer of a service says, as far as it was read."""

    usage: Usage = Usage()
    model: str = ""
    tools: bool = False  # whether it calls tools
    stop: Stop = ""


class WireFormat(NamedTuple):
    """One wire format: the paths and the parser of its answers."""

    name: str
    calls: re.Pattern[str]  # paths that call a model
    paths: re.Pattern[str]  # other paths that a client may use
    read: Callable[[Served, bytes], Served]  # adds one event of a stream, or a whole answer; ignores what it cannot parse
    root: str = ""  # a prefix that clients put before paths and that the service's address already has

    def inner(self, path: str) -> str:
        """The path relative to the service's address."""
        return path.removeprefix(self.root) if path.startswith(f"{self.root}/") else path


def with_end(served: Served, word: str | None, stops: dict[str, Stop]) -> Served:
    """Set how an answer ended. Some services say `stop` after a tool call; that counts as `tools`."""
    stop = stops.get(word or "", "")
    return served._replace(stop="tools" if stop == "end" and served.tools else stop) if stop else served


def most(one: Usage, other: Usage) -> Usage:
    """The larger of two token counts of one answer, which only grow while it streams."""
    a, b = one[:4], other[:4]
    return Usage(*map(max, a, b))


def folded(kind: type[T], fold: Callable[[Served, T], Served], served: Served, data: bytes) -> Served:
    try:
        return fold(served, msgspec.json.decode(data, type=kind))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError):
        return served


# -- Anthropic: messages -----------------------------------------------------------------------------------------------------


class StreamTokens(msgspec.Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class ChatMessage(msgspec.Struct, frozen=True):
    model: str = ""
    stop_reason: str | None = None
    usage: StreamTokens | None = None


class Delta(msgspec.Struct, frozen=True):
    stop_reason: str | None = None


class StreamEvent(msgspec.Struct, frozen=True):
    """An event of a stream, or a whole message."""

    type: str = ""
    model: str = ""
    message: ChatMessage = ChatMessage()
    delta: Delta = Delta()
    stop_reason: str | None = None
    usage: StreamTokens | None = None


ANTHROPIC_STOPS: dict[str, Stop] = {
    "end_turn": "end", "stop_sequence": "end", "tool_use": "tools", "pause_turn": "tools", "refusal": "refusal",
    "max_tokens": "length", "model_context_window_exceeded": "length",
}  # fmt: skip


def read_message(served: Served, event: StreamEvent) -> Served:
    t = event.usage or event.message.usage or StreamTokens()
    counted = Usage(t.input_tokens or 0, t.output_tokens or 0, t.cache_read_input_tokens or 0, t.cache_creation_input_tokens or 0)
    served = served._replace(usage=most(served.usage, counted), model=event.model or event.message.model or served.model)
    return with_end(served, event.delta.stop_reason or event.stop_reason, ANTHROPIC_STOPS)


# -- OpenAI: chat completions ------------------------------------------------------------------------------------------------


class Cached(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class ChatTokens(msgspec.Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: Cached | None = None


class ChatReply(msgspec.Struct, frozen=True):
    tool_calls: list[msgspec.Raw] | None = None


class Choice(msgspec.Struct, frozen=True):
    delta: ChatReply | None = None
    message: ChatReply | None = None
    finish_reason: str | None = None


class StreamChunk(msgspec.Struct, frozen=True):
    model: str | None = None
    choices: list[Choice] | None = None
    usage: ChatTokens | None = None


CHAT_STOPS: dict[str, Stop] = {
    "stop": "end", "tool_calls": "tools", "function_call": "tools", "length": "length", "content_filter": "refusal",
}  # fmt: skip


def read_chat(served: Served, chunk: StreamChunk) -> Served:
    if u := chunk.usage:
        cached = (u.prompt_tokens_details and u.prompt_tokens_details.cached_tokens) or 0
        served = served._replace(usage=most(served.usage, Usage(max(0, u.prompt_tokens - cached), u.completion_tokens, cached)))
    served = served._replace(model=chunk.model or served.model)
    for choice in (chunk.choices or [])[:1]:
        reply = choice.delta or choice.message or ChatReply()
        served = with_end(served._replace(tools=served.tools or bool(reply.tool_calls)), choice.finish_reason, CHAT_STOPS)
    return served


# -- OpenAI: responses -------------------------------------------------------------------------------------------------------


class ResponseItem(msgspec.Struct, frozen=True):
    type: str = ""


class ItemTokens(msgspec.Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_details: Cached | None = None


class Why(msgspec.Struct, frozen=True):
    reason: str = ""


class Response(msgspec.Struct, frozen=True):
    model: str | None = None
    status: str | None = None
    usage: ItemTokens | None = None
    output: list[ResponseItem] | None = None
    incomplete_details: Why | None = None


class StreamStep(msgspec.Struct, frozen=True):
    """An event of a stream."""

    type: str = ""
    item: ResponseItem = ResponseItem()
    response: Response | None = None


class Whole(Response, frozen=True):
    object: str = ""


RESPONSE_STOPS: dict[str, Stop] = {"completed": "end", "max_output_tokens": "length", "content_filter": "refusal"}


def read_response(served: Served, response: Response, status: str) -> Served:
    u = response.usage or ItemTokens()
    cached = (u.input_tokens_details and u.input_tokens_details.cached_tokens) or 0
    served = served._replace(usage=most(served.usage, Usage(max(0, u.input_tokens - cached), u.output_tokens, cached)))
    served = served._replace(model=response.model or served.model)
    for item in response.output or ():
        served = called(served, item)
    return with_end(served, response.incomplete_details.reason if response.incomplete_details else status, RESPONSE_STOPS)


def called(served: Served, item: ResponseItem) -> Served:
    return served._replace(tools=True) if item.type.endswith("_call") else served


def read_step(served: Served, step: StreamStep) -> Served:
    """The end is named by the event, and often by the response in it as well."""
    if step.response is None:
        return called(served, step.item)
    return read_response(served, step.response, "completed" if step.type == "response.completed" else "")


def read_whole(served: Served, whole: Whole) -> Served:
    return read_response(served, whole, whole.status or "") if whole.object == "response" else served


def read_responses(served: Served, data: bytes) -> Served:
    return folded(Whole, read_whole, folded(StreamStep, read_step, served, data), data)


# -- Gemini ------------------------------------------------------------------------------------------------------------------


class ContentPart(msgspec.Struct, frozen=True, rename="camel"):
    function_call: object = None


class MessageContent(msgspec.Struct, frozen=True):
    parts: list[ContentPart] | None = None


class GeminiCandidate(msgspec.Struct, frozen=True, rename="camel"):
    content: MessageContent | None = None
    finish_reason: str | None = None


class GeminiTokens(msgspec.Struct, frozen=True, rename="camel"):
    prompt_token_count: int = 0
    tool_use_prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0
    cached_content_token_count: int = 0


class Feedback(msgspec.Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


class Generated(msgspec.Struct, frozen=True, rename="camel"):
    candidates: list[GeminiCandidate] | None = None
    usage_metadata: GeminiTokens | None = None
    model_version: str | None = None
    prompt_feedback: Feedback | None = None


GEMINI_STOPS: dict[str, Stop] = {
    "STOP": "end", "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER"), "refusal"),
}  # fmt: skip


def read_generated(served: Served, chunk: Generated) -> Served:
    if u := chunk.usage_metadata:
        cached = u.cached_content_token_count
        plain = max(0, u.prompt_token_count + u.tool_use_prompt_token_count - cached)
        served = served._replace(usage=most(served.usage, Usage(plain, u.candidates_token_count + u.thoughts_token_count, cached)))
    served = served._replace(model=chunk.model_version or served.model)
    if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
        served = served._replace(stop="refusal")
    for candidate in (chunk.candidates or [])[:1]:
        parts = (candidate.content and candidate.content.parts) or []
        tools = served.tools or any(part.function_call is not None for part in parts)
        served = with_end(served._replace(tools=tools), candidate.finish_reason, GEMINI_STOPS)
    return served


def read_generations(served: Served, data: bytes) -> Served:
    """One chunk of a stream, or a list of all chunks, which is what a request without streaming returns."""
    if not data.lstrip().startswith(b"["):
        return folded(Generated, read_generated, served, data)
    return folded(list[Generated], lambda was, pieces: reduce(read_generated, pieces, was), served, data)


ANTHROPIC = WireFormat(
    "anthropic", re.compile("/v1/messages"), re.compile("/v1/messages/count_tokens|/v1/models"), partial(folded, StreamEvent, read_message)
)
CHAT = WireFormat(
    "chat", re.compile("(/v1)?/chat/completions"), re.compile("(/v1)?/models"), partial(folded, StreamChunk, read_chat), "/v1"
)
RESPONSES = WireFormat("responses", re.compile("(/v1)?/responses"), re.compile("(/v1)?/models"), read_responses, "/v1")
GEMINI = WireFormat(
    "gemini",
    re.compile(r"/v1(beta)?/models/(?P<model>[\w.-]+):(streamGenerateContent|generateContent)"),
    re.compile(r"/v1(beta)?/models(/[\w.-]+(:countTokens)?)?"),
    read_generations,
)
