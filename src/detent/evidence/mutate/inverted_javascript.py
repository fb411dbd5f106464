"""Inverts the expectations of JavaScript tests by their tokens: an expected value becomes another that looks the same, or the assertion is negated."""

from itertools import pairwise
from typing import NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.splice import Splice, spliced
from detent.evidence.source.js_tokens import JsToken, UnclearScript, tokenize

EXPECTED = {"equal": 1, "strictEqual": 1, "deepEqual": 1, "deepStrictEqual": 1, "toBe": 0, "toEqual": 0, "toStrictEqual": 0, "eql": 0}
PAIRS = (("throws", "doesNotThrow"), ("rejects", "doesNotReject"), ("match", "doesNotMatch"))  # in node's assert
CONTRARY = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])} | {
    "notEqual": "equal", "notStrictEqual": "strictEqual", "notDeepEqual": "deepEqual", "notDeepStrictEqual": "deepStrictEqual"
}  # fmt: skip
NEGATED = frozenset(
    {"toThrow", "toThrowError", "throw", "toContain", "toContainEqual", "toMatch", "toMatchObject", "toHaveLength", "toHaveProperty", "toBeTruthy",
     "toBeFalsy", "toBeNull", "toBeUndefined", "toBeDefined", "toBeNaN", "toBeInstanceOf", "toBeGreaterThan", "toBeGreaterThanOrEqual",
     "toBeLessThan", "toBeLessThanOrEqual", "toBeCloseTo", "toBeTypeOf"}
)  # fmt: skip
TESTS = frozenset({"test", "it"})
UNSURE = frozenset(
    {"if", "else", "switch", "while", "catch", "expect", "throws", "rejects"}
)  # code inside these may not be reached, or is meant to fail
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")
WRITTEN = frozenset({"true", "false", "null", "undefined"})
WAITS = frozenset({"await", "return", "=>"})


class OpenCall(NamedTuple):
    """An open bracket: what it belongs to, its token index, and the commas at its depth."""

    callee: str  # the function's name; for a block, the word before it
    at: int
    commas: list[int]
    name: str  # its first argument, if that is a string


class InvertedText(NamedTuple):
    """The splices that invert an expectation, and its test."""

    splices: tuple[Splice, ...]
    test: str


def inverted(text: str, key: bytes = b"") -> tuple[str, frozenset[str]]:
    """The text with inverted expectations, and the names of the tests that have any; unchanged if it cannot be tokenized."""
    try:
        found = [change for change in _changes(text, tokenize(text), KeyedRandom(key, text)) if change.test]
    except UnclearScript:
        return text, frozenset()
    made, before = list[InvertedText](), len(text) + 1
    for change in sorted(found, key=lambda each: each.splices[0], reverse=True):
        if change.splices[-1].end <= before:  # one nested in another is inverted with it
            made.append(change)
            before = change.splices[0].start
    return spliced(text, tuple(splice for change in made for splice in change.splices)), frozenset(change.test for change in made)


def _changes(text: str, tokens: list[JsToken], rng: KeyedRandom) -> list[InvertedText]:
    stack: list[OpenCall] = []
    found, closed, left = [], "", set[str]()
    for i, token in enumerate(tokens):
        if token.text in OPEN and token.kind == "sign":
            stack.append(_call(tokens, i, closed))
        elif token.text == "," and stack:
            stack[-1].commas.append(i)
        elif token.text in ("return", "continue", "break") and _is_conditional(tokens, i, stack, closed):
            left.add(_inside(stack))
        elif token.text in CLOSE and token.kind == "sign" and stack:
            call = stack.pop()
            closed = call.callee
            name = _test(stack)
            splices = _turn(tokens, call, i, rng) if name and name not in left else ()
            found += [InvertedText(splices, name)] if splices else []
    return found


def _call(tokens: list[JsToken], i: int, closed: str) -> OpenCall:
    before = tokens[i - 1] if i else None
    named = before is not None and before.kind == "name" and tokens[i].text in ("(", "{")
    callee = before.text if before and named else closed if before and before.text == ")" and tokens[i].text == "{" else ""
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    return OpenCall(callee, i, [], after.text[1:-1] if after and after.kind == "string" else "")


def _is_conditional(tokens: list[JsToken], i: int, stack: list[OpenCall], closed: str) -> bool:
    """Whether an exit from a test is conditional, so that the code after it may not be reached."""
    return (bool(stack) and stack[-1].callee in ("if", "else", "catch")) or (tokens[i - 1].text == ")" and closed == "if")


