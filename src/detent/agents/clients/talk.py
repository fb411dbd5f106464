"""Listening to a client: its output is cut into lines, and each is recorded, shown and read. Owns the lines; starts nothing.

A line that cannot be recorded ends the turn, and so does a flood of output.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from detent.agents.agent_protocol import AgentFailed
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.row import ClientReport, ClientRow, Wants
from detent.agents.question import Asked

LONGEST_LINE = 32 << 20
LOUDEST = 128 << 20  # bytes of output per turn


class ClientTalk(Protocol):
    """One turn with a client: what it reads from standard input, and what its lines say."""

    @property
    def report(self) -> ClientReport: ...
    @property
    def stdin(self) -> Path: ...
    @property
    def words(self) -> str: ...  # the socket that becomes its standard input; empty: `stdin` is used
    def take(self, line: bytes) -> None: ...
    def expects_more(self) -> bool: ...  # False: nothing more is expected
    def end(self) -> None: ...


class Opens(Protocol):
    """Opens a talk, once the gateway is listening."""

    def __call__(self, asked: Asked, wants: Wants, gate: Gateway) -> AbstractContextManager[ClientTalk]: ...


class ClientOutput:
    """A client's output, line by line. `broken` is the error that must end the turn."""

    def __init__(self, asked: Asked, talk: ClientTalk, gate: Gateway) -> None:
        self.asked, self.talk, self.gate, self.rest, self.size = asked, talk, gate, b"", 0
        self.broken: Exception | None = None

    def feed(self, chunk: bytes) -> None:
        self.asked.meter.stir()
        self.size += len(chunk)
        if self.size > LOUDEST:
            self.broken = self.broken or AgentFailed("Crashed", f"it wrote more than {LOUDEST >> 20} MB in one turn")
            return
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        if len(self.rest) > LONGEST_LINE:
            lines, self.rest = [*lines, self.rest], b""
        for line in lines:
            self.take(line)

    def take(self, line: bytes) -> None:
        if not line.strip() or self.broken:
            return
        try:
            self.talk.take(line)
            self.count()
        except Exception as e:  # noqa: BLE001 - whoever starts the program ignores what its watchers raise, so it is raised at the end
            self.broken = e

    def end(self) -> None:
        rest, self.rest = self.rest, b""
        self.take(rest)
        self.talk.end()
        self.count()

    def expects_more(self) -> bool:
        """Whether more output is expected."""
        try:
            return self.broken is None and self.talk.expects_more()
        except AgentFailed as e:
            self.broken = e
            return False

    def count(self) -> None:
        """Update the meter: calls and tokens as the services count them, dollars as the client does."""
        meter = self.asked.meter
        meter.turns, meter.usage = self.gate.calls, self.gate.usage._replace(usd=self.talk.report.usd)


class Prompted:
    """A client that gets its whole prompt on standard input and answers in JSON lines."""

    words = ""

    def __init__(self, row: ClientRow, asked: Asked, folder: Path) -> None:
        self.row, self.asked, self.report = row, asked, ClientReport()
        self.stdin = folder / "prompt"
        self.stdin.write_text(asked.turn.prompt, encoding="utf-8", errors="backslashreplace")

    def take(self, line: bytes) -> None:
        self.asked.log.add("line", line=as_value(line))
        self.report = self.row.read(self.report, line)
        for progress in self.row.show(line):
            self.asked.tell(progress)

    def expects_more(self) -> bool:
        return True

    def end(self) -> None: ...


def as_value(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")
