"""The ACP messages that Detent reads and writes: JSON-RPC, one object per line. Values only.

Agents leave fields out and add others, so every field is optional and unknown fields are ignored.
"""

from typing import NamedTuple, TypeVar

import msgspec

VERSION = 1  # the protocol version
NOT_FOUND, NOT_LOGGED_IN = -32601, -32000
SAYS = "agent_message_chunk"
WORDS = (SAYS, "agent_thought_chunk")
T = TypeVar("T")


class RpcError(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""
    data: msgspec.Raw = msgspec.Raw(b"")

    def __str__(self) -> str:
        more = bytes(self.data).decode("utf-8", "replace")
        return f"{self.message or 'an error'} ({self.code})" + (f": {more[:1000]}" if more not in ("", "null") else "")


class RpcMessage(msgspec.Struct, frozen=True):
    """One message: a request has a method and an id, a notification a method only, an answer an id only."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: RpcError | None = None


class Initialized(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: int | str | None = None


class Opened(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str = ""


class Ended(msgspec.Struct, frozen=True, rename="camel"):
    stop_reason: str | None = None


class ContentPiece(msgspec.Struct, frozen=True):
    """A piece of text, or the diff of a tool call."""

    type: str = ""
    text: str = ""
    path: str = ""  # the file of a diff


class Location(msgspec.Struct, frozen=True):
    path: str = ""


class AcpToolCall(msgspec.Struct, frozen=True, rename="camel"):
    """A tool call, or an update to one."""

    tool_call_id: str = ""
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    locations: list[Location] | None = None
    content: list[ContentPiece] | None = None
    raw_input: msgspec.Raw = msgspec.Raw(b"")

    def with_news(self, news: "AcpToolCall") -> "AcpToolCall":
        """The call with the fields that an update brings."""
        return AcpToolCall(
            self.tool_call_id,
            news.title or self.title,
            news.kind or self.kind,
            news.status or self.status,
            news.locations or self.locations,
            news.content or self.content,
            news.raw_input if len(bytes(news.raw_input)) > len(b"null") else self.raw_input,
        )


class PlanEntry(msgspec.Struct, frozen=True):
    """One entry of an agent's plan."""

    content: str = ""
    status: str = ""


class MessageHead(msgspec.Struct, frozen=True, rename="camel"):
    session_update: str = ""


class MessageChunk(msgspec.Struct, frozen=True):
    content: ContentPiece = ContentPiece()


class Plan(msgspec.Struct, frozen=True):
    entries: list[PlanEntry] = []


class Update(msgspec.Struct, frozen=True):
    update: msgspec.Raw = msgspec.Raw(b"{}")


class PermissionOption(msgspec.Struct, frozen=True, rename="camel"):
    option_id: str = ""
    kind: str = ""


class Permission(msgspec.Struct, frozen=True, rename="camel"):
    tool_call: AcpToolCall = AcpToolCall()
    options: list[PermissionOption] = []


class News(NamedTuple):
    """A decoded session update: its kind, and the text, call or plan that comes with it."""

    kind: str = ""
    text: str = ""
    call: AcpToolCall | None = None
    plan: tuple[PlanEntry, ...] = ()


def decode(data: msgspec.Raw | bytes, kind: type[T], otherwise: T) -> T:
    """Decode a message; return `otherwise` if it cannot be decoded."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return otherwise


def news_of(params: msgspec.Raw) -> News:
    """Decode a session update. Unknown and broken ones come out with their kind alone."""
    data = decode(params, Update, Update()).update
    kind = decode(data, MessageHead, MessageHead()).session_update
    if kind in WORDS:
        return News(kind, text=decode(data, MessageChunk, MessageChunk()).content.text)
    if kind in ("tool_call", "tool_call_update"):
        return News(kind, call=decode(data, AcpToolCall, AcpToolCall()))
    if kind == "plan":
        return News(kind, plan=tuple(decode(data, Plan, Plan()).entries))
    return News(kind)


def are_words(line: RpcMessage) -> bool:
    """Whether a message is a chunk of the agent's text or thoughts, a few characters each."""
    return line.method == "session/update" and news_of(line.params).kind in WORDS


def request(id: int, method: str, **params: object) -> bytes:
    return packed({"id": id, "method": method, "params": params})


def encode_answer(id: int | str, **fields: object) -> bytes:
    """A JSON-RPC answer with a `result` or an `error`."""
    return packed({"id": id, **fields})


def packed(fields: dict[str, object]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"
