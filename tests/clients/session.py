"""An MCP client of the protocol's own package against a real `detent mcp` in a real repository."""

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.patience import LONG
from tests.project import Project

MODERN, LEGACY = "2026-07-28", "legacy"
PATIENCE = LONG

# A test of the project that reports its process id, then waits forever together with a child.
WAITS = """
import os, subprocess

def test_waits():
    child = subprocess.Popen(["sleep", "1000"])
    with open({path!r}, "w") as told:
        told.write(f"{{os.getpid()}} {{child.pid}}")
    child.wait()
"""


class Agent:
    """An agent in a client: calls tools and reads the results."""

    def __init__(self, client: Client, begin: Callable[[], object] | None = None) -> None:
        self.client, self.begin = client, begin

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def get(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a call; its text must be the same."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def task(self) -> dict[str, Any]:
        """The next briefing. If there is no run, the user starts one first, as the answer asks."""
        result = await self.call("get_task")
        if result.is_error and self.begin is not None:
            assert "ask the user to start one" in text_of(result), text_of(result)
            await anyio.to_thread.run_sync(self.begin)
        return await self.get("get_task")

    async def submit(self, **fields: Any) -> dict[str, Any]:
        return await self.get("submit_work", **{"summary": "s", **fields})

    async def error(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


def server(project: Project, *flags: str, cwd: Path | None = None) -> StdioServerParameters:
    argv = project.argv("mcp", *flags)
    return StdioServerParameters(command=argv[0], args=argv[1:], cwd=cwd or project.root, env=project.env)


@asynccontextmanager
async def connected(project: Project, *flags: str, mode: str = MODERN, cwd: Path | None = None, **more: Any) -> AsyncIterator[Agent]:
    async with Client(server(project, *flags, cwd=cwd), mode=mode, read_timeout_seconds=PATIENCE, **more) as client:
        folder = cwd or project.root
        yield Agent(client, lambda: project.run("-C", str(folder), "start"))


def play(story: Callable[[], Awaitable[None]]) -> None:
    """Run an async story to its end."""

    async def bounded() -> None:
        with anyio.fail_after(PATIENCE):
            await story()

    anyio.run(bounded)


class Waiting:
    """A project whose RED test reports its process ids through a pipe, then waits until it is killed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.pipe = project.root.parent / "told"
        os.mkfifo(self.pipe)
        project.write({"tests/test_waits.py": WAITS.format(path=str(self.pipe))})
        self.call = {"summary": "s", "test_command": "pytest tests/test_waits.py", "expectation": "FAIL"}

    def pids(self) -> list[int]:
        """The processes of the test, once it runs."""
        return [int(pid) for pid in self.pipe.read_text().split()]

    async def processes(self) -> list[int]:
        """Pidfds of the test's processes, once it runs."""
        return [os.pidfd_open(pid) for pid in await anyio.to_thread.run_sync(self.pids, abandon_on_cancel=True)]


def gone(handles: list[int]) -> bool:
    """Whether every process ends in time."""
    for handle in handles:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(10_000):
            return False
        os.close(handle)
    return True


def held(project: Project) -> bool:
    """Whether any process holds the run."""
    with closing(sqlite3.connect(project.root / ".git" / "detent" / "journal.db")) as journal:
        return bool(journal.execute("SELECT holder FROM claims WHERE holder <> ''").fetchall())


class Raw:
    """A client that sends raw lines to a server."""

    def __init__(self, child: "subprocess.Popen[str]") -> None:
        self.child = child

    def send(self, method: str, id: int | None = None, **params: Any) -> None:
        assert self.child.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": id} if id is not None else {})}
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        value = json.loads(self.child.stdout.readline())
        assert isinstance(value, dict)
        return value

    def hello(self, version: str = "2025-06-18") -> dict[str, Any]:
        self.send("initialize", 1, protocolVersion=version, capabilities={}, clientInfo={"name": "by hand", "version": "1"})
        answer = self.answer()
        self.send("notifications/initialized")
        return answer


@contextmanager
def by_hand(project: Project, *python: str) -> Iterator[Raw]:
    argv = [sys.executable, *python, "-m", "detent", "mcp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=project.root, env=project.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            yield Raw(child)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
