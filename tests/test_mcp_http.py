"""The MCP server over HTTP: loopback, a token, Host and Origin checked, several clients at one server."""

import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.clients.session import LEGACY, MODERN, PATIENCE, Agent, Waiting, gone, held, play
from tests.patience import LONG
from tests.project import Project


class Served(NamedTuple):
    child: "subprocess.Popen[str]"
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])


@contextmanager
def served(project: Project) -> Iterator[Served]:
    argv = project.argv("mcp", "--http", "--port", "0")
    with subprocess.Popen(argv, cwd=project.root, env=project.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            url = child.stdout.readline().strip().removeprefix("Listening on ")
            yield Served(child, url, child.stdout.readline().strip().removeprefix("Authorization: Bearer "))
        finally:
            if child.poll() is None:
                child.kill()


@asynccontextmanager
async def connected(to: Served, mode: str = MODERN) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {to.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(to.url, http_client=http), mode=mode, read_timeout_seconds=PATIENCE) as client,
    ):
        yield Agent(client)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p")


def ask(to: Served, **headers: str) -> int:
    """The status of a plain request."""
    connection = HTTPConnection("127.0.0.1", to.port, timeout=LONG)
    connection.putrequest("POST", "/mcp", skip_host=True)
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
    wanted = {"Host": f"127.0.0.1:{to.port}", "Authorization": f"Bearer {to.token}", **headers}
    for name, value in {**wanted, "Content-Length": str(len(body)), "Content-Type": "application/json"}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.slow
def test_only_loopback_with_the_token_from_this_very_address_is_let_in(project: Project) -> None:
    with served(project) as to:
        assert ask(to) == 406, "let in; only the Accept header is missing"
        for headers, status in (
            ({"Authorization": ""}, 401),
            ({"Authorization": "Bearer x"}, 401),
            ({"Authorization": f"Basic {to.token}"}, 401),
            ({"Host": "evil.example"}, 421),
            ({"Host": f"evil.example:{to.port}"}, 421),
            ({"Host": "127.0.0.1"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": f"http://localhost:{to.port}"}, 406),
        ):
            assert ask(to, **headers) == status, headers
        with pytest.raises(OSError, match="refused"), socket.create_connection((own_address(), to.port), timeout=5):
            pass
        second = subprocess.run(
            project.argv("mcp", "--http", "--port", str(to.port)), cwd=project.root, env=project.env, capture_output=True, text=True
        )
        assert second.returncode == 2 and f"port {to.port} cannot be used" in second.stderr


def own_address() -> str:
    """An address of this machine that is not the one served; all of 127/8 is this machine."""
    return "127.0.0.2"


def test_both_eras_meet_at_one_server_and_nothing_outlives_a_call_or_the_server(project: Project) -> None:
    project.planned()
    waiting = Waiting(project)
    before = project.run("status", "--json").json

    async def taken_back(to: Served, mode: str) -> None:
        async with connected(to, mode) as one, connected(to, LEGACY) as other:
            async with anyio.create_task_group() as group:
                group.start_soon(one.client.call_tool, "submit_work", waiting.call)
                processes = await waiting.processes()
                busy = await other.submit(test_command="pytest", expectation="FAIL")
                assert busy["status"] == "BUSY"
                assert (await other.task())["state"] == "EXECUTING_TDD"
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(gone, processes)
            while held(project):
                await anyio.lowlevel.checkpoint()

    async def ended(to: Served) -> None:
        async with connected(to) as agent, anyio.create_task_group() as group:

            async def submit() -> None:
                with suppress(MCPError):  # there is no answer
                    await agent.client.call_tool("submit_work", waiting.call)

            group.start_soon(submit)
            processes = await waiting.processes()
            to.child.send_signal(signal.SIGTERM)
            assert await anyio.to_thread.run_sync(to.child.wait, 30) == 143
            assert gone(processes)
            group.cancel_scope.cancel()

    with served(project) as to:
        play(lambda: taken_back(to, LEGACY))
        play(lambda: taken_back(to, MODERN))
        play(lambda: ended(to))
    assert project.run("status", "--json").json == before and not held(project)
