"""Literals in code, and the test examples they stand for: plain, escaped, encoded, hashed, reversed, joined from pieces and constants, or as a
pattern that matches nothing else. Pure.

`read` returns the code line by line with every literal in one form, so that its callers need to know no other.
"""

import base64
import binascii
import codecs
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from typing import Any, NamedTuple
from urllib.parse import unquote

from detent.evidence.static_analysis.check_sums import sums

STRING = re.compile(
    r"(?<!\w)(?P<long>[rRbBuUfF]{0,2})(?P<quotes>\"\"\"|''')(?P<lines>(?:[^\\]|\\.)*?)(?P=quotes)"
    r"|(?<!\w)(?P<prefix>[rRbBuUfF]{0,2})(?P<quote>[\"'])(?P<body>(?:[^\\\n]|\\.)*?)(?P=quote)"
    r"|(?P<tick>`)(?P<ticked>[^`]*)`"
    r"|%[wW][\[({](?P<words>[^\])}\n]*)[\])}]"
    r"|(?<=[(=~,\s])(?P<slash>/)(?P<pattern>(?:[^/\\\n*]|\\.)(?:[^/\\\n]|\\.)*)/[a-z]*(?=\s*(?:\.(?:test|exec|match)|[),;:]|then\b|$))",
    re.DOTALL | re.MULTILINE,
)
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-7]{1,3})|(\n)|(.))", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b", "s": " "}
JOINED = re.compile(r"\s*(?:\+|\\|<>)?\s*|\s+\.\s+")
CONSTANT = re.compile(
    r"(?:^|\n)[ \t]*(?:export\s+)?(?:(?:const|final|static|let|var|val)\s+)?(?P<name>[A-Za-z_]\w*)(?:\s*:\s*[\w\[\].]+|\s+string)?\s*:?=\s*\(?\s*$"
)
AFTER = re.compile(r"\s*\)?(?:\.freeze)?;?[ \t]*(?:(?://|#)[^\n]*)?(?:\n|$)")
PARAMETER = re.compile(r"(?:def|function|func|=)\b[^\n]*[(,]\s*(?P<name>[A-Za-z_]\w*)(?:\s*:\s*\w+)?\s*=\s*$")
FIELD = re.compile(r"[$#]?\{(\w+)\}")
BLANK = re.compile(r"%[sdvq]|\{\d?\}")
CODES = re.compile(r"(?:(?:0x[0-9a-fA-F]{1,5}|\d{1,6})\s*,\s*){3,}(?:0x[0-9a-fA-F]{1,5}|\d{1,6})")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
BASE32 = re.compile(r"[A-Z2-7]{8,}=*")
HEX = re.compile(r"(?:[0-9a-fA-F]{2}){4,}")
PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){3,}[\w%.-]*")
MIXED = re.compile(r"(?=.*\d)(?=.*[a-zA-Z]).{5}")
META = re.compile(r"[\\^$\[\](){}?*+|.]")
NUMBER = re.compile(r"(?<![\w.\"])(0x[0-9a-fA-F]{6,}|\d[\d_]{4,})(?:[uU]?[lL]{1,2}|[nu]|_?[iu](?:32|64|128))?(?![\w.\"])")
SUM = re.compile(r"[\w+/=-]{5,}")
SUMS = re.compile(r"\bord\b|charCodeAt|codePointAt|\bsum\b|\.sum\b|\bbytes\b|reduce|\bhash|crc|checksum|adler", re.IGNORECASE)
LONGEST = 200_000  # characters of a text whose checksums are computed
MOST_PIECES = 8  # pieces that a text is joined from
MOST_TEXTS, LONGEST_PIECE = 5_000, 2_000
MOST_STRINGS = 8  # strings that a narrow pattern may match


