"""Notifies by a webhook: one POST of JSON, plain or in Slack's format. Follows no redirect, so nothing goes to another host."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from detent.notify.message import Notification, NotifyWay, NotSent

PATIENCE = 10.0  # seconds
SLACK = "slack:"  # prefix of the address, for Slack's format
MOST_ITEMS = 20  # items in a chat message
ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}  # in Slack's markup


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **words: Any) -> None:
        return None


def by_webhook(message: Notification, way: NotifyWay) -> None:
    address = way.to.removeprefix(SLACK)
    body = slack_form(message) if way.to.startswith(SLACK) else message.as_object()
    headers = {"Content-Type": "application/json", "User-Agent": "detent", "Idempotency-Key": message.id}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(_proxies(address, way.env)), _Stay)
    try:
        asked = urllib.request.Request(address, json.dumps(body).encode(), headers, method="POST")
        with opener.open(asked, timeout=PATIENCE) as response:
            response.read(1000)
    except urllib.error.HTTPError as e:
        with e:
            raise NotSent(f"it answered {e.code}") from None
    except (OSError, HTTPException, ValueError) as e:
        raise NotSent(f"it cannot be reached: {getattr(e, 'reason', None) or e}"[:300]) from None


def slack_form(message: Notification) -> dict[str, object]:
    """The message in the format of Slack's incoming webhooks, which other chats accept too."""
    lines = [f"*{_safe(message.title)}*", *([_safe(message.text)] if message.text else [])]
    for item in message.items[:MOST_ITEMS]:
        what = " ".join(filter(None, (item.get("item"), item.get("title")))) or item.get("branch", "")
        link = f" <{item['pull_request']}>" if item.get("pull_request") else ""
        lines.append(f"• {_safe(what)}{link}" + (f": {_safe(item['why'])}" if item.get("why") else ""))
        lines += [f"   `{_safe(item['command'])}`"] if item.get("command") else []
    more = len(message.items) - MOST_ITEMS
    return {"text": "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])])}


def _safe(text: str) -> str:
    return text.translate(ESCAPES)


def _proxies(address: str, env: Mapping[str, str]) -> dict[str, str]:
    """The proxies of the environment for an address; none for this machine itself."""
    host = urlsplit(address).hostname or ""
    without = [word.strip().lstrip(".") for word in (env.get("no_proxy") or env.get("NO_PROXY") or "").split(",") if word.strip()]
    if host in ("127.0.0.1", "::1", "localhost") or "*" in without or any(host == word or host.endswith(f".{word}") for word in without):
        return {}
    named = {"http": env.get("http_proxy", ""), "https": env.get("https_proxy") or env.get("HTTPS_PROXY", "")}
    return {scheme: proxy for scheme, proxy in named.items() if proxy}
