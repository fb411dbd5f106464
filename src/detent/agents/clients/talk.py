"""How a client is listened to: its output cut into lines, each kept in the transcript, shown, and read. Owns the lines; starts nothing.

What cannot be kept ends the turn, and so does a client that floods.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from detent.agents.agent_protocol import AgentFailed
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.row import ClientRow, ClientSaid, Wants
from detent.agents.question import Asked

LONGEST_LINE = 32 << 20
LOUDEST = 128 << 20  # bytes of all lines of a turn


class ClientTalk(Protocol):
    """One turn with a client: what it is given to read, and what its lines come to."""

    @property
    def said(self) -> ClientSaid: ...
    @property
    def stdin(self) -> Path: ...
    @property
    def words(self) -> str: ...  # the name of the socket that is its standard input; empty: `stdin` is
    def take(self, line: bytes) -> None: ...
    def goes_on(self) -> bool: ...  # False: nothing more is waited for
    def end(self) -> None: ...


class Opens(Protocol):
    """How a talk begins, once the way to the model is open."""

    def __call__(self, asked: Asked, wants: Wants, gate: Gateway) -> AbstractContextManager[ClientTalk]: ...


class HeardLines:
    """The output of a client, line by line. `broken` is why the turn has to end."""

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
        except Exception as e:  # noqa: BLE001 - whoever starts the program looks away from what its watchers raise, so it is raised at the end
            self.broken = e

    def end(self) -> None:
        rest, self.rest = self.rest, b""
        self.take(rest)
        self.talk.end()
        self.count()

    def goes_on(self) -> bool:
        """Whether anything is still waited for."""
        try:
            return self.broken is None and self.talk.goes_on()
        except AgentFailed as e:
            self.broken = e
            return False

    def count(self) -> None:
        """What the turn has used: calls and tokens as the services say, dollars as the client does."""
        meter = self.asked.meter
        meter.turns, meter.usage = self.gate.calls, self.gate.usage._replace(usd=self.talk.said.usd)


class Prompted:
    """A client that is given its prompt at once and tells the rest in JSON lines."""

    words = ""

    def __init__(self, row: ClientRow, asked: Asked, folder: Path) -> None:
        self.row, self.asked, self.said = row, asked, ClientSaid()
        self.stdin = folder / "prompt"
        self.stdin.write_text(asked.turn.prompt, encoding="utf-8", errors="backslashreplace")

    def take(self, line: bytes) -> None:
        self.asked.log.add("line", line=as_value(line))
        self.said = self.row.read(self.said, line)
        for progress in self.row.show(line):
            self.asked.tell(progress)

    def goes_on(self) -> bool:
        return True

    def end(self) -> None: ...


def as_value(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")
