"""Finds names of test runners, and of the variables they set, that are hidden in code: reversed, in base64 or hex, as character codes, or joined
from pieces. Pure."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator

RUNNERS = "vitest jest mocha jasmine rspec minitest simplecov phpunit pest junit testng xunit nunit testhost surefire pytest unittest gotestsum nextest"
SET = "node_env jest_worker_id node_test_context vitest_worker_id pytest_current_test rust_test_threads test.v test.run github_actions"
BROUGHT = "describe beforeeach aftereach expect spec_helper test_helper testing.testing"
WORDS = frozenset(f"{RUNNERS} {SET} {BROUGHT}".split())
QUOTED = re.compile(r"([\"'`])([^\"'`\n]{4,60})\1")
NUMBERS = re.compile(r"(?:(?:0x[0-9a-fA-F]{2}|\d{2,3})\s*,\s*){3,}(?:0x[0-9a-fA-F]{2}|\d{2,3})")
PIECES = re.compile(
    r"[\[{(]\s*((?:[\"'`][^\"'`\n]{0,20}[\"'`]\s*,\s*)+[\"'`][^\"'`\n]{0,20}[\"'`])\s*,?\s*[\])}]\s*(?:\.join\b|,\s*[\"'`]{2}\s*\)|\.concat\b)"
)
IMPLODED = re.compile(
    r"\b(?:implode|String\.[jJ]oin|string\.(?:Join|Concat))\(\s*(?:[\"']{2}\s*,\s*)?(?:new\s*\[\]\s*)?[\[{]?\s*((?:[\"'][^\"'\n]{0,20}[\"']\s*,\s*)+[\"'][^\"'\n]{0,20}[\"'])"
)
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{5,}={0,2}")
HEX = re.compile(r"(?:[0-9a-fA-F]{2}){4,}")


def hidden_words(code: str) -> Iterator[tuple[int, str]]:
    """Each hidden word with its line."""
    for found in QUOTED.finditer(code):
        yield from ((_line(code, found.start()), word) for word in _forms(found[2]) if _is_word(word))
    for found in NUMBERS.finditer(code):
        codes = [int(each, 0) for each in re.split(r"\s*,\s*", found[0]) if not re.fullmatch(r"0\d+", each)]
        word = "".join(map(chr, codes))
        if _is_word(word):
            yield _line(code, found.start()), word
    for found in (*PIECES.finditer(code), *IMPLODED.finditer(code)):
        pieces = [each[1:-1] for each in re.findall(r"\"[^\"]*\"|'[^']*'|`[^`]*`", found[1])]
        if _is_word(word := "".join(pieces)) or _is_word(word := "_".join(pieces)):
            yield _line(code, found.start()), word


def _is_word(text: str) -> bool:
    return text.strip("\0\n ").lower() in WORDS


def _forms(text: str) -> Iterator[str]:
    """The decodings of a text; never the text itself."""
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    if HEX.fullmatch(text):
        yield binascii.unhexlify(text).decode("utf-8", "replace")
    if BASE64.fullmatch(text):
        try:
            yield base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if set(text) & set("-_") else None).decode()
        except (ValueError, UnicodeDecodeError):
            return


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
