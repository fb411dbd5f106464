"""Prices of models: dollars per million tokens, and the cache's share of the input price. A literal table; pure.

From the price lists of the Claude API (five-minute cache) and of OpenAI (standard rates, short prompts). A model that is not listed has
no known price unless the project sets one.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from detent.agents.agent_protocol import Usage
from detent.agents.catalog import Price

FABLE, FABLE_5_1, OPUS, OLD_OPUS = Price(10, 50), Price(10, 50, read=0.025), Price(5, 25), Price(15, 75)
SONNET, HAIKU, OLD_HAIKU = Price(3, 15), Price(1, 5), Price(0.8, 4)


def gpt(input: float, output: float, read: float = 0.1) -> Price:
    """An OpenAI price: writing to the cache costs the same as any input."""
    return Price(input, output, read, 1.0)


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
    "gpt-5.5": gpt(5, 30),
    "gpt-5.4": gpt(2.5, 15),
    "gpt-5.4-mini": gpt(0.75, 4.5),
    "gpt-5.4-nano": gpt(0.2, 1.25),
    "gpt-5.1": gpt(1.25, 10),
    "gpt-5": gpt(1.25, 10),
    "gpt-5-mini": gpt(0.25, 2),
    "gpt-5-nano": gpt(0.05, 0.4),
    "gpt-4.1": gpt(2, 8, 0.25),
    "gpt-4.1-mini": gpt(0.4, 1.6, 0.25),
    "gpt-4.1-nano": gpt(0.1, 0.4, 0.25),
    "gpt-4o": gpt(2.5, 10, 0.5),
    "gpt-4o-mini": gpt(0.15, 0.6, 0.5),
}
DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)\Z")
OTHER = re.compile(r"[-_](?!latest|preview|exp)[a-z]{3,}")  # a suffix that makes it another model, like `mini` in gpt-4o-mini


def price_of(model: str, more: Mapping[str, Price] = MappingProxyType({})) -> Price | None:
    """The price of a model, named with or without its date. The project's prices come before the table."""
    stem = DATED.sub("", model)
    return more.get(model) or more.get(stem) or PRICES.get(stem)


def same_model(asked: str, answered: str) -> bool:
    """Whether the answering model is the one asked for; a date, vendor or tag may be added to a name. An unnamed model is accepted."""
    short, long = sorted((DATED.sub("", asked.lower()), DATED.sub("", answered.lower())), key=len)
    _, found, rest = long.partition(short) if short else ("", "-", "")
    return bool(found) and OTHER.match(rest) is None


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost; zero without a price."""
    if price is None:
        return usage
    read = usage.input_tokens + price.read * usage.cached_tokens + price.write * usage.written_tokens
    return usage._replace(usd=(price.input * read + price.output * usage.output_tokens) / 1_000_000)
