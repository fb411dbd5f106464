"""Small mutations of JavaScript, one at a time, by its tokens. Pure: text in, texts out.

Comments, templates and regular expressions are tokens that are never changed, strings only as a whole. What cannot be told for certain
(a slash after a brace, where a `return` ends) is left alone, or the whole file is.
"""

import re
from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

from detent.evidence.mutate.spot import Spot

SWAPPED = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "**": "*", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "true": "false", "false": "true",
}  # fmt: skip
BINARY = frozenset({"*", "/", "%", "**"})  # mutated only after an operand: a star also marks generators and imports
NAME = r"[A-Za-z_$#@\u0080-\uffff][\w$\u0080-\uffff]*"
SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
TOKEN = re.compile(
    rf"(?P<name>{NAME})|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)"
    r"|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<sign>>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|\*\*|[{}()\[\];,<>+\-*/%&|^!~?:=.])",
    re.DOTALL,
)  # fmt: skip
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/\w*")
BEFORE_VALUE = frozenset(
    {
        "return",
        "typeof",
        "instanceof",
        "in",
        "of",
        "new",
        "delete",
        "void",
        "throw",
        "case",
        "do",
        "else",
        "yield",
        "await",
        "default",
        "extends",
    }
)
BEFORE_STAR = frozenset({"function", "yield", "import", "export", "static", "async", "get", "set", *BEFORE_VALUE})
BEFORE_BLOCK = frozenset({"if", "while", "for", "with"})
GOES_ON = frozenset(  # what continues an expression on the next line
    {"+", "-", "*", "/", "%", "**", ".", "?.", ",", "?", ":", "(", "[", "=", "==", "===", "!=", "!==", "<", ">", "<=", ">=",
     "&&", "||", "??", "&", "|", "^", "<<", ">>", ">>>", "=>", "in", "instanceof"}
)  # fmt: skip


class JsToken(NamedTuple):
    """A piece of code and where it begins."""

    kind: str  # name, number, string, sign, or masked: a template or a regular expression
    text: str
    at: int
    new_line: bool = False  # it is the first on its line

    @property
    def end(self) -> int:
        return self.at + len(self.text)


class UnclearScript(Exception):
    """The text cannot be taken apart for certain."""


def spots(text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """Every place of a module, or of these lines of it, in the order of its text; none if it cannot be taken apart."""
    try:
        tokens = tokenize(text)
    except UnclearScript:
        return
    for i, token in enumerate(tokens):
        for start, end, new in _changes(tokens, i, token):
            line = text.count("\n", 0, start) + 1
            if lines is None or line in lines:
                old = text[start:end]
                whole = f"{new} && ({old})" if "\n" in old else new  # what has several lines keeps them
                yield Spot(line, partial("{}{}{}".format, text[:start], whole, text[end:]))


# Taking apart.


def tokenize(text: str) -> list[JsToken]:
    """The tokens of a module without comments."""
    tokens: list[JsToken] = []
    opened: list[bool] = []  # of each open parenthesis: whether a statement follows it, not an operand
    after_block = False
    at = text.find("\n") if text.startswith("#!") else 0
    while True:
        space = SPACE.match(text, at) if at >= 0 else None
        new_line = not tokens or (space is not None and "\n" in space[0])
        at = space.end() if space else at
        if at < 0 or at >= len(text):
            return tokens
        before = tokens[-1] if tokens else None
        token = _next(text, at, before, after_block)._replace(new_line=new_line)
        if token.text == "(" and token.kind == "sign":
            opened.append(before is not None and before.text in BEFORE_BLOCK)
        after_block = token.text == ")" and token.kind == "sign" and bool(opened) and opened.pop()
        tokens.append(token)
        at = token.end


def _next(text: str, at: int, before: JsToken | None, after_block: bool) -> JsToken:
    if text[at] == "`":
        return JsToken("masked", text[at : _template_end(text, at)], at)
    if text[at] == "/" and (after_block or not _is_operand(before)):
        found = REGEX.match(text, at)
        if found is None:
            raise UnclearScript
        return JsToken("masked", found[0], at)
    if text[at] == "/" and before is not None and before.text == "}":
        raise UnclearScript
    found = TOKEN.match(text, at)
    if found is None or found.lastgroup is None:
        raise UnclearScript
    return JsToken(found.lastgroup, found[0], at)


def _is_operand(token: JsToken | None) -> bool:
    """Whether a value ends with this token."""
    if token is None:
        return False
    if token.kind == "sign":
        return token.text in (")", "]", "}")
    return token.kind != "name" or token.text not in BEFORE_VALUE


def _template_end(text: str, at: int) -> int:
    """Where a template ends, with whatever its `${…}` hold."""
    at += 1
    while at < len(text):
        if text[at] == "`":
            return at + 1
        if text.startswith("${", at):
            at = _braces_end(text, at + 2)
        else:
            at += 2 if text[at] == "\\" else 1
    raise UnclearScript


def _braces_end(text: str, at: int) -> int:
    depth, before = 1, None
    while depth:
        space = SPACE.match(text, at)
        at = space.end() if space else at
        if at >= len(text):
            raise UnclearScript
        before = _next(text, at, before, False)
        depth += {"{": 1, "}": -1}.get(before.text, 0) if before.kind == "sign" else 0
        at = before.end
    return at


# Changing.

Change = tuple[int, int, str]  # from, to, what stands there instead


def _changes(tokens: list[JsToken], i: int, token: JsToken) -> Iterator[Change]:
    before = tokens[i - 1] if i else JsToken("sign", ";", 0)
    if before.text in (".", "?."):
        return  # the name of a member
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
    return _is_operand(before) and before.text != "}" and before.text not in BEFORE_STAR


def _numbers(text: str) -> Iterator[str]:
    """One more and one less; only of plain numbers."""
    if re.fullmatch(r"0|[1-9][\d_]*n?", text):
        value, big = int(text.rstrip("n")), "n" if text.endswith("n") else ""
        yield f"{value + 1}{big}"
        if value > 0:
            yield f"{value - 1}{big}"
    elif re.fullmatch(r"\d+\.\d+", text):
        yield f"{float(text) + 1}"


def _is_needed(tokens: list[JsToken], i: int) -> bool:
    """Whether a module would not load without this string: what it imports and how, and what makes it strict."""
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
    """`undefined` instead of what is returned, where it is clear where that ends."""
    if _is_key(tokens, i):
        return
    depth = 0
    for j in range(i + 1, len(tokens)):
        token, last = tokens[j], tokens[j - 1]
        ends_here = depth == 0 and (token.text in (";", "}") and token.kind == "sign")
        ends_before = (
            depth == 0 and token.new_line and (j == i + 1 or (_is_operand(last) and token.text not in GOES_ON and token.kind != "masked"))
        )
        if ends_here or ends_before:
            if j > i + 1 and (j > i + 2 or last.text != "undefined"):
                yield tokens[i + 1].at, last.end, "undefined"
            return
        if token.kind == "sign":
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)


def _is_key(tokens: list[JsToken], i: int) -> bool:
    """Whether a word is the name of a property or method: `return: 1`, `return() { … }`."""
    depth = 0
    for j in range(i + 1, len(tokens)):
        if tokens[j].kind == "sign":
            depth += {"(": 1, ")": -1}.get(tokens[j].text, 0)
        if depth == 0:
            after = tokens[j + 1].text if j + 1 < len(tokens) else ""
            return tokens[j].text == ":" or (tokens[i + 1].text == "(" and tokens[j].text == ")" and after == "{")
    return False
