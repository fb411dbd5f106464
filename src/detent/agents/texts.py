"""Texts that come from anywhere: made whole for JSON and wires, made visible for terminals. Pure."""

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (bidi, zero width), half characters, line and paragraph separators


def whole(text: str) -> str:
    """The same text with half characters (lone surrogates) spelled out, so that it can be sent and stored."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def visible(text: str) -> str:
    """The same text with everything that would move the cursor, hide or reorder spelled out; line breaks and tabs stay."""
    return "".join(char if char in "\n\t" or unicodedata.category(char) not in HIDDEN else spelled(char) for char in text)


def spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


class LineBuffer:
    """Pieces of text in, whole lines out: a key that comes in two pieces is still seen as one."""

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
