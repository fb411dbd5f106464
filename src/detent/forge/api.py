"""A forge's REST API: requests, pagination, cached answers, and what a refusal means. Knows no issues and no pull requests.

A rate limit is raised with the time at which to continue. Nothing is sent to any host but the API's own.
"""

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from detent.errors import Unreached
from detent.storage.state import read_sealed, write_sealed

LATER = "wait until then; what is queued continues by itself"
PATIENCE = 30.0  # seconds to wait for an answer
A_MINUTE = 60.0  # how long to wait if the forge names no time
LONGEST = 20_000_000  # bytes per answer
MOST_PAGES = 200
MOST_KEPT = 500  # cached answers
PER_PAGE = "100"
NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')
LIMITS = ("rate limit", "abuse detection")  # how GitHub words a limit that has no header


class ForgeError(Unreached):
    """The forge cannot be reached, refuses, or answers something that cannot be read."""


class NotThere(ForgeError):
    """It does not exist, or the token may not see it; forges do not tell which."""


class ForgeResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Stay(urllib.request.HTTPRedirectHandler):
    """Turns off automatic redirects: each is checked before anything is sent there."""

    def redirect_request(self, *args: Any, **words: Any) -> None:
        return None


class Api:
    """One API, used with one token."""

    def __init__(
        self, url: str, name: str, token: str, store: Path | None, clock: Callable[[], str], env: Mapping[str, str], scheme: str = "Bearer"
    ) -> None:
        self.url, self.name, self.store, self.clock = url, name, store, clock
        self._token, self._says = token, f"{scheme} {token}".strip()
        proxies = {scheme: address for scheme in ("http", "https") if (address := _proxy(scheme, urlsplit(url).hostname or "", env))}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Stay)

    def get(self, path: str, **query: str) -> Any:
        return self._read(self._got(self._address(path, query)))

    def pages(self, path: str, **query: str) -> list[Any]:
        """All entries of a list, from every page."""
        address, found = self._address(path, {"per_page": PER_PAGE, **query}), []
        for _ in range(MOST_PAGES):
            answer = self._got(address)
            page = self._read(answer)
            if not isinstance(page, list):
                raise ForgeError(f"{self.name} answered {path} with something that is not a list", "is this its API?")
            found += page
            further = NEXT.search(answer.headers.get("link", ""))
            if not further:
                return found
            address = self._same_host(further[1])
        raise ForgeError(f"{self.name} lists more than {len(found)} entries of {path}", "ask for fewer: [tracker] query")

    def send(self, method: str, path: str, body: object = None) -> Any:
        """Change something; returns the answer, or None if it is empty."""
        answer = self._asked(method, self._address(path, {}), body, {})
        return self._read(answer) if answer.body.strip() else None

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _address(self, path: str, query: Mapping[str, str]) -> str:
        return f"{self.url}{path}" + (f"{'&' if '?' in path else '?'}{urlencode(query)}" if query else "")

    def _same_host(self, address: str) -> str:
        """An address that the forge gave; ForgeError if it is on another host."""
        if urlsplit(address)[:2] != urlsplit(self.url)[:2]:
            raise ForgeError(
                f"{self.name} redirects to another host ({address[:120]}); the token is not sent there",
                "correct the address of its API: GITHUB_API_URL or CI_API_V4_URL (docs/trackers.md)",
            )
        return address

    def _got(self, address: str) -> ForgeResponse:
        """A GET, answered from the cache if the forge says it has not changed; such a request counts against no limit."""
        file = self._file(address)
        known = _decoded(read_sealed(file)) if file is not None and file.exists() else None
        answer = self._asked("GET", address, None, {"If-None-Match": known.headers["etag"]} if known else {})
        if answer.status == 304 and known:
            return known
        if file is not None and answer.headers.get("etag"):
            _keep(file, answer)
        return answer

    def _file(self, address: str) -> Path | None:
        name = hashlib.sha256(f"{self._token}\n{address}".encode()).hexdigest()[:32]
        return self.store / f"{name}.json" if self.store is not None else None

    def _asked(self, method: str, address: str, body: object, headers: Mapping[str, str]) -> ForgeResponse:
        for _ in range(4):
            answer = self._once(method, address, body, headers)
            if answer.status not in (301, 302, 307, 308):
                self._sound(answer, method, address)
                return answer
            if method != "GET" and answer.status in (301, 302):
                break
            address = self._same_host(answer.headers.get("location", ""))
        raise ForgeError(
            f"{self.name} keeps redirecting {urlsplit(address).path}", 'was the project moved? set [forge] project = "owner/name"'
        )

    def _once(self, method: str, address: str, body: object, headers: Mapping[str, str]) -> ForgeResponse:
        self._wait_no_more()
        data = None if body is None else json.dumps(body).encode()
        more = {"Authorization": self._says, "Accept": "application/json", "User-Agent": "detent"}
        more |= {"Content-Type": "application/json"} if data is not None else {}
        asked = urllib.request.Request(address, data, {**more, **headers}, method=method)
        try:
            with self._opener.open(asked, timeout=PATIENCE) as response:
                return ForgeResponse(response.status, _lower(response.headers), response.read(LONGEST + 1))
        except urllib.error.HTTPError as e:
            with e:
                return ForgeResponse(e.code, _lower(e.headers), _body_of(e))
        except (OSError, HTTPException) as e:
            why = (str(getattr(e, "reason", "")) or str(e) or type(e).__name__)[:200]
            raise ForgeError(f"{self.name} cannot be reached: {why}", LATER, self._later(A_MINUTE)) from e

    def _sound(self, answer: ForgeResponse, method: str, address: str) -> None:
        """Raise ForgeError for an error status."""
        status, message, path = answer.status, _message(answer.body), urlsplit(address).path
        if status < 400:
            return
        what = f"{self.name} {{}}: {method} {path} ({status}{f', {message}' if message else ''})"
        if _limited(status, answer.headers, message):
            until = self._later(_seconds(answer.headers, self.clock()))
            self._hold_off(until)
            raise ForgeError(
                f"{self.name} accepts no more requests until {until} ({status}{f', {message}' if message else ''})",
                LATER,
                until,
            )
        if status >= 500:
            raise ForgeError(what.format("has an internal error"), LATER, self._later(A_MINUTE))
        if status in (404, 410):
            raise NotThere(
                what.format("has nothing there, or the token may not see it"), "check the project's name, and what the token may do"
            )
        says, hint = REFUSALS.get(status, ("does not accept this", "try it by hand"))
        raise ForgeError(what.format(says), hint)

    def _hold_off(self, until: str) -> None:
        """Remember a rate limit for every process of this machine: whoever keeps asking is locked out longer."""
        if (file := self._file("the limit")) is not None:
            write_sealed(file, json.dumps({"until": until}), durable=False)

    def _wait_no_more(self) -> None:
        """Raise while a rate limit lasts, so that nothing is sent."""
        file = self._file("the limit")
        stored = read_sealed(file) if file is not None and file.exists() else None
        until = json.loads(stored)["until"] if stored else ""
        if until and datetime.fromisoformat(until) > datetime.fromisoformat(self.clock()):
            raise ForgeError(f"{self.name} accepts no more requests until {until}", LATER, until)

    def _later(self, seconds: float) -> str:
        return (datetime.fromisoformat(self.clock()) + timedelta(seconds=seconds)).isoformat(timespec="seconds")

    def _read(self, answer: ForgeResponse) -> Any:
        if len(answer.body) > LONGEST:
            raise ForgeError(f"an answer of {self.name} is longer than {LONGEST:,} bytes", "ask for fewer: [tracker] query")
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as e:
            raise ForgeError(
                f"{self.name} answered with something that is not JSON", "is there a proxy or a login page in front of it?"
            ) from e


