"""Source bytes as text and back, in the encoding that the file declares (`# -*- coding: latin-1 -*-`). Pure.

A mutated file must differ from the original only by its mutation, so decoding and encoding must give back the same bytes.
"""

import re

CODING = re.compile(
    r"^\ufeff?(?:#[^\n]*\n|[ \t\f]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
)  # where Python and Ruby look for it: in the first two lines
AS_SHOWN = re.compile(
    r"utf[-_]?8(?:[-_]sig)?|u8|(?:us[-_]?)?ascii|latin[-_]?1|l1|iso[-_]?8859[-_]\d+|(?:cp|windows[-_])125\d|cp(?:437|850|866|932|936|949|950)"
    r"|euc[-_]\w+|s(?:hift)?[-_]?jis\w*|gb\w+|big5\w*|koi8[-_]\w",
    re.IGNORECASE,
)  # encodings in which letters, quotes and line ends are as in ASCII
HEAD = 400  # bytes searched for the declaration
UTF8 = "utf-8"


def text_of(data: bytes) -> str:
    """The text of a file; bytes that are invalid in its encoding are replaced."""
    return data.decode(_encoding(data[:HEAD].decode("latin-1")), "replace")


def bytes_of(text: str) -> bytes:
    """The bytes of a file with this text."""
    return text.encode(_encoding(text[:HEAD]), "replace")


def other_encoding(text: str) -> str:
    """The declared encoding, if letters and quotes are not as in ASCII, such as `unicode_escape`; else empty."""
    declared = CODING.match(text[:HEAD])
    return declared[1] if declared and not AS_SHOWN.fullmatch(declared[1]) else ""


def _encoding(head: str) -> str:
    declared = CODING.match(head)
    if declared is None or not AS_SHOWN.fullmatch(declared[1]):
        return UTF8
    try:
        "".encode(declared[1])
    except LookupError:
        return UTF8
    return UTF8 if declared[1].lower().replace("_", "-") == "utf-8-sig" else declared[1]
