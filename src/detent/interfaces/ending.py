"""Shutdown of servers by signals: cleanly at the first, at once at the second. Imports no server."""

import signal
from collections.abc import Callable

import anyio
from anyio.abc import TaskStatus

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def end_on_signal(end: Callable[[], None], ended_by: list[int], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    """Call `end` at the first signal and record its exit code; a second signal kills at once."""
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        task_status.started()
        async for number in signals:
            ended_by[0] = 128 + number
            break
    end()
