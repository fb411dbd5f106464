"""The service's answers in one turn, call by call, parsed while the gateway forwards them. Owns the record; forwards nothing.

Streams are read event by event, so a call that is cut off counts as far as it got.
"""

from typing import NamedTuple

import msgspec

from detent.agents.agent_protocol import Usage
from detent.agents.clients.wire_formats import Served, WireFormat
from detent.agents.faults import Trouble

LONGEST = 32 << 20  # bytes of one event, or of an answer that is not streamed


class ModelRequest(msgspec.Struct, frozen=True):
    """The fields of a request that matter: the model it asks for, and the tools it offers."""

    model: str | None = None
    tools: list[msgspec.Raw] | None = None


class ModelCall:
    """One call of a model, and the answer to it."""

    def __init__(self, wire_format: WireFormat, path: str, body: bytes) -> None:
        question = question_of(body)
        named = wire_format.calls.fullmatch(path)
        self.wire_format = wire_format
        self.model = question.model or (named.groupdict().get("model", "") if named else "")
        self.main = bool(question.tools)  # calls for titles or summaries offer no tools
        self.served = Served()
        self.fault: Trouble | None = None
        self.rest, self.is_stream = b"", False

    def feed(self, data: bytes) -> None:
        """Add the next bytes of the answer."""
        self.rest += data
        if self.is_stream:
            *lines, self.rest = self.rest.split(b"\n")
            for line in lines:
                self.line(line)
        if len(self.rest) > LONGEST:
            self.rest = b""

    def line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self.served = self.wire_format.read(self.served, line[5:].strip())

    def end(self) -> None:
        """The answer is complete: parse what is left."""
        rest, self.rest = self.rest, b""
        if self.is_stream:
            self.line(rest)
        elif rest:
            self.served = self.wire_format.read(self.served, rest)


def question_of(body: bytes) -> ModelRequest:
    try:
        return msgspec.json.decode(body, type=ModelRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ModelRequest()


class Answers(NamedTuple):
    """The calls of a turn, in the order in which they were made."""

    calls: list[ModelCall]

    @property
    def usage(self) -> Usage:
        return sum((call.served.usage for call in list(self.calls)), Usage())

    @property
    def last(self) -> ModelCall | None:
        """The call that shows how the turn stands: the last one that offers tools, or simply the last one."""
        main = [call for call in self.calls if call.main] or list(self.calls)
        return main[-1] if main else None
