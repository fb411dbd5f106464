"""Why a text occurs nowhere in a file, or too often: hints for the next try. Pure."""

import difflib
import re

from detent.tools.tool_paths import HIDDEN, shorten

LINES = 20_000  # lines of a file that are compared
PLACES = 10
COMPARED = 50  # lines that are compared character by character
WORD = re.compile(r"\w+")
NUMBERED = re.compile(r"\s*\d+\t")


def occurrences(text: str, old: str, times: int) -> str:
    """The places of a text that occurs more than once."""
    lines, at = [], -1
    for _ in range(min(times, PLACES)):
        at = text.index(old, at + 1)
        lines.append(text.count("\n", 0, at) + 1)
    more = f" and {times - PLACES} more" if times > PLACES else ""
    return f"{times} times: in lines {', '.join(map(str, lines))}{more}."


def why_missed(text: str, old: str) -> str:
    """The closest thing that is there instead, as far as it can be told."""
    have, want = _lines(text)[:LINES], _lines(old)
    if all(NUMBERED.match(line) for line in want):
        return "It begins with the line numbers that Read shows; leave them out, and the tab after them."
    if blank := _but_for_white_space(have, want):
        return blank
    hidden = "The file contains hidden characters, which Read shows as \\x.. or \\u....; take old_string from a part without them. "
    return (hidden if HIDDEN.search(text.replace("\r\n", "")) else "") + _nearest(have, want)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _but_for_white_space(have: list[str], want: list[str]) -> str:
    """The place that differs in white space only, and how."""
    squeezed = [" ".join(line.split()) for line in want]
    if not any(squeezed):
        return "It contains only white space."
    lines = [" ".join(line.split()) for line in have]
    for first in range(len(lines) - len(squeezed) + 1 if len(want) <= LINES // 10 else 0):
        if lines[first] == squeezed[0] and lines[first : first + len(squeezed)] == squeezed:
            pairs = zip(range(first, first + len(want)), want, strict=True)
            differing = next(((n, line) for n, line in pairs if have[n] != line), (first, want[0]))
            return f"Except for white space it is at line {first + 1}: {_difference(differing[0] + 1, have[differing[0]], differing[1])}"
    return ""


def _difference(number: int, have: str, want: str) -> str:
    here, there = have[: len(have) - len(have.lstrip())], want[: len(want) - len(want.lstrip())]
    if here != there:
        return f"line {number} begins with {_counted(here)} in the file, and with {_counted(there)} in old_string."
    if have.rstrip() == want.rstrip() and have != want:
        return f"line {number} ends with {_counted(have[len(have.rstrip()) :])} in the file, and with {_counted(want[len(want.rstrip()) :])} in old_string."
    if have == want:
        return "the line end after it differs."
    return f"line {number} has other white space between its words: {shorten(repr(have), 300)}."


def _counted(blank: str) -> str:
    names = {" ": "space", "\t": "tab"}
    counts = [(blank.count(sign), name) for sign, name in names.items()]
    counts.append((len(blank) - sum(n for n, _ in counts), "other blank"))
    return " and ".join(f"{n} {name}{'s' * (n > 1)}" for n, name in counts if n) or "nothing"


def _nearest(have: list[str], want: list[str]) -> str:
    """The lines most similar to the first line of the missing text."""
    first = next((line.strip() for line in want if line.strip()), "")[:300]
    stripped = [line.strip()[:300] for line in have]
    words = set(WORD.findall(first))
    likely = sorted(set(stripped) - {""}, key=lambda s: (-len(words.intersection(WORD.findall(s))), abs(len(s) - len(first)), s))[:COMPARED]
    close = difflib.get_close_matches(first, likely, n=3, cutoff=0.6)
    numbers = sorted(stripped.index(each) for each in close)
    if not numbers:
        return "No line is like its first one. Read the file again."
    return "The lines most like its first one:\n" + "\n".join(f"{n + 1:6}\t{shorten(have[n], 300)}" for n in numbers)
