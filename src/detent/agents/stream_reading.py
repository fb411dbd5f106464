"""Reading one streamed message of a model's service, complete or not at all, while the turn's clock runs. Decides nothing.

An SDK blocks while the service is silent and may hide its pings, so it reads in a thread of its own and this side watches the clock.
A message counts only once its end has arrived.
"""

import contextlib
import json
import queue
import socket
import threading
from typing import Any

from detent.agents.agent_protocol import Progress, Usage
from detent.agents.dialect import Block, Dialect, ModelMessage
from detent.agents.question import Asked
from detent.agents.texts import LineBuffer

TICK = 0.1  # seconds between checks of the clock
READER = "detent-reader"
MOST = 8_000_000  # characters per message
PER_TOKEN = 4  # characters per token, for an estimate if the service did not count


class StreamBroken(Exception):
    """The message did not arrive; `error` is what the SDK raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class MessageReading:
    """A message that is still streaming in."""

    def __init__(self, dialect: Dialect, request: Block, read_timeout: float, asked: Asked) -> None:
        self.dialect, self.request, self.read_timeout, self.asked = dialect, request, read_timeout, asked
        self.received: queue.SimpleQueue[str | ModelMessage | Exception] = queue.SimpleQueue()
        self.counted: Usage | None = None
        self.size, self.whole = 0, False
        self.stream: Any = None  # the SDK's own; only its socket is touched from here
        self.thread = threading.Thread(target=self._read, name=READER, daemon=True)

    def message(self) -> ModelMessage:
        """Wait for the complete message. StreamBroken if it fails to arrive, AgentFailed if the turn is over."""
        self.thread.start()
        lines = LineBuffer()
        try:
            while True:
                self.asked.meter.check()
                with contextlib.suppress(queue.Empty):
                    item = self.received.get(timeout=TICK)
                    self.asked.meter.stir()
                    if isinstance(item, Exception):
                        raise StreamBroken(item)
                    self._show(lines.feed(item) if isinstance(item, str) else lines.end())
                    if isinstance(item, ModelMessage):
                        self.whole = True
                        return item
        finally:
            self._hang_up()

    def usage(self) -> Usage:
        """The service's count of tokens. If it did not get that far, an estimate by length: a call that broke off is billed too."""
        counted = self.counted or Usage()
        if self.stream is None or (self.whole and self.counted):
            return counted
        sent = 0 if self.counted else len(json.dumps(self.request, default=str)) // PER_TOKEN
        received = max(counted.output_tokens, self.size // PER_TOKEN)
        return counted._replace(input_tokens=counted.input_tokens + sent, output_tokens=received)

    # -- Ear: called by the dialect, in the reader thread ---------------------------------------------------------------------------

    def begins(self, stream: Any) -> None:
        self.stream = stream

    def receives(self, piece: str, words: bool = False) -> None:
        self.size += len(piece)
        if self.size > MOST:
            raise ValueError(f"longer than {MOST} characters")
        self.received.put(piece if words else "")

    def counts(self, usage: Usage) -> None:
        self.counted = usage

    # --------------------------------------------------------------------------------------------------------------------------------

    def _show(self, lines: list[str]) -> None:
        for line in lines:
            self.asked.tell(Progress("text", line))

    def _hang_up(self) -> None:
        """Shut down a stream that is still being read. Only the reader thread closes it; here, that could close somebody else's socket."""
        self.thread.join(0.2)
        if self.thread.is_alive() and self.stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                wire: socket.socket = self.stream.response.extensions["network_stream"].get_extra_info("socket")
                wire.shutdown(socket.SHUT_RDWR)
            self.thread.join(2)

    def _read(self) -> None:
        try:
            self.received.put(self.dialect.receive(self.request, self.read_timeout, self))
        except Exception as e:  # noqa: BLE001  # the waiting thread handles every error
            self.received.put(e)


def count(number: object) -> int:
    """A token count, or 0 if the service sent something else."""
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 10**12 else 0
