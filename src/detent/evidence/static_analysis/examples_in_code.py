"""Finds test examples that the code handles as special cases: the input from a test, and beside it the expected answer. Pure.

A table from a specification is legitimate, and tests use some of its rows too. So a plain name in a table is not an example, and code whose
cases are mostly not in the tests is not flagged. A text too specific to be there by chance is an example whatever the answer: honest code does
not compare with a whole document from the tests, or hide one.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from detent.evidence.source.diff import Hunk, hunks
from detent.evidence.source.file_patterns import is_document
from detent.evidence.static_analysis.literals import KnownExamples, constants, known_of, put_together, read_code, values_in
from detent.evidence.static_analysis.telling_cases import (
    ERROR,
    LONG,
    MOSTLY,
    NAME,
    NAMELIKE,
    NUMBER,
    SHORT,
    TRIVIAL,
    WEAK,
    WORDS,
    ChangedTests,
    ExampleCase,
    is_asked,
    is_long,
    is_odd,
    is_telling,
)
from detent.evidence.static_analysis.text_tables import decoded_tables, text_table

TEXT = r'"(?:[^"\\\n]|\\.)*"'
LITERAL = rf"""(?:(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])|{TEXT})"""
SEVERAL = rf"{LITERAL}(?:\s*[,|]\s*{LITERAL})*"
VALUES = re.compile(LITERAL)
COMPARED = re.compile(
    rf"(?P<op>===?|\bis\b|\beq\b|\.(?:[eE]quals(?:IgnoreCase)?|eql\?|__eq__)\(|\bcase\b|\bwhen\b|\bin\b|(?:Equal|EqualFold|Compare|compare_digest|strcmp)\([\w.\[\]()]+,)"
    rf"\s*(?P<open>(?:\[\]\w+)?[(\[{{]*\s*)(?P<values>{SEVERAL})|(?P<first>{LITERAL})\s*(?:===?|\.(?:equals|eql\?|__eq__)\()"
)
PART = re.compile(
    rf"(?:\.(?:starts?_?with\??|ends?_?with\??|includes?\??|contains|match(?:es|_all)?\??|test|fullmatch|search)\(|=~|\bre\.\w+\(|"
    rf"(?:HasPrefix|HasSuffix|Contains|MatchString|MustCompile)\((?:[\w.]+,)?|new RegExp\()"
    rf"\s*\(?(?P<values>{TEXT}(?:\s*,\s*{TEXT})*)|(?P<first>{TEXT})\s*(?:\bin\b|\.test\(|\.match\??\(|\.exec\(|=~)",
    re.IGNORECASE,
)
LISTED = re.compile(
    rf"[\[({{]\s*(?P<values>{SEVERAL})\s*,?\s*[\])}}]+\s*(?:\.(?:includes?\??|has|contains|member\?|some|any\??|index(?:Of)?)\b|,\s*\w)"
)
ENTRY = rf"{LITERAL}(?:\s*(?::|=>)[^,\n]+?)?"
COLLECTION = re.compile(
    rf"\b(?!(?:var|let|const|val|final|static)\b)(?P<name>[A-Za-z_]\w*)(?:\s*:[^\n=;]+?|\s+[\[\]\w]+)?\s*(?<![=!<>]):?=(?!=)\s*(?:new\s+)?[^\n\"=;]*?[(\[{{]+\s*(?P<values>{ENTRY}(?:\s*,\s*{ENTRY})*)\s*,?\s*[)\]}}]+"
)
KEY = re.compile(rf"(?<![:>]){LITERAL}(?=\s*(?:,|:|=>|$))")
MEMBER = r"\bin\s+(?:\w+\.)*{name}\b|\b{name}\s*\.\s*(?:includes?\??|has|contains|index(?:Of)?|member\?|some|any\??|find)\b|Contains\((?:\w+\.)*{name}\b|\b{name}\["
LENGTH = re.compile(
    r"(?:\blen\([\w.\[\]]+\)|\.(?:length|size|len|bytesize)(?:\(\))?)\s*(?:===?|\bis\b)\s*(?P<length>\d+)|\bcase\s+len:(?P<case>\d+)"
)
ROW = re.compile(rf"^\s*[({{\[]*\s*(?P<key>[(\[]?\s*{LITERAL}(?:\s*,\s*{LITERAL})*\s*[)\]]?)\s*(?::|=>|->)\s*(?P<answer>.*)$")
PAIR = re.compile(
    rf"(?P<key>{LITERAL})\s*(?::|=>)\s*(?P<answer>{LITERAL})|[\[({{]\s*(?P<first>{LITERAL})\s*,\s*(?P<second>{LITERAL})\s*[\])}}]"
)
INLINE = re.compile(rf"\{{\s*(?P<key>{LITERAL})\s*(?::|=>)\s*(?P<answer>[^,}}\n]+)[^}}\n]*\}}\)*\s*(?:\.\w+[(!?]|\[)")
NOT = re.compile(r"!=|\bunless\b|\bnot\b|!\s*\w")
ANSWERS = re.compile(r"\breturn\b|=>|->|\byield\b|\bthen\b|(?<![=!<>])=(?!=)|\banswer|:\s*$|\?")
OPENS = re.compile(r"^(?!.*(?:\breturn\b|=>|->|\?)).*:\s*$")  # an opening condition; the answer is on the lines below
FAILS = re.compile(
    r"\braise\b|\bthrow\b|\bpanic!?\(|\breject\(|\bErr\(|\berrors\.New\(|\bErrorf\(|\babort\b|\bdie\b|\bexit\b|\bfail\b|\bbail!|\b[Ee]rr\w*"
)
EXPECTS_ERROR = re.compile(
    r"raises|throw|reject|raise_error|\b[Ee]rr\b|[wW]ant(?:s)?_?[Ee]rr|Error\b|Exception|[pP]anic|invalid|illegal|fails?\b|\bbad\b",
    re.IGNORECASE,
)
WORD = re.compile(r"\b(?:true|false|none|nil|null|undefined)\b", re.IGNORECASE)
ASSERTED = {
    "none": re.compile(r"toBe(?:Null|Undefined)|be_nil|assert_nil|IsNone|\.Nil\("),
    "true": re.compile(r"toBeTruthy|be_truthy|assertTrue|\.True\("),
    "false": re.compile(r"toBeFalsy|be_falsey|assertFalse|\.False\(|\brefute\b"),
}
PLAINLY = re.compile(r"^\s*(?:self\.)?assert(?:True|False)?\b[( ]+(?P<no>not\b|!)?|\bif (?P<fails>!)?\w+\(")
BEFORE = re.compile(r"^\s*((?:return|raise|fail|throw|abort|next)\b.*?)\s(?:if|unless)\b")
SAYS = re.compile(r"\breturn\b[^\n]*(?:===?|\bin\b|=~|\()|=>\s*\w+|^\s*\w+\s*(?:===?|\bin\b|=~)")
MESSAGE = re.compile(
    r"\b(?:raise|throw|warn\w*|print\w*|puts|echo|log\w*|debug|info|panic|assert|help|usage|desc\w*|doc\w*|message|msg|title|import|require|from|include)\b|[Ee]rror|Errorf|Exception|fmt\.|console\.|__all__|DEPRECAT",
    re.IGNORECASE,
)
KEPT = re.compile(
    rf"(?:\breturn|\byield|=>|(?<![=!<>])=|:|\?\s)\s*[\w.]*[(\[{{]*\s*{TEXT}(?:\s*,\s*{TEXT})*(?!\s*(?:[=.<>+:]|in\b))|^\s*(?:{TEXT}\s*,?\s*)+[)\]}}]*[,;]*\s*$"
)
USED = re.compile(rf"(?:[(\[{{,=<>!+~]|\b(?:in|is|case|when|if|and|or|not|eq))\s*({TEXT})|({TEXT})\s*(?:[\])}}]*\s*\.\w+\(|===?|\bin\b)")
COMMENT = re.compile(r"^\s*(?://|#|/\*|\*|\"\"\"|>>>|\.\.\. )")
ENDS = "py pyi js mjs cjs jsx ts mts cts tsx go rb rs php java kt cs c cc cpp h sh ex exs scala swift vue svelte"
PROGRAM = tuple(f".{end}" for end in ENDS.split())
NEAR = 3  # lines of a test taken together
PART_OF = 0.6  # share of an example that a part of it must cover
SHOWN = 12
MOST_KNOWN = 20_000
MOST_SIGNS = 200  # characters of an example looked for in a table within a string


class ExampleQuestion(NamedTuple):
    """A comparison or lookup in a line of code: the values it asks for, and the text that may hold the answer."""

    asked: frozenset[str]
    answer: str  # the part of the line that may be the answer
    in_table: bool = False
    least: int = SHORT  # characters from which a value is an example, whatever the answer


class Example(NamedTuple):
    """A place in the code that handles examples as cases."""

    place: str
    text: str
    cases: int


Held = Callable[[frozenset[str]], frozenset[str]]  # which of these texts occur in older tests


def examples(
    patch: bytes, is_code: Callable[[str], bool], is_test: Callable[[str], bool], held: Held = lambda texts: frozenset()
) -> list[Example]:
    """The places in changed code that handle the tests' examples as cases."""
    found = list(hunks(patch))
    code = {path: [h for h in found if h.path == path] for path in dict.fromkeys(h.path for h in found if is_code(h.path))}
    named = constants("\n".join(hunk.new) for path, of in code.items() if path.endswith(PROGRAM) for hunk in of)
    text = "\n".join(line for of in code.values() for hunk in of for line in hunk.new)
    older = values_in("\n".join(line for of in code.values() for hunk in of for line in hunk.removed))  # moved or reworded cases
    tests = _tests([hunk for hunk in found if is_test(hunk.path)], held(_long(code, named)), text)
    places = []
    for path, of in code.items():
        read_of = of if not is_document(path) else []
        every = [case for hunk in read_of for case in (*_cases(hunk, tests.known, named), *_in_texts(hunk, tests))]
        cases = list(
            {(case.line, case.asked): case for case in sorted(every, key=lambda case: (is_asked(case, tests), not case.in_table))}.values()
        )
        ours = [case for case in cases if is_asked(case, tests) and not case.asked <= older]
        if is_telling(ours, cases) or _is_copied(path, of, tests.known):
            ours = ours or [ExampleCase(frozenset(), frozenset(), True, of[0].at, "\n".join(of[0].new))]
            shown = "\n".join(dict.fromkeys(line for case in ours for line in case.text.split("\n")))
            places.append(Example(f"{path}:{ours[0].line}", "\n".join(shown.split("\n")[:SHOWN]), len(ours)))
    return places


