"""Bytes of a source file as text and back, by the encoding that the file names for itself (`# -*- coding: latin-1 -*-`). Pure.

Code that is tried with a small change must differ in that change alone, so what was read must come back as the same bytes.
"""

import re

CODING = re.compile(
    r"^\ufeff?(?:#[^\n]*\n|[ \t\f]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
)  # where Python and Ruby look for it: the first two lines
AS_SHOWN = re.compile(
    r"utf[-_]?8(?:[-_]sig)?|u8|(?:us[-_]?)?ascii|latin[-_]?1|l1|iso[-_]?8859[-_]\d+|(?:cp|windows[-_])125\d|cp(?:437|850|866|932|936|949|950)"
    r"|euc[-_]\w+|s(?:hift)?[-_]?jis\w*|gb\w+|big5\w*|koi8[-_]\w",
    re.IGNORECASE,
)  # encodings in which letters, quotes and line ends are those of ASCII
HEAD = 400  # bytes in which two first lines that name an encoding end
UTF8 = "utf-8"


def text_of(data: bytes) -> str:
    """The text of a file. Bytes that its encoding does not know are replaced."""
    return data.decode(_encoding(data[:HEAD].decode("latin-1")), "replace")


def bytes_of(text: str) -> bytes:
    """The bytes of a file with this text."""
    return text.encode(_encoding(text[:HEAD]), "replace")


def other_encoding(text: str) -> str:
    """The encoding that a file names, if letters and quotes are not those of ASCII there, as in `unicode_escape`; empty if they are."""
    said = CODING.match(text[:HEAD])
    return said[1] if said and not AS_SHOWN.fullmatch(said[1]) else ""


def _encoding(head: str) -> str:
    said = CODING.match(head)
    if said is None or not AS_SHOWN.fullmatch(said[1]):
        return UTF8
    try:
        "".encode(said[1])
    except LookupError:
        return UTF8
    return UTF8 if said[1].lower().replace("_", "-") == "utf-8-sig" else said[1]
