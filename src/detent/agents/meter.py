"""The limits of one turn: its clock, its signs of life, and what it has used. Every wait can be interrupted. Knows no backend."""

import time

from detent.agents.agent_protocol import AgentFailed, Budget, Turn, Usage

LOOK = 0.25  # seconds between checks whether the turn is still wanted
SLICE = 0.05  # seconds per sleep


def seconds(number: float) -> str:
    """A duration for people to read."""
    return f"{number:.0f} s" if number >= 10 else f"{round(number, 1):g} s"


class Meter:
    """What a turn has used so far, and whether it may continue."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.begun = self.stirred = time.monotonic()
        self.looked = 0.0
        self.usage = Usage()
        self.turns = 0

    def stir(self) -> None:
        """Note a sign of progress."""
        self.stirred = time.monotonic()

    def left(self) -> float:
        """Seconds until the turn ends, by its timeout or by its budget."""
        most = self.turn.budget.seconds
        allowed = self.turn.timeout if most is None else min(self.turn.timeout, most)
        return allowed - (time.monotonic() - self.begun)

    def check(self) -> None:
        """AgentFailed if the turn is over: no longer wanted, out of time, or silent for too long."""
        now = time.monotonic()
        if now - self.looked >= LOOK:
            self.looked = now
            if not self.turn.wanted():
                raise AgentFailed("Stopped", "the turn was stopped")
        if self.left() <= 0:
            raise self.too_late()
        if now - self.stirred > self.turn.silence:
            raise AgentFailed("Stuck", f"the agent showed no progress for {seconds(self.turn.silence)}")

    def too_late(self) -> AgentFailed:
        if self.turn.budget.seconds is not None and self.turn.budget.seconds < self.turn.timeout:
            return AgentFailed("Budget", f"the time limit is used up ({seconds(self.turn.budget.seconds)} were left)")
        if self.turn.timeout <= 0:
            return AgentFailed("Timeout", "the time limit had passed before the agent could start")
        return AgentFailed("Timeout", f"the agent did not finish within {seconds(self.turn.timeout)}")

    def before_call(self) -> None:
        """Check before anything that costs: the turn may continue, and the budget is not used up."""
        self.within_budget()
        self.check()

    def within_budget(self) -> None:
        """AgentFailed if the budget is used up. Safe to call from any thread."""
        if spent := used_up(self.turn.budget, self.usage, self.turns, time.monotonic() - self.begun):
            raise AgentFailed("Budget", f"the limit on {spent} is used up")

    def pause(self, seconds: float) -> None:
        """Sleep, but not past the end of the turn."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            self.check()
            time.sleep(min(SLICE, end - now))


def used_up(budget: Budget, usage: Usage, turns: int, seconds: float) -> str:
    """The name of the first limit that is reached; empty if none is."""
    used = {"tokens": usage.tokens, "usd": usage.usd, "seconds": seconds, "turns": turns}
    return next((name for name, limit in budget._asdict().items() if limit is not None and used[name] >= limit), "")
