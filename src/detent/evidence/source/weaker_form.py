"""Whether lines of a test ask for less than the lines they replace, judged by form: equality became a bound, a type, or anything at all; only part
of an answer is compared, or a larger tolerance allowed; any error or call is accepted; or nothing replaced them. Pure.

Works on text in any language. A hit is no proof: an expectation may become a bound for good reasons.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from detent.evidence.source.diff import ROW, Hunk, Rewritten, bare, hunks

EQUAL = re.compile(
    r"(?<![=!<>])===?(?!=)|\bis (?!not\b)|\bassert_?(?:Equals?|List\w*|Dict\w*|Sequence\w*)\b|\bassertEquals?\b|\bassert_equal\b|\bassert_eq!|\b(?:to|should)\.eq"
    r"|\b(?:assert|require)\.Equal\w*\("
    r"|\bto(?:Be|Equal|StrictEqual|HaveLength|HaveBeenCalledTimes)\(|(?:deep|strict|deepStrict)Equal\(|\.equals?\(|\beq(?:\(|\s)|!=\s*(?:want|expected|tt?\.|tc\.)"
)
BOUND = re.compile(
    r"(?<![=!<>-])[<>]=?(?![=<>])|\bis not None\b|\bisinstance\(|\bassert(?:True|False|IsNotNone|IsInstance|Greater\w*|Less\w*|In|NotNull|NotEqual)\b"
    r"|\bassert!\(|\bto(?:BeTruthy|BeDefined|BeGreater\w*|BeLess\w*|Contain\w*|Match\w*|BeInstanceOf)\(|\.not\.to\w*\(|\bassert\.ok\(|\bassert\(|\bokay?\("
    r"|\bassert\b.*\b(?:in|or)\b|\bassert [\w.]+(?:\(.*\))?\s*$|\bbe_truthy\b|\bnot_to\b|\bany\(|\b(?:to|is_expected\.to)\s+(?:be_(?:an?|kind_of|instance_of|present|between|within"
    r"|positive)\b|respond_to\b|include\b|match\w*\b|satisfy\b|contain_exactly\b|start_with\b|end_with\b)|\bto(?:Satisfy|HaveProperty|BeTypeOf|BeOneOf|BeAny)\("
    r"|\bto\.(?:be\.(?:an?|ok|true|above|below|within|instanceof)|exist|include|contain|have\.(?:property|keys?|any))\b|\b(?:assert_kind_of|assert_instance_of|assert_includes|refute_nil)\b"
    r"|\b(?:assert|require)\.(?:NotNil|NotEmpty|NotZero|True|Contains|IsType|Len|Greater\w*|Less\w*)\("
)
ALIKE = 0.5
CLOSE = re.compile(r"approx|isclose|toBeCloseTo|assert_?AlmostEqual|InDelta|InEpsilon|be_within|EPSILON", re.IGNORECASE)
PART = re.compile(  # part of an answer: rounded, cut, counted, without order, case or space, or only its type
    r"\b(?:round|int|len|set|frozenset|sorted|bool|type|abs|floor|ceil|trunc|next|hash)\(|\[\s*-?\d*\s*:\s*-?\d*\s*\]|\[-?\d+\]"
    r"|\.(?:lower|upper|casefold|strip|lstrip|rstrip|split|startswith|endswith|keys|count|trim\w*|to_?lower_?case|to_?upper_?case|slice|substr\w*|take|first|head"
    r"|length|size|sort|sorted|to_set|to_i|chomp|squish|downcase|upcase|floor|ceil|round|toFixed|includes|indexOf|fields|truncate)\b"
    r"|\bMath\.\w+\(|\bnew Set\(|\btypeof\b|\bObject\.keys\(|!!|\bstrings\.\w+\(|\b(?:Number|parseInt|Boolean)\("
)
NUMBER = r"([-+]?\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)"
FAR = re.compile(rf"\b(?:abs|rel|abs_tol|rel_tol|delta|atol|rtol|epsilon)\s*[=:]\s*{NUMBER}|\bbe_within\({NUMBER}|\bIn(?:Delta|Epsilon)\w*\(.*,\s*{NUMBER}\s*\)",
                 re.IGNORECASE)  # fmt: skip
DIGITS = re.compile(rf"\bplaces\s*=\s*{NUMBER}|\btoBeCloseTo\(.*,\s*{NUMBER}\s*\)|\bassertAlmostEqual\(.*,.*,\s*{NUMBER}\s*\)")
ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:pytest\.)?(?:raises|warns)\((?P<asked>[^\n]*)\)",
        r"\bassert(?:Raises|Warns)(?:Regexp?)?\((?P<asked>[\w.]+(?:,\s*r?[\"'][^\"'\n]*[\"'])?)",
        r"\.(?:to(?:Throw|ThrowError|throw)|rejectedWith|throws?)\((?P<asked>[^\n]*)\)\s*;?$",
        r"\bassert\.(?:throws|rejects)\(.*(?:\)|\}|\w)(?P<asked>,\s*[^,()]+(?:\([^()]*\))?)?\)\s*;?$",
        r"\braise_(?:error|exception)\b[( ]?(?P<asked>[^\n]*?)\)?$",
        r"\bassert_raises?\b[( ](?P<asked>[^\n){]*)",
    )
)  # how a test says which error it expects
ANY_ERROR = re.compile(r"[\s,]*(?:(?:Base)?Exception|StandardError|Error|Throwable|RuntimeError)?[\s,]*")
CALLS = tuple(
    (re.compile(strong), re.compile(weak))
    for strong, weak in (
        (r"\bassert_(?:called_once_with|called_with|has_calls|any_call)\b", r"\bassert_called(?:_once)?\("),
        (r"\bto(?:HaveBeen|Be)(?:Last|Nth)?Called(?:Once)?(?:With|Times)\(", r"\bto(?:HaveBeen|Be)Called\("),
        (r"\bcalled(?:Once)?With(?:Exactly)?\b", r"\bcalled(?:Once)?\b"),
        (r"\b(?:have_)?receive(?:d)?\b.*\.(?:with|once|exactly)\b", r"\b(?:have_received|receive)\([^)]*\)(?!\.)"),
        (r"\b[tb]\.(?:Error|Fatal)f?\(", r"\b[tb]\.(?:Log|Skip)f?\("),
        (r"\b(?:ErrorIs|ErrorAs|EqualError|ErrorContains)f?\(", r"\bErrorf?\("),
        (r"\berrors\.(?:Is|As)\(", r"\berr\s*[!=]=\s*nil\b"),
    )
)  # a specific expectation about a call or an error, and its unspecific form
WAITED = re.compile(r"^(?:await|return)\s+(?=\S)")
WHOLE = re.compile(  # a one-line statement that is an expectation
    r"^\s*(?:assert\b(?!\s*\($)|self\.assert|expect\(|assert[._]\w+\(|(?:t|b)\.(?:Error|Fatal)|(?:require|assert|is|qt|c)\.\w+\(|with (?:pytest\.)?raises\("
    r"|assert(?:_\w+)?!\(|(?:must|wont|should)_\w+|\$this->assert|Assert\.|EXPECT_|ASSERT_).*[^(\[{,\s]\s*$"
)
NARROW = 0.01  # the largest new tolerance that only allows for floating point


def asks_for_less(rewritten: Rewritten) -> bool:
    """Whether an equality became something weaker, compared line by line."""
    new = [line.strip() for line in rewritten.after.splitlines() if line.strip()]
    old = [line.strip() for line in rewritten.before.splitlines() if line.strip()]
    equal = [line for line in old if EQUAL.search(line) or CLOSE.search(line)]
    one = new[0] if len(new) == len(old) == 1 else ""
    return any(_is_weaker(line, counterpart) for line in equal if (counterpart := _likest(line, new))) or any(
        _takes_any(line, counterpart) for line in old if (counterpart := _likest(line, new) or one)
    )


def dropped_expectations(patch: bytes, is_test: Callable[[str], bool]) -> Iterator[Rewritten]:
    """Expectations that were removed and neither replaced by something similar nor moved."""
    found = [hunk for hunk in hunks(patch) if is_test(hunk.path)]
    there = Counter(bare(line) for hunk in found for line in hunk.new)
    for hunk in found:
        new = [line.strip() for line in hunk.new if line.strip()]
        for place, line in enumerate(hunk.removed, hunk.line):
            if _is_expectation(line, hunk) and not there[bare(line)] and not _likest(line.strip(), new):
                yield Rewritten(f"{hunk.path}:{place}", line, "")


def _is_expectation(line: str, hunk: Hunk) -> bool:
    """Whether a line is an expectation by itself, or a row of a table that only lost rows."""
    return bool(WHOLE.match(line)) or (not hunk.new and bool(ROW.match(line)))


def _is_weaker(was: str, now: str) -> bool:
    if BOUND.search(now) and not EQUAL.search(now) and not CLOSE.search(now):
        return True
    return _further_off(was, now) or bool(Counter(PART.findall(now)) - Counter(PART.findall(was)) and _asks_alike(was, now))


def _takes_any(was: str, now: str) -> bool:
    """Whether a named error or call became any error or call, or an answer is no longer awaited."""
    if any(strong.search(was) and not strong.search(now) and weak.search(now) for strong, weak in CALLS):
        return True
    for form in ERRORS:
        before, after = form.search(was), form.search(now)
        if before and after and (asked := (before["asked"] or "").strip(" ,")) != (left := (after["asked"] or "").strip(" ,")):
            return (not ANY_ERROR.fullmatch(asked) and ANY_ERROR.fullmatch(left) is not None) or asked.startswith(f"{left},")
    return WAITED.match(was) is not None and WAITED.sub("", was) == now and re.search(r"\bexpect\(|\bassert\b", now) is not None


def _asks_alike(was: str, now: str) -> bool:
    """Whether two lines ask mostly the same question; another question may rightly be about a part only."""
    words = set(re.findall(r"[A-Za-z_]\w*", was))
    return len(words & set(re.findall(r"[A-Za-z_]\w*", now))) >= len(words) * ALIKE


def _further_off(was: str, now: str) -> bool:
    """Whether the tolerance grew."""
    limits, digits = ([_numbers(which, line) for line in (was, now)] for which in (FAR, DIGITS))
    if limits[0] or limits[1]:
        return max(limits[1], default=0.0) > max(limits[0], default=NARROW)
    return bool(digits[1]) and min(digits[1]) < min(digits[0], default=2.0)


def _numbers(which: re.Pattern[str], line: str) -> list[float]:
    return [
        float(each.replace("_", "")) for found in which.findall(line) for each in (found if isinstance(found, tuple) else (found,)) if each
    ]


def _likest(line: str, new: list[str]) -> str:
    """The line that most likely replaced another one; empty if none is similar."""
    likeness = {each: SequenceMatcher(None, line, each, autojunk=False).ratio() for each in new}
    found = max(new, key=likeness.__getitem__, default="")
    return found if found and likeness[found] >= ALIKE else ""
