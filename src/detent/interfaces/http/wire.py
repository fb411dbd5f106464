"""Values on their way out: as JSON, and without secrets. What looks like a key, or is the value of a variable that holds one, leaves nowhere."""

import json
from collections.abc import Mapping

import msgspec

from detent.kernel.redact import redact_all, redactor, secrets_of


class Wire:
    """How the answers of one server are written."""

    def __init__(self, env: Mapping[str, str]) -> None:
        secrets = secrets_of(env)
        self._redact = redactor(secrets)
        self._spot = redactor(tuple(json.dumps(secret)[1:-1] for secret in secrets))  # as they look inside JSON

    def encode(self, value: object) -> bytes:
        """JSON without secrets. Most answers hold none: one look at the whole tells."""
        raw = msgspec.json.encode(value)
        text = raw.decode()
        return raw if self._spot(text) == text else msgspec.json.encode(redact_all(self._redact, msgspec.to_builtins(value)))

    def frame(self, kind: str, value: object, id: str = "") -> bytes:
        """One server-sent event. JSON has no line breaks of its own."""
        head = f"id: {id}\n" if id else ""
        return f"{head}event: {kind}\ndata: ".encode() + self.encode(value) + b"\n\n"
