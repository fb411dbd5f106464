"""Any program as an agent: the briefing as JSON on its standard input, its standard output is the reply. Split as a shell would, without one."""

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from detent.errors import CannotTell, DetentError
from detent.sandbox.process import run


def ask_command(
    command: str, briefing: str, workspace: Path, env: Mapping[str, str], timeout: float, wanted: Callable[[], bool] = lambda: True
) -> str:
    """The reply of a program. A non-zero exit, a timeout or a missing program is no answer: CannotTell."""
    argv = split(command)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        file.write(briefing)
        file.flush()
        try:
            ran = run(argv, workspace, env, timeout, wanted, stdin=Path(file.name), stderr=subprocess.DEVNULL)
        except OSError as e:
            raise CannotTell(f"the agent '{argv[0]}' could not be started: {e.strerror}") from e
    if ran.timed_out:
        raise CannotTell(f"the agent '{argv[0]}' did not answer within {timeout:.0f} s")
    if ran.exit_code != 0:
        raise CannotTell(f"the agent '{argv[0]}' failed with exit code {ran.exit_code}: {ran.output[-2000:]}")
    return ran.output


def split(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as e:
        raise DetentError(f"the agent's command cannot be read: {e}", "check the quotes") from e
    if not argv:
        raise DetentError("the agent's command is empty", "write command:PROGRAM [ARGS]")
    return argv