def _turn(tokens: list[JsToken], call: OpenCall, close: int, rng: KeyedRandom) -> tuple[Splice, ...]:
    """The splices that invert an assertion."""
    if call.at < 3 or tokens[call.at - 2].text not in (".", "?.") or tokens[call.at - 3].text == "not" or tokens[call.at].text != "(":
        return ()
    name = tokens[call.at - 1]
    if _is_settled(tokens, call, close):
        return ()
    if span := _expected(tokens, call, close):
        return _other(tokens, span, rng)
    if call.callee in NEGATED and _is_expecting(tokens, call.at - 2):
        return (Splice(name.at, name.at, "not."),)
    if (
        call.callee in CONTRARY
        and tokens[call.at - 3].text == "assert"
        and (call.callee not in ("rejects", "doesNotReject") or tokens[call.at - 4].text in WAITS)
    ):
        return (Splice(name.at, name.end, CONTRARY[call.callee]),)
    if call.callee == "ok" and tokens[call.at - 3].text == "assert" and close > call.at + 1:
        end = tokens[call.commas[0]].at if call.commas else tokens[close].at
        start = tokens[call.at].end
        return Splice(start, start, "!("), Splice(end, end, ")")
    return ()


def _is_settled(tokens: list[JsToken], call: OpenCall, close: int) -> bool:
    """Whether an assertion holds whatever the code returns: it contains only literals, or compares something with itself."""
    edges = [call.at, *call.commas, close]
    sides = [[token.text for token in tokens[start + 1 : end]] for start, end in pairwise(edges)]
    asked = tokens[call.at + 1 : close]
    if expecting := _expecting(tokens, call.at - 2):
        within = tokens[slice(*expecting)]
        sides, asked = [[token.text for token in within], *sides], asked + within
    written = not any(token.kind not in ("string", "number", "sign") and token.text not in WRITTEN for token in asked)
    return bool(asked) and (written or (call.callee in EXPECTED and len(sides) > 1 and sides[0] == sides[1]))


def _is_expecting(tokens: list[JsToken], dot: int) -> bool:
    """Whether a member chain begins with `expect(…)`."""
    return _expecting(tokens, dot) is not None


def _expecting(tokens: list[JsToken], dot: int) -> tuple[int, int] | None:
    """The range of tokens inside the `expect(…)` that begins a member chain."""
    at = dot - 1
    while at > 1 and tokens[at].kind == "name" and tokens[at - 1].text == ".":
        at -= 2
    depth, end = 0, at
    while at >= 0:
        depth += {")": 1, "(": -1}.get(tokens[at].text, 0) if tokens[at].kind == "sign" else 0
        if depth == 0:
            return (at + 1, end) if at > 0 and tokens[at - 1].text == "expect" else None
        at -= 1
    return None


def _expected(tokens: list[JsToken], call: OpenCall, close: int) -> tuple[int, int] | None:
    """The first and last token of the argument that holds the expected value."""
    if call.callee not in EXPECTED:
        return None
    edges = [call.at, *call.commas, close]
    n = 0 if EXPECTED[call.callee] == 1 and _is_expecting(tokens, call.at - 2) else EXPECTED[call.callee]
    if n + 1 >= len(edges) or edges[n] + 1 == edges[n + 1] or tokens[edges[n] + 1].text == "...":
        return None
    return edges[n] + 1, edges[n + 1] - 1


def _other(tokens: list[JsToken], span: tuple[int, int], rng: KeyedRandom) -> tuple[Splice, ...]:
    """Replace a literal by another that looks the same; without one, expect a list of the old value and something else."""
    first, last = span
    inside = tokens[first : last + 1]
    plain = not any(token.text in ("(", "=>", "?", "${") or token.kind == "masked" for token in inside)
    for n, token in enumerate(inside):
        alone = len(inside) == 1 or (
            plain
            and inside[0].text in ("[", "{")
            and inside[n - 1].text in ("[", ":", ",")
            and n + 1 < len(inside)
            and inside[n + 1].text in (",", "]", "}")
        )
        if alone and (new := rng.literal(token.text)) is not None:
            return (Splice(token.at, token.end, new),)
    start, end = tokens[first].at, tokens[last].end
    return Splice(start, start, "["), Splice(end, end, f", {rng.one((rng.digits('10'), repr(rng.word())))}]")


def _inside(stack: list[OpenCall]) -> str:
    return next((call.name for call in reversed(stack) if call.callee in TESTS and call.name), "")


def _test(stack: list[OpenCall]) -> str:
    """The test around a place, if every run of that test reaches the place."""
    at = next((n for n in range(len(stack) - 1, -1, -1) if stack[n].callee in TESTS and stack[n].name), -1)
    return stack[at].name if at >= 0 and not any(call.callee in UNSURE for call in stack[at:]) else ""
