"""Small mutations of any language with C's operators or Ruby's, by the text alone: few, and only such as keep a type. Pure.

Comments and strings are left alone as far as that is simple. A mutant may still not compile, so it proves nothing by making everything
fail: whoever uses these counts only tests that ran and failed.
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
CHARS = r"'(?:[^'\\\n]|\\[^\n]{1,8})'"  # one character: a lone quote may begin a lifetime
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
    r"(?<=\s)(?P<sign>==|!=|<=|>=|<|>|&&|\|\||and|or|\+|-|\*)(?=\s)"  # with space around: no generics, no pointers, no signs
    r"|(?<![\w.$])(?P<word>true|false)(?![\w$])"
    r"|(?<![\w.$\"'])(?P<number>\d{1,9})(?![\w.\"'])"
)


def blanked(suffix: str, text: str) -> str:
    """The text with its comments and strings blanked, of the same length, so that places stay the same; empty if that is not known."""
    rule = LEFT_ALONE.get(suffix)
    return rule.sub(lambda m: re.sub(r"[^\n]", '"', m[0]), text) if rule else ""


def spots(suffix: str, text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """Every place of a file of this kind, on these lines only if they are given."""
    blank = blanked(suffix, text)
    for spot in SPOT.finditer(blank):
        line = text.count("\n", 0, spot.start()) + 1
        if (lines is None or line in lines) and not _joins_texts(blank, spot):
            new = str(int(spot["number"]) + 1) if spot["number"] else SWAPPED[spot[0]]
            yield Spot(line, partial("{}{}{}".format, text[: spot.start()], new, text[spot.end() :]))


def _joins_texts(blank: str, spot: re.Match[str]) -> bool:
    """Whether a plus puts texts together: another sign there would not compile."""
    before, after = blank[: spot.start()].rstrip()[-1:], blank[spot.end() :].lstrip()[:1]
    return spot[0] == "+" and '"' in (before, after)
