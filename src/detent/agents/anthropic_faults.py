"""What went wrong with a call of the Claude API, by the type of its exception and of its body. Owns the sorting; never reads a message for words."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from detent.agents.protocol import AgentFailed, Sort
from detent.errors import DetentError

LONGEST = 30 * 24 * 3600.0  # seconds; a service that names more is not believed
KEY_HINT = "set ANTHROPIC_API_KEY in the environment that starts detent"


class Fault(NamedTuple):
    """One kind of trouble: its sort, and whether the same call may work a moment later."""

    sort: Sort
    again: bool


LATER, BUSY, GONE, BAD = Fault("RateLimit", True), Fault("Network", True), Fault("ModelUnavailable", False), Fault("Crashed", False)
BY_TYPE: dict[str, Fault] = {
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
BY_STATUS: dict[int, Fault] = {402: GONE, 403: GONE, 404: GONE, 408: BUSY, 409: BUSY, 429: LATER, 529: LATER}


class Trouble(NamedTuple):
    """A failed try: what it was, in a sentence, and the time that the service named, in seconds from now."""

    fault: Fault
    message: str
    wait: float | None = None

    def failed(self) -> AgentFailed:
        return AgentFailed(self.fault.sort, self.message, later(self.wait) if self.wait and self.fault is LATER else "")


def trouble_of(error: Exception, model: str) -> Trouble:
    """What an exception of the SDK, or of reading its stream, means."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        return _by_answer(error, model)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return Trouble(Fault("Timeout", True), "the model's service did not answer in time")
    if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError | Cut):
        return Trouble(BUSY, f"the connection to the model's service failed: {error.__cause__ or error}"[:500])
    return Trouble(Fault("Crashed", True), f"the model's service sent a message that cannot be read: {type(error).__name__}: {error}"[:500])


class Cut(Exception):
    """The stream ended before its message did."""


def _by_answer(error: "object", model: str) -> Trouble:
    import anthropic

    assert isinstance(error, anthropic.APIStatusError)
    kind = error.type if isinstance(error.type, str) else ""
    if kind == "authentication_error" or error.status_code == 401:
        raise DetentError("the model's service did not accept the key in ANTHROPIC_API_KEY", KEY_HINT) from error
    fault = BY_TYPE.get(kind) or BY_STATUS.get(error.status_code) or (BUSY if error.status_code >= 500 or error.status_code == 200 else BAD)
    said = f"the model's service answered {kind or 'an error'} ({error.status_code}) for {model}: {error.api_message or error.message}"
    return Trouble(fault, said[:1000], named_wait(error.response.headers, datetime.now(UTC)))


def named_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that the service asks to wait: retry-after, or else the last of the limits that are used up."""
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
    """Seconds until a time that is written as RFC 3339."""
    try:
        return max(0.0, (datetime.fromisoformat(text) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def later(seconds: float) -> str:
    """The time so many seconds from now, in UTC."""
    return (datetime.now(UTC) + timedelta(seconds=math.ceil(seconds))).strftime("%Y-%m-%dT%H:%M:%SZ")