REFUSALS = {
    401: ("does not accept the token", "it may have expired; set a new one"),
    403: ("does not allow this to the token", "it needs to read and write issues and pull requests of the project"),
}


def _limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Whether a refusal is a rate limit: by status, by headers, or only by its wording."""
    spent = headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining", "")) == "0"
    limited = "retry-after" in headers or spent or any(word in message.lower() for word in LIMITS)
    return status == 429 or (status == 403 and limited) or (status == 503 and "retry-after" in headers)


def _seconds(headers: Mapping[str, str], now: str) -> float:
    """Seconds to wait: as stated, until the limit resets, or a minute."""
    after = headers.get("retry-after", "")
    if after.isdigit():
        return float(min(int(after), 86_400))
    reset = headers.get("x-ratelimit-reset", headers.get("ratelimit-reset", ""))
    if reset.isdigit():
        return min(86_400.0, max(1.0, int(reset) - datetime.fromisoformat(now).timestamp()))
    return A_MINUTE


def _proxy(scheme: str, host: str, env: Mapping[str, str]) -> str:
    """The environment's proxy for a scheme, unless the host is exempt."""
    without = [word.strip().lstrip(".") for word in (env.get("no_proxy") or env.get("NO_PROXY") or "").split(",") if word.strip()]
    if host in ("127.0.0.1", "::1", "localhost") or "*" in without or any(host == word or host.endswith(f".{word}") for word in without):
        return ""
    return env.get(f"{scheme}_proxy", "") or (env.get("HTTPS_PROXY", "") if scheme == "https" else "")


def _lower(headers: Any) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _body_of(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(100_000)
    except (OSError, HTTPException):
        return b""


def _message(body: bytes) -> str:
    """The error message of an answer, in one line."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(data, dict):
        return ""
    more = [str(e.get("message") or e.get("code") or "") if isinstance(e, dict) else str(e) for e in data.get("errors") or () if e]
    words = (data.get("message") or data.get("error_description") or data.get("error") or "", *more[:3])
    return " ".join(" ".join(str(word) for word in words if word).split())[:300]


# -- cached answers ------------------------------------------------------------------------------------------------------------


def _keep(file: Path, answer: ForgeResponse) -> None:
    text = json.dumps(
        {"etag": answer.headers["etag"], "link": answer.headers.get("link", ""), "body": answer.body.decode("utf-8", "replace")}
    )
    try:
        write_sealed(file, text, durable=False)
        old = sorted(file.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)[:-MOST_KEPT]
        for each in old:
            each.unlink(missing_ok=True)
    except OSError:
        return  # a full disk only costs another request


def _decoded(text: str | None) -> ForgeResponse | None:
    if text is None:
        return None
    raw = json.loads(text)
    return ForgeResponse(200, {"etag": raw["etag"], "link": raw["link"]}, raw["body"].encode())
