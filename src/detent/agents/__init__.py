"""Agents: who reasons. A backend takes a briefing and gives a reply; what it says is never evidence."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.agents.command import ask_command
from detent.errors import DetentError


class Turn(NamedTuple):
    """One turn of an agent: what it gets to read, and where it works."""

    briefing: str  # JSON
    workspace: Path
    env: Mapping[str, str]
    timeout: float
    wanted: Callable[[], bool] = lambda: True


Backend = Callable[[str, Turn], str]


def _command(rest: str, turn: Turn) -> str:
    return ask_command(rest, turn.briefing, turn.workspace, turn.env, turn.timeout, turn.wanted)


BACKENDS: dict[str, Backend] = {"command": _command}


def ask(spec: str, turn: Turn) -> str:
    """The reply of the agent that a spec such as `command:PROGRAM ARGS` names. CannotTell if it gave none."""
    name, _, rest = spec.partition(":")
    if name not in BACKENDS:
        raise DetentError(f"there is no agent '{spec}'", f"known: {', '.join(f'{n}:…' for n in BACKENDS)}")
    return BACKENDS[name](rest, turn)
