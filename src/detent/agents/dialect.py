"""What a dialect is: how one form of model service is asked, and how its stream is read. Owns the values that pass between it and the loop.

A conversation is kept in one form whatever the service: blocks of text, tool_use and tool_result, as the Messages API names them.
"""

from typing import Any, NamedTuple, Protocol

from detent.agents.agent_protocol import Usage
from detent.agents.faults import Trouble

Block = dict[str, object]
Message = dict[str, object]


class Conversation(NamedTuple):
    """A conversation so far: what the next message of the model is asked with."""

    model: str
    system: str
    tools: list[Block]
    history: list[Message]


class ToolRequest(NamedTuple):
    """One tool call that the model asks for. `fault` says why its arguments cannot be read."""

    id: str
    name: str
    arguments: object
    fault: str = ""


class ModelMessage(NamedTuple):
    """A whole message: its blocks as they are sent back, its text, its calls, and why it stopped."""

    blocks: list[Block]
    text: str
    calls: list[ToolRequest]
    stop: str  # end, calls, length, context, refused, pause; else the service's own word
    model: str


class Ear(Protocol):
    """Told while a message comes."""

    def begins(self, stream: Any) -> None: ...
    def hears(self, piece: str, words: bool = False) -> None: ...
    def counts(self, usage: Usage) -> None: ...


class Dialect(Protocol):
    """One form of service, with the client of its SDK."""

    def request(self, talk: Conversation) -> Block: ...
    def receive(self, request: Block, timeout: float, ear: Ear) -> ModelMessage: ...
    def trouble_of(self, error: Exception, model: str) -> Trouble: ...
    def close(self) -> None: ...
