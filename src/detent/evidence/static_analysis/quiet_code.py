"""New lines that hide something: handlers that swallow every error, and early exits that leave the code below unreached. Pure.

Each comes with the file as it reads without it. Other modules try whether a test notices.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from detent.evidence.mutate.arid import is_arid_line

SWALLOWED = "every error is now swallowed"
UNREACHED = "a new way out leaves the code below it unreached"
VALUE = r"(?:None|nil|null|undefined|[Tt]rue|[Ff]alse|-?\d[\d_.]*|\"\"|''|``|\[\]|\{\}|void 0)"
NOTHING = re.compile(
    rf"\s*(?:pass|\.\.\.|continue|next|return(?:\s+{VALUE})?|{VALUE}|(?:(?:const|let|var)\s+)?[\w.@]+\s*=\s*{VALUE}|(?:#|//|/\*|\*).*|[}})\];]*|end)\s*;?\s*"
)
JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
LOUD = {  # a handler of every error: the line, and what makes it raise the error again
    ".py": (re.compile(r"^(?P<deep>\s*)except\s*(?:\(?\s*(?:Base)?Exception\b[^:#]*)?:\s*(?P<then>[^#\s].*)?(?:#.*)?$"), "{deep}    raise"),
    ".rb": (re.compile(r"^(?P<deep>\s*)rescue\s*(?:StandardError|Exception)?\s*(?:=>\s*\w+)?\s*(?P<then>#.*)?$"), "{deep}  raise"),
}
CATCH = re.compile(r"^(?P<before>.*\bcatch\s*)(?:\(\s*(?P<name>\w+)?[^)]*\)\s*)?\{(?P<then>.*)$")
INLINE: dict[str, tuple[re.Pattern[str], str]] = {
    ".py": (re.compile(r"\bsuppress\(\s*(?:Base)?Exception\s*\)"), "suppress()"),
    ".rb": (re.compile(rf"(?<=\S)\s+rescue\s+{VALUE}(?=\s*\)?\s*$)"), ""),
    ".js": (
        re.compile(
            rf"\.catch\(\s*(?:(?:async\s*)?\(?\s*\w*\s*\)?\s*=>\s*(?:\{{\s*\}}|{VALUE})|function\s*\(\w*\)\s*\{{\s*\}}|noop|_\.noop|Function\.prototype)\s*\)"
        ),
        "",
    ),
}
REMARK = re.compile(r"\s*(?:#|//|\*)")
WAY_OUT = re.compile(r"^\s*(?:return|raise|throw|exit|next|continue|break)\b(?!.*\s(?:if|unless)\s)[^{(\[]*;?\s*$")
STILL = re.compile(
    r"\s*(?:[})\].,?:&|+*/%<>=]|(?:else|elif|elsif|except|rescue|ensure|finally|catch|case|default|when|end|in|def|class|module|function|async function|export|type|interface|"
    r"enum|private|protected|public|static|and|or)\b|-\s|@|#|//|\w+:\s*$|\"\"\"|'''|$)"
)  # what stands below a way out and does not belong to the same run of lines

BRACELESS = re.compile(r"\s*(?:(?:else\s+)?if|for|while)\b.*\)\s*$|\s*else\s*$")  # a statement follows for which no braces are written


class QuietLine(NamedTuple):
    """One such place: the line, how it reads, what it is, whether nothing at all is said of the error, and the file without it."""

    line: int
    said: str
    what: str
    silent: bool
    without: str


def quiet(path: str, text: str, first: int, count: int) -> Iterator[QuietLine]:
    """The places of this kind among the new lines of a file, from `first` on."""
    rows = text.split("\n")
    suffix = path[path.rfind(".") :]
    kind = ".js" if suffix in JAVASCRIPT else suffix
    for at in range(first - 1, min(first - 1 + count, len(rows))):
        if not REMARK.match(rows[at]):
            yield from _swallows(kind, rows, at)
    yield from _unreached(rows, first - 1, count)


def _swallows(kind: str, rows: Sequence[str], at: int) -> Iterator[QuietLine]:
    if kind in INLINE and (found := INLINE[kind][0].search(rows[at])):
        yield QuietLine(at + 1, rows[at].strip(), SWALLOWED, True, _with(rows, at, at + 1, _cut(rows[at], found, INLINE[kind][1])))
        return
    pattern = CATCH if kind == ".js" else LOUD.get(kind, (None,))[0]
    found = pattern.match(rows[at]) if pattern else None
    if found is None:
        return
    end = _block_end(rows, at)
    said = [line for line in (_then(found["then"]), *rows[at + 1 : end]) if line.strip()]
    if not all(NOTHING.fullmatch(line) or is_arid_line(line) for line in said) or any(
        re.search(r"\b(?:raise|throw)\b", line) for line in said
    ):
        return
    silent = all(map(NOTHING.fullmatch, said))
    yield QuietLine(at + 1, "\n".join(rows[at : min(end, at + 3)]), SWALLOWED, silent, _raised(kind, rows, at, found))


def _then(said: str | None) -> str:
    """What stands on the line of a handler itself, without the brace that ends it there."""
    return (said or "").strip().rstrip("};)").strip()


def _raised(kind: str, rows: Sequence[str], at: int, found: re.Match[str]) -> str:
    """The file with a handler that raises again what it caught."""
    if kind == ".js":
        name = found["name"] or "swallowed"
        return _with(rows, at, at + 1, f"{found['before']}({name}) {{ throw {name};{found['then']}")
    again = LOUD[kind][1].format(deep=found["deep"])
    if kind == ".py" and found["then"]:
        return _with(rows, at, at + 1, rows[at][: found.start("then")] + "raise")
    return _with(rows, at, at + 1, f"{rows[at]}\n{again if kind == '.rb' else _indented(rows, at, again)}")


def _indented(rows: Sequence[str], at: int, line: str) -> str:
    """A line as deep as the one below."""
    below = next((row for row in rows[at + 1 :] if row.strip()), "")
    return " " * _indent(below) + line.strip() if _indent(below) > _indent(rows[at]) else line


def _unreached(rows: Sequence[str], start: int, count: int) -> Iterator[QuietLine]:
    """A way out that ends a run of new lines, or stands above it, where what is below is as deep and belongs to nothing else."""
    for first, after in ((start, start + count), (0, start)):
        last = next((n for n in range(min(after, len(rows)) - 1, first - 1, -1) if rows[n].strip()), -1)
        below = next((row for row in rows[after:] if row.strip()), "")
        if last < 0 or not WAY_OUT.match(rows[last]) or STILL.match(below) or _indent(below) != _indent(rows[last]):
            continue
        if last and BRACELESS.match(rows[last - 1]):
            continue
        yield QuietLine(last + 1, rows[last].strip(), UNREACHED, True, _with(rows, last, last + 1))


def _with(rows: Sequence[str], start: int, end: int, *new: str) -> str:
    return "\n".join([*rows[:start], *new, *rows[end:]])


def _cut(row: str, found: re.Match[str], new: str) -> str:
    return row[: found.start()] + new + row[found.end() :]


def _block_end(rows: Sequence[str], at: int) -> int:
    """The line after the block of a handler: lines that are deeper."""
    end = at + 1
    while end < len(rows) and (not rows[end].strip() or _indent(rows[end]) > _indent(rows[at])):
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())