class KnownExamples(NamedTuple):
    """The test examples, with their checksums and folded forms."""

    values: frozenset[str]
    sums: Mapping[str, str]  # digest or checksum, as written in code, to value
    folded: Mapping[str, str]  # lower case without whitespace, to value

    def has(self, value: str) -> bool:
        return value in self.values or (len(value) > 3 and value.strip() in self.values)


class Hidden(NamedTuple):
    """An example in the code that a reader cannot recognise."""

    line: int
    value: str


class Read(NamedTuple):
    """Code as read: its numbered lines with plain literals, and the hidden examples."""

    lines: list[tuple[int, str]]
    hidden: list[Hidden]


class LiteralPiece(NamedTuple):
    """A literal, or the code between two (`value` is None)."""

    text: str
    value: str | None
    raw: str = ""
    lines: int = 0  # line breaks in the source


def known_of(values: Iterable[str], code: str = "") -> KnownExamples:
    """Index examples for reading code. `code`: only checksums that occur in it are kept."""
    every = frozenset(each for value in values for each in (value, value.strip()) if each)
    checksums = {each for each in SUM.findall(code) if any(map(str.isdigit, each))}
    wanted = checksums | {each.lower().replace("_", "").removeprefix("0x") for each in checksums}
    wanted |= {each[0].lower().replace("_", "") for text in checksums if (each := re.match(r"[\d_]{5,}", text))}  # 212201582701L
    summed = (value for value in every if 3 < len(value) < LONGEST) if wanted else ()
    known_by = {each: value for value in summed for each in sums(value) if each in wanted}
    return KnownExamples(every, known_by, {folded: value for value in every if len(folded := _folded(value)) > 5})


def _folded(value: str) -> str:
    return "".join(value.split()).casefold()


def values_in(text: str) -> frozenset[str]:
    """The string literals in a test file, both as written and unescaped."""
    found = set[str]()
    for piece in _joined(list(_pieces(text))):
        if piece.value is not None:
            found |= {piece.value, piece.raw}
    return frozenset(found)


def constants(texts: Iterable[str]) -> dict[str, str]:
    """Names that have the same string value everywhere."""
    found = dict[str, str | None]()
    for text in texts:
        pieces = _joined(list(_pieces(text)))
        for n, piece in enumerate(pieces):
            before, after = pieces[n - 1].text if n else "", pieces[n + 1].text if n + 1 < len(pieces) else ""
            named = CONSTANT.search(before) if AFTER.match(after) else PARAMETER.search(before)
            if piece.value is not None and named:
                found[named["name"]] = None if named["name"] in found else piece.value
    return {name: value for name, value in found.items() if value is not None}


def read_code(text: str, first: int, known: KnownExamples, named: Mapping[str, str]) -> Read:
    """Read code with every literal in one plain form, replaced by the example it stands for, if any."""
    pieces = _joined([each for piece in _pieces(text) for each in _put_in(piece, named)])
    lines, hidden, line, row = list[tuple[int, str]](), list[Hidden](), first, ""
    for piece in pieces:
        if piece.value is not None:
            value = FIELD.sub(lambda field: named.get(field[1], field[0]), piece.value)
            example = _stands_for(value, known) or _stands_for(piece.raw, known)
            if example and not any(_is_plain(each, known) for each in (value, piece.raw)):
                hidden.append(Hidden(line, example))
            row += _sealed(example or value)
            line += piece.lines
            continue
        *whole, rest = piece.text.split("\n")
        for each in whole:
            lines.append((line, row + each))
            row, line = "", line + 1
        row += rest
    lines.append((line, row))
    hidden += [Hidden(at, example) for at, each in lines for example in (*_summed(each, known), *_coded(each, known))]
    return Read(lines, hidden)


def _filled(text: str, value: str) -> str:
    return BLANK.sub(lambda _: value, text, count=1)


