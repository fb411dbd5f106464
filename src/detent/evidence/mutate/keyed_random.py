"""Random values derived from a key, of the same type and look as given ones, so that a probe does not look like one. Pure: the key is handed in.

The same key draws the same values; the probed code cannot see it.
"""

import hmac
import re
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d+)?n?\Z")
TEXT = re.compile(r"(?P<head>[bBrRuU]{0,2})(?P<quote>\"\"\"|'''|[\"'`])(?P<body>.*)(?P=quote)\Z", re.DOTALL)
PIECE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|\$\{[^}]*\}|[A-Za-z]+|\d+|[^A-Za-z\d\\$]+|.",
    re.DOTALL,
)
OPPOSITE = {"True": "False", "False": "True", "true": "false", "false": "true"}
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


class KeyedRandom:
    """A random generator seeded with a key and a purpose (`of`)."""

    def __init__(self, key: bytes, of: str = "") -> None:
        self._key, self._of, self._drawn = key, of, 0
        self._words: set[str] = set()

    def below(self, n: int) -> int:
        self._drawn += 1
        return int.from_bytes(hmac.digest(self._key or b"\0", f"{self._of}\n{self._drawn}".encode(), "sha256")[:8], "big") % n

    def one(self, among: Sequence[T]) -> T:
        return among[self.below(len(among))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """The things in random order."""
        left, found = list(things), list[T]()
        while left:
            found.append(left.pop(self.below(len(left))))
        return found

    def word(self, syllables: int = 3) -> str:
        """A word that this generator has not drawn before."""
        while True:
            found = "".join(self.one(CONSONANTS) + self.one(VOWELS) for _ in range(syllables))
            if found not in self._words:
                self._words.add(found)
                return found

    # -- other values that look the same -------------------------------------------------------------------------------------

    def literal(self, source: str) -> str | None:
        """Another literal for a number, string or boolean in source code; None for anything else."""
        if source in OPPOSITE:
            return OPPOSITE[source]
        if NUMBER.match(source):
            return self.digits(source)
        found = TEXT.match(source)
        if found is None or ("`" in found["quote"] and "${" in found["body"]):
            return None
        if found["quote"] != '"""' and found["quote"] != "'''" and found["quote"] in re.sub(r"\\.", "", found["body"], flags=re.DOTALL):
            return None  # several adjacent strings
        body = found["body"] if "r" in found["head"].lower() and "\\" in found["body"] else self.text(found["body"])
        if body == found["body"]:
            body += self.one("kqwz")
        return f"{found['head']}{found['quote']}{body}{found['quote']}"

    def digits(self, number: str) -> str:
        """Another number with the same number of digits."""
        whole = re.search(r"\d+", number)
        assert whole is not None, "a number has a digit"
        old = whole[0]
        lowest = 10 ** (len(old) - 1) if len(old) > 1 or old != "0" else 1
        span = 10 ** len(old) - lowest
        new = lowest + self.below(span)
        new = new if new != int(old) else lowest + (new - lowest + 1) % span
        return f"{number[: whole.start()]}{new}{number[whole.end() :]}"

    def text(self, body: str) -> str:
        """Another text that looks the same: letters for letters, digits for digits, everything else unchanged."""
        return "".join(self._piece(each[0]) for each in PIECE.finditer(body))

    def _piece(self, piece: str) -> str:
        if piece.isascii() and piece.isdigit():
            return "".join(str((int(c) + 1 + self.below(9)) % 10) for c in piece)
        if not (piece.isascii() and piece.isalpha()):
            return piece
        return "".join(self._letter(c) for c in piece)

    def _letter(self, letter: str) -> str:
        first = ord("a" if letter.islower() else "A")
        return chr(first + (ord(letter) - first + 1 + self.below(25)) % 26)
