"""Vendors of models by wire format: the address, the environment variable with the key, and the header that sends it. A literal table."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from detent.agents.clients.row import Access
from detent.agents.clients.wire_formats import ANTHROPIC, CHAT, GEMINI, RESPONSES, WireFormat


class Vendor(NamedTuple):
    """One vendor."""

    wire_format: WireFormat
    keys: tuple[str, ...]  # environment variables that may hold the key, first match wins
    address: str  # the variable that overrides the address
    default: str
    headers: Callable[[str], dict[str, str]]  # the headers that authenticate with a key
    makes: str  # the prefix of its own models' names


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


OPENAI_KEYS, OPENAI = ("OPENAI_API_KEY",), "https://api.openai.com/v1"
VENDORS: dict[str, Vendor] = {
    "anthropic": Vendor(
        ANTHROPIC, ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", "https://api.anthropic.com", lambda key: {"x-api-key": key}, "claude"
    ),
    "gemini": Vendor(
        GEMINI,
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
        lambda key: {"x-goog-api-key": key},
        "gemini",
    ),
    "chat": Vendor(CHAT, OPENAI_KEYS, "OPENAI_BASE_URL", OPENAI, bearer, ""),
    "responses": Vendor(RESPONSES, OPENAI_KEYS, "OPENAI_BASE_URL", OPENAI, bearer, ""),
}


def access_of(form: str, outer: Mapping[str, str]) -> Access | None:
    """How a vendor is reached and paid; None without a key. A custom address may need no key: a model on one's own machine."""
    vendor = VENDORS[form]
    address = outer.get(vendor.address, "").strip()
    for name in vendor.keys:
        if key := outer.get(name, "").strip():
            return Access(f"the key in {name}", address or vendor.default, vendor.headers(key), name, vendor.wire_format)
    if address and not vendor.makes:
        return Access(f"{vendor.address}, without a key", address, {}, vendor.keys[0], vendor.wire_format)
    return None


def form_of(model: str) -> str:
    """The wire format of the vendor that makes a model, guessed from the model's name."""
    return next((form for form, vendor in VENDORS.items() if vendor.makes and model.startswith(vendor.makes)), "chat")


def paid(forms: Sequence[str], model: str, outer: Mapping[str, str]) -> Access | None:
    """Access to a model in one of these wire formats, preferring that of the model's own vendor; None if nothing pays."""
    own = form_of(model) if model else ""
    ordered = sorted(forms, key=lambda form: form != own)
    return next(filter(None, (access_of(form, outer) for form in ordered)), None)
