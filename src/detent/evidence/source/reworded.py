"""Whether a rewritten expectation only follows the code: a message that the change rewords, or something it renames. The same words must leave code
and test, and the same must come. Pure, for any language: it compares words and knows no syntax except quoted strings."""

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher

from detent.evidence.source.diff import MOST_LINES, Rewritten, hunks

TOKEN = re.compile(r"[^\W\d]\w*|\d+|\S")
WORD = re.compile(r"[^\W\d]\w*")
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'|" + r"`(?:\\.|[^`\\])*`")
VALUES = frozenset(("True", "False", "None", "true", "false", "null", "nil", "undefined"))  # a message may start or stop showing one
QUOTES = frozenset("\"'`\\")
OF_ERRORS = re.compile(r"(?i)err(?:or|s)?\b|exception|raises|throws?\b|message|\bmsg\b|warn|panic")
REPLACES = re.compile(r"\b(?:\w*patch|setattr|setitem|\w*[mM]ock\w*|stub\w*|spy\w*|replace)\b")
PATH = re.compile(r"""(["'`])(?:[\w@.-]+[./:])+(\w+)\1""")
FEWEST = 2  # words of a message; a single word may be an answer


def is_reworded(rewritten: Rewritten, patch: bytes, is_code: Callable[[str], bool]) -> bool:
    """Whether an expectation differs only by words that messages in the changed code lost and gained."""
    differing = _differing(rewritten)
    if differing is None:
        return False
    of_code = [hunk for hunk in hunks(patch) if is_code(hunk.path)]
    before = _messages(line for hunk in of_code for line in hunk.removed)
    after = _messages(line for hunk in of_code for line in hunk.new)
    lost, got = _words(before - after), _words(after - before)
    removed, new = differing
    if not removed and not new:
        return before != after  # only the quotes around a value changed
    left = removed <= lost or bool(OF_ERRORS.search(rewritten.before))  # an error message may come from other code
    return left and new - (VALUES if not removed else frozenset()) <= got


def is_renamed(rewritten: Rewritten, patch: bytes, is_code: Callable[[str], bool]) -> bool:
    """Whether an expectation differs only by names that the changed code replaced one for one; the expected value is the same."""
    before, after = ([line for line in text.splitlines() if line.strip()] for text in (rewritten.before, rewritten.after))
    if len(before) != len(after) or len(before) >= MOST_LINES:
        return False
    of_code = [hunk for hunk in hunks(patch) if is_code(hunk.path)]
    was, now = _words(line for hunk in of_code for line in hunk.removed), _words(line for hunk in of_code for line in hunk.new)
    names = dict[str, str]()
    for old, new in zip(map(_named_tokens, before), map(_named_tokens, after), strict=True):
        if len(old) != len(new) or any(names.setdefault(a, b) != b for a, b in zip(old, new, strict=True)):
            return False
    other = {(a, b) for a, b in names.items() if a != b}
    return bool(other) and all(a in was - now and b in now - was for a, b in other)


def _named_tokens(line: str) -> list[str]:
    """The tokens of a line. Where it patches something, a quoted path counts by its last name."""
    return TOKEN.findall(PATH.sub(r"\1\2\1", line) if REPLACES.search(line) else line)


def _differing(rewritten: Rewritten) -> tuple[set[str], set[str]] | None:
    """The words that only one version has. None if anything else differs, or if a version is shown cut."""
    before, after = rewritten.before.splitlines(), rewritten.after.splitlines()
    if not after or len(before) >= MOST_LINES:
        return None
    removed, new = list[str](), list[str]()
    for line in before:
        tokens = TOKEN.findall(line)
        closest = max(after, key=lambda other: SequenceMatcher(None, tokens, TOKEN.findall(other), autojunk=False).ratio())
        if QUOTED.sub('""', line).split() != QUOTED.sub('""', closest).split():
            return None
        there = TOKEN.findall(closest)
        for what, a, b, c, d in SequenceMatcher(None, tokens, there, autojunk=False).get_opcodes():
            if what != "equal":
                removed += tokens[a:b]
                new += there[c:d]
    words = [{token for token in some if WORD.fullmatch(token)} for some in (removed, new)]
    if any(token.isdigit() for token in (*removed, *new)) or not (any(words) or QUOTES.issuperset((*removed, *new))):
        return None
    return words[0], words[1]


def _messages(lines: Iterable[str]) -> set[str]:
    """The quoted texts in these lines that are messages."""
    texts = {text[1:-1] for line in lines for text in QUOTED.findall(line)}
    return {text for text in texts if " " in text.strip() and len(WORD.findall(text)) >= FEWEST}


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text)}
