"""What tokens cost: dollars per million, by model, with what reading and writing the cache costs in parts of that. A literal table; pure.

From the price list of the Claude API, at its standard rates with the cache of five minutes. A model that is not here has no known price.
"""

import re
from typing import NamedTuple

from detent.agents.protocol import Usage


class Price(NamedTuple):
    input: float
    output: float
    read: float = 0.1  # of the price of input
    write: float = 1.25


FABLE, FABLE_5_1, OPUS, OLD_OPUS = Price(10, 50), Price(10, 50, read=0.025), Price(5, 25), Price(15, 75)
SONNET, HAIKU, OLD_HAIKU = Price(3, 15), Price(1, 5), Price(0.8, 4)

PRICES: dict[str, Price] = {
    "claude-fable-5-1": FABLE_5_1,
    "claude-mythos-5-1": FABLE_5_1,
    "claude-fable-5": FABLE,
    "claude-mythos-5": FABLE,
    "claude-opus-5": OPUS,
    "claude-opus-4-8": OPUS,
    "claude-opus-4-7": OPUS,
    "claude-opus-4-6": OPUS,
    "claude-opus-4-5": OPUS,
    "claude-opus-4-1": OLD_OPUS,
    "claude-opus-4": OLD_OPUS,
    "claude-sonnet-4-6": SONNET,
    "claude-sonnet-4-5": SONNET,
    "claude-sonnet-4": SONNET,
    "claude-3-7-sonnet": SONNET,
    "claude-haiku-4-5": HAIKU,
    "claude-3-5-haiku": OLD_HAIKU,
}
DATED = re.compile(r"-(?:\d{8}|latest)\Z")


def price_of(model: str) -> Price | None:
    """The price of a model, whether it is named with its date or without."""
    return PRICES.get(DATED.sub("", model))


def priced(usage: Usage, price: Price | None) -> Usage:
    """The same usage with its cost; without a price, at none."""
    if price is None:
        return usage
    read = usage.input_tokens + price.read * usage.cached_tokens + price.write * usage.written_tokens
    return usage._replace(usd=(price.input * read + price.output * usage.output_tokens) / 1_000_000)
