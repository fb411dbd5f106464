"""Mutates any language with C-like or Ruby operators by regular expressions: a few mutations, only ones that keep the type. Pure.

Comments and strings are skipped as far as that is simple. A mutant may still not compile, which makes all tests fail and proves nothing:
callers must count only tests that ran and failed.
"""

import re
from collections.abc import Collection, Iterator
from functools import partial

from detent.evidence.mutate.spot import Spot

SWAPPED = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&", "and": "or", "or": "and", "+": "-", "-": "+", "*": "+",
    "true": "false", "false": "true",
}  # fmt: skip
STRINGS = r'"(?:[^"\\\n]|\\.)*"'
CHARS = r"'(?:[^'\\\n]|\\[^\n]{1,8})'"  # a character literal; a lone quote may begin a Rust lifetime
LONG = r"'(?:[^'\\\n]|\\.)*'"
C_LIKE = rf"//[^\n]*|/\*.*?\*/|{STRINGS}|{CHARS}|`[^`]*`"
LEFT_ALONE = {
    ".rb": re.compile(rf"\#[^\n]*|{STRINGS}|{LONG}|^=begin.*?^=end", re.DOTALL | re.MULTILINE),
    ".php": re.compile(rf"//[^\n]*|\#[^\n]*|/\*.*?\*/|{STRINGS}|{LONG}", re.DOTALL),
    **dict.fromkeys((".js", ".mjs", ".cjs"), re.compile(rf"//[^\n]*|/\*.*?\*/|{STRINGS}|{LONG}|`[^`]*`", re.DOTALL)),
    **dict.fromkeys(
        (".go", ".rs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".java", ".kt", ".cs", ".swift", ".ts", ".tsx", ".jsx", ".scala"),
        re.compile(C_LIKE, re.DOTALL),
    ),
}
SPOT = re.compile(
    r"(?<=\s)(?P<sign>==|!=|<=|>=|<|>|&&|\|\||and|or|\+|-|\*)(?=\s)"  # with spaces around: not generics, pointers or signs
    r"|(?<![\w.$])(?P<word>true|false)(?![\w$])"
    r"|(?<![\w.$\"'])(?P<number>\d{1,9})(?![\w.\"'])"
)


def blanked(suffix: str, text: str) -> str:
    """The text with comments and strings blanked, at the same length so that offsets stay valid; empty if the language is unknown."""
    rule = LEFT_ALONE.get(suffix)
    return rule.sub(lambda m: re.sub(r"[^\n]", '"', m[0]), text) if rule else ""


def spots(suffix: str, text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """The places in a file, or on these lines of it, that can be mutated."""
    blank = blanked(suffix, text)
    for spot in SPOT.finditer(blank):
        line = text.count("\n", 0, spot.start()) + 1
        if (lines is None or line in lines) and not _joins_texts(blank, spot):
            new = str(int(spot["number"]) + 1) if spot["number"] else SWAPPED[spot[0]]
            yield Spot(line, partial("{}{}{}".format, text[: spot.start()], new, text[spot.end() :]))


def _joins_texts(blank: str, spot: re.Match[str]) -> bool:
    """Whether a plus joins strings: another operator would not compile."""
    before, after = blank[: spot.start()].rstrip()[-1:], blank[spot.end() :].lstrip()[:1]
    return spot[0] == "+" and '"' in (before, after)
