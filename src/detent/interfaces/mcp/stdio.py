"""The MCP server over stdio, for one client. Only the protocol goes to stdout; end of input stops everything."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

import anyio
from mcp.server.stdio import stdio_server

from detent.interfaces.ending import end_on_signal
from detent.interfaces.mcp.server import build

LARGEST = 20_000_000  # bytes of one message


def serve(dialogs: bool) -> int:
    """Serve until the client disconnects (returns 0) or a signal comes (128 + its number)."""
    return anyio.run(_serve, dialogs)


async def _serve(dialogs: bool) -> int:
    ended_by = [0]
    lines = cast("anyio.AsyncFile[str]", read_lines(_own_input()))  # only iterated
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(end_on_signal, group.cancel_scope.cancel, ended_by)
            async with stdio_server(stdin=lines) as (incoming, outgoing):
                server = build(dialogs)
                await server.run(incoming, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* BrokenPipeError:
        pass  # the client is gone, and so are we
    return ended_by[0]


def _own_input() -> int:
    """A duplicate of stdin, which is then replaced by /dev/null so that child programs cannot read the protocol."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return wire


async def read_lines(wire: int) -> AsyncIterator[str]:
    """The messages, a line each. Unlike a read in a thread, it can be cancelled at any time."""
    kept, seen = bytearray(), 0
    while chunk := await _read(wire):
        kept += chunk
        while (end := kept.find(b"\n", seen)) >= 0:
            yield kept[:end].decode("utf-8", "replace")
            del kept[: end + 1]
            seen = 0
        seen = len(kept)
        if seen > LARGEST:
            print(f"detent: a message is larger than {LARGEST} bytes; the connection ends", file=sys.stderr)
            return


async def _read(wire: int) -> bytes:
    with suppress(PermissionError):  # a plain file is always ready
        await anyio.wait_readable(wire)
    return os.read(wire, 1 << 16)
