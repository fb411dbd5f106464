"""Which tests of a JavaScript file are rows of one table: `it.each`, or a loop or helper that calls `it` with a computed title. Pure.

A report names a row only by its title. Here each call that makes tests becomes a pattern of titles, including those of its groups. If two calls
could have made a test, neither is named.
"""

import re
from typing import NamedTuple

from detent.evidence.source.js_tokens import JsToken, UnclearScript, tokenize
from detent.evidence.source.test_ids import NUMBERED, SCRIPT, readable

TESTS = frozenset({"it", "test", "specify", "fit", "xit"})
GROUPS = frozenset({"describe", "suite", "context", "fdescribe", "xdescribe"})
MADE_BY = frozenset({"each", "for"})  # `it.each(rows)(title, …)`, and vitest's `it.for`
NO_TEST = frozenset({"before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll", "extend", "use", "step", "skipIf", "runIf", "setTimeout"})  # fmt: skip
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")
HOLE = re.compile(r"%[sdifjoOpc#$%]|\$(?:#|\{[^}]*\}|[A-Za-z_$][\w$.]*)")
ANY = "\0"  # stands for any text that a row inserts


class TitlePattern(NamedTuple):
    """A call that makes tests."""

    of: re.Pattern[str]  # the titles it can make, including those of its groups
    certain: int  # how many letters of the titles are literal
    is_table: bool  # it can make more than one
    text: str = ""  # its rows and its body, without its title


class OpenBracket(NamedTuple):
    """A bracket that is not closed yet."""

    at: int
    title: str | None = None  # of the group or test that it makes, with `ANY` for computed parts
    is_test: bool = False
    is_each: bool = False


def tables(path: str, text: str) -> tuple[TitlePattern, ...]:
    """Every call of a file that makes tests; none if it cannot be parsed or is in another language."""
    try:
        return _patterns(text, tokenize(text)) if path.endswith(SCRIPT) else ()
    except UnclearScript:
        return ()


def made_by(test: str, found: tuple[TitlePattern, ...]) -> int | None:
    """The number of the call that made a test; None if it is not certain."""
    name = NUMBERED.sub("", readable(test)).partition("::")[2]
    fits = [n for n, each in enumerate(found) if each.of.fullmatch(name)]
    most = max((found[n].certain for n in fits), default=0)
    best = [n for n in fits if found[n].certain == most]
    return best[0] if len(best) == 1 else None


def table_of(test: str, found: tuple[TitlePattern, ...]) -> int | None:
    """The number of the call that made a test, if that is a table."""
    number = made_by(test, found)
    return number if number is not None and found[number].is_table else None


def _patterns(text: str, tokens: list[JsToken]) -> tuple[TitlePattern, ...]:
    found: list[TitlePattern] = []
    stack: list[tuple[OpenBracket, int]] = []  # with the index of its pattern, or -1
    each_ends = set[int]()  # the tokens that end an `it.each(…)`
    for i, token in enumerate(tokens):
        if token.kind == "masked" and token.text.startswith("`") and _chain(tokens, i)[-1:] and _chain(tokens, i)[-1] in MADE_BY:
            each_ends.add(i)
        if token.kind != "sign":
            continue
        if token.text in OPEN:
            opened = _opened(tokens, i, each_ends)
            stack.append((opened, len(found) if opened.is_test else -1))
            if opened.is_test:
                found.append(_pattern([each.title for each, _ in stack if each.title is not None]))
        elif token.text in CLOSE and stack:
            bracket, number = stack.pop()
            if bracket.is_each:
                each_ends.add(i)
            if number >= 0:
                found[number] = found[number]._replace(text=_text_of_call(text, tokens, bracket.at, i, each_ends))
    return tuple(found)


