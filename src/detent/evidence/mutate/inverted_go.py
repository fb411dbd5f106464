"""Inverts the expectations of Go tests by their text: the condition of `if got != want { t.Error… }`, and testify assertions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.splice import Splice, spliced
from detent.evidence.mutate.textual import blanked

TEST = re.compile(r"^func\s+(?P<name>Test\w*)\s*\(\s*(?P<t>\w+)\s+\*testing\.T\s*\)\s*\{", re.MULTILINE)
HEAD = re.compile(r"\bif\b(?P<head>[^{}\n]*)\{")
FAILS = r"\b(?:t|tt|tb|T\(\)|{t})\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\("
LEAVES = re.compile(r"\b(?:return|continue|break|goto)\b|\.Skip(?:f|Now)?\(")
LITERAL = re.compile(r"(?P<op>!=)\s*(?P<value>-?\d+(?:\.\d+)?|\"[^\"\n]*\"|true|false)\s*\Z")
PAIRS = (
    ("Equal", "NotEqual"), ("NoError", "Error"), ("Nil", "NotNil"), ("True", "False"), ("Contains", "NotContains"), ("Empty", "NotEmpty"),
    ("Zero", "NotZero"), ("ErrorIs", "NotErrorIs"), ("Panics", "NotPanics"), ("Same", "NotSame"), ("Regexp", "NotRegexp"),
)  # fmt: skip
CONTRARY = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
TESTIFY = re.compile(rf"\b(?:assert|require)\.(?P<name>{'|'.join(CONTRARY)})(?P<f>f?)\(")


class GoExpectation(NamedTuple):
    """The offset of an expectation, and the splices that invert it."""

    at: int
    splice: tuple[Splice, ...]


def inverted(text: str, key: bytes = b"") -> tuple[str, frozenset[str]]:
    """The text with inverted expectations, those that every run of their test reaches, and the names of these tests."""
    blank, rng = blanked(".go", text), KeyedRandom(key, text)
    every, names = list[Splice](), set[str]()
    for test in TEST.finditer(blank):
        end = _closes(blank, test.end())
        fails = FAILS.replace("{t}", test["t"])
        for found in _expectations(text, blank, (test.end(), end), fails, rng):
            if _is_reached(blank, test.end(), found.at, fails):
                every += found.splice
                names.add(test["name"])
    return spliced(text, tuple(every)), frozenset(names)


def _expectations(text: str, blank: str, span: tuple[int, int], fails: str, rng: KeyedRandom) -> Iterator[GoExpectation]:
    for head in HEAD.finditer(blank, *span):
        body = blank[head.end() : _closes(blank, head.end())]
        if re.match(rf"[^{{}}]*?{fails}", body) and not re.search(r"\belse\s*\Z", blank[: head.start()]):
            from_, to = head.start("head") + head["head"].rfind(";") + 1, head.end("head")
            yield GoExpectation(head.start(), tuple(_negated(text, from_, to, rng)))
    for call in TESTIFY.finditer(blank, *span):
        yield GoExpectation(call.start(), (Splice(call.start("name"), call.end("name"), CONTRARY[call["name"]]),))


def _negated(text: str, start: int, end: int, rng: KeyedRandom) -> Iterator[Splice]:
    """Replace a literal by another one that looks the same, else negate the condition."""
    condition = text[start:end]
    if "&&" not in condition and "||" not in condition and (found := LITERAL.search(condition)):
        value = found["value"]
        new = rng.literal(value.removeprefix("-"))
        if new is not None:
            yield Splice(start + found.start("value") + value.startswith("-"), start + found.end("value"), new)
            return
    start += len(condition) - len(condition.lstrip())
    yield from (Splice(start, start, "!("), Splice(start + len(condition.strip()), start + len(condition.strip()), ")"))


def _is_reached(blank: str, start: int, at: int, fails: str) -> bool:
    """Whether every run of a test reaches an offset: only loops and functions are around it, and no conditional exit comes before it."""
    opened = list[tuple[str, int]]()
    for n in range(start, at):
        if blank[n] == "{":
            opened.append((blank[blank.rfind("\n", 0, n) + 1 : n], n))
        elif blank[n] == "}" and opened:
            head, begun = opened.pop()
            if _is_condition(head) and LEAVES.search(blank, begun, n) and not re.search(fails, blank[begun:n]):
                return False
    return not any(_is_condition(head) for head, _ in opened)


def _is_condition(head: str) -> bool:
    return re.search(r"\b(?:if|else|switch|select|case)\b", head) is not None


def _closes(blank: str, at: int) -> int:
    """The end of the block that starts at this offset."""
    depth = 1
    for n in range(at, len(blank)):
        depth += (blank[n] == "{") - (blank[n] == "}")
        if depth == 0:
            return n
    return len(blank)
