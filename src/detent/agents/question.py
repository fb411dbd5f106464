"""What a backend is given: the rest of the spec, the turn, the transcript, the meter. Values only."""

from collections.abc import Mapping
from typing import NamedTuple

from detent.agents.agent_protocol import Progress, Turn, Usage
from detent.agents.meter import Meter
from detent.agents.transcript import Transcript
from detent.kernel.redact import Redact


class Asked(NamedTuple):
    """One question to one agent."""

    rest: str  # the spec after the colon
    turn: Turn
    outer: Mapping[str, str]  # our own environment, the only place with keys
    log: Transcript
    meter: Meter
    redact: Redact

    def tell(self, progress: Progress) -> None:
        """Show something in the live view, redacted, with the usage so far; that way a killed turn's usage is known."""
        self.turn.watch(progress._replace(text=self.redact(progress.text), usage=self.meter.usage))

    def spend(self, usage: Usage, turns: int = 1) -> None:
        self.meter.usage += usage
        self.meter.turns += turns
