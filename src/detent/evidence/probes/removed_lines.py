"""Mutants that restore what a change removed, or remove an early exit it added. If no test notices, nothing asked for that change. Pure.

Not counted as removed checks: checks that only moved, went with their function, or asked for an old version of something.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import NamedTuple

from detent.evidence.mutate.arid import is_arid_line
from detent.evidence.source.diff import Hunk, hunks
from detent.evidence.static_analysis.lost_parts import does_less, is_hollow, stops
from detent.evidence.static_analysis.quiet_code import quiet
from detent.evidence.static_analysis.safeguards import lost
from detent.evidence.static_analysis.weaker_code import FAILS, weaker

GUARD = re.compile(
    r"^\s*(?:if|unless|guard|assert|ensure!?|require)\b|^\s*(?:raise|throw|return|abort|die|exit)\b.*\b(?:if|unless)\b|^\s*}?\s*else if\b|^\s*elif\b"
)
ALONE = re.compile(
    r"^\s*(?:assert\b|assert[!(]|ensure!|debug_assert|(?:raise|throw|return|abort|die|exit)\b.*\b(?:if|unless)\b|.*\b(?:or|\|\|)\s+(?:die|raise|throw|abort|exit)\b)"
)
WAY_OUT = re.compile(r"^\s*(?:if\b.*[:){]\s*return\b|return\b.*\s(?:if|unless)\s)")  # an early exit on one line
LEAVES = re.compile(r"\b(?:raise|throw|return|panic!?|abort|die|exit|continue|break|bail!|reject|deny|forbid\w*|head|redirect\w*|fail)\b")
ALLOWS = re.compile(
    r"permission|permit|\bauth|authori[sz]|authenticat|admin|\broles?\b|allowed|forbid|denied|\bowner|csrf|login|is_staff|superuser|\bsecret",
    re.IGNORECASE,
)
RIGHTS = re.compile(ALLOWS.pattern + r"|passw|api_?key|\btoken", re.IGNORECASE)
SAFETY = re.compile(
    ALLOWS.pattern + r"|escap|saniti[sz]|verif(?:y|ied)|validat|compare_digest|constant_time|timing_?safe|encrypt|signature", re.IGNORECASE
)  # words about access control, or about making input harmless
MARK = re.compile(r"^\s*@\s*\w*(?:login|permission|auth|admin|requires?|role|csrf|valid)\w*", re.IGNORECASE)
DATED = re.compile(
    r"version|platform|os\.name|PY[23]|TYPE_CHECKING|hasattr|sys\.|runtime\.GOOS|process\.env|deprecat|ImportError|__main__|\bcompat",
    re.IGNORECASE,
)
YES = re.compile(r"\breturn\s*(?:[Tt]rue|nil|None|undefined|void 0)?\s*(?:;?\s*\}?\s*$|\s(?:if|unless)\b)")
NO = re.compile(
    r"\b(?:raise|throw|panic|abort|die|bail!|fail)\b|\breturn\s+(?:[Ff]alse\b|(?:[\w.\"'{}]+,\s*)*(?:Err\w*|\w+\.Err\w*|err\w*|errors\.\w+|fmt\.Errorf)\b)"
)
JOINS = re.compile(r"\band\b|\bor\b|&&|\|\|")
REMARK = re.compile(r"\s(?:#|//|/\*).*$")
WORDED = re.compile(r"(?<![\[(.])(?:\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`)(?!\])")  # text that is no key, such as `data["version"]`
HEAD = re.compile(
    r"^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|async|abstract|final)\s+)*(?:def|class|function|func|fn|struct|interface|impl|module|trait|enum)\b"
)
IMPORT = re.compile(r"^(?:import|from|use|require|require_relative)\b")
GO_IMPORT = re.compile(r'^\s*(?:import\s+)?(?P<alias>\w+\s+)?"(?P<path>[\w./-]+)"\s*$')
COMMENT = re.compile(r"^\s*(?:#(?!!?\[)|//|\*|/\*|--\s|<!--)")
PLAIN = re.compile(r"^\s*(?:#(?!!?\[)|//|\*|/\*|\"\"\"|'''|import\b|from\b|use\b|require\b|package\b|@|[})\];,]*\s*$)")
NAMED = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*\b(?!\s*[\w(.\"'])")  # a variable: not a function, a member, or a keyword followed by a name
CONDITION = re.compile(r"^\s*if\b\s*(?:\(([^()]+)\)|(.+?))\s*[:{]?\s*$")
CALLED_WITH = re.compile(r"(?<![\w.\"'])(?!(?:True|False|None|true|false|null|nil|undefined)\b)[A-Za-z_]\w*\b(?!\s*[\w(.\"'])")
ALIKE = 0.75
SHARED = ALIKE / (2 - ALIKE)  # the least part of its words that a line shares with a similar one
MOST_LINES = 12
MOST_EFFECTS = 3  # lines of a removed piece; longer pieces went together with their purpose


class ChangedPiece(NamedTuple):
    """A removed piece (or an added early exit): its place, its text, and the versions of the file that undo the change."""

    path: str
    line: int  # where it would be now
    text: str
    guard: bool
    sure: bool  # it is simply gone, or it was about permissions and another check replaced it
    make: tuple[Callable[[], str], ...]
    what: str = ""  # the lost safeguard or the new danger, in words
    form: tuple[str, ...] = ()  # both versions without variable names, to recognise the same change elsewhere


def removed(patch: bytes, is_code: Callable[[str], bool], read: Callable[[str], str]) -> list[ChangedPiece]:
    """The pieces that a patch removed from remaining code, checks first."""
    found = [hunk for hunk in hunks(patch) if is_code(hunk.path)]
    added = tuple(line for hunk in found for line in hunk.new if line.strip() and not COMMENT.match(line))
    texts = {hunk.path: read(hunk.path) for hunk in found}
    imports = {path: [line for hunk in found if hunk.path == path for line in hunk.removed if _is_import(path, line)] for path in texts}
    pieces = [
        piece for hunk in map(_alone, found) if texts.get(hunk.path) for piece in _pieces(hunk, texts[hunk.path], added, imports[hunk.path])
    ]
    return sorted(pieces, key=lambda piece: (not piece.guard, not piece.sure, not ALLOWS.search(piece.text), not piece.what))


def _alone(hunk: Hunk) -> Hunk:
    """A hunk in which a body became nothing, or lines were replaced one by one, without the functions that follow it there."""
    deep = min((_indent(line) for line in hunk.removed if line.strip()), default=0)
    end = next((n for n, line in enumerate(hunk.new) if line.strip() and _indent(line) < deep), 0)
    while end and not hunk.new[end - 1].strip():
        end -= 1
    apart = end and (is_hollow(hunk.removed, hunk.new[:end], ()) or end == len(hunk.removed))
    return hunk._replace(new=hunk.new[:end]) if apart else hunk


def added(patch: bytes, is_code: Callable[[str], bool], read: Callable[[str], str]) -> list[ChangedPiece]:
    """The early exits that a patch added to existing functions, and new lines that hide an error or code; each with the file without it."""
    pieces = []
    for hunk in hunks(patch):
        if not is_code(hunk.path) or not (text := read(hunk.path)):
            continue
        lines = list(hunk.new)
        for start, end in _guards(lines):
            block = lines[start:end]
            if (
                (end - start > 1 or WAY_OUT.match(lines[start]))
                and not _is_dated(block[0])
                and not _in_removed(lines, start)
                and not _is_there(block[0], hunk.removed)
            ):
                at = hunk.at - 1 + start
                make = (partial(_with, hunk.path, text, [], at, end - start),)
                sure = (
                    RIGHTS.search(" ".join(block)) is not None
                    or _stands_before_rights(text, at + end - start)
                    or _is_in_rights(text, at)
                    or (YES.search(block[-1 if len(block) == 1 else 1]) is not None and _stands_before_a_no(text, at + end - start))
                )
                pieces.append(ChangedPiece(hunk.path, at + 1, "\n".join(block[:MOST_LINES]), True, sure, make))
        pieces += _quiet(hunk, text)
    return sorted(pieces, key=lambda piece: not piece.sure)


def _quiet(hunk: Hunk, text: str) -> Iterator[ChangedPiece]:
    """The new lines of a hunk that keep quiet, but those that only moved."""
    old_lines = {line.strip() for line in hunk.removed}
    for each in quiet(hunk.path, text, hunk.at, len(hunk.new)):
        if each.text.split("\n")[0].strip() not in old_lines:
            make = (partial(_read, hunk.path, each.without),)
            yield ChangedPiece(hunk.path, each.line, each.text, True, each.silent, make, each.what)


def _stands_before_rights(text: str, at: int) -> bool:
    """Whether a permission check follows, which an early exit above it bypasses."""
    rows = [row for row in text.split("\n")[at : at + 4] if row.strip() and not COMMENT.match(row)][:2]
    return bool(rows) and (GUARD.match(rows[0]) or ALONE.match(rows[0])) is not None and ALLOWS.search("\n".join(rows)) is not None


def _stands_before_a_no(text: str, at: int) -> bool:
    """Whether a check follows at once that says no or fails, which an early yes above it bypasses."""
    rows = [row for row in text.split("\n")[at : at + 5] if row.strip() and not COMMENT.match(row)][:3]
    if not rows or not (GUARD.match(rows[0]) or ALONE.match(rows[0])):
        return False
    body = [row for row in rows[1:] if _indent(row) > _indent(rows[0])]
    return any(NO.search(row) for row in (rows[0], *body))


def _is_in_rights(text: str, at: int) -> bool:
    """Whether a line belongs to a function whose name is about permissions."""
    rows = text.split("\n")
    deep = _indent(rows[at])
    head = next((row for row in reversed(rows[:at]) if HEAD.match(row) and _indent(row) < deep), "")
    return RIGHTS.search(head.partition("(")[0]) is not None


def _is_dated(condition: str) -> bool:
    """Whether each part of a new condition depends on a version or platform, by its code: one such word beside another part exempts nothing."""
    return all(DATED.search(WORDED.sub("", part)) for part in JOINS.split(REMARK.sub("", condition)))


def _is_less_safe(hunk: Hunk, added: tuple[str, ...]) -> bool:
    """Whether lines about permissions or safety were replaced by others that are not, and were not added elsewhere."""
    code = [line for line in hunk.removed if line.strip() and not PLAIN.match(line) and not is_arid_line(line)]
    words = {word.lower() for line in code for word in SAFETY.findall(line)}
    still = any(SAFETY.search(line) for line in hunk.new if not COMMENT.match(line))
    return (
        bool(words and words - _safety_words(added))
        and not still
        and len(hunk.removed) <= MOST_LINES
        and not any(map(HEAD.match, hunk.removed))
    )


@lru_cache(1)
def _safety_words(added: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.lower() for line in added for word in SAFETY.findall(line))


def _lost(hunk: Hunk, added: tuple[str, ...], whole: bool) -> str:
    """The safeguard that older code lost, the danger it gained, or what it no longer checks, in words; empty if whole functions were removed or added.
    `whole`: a check was removed, and is restored on its own."""
    old, new = ([line for line in side if not COMMENT.match(line) and not IMPORT.match(line)] for side in (hunk.removed, hunk.new))
    heads = [[line for line in side if HEAD.match(line)] for side in (old, new)]
    if len(heads[0]) != len(heads[1]) or (not hunk.new and len(old) > MOST_LINES) or not (hunk.removed or hunk.line):
        return ""
    return lost(old, new, added) or ("" if whole else weaker([line for line in old if not DATED.search(line)], new, added))


def _pieces(hunk: Hunk, text: str, added: tuple[str, ...], imports: list[str]) -> Iterator[ChangedPiece]:
    """The removed checks of a hunk, each restored (the whole hunk reverted if another check replaced it), and other lines that are simply gone."""
    lines, found = list(hunk.removed), list(_guards(list(hunk.removed)))
    comes = [line for line in hunk.new if GUARD.match(line) or MARK.match(line)]
    what = _lost(hunk, added, bool(found and not comes))
    is_check = any(ALLOWS.search(" ".join(lines[start:end])) for start, end in found)  # restored on its own, whatever else the hunk lost
    less = "" if what or is_check or (found and not comes) else _does_less(hunk, added)
    tried = found if not (comes and (what or less)) else []
    again = frozenset(comes)
    elsewhere = tuple(line for line in added if line not in again) if tried and comes else added
    called = _called_blocks(hunk, text) if tried else []
    for start, end in tried:
        block = lines[start:end]
        rights = ALLOWS.search(" ".join(block)) is not None
        moved = _is_moved(block, elsewhere)
        same = moved or _is_expression(block, [*added, " ".join(hunk.new)])
        if DATED.search(" ".join(block)) or _in_removed(lines, start) or (same and not rights) or _is_among(block, called):
            continue
        yield _reverted(hunk, text, block, rights) if comes else _piece(hunk, text, block, True, not moved, imports)
    if not found and hunk.new and _is_less_safe(hunk, added):
        yield _reverted(hunk, text, lines, True, imports)
    elif what:
        yield _reverted(hunk, text, lines, True, imports)._replace(what=what, form=_form(hunk))
    elif less:
        yield _reverted(hunk, text, lines, True, imports)._replace(guard=False, what=less, form=_form(hunk))
    elif not found and not hunk.new and not any(map(HEAD.match, lines)):
        left = [line for line in lines if line.strip() and not _is_plain(hunk.path, line)]
        if left and not all(_is_there(line, added) for line in left):
            effect = len(left) <= MOST_EFFECTS and stops([line for line in left if not _is_there(line, added)], text)
            yield _piece(hunk, text, lines, False, effect and not DATED.search(" ".join(left)), imports)


def _does_less(hunk: Hunk, added: tuple[str, ...]) -> str:
    """What older code no longer does, in words, judged by its form; empty if it depended on a version or platform."""
    sides = [[line for line in side if not _is_plain(hunk.path, line)] for side in (hunk.removed, hunk.new)]
    return "" if any(map(DATED.search, sides[0])) else does_less(sides[0], sides[1], added)


def _is_plain(path: str, line: str) -> bool:
    """Whether a line has no effect of its own. In Ruby, a line that starts with `@` is an instance variable, not a decorator."""
    return _is_import(path, line) or (PLAIN.match(line) is not None and not (path.endswith(".rb") and line.lstrip().startswith("@")))


def _is_moved(block: list[str], added: Sequence[str]) -> bool:
    """Whether a check was added elsewhere, along with what it raises, if anything."""
    fails = [line for line in block if FAILS.match(line)]
    again = [[other for other in added if other.split()[:1] == line.split()[:1]] for line in fails]
    return _is_there(block[0], added) and (not fails or any(map(_is_there, fails, again)))


def _is_expression(block: list[str], added: Sequence[str]) -> bool:
    """Whether `if C: return X` became `return X if C else Y`, or `return C ? X : Y`. Variables in a call of X may have other names."""
    rest = [line.strip().rstrip(";") for line in block[1:] if line.strip(" \t}")]
    if (head := CONDITION.match(block[0])) is None or len(rest) != 1 or not rest[0].startswith("return "):
        return False
    condition = re.escape(" ".join(head[1 + (head[1] is None)].split()))
    forms = [re.compile(form) for form in (rf"\breturn (.+?) if {condition} else\b", rf"(?:\breturn|=>) \(?{condition}\)? \? (.+?) : ")]
    values = [found[1] for line in added for form in forms if (found := form.search(" ".join(line.split())))]
    return any(_without_names(value) == _without_names(rest[0].removeprefix("return ")) for value in values)


def _without_names(value: str) -> str:
    return CALLED_WITH.sub("_", value) if "(" in value else value


def _form(hunk: Hunk) -> tuple[str, ...]:
    """The lines of a hunk without variable names; empty if it is about safety, where each place counts."""
    lines = [*hunk.removed, "", *hunk.new]
    return () if any(map(SAFETY.search, lines)) else tuple(" ".join(NAMED.sub("_", line).split()) for line in lines)


def _guards(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Where checks begin and end: a condition with the exit it leads to, or a line that is both."""
    at = 0
    while at < len(lines):
        line, end = lines[at], at + 1
        if MARK.match(line) or ALONE.match(line):
            yield at, end
        elif GUARD.match(line):
            end = _block_end(lines, at)
            body = lines[at + 1 : end] or [line.partition(":")[2] or line.partition(")")[2]]
            has_else = end < len(lines) and re.match(r"\s*}?\s*(?:else|elif|elsif)\b", lines[end]) is not None
            head_only = end == at + 1 == len(lines) and ALLOWS.search(line) is not None  # the hunk ends here, so its body is still there
            if (LEAVES.search(" ".join(body)) and not has_else) or head_only:
                yield at, end
        at = end


