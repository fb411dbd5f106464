"""What is known of models: where the services are that speak OpenAI's dialect, what pays for each, and what tokens cost. Values only.

A project adds rows of its own; a row of the same name goes before the one here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Address(NamedTuple):
    """One service."""

    url: str
    key: str = ""  # the variable that holds its key; empty: it needs none
    usage: bool = True  # it has to be asked for its count of tokens; one that counts unasked may refuse the question
    cache_key: bool = False  # it takes a word by which requests with the same beginning find the same cache


class Price(NamedTuple):
    """Dollars per million tokens."""

    input: float
    output: float
    read: float = 0.1  # from the cache, in parts of the price of input
    write: float = 1.25


class Catalog(NamedTuple):
    """The rows that a project adds."""

    services: Mapping[str, Address] = MappingProxyType({})
    prices: Mapping[str, Price] = MappingProxyType({})


SERVICES: dict[str, Address] = {
    "openai": Address("https://api.openai.com/v1", "OPENAI_API_KEY", cache_key=True),
    "openrouter": Address("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "gemini": Address("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "mistral": Address("https://api.mistral.ai/v1", "MISTRAL_API_KEY", usage=False),
    "ollama": Address("http://127.0.0.1:11434/v1"),
    "lmstudio": Address("http://127.0.0.1:1234/v1"),
    "vllm": Address("http://127.0.0.1:8000/v1"),
}
