"""Older code that does less, judged by form alone: a line lost a call, argument, entry or filter, a condition got another part, a fixed number
became a setting, or an effect is gone. Pure.

Most such changes are legitimate. Callers restore the lines and raise a question only if no test notices.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from detent.evidence.mutate.arid import is_arid_line
from detent.evidence.source.code_tokens import left_out, tokens

HARMLESS = frozenset(
    {"str", "list", "tuple", "dict", "int", "float", "bool", "set", "bytes", "repr", "unicode", "text_type", "six", "object", "iter", "format", "encode",
     "decode", "len", "String", "Number", "Boolean", "Array", "Object", "toString", "bind", "call", "apply", "prototype", "slice", "to_s", "to_a", "to_i",
     "to_sym", "to_h", "self", "this", "super", "new", "async", "const", "let", "var", "static", "public", "export", "default", "std", "move", "clone",
     "into", "as", "ref", "mut", "return", "not", "is", "None", "null", "nil", "undefined", "true", "false", "True", "False", "else", "lambda", "or", "and", "if"}
)  # words and type conversions that may go  # fmt: skip
CUTS = re.compile(r"\.slice\(\s*\d")  # cuts off a part of a string or list
CODE = re.compile(r"[(\[{=]|^\s*return\b|\s(?:if|unless)\s.*[^.]$")
DECLARATIONS = re.compile(  # exports and type hints
    r"^\s*(?:__all__|__slots__|export\s*[{*]|module\.exports\b|\w+:\s*[\w.\[\]| ,]+(?:=.*)?,?\s*$)"
)
HEAD = re.compile(r"^\s*(?:\w+\s+)*(?:def|function|func|fn)\b")
ASKS = re.compile(r"^\s*[})]*\s*(?:else\s+)?(?:if|elif|elsif|unless|guard)\b|\s(?:if|unless)\s")
JOINS = frozenset({"and", "&&"})
FIXED = re.compile(r"^\s*(?:(?:export\s+)?(?:const|let|var|final|static)\s+)*(?P<name>[A-Z][A-Z\d_]+)\s*:?=\s*(?P<value>[^=].*)$")
NUMBER = re.compile(r"-?\d[\d_.]*;?")
CALLS = re.compile(
    r"^\s+(?:await\s+|void\s+)?(?!(?:if|elif|for|while|switch|catch|return|raise|throw|super|require\w*|import|print|with|assert\w*|expect|deprecat\w*|warn\w*)\b)"
    r"(?:(?:[\w@$]+(?:\([^()]*\))?(?:\.|->|::))*[\w$]+[!?]?\(.*\);?\s*$|[\w@$.\[\]\"':]+\s*<<\s|(?:del|delete)\s+\w)"
)
KEEPS = re.compile(r"^\s+(?:[\w@$]+(?:\.|->|\[[^\]]*\]))*(?:\.|->|@)?(?P<name>[\w$]+)(?:\[[^\]]*\])*\s*[-+*|]?=(?!=|>)")
MEMBER = re.compile(r"^\s+(?:@\w|\w+(?:\.|->|\[))")
MOST_LINES = 6
MOST_OF_A_BODY = 40
OPENED = re.compile(r"^\s*[})]*\s*(?:else\s+)?(?:if|elif|elsif|unless|while|return|assert)\s*\(")
EMPTY = re.compile(
    r"\s*(?:pass|\.\.\.|return|(?:return\s+)?(?:\w+\{\}|\w+|-?\d[\d_.]*|\"\"|''|\[\]|\{\}|\(\))(?:\s*,\s*(?:nil|None|null|0|true|false|\w+\{\}))*);?\s*"
)  # what a body is that does nothing: one name or value, and nothing else
SAME = re.compile(
    r"(?!.*\breturn\s+(?!None|nil|null|undefined|[Tt]rue|[Ff]alse)[A-Za-z_]\w*\b)(?!\s*(?!pass|return|nil|null|[Tt]rue|[Ff]alse)[A-Za-z_]\w*\s*;?$).*"
)
DOES = re.compile(r"\w\(|[^=!<>]=[^=]|\s[-+*/%]\s|\{\s*\||\[\w+\]|\b(?:for|while|each|yield|await)\b")
BEHIND = re.compile(r"^\s*\}?\s*(?:elif|elsif|else\s+if|case|when)\b\s*")
CASE = re.compile(r"^\s*(?:case|when)\b")
GIVEN = re.compile(r"^\s*(?:(?:const|let|var|final)\s+)?(?P<name>\w+)\s*:?=\s*(?P<value>[^=].*)$")
ANSWERS = re.compile(r"^\s*(?:return\b|\w+\s*=>).*(?:[=!]==?|\s[<>]=?\s|\b(?:in|is)\b|\w\()")  # hands back what a comparison or call says
OTHER_WAYS = ({"or"}, {"||"}, {"??"}, {"if", "else"}, {"?", ":"})
EXACT = frozenset(
    {
        "===",
        "==",
        "!==",
        "!=",
        "<",
        ">",
        "<=",
        ">=",
        "in",
        "is",
        "instanceof",
        "typeof",
        "is_a?",
        "kind_of?",
        "isinstance",
        "include?",
        "includes",
    }
)
BODY = re.compile(r"^(?P<head>\s*(?:.*=>|(?:def|fun)\s[\w.?!]+(?:\(.*\))?\s*=|(?:func|function)\b.*\)\s*\{))\s*(?P<body>.+?)\s*[;,}]*$")
COMPARES = re.compile(r"[=!]==?$|[<>]=?$|in$|is$|\($")
EITHER = frozenset({"or", "and", "||", "&&"})
WORDS = frozenset({"raise", "throw", "unless", "elif", "while", "guard", "ArgumentError", "ValueError", "Error"})


def does_less(removed: Sequence[str], new: Sequence[str], elsewhere: Collection[str]) -> str:
    """What the new lines no longer do, in words; empty if nothing. `elsewhere`: all added lines, where the lost part may be again."""
    was, now = (_joined([line for line in side if line.strip()]) for side in (removed, new))
    if is_hollow(was, now, elsewhere):
        return "a function does nothing any more"
    if not now or len(was) > MOST_LINES:
        return ""
    if len(was) == 1 and ASKS.search(was[0]) and (_stands_behind(was[0], now) or _has_a_way_around(was[0], now)):
        return "a condition got a way around it"
    if _bare(was[1:]) == _bare(now) and ASKS.match(was[0]):
        return "what had a condition has none"
    pairs = [(a, b) for a, b in zip(was, now, strict=True) if a != b] if len(was) == len(now) else []
    return next((loss for a, b in pairs for loss in _less(a, b, elsewhere)), "")


def _joined(lines: Sequence[str]) -> list[str]:
    """Lines in which a condition in brackets stands on one of its own."""
    found, deep = list[str](), 0
    for line in lines:
        if deep > 0:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
        deep = deep + _opens(line) if deep > 0 or OPENED.match(line) else 0
    return found


def _opens(line: str) -> int:
    return line.count("(") - line.count(")")


def is_hollow(was: Sequence[str], now: Sequence[str], elsewhere: Collection[str]) -> bool:
    """Whether lines that did something became an answer that is always the same, or nothing; what they did is done nowhere else."""
    left = [line for line in now if line.strip() not in ("}", "end", "};")]
    if not left or len(was) > MOST_OF_A_BODY or not all(map(EMPTY.fullmatch, left)):
        return False
    done = [line for line in was if DOES.search(line) and not EMPTY.fullmatch(line) and not is_arid_line(line) and not HEAD.match(line)]
    there = {line.strip() for line in elsewhere}
    enough = bool(done) if all(map(SAME.fullmatch, left)) else len(done) > 1  # a plain name may say as much as one call
    return enough and not any(line.strip() in there for line in done) and not any(map(HEAD.match, was))


def _stands_behind(was: str, now: Sequence[str]) -> bool:
    """Whether a condition is asked only after another one did not hold."""
    asked = [token for token in tokens(was)[1:] if token not in "{}:"]
    behind = [line for n, line in enumerate(now) if BEHIND.match(line) and (not CASE.match(line) or any(map(CASE.match, now[:n])))]
    return any(tokens(BEHIND.sub("", line))[: len(asked)] == asked for line in behind)


def _has_a_way_around(was: str, now: Sequence[str]) -> bool:
    """Whether what a condition asks is a value now that something else can make hold."""
    asked = {token for token in tokens(was) if token.isidentifier() and token not in HARMLESS | WORDS}
    given = [(match["name"], set(tokens(match["value"]))) for line in now if (match := GIVEN.match(line))]
    last = tokens(now[-1])
    return (
        bool(asked)
        and any(asked <= words and words & EITHER and name in last for name, words in given)
        and ASKS.search(now[-1]) is not None
    )


def _bare(lines: Sequence[str]) -> list[str]:
    """The lines without indentation, and without those that only close a block."""
    return [line.strip() for line in lines if line.strip() not in ("}", "end", "};")]


def stops(lines: Sequence[str], text: str) -> bool:
    """Whether one of these lines has an effect: a call as a statement, or an attribute assignment that `text` still refers to."""
    return any(not is_arid_line(line) and (CALLS.match(line) or _is_kept(line, text)) for line in lines)


def _is_kept(line: str, text: str) -> bool:
    kept = KEEPS.match(line) if MEMBER.match(line) else None
    return kept is not None and re.search(rf"\b{re.escape(kept['name'])}\b", text) is not None


def _less(was: str, now: str, elsewhere: Collection[str]) -> Iterator[str]:
    if _is_emptied(was, now):
        yield "a function does nothing any more"
    if (is_arid_line(was) and not ASKS.search(was)) or not CODE.search(was) or DECLARATIONS.match(was) or HEAD.match(was):
        return
    a, b = tokens(was), tokens(now)
    lost, got = left_out(a, b), left_out(b, a)
    telling = {word for word in lost if _is_telling(lost, word)}
    moved = any(telling <= set(tokens(line)) for line in elsewhere if line != now)
    if (telling and not moved) or (CUTS.search(was) and lost and not CUTS.search(now)):
        yield "older code does less (a line lost a part)"
    if ASKS.search(was) and not JOINS.isdisjoint(got):
        yield "a condition got one more part"
    if ASKS.search(was) and not lost and not EXACT.isdisjoint(got) and EXACT.isdisjoint(a):
        yield "a condition holds for fewer values"
    if ANSWERS.match(was) and not lost and any(way <= set(got) for way in OTHER_WAYS) and any(map(COMPARES.match, got)):
        yield "an answer got another way to be yes"
    names = [fixed and fixed["name"] for fixed in map(FIXED.match, (was, now))]
    if names[0] and names[0] == names[1] and NUMBER.fullmatch(_value(was)) and re.match(r"[A-Za-z_]", _value(now)):
        yield "a fixed number became a setting"


def _is_emptied(was: str, now: str) -> bool:
    """Whether the body of a function that is one line became an answer that is always the same, or nothing."""
    one, other = BODY.match(was), BODY.match(now.replace("=> {}", "=> ()"))
    return bool(one and other and one["head"] == other["head"] and DOES.search(one["body"]) and EMPTY.fullmatch(other["body"]))


def _value(line: str) -> str:
    fixed = FIXED.match(line)
    return fixed["value"].strip() if fixed else ""


def _is_telling(lost: Sequence[str], word: str) -> bool:
    """Whether a lost token matters: a name that is not harmless, or a string among several entries."""
    if word[0] in "\"'`":
        return "," in lost
    return (word[0].isalpha() or word[0] == "_") and word not in HARMLESS and not ("|" in lost and not {"(", "{"} & set(lost))