def _block_end(lines: list[str], at: int) -> int:
    """The index after a block, which includes deeper lines and the closing line."""
    depth, end = _indent(lines[at]), at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    if end < len(lines) and re.match(r"\s*(?:\}|end\b|\)\s*[:{]?)", lines[end]) and _indent(lines[end]) == depth:
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _in_removed(lines: list[str], at: int) -> bool:
    """Whether a piece was removed together with its function."""
    return any(n < at and deep < _indent(lines[at]) for n, deep in _heads(tuple(lines))) or HEAD.match(lines[at]) is not None


@lru_cache(1)
def _heads(lines: tuple[str, ...]) -> list[tuple[int, int]]:
    """The lines that begin a function or a class, and how deep each stands."""
    return [(n, _indent(line)) for n, line in enumerate(lines) if HEAD.match(line)]


def _is_there(line: str, added: Sequence[str]) -> bool:
    """Whether a line, or a very similar one, is among the added lines."""
    bare, (words, places) = line.split(), _by_word(tuple(added))
    few = (
        int((1 - SHARED) * len(bare) + 0.001) + 1
    )  # so many words of the line may be missing from a similar one, less one: it has one of the rarest
    rarest = sorted(bare, key=lambda word: len(places.get(word, ())))[:few]
    return any(_is_alike(bare, words[at]) for at in sorted({at for word in rarest for at in places.get(word, ())}))


