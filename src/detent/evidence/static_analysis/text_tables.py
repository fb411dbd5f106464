"""Tables of examples that are not literals of the language: a string that is split, a heredoc, a flat list or call of alternating inputs and
answers, also encoded. Pure.

Looks for at least two test examples, each followed by its answer, and little else that looks like a row.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

ENCODED = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/_-]{12,}={0,2}|(?:[0-9a-fA-F]{2}){10,})(?![\w+/])")
NEXT = re.compile(r"[\"'`\s]*(?:=>|->|[=:,;|>\s\]]|\\[nt])[\"'`\s\[({=]*(?P<answer>-?\w[\w.+-]*)")
TOKEN = re.compile(r"(?<![\w.])[\w.+-]*\d[\w.+-]*")
LEAST = 2
MOSTLY = 0.75


class TextPair(NamedTuple):
    """An example followed by its answer, by offset."""

    at: int
    end: int
    asked: str


def text_table(text: str, near: Collection[frozenset[str]], telling: Collection[str]) -> tuple[TextPair, ...]:
    """The pairs in a text that form a table of examples; none if they are few or only some rows among many. `telling`: examples that count."""
    found = {pair.asked: pair for pair in _pairs(text, near, telling)}
    pairs = tuple(sorted(found.values()))
    return pairs if len(pairs) >= LEAST and _is_most(text, pairs) else ()


def decoded_tables(text: str, telling: Collection[str]) -> Iterator[tuple[int, str]]:
    """The examples inside encoded texts, each with the offset of its text."""
    for found in ENCODED.finditer(text):
        plain = _plain(found[0])
        ours = [value for value in telling if plain and value in plain and value != plain.strip()]
        yield from ((found.start(), value) for value in ours if len(ours) >= LEAST or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain))


def _plain(text: str) -> str:
    """The decoded text; empty if it does not decode to printable characters."""
    for decode in (
        bytes.fromhex,
        lambda each: base64.b64decode(each.replace("-", "+").replace("_", "/") + "=" * (-len(each.rstrip("=")) % 4)),
    ):
        try:
            plain = decode(text).decode()
        except (ValueError, binascii.Error):
            continue
        if all(sign.isprintable() or sign in "\n\t\r" for sign in plain):
            return plain
    return ""


def _pairs(text: str, near: Collection[frozenset[str]], telling: Collection[str]) -> Iterator[TextPair]:
    for value in telling:
        if value not in text:
            continue
        for found in re.finditer(rf"(?:(?<!\w)|(?<=\\[nt])){re.escape(value)}(?!\w)", text):
            after = NEXT.match(text, found.end())
            answer = after["answer"].rstrip(".+-") if after else ""
            if after and answer != value and len(answer) > 1 and any(value in each and answer.replace("_", "") in each for each in near):
                yield TextPair(found.start(), after.end(), value)
                break


def _is_most(text: str, pairs: tuple[TextPair, ...]) -> bool:
    """Whether the pairs make up most of the paragraphs that contain them."""
    start, end = text.rfind("\n\n", 0, pairs[0].at) + 1, text.find("\n\n", pairs[-1].end)
    tokens = [found.start() for found in TOKEN.finditer(text, start, end if end >= 0 else len(text))]
    ours = [at for at in tokens if any(pair.at <= at < pair.end for pair in pairs)]
    return bool(ours) and len(ours) >= MOSTLY * len(tokens)
