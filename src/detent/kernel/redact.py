"""Redacting secrets in texts: the exact values of known variables, and whatever looks like a key. Reads no file."""

import re
from collections.abc import Callable, Mapping
from functools import cache

MARK = "[redacted]"
SHORTEST = 6  # shorter values would redact ordinary words
NAMES = re.compile(
    r"(?:.*_)?(?:API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|SIGNING_KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)", re.IGNORECASE
)
PATTERNS = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    r"\bsk-[A-Za-z0-9_-]{16,}",  # Anthropic (sk-ant-…), OpenAI and others
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bAKIA[A-Z0-9]{16}\b",
    r"\bASIA[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{40,}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",  # signed web tokens
)  # fmt: skip

Redact = Callable[[str], str]


def keys_of(env: Mapping[str, str]) -> dict[str, str]:
    """Values of variables whose names say that they hold a key -> those names, longest value first."""
    found = {value.strip(): name for name, value in env.items() if NAMES.fullmatch(name)}
    return {value: found[value] for value in sorted(found, key=len, reverse=True) if len(value) >= SHORTEST}


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(keys_of(env))


@cache
def redactor(secrets: tuple[str, ...] = ()) -> Redact:
    """A function that redacts these values, and whatever looks like a key, in a text.

    Most texts hold none. Without its leading \\b, a pattern is searched for by its literal letters, which is fast.
    """
    values = [value for value in secrets if value]
    looks = [(re.compile(pattern.removeprefix(r"\b")), pattern) for pattern in PATTERNS]

    def redact(text: str) -> str:
        for value in values:
            text = text.replace(value, MARK)
        for begins, pattern in looks:
            if begins.search(text):
                text = re.sub(pattern, MARK, text)
        return text

    return redact


def redact_all(redact: Redact, value: object) -> object:
    """Redact every text inside a value that will be written as JSON."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): redact_all(redact, each) for key, each in value.items()}
    return [redact_all(redact, each) for each in value] if isinstance(value, list | tuple) else value
