"""The tokens of one line of code in any language, and which of them another line lacks. Pure."""

import re
from collections.abc import Sequence

TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|\w+[?!]?|&&|\|\||\?\?|[=!<>]=+|[^\w\s]")
REMARK = re.compile(r"\s(?:#|//)\s.*$")


FILLED = re.compile(r"[#$]\{([^{}]*)\}")  # an interpolation in a string


def tokens(line: str) -> list[str]:
    """The tokens of a line without its trailing comment. Interpolations in strings are code."""
    return TOKEN.findall(FILLED.sub(r'" \1 "', REMARK.sub("", line)))


def left_out(a: Sequence[str], b: Sequence[str]) -> list[str]:
    """The tokens of `a` that `b` lacks, if `b` is `a` without some tokens; else nothing."""
    left, at = list[str](), 0
    for token in a:
        if at < len(b) and token == b[at]:
            at += 1
        else:
            left.append(token)
    return left if at == len(b) else []
