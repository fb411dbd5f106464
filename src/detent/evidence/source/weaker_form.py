"""Whether lines of a test ask for less than those in whose place they came, by their form: equality became a bound, a type, or anything at all. Pure.

In any language, by its text. What it names is no proof: an expectation may honestly become a bound.
"""

import re
from difflib import SequenceMatcher

from detent.evidence.source.diff import Rewritten

EQUAL = re.compile(
    r"(?<![=!<>])===?(?!=)|\bis (?!not\b)|\bassert_?(?:Equals?|List\w*|Dict\w*|Sequence\w*)\b|\bassertEquals?\b|\bassert_equal\b|\bassert_eq!|\b(?:to|should)\.eq"
    r"|\bto(?:Be|Equal|StrictEqual|HaveLength|HaveBeenCalledTimes)\(|(?:deep|strict|deepStrict)Equal\(|\.equals?\(|\beq(?:\(|\s)|!=\s*(?:want|expected|tt?\.|tc\.)"
)
BOUND = re.compile(
    r"(?<![=!<>-])[<>]=?(?![=<>])|\bis not None\b|\bisinstance\(|\bassert(?:True|False|IsNotNone|IsInstance|Greater\w*|Less\w*|In|NotNull|NotEqual)\b"
    r"|\bassert!\(|\bto(?:BeTruthy|BeDefined|BeGreater\w*|BeLess\w*|Contain\w*|Match\w*|BeInstanceOf)\(|\.not\.to\w*\(|\bassert\.ok\(|\bassert\(|\bokay?\("
    r"|\bassert\b.*\b(?:in|or)\b|\bassert [\w.]+(?:\(.*\))?\s*$|\bbe_truthy\b|\bnot_to\b|\bany\("
)
ALIKE = 0.5
CLOSE = re.compile(r"approx|isclose|toBeCloseTo|assertAlmostEqual|InDelta|be_within|EPSILON", re.IGNORECASE)


def asks_for_less(said: Rewritten) -> bool:
    """Whether an equality became something weaker, line by line. What compares numbers with a fraction is left alone."""
    new = [line.strip() for line in said.after.splitlines() if line.strip()]
    gone = [line.strip() for line in said.before.splitlines() if EQUAL.search(line)]
    return any(_is_weaker(_likest(line, new)) for line in gone)


def _is_weaker(line: str) -> bool:
    return bool(BOUND.search(line)) and not EQUAL.search(line) and not CLOSE.search(line)


def _likest(line: str, new: list[str]) -> str:
    """The line that most likely came in the place of another one; empty where none is like it."""
    likeness = {each: SequenceMatcher(None, line, each, autojunk=False).ratio() for each in new}
    found = max(new, key=likeness.__getitem__, default="")
    return found if found and likeness[found] >= ALIKE else ""