def _coded(line: str, known: KnownExamples) -> Iterator[str]:
    """The examples in a line that are written as character codes."""
    for found in CODES.finditer(line):
        codes = [int(each, 0) for each in re.split(r"\s*,\s*", found[0]) if not (len(each) > 1 and each[0] == "0" and each[1] != "x")]
        text = "".join(map(chr, codes)) if all(8 < code < 0xD800 for code in codes) else ""
        if len(text) > 3 and known.has(text):
            yield text


def put_together(texts: list[str], known: KnownExamples) -> Iterator[tuple[int, str]]:
    """The examples that consecutive texts form when concatenated, joined with a separator or filled into a template. Each with its start index."""
    texts = [text if len(text) < LONGEST_PIECE else "" for text in texts[:MOST_TEXTS]]
    for n, first in enumerate(texts):
        for size in range(2, MOST_PIECES + 1):
            row, rest = texts[n : n + size], texts[n + 1 : n + size]
            if len(row) < size:
                break
            made = ["".join(row), first.join(rest) if size > 2 else "", row[-1].join(row[:-1]) if size > 2 else ""]
            if len(BLANK.findall(first)) == len(rest):
                made.append(reduce(_filled, rest, first))
            yield from ((n, whole) for each in made if (whole := known.folded.get(_folded(each), "")) and whole not in row)


def _is_plain(value: str, known: KnownExamples) -> bool:
    """Whether a reader would recognise the example: plain, as a pattern, or with other case or whitespace."""
    return known.has(value) or bool(_fits(value, known)) or _folded(value) in known.folded


def _sealed(value: str) -> str:
    """The text as a JSON string of only \\u escapes, so that nothing in it is taken for code."""
    return '"' + re.sub("....", r"\\u\g<0>", value.encode("utf-16-be", "surrogatepass").hex()) + '"'


def _summed(line: str, known: KnownExamples) -> Iterator[str]:
    """The examples whose checksums occur in a line."""
    for number in NUMBER.findall(line):
        if example := known.sums.get(number.replace("_", "").lower().removeprefix("0x")):
            yield example
    if SUMS.search(line):
        wanted = {int(each) for each in re.findall(r"(?<![\w.\"])\d{3,6}(?![\w.\"])", line)}
        yield from (value for value in known.values if 3 < len(value) < 10_000 and sum(map(ord, value)) in wanted) if wanted else ()


def _pieces(text: str) -> Iterator[LiteralPiece]:
    end = 0
    for found in STRING.finditer(text):
        yield LiteralPiece(text[end : found.start()], None)
        end = found.end()
        if found["words"] is not None:
            yield from _words(found["words"].split())
            continue
        raw = next(found[name] for name in ("body", "lines", "ticked", "pattern") if found[name] is not None)
        is_raw = "r" in (found["prefix"] or found["long"] or "").lower() or found["tick"] or found["slash"]
        yield LiteralPiece(found[0], raw if is_raw else unescaped(raw), raw, found[0].count("\n"))
    yield LiteralPiece(text[end:], None)


def _words(words: list[str]) -> Iterator[LiteralPiece]:
    yield LiteralPiece("[", None)
    for word in words:
        yield LiteralPiece(word, word, word)
        yield LiteralPiece(", ", None)
    yield LiteralPiece("]", None)


def _put_in(piece: LiteralPiece, named: Mapping[str, str]) -> Iterator[LiteralPiece]:
    """Replace constants by their values, except where they are assigned."""
    if piece.value is not None or not named:
        yield piece
        return
    end, pattern = 0, rf"(?:\b\w+\.)*\b({'|'.join(map(re.escape, named))})\b(?!\s*(?::\s*[\w.]+\s*)?:?=(?!=))(?!\s*\()"
    for found in re.finditer(pattern, piece.text):
        yield LiteralPiece(piece.text[end : found.start()], None)
        yield LiteralPiece(found[0], named[found[1]], named[found[1]])
        end = found.end()
    yield LiteralPiece(piece.text[end:], None)


