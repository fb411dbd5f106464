"""Texts of any origin: made valid for JSON and the network, and safe to show on a terminal. Pure."""

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (bidi, zero width), lone surrogates, line and paragraph separators


def whole(text: str) -> str:
    """The text with lone surrogates escaped, so that it can be sent and stored."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def visible(text: str) -> str:
    """The text with characters escaped that would move the cursor, hide or reorder anything; line breaks and tabs stay."""
    return "".join(char if char in "\n\t" or unicodedata.category(char) not in HIDDEN else spelled(char) for char in text)


def spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


class LineBuffer:
    """Collects pieces of text into whole lines, so that a key split over two pieces is still redacted."""

    LONGEST = 2000

    def __init__(self) -> None:
        self.rest = ""

    def feed(self, piece: str) -> list[str]:
        *done, self.rest = (self.rest + piece).split("\n")
        if len(self.rest) > self.LONGEST:
            done, self.rest = [*done, self.rest], ""
        return done

    def end(self) -> list[str]:
        rest, self.rest = self.rest, ""
        return [rest] if rest else []
