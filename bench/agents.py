"""The cost of a turn of the anthropic agent: tokens billed with and without the cache, counted by the scripted service."""

from pathlib import Path

from bench import Figure
from detent.agents import PlainAnswer, Turn, ask
from tests.model_server import ModelServer, Reply, call, say, tool

TURNS = 30
LEAST = 4096  # tokens; the service does not cache a shorter prefix for the default model
FILES = (900, 2600, 400, 5200, 1500, 300, 3400, 700)  # lengths of the tools' answers, in turn


class Box:
    """Six tools whose descriptions and answers have typical lengths."""

    def __init__(self) -> None:
        self.calls = 0

    def schemas(self) -> list[dict[str, object]]:
        names = ("Read", "Write", "Edit", "Bash", "Glob", "Grep")
        schema = {"type": "object", "properties": {"file_path": {"type": "string", "description": "an absolute path " * 6}}}
        return [{"name": name, "description": f"{name}: what it does and when. " * 12, "input_schema": schema} for name in names]

    def may_write(self, path: str) -> str | None:
        return None

    def call(self, name: str, arguments: object) -> PlainAnswer:
        self.calls += 1
        return PlainAnswer(f"{self.calls:>6} a line of a file\n" * (FILES[self.calls % len(FILES)] // 25))


def script(body: object, number: int) -> Reply:
    """The scripted model: read one or two files in each round, then finish."""
    if number == TURNS - 1:
        return say("done: the test fails as it should")
    calls = [tool("Read", {"file_path": f"/repo/src/file_{number}_{i}.py"}) for i in range(1 + number % 2)]
    return call(*calls, words="I look at the next part before I change anything.")


def billed(folder: Path, caching: bool) -> float:
    """Input tokens of the whole loop, weighted by price: 1.25 for cache writes, 0.1 for cache reads."""
    turn = Turn(
        "{}",
        "# Write one failing test\n" + "A line of the briefing, as long as such lines are.\n" * 120,
        "You write tests. " * 150,
        folder,
        Box(),
    )
    with ModelServer(script, caching=caching, least=LEAST) as server:
        ask("anthropic", turn, server.outer)
        assert len(server.seen) == TURNS
        return sum(seen.billed for seen in server.seen)


def prompt_cache(folder: Path) -> Figure:
    ours, theirs = billed(folder, True), billed(folder, False)
    return Figure(f"input of a loop of {TURNS} turns", ours, "the same loop without the cache", theirs, 0.25, "tokens billed")
