"""Encodes responses as JSON with secrets redacted: what looks like a key, and values of secret variables."""

import json
from collections.abc import Mapping

import msgspec

from detent.kernel.redact import redact_all, redactor, secrets_of


class Wire:
    """The encoder of one server."""

    def __init__(self, env: Mapping[str, str]) -> None:
        secrets = secrets_of(env)
        self._redact = redactor(secrets)
        self._spot = redactor(tuple(json.dumps(secret)[1:-1] for secret in secrets))  # the secrets as they appear inside JSON

    def encode(self, value: object) -> bytes:
        """JSON without secrets. A check of the whole text is cheap, and most responses have none."""
        raw = msgspec.json.encode(value)
        text = raw.decode()
        return raw if self._spot(text) == text else msgspec.json.encode(redact_all(self._redact, msgspec.to_builtins(value)))

    def frame(self, kind: str, value: object, id: str = "") -> bytes:
        """One server-sent event; JSON contains no line breaks."""
        head = f"id: {id}\n" if id else ""
        return f"{head}event: {kind}\ndata: ".encode() + self.encode(value) + b"\n\n"