def _text_of_call(text: str, tokens: list[JsToken], start: int, end: int, each_ends: set[int]) -> str:
    """The text of a call without its title."""
    rows = text[tokens[_rows_begin(tokens, start - 1)].at : tokens[start].at] if start - 1 in each_ends else ""
    titled = tokens[start + 1].kind in ("string", "masked") and tokens[start + 2].text == ","
    return rows + text[tokens[start + 2 if titled else start].end : tokens[end].at]


def _opened(tokens: list[JsToken], i: int, each_ends: set[int]) -> OpenBracket:
    """What a bracket opens: a call that makes tests, a group, or something else."""
    if tokens[i].text != "(":
        return OpenBracket(i)
    by_rows = i - 1 in each_ends
    chain = _chain(tokens, _rows_begin(tokens, i - 1) if by_rows else i)
    if not chain or NO_TEST & {*chain}:
        return OpenBracket(i)
    words = {chain[0], chain[-1]} | ({chain[-2]} if len(chain) > 1 else set())
    if not words & (TESTS | GROUPS):
        return OpenBracket(i)
    if chain[-1] in MADE_BY and not by_rows:
        return OpenBracket(i, is_each=True)
    return OpenBracket(i, _title(tokens, i, by_rows), not words & GROUPS) if _has_two(tokens, i) else OpenBracket(i)


def _has_two(tokens: list[JsToken], i: int) -> bool:
    """Whether a call has more than one argument: `pattern.test(text)` makes no test."""
    depth = 0
    for token in tokens[i:]:
        depth += (token.text in OPEN) - (token.text in CLOSE) if token.kind == "sign" else 0
        if depth == 0 or (depth == 1 and token.text == "," and token.kind == "sign"):
            return depth == 1
    return False


def _rows_begin(tokens: list[JsToken], end: int) -> int:
    """Where the rows of `it.each(…)`, or of its template, begin."""
    if tokens[end].kind == "masked":
        return end
    depth = 0
    for at in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[at].text, 0) if tokens[at].kind == "sign" else 0
        if depth == 0:
            return at
    return 0


def _chain(tokens: list[JsToken], i: int) -> tuple[str, ...]:
    """The dotted names before a token, without type arguments right before it, as in `it.only.each<Row>`."""
    at = i - 1
    if at > 0 and tokens[at].text in (">", ">>"):
        depth = 0
        while at >= 0:
            depth += {">": 1, ">>": 2, "<": -1}.get(tokens[at].text, 0)
            at -= 1
            if depth <= 0:
                break
    names: list[str] = []
    while at >= 0 and tokens[at].kind == "name":
        names.append(tokens[at].text)
        if at < 1 or tokens[at - 1].text not in (".", "?."):
            return tuple(reversed(names))
        at -= 2
    return ()


def _title(tokens: list[JsToken], i: int, by_rows: bool) -> str:
    """The first argument as a title, with `ANY` for what a row or an expression inserts."""
    after = tokens[i + 1 : i + 3]
    if len(after) < 2 or after[1].text not in (",", ")") or after[0].kind not in ("string", "masked"):
        return ANY
    inner = after[0].text[1:-1]
    if after[0].kind == "masked":
        if not after[0].text.startswith("`"):
            return ANY
        inner = _without_holes(inner)
    inner = HOLE.sub(ANY, inner) if by_rows else inner
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), inner)


def _without_holes(template: str) -> str:
    """A template with `ANY` for each `${…}`."""
    made, at = "", 0
    while (start := template.find("${", at)) >= 0:
        made += template[at:start] + ANY
        depth, at = 1, start + 2
        while at < len(template) and depth:
            depth += {"{": 1, "}": -1}.get(template[at], 0)
            at += 1
    return made + template[at:]


def _pattern(titles: list[str]) -> TitlePattern:
    known = [[re.escape(readable(part)) for part in title.split(ANY)] for title in titles]
    path = " > ".join(".*".join(parts) for parts in known)
    certain = sum(len(title.replace(ANY, "")) for title in titles)
    return TitlePattern(re.compile(f"(?:.* > )?{path}", re.DOTALL), certain, any(ANY in title for title in titles))
