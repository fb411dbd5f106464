"""Guards an HTTP server: checks Host, Origin and bearer token before anything of a request is read.

Knows no route.
"""

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
HINTS = {
    421: "use the address that was printed at the start",
    403: "call it from a program, or from its own page",
    401: "send it as `Authorization: Bearer TOKEN`",
}


def everything(path: str) -> bool:
    return True


class Guard:
    """ASGI middleware. `hosts`: the accepted Host headers; `secret`: which paths need the token."""

    def __init__(self, app: Asgi, token: str, hosts: tuple[str, ...], secret: Callable[[str], bool] = everything) -> None:
        self.app, self.token, self.hosts, self.secret = app, token, hosts, secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope.get("headers", ())}
        no = None if scope["type"] == "lifespan" else self.refusal(headers, str(scope.get("path", "")))
        if no is None:
            await self.app(scope, receive, send)
        else:
            await _refuse(send, *no)

    def refusal(self, headers: Mapping[str, str], path: str) -> tuple[int, str] | None:
        """(status, sentence) if the request is refused."""
        if headers.get("host", "") not in self.hosts:
            return 421, "this address is not served here"
        if "origin" in headers and headers["origin"].removeprefix("http://") not in self.hosts:
            return 403, "requests from other sites are not accepted"
        scheme, _, token = headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), self.token.encode())
        return None if known or not self.secret(path) else (401, "the bearer token that was printed at the start is missing or wrong")


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"application/json"), *([(b"www-authenticate", b"Bearer")] if status == 401 else [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": sentence, "hint": HINTS[status]}).encode()})