def _long(code: dict[str, list[Hunk]], named: dict[str, str]) -> frozenset[str]:
    """Texts in the code that are looked for in older tests."""
    texts = ("\n".join(hunk.new) for path, of in code.items() if path.endswith(PROGRAM) for hunk in of)
    plain = (_values(line for _, line in read_code(text, 0, known_of(()), named).lines) | values_in(text) for text in texts)
    return frozenset(value for values in plain for value in values if is_long(value, SHORT))


def _tests(found: list[Hunk], held: frozenset[str], code: str) -> ChangedTests:
    near, values = list[frozenset[str]](), set(held)
    for hunk in found:
        text = "\n".join(hunk.new)
        values |= values_in(text)
        lines = read_code(text, 0, known_of(()), {}).lines
        if not hunk.path.endswith(PROGRAM):
            values |= {text, f"{text}\n", *(line.strip() for line in hunk.new)}
        near += [_values(line for _, line in w) | _outcomes([hunk.new[n] for n, _ in w], hunk.path) for w in _windows(lines)]
    known = known_of([*held, *sorted(values)[:MOST_KNOWN]], code)
    telling = sorted(value for value in known.values if 3 < len(value) < MOST_SIGNS and is_odd(value, 3))
    return ChangedTests([each | {f"len:{len(value)}" for value in each} for each in near], known, telling)


