"""Sorting the failed calls of a model's service, by the type of exception and the kinds in its body. Never parses a message.

The SDKs of Anthropic and OpenAI name their exceptions alike, so one function sorts both.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from detent.agents.agent_protocol import AgentFailed, Sort
from detent.errors import DetentError

LONGEST = 30 * 24 * 3600.0  # seconds; a longer wait is not believed


class Fault(NamedTuple):
    """One kind of trouble: its sort, and whether a retry may succeed."""

    sort: Sort
    again: bool


LATER, BUSY, GONE, BAD = Fault("RateLimit", True), Fault("Network", True), Fault("ModelUnavailable", False), Fault("Crashed", False)
FULL = Fault("Truncated", False)
BY_TYPE: dict[str, Fault] = {  # the Claude API's names
    "rate_limit_error": LATER,
    "overloaded_error": LATER,
    "api_error": BUSY,
    "timeout_error": BUSY,
    "not_found_error": GONE,
    "permission_error": GONE,
    "billing_error": GONE,
    "invalid_request_error": BAD,
    "request_too_large": BAD,
}
BY_CODE: dict[str, Fault] = {  # the names of OpenAI and similar services; a code says more than the type beside it
    "usage_limit_reached": LATER,
    "rate_limit_exceeded": LATER,
    "server_is_overloaded": LATER,
    "server_error": BUSY,
    "insufficient_quota": GONE,
    "usage_not_included": GONE,
    "model_not_found": GONE,
    "context_length_exceeded": FULL,
}
BY_GOOGLE: dict[str, Fault] = {  # the Gemini API's names
    "RESOURCE_EXHAUSTED": LATER,
    "UNAVAILABLE": LATER,
    "INTERNAL": BUSY,
    "DEADLINE_EXCEEDED": BUSY,
    "NOT_FOUND": GONE,
    "PERMISSION_DENIED": GONE,
}
KINDS = {**BY_TYPE, **BY_CODE, **BY_GOOGLE}
BY_STATUS: dict[int, Fault] = {402: GONE, 403: GONE, 404: GONE, 408: BUSY, 409: BUSY, 429: LATER, 529: LATER}

OTHER_MODEL = "Name another agent or model with `--agent SPEC` (`detent resume --agent SPEC`), or set `[agents] model` in detent.toml"


class Trouble(NamedTuple):
    """A failed call: its fault, a sentence about it, and the seconds that the service asks to wait."""

    fault: Fault
    message: str
    wait: float | None = None

    def failed(self) -> AgentFailed:
        return AgentFailed(self.fault.sort, self.message, later(self.wait) if self.wait and self.fault is LATER else "")


class Key(NamedTuple):
    """An API key: the variable that holds it, and what to do if it is missing or rejected."""

    variable: str
    hint: str


class Cut(Exception):
    """The stream ended before its message did."""


def trouble_of(error: Exception, model: str, sdk: Any, key: Key) -> Trouble:
    """What an exception raised by an SDK, or while reading its stream, means."""
    import httpx2

    if isinstance(error, sdk.APIStatusError):
        return _by_answer(error, model, key)
    if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
        return Trouble(Fault("Timeout", True), "the model's service did not answer in time")
    if isinstance(error, sdk.APIConnectionError | httpx2.HTTPError | Cut):
        return Trouble(BUSY, f"the connection to the model's service failed: {error.__cause__ or error}"[:500])
    if isinstance(error, sdk.APIError):  # in the middle of a stream
        return _sorted(_kinds(error), 200, f"for {model}: {_words(error)}")
    return Trouble(Fault("Crashed", True), f"the model's service sent a message that cannot be read: {type(error).__name__}: {error}"[:500])


def _by_answer(error: Any, model: str, key: Key) -> Trouble:
    status, kinds = int(error.status_code), _kinds(error)
    if status == 401 or "authentication_error" in kinds:
        raise DetentError(f"the model's service did not accept the key in {key.variable}", key.hint) from error
    if 300 <= status < 400:
        to = str(error.response.headers.get("location", "nowhere"))[:200]
        return Trouble(GONE, f"the model's service redirects to another address ({status}): {to}. Nothing was sent there")
    return _sorted(kinds, status, f"for {model}: {_words(error)}", named_wait(error.response.headers, datetime.now(UTC)))


def _sorted(kinds: list[str], status: int, message: str, wait: float | None = None) -> Trouble:
    named = next((KINDS[kind] for kind in kinds if kind in KINDS), None)
    fault = named or BY_STATUS.get(status) or (BUSY if status >= 500 or status == 200 else BAD)
    if status in BY_STATUS and fault is BAD:
        fault = BY_STATUS[status]  # a type as general as invalid_request_error says less than the status
    way = f". {OTHER_MODEL}" if fault is GONE else ""
    return Trouble(
        fault, f"the model's service answered {kinds[0] if kinds else 'an error'} ({status}) {message}"[:1000].rstrip(".") + way, wait
    )


def _kinds(error: Any) -> list[str]:
    return [kind for name in ("code", "type") if isinstance(kind := getattr(error, name, None), str) and kind]


def _words(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(getattr(error, "api_message", None) or body.get("message") or error.message)


def named_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that the service asks to wait: retry-after, else until the last exhausted rate limit resets."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (seconds := _seconds(headers.get(name, ""), now)) is not None:
            return min(seconds * unit, LONGEST)
    resets = [name for name in headers if name.startswith("anthropic-ratelimit-") and name.endswith("-reset")]
    spent = [name for name in resets if headers.get(name.removesuffix("reset") + "remaining") == "0"]
    waits = [wait for name in spent if (wait := _until(headers[name], now)) is not None]
    return min(max(waits), LONGEST) if waits else None


def _seconds(text: str, now: datetime) -> float | None:
    try:
        number = float(text)
        return number if math.isfinite(number) and number >= 0 else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _until(text: str, now: datetime) -> float | None:
    """Seconds until an RFC 3339 time."""
    try:
        return max(0.0, (datetime.fromisoformat(text) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def later(seconds: float) -> str:
    """The UTC time that many seconds from now."""
    return (datetime.now(UTC) + timedelta(seconds=math.ceil(seconds))).strftime("%Y-%m-%dT%H:%M:%SZ")
