"""One streamed message of the Claude API: read beside the turn's clock, whole or not at all. Owns the reading; decides nothing.

The SDK blocks while the service is silent and hides its pings, so it reads in a thread of its own, and this side keeps looking at the clock.
A message counts only once its end has come. Tool arguments are parsed here again, strictly: the SDK takes half an object for a whole one.
"""

import contextlib
import json
import math
import queue
import socket
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from detent.agents.anthropic_faults import Cut
from detent.agents.asked import Asked
from detent.agents.protocol import Progress, Usage
from detent.agents.texts import Lines, whole

if TYPE_CHECKING:
    import anthropic

TICK = 0.1  # seconds between two looks at the clock
READER = "detent-reader"
MOST = 8_000_000  # characters of one message
Block = dict[str, object]


class Call(NamedTuple):
    """One tool call that the model asks for. `fault` says why its arguments cannot be read."""

    id: str
    name: str
    arguments: object
    fault: str = ""


class Heard(NamedTuple):
    """A whole message: its blocks as they are sent back, its text, its calls, and why it stopped."""

    blocks: list[Block]
    text: str
    calls: list[Call]
    stop: str
    model: str


class Broken(Exception):
    """The message did not come; `error` is what the SDK raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Reading:
    """A message on its way. `usage` is what the service has counted so far, also if the message never ends."""

    def __init__(self, client: "anthropic.Anthropic", request: Block, read_timeout: float, asked: Asked) -> None:
        self.client, self.request, self.read_timeout, self.asked = client, request, read_timeout, asked
        self.came: queue.SimpleQueue[str | Heard | Exception] = queue.SimpleQueue()
        self.usage = Usage()
        self.stream: Any = None  # the SDK's own; only its socket is touched from here
        self.thread = threading.Thread(target=self._read, name=READER, daemon=True)

    def message(self) -> Heard:
        """Wait for the whole message. Broken if it did not come, AgentFailed once the turn is over."""
        self.thread.start()
        lines = Lines()
        try:
            while True:
                self.asked.meter.check()
                with contextlib.suppress(queue.Empty):
                    item = self.came.get(timeout=TICK)
                    self.asked.meter.stir()
                    if isinstance(item, Exception):
                        raise Broken(item)
                    self._show(lines.feed(item) if isinstance(item, str) else lines.end())
                    if isinstance(item, Heard):
                        return item
        finally:
            self._hang_up()

    def _show(self, lines: list[str]) -> None:
        for line in lines:
            self.asked.tell(Progress("text", line))

    def _hang_up(self) -> None:
        """End a stream that is still being read. The thread closes it; closing it from here could close somebody else's socket."""
        self.thread.join(0.2)
        if self.thread.is_alive() and self.stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                wire: socket.socket = self.stream.response.extensions["network_stream"].get_extra_info("socket")
                wire.shutdown(socket.SHUT_RDWR)
            self.thread.join(2)

    def _read(self) -> None:
        try:
            self.came.put(self._receive())
        except Exception as e:  # noqa: BLE001  # whatever it is, it belongs to the thread that waits
            self.came.put(e)

    def _receive(self) -> Heard:
        arguments: dict[int, str] = {}
        size, ended = 0, False
        sent: Any = self.request
        with self.client.messages.stream(**sent, timeout=self.read_timeout) as stream:
            self.stream = stream
            for event in stream:
                piece = ""
                if event.type == "content_block_delta":
                    delta = event.delta
                    piece = delta.text if delta.type == "text_delta" else delta.partial_json if delta.type == "input_json_delta" else ""
                    if delta.type == "input_json_delta":
                        arguments[event.index] = arguments.get(event.index, "") + piece
                elif event.type in ("message_start", "message_delta"):
                    self.usage = counted(stream.current_message_snapshot.usage)
                size, ended = size + len(piece), ended or event.type == "message_stop"
                if size > MOST:
                    raise ValueError(f"longer than {MOST} characters")
                self.came.put(piece if event.type == "content_block_delta" and event.delta.type == "text_delta" else "")
            if not ended:
                raise Cut("the stream ended before its message did")
            return heard(stream.current_message_snapshot, arguments)


def heard(message: Any, arguments: dict[int, str]) -> Heard:
    """The SDK's message as values of ours."""
    blocks: list[Block] = []
    calls: list[Call] = []
    texts: list[str] = []
    for index, block in enumerate(message.content):
        if block.type == "tool_use":
            call = read_call(block, arguments.get(index))
            calls.append(call)
            sent_back = call.arguments if isinstance(call.arguments, dict) else {}
            blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": sent_back})
        elif block.type == "text":
            texts.append(block.text)
            blocks += [{"type": "text", "text": whole(block.text)}] if block.text.strip() else []
        else:
            blocks.append(block.to_dict(mode="json"))
    return Heard(blocks, "".join(texts), calls, str(message.stop_reason or ""), str(message.model))


def read_call(block: Any, text: str | None) -> Call:
    """The call as the model wrote it; arguments that are no whole JSON object are a fault that it is told."""
    if text is None or not text.strip():
        return Call(str(block.id), str(block.name), block.input if isinstance(block.input, dict) else {})
    try:
        read = json.loads(text, object_pairs_hook=once, parse_constant=no_number, parse_float=finite)
        return Call(str(block.id), str(block.name), read)
    except (ValueError, RecursionError) as e:
        return Call(str(block.id), str(block.name), {}, f"the arguments are not valid JSON: {e}"[:500])


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names stand once each."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else no_number(text[:20])


def counted(usage: Any) -> Usage:
    return Usage(
        count(usage.input_tokens),
        count(usage.output_tokens),
        count(usage.cache_read_input_tokens),
        count(usage.cache_creation_input_tokens),
    )


def count(number: object) -> int:
    """A number of tokens, whatever the service sent in its place."""
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 10**12 else 0