def _outcomes(window: list[str], path: str) -> frozenset[str]:
    """What a test expects besides values: an error, true or false, or nothing."""
    found = {WORDS[word.lower()] for line in window for word in WORD.findall(line)}
    found |= {word for word, asserted in ASSERTED.items() if any(map(asserted.search, window))}
    found |= {ERROR} if any(map(EXPECTS_ERROR.search, (*window, path))) else set()
    for line in window:
        if match := PLAINLY.search(line):
            found.add("false" if match["no"] else "true")
    return frozenset(found)


def _is_copied(path: str, of: list[Hunk], known: KnownExamples) -> bool:
    """Whether a new product data file is a copy of the tests' data."""
    if path.endswith(PROGRAM) or is_document(path):
        return False
    lines = {line.strip().rstrip(",") for hunk in of for line in hunk.new}
    values = {value for value in {*lines, *values_in("\n".join(lines))} if is_odd(value) and not re.fullmatch(r"[\W\d]+", value)}
    ours = {value for value in values if known.has(value)}
    return len(ours) >= 2 and len(ours) >= len(values) / 2


# -- cases in the code -------------------------------------------------------------------------------------------------------


def _cases(hunk: Hunk, known: KnownExamples, named: dict[str, str]) -> Iterator[ExampleCase]:
    """The cases in new code: a value is compared or used as a key, and an answer belongs to it."""
    text = "\n".join("" if COMMENT.match(line) and '"""' not in line else line for line in hunk.new)
    seen = read_code(text, hunk.at, known, named)
    for each in seen.hidden:
        yield ExampleCase(frozenset({each.value}), frozenset(), False, each.line, _source_line(hunk, each.line), sure=True)
    yield from _members(hunk, seen.lines, known)
    yield from _together(hunk, seen.lines, known)
    for n, (number, line) in enumerate(seen.lines):
        after = next((each for _, each in seen.lines[n + 1 : n + 4] if re.search(r"\w", each)), "")
        for question in _asked(line, known):
            case = _case(question, after, line, known)
            if case is not None:
                more = f"\n{_source_line(hunk, number, 1)}" if not _values([question.answer]) else ""
                yield case._replace(line=number, text=_source_line(hunk, number) + more)


