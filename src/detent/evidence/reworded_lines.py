"""Which lines of a test file were changed or taken out, or were put into a test that was there, in languages that are known by their text. Pure.

A line may come anew outside of older tests; in them only a row of a table. An import may get longer, and a row its comma.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath

from detent.evidence.mutate.textual import blanked

IMPORT = re.compile(
    r"\s*(import\b|from\b|export\b.*\bfrom\b|use\b|using\b|require|#\s*include|(const|let|var)\b.*\brequire\s*\(|\"[\w./-]+\"\s*$)"
)
TEST = re.compile(
    r"\s*((test|it|specify|example|scenario)(\.\w+)*\s*[(\"']"  # JavaScript, RSpec
    r"|(it|specify|example)\b|func\s+(Test|Benchmark|Example|Fuzz)\w*\s*\(|(public\s+)?function\s+test|def\s+test"
    r"|(async\s+)?fn\s+\w+|TEST\w*\s*\(|int\s+(main|test)\w*\s*\(|(public\s+|static\s+)*(void|fun)\s+\w+\s*\()"
)
ROW = re.compile(r"\s*([\[{(].*[\]})],?|[\"'\d-][^;()]*,?)\s*")
SPOILED = re.compile(r";|=>|\breturn\b|\bskip\b", re.IGNORECASE)
OPENS = re.compile(r"\b(do)\b(\s*\|[^|]*\|)?\s*$|^\s*(def|class|module|if|unless|case|begin|while|until)\b")


def changed_lines_of(path: str, old: str, new: str) -> list[str]:
    """The places that differ, each as a line of the new file and what stands there, or as a line that is gone."""
    before, now, found = old.splitlines(), new.splitlines(), list[str]()
    suffix = PurePosixPath(path).suffix
    around = _tests_around(suffix, old)
    for kind, a, b, c, d in SequenceMatcher(None, [x.rstrip() for x in before], [x.rstrip() for x in now], autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        lines = now[c:d]
        gone = [x for x in before[a:b] if x.strip() and not _is_comment(x) and not any(_is_longer(x, y) for y in (*lines, " ".join(lines)))]
        inside = [
            y
            for y in lines
            if around[a] and y.strip() and not _is_comment(y) and not _is_row(y) and not any(_is_longer(x, y) for x in before[a:b])
        ]
        found += [f"{c + 1} (`{x.strip()[:80]}` is gone)" for x in gone[:1]]
        found += [f"{now.index(y, c) + 1} (`{y.strip()[:80]}` came into a test)" for y in inside[:1] if not gone]
    return found


def _is_comment(line: str) -> bool:
    return line.strip().startswith(("//", "#", "/*", "*", "--")) and not line.strip().startswith(
        ("#include", "#[", "#define", "#if", "#end")
    )


def _is_longer(old: str, new: str) -> bool:
    """Whether a line is an older one that got a comma, or an import of everything that the older one imports and more."""
    if new.strip() == f"{old.strip()},":
        return True
    if not (IMPORT.match(old) and IMPORT.match(new)):
        return False
    words = [[word for word in re.findall(r"[\w./@*-]+", re.sub(r"\s(//|#).*", "", each)) if word != "import"] for each in (old, new)]
    rest = iter(words[1])
    renamed = {f"{a} {b}" for a, b in pairwise(words[1]) if a == "as" and b in words[0]} - {f"{a} {b}" for a, b in pairwise(words[0])}
    return not renamed and all(word in rest for word in words[0])


def _is_row(line: str) -> bool:
    return bool(ROW.fullmatch(line)) and not SPOILED.search(line)


def _tests_around(suffix: str, text: str) -> list[bool]:
    """Of each place between two lines, from before the first to after the last: whether it lies inside a test."""
    blank = (blanked(suffix, text) or text).splitlines()
    steps = _by_words(blank) if suffix == ".rb" else _by_braces(blank)
    found, stack = [False], list[bool]()
    for (opened, closed), line in zip(steps, text.splitlines(), strict=True):
        for _ in range(closed):
            if stack:
                stack.pop()
        stack += [bool(TEST.match(line))] * opened
        found.append(any(stack))
    return found


def _by_braces(lines: list[str]) -> Iterator[tuple[int, int]]:
    for line in lines:
        opened = closed = 0
        for sign in line:
            opened += sign in "({["
            if sign in ")}]":
                opened, closed = (opened - 1, closed) if opened else (0, closed + 1)
        yield opened, closed


def _by_words(lines: list[str]) -> Iterator[tuple[int, int]]:
    for line in lines:
        one = re.search(r"\bend\b", line) is not None
        opens = OPENS.search(line) is not None
        yield (int(opens and not one), int(one and not opens))
