"""Mutates JavaScript by its tokens, one mutation at a time. Pure: text in, texts out.

Comments, templates and regular expressions are never changed, strings only as a whole. What is ambiguous (a slash after a brace, the end of a
`return`) is skipped, or the whole file is.
"""

import re
from collections.abc import Collection, Iterator
from functools import partial

from detent.evidence.mutate.spot import Spot
from detent.evidence.source.js_tokens import BEFORE_VALUE, JsToken, UnclearScript, is_operand, tokenize

SWAPPED = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "**": "*", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "true": "false", "false": "true",
}  # fmt: skip
BINARY = frozenset({"*", "/", "%", "**"})  # mutated only after an operand, since a star also marks generators and imports
BEFORE_STAR = frozenset({"function", "yield", "import", "export", "static", "async", "get", "set", *BEFORE_VALUE})
GOES_ON = frozenset(  # tokens that continue an expression on the next line
    {"+", "-", "*", "/", "%", "**", ".", "?.", ",", "?", ":", "(", "[", "=", "==", "===", "!=", "!==", "<", ">", "<=", ">=",
     "&&", "||", "??", "&", "|", "^", "<<", ">>", ">>>", "=>", "in", "instanceof"}
)  # fmt: skip


def spots(text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """The places in a module, or on these lines of it, that can be mutated, in order; none if it cannot be tokenized."""
    try:
        tokens = tokenize(text)
    except UnclearScript:
        return
    for i, token in enumerate(tokens):
        for start, end, new in _changes(tokens, i, token):
            line = text.count("\n", 0, start) + 1
            if lines is None or line in lines:
                old = text[start:end]
                whole = f"{new} && ({old})" if "\n" in old else new  # keep the line count
                yield Spot(line, partial("{}{}{}".format, text[:start], whole, text[end:]))


# -- finding mutations ---------------------------------------------------------------------------------------------------------

Change = tuple[int, int, str]  # start, end, replacement


def _changes(tokens: list[JsToken], i: int, token: JsToken) -> Iterator[Change]:
    before = tokens[i - 1] if i else JsToken("sign", ";", 0)
    if before.text in (".", "?."):
        return  # a member name
    if token.kind == "number":
        yield from ((token.at, token.end, new) for new in _numbers(token.text))
    elif token.kind == "string" and len(token.text) > 2 and not _is_needed(tokens, i):
        yield token.at, token.end, token.text[0] * 2
    elif token.kind == "name" and token.text == "return":
        yield from _return(tokens, i)
    elif token.text in SWAPPED and token.kind in ("sign", "name") and _may_swap(token, before):
        yield token.at, token.end, f" {SWAPPED[token.text]} " if token.text in "+-" else SWAPPED[token.text]


def _may_swap(token: JsToken, before: JsToken) -> bool:
    if token.text not in BINARY:
        return True
    return is_operand(before) and before.text != "}" and before.text not in BEFORE_STAR


def _numbers(text: str) -> Iterator[str]:
    """A plain number plus one and minus one."""
    if re.fullmatch(r"0|[1-9][\d_]*n?", text):
        value, big = int(text.rstrip("n")), "n" if text.endswith("n") else ""
        yield f"{value + 1}{big}"
        if value > 0:
            yield f"{value - 1}{big}"
    elif re.fullmatch(r"\d+\.\d+", text):
        yield f"{float(text) + 1}"


def _is_needed(tokens: list[JsToken], i: int) -> bool:
    """Whether a module needs this string to load: an import, or `use strict`."""
    last = [token.text for token in tokens[max(0, i - 3) : i]]
    asks = last[-1:] in (["from"], ["import"]) or last[-2:] in (
        ["require", "("],
        ["import", "("],
        ["resolve", "("],
        ["type", ":"],
        ["URL", "("],
    )
    return asks or tokens[i].text[1:-1] == "use strict"


def _return(tokens: list[JsToken], i: int) -> Iterator[Change]:
    """Return `undefined` instead, if it is clear where the returned expression ends."""
    if _is_key(tokens, i):
        return
    depth = 0
    for j in range(i + 1, len(tokens)):
        token, last = tokens[j], tokens[j - 1]
        ends_here = depth == 0 and (token.text in (";", "}") and token.kind == "sign")
        ends_before = (
            depth == 0 and token.new_line and (j == i + 1 or (is_operand(last) and token.text not in GOES_ON and token.kind != "masked"))
        )
        if ends_here or ends_before:
            if j > i + 1 and (j > i + 2 or last.text != "undefined"):
                yield tokens[i + 1].at, last.end, "undefined"
            return
        if token.kind == "sign":
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)


def _is_key(tokens: list[JsToken], i: int) -> bool:
    """Whether a word is a property or method name: `return: 1`, `return() { … }`."""
    depth = 0
    for j in range(i + 1, len(tokens)):
        if tokens[j].kind == "sign":
            depth += {"(": 1, ")": -1}.get(tokens[j].text, 0)
        if depth == 0:
            after = tokens[j + 1].text if j + 1 < len(tokens) else ""
            return tokens[j].text == ":" or (tokens[i + 1].text == "(" and tokens[j].text == ")" and after == "{")
    return False
