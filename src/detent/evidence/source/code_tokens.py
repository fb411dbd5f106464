"""The tokens of one line of code in any language, and what a line lost of those of another one. Pure."""

import re
from collections.abc import Sequence

TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|\w+[?!]?|&&|\|\||[=!<>]=+|[^\w\s]")
REMARK = re.compile(r"\s(?:#|//)\s.*$")


FILLED = re.compile(r"[#$]\{([^{}]*)\}")  # what a text puts in


def tokens(line: str) -> list[str]:
    """The tokens of a line without the remark at its end. What a text puts in is code."""
    return TOKEN.findall(FILLED.sub(r'" \1 "', REMARK.sub("", line)))


def left_out(a: Sequence[str], b: Sequence[str]) -> list[str]:
    """What of `a` is not in `b`, where `b` is `a` without some tokens; else nothing."""
    left, at = list[str](), 0
    for token in a:
        if at < len(b) and token == b[at]:
            at += 1
        else:
            left.append(token)
    return left if at == len(b) else []