def _joined(pieces: list[LiteralPiece]) -> list[LiteralPiece]:
    """Merge literals that are joined with each other into one piece."""
    found = list[LiteralPiece]()
    for piece in pieces:
        if piece.value is not None and len(found) > 1 and found[-2].value is not None and JOINED.fullmatch(between := found[-1].text):
            first = found[-2]
            lines = first.lines + piece.lines + between.count("\n")
            found[-2:] = [LiteralPiece("", (first.value or "") + piece.value, first.raw + piece.raw, lines)]
        elif piece.value is None and found and found[-1].value is None:
            found[-1] = LiteralPiece(found[-1].text + piece.text, None)
        else:
            found.append(piece)
    return found


def unescaped(text: str) -> str:
    """The text with its escapes resolved."""
    return ESCAPE.sub(_one, text)


def _one(found: re.Match[str]) -> str:
    for n, base in ((1, 16), (2, 16), (3, 16), (4, 16), (5, 8)):
        if found[n]:
            code = int(found[n], base)
            return chr(code) if code < 0x110000 else found[0]
    return "" if found[6] else LETTERS.get(found[7], found[7])


# -- what a value stands for ---------------------------------------------------------------------------------------------------------------


def _stands_for(value: str, known: KnownExamples) -> str:
    """The example that a value stands for in any form; empty if none."""
    if known.has(value):
        return value if value in known.values else value.strip()
    if len(value) < 6 and not MIXED.fullmatch(value):
        return ""
    for plain in (*_decoded(value), value[::-1], codecs.encode(value, "rot13")):
        if len(plain) > 3 and known.has(plain):
            return plain
    if folded := known.folded.get(_folded(value)):
        return folded
    return known.sums.get(value.lower(), "") or known.sums.get(value, "") or _fits(value, known)


def _decoded(value: str) -> Iterator[str]:
    try:
        if HEX.fullmatch(value):
            yield bytes.fromhex(value).decode()
    except ValueError:
        pass
    if PERCENT.fullmatch(value):
        yield unquote(value)
    try:
        if BASE32.fullmatch(value):
            yield base64.b32decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 8)).decode()
    except (ValueError, binascii.Error):
        pass
    try:
        if BASE64.fullmatch(value):
            yield base64.b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value.rstrip("=")) % 4)).decode()
    except (ValueError, binascii.Error):
        pass


def _fits(pattern: str, known: KnownExamples) -> str:
    """The example that a pattern matches, if it matches hardly anything else."""
    if not META.search(pattern) or len(pattern) > 2000:
        return ""
    return next((each for each in narrow(pattern) if known.has(each)), "")


@lru_cache(512)
def narrow(pattern: str) -> tuple[str, ...]:
    """All texts that a pattern matches, if they are few; empty otherwise."""
    from re import _parser  # type: ignore[attr-defined]  # the standard library's own reader of patterns has no public name

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuple(_texts(list(_parser.parse(pattern.replace(r"\z", r"\Z")))))
    except (re.error, RecursionError, OverflowError, ValueError):
        return ()


def _texts(parts: list[Any]) -> list[str]:
    found = [""]
    for op, value in parts:
        more = _few(str(op), value)
        if more is None or len(found) * len(more) > MOST_STRINGS:
            raise ValueError("it fits too much")
        found = [text + each for text in found for each in more]
    return found


def _few(op: str, value: Any) -> list[str] | None:
    if op == "LITERAL":
        return [chr(value)]
    if op == "AT":
        return [""]
    if op == "SUBPATTERN":
        return _texts(list(value[-1]))
    if op == "BRANCH":
        return [text for branch in value[1] for text in _texts(list(branch))]
    if op == "IN" and all(str(kind) == "LITERAL" for kind, _ in value):
        return [chr(code) for _, code in value]
    if op in ("MAX_REPEAT", "MIN_REPEAT") and value[1] < MOST_STRINGS:
        inner = _texts(list(value[2]))
        return [each * times for each in inner for times in range(value[0], value[1] + 1)]
    return None
