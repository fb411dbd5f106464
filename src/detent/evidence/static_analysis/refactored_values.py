"""What a refactoring brings that none needs: another number, one more condition, a comparison or a check that asks for less. Pure.

A refactoring answers as before. Undoing one leaves all tests passing, an honest one as well, so what was undone shows nothing here: whether tests
notice the new value itself is tried by others.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from detent.evidence.mutate.arid import is_arid_line
from detent.evidence.source.code_tokens import tokens
from detent.evidence.source.diff import Hunk, hunks
from detent.evidence.static_analysis.weaker_code import weaker

COMMENT = re.compile(r"^\s*(?:#(?!!?\[)|//|\*|/\*|--\s|\"\"\"|''')")
ASKS = re.compile(r"^\s*[})]*\s*(?:else\s+)?(?:if|elif|elsif|unless|guard|when|case|while)\b|\S\s+(?:if|unless)\s")
COMPARES = re.compile(r"\s[<>]=?\s|[=!]==?")
NUMBER = re.compile(r"\d[\d_]*")
PLAIN = frozenset("012")  # indices and steps, which any code has


class NewValue(NamedTuple):
    """A line of a refactoring that may decide otherwise than before."""

    path: str
    line: int
    before: str
    after: str
    what: str = ""  # what it no longer asks, in words; empty: whether a test notices its values can be tried


def new_values(patch: bytes, is_code: Callable[[str], bool]) -> list[NewValue]:
    """The lines of a patch with a number or a condition that it did not just move, and those that ask for less by their form."""
    found = [_without_comments(hunk) for hunk in hunks(patch) if is_code(hunk.path)]
    removed, new = [line for hunk in found for line in hunk.removed], [line for hunk in found for line in hunk.new]
    more = _numbers(new) - _numbers(removed)
    fresh = frozenset(more) - frozenset(_numbers(removed)) - PLAIN
    asks = sum(map(_asks, new)) > sum(map(_asks, removed))
    moved = {line.strip() for line in removed}
    return [value for hunk in found for value in _of(hunk, more, fresh, asks, moved, new)]


def still_there(value: NewValue, text: str) -> int:
    """The number of the line where a value stands in a later text of its file; 0 if it is gone."""
    rows, wanted = [line.strip() for line in text.split("\n")], [line.strip() for line in value.after.split("\n")]
    places = [n + 1 for n in range(len(rows)) if rows[n : n + len(wanted)] == wanted]
    return min(places, key=lambda n: abs(n - value.line), default=0)


def _of(hunk: Hunk, more: Counter[str], fresh: frozenset[str], asks: bool, moved: set[str], new: list[str]) -> Iterator[NewValue]:
    before = "\n".join(line for line in hunk.removed if line.strip())
    if hunk.new and (less := weaker(hunk.removed, hunk.new, new)):
        yield NewValue(hunk.path, hunk.at, before, "\n".join(hunk.new), less)
        return
    for at, line in enumerate(hunk.new):
        here = set(_numbers([line]))
        decides = here & set(more) and (_asks(line) or COMPARES.search(line) or _is_the_same_line(line, hunk.removed))
        if line.strip() not in moved and not is_arid_line(line) and (here & fresh or decides or (asks and _asks(line))):
            yield NewValue(hunk.path, hunk.at + at, before, line)


def _without_comments(hunk: Hunk) -> Hunk:
    """The hunk with empty lines in the place of comments."""
    removed, new = (tuple("" if COMMENT.match(line) else line for line in side) for side in (hunk.removed, hunk.new))
    return hunk._replace(removed=removed, new=new if any(new) else ())


def _asks(line: str) -> bool:
    return ASKS.search(line) is not None


def _numbers(lines: Iterable[str]) -> Counter[str]:
    return Counter(token.replace("_", "") for line in lines for token in tokens(line) if NUMBER.fullmatch(token))


def _is_the_same_line(line: str, removed: Iterable[str]) -> bool:
    """Whether the line stood there with another number."""
    bare = NUMBER.sub("0", line.strip())
    return any(NUMBER.sub("0", was.strip()) == bare for was in removed)
