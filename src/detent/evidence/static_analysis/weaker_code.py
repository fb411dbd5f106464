"""Code that checks less than the lines it replaced, judged by form alone, in any language: a condition lost a part, an error became something
else, a boolean was flipped, a number is a hundred times larger, a pattern lost its anchors. Pure.

This proves nothing by itself: `probes/removed_checks.py` restores the lines, and only what no test notices is flagged.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from detent.evidence.source.code_tokens import TOKEN, left_out, tokens

CONDITION = re.compile(
    r"^\s*[})]*\s*(?:else\s+)?(?:if|elif|elsif|unless|while|when|guard|return|assert|require)\b|^\s*(?:raise|throw|return|next|break|fail)\b.*\s(?:if|unless)\s"
    r"|^\s*(?:(?:const|let|var|final)\s+)?[\w.@]+\s*:?=\s|=>"
)
JOINS = frozenset({"or", "and", "&&", "||"})
YES_OR_NO = frozenset({"True", "False", "true", "false"})
LOOSER = frozenset(
    frozenset(pair.split())
    for pair in (
        "=== ==", "!== !=", "== !=", "=== !==", "all any", "all? any?", "every some", "and or", "&& ||", "fullmatch match", "fullmatch search", "match search",
        "< <=", "> >=", "< >", "<= >=", "<= >", ">= <",
    )
)  # which of the two checks less depends on the context  # fmt: skip
NUMBER = re.compile(r"(?<![\w.\"'{])-?\d[\d_]*(?:\.\d+)?(?![\w.])")
ANCHOR = re.compile(r"\^|\$(?=[\"'/`)])|\\[AzZ]")
PATTERN = re.compile(r"[\"'`/].*[\[\]*+?\\^$].*[\"'`/]")
JOINED = re.compile(r"^\s*(?:\|\||&&|or\b|and\b)|\S\s*(?:\|\||&&)\s*$")  # a part of a condition on a line of its own
ASKED = re.compile(r"\w\(|[=!<>]=|\s[<>]\s|\|\||&&")  # code, not prose
FAILS = re.compile(
    r"^\s*(?:raise\b|throw\b|panic!?\(|abort\b|die\b|bail!|fail\b|reject\(|return\s+(?:[\w.\"'{}]+,\s*)*(?:\w*[eE]rr\w*\b|errors\.\w|fmt\.Errorf|Err\(|Promise\.reject))"
)
AGAIN = re.compile(r"^\s*(?:raise|throw)(?:\s+(?P<name>\w+))?;?\s*$")
CATCHES = re.compile(r"^\s*\}?\s*(?:except|rescue|catch)\b(?:.*(?:\bas\s+|=>\s*|\()(?P<name>\w+)\)?\s*[:{]?\s*$)?")
CATCHES_ALL = re.compile(r"^\s*except(?:\s+(?:Base)?Exception\b.*)?\s*:|^\s*\}?\s*catch\s*(?:\(\w+\))?\s*\{")
TRIES = re.compile(r"^\s*(?:try|begin)\b|^\s*\}?\s*(?:finally|ensure)\b")  # no other handler remains
LEAVES = re.compile(r"\b(?:raise|throw|return|panic|abort|die|bail|fail|reject\w*|exit|continue|break|yield|\w*[eE]rr(?:or)?s?)\b")
MISSING = re.compile(r"NotImplemented|unimplemented|todo", re.IGNORECASE)
MARK = re.compile(r"^\s*@(?P<name>[A-Za-z_][\w.]*)(?:\(.*\))?\s*(?:#.*|//.*)?$")
HARMLESS = re.compile(
    r"(?:.*\.)?(?:\w*cache\w*|overload|override|Override|deprecated|Deprecated|final|property|\w+\.setter|staticmethod|classmethod|abstract\w*|wraps|dataclass|no_type_check)"
)  # decorators that guard nothing
GUARDS = re.compile(
    r"(?i)(?<![a-z])(?:guard|require(?!\b|_relative\b)|ensure|assert|check|valid|verif|saniti|escap|auth|permi|allow|secur|safe|owner|admin|login|csrf|limit|restrict|base(?:name)?\b|freeze"
    r"|same_?origin|clean)\w*|[a-z](?:Guard|Check|Valid|Verif|Saniti|Escap|Auth|Permi|Secur|Safe|Owner|Admin|Login|Limit)\w*"
)  # names of calls that guard something
CALLED = re.compile(
    r"^\s*(?:await\s+)?(?:(?P<of>[\w.]+)\s*:?=\s*)?(?:[\w@]+\.)*(?P<name>[A-Za-z_]\w*)[!?]?(?(of)\(\s*(?P=of)|[( ][\w\"':(@])"
)  # called as a statement, or to replace its own argument
WITHOUT_END = re.compile(r"^(?:Infinity|MAX_SAFE_INTEGER|MAX_VALUE|MaxInt\d*|MaxUint\d*|MaxFloat64|INFINITY|inf|maxsize|MinCost)$")
COSTS = re.compile(r"(?i)bcrypt|rounds|iterations|\bcost\b|pbkdf2|scrypt")
LETTERS = re.compile(r"\[\^?(?:[^\]\\\n]|\\.)+\]")  # a character class in a pattern
TELLING = frozenset("./\\<>'\"&;$`|(){}*?%:@")
RIGHTFUL = re.compile(
    r"(?i)\w*(?:admin|allow|whitelist|trusted|permit|roles?\b|superuser|owner|exempt|bypass|origins?\b|safe_?list)\w*[\"']?\s*(?:=>?|:=?)"
)
HANDLES = re.compile(r"^\s*(?:\}\s*)?(?:except\b.*:|rescue\b.*|catch\b.*\{)\s*$")
SAYS_YES = re.compile(r"^\s*(?:return\s+)?(?:[Tt]rue|nil, nil|True, None)\s*;?\s*$")
HANDS_ON = re.compile(r"^\s*return\s+(?:.*,\s*)?(?:err\w*|\w+Err|fmt\.Errorf\(.*|errors\.\w+\(.*)\s*$")  # in Go
HANDS_NONE = re.compile(
    r"^\s*return\s+(?:.*,\s*)?nil\s*$|^\s*(?:log|slog|logger|fmt|l|\w+[lL]og(?:ger)?)\.\w+\(.*\berr\b|^\s*_\s*=\s*err\b|^\s*(?:continue|break)\s*$"
)
SCHEMA = re.compile(r"\b(?:z|[Jj]oi|yup|v|t|S|Schema|schema|Type|validate\w*)\s*\.\w|\bvalidates?\b")
PART = frozenset(
    {"email", "url", "uri", "uuid", "ip", "min", "max", "length", "regex", "pattern", "positive", "nonnegative", "negative", "int", "integer",
     "strict", "required", "nonempty", "datetime", "finite", "matches", "oneOf", "valid", "lowercase", "alphanum", "startsWith", "endsWith",
     "refine", "presence", "format", "inclusion", "numericality", "uniqueness", "lte", "gte", "lt", "gt"}
)  # what a schema may require of a value  # fmt: skip
MUCH = 100
MOST_PAIRS = 400  # pairs of lines that are compared


def weaker(removed: Sequence[str], new: Sequence[str], elsewhere: Collection[str]) -> str:
    """What these lines no longer check, in words; empty if nothing. `elsewhere`: all added lines, where one of them may be again."""
    there, words = _added(tuple(elsewhere))
    was = [line for line in removed if line.strip() and line.strip() not in there]
    now = [line for line in new if line.strip() and line not in removed]
    pairs = list(product(was, now) if len(was) * len(now) <= MOST_PAIRS else zip(was, now, strict=False))
    grows = sum(map(_asks, now)) > sum(map(_asks, was))
    if not grows and any(_lost_part(a, b, words) for a, b in pairs):
        return "a condition lost a part"
    if len(was) == len(now) and any(_loosened(a, b) for a, b in pairs):
        return "a comparison was changed"
    found = (what for what, form in FORMS if any(form(a, b) for a, b in pairs))
    return next(found, "") or next(_removed(was, now, elsewhere), "") or _forgiven(removed, new)


@lru_cache(1)
def _added(lines: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """All added lines without indentation, and their tokens: the same for each hunk of a change."""
    return frozenset(map(str.strip, lines)), frozenset(word for line in lines for word in TOKEN.findall(line))


def _removed(was: Sequence[str], now: Sequence[str], elsewhere: Collection[str]) -> Iterator[str]:
    """What is simply gone: errors, parts of conditions, guarding calls, decorators."""
    again = _raised_again(was, now)
    fails = [
        line for line in was if FAILS.match(line) and not MISSING.search(line) and not _fails_alike(line, elsewhere) and line not in again
    ]
    if fails and not any(CONDITION.match(line) for line in was if line not in fails) and not any(map(LEAVES.search, now)):
        yield "an error was replaced by something else"
    parts = [line for line in was if JOINED.search(line) and ASKED.search(line)]
    if parts and not any(map(JOINED.search, now)) and not any(map(CONDITION.match, was)):
        yield "a condition lost a part"
    calls = [match["name"] for line in was if not now and (match := CALLED.match(line)) and GUARDS.match(match["name"])]
    if any(not any(name in line for line in elsewhere) for name in calls):
        yield "a guarding call was removed"
    marks = [[match["name"] for line in side if (match := MARK.match(line))] for side in (was, now)]
    if len(marks[0]) > len(marks[1]) and not all(map(HARMLESS.fullmatch, marks[0])):
        yield "a decorator was removed"


def _forgiven(removed: Sequence[str], new: Sequence[str]) -> str:
    """What no longer fails in all cases: an error got a condition, or became a success."""
    if any(HANDLES.match(a) and SAYS_YES.match(b) for a, b in pairwise(new)) and not any(map(HANDLES.match, removed)):
        return "an error became a yes"
    if any(map(HANDS_ON.match, removed)) and any(map(HANDS_NONE.match, new)) and not any(map(HANDS_ON.match, new)):
        return "an error is no longer returned"
    for was in filter(FAILS.match, removed):
        bare = was.strip().rstrip(";")
        near = [line for line in new if bare in line]
        deeper = (line for line in near if line.strip().rstrip(";") == bare and _indent(line) > _indent(was))
        inline = (
            line
            for line in near
            if re.match(r"\s*if\b.*" + re.escape(bare), line) or re.match(r"\s*" + re.escape(bare) + r"\s+(?:if|unless)\b", line)
        )
        if (any(deeper) and any(map(_asks, new)) and not any(map(_asks, removed))) or any(inline):
            return "an error got a condition"
    return ""


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _asks(line: str) -> bool:
    return re.match(r"\s*[})]*\s*(?:else\s+)?(?:if|elif|elsif|unless|while|when|guard)\b", line) is not None


def _raised_again(was: Sequence[str], now: Sequence[str]) -> list[str]:
    """The removed lines that re-raised the error of their handler, if the handler is gone too, so that the error is raised anyway. None if another
    handler may catch it now."""
    caught = [match["name"] for line in was if (match := CATCHES.match(line))]
    alone = any(map(CATCHES_ALL.match, was)) or any(map(TRIES.match, (*was, *now)))
    if not caught or not alone or any(map(CATCHES.match, now)):
        return []
    return [line for line in was if (match := AGAIN.match(line)) and (match["name"] is None or match["name"] in caught)]


def _fails_alike(line: str, elsewhere: Collection[str]) -> bool:
    """Whether the same error was added elsewhere, perhaps with another message."""
    return tuple(TOKEN.findall(line)[:3]) in _errors(tuple(elsewhere))


@lru_cache(1)
def _errors(lines: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """How the lines begin that raise or return an error."""
    return frozenset(tuple(TOKEN.findall(line)[:3]) for line in lines if FAILS.match(line))


def _lost_part(was: str, now: str, words: Collection[str]) -> bool:
    """Whether a line is the old one without a part of its condition that is checked nowhere else."""
    a, b = (tokens(line) for line in (was, now))
    left = left_out(a, b) if a[:1] == b[:1] and any(map(str.isidentifier, b[1:])) and CONDITION.match(was) else []
    return not JOINS.isdisjoint(left) and any(re.match(r"\w", word) and word not in words for word in left if word not in JOINS)


def _loosened(was: str, now: str) -> bool:
    return CONDITION.match(was) is not None and _differ(was, now, LOOSER.__contains__)


def _turned(was: str, now: str) -> bool:
    return _differ(was, now, lambda pair: pair <= YES_OR_NO)


def _differ(was: str, now: str, fits: Callable[[frozenset[str]], bool]) -> bool:
    """Whether two lines differ only in such pairs of tokens."""
    a, b = TOKEN.findall(was), TOKEN.findall(now)
    pairs = [frozenset(pair) for pair in zip(a, b, strict=False) if pair[0] != pair[1]]
    return len(a) == len(b) and bool(pairs) and all(map(fits, pairs))


def _much_larger(was: str, now: str) -> bool:
    """Whether two lines differ only in numbers, one of which is now far larger or zero."""
    if NUMBER.sub("0", was).split() != NUMBER.sub("0", now).split():
        return False
    sides = ([float(each.replace("_", "")) for each in NUMBER.findall(line)] for line in (was, now))
    return any(a != b and (abs(b) >= MUCH * max(1.0, abs(a)) or b == 0) for a, b in zip(*sides, strict=True))


def _unanchored(was: str, now: str) -> bool:
    return len(now) < len(was) and ANCHOR.sub("", was) == ANCHOR.sub("", now) and PATTERN.search(was) is not None


def _unwrapped(was: str, now: str) -> bool:
    """Whether a line is the old one without a guarding call, around a value or among its arguments."""
    a, b = (tokens(line) for line in (was, now))
    left = left_out(a, b) if len(b) < len(a) <= len(b) + 8 and b else []
    names = [token for token in left if token.isidentifier()]
    return bool(names) and all(token.isidentifier() or token in "().,!" for token in left) and GUARDS.match(names[-1]) is not None


def _unawaited(was: str, now: str) -> bool:
    """Whether a guarding call is no longer awaited, or what comes of any call is thrown away (`void`)."""
    a, b = TOKEN.findall(was), TOKEN.findall(now)
    return a[:1] == ["await"] and ((a[1:] == b and any(map(GUARDS.match, a[1:4]))) or ["void", *a[1:]] == b)


def _unlimited(was: str, now: str) -> bool:
    """Whether a limit became unreachable, or a password hash became cheaper to crack."""
    a, b = TOKEN.findall(was), TOKEN.findall(now)
    if COSTS.search(was) and NUMBER.sub("0", was).split() == NUMBER.sub("0", now).split():
        sides = ([float(each.replace("_", "")) for each in NUMBER.findall(line)] for line in (was, now))
        return any(y < x for x, y in zip(*sides, strict=True))
    return any(map(WITHOUT_END.match, b)) and not any(map(WITHOUT_END.match, a)) and a[:2] == b[:2] and any(token.isdigit() for token in a)


def _lets_more(was: str, now: str) -> bool:
    """Whether a character class gained characters with a special meaning, such as slashes or quotes."""
    if LETTERS.sub("[]", was) != LETTERS.sub("[]", now) or not PATTERN.search(was):
        return False
    pairs = list(zip(LETTERS.findall(was), LETTERS.findall(now), strict=True))
    return any(TELLING & (set(y) - set(x)) for x, y in pairs) and all(x == y or (x[1] != "^" and set(x) < set(y)) for x, y in pairs)


def _asks_less_of_a_value(was: str, now: str) -> bool:
    """Whether a schema lost a requirement on a value."""
    a, b = tokens(was), tokens(now)
    return SCHEMA.search(was) is not None and not PART.isdisjoint(left_out(a, b))


def _lists_more(was: str, now: str) -> bool:
    """Whether a list of permissions or allowed values gained an entry."""
    a, b = tokens(was), tokens(now)
    left = left_out(b, a) if RIGHTFUL.search(was) else []
    return any(token[0] in "\"'`" for token in left) and all(token[0] in "\"'`,|" for token in left)


def _holds_for_less(was: str, now: str) -> bool:
    """Whether a `before_action` filter got a condition."""
    return (
        was.strip().startswith("before_action") and re.match(re.escape(was.rstrip()) + r",\s*(?:only|except|if|unless):", now) is not None
    )


FORMS: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("a boolean was flipped", _turned),
    ("a limit became far larger, or none", _much_larger),
    ("a pattern lost an anchor", _unanchored),
    ("a pattern lets more through", _lets_more),
    ("a guarding call was removed", _unwrapped),
    ("a check is no longer awaited", _unawaited),
    ("a limit was removed, or a password hash became cheaper to crack", _unlimited),
    ("a filter covers less", _holds_for_less),
    ("a schema asks less of a value", _asks_less_of_a_value),
    ("a list of who may do what has more in it", _lists_more),
)
