"""The tokens of JavaScript and TypeScript, without comments. Pure: text in, tokens out.

Templates and regular expressions are single tokens. Ambiguous code, such as a slash after a brace, raises `UnclearScript`.
"""

import re
from typing import NamedTuple

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
BEFORE_BLOCK = frozenset({"if", "while", "for", "with"})


class JsToken(NamedTuple):
    """A token and its position."""

    kind: str  # name, number, string, sign, or masked: a template or a regular expression
    text: str
    at: int
    new_line: bool = False  # the first token on its line

    @property
    def end(self) -> int:
        return self.at + len(self.text)


class UnclearScript(Exception):
    """The text cannot be split into tokens for certain."""


def tokenize(text: str) -> list[JsToken]:
    """The tokens of a module without comments."""
    tokens: list[JsToken] = []
    opened: list[bool] = []  # of each open parenthesis: whether a statement follows it
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
    if text[at] == "/" and (after_block or not is_operand(before)):
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


def is_operand(token: JsToken | None) -> bool:
    """Whether a value can end with this token."""
    if token is None:
        return False
    if token.kind == "sign":
        return token.text in (")", "]", "}")
    return token.kind != "name" or token.text not in BEFORE_VALUE


def _template_end(text: str, at: int) -> int:
    """The end of a template, including its `${…}`."""
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
