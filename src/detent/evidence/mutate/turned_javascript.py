"""Tests of JavaScript turned round, by their tokens: what an assertion expects becomes a list that no honest answer is equal to."""

from typing import NamedTuple

from detent.evidence.mutate.javascript import Token, Unclear, tokenize

EXPECTED = {"equal": 1, "strictEqual": 1, "deepEqual": 1, "deepStrictEqual": 1, "toBe": 0, "toEqual": 0, "toStrictEqual": 0}
TESTS = frozenset({"test", "it"})
UNSURE = frozenset(
    {"if", "else", "switch", "while", "catch", "expect", "throws", "rejects"}
)  # a test need not come to what is inside, or it is there to fail
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")


class Call(NamedTuple):
    """An open bracket: whose it is, where it stands, the commas at its own depth."""

    callee: str  # a function's name; of a block, the word before it
    at: int
    commas: list[int]
    name: str  # its first argument, if that is a text


class Change(NamedTuple):
    """A piece of the text, and the test that it stands in."""

    start: int
    end: int
    test: str


def turned(text: str) -> tuple[str, frozenset[str]]:
    """The text with each expectation turned, and the names of the tests that have one. Nothing is turned in what cannot be read."""
    try:
        found = _changes(tokenize(text))
    except Unclear:
        return text, frozenset()
    made, names, before = text, set(), len(text)
    for change in sorted(found, reverse=True):
        if change.test and change.end <= before:
            made = f"{made[: change.start]}[{made[change.start : change.end].strip()}, 'turned round']{made[change.end :]}"
            names.add(change.test)
            before = change.start
    return made, frozenset(names)


def _changes(tokens: list[Token]) -> list[Change]:
    stack: list[Call] = []
    found, closed = [], ""
    for i, token in enumerate(tokens):
        if token.text in OPEN and token.kind == "sign":
            stack.append(_call(tokens, i, closed))
        elif token.text == "," and stack:
            stack[-1].commas.append(i)
        elif token.text in CLOSE and token.kind == "sign" and stack:
            call = stack.pop()
            closed = call.callee
            span = _expected(tokens, call, i)
            found += [Change(*span, _test(stack))] if span else []
    return found


def _call(tokens: list[Token], i: int, closed: str) -> Call:
    before = tokens[i - 1] if i else None
    named = before is not None and before.kind == "name" and tokens[i].text in ("(", "{")
    callee = before.text if before and named else closed if before and before.text == ")" and tokens[i].text == "{" else ""
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    return Call(callee, i, [], after.text[1:-1] if after and after.kind == "string" else "")


def _expected(tokens: list[Token], call: Call, close: int) -> tuple[int, int] | None:
    """Where the argument stands that says what is expected."""
    if call.callee not in EXPECTED or tokens[call.at - 2].text not in (".", "?.") or tokens[call.at - 3].text == "not":
        return None
    edges = [call.at, *call.commas, close]
    n = EXPECTED[call.callee]
    if n + 1 >= len(edges) or edges[n] + 1 == edges[n + 1] or tokens[edges[n] + 1].text == "...":
        return None
    return tokens[edges[n]].end, tokens[edges[n + 1]].at


def _test(stack: list[Call]) -> str:
    """The test that a place lies in, if every run of that test comes to it."""
    at = next((n for n in range(len(stack) - 1, -1, -1) if stack[n].callee in TESTS and stack[n].name), -1)
    return stack[at].name if at >= 0 and not any(call.callee in UNSURE for call in stack[at:]) else ""
