"""The `openai` backend: any service that speaks OpenAI's chat dialect, through OpenAI's SDK, which is imported only when an agent is asked.

Owns the spec, the client and its key. A key goes to its own service and nowhere else; redirects are not followed.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from detent import installation
from detent.agents.agent_protocol import Reply
from detent.agents.catalog import SERVICES, Address, Catalog
from detent.agents.faults import Key
from detent.agents.loop import LIMITS, LoopLimits, converse
from detent.agents.openai_chat import Chat
from detent.agents.question import Asked
from detent.errors import DetentError

if TYPE_CHECKING:
    import openai

DEFAULT = "openai"
NO_KEY = "none"  # sent to services without a key, because the SDK requires one
HERE = ("127.0.0.1", "localhost", "::1")


class Asks(NamedTuple):
    """A parsed spec."""

    model: str
    name: str  # the service's name
    address: Address


def ask_openai(asked: Asked, limits: LoopLimits = LIMITS) -> Reply:
    """One turn of a model. AgentFailed says how it failed; DetentError what a person has to do first."""
    asks = read_spec(asked.rest, asked.turn.model, asked.outer, asked.turn.catalog)
    variable, cache_key = asks.address.key, asks.address.cache_key
    key = Key(variable or NO_KEY, f"set {variable} in the environment that starts detent" if variable else _add_key(asks.name))
    return converse(asked, lambda: Chat(make_client(asks, asked.outer), key, asks.address.usage, cache_key), asks.model, limits)


def must_be_ready(rest: str, model: str, outer: Mapping[str, str], catalog: Catalog) -> None:
    """DetentError if the spec names no model or an unknown service, or if the SDK or the key is missing."""
    asks = read_spec(rest, model, outer, catalog)
    if find_spec("openai") is None:
        raise missing()
    key_of(asks, outer)


def read_spec(rest: str, model: str, outer: Mapping[str, str], catalog: Catalog) -> Asks:
    """Parse MODEL@SERVICE; both parts are optional. A configured Claude model is ignored: these services lack it, or name it otherwise."""
    named, _, service = rest.strip().rpartition("@") if "@" in rest else (rest.strip(), "", DEFAULT)
    known = {**SERVICES, **catalog.services}
    if service not in known:
        raise DetentError(
            f"there is no service '{service}' for openai:{rest.strip()}",
            f"known: {', '.join(known)}; or add it: [services.{service or 'NAME'}] url, key",
        )
    chosen = named or ("" if model.startswith("claude") else model)
    if not chosen:
        raise DetentError(
            "the openai agent needs a model", f"name one, such as openai:gpt-5.4, or openai:qwen3-coder@ollama: {DEFAULT}:MODEL"
        )
    return Asks(chosen, service, elsewhere(known[service], outer) if service == DEFAULT else known[service])


def elsewhere(address: Address, outer: Mapping[str, str]) -> Address:
    """The default service's address, or OPENAI_BASE_URL in its place with nothing else known about it."""
    url = outer.get("OPENAI_BASE_URL", "").strip()
    return Address(url, address.key) if url and url.rstrip("/") != address.url else address


def key_of(asks: Asks, outer: Mapping[str, str]) -> str:
    """The service's key. A service on this machine may have none."""
    key = outer.get(asks.address.key, "").strip() if asks.address.key else ""
    if asks.address.key and not key and urlsplit(asks.address.url).hostname not in HERE:
        raise DetentError(f"the openai agent needs a key for {asks.name}", f"set {asks.address.key} in the environment that starts detent")
    return key or NO_KEY


def make_client(asks: Asks, outer: Mapping[str, str]) -> "openai.OpenAI":
    """The SDK's client, with our key, without its own retries, and with nothing else from the environment."""
    try:
        import openai
    except ImportError as e:
        raise missing() from e
    return openai.OpenAI(
        api_key=key_of(asks, outer),
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=asks.address.url,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(follow_redirects=False),
    )


def missing() -> DetentError:
    return DetentError("the openai agent needs the package openai", f"install it: {installation.extra('openai')}")


def _add_key(service: str) -> str:
    return f'name the variable that holds its key: [services.{service}] key = "…"'
