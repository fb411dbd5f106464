"""New lines that hide something: handlers that swallow every error, early exits that leave the code below unreached, and conditions that never
hold. Pure.

Each comes with the file as it reads without it. Other modules try whether a test notices.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from detent.evidence.mutate.arid import is_arid_line

SWALLOWED = "every error is now swallowed"
UNREACHED = "a new way out leaves the code below it unreached"
NEVER = "code does not run any more, since its condition never holds or it goes over nothing"
VALUE = r"(?:None|nil|null|undefined|[Tt]rue|[Ff]alse|-?\d[\d_.]*|\"\"|''|``|\[\]|\{\}|void 0)"
NOTHING = re.compile(
    rf"\s*(?:pass|\.\.\.|continue|next|return(?:\s+{VALUE})?|{VALUE}|(?:(?:const|let|var)\s+)?[\w.@]+\s*=\s*{VALUE}|(?:#|//|/\*|\*).*|[}})\];]*|end)\s*;?\s*"
)
JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
LOUD = {  # a handler of every error: the line, and what makes it raise the error again
    ".py": (re.compile(r"^(?P<deep>\s*)except\s*(?:\(?\s*(?:Base)?Exception\b[^:#]*)?:\s*(?P<then>[^#\s].*)?(?:#.*)?$"), "{deep}    raise"),
    ".rb": (
        re.compile(
            r"^(?P<deep>\s*)rescue\s*(?:(?:[\w:]+\s*,\s*)*(?:StandardError|Exception)(?:\s*,\s*[\w:]+)*)?\s*(?:=>\s*\w+)?\s*(?P<then>#.*)?$"
        ),
        "{deep}  raise",
    ),
    ".go": (re.compile(r"^(?P<deep>\s*)if (?P<name>\w+) := recover\(\); (?P=name) != nil \{(?P<then>)$"), "{deep}\tpanic({name})"),
}
CATCH = re.compile(r"^(?P<before>.*\bcatch\s*)(?:\(\s*(?P<name>\w+)?[^)]*\)\s*)?\{(?P<then>.*)$")
HANDLER = rf"(?:(?:async\s*)?\(?\s*\w*\s*\)?\s*=>\s*(?:\{{\s*\}}|{VALUE})|function\s*\(\w*\)\s*\{{\s*\}}|noop|_\.noop|Function\.prototype)"
INLINE: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {  # what swallows within a line, and what stands there without it
    ".py": ((re.compile(r"\bsuppress\(\s*(?:Base)?Exception\s*\)"), "suppress()"),),
    ".rb": (
        (re.compile(rf"(?<=\S)\s+rescue\s+{VALUE}(?=\s*\)?\s*(?:$|\|\||&&|;|\.\w|or\b|and\b))"), ""),
        (re.compile(rf";\s*rescue\b[^;]*;\s*(?:{VALUE}\s*;\s*)?end\b"), "; end"),
    ),
    ".js": (
        (re.compile(rf"\.catch\(\s*{HANDLER}\s*\)"), ""),
        (re.compile(rf"\.then\((?P<first>[^,\n]+),\s*{HANDLER}\s*\)"), r".then(\g<first>)"),
        (re.compile(r"^(?P<before>\s*(?:await\s+|void\s+)?Promise)\.allSettled\("), r"\g<before>.all("),
        (
            re.compile(rf"\bprocess\.(?:on|once|addListener)\(\s*[\"'](?:unhandledRejection|uncaughtException)[\"']\s*,\s*{HANDLER}\s*\)"),
            "void 0",
        ),
    ),
    ".go": ((re.compile(r"(?P<before>^|[{;])(?P<deep>\s*)(?:_ = )?recover\(\)\s*(?=$|[;}])"), r"\g<before>\g<deep>"),),
}
ALWAYS_ERROR = re.compile(
    r"\s*if \(!\(\w+ instanceof (?:Error|Object)\)\) throw \w+;?|\s*raise (?:\w+ )?(?:if|unless) .*\bStandardError\b.*"
)
FINALLY = re.compile(r"^\s*(?:\}\s*)?(?P<word>finally|ensure)\b\s*[:{]?\s*$")
RETURNS = re.compile(r"^\s*return\b(?!.*\s(?:if|unless)\s)")
DEFERRED = re.compile(r"^\s*defer func\(\) \{\s*$")
FORGETS = re.compile(r"^\s*(?P<name>\w+) = nil$")
EMPTIED: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {  # what never runs, and what stands there if it does
    ".py": (
        (re.compile(r"\b(?P<if>if|while)\s+(?:False|0|None)(?=\s*:|\s+and\b)"), r"\g<if> True"),
        (re.compile(r"(?P<in>\bin\s+[\w.]+)\[:0\]"), r"\g<in>"),
    ),
    ".rb": (
        (re.compile(r"\b(?P<if>if|while)\s+(?:false|nil)\b(?=\s*$|\s*&&)"), r"\g<if> true"),
        (re.compile(r"\b(?P<unless>unless)\s+true\b(?=\s*$)"), r"\g<unless> false"),
        (re.compile(r"\.(?:first|take)\(0\)"), ""),
    ),
    ".js": (
        (
            re.compile(r"\b(?P<if>if|while)\s*\(\s*(?:0|false|null|undefined|''|\"\"|!1|!true)\s*(?P<more>&&[^)]*)?\)"),
            r"\g<if> (true \g<more>)",
        ),
        (re.compile(r"\.slice\(0, ?0\)"), ""),
    ),
    ".go": (
        (re.compile(r"\b(?P<if>if|for)\s+(?:false|!true)(?=\s*(?:\{|&&))"), r"\g<if> true"),
        (re.compile(r"(?P<in>\brange\s+[\w.]+)\[:0\]"), r"\g<in>"),
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
    text: str
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
    for what, table in ((SWALLOWED, INLINE), (NEVER, EMPTIED)):
        for pattern, new in table.get(kind, ()):
            if found := pattern.search(rows[at]):
                yield QuietLine(at + 1, rows[at].strip(), what, True, _with(rows, at, at + 1, _cut(rows[at], found, found.expand(new))))
                return
    yield from _at_the_end(kind, rows, at)
    handler = CATCH if kind == ".js" else LOUD.get(kind, (None,))[0]
    found = handler.match(rows[at]) if handler else None
    if found is None:
        return
    end = _block_end(rows, at)
    body = [line for line in (_then(found["then"]), *rows[at + 1 : end]) if line.strip() and not ALWAYS_ERROR.fullmatch(line)]
    if not all(NOTHING.fullmatch(line) or is_arid_line(line) for line in body) or any(
        re.search(r"\b(?:raise|throw|panic)\b", line) for line in body
    ):
        return
    silent = all(map(NOTHING.fullmatch, body))
    yield QuietLine(at + 1, "\n".join(rows[at : min(end, at + 3)]), SWALLOWED, silent, _raised(kind, rows, at, found))


def _at_the_end(kind: str, rows: Sequence[str], at: int) -> Iterator[QuietLine]:
    """What drops an error as a function ends: a way out in `finally` or `ensure`, and in Go an error that a deferred function sets to nil."""
    forgets = FORGETS.match(rows[at]) if kind == ".go" else None
    if not forgets and not RETURNS.match(rows[at]):
        return
    head = next((n for n in range(at - 1, -1, -1) if rows[n].strip() and _indent(rows[n]) < _indent(rows[at])), -1)
    if head < 0 or not (FINALLY.match(rows[head]) or DEFERRED.match(rows[head])):
        return
    end = _block_end(rows, head)
    ends_there = not any(row.strip() and _indent(row) > _indent(rows[at]) for row in rows[at + 1 : at + 2])
    if (found := FINALLY.match(rows[head])) and RETURNS.match(rows[at]) and ends_there:
        if found["word"] == "ensure":
            without = _with(rows, head, at + 1, rows[at], *rows[head:at])
        else:
            after = end + 1 if kind == ".js" else end
            left = [*rows[head + 1 : at], *rows[at + 1 : end]]
            below = " " * _indent(rows[head]) + rows[at].strip()
            empty = [rows[at][: len(rows[at]) - len(rows[at].lstrip())] + "pass"] if kind == ".py" and not any(map(str.strip, left)) else []
            without = _with(rows, head, after, rows[head], *left, *empty, *rows[end:after], below)
        yield QuietLine(at + 1, f"{rows[head].strip()}\n{rows[at]}", SWALLOWED, True, without)
    if forgets and DEFERRED.match(rows[head]) and re.search(rf"\b{forgets['name']} error\b", "\n".join(rows[:head])):
        yield QuietLine(at + 1, rows[at].strip(), SWALLOWED, True, _with(rows, at, at + 1))


def _then(rest: str | None) -> str:
    """What stands on the line of a handler itself, without the brace that ends it there."""
    return (rest or "").strip().rstrip("};)").strip()


def _raised(kind: str, rows: Sequence[str], at: int, found: re.Match[str]) -> str:
    """The file with a handler that raises again what it caught."""
    if kind == ".js":
        name = found["name"] or "swallowed"
        return _with(rows, at, at + 1, f"{found['before']}({name}) {{ throw {name};{found['then']}")
    again = LOUD[kind][1].format(**found.groupdict())
    if kind == ".py" and found["then"]:
        return _with(rows, at, at + 1, rows[at][: found.start("then")] + "raise")
    return _with(rows, at, at + 1, f"{rows[at]}\n{again if kind != '.py' else _indented(rows, at, again)}")


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