@lru_cache(4)
def _by_word(lines: tuple[str, ...]) -> tuple[list[list[str]], dict[str, list[int]]]:
    """The words of each line, and for each word the lines that have it."""
    words, places = [line.split() for line in lines], dict[str, list[int]]()
    for at, line in enumerate(words):
        for word in dict.fromkeys(line):
            places.setdefault(word, []).append(at)
    return words, places


def _is_alike(one: list[str], other: list[str]) -> bool:
    """Whether two lines are mostly the same words in the same order. Words are counted first, since comparing their order is slow."""
    same = len(one) + len(other) if one == other else 2 * sum(map(set(one).__contains__, other))
    if same < ALIKE * (len(one) + len(other)):
        return False
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def _called_blocks(hunk: Hunk, text: str) -> list[list[list[str]]]:
    """The bodies of the functions that the new lines of a hunk call, line by line in words."""
    names = {name for line in hunk.new for name in re.findall(r"\b(\w+)\(", line)}
    rows = text.split("\n") if names else []
    heads = [n for n, row in enumerate(rows) if HEAD.match(row) and names & set(re.findall(r"\w+", row))]
    ends = ((n, _block_end(rows, n)) for n in heads)
    return [[row.split() for row in rows[n + 1 : end] if row.strip()] for n, end in ends if not n < hunk.at <= end]


