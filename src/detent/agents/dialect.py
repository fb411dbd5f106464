"""A dialect: how one model API is called and its stream read. Owns the values that pass between a dialect and the loop.

A conversation has one form for every API: blocks of text, tool_use and tool_result, as in the Messages API.
"""

from typing import Any, NamedTuple, Protocol

from detent.agents.agent_protocol import Usage
from detent.agents.faults import Trouble

Block = dict[str, object]
Message = dict[str, object]


class Conversation(NamedTuple):
    """A conversation so far, from which the next request is made."""

    model: str
    system: str
    tools: list[Block]
    history: list[Message]


class ToolRequest(NamedTuple):
    """One tool call of a model. `fault` says why its arguments cannot be parsed."""

    id: str
    name: str
    arguments: object
    fault: str = ""


class ModelMessage(NamedTuple):
    """A complete message of a model: the blocks to send back, the text, the tool calls, and why it stopped."""

    blocks: list[Block]
    text: str
    calls: list[ToolRequest]
    stop: str  # end, calls, length, context, refused, pause; otherwise the service's own word
    model: str


class Ear(Protocol):
    """Receives the pieces of a message while it streams in."""

    def begins(self, stream: Any) -> None: ...
    def receives(self, piece: str, words: bool = False) -> None: ...
    def counts(self, usage: Usage) -> None: ...


class Dialect(Protocol):
    """One model API, with the client of its SDK."""

    def request(self, talk: Conversation) -> Block: ...
    def receive(self, request: Block, timeout: float, ear: Ear) -> ModelMessage: ...
    def trouble_of(self, error: Exception, model: str) -> Trouble: ...
    def close(self) -> None: ...
