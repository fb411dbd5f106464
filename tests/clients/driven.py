"""Clients that Detent drives: where they are, and one scripted model that speaks both of their APIs."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.real import CLAUDE, CODEX
from tests.driven import GREEN, NAMED, NONE, RED
from tests.machine import need
from tests.model_server import KEY, ModelServer, Reply, call, say, tool
from tests.responses_server import ResponsesServer

Json = dict[str, Any]
PROGRAMS = {"claude": CLAUDE, "codex": CODEX}
NAMES = tuple(PROGRAMS)
BIN = Path(sys.executable).parent
OPENAI_KEY = "sk-proj-test-0123456789abcdef0123456789"
KEYS = {"claude": KEY, "codex": OPENAI_KEY}


class Do(NamedTuple):
    """A tool call of the agent: a shell command, a file to read, or one to write."""

    command: str = ""
    read: str = ""
    file: str = ""
    text: str = ""


Says = str | Do
CYCLE: dict[str, list[Says]] = {
    "PLAN": [Do(command="ls; env"), Do(file="test-list.md", text="- [ ] adds\n"), f"The list is written.\n{json.dumps(NAMED)}"],
    "RED": [Do(file="tests/test_add.py", text=RED), "The test is written."],
    "GREEN": [Do(read="calc.py"), Do(file="calc.py", text=GREEN), "The code is written."],
    "REFACTOR": ["There is nothing to refactor."],
    "END": [json.dumps(NONE)],
}


def phase(text: str) -> str:
    """The phase of a briefing."""
    state: str = re.findall(r"# (\w+):", text)[0].upper()
    return "END" if "- [x] adds" in text and state == "PLAN" else state


class Model:
    """The same model for both clients. Its words follow from the conversation; planned faults come once."""

    def __init__(self, turns: dict[str, list[Says]] | None = None, **faults: list[Any]) -> None:
        self.turns, self.faults = CYCLE if turns is None else turns, faults
        self.results: list[str] = []
        self.prompts: list[str] = []

    def next(self, briefing: str, done: int, results: list[str]) -> Any:
        """The next words or tool call, or a fault."""
        state = phase(briefing) if re.match(r"\s*# \w+:", briefing) else "ANY"
        if faults := self.faults.get(state):
            return faults.pop(0)
        self.results += results[-1:]
        self.prompts.append(briefing)
        return self.turns.get(state, self.turns.get("ANY", []))[done]

    def message(self, body: Json, number: int) -> Reply:
        first = body["messages"][0]["content"]
        briefing = first if isinstance(first, str) else first[-1]["text"]
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        results = [as_text(b["content"]) for b in blocks if b["type"] == "tool_result"]
        said = self.next(briefing, len(results), results)
        if isinstance(said, Reply):
            return said
        if isinstance(said, str):
            return say(said)
        return call({**as_claude(said, folder_of(json.dumps(body["system"]))), "id": f"toolu_{number}"})

    def item(self, body: Json, number: int) -> Json:
        texts = [as_text(i["content"]) for i in body["input"] if i["type"] == "message" and i["role"] == "user"]
        results = [as_text(i["output"]) for i in body["input"] if i["type"] in ("function_call_output", "custom_tool_call_output")]
        said = self.next(texts[-1], len(results), results)
        if isinstance(said, dict):
            return said
        if isinstance(said, str):
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        return {**as_codex(said), "call_id": f"call_{number}"}


def as_text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def folder_of(text: str) -> str:
    found: list[str] = re.findall(r"workspace is the folder `(.*?)`", text)
    return found[0] if found else "."


def as_claude(do: Do, folder: str) -> Json:
    if do.command:
        return tool("Bash", {"command": do.command, "description": "a command"})
    if do.read:
        return tool("Read", {"file_path": f"{folder}/{do.read}"})
    return tool("Write", {"file_path": f"{folder}/{do.file}", "content": do.text})


def as_codex(do: Do) -> Json:
    command = do.command or (
        f"cat {do.read}" if do.read else f"mkdir -p $(dirname {do.file}) && printf %s {shlex.quote(do.text)} > {do.file}"
    )
    return {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}


class Served(NamedTuple):
    """A model service for one client: the environment that leads to it, and the requests it got."""

    env: dict[str, str]
    requests: Callable[[], list[Json]]
    keys: Callable[[], set[str]]
    read: Callable[[], int]  # tokens that the model read, by the service's count


@contextmanager
def serving(name: str, model: Model, folder: Path) -> Iterator[Served]:
    """The model service of a client, with the client on PATH."""
    need("clients", "loopback")
    nobody = str(folder / "nobody")
    plain = {"CODEX_HOME": nobody, "CLAUDE_CONFIG_DIR": nobody, "PATH": f"{linked(name, folder)}:{BIN}:{os.environ['PATH']}"}
    if name == "claude":
        with ModelServer(model.message) as server:
            keys = lambda: {s.headers.get("x-api-key", "") for s in server.seen}  # noqa: E731 - one of three
            yield Served({**plain, **server.outer}, lambda: server.bodies, keys, lambda: sum(s.plain for s in server.seen))
        return
    with ResponsesServer(model.item) as responses:
        env = {**plain, "OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": f"{responses.url}/v1"}
        yield Served(env, lambda: responses.seen, lambda: set(responses.keys), lambda: len(responses.seen))


def linked(name: str, folder: Path) -> Path:
    place = folder / "programs"
    place.mkdir(exist_ok=True)
    if not (place / name).exists():
        (place / name).symlink_to(PROGRAMS[name])
    return place
