"""What encoded parts of a text say: escapes, lists of character codes, base64 and the like, also nested. Pure; no code is run."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator

DEEPEST = 3  # levels of nested encodings
LARGEST = 20_000  # decompressed characters at most
FEWEST = 16  # character codes or escapes in a row
ESCAPE = r"(?:%[0-9a-fA-F]{2}|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\}|\\[0-7]{3}|&#[0-9]{2,3};|&#[xX][0-9a-fA-F]{2};)"
ONE = re.compile(r"%(?P<p>..)|\\x(?P<x>..)|\\u\{(?P<b>\w+)\}|\\u(?P<u>....)|\\(?P<o>...)|&#[xX](?P<h>\w+);|&#(?P<d>\d+);", re.DOTALL)
ESCAPED = re.compile(rf"(?<![\w-])[\w-]{{0,60}}{ESCAPE}(?:[\w-]{{0,40}}{ESCAPE})*[\w-]{{0,100}}")
NUMBERS = re.compile(rf"\b(?:0x)?[0-9a-fA-F]{{2,3}}(?:\s*,\s*(?:0x)?[0-9a-fA-F]{{2,3}}){{{FEWEST - 1},}}")
HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}){20,}\b")
BASE32 = re.compile(r"\b[A-Z2-7]{32,}={0,6}")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:[\"'`]?\s*[+\\]?\s*\n\s*[\"'`]?[A-Za-z0-9+/_-]{8,})*={0,2}")
PACKED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")


def readings(text: str, depth: int = DEEPEST) -> Iterator[tuple[int, str, str]]:
    """Decoded parts of a text, each with its offset and the name of its encoding."""
    for how, pattern, decode in READERS:
        for hit in pattern.finditer(text):
            decoded = decode(hit[0])
            if decoded:
                yield hit.start(), decoded, how
            if decoded and depth > 1:
                yield from ((hit.start(), inner, how) for _, inner, _ in readings(decoded, depth - 1))


def _escapes(word: str) -> str:
    return ONE.sub(_letter, word) if len(ONE.findall(word)) > 1 else ""


def _letter(hit: re.Match[str]) -> str:
    name = str(hit.lastgroup)
    return chr(min(int(hit[name], {"o": 8, "d": 10}.get(name, 16)), 0x10FFFF))


def _numbers(word: str) -> str:
    found = [each.strip() for each in word.split(",")]
    base = 16 if any(each.startswith("0x") for each in found) else 10
    if base == 10 and not all(map(str.isdecimal, found)):
        return ""
    return _plain(bytes(each for each in (int(one, base) for one in found) if each < 256))


def _hex(word: str) -> str:
    return _plain(bytes.fromhex(word))


def _base32(word: str) -> str:
    bare = word.rstrip("=")
    try:
        return _plain(base64.b32decode(bare + "=" * (-len(bare) % 8)))
    except binascii.Error:
        return ""


def _base64(word: str) -> str:
    bare = re.sub(r"[^A-Za-z0-9+/]", "", word.replace("-", "+").replace("_", "/"))
    bare = bare if len(bare) % 4 != 1 else bare[:-1]
    try:
        return _plain(binascii.a2b_base64(bare + "=" * (-len(bare) % 4)))
    except binascii.Error:
        return ""


def _plain(data: bytes) -> str:
    """Bytes as text if they are ASCII, decompressed if needed, with the zero bytes of UTF-16 removed; else empty."""
    if data.startswith(PACKED):
        try:
            data = zlib.decompressobj(47).decompress(data, LARGEST)
        except zlib.error:
            return ""
    data = data.replace(b"\0", b"")
    return data.decode("ascii") if data.isascii() else ""


READERS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("escapes", ESCAPED, _escapes),
    ("numbers", NUMBERS, _numbers),
    ("hex", HEX, _hex),
    ("base32", BASE32, _base32),
    ("base64", BASE64, _base64),
)