def _is_among(block: list[str], bodies: Iterable[list[list[str]]]) -> bool:
    """Whether one of these functions contains the same check. Go's `err` checks are too common to count."""
    wanted = [line.split() for line in block if line.strip()]
    same = (body[at : at + len(wanted)] for body in bodies for at in range(len(body)))
    return not re.search(r"\berr\b", block[0]) and any(part == wanted for part in same)


def _piece(hunk: Hunk, text: str, block: list[str], guard: bool, sure: bool, imports: list[str]) -> ChangedPiece:
    """The piece restored before and after the lines that replaced it, since either may be right; last, the whole hunk reverted, since what the check
    uses may be gone as well."""
    first = hunk.at if not hunk.new else hunk.at - 1  # lines before the hunk
    places = dict.fromkeys((first, first + len(hunk.new)))
    make = tuple(partial(_with, hunk.path, text, block, at) for at in places)
    whole = _reverted(hunk, text, block, sure, imports).make if [line for line in hunk.removed if line.strip()] != block else ()
    return ChangedPiece(hunk.path, first + 1, "\n".join(block[:MOST_LINES]), guard, sure, (*make, *whole))


def _reverted(hunk: Hunk, text: str, block: list[str], sure: bool, imports: list[str] | None = None) -> ChangedPiece:
    """The whole hunk reverted, with the imports that it needs."""
    first = hunk.at - 1 if hunk.new else hunk.at  # lines before the hunk
    make = (partial(_with_imports, hunk.path, text, (list(hunk.removed), first, len(hunk.new)), imports or []),)
    return ChangedPiece(hunk.path, first + 1, "\n".join(block[:MOST_LINES]), True, sure, make)


