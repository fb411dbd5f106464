"""One turn of a model against a scripted service, with tools that record their calls. For the tests of every dialect."""

from collections.abc import Callable
from pathlib import Path

from detent.agents import AgentFailed, PlainAnswer, Progress, Reply, Turn, asked_of
from detent.agents.anthropic import ask_anthropic
from detent.agents.loop import LoopLimits
from detent.agents.question import Asked
from tests.agents_rigs import failure, turn
from tests.model_server import ModelServer, tool

QUICK = LoopLimits(retries=3, delay=0.01, read=10)
READ = tool("Read", {"file_path": "a.py"})
Ask = Callable[[Asked, LoopLimits], Reply]


class Box:
    """Two tools that record their calls: one reads, one fails."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def schemas(self) -> list[dict[str, object]]:
        return [{"name": name, "description": f"{name} a file", "input_schema": {"type": "object"}} for name in ("Read", "Write")]

    def call(self, name: str, arguments: object) -> PlainAnswer:
        self.calls.append((name, arguments))
        return PlainAnswer(f"content {len(self.calls)}") if name == "Read" else PlainAnswer(f"there is no tool {name}", True)


class Asking:
    """One turn against one service, with the progress shown meanwhile."""

    def __init__(
        self, folder: Path, server: ModelServer, limits: LoopLimits = QUICK, model: str = "", by: Ask = ask_anthropic, **changes: object
    ) -> None:
        self.box, self.shown = Box(), list[Progress]()
        self.turn: Turn = turn(folder, **{"toolbox": self.box, "watch": self.shown.append, **changes})
        self.server, self.limits, self.model, self.by = server, limits, model, by

    def reply(self) -> Reply:
        asked = asked_of(self.model, self.turn, self.server.outer)
        try:
            return self.by(asked, self.limits)
        except AgentFailed as e:
            e.usage = asked.meter.usage
            raise

    def failed(self) -> AgentFailed:
        found = failure(self.reply)
        assert isinstance(found, AgentFailed), found
        return found

    def passes_over(self, faults: int) -> None:
        """Assert that this many faults are retried without carrying out a call, and that the message after them counts."""
        assert self.reply().text == "fine"
        assert (len(self.server.seen), self.box.calls) == (faults + 1, [])
        assert [p.kind for p in self.shown].count("wait") == faults

    def fails_at_once(self, sort: str) -> None:
        """Assert that the turn fails with this sort after one request, and that no call was carried out."""
        assert self.failed().sort == sort
        assert (len(self.server.seen), self.box.calls) == (1, [])
