"""Errors of a model's service, sorted by status, headers and the kind named in the body. Pure; never parses a message.

The gateway sees the service's answers, so nothing is guessed from how a client reports them.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from detent.agents.faults import BAD, BUSY, BY_STATUS, KINDS, LATER, LONGEST, Fault, Trouble, named_wait

REJECTED = "anthropic-ratelimit-unified-status"  # for subscriptions; RESET gives the time in seconds since 1970
DELAY = re.compile(r"(\d{1,9}(?:\.\d+)?)s")
RESET = "anthropic-ratelimit-unified-reset"


class ErrorDetail(msgspec.Struct, frozen=True):
    type: str | None = None
    code: str | int | None = None
    status: str | None = None  # the error kind, in Gemini's answers
    message: str | None = None
    resets_at: float | None = None
    resets_in_seconds: float | None = None


class Detail(msgspec.Struct, frozen=True, rename="camel"):
    """Gemini's further details of an error."""

    reason: str = ""
    retry_delay: str = ""  # "34s"


class Details(msgspec.Struct, frozen=True):
    details: list[Detail] = []


class Detailed(msgspec.Struct, frozen=True):
    error: Details = Details()


class ErrorBody(msgspec.Struct, frozen=True):
    error: ErrorDetail = ErrorDetail()


def error_of(body: bytes) -> ErrorDetail:
    try:
        return msgspec.json.decode(body, type=ErrorBody).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ErrorDetail()


def details_of(body: bytes) -> list[Detail]:
    try:
        return msgspec.json.decode(body, type=Detailed).error.details
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def is_about_the_key(status: int, body: bytes) -> bool:
    """Whether the service rejected the key: 401, or Gemini's 400 with API_KEY_INVALID."""
    return status == 401 or (status == 400 and any(detail.reason == "API_KEY_INVALID" for detail in details_of(body)))


def trouble_of(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Trouble:
    """What an error status means. `headers` have lower-case names."""
    error = error_of(body)
    named = [name for name in (error.code, error.status, error.type) if isinstance(name, str)]
    fault = next((KINDS[name] for name in named if name in KINDS), None) or BY_STATUS.get(status) or (BUSY if status >= 500 else BAD)
    if status == 429 and fault is BAD:
        fault = LATER
    message = f"the model's service answered {named[0] if named else 'an error'} ({status}): {error.message or 'it gives no details'}"
    return Trouble(fault, message[:1000], wait_of(headers, error, details_of(body), now))


def wait_of(headers: Mapping[str, str], error: ErrorDetail, details: list[Detail], now: datetime) -> float | None:
    """The seconds that the service asks to wait, in whichever form; the longest, if it gives several."""
    at = now.timestamp()
    named = [named_wait(headers, now), error.resets_in_seconds, error.resets_at - at if error.resets_at else None]
    named += [float(found[1]) for detail in details if (found := DELAY.fullmatch(detail.retry_delay))]
    if headers.get(REJECTED) == "rejected" and headers.get(RESET, "").isdecimal():
        named.append(float(headers[RESET]) - at)
    waits = [wait for wait in named if wait is not None and wait > 0]
    return min(max(waits), LONGEST) if waits else None


def lost(why: object) -> Trouble:
    return Trouble(BUSY, f"the connection to the model's service failed: {why}"[:500])


def of_kind(kind: str, message: str) -> Trouble:
    """The trouble for an error kind that the client itself reports, where the gateway saw no error."""
    return Trouble(KINDS.get(kind, Fault("Crashed", True)), message)


def now() -> datetime:
    return datetime.now(UTC)
