"""Whether a rewritten expectation only follows the code: a message that the change words differently, or something that has another name now. The
same words left the code and the test, and the same words came. Pure, and in any language: it compares words, and knows nothing of syntax but how a text in quotes begins and ends.
"""

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher

from detent.evidence.source.diff import MOST_LINES, Rewritten, hunks

TOKEN = re.compile(r"[^\W\d]\w*|\d+|\S")
WORD = re.compile(r"[^\W\d]\w*")
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'|" + r"`(?:\\.|[^`\\])*`")
VALUES = frozenset(
    ("True", "False", "None", "true", "false", "null", "nil", "undefined")
)  # a message may show one that it did not show before
QUOTES = frozenset("\"'`\\")
OF_ERRORS = re.compile(r"(?i)err(?:or|s)?\b|exception|raises|throws?\b|message|\bmsg\b|warn|panic")
REPLACES = re.compile(r"\b(?:\w*patch|setattr|setitem|\w*[mM]ock\w*|stub\w*|spy\w*|replace)\b")
PATH = re.compile(r"""(["'`])(?:[\w@.-]+[./:])+(\w+)\1""")
FEWEST = 2  # words that make a text a message: one alone may be an answer


def is_reworded(said: Rewritten, patch: bytes, is_code: Callable[[str], bool]) -> bool:
    """Whether all that differs in an expectation are words that the messages of the changed code lost and got."""
    differing = _differing(said)
    if differing is None:
        return False
    of_code = [hunk for hunk in hunks(patch) if is_code(hunk.path)]
    before = _messages(line for hunk in of_code for line in hunk.gone)
    after = _messages(line for hunk in of_code for line in hunk.new)
    lost, got = _words(before - after), _words(after - before)
    gone, new = differing
    if not gone and not new:
        return before != after  # quotes came around a value, or went
    left = gone <= lost or bool(OF_ERRORS.search(said.before))  # the message of an error may have been somebody else's
    return left and new - (VALUES if not gone else frozenset()) <= got


def is_renamed(said: Rewritten, patch: bytes, is_code: Callable[[str], bool]) -> bool:
    """Whether all that differs are names, one for one, that the changed code lost and got: what is expected stays as it was."""
    before, after = ([line for line in text.splitlines() if line.strip()] for text in (said.before, said.after))
    if len(before) != len(after) or len(before) >= MOST_LINES:
        return False
    of_code = [hunk for hunk in hunks(patch) if is_code(hunk.path)]
    was, now = _words(line for hunk in of_code for line in hunk.gone), _words(line for hunk in of_code for line in hunk.new)
    names = dict[str, str]()
    for old, new in zip(map(_named_tokens, before), map(_named_tokens, after), strict=True):
        if len(old) != len(new) or any(names.setdefault(a, b) != b for a, b in zip(old, new, strict=True)):
            return False
    other = {(a, b) for a, b in names.items() if a != b}
    return bool(other) and all(a in was - now and b in now - was for a, b in other)


def _named_tokens(line: str) -> list[str]:
    """The tokens of a line. Where it puts something in the place of something else, a path in quotes counts by the name at its end."""
    return TOKEN.findall(PATH.sub(r"\1\2\1", line) if REPLACES.search(line) else line)


def _differing(said: Rewritten) -> tuple[set[str], set[str]] | None:
    """The words that only one of the two versions has. None if anything else differs, or if what was there is shown only in part."""
    before, after = said.before.splitlines(), said.after.splitlines()
    if not after or len(before) >= MOST_LINES:
        return None
    gone, new = list[str](), list[str]()
    for line in before:
        tokens = TOKEN.findall(line)
        closest = max(after, key=lambda other: SequenceMatcher(None, tokens, TOKEN.findall(other), autojunk=False).ratio())
        if QUOTED.sub('""', line).split() != QUOTED.sub('""', closest).split():
            return None
        there = TOKEN.findall(closest)
        for what, a, b, c, d in SequenceMatcher(None, tokens, there, autojunk=False).get_opcodes():
            if what != "equal":
                gone += tokens[a:b]
                new += there[c:d]
    words = [{token for token in some if WORD.fullmatch(token)} for some in (gone, new)]
    if any(token.isdigit() for token in (*gone, *new)) or not (any(words) or QUOTES.issuperset((*gone, *new))):
        return None
    return words[0], words[1]


def _messages(lines: Iterable[str]) -> set[str]:
    """The texts in these lines that are messages."""
    texts = {text[1:-1] for line in lines for text in QUOTED.findall(line)}
    return {text for text in texts if " " in text.strip() and len(WORD.findall(text)) >= FEWEST}


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text)}