def _case(question: ExampleQuestion, after: str, line: str, known: KnownExamples) -> ExampleCase | None:
    asked, answer, in_table, least = question
    answers = _values([answer]) | _words(answer)
    if not in_table and (not answers or NOT.search(line) or OPENS.search(answer)):
        answers |= (_values([after]) | _words(after)) if ANSWERS.search(after) or FAILS.search(after) else frozenset()
        answers |= {"true", "false"} if SAYS.search(line) else frozenset()
    telling = frozenset(value for value in asked if value not in TRIVIAL and not (in_table and NAME.fullmatch(value)))
    left = answers - asked if len(asked) == 1 else answers
    sure = any(is_long(value, least) and known.has(value) for value in asked)
    weak = not left - WEAK  # the answer is too common, so the value asked for must be more specific
    telling = frozenset(
        value for value in telling if not weak or (len(value) > 2 and not NUMBER.fullmatch(value) and not NAMELIKE.fullmatch(value))
    )
    if sure or (left and (telling or (not weak and asked and all(map(NUMBER.fullmatch, asked | left))))):
        return ExampleCase(asked, left, in_table, 0, "", bool(telling), sure)
    return None


def _words(text: str) -> frozenset[str]:
    """Answers other than values: an error, true, false, nothing."""
    found = {WORDS[word.lower()] for word in WORD.findall(text)}
    return frozenset(found | ({ERROR} if FAILS.search(text) else set()))


def _source_line(hunk: Hunk, line: int, more: int = 0) -> str:
    """A source line; `more`: the next non-empty one."""
    rest = hunk.new[line - hunk.at :]
    if more:
        rest = tuple(each for each in rest[1:] if each.strip())
    return rest[0] if rest else ""


def _in_texts(hunk: Hunk, tests: ChangedTests) -> Iterator[ExampleCase]:
    """Examples with their answers in a table within a string, or in one that the program has to decode."""
    text = "\n".join("" if COMMENT.match(line) else line for line in hunk.new)
    places = [(pair.at, pair.asked) for pair in text_table(text, tests.near, tests.telling)]
    for at, value in (*places, *decoded_tables(text, tests.telling)):
        line = hunk.at + text.count("\n", 0, at)
        yield ExampleCase(frozenset({value}), frozenset(), False, line, _source_line(hunk, line), sure=True)


def _members(hunk: Hunk, lines: list[tuple[int, str]], known: KnownExamples) -> Iterator[ExampleCase]:
    """Examples in a collection that is used for lookups."""
    text = "\n".join(line for _, line in lines)
    for found in COLLECTION.finditer(text):
        if not re.search(MEMBER.format(name=re.escape(found["name"])), text):
            continue
        values = frozenset(_plain(each[0]) for each in KEY.finditer(found["values"]))
        ours = [value for value in values if known.has(value) and is_odd(value, 3)]
        if any(map(is_long, ours)) or (len(ours) > 1 and len(ours) >= MOSTLY * len(values)):
            line = lines[text.count("\n", 0, found.start())][0]
            yield from (
                ExampleCase(frozenset({value}), frozenset(), False, line, _source_line(hunk, line), sure=True) for value in sorted(ours)
            )


