"""The `human` backend: shows the briefing on the terminal and reads one line about what was done. Owns the terminal meanwhile."""

import os
import select

from detent.agents.agent_protocol import AgentFailed, Reply, Usage
from detent.agents.question import Asked
from detent.agents.texts import visible
from detent.errors import DetentError

TERMINAL = "/dev/tty"
TICK = 0.2  # seconds between checks of the clock
ASKS = "\nWork in {workspace}. When you are done, say in one line what you did, or press Enter (Ctrl-D stops): "


def ask_human(asked: Asked) -> Reply:
    """What the person typed; empty for just Enter. Silence is allowed until the turn ends."""
    if asked.rest:
        raise DetentError(f"the agent 'human' takes no argument, but got '{asked.rest}'", "write human")
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
    except OSError as e:
        raise DetentError("the agent 'human' needs a terminal, and there is none", "run it in a terminal, or choose another agent") from e
    try:
        say(terminal, visible(asked.turn.prompt or asked.turn.briefing) + ASKS.format(workspace=visible(str(asked.turn.workspace))))
        text = line(terminal, asked)
    finally:
        os.close(terminal)
    asked.spend(Usage())
    return Reply(text.strip(), asked.meter.usage, 1)


def say(terminal: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(terminal, data) :]


def line(terminal: int, asked: Asked) -> str:
    """Read one line from the terminal while the turn's clock runs."""
    typed = b""
    while not typed.endswith(b"\n"):
        asked.meter.stir()
        asked.meter.check()
        if select.select([terminal], [], [], TICK)[0]:
            chunk = os.read(terminal, 4096)
            if not chunk:
                raise AgentFailed("Stopped", "the person ended the turn")
            typed += chunk
    return typed.decode("utf-8", "replace")
