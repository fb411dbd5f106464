"""Digests and checksums of a text, including simple ones such as djb2 and Java's hashCode. Pure."""

import base64
import hashlib
import zlib
from collections.abc import Iterator
from functools import partial, reduce

DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256")
SHORT = 200  # bytes; longer texts get no byte-by-byte checksums
WORD = 1 << 32
SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _fnv(found: int, byte: int, prime: int, bits: int, last: bool) -> int:
    """One step of FNV; `last`: XOR the byte after the multiplication, not before."""
    return ((found * prime) % (1 << bits)) ^ byte if last else ((found ^ byte) * prime) % (1 << bits)


def _times(found: int, byte: int, factor: int) -> int:
    return (found * factor + byte) % WORD


STEPS = (
    *((partial(_fnv, prime=0x01000193, bits=32, last=last), 0x811C9DC5) for last in (False, True)),
    *((partial(_fnv, prime=0x100000001B3, bits=64, last=last), 0xCBF29CE484222325) for last in (False, True)),
    *((partial(_times, factor=factor), start) for factor, start in ((31, 0), (33, 5381), (33, 0), (131, 0), (65599, 0))),
)  # step and start value: FNV, Java's hashCode, djb2 and similar


def sums(value: str) -> Iterator[str]:
    """All digests and checksums of a text, as they may be written in code."""
    raw = value.encode("utf-8", "surrogatepass")
    for name in DIGESTS:
        digest = hashlib.new(name, raw, usedforsecurity=False)
        yield from (digest.hexdigest(), digest.hexdigest()[:16], digest.hexdigest()[:12], digest.hexdigest()[:8])
        plain = base64.b64encode(digest.digest()).decode()
        yield from (plain, plain.rstrip("="), plain.rstrip("=").replace("+", "-").replace("/", "_"))
    for number in (zlib.crc32(raw), zlib.adler32(raw), *(_grown(raw) if len(raw) < SHORT else ())):
        yield from (str(number), f"{number:x}", f"{number:08x}", str(abs(number - WORD)))
    if len(raw) < SHORT // 2:
        yield from map(str, _as_number(value, raw))


def _grown(raw: bytes) -> Iterator[int]:
    yield from (reduce(step, raw, start) for step, start in STEPS)


def _as_number(value: str, raw: bytes) -> Iterator[int]:
    """The text read as a number: by its bytes, or in base 36."""
    yield from (int.from_bytes(raw, "big"), int.from_bytes(raw, "little"))
    small = value.lower()
    if 4 < len(small) < 12 and set(small) <= set(SIGNS) and not small.isdecimal():
        yield int(small, 36)
