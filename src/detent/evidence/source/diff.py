"""What differs between two trees: changed paths, hunks of a patch, and expectations of older tests that were removed or rewritten. Pure.

Works on git's own diff, in any language. A line that only moved or changed its indent or trailing comma counts as unchanged. Whether a changed
expectation is right cannot be decided here; both versions are shown side by side.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from detent.kernel.model import Value

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
EXPECTS = re.compile(
    r"\bassert|\bexpect|\bshould\b|raises|throws|\bwarns\b|\brequire\.\w+\(|\bt\.(?:Error|Fatal|Fail)|\b(?:Not)?Equal|\bwant\b|==|!="
    r"|@pytest\.mark\.parametrize|^\s*>>> |\bis\(|\bok\(|deepEqual|toBe|toEqual|\bEXPECT_|\bASSERT_"
)
ROW = re.compile(r"^\s*(?:[\[{(].*[\]})]|(?!\"\"\")[\"'\d-][^;]*),?\s*$")
IMPORT = re.compile(r"^\s*(?:import\b|from\s+\S+\s+import\b|use\s|using\s|require\b|#include\b|(?:const|let|var)\s.*\brequire\()")
COMMENT = re.compile(r"^\s*(?://|#(?!\[)|/\*|\*|--\s)")
MOST_LINES = 12  # shown of each version


class Hunk(NamedTuple):
    """A run of lines that a change removed, and the lines it put there."""

    path: str
    line: int  # number of the first removed line
    removed: tuple[str, ...]
    new: tuple[str, ...]
    at: int = 0  # number of the first new line


class Rewritten(NamedTuple):
    """An expectation that a change removed or replaced."""

    place: str
    before: str
    after: str


def hunks(patch: bytes) -> Iterator[Hunk]:
    """The hunks of a patch without context lines. Each is read by the length in its header, so no content is taken for a header."""
    lines = iter(patch.decode("utf-8", "replace").split("\n"))
    path = ""
    for line in lines:
        if line.startswith(("--- ", "+++ ")):
            path = _path(line) or path
        elif found := HUNK.match(line):
            removed, new = list[str](), list[str]()
            while len(removed) < int(found[2] or 1) or len(new) < int(found[4] or 1):
                text = next(lines, None)
                if text is None:
                    break
                {"-": removed, "+": new}.get(text[:1], []).append(text[1:])
            yield Hunk(path, int(found[1]), tuple(removed), tuple(new), int(found[3]))


def _path(line: str) -> str:
    name = line[4:].rstrip("\t\r")
    if name.startswith('"') and name.endswith('"'):
        name = (
            name[1:-1]
            .encode("latin-1", "backslashreplace")
            .decode("unicode_escape")
            .encode("latin-1", "replace")
            .decode("utf-8", "replace")
        )
    return "" if name == "/dev/null" else name[2:]


def rewritten(patch: bytes, is_test: Callable[[str], bool]) -> tuple[Rewritten, ...]:
    """The expectations in test files that a patch changed or removed."""
    return _altered(patch, is_test, lambda line: bool(EXPECTS.search(line) or ROW.match(line)))


def altered(patch: bytes, is_test: Callable[[str], bool]) -> tuple[Rewritten, ...]:
    """All lines of test files that a patch changed or removed, since any may hold an expected value, such as `answer = 9`."""
    return _altered(patch, is_test, lambda line: not IMPORT.match(line))


def _altered(patch: bytes, is_test: Callable[[str], bool], counts: Callable[[str], bool]) -> tuple[Rewritten, ...]:
    found = [hunk for hunk in hunks(patch) if is_test(hunk.path)]
    there = Counter(bare(line) for hunk in found for line in hunk.new)
    return tuple(rewritten for hunk in found if (rewritten := _as_rewritten(hunk, there, counts)) is not None)


def _as_rewritten(hunk: Hunk, there: Counter[str], counts: Callable[[str], bool]) -> Rewritten | None:
    removed = [line for line in hunk.removed if line.strip() and not COMMENT.match(line) and not _is_there(line, there)]
    if not any(map(counts, removed)):
        return None
    return Rewritten(f"{hunk.path}:{hunk.line}", "\n".join(hunk.removed[:MOST_LINES]), "\n".join(hunk.new[:MOST_LINES]))


def _is_there(line: str, there: Counter[str]) -> bool:
    """Whether a removed line was added elsewhere; each added line counts once."""
    text = bare(line)
    if there[text] <= 0:
        return False
    there[text] -= 1
    return True


def bare(line: str) -> str:
    """A line without spaces and trailing comma, for comparison."""
    return "".join(line.split()).rstrip(",;")


class Changed(Value, frozen=True):
    """A path that differs between the last good tree and the judged one."""

    path: str
    how: Literal["added", "modified", "deleted"]
    sort: Literal["test", "production", "config", "list", "other", "unknown"]
    inside: bool = False  # a code file whose own tests (doctests, `mod tests`) changed