def _with_imports(path: str, text: str, piece: tuple[list[str], int, int], imports: list[str]) -> str:
    made = _with(path, text, *piece)
    if path.endswith(".go"):
        return _with_go_imports(made, "\n".join(piece[0]), imports)
    return _with(path, made, imports, 0) if made and imports and "__future__" not in made else made


def _is_import(path: str, line: str) -> bool:
    return (GO_IMPORT if path.endswith(".go") else IMPORT).match(line) is not None


def _with_go_imports(text: str, piece: str, imports: list[str]) -> str:
    """A Go file with the imports that a piece needs, and no others, since unused imports are errors."""
    found = filter(None, map(GO_IMPORT.match, imports))
    needed = [each for each in found if re.search(rf"\b{re.escape((each['alias'] or each['path'].rpartition('/')[2]).strip())}\.", piece)]
    lines = [f'import {each["alias"] or ""}"{each["path"]}"' for each in needed if f'"{each["path"]}"' not in text]
    return re.sub(r"(?m)^package \w+.*$", lambda head: "\n".join([head[0], "", *lines]), text, count=1) if lines else text


def _with(path: str, text: str, block: list[str], at: int, without: int = 0) -> str:
    """The file with `block` at line `at`, replacing `without` lines; empty if the result does not parse."""
    lines = text.split("\n")
    return _read(path, "\n".join([*lines[:at], *block, *lines[at + without :]]))


def _read(path: str, made: str) -> str:
    """A text of a file as it is; empty if it could not be read."""
    if path.endswith(".py"):
        try:
            ast.parse(made)
        except (SyntaxError, ValueError, RecursionError):
            return ""
    return made
