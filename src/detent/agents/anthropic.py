"""The Claude API as an agent, by way of its own SDK, which is imported here only when it is asked. Owns the client and its key.

The key comes from our own environment and goes into the client, nowhere else.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detent.agents.anthropic_faults import KEY_HINT
from detent.agents.anthropic_loop import Limits, Loop
from detent.agents.asked import Asked
from detent.agents.prices import price_of
from detent.agents.protocol import Progress, Reply
from detent.errors import DetentError

if TYPE_CHECKING:
    import anthropic

ADDRESS = "https://api.anthropic.com"
LIMITS = Limits()


def ask_anthropic(asked: Asked, limits: Limits = LIMITS) -> Reply:
    """One turn of a model with the tools of the turn. AgentFailed says how it failed; DetentError what a person has to do first."""
    model = asked.rest or asked.turn.model
    price = price_of(model)
    if price is None and asked.turn.budget.usd is not None:
        raise DetentError(
            f"the price of {model} is not known, so a limit in dollars cannot be kept", "limit its tokens instead: [limits] tokens"
        )
    if price is None:
        asked.tell(Progress("usage", f"price unknown: what {model} costs is counted as nothing"))
    loop = Loop(asked, make_client(asked.outer), model, price, limits)
    try:
        return loop.run()
    finally:
        loop.close()


def make_client(outer: Mapping[str, str]) -> "anthropic.Anthropic":
    """The SDK's client: its own retries off, its key from our environment."""
    try:
        import anthropic
    except ImportError as e:
        raise DetentError("the anthropic agent needs the package anthropic", "in Detent's checkout: pip install '.[anthropic]'") from e
    key = outer.get("ANTHROPIC_API_KEY", "").strip()
    if not key:
        raise DetentError("the anthropic agent needs a key", KEY_HINT)
    return anthropic.Anthropic(
        api_key=key, base_url=outer.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS, max_retries=0, open_telemetry=False
    )
