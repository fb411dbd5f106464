"""Model services that speak OpenAI's dialect, with their addresses and the variables for their keys; the form of prices. Values only.

A project adds services and prices of its own, which override those built in.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Address(NamedTuple):
    """One service."""

    url: str
    key: str = ""  # the variable with its key; empty: it needs none
    usage: bool = True  # token counts must be requested; a service that always counts may reject the request
    cache_key: bool = False  # it accepts a cache key, which lets requests with the same beginning share a cache


class Price(NamedTuple):
    """Dollars per million tokens."""

    input: float
    output: float
    read: float = 0.1  # for reading the cache, as a fraction of the input price
    write: float = 1.25


class Catalog(NamedTuple):
    """The services and prices that a project adds."""

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