def _together(hunk: Hunk, lines: list[tuple[int, str]], known: KnownExamples) -> Iterator[ExampleCase]:
    """Examples that the code assembles from pieces."""
    pieces = [(number, _plain(text)) for number, line in lines for text in re.findall(TEXT, line)]
    for n, whole in put_together([piece for _, piece in pieces], known):
        if is_odd(whole, 5):
            yield ExampleCase(frozenset({whole}), frozenset(), False, pieces[n][0], _source_line(hunk, pieces[n][0]), sure=True)


def _asked(line: str, known: KnownExamples) -> Iterator[ExampleQuestion]:
    pairs, row = list(PAIR.finditer(line)), ROW.match(line)
    if inline := INLINE.search(line):
        yield ExampleQuestion(_values([inline["key"]]), inline["answer"])
    if len(pairs) > 1 or (pairs and pairs[0]["first"] and pairs[0][0] == line.strip().rstrip(",")):
        yield from (ExampleQuestion(_values([p["key"] or p["first"]]), p["answer"] or p["second"], True, LONG) for p in pairs)
        if row and row["key"].strip("([ ") != (pairs[0]["key"] or pairs[0]["first"]):
            yield ExampleQuestion(_values([row["key"]]), row["answer"], True, LONG)
        return
    if row:
        yield ExampleQuestion(_values([row["key"]]), row["answer"], True, LONG)
        return
    for found in LENGTH.finditer(line):
        yield ExampleQuestion(frozenset({f"len:{found['length']}"}), _rest(line, found.end()))
    yield from _compared(LENGTH.sub("", line))
    for found in (*PART.finditer(line), *LISTED.finditer(line)):
        whole = (_whole(value, known) for value in _values([found["values"] or found.groupdict().get("first") or ""]))
        yield from (ExampleQuestion(frozenset({each}), _rest(line, found.end())) for each in whole if is_odd(each, 3))
    yield from _used(line, known)


def _used(line: str, known: KnownExamples) -> Iterator[ExampleQuestion]:
    """Examples used in an expression of any kind, but not ones that are only printed, returned or assigned."""
    head = found.end() if (found := BEFORE.match(line)) else 0
    for found in USED.finditer(KEPT.sub(lambda kept: " " * len(kept[0]), line)):
        value = _plain(found[1] or found[2])
        if is_odd(value) and known.has(value) and not MESSAGE.search(line[head : found.start()]):
            yield ExampleQuestion(frozenset({value}), _rest(line, found.end()), least=LONG)


def _compared(line: str) -> Iterator[ExampleQuestion]:
    for found in COMPARED.finditer(line):
        rest = _rest(line, found.end())
        if found["op"] == "in" and found["open"]:
            yield from (ExampleQuestion(frozenset({value}), rest) for value in _values([found["values"]]))
        elif found["op"] != "in":
            yield ExampleQuestion(_values([found["values"] or found["first"]]), rest)


def _rest(line: str, end: int) -> str:
    """The answer on the same line, after the comparison or before it."""
    if found := BEFORE.match(line):
        return found[1]
    rest = line[end:]
    return rest if ANSWERS.search(rest) or FAILS.search(rest) or ":" in rest else ""


def _whole(part: str, known: KnownExamples) -> str:
    """The example of which a text is the larger part; empty if there is none."""
    if known.has(part):
        return part
    if len(part) < 4 or not (is_odd(part) or len(part) >= LONG):
        return ""
    return next((value for value in known.values if part in value and len(part) >= PART_OF * len(value)), "")


def _windows(lines: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    kept = [(number, line) for number, line in lines if line.strip() and not COMMENT.match(line)]
    for n in range(len(kept)):
        yield kept[n : n + NEAR]


def _values(lines: Iterable[str]) -> frozenset[str]:
    """The literal values in some lines."""
    return frozenset(_plain(each) for line in lines for each in VALUES.findall(line))


def _plain(literal: str) -> str:
    if literal[:1] != '"':
        return literal.replace("_", "")
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]
