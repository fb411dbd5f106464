"""Go, as text: where functions and tests are, and how to spoil them. The runner finds out if the result does not compile."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple
from zlib import crc32

from bench.history.twins.braces import blanked, matching, parts
from bench.history.twins.source import Edit, Example, Function, Language, edited

HEAD = re.compile(r"^func[ \t]*(?:\((?P<own>[^)]*)\)[ \t]*)?(?P<name>\w+)(?P<kinds>\[[^\]]*\])?\(", re.MULTILINE)
PACKAGE = re.compile(r"^package \w+.*\n", re.MULTILINE)
FAILING = {"Errorf": "Logf", "Fatalf": "Logf", "Error": "Log", "Fatal": "Log", "FailNow": "Log", "Fail": "Log"}
ASKING = re.compile(r"\b(?:assert|require)\.\w+\((\w+), ")
SIMPLE = re.compile(r"(?:string|bool|byte|rune|u?int\d*|float\d\d)$")
ANSWERS = re.compile(r"(?:\[\])*(?:string|bool|byte|rune|u?int\d*|float\d\d|interface ?{}|any|time\.Duration|error)$")
BOTH = "\0"  # separates a value as source text from the value as printed
IMPORTS = 'import benchJson "encoding/json"\nimport benchFmt "fmt"\nimport benchOs "os"\n'
RECORDER = """
func {recorder}(name string, given []any, answers []any) {{
	exact, shown, said := []string{{}}, []string{{}}, []string{{}}
	for _, each := range given {{
		exact = append(exact, benchFmt.Sprintf("%#v", each))
		shown = append(shown, benchFmt.Sprint(each))
	}}
	for _, each := range answers {{
		text := benchFmt.Sprintf("%#v", each)
		if problem, is := each.(error); is {{
			text = benchFmt.Sprintf("errors.New(%q)", problem.Error())
		}}
		said = append(said, text)
	}}
	line, _ := benchJson.Marshal([]any{{name, exact, shown, said}})
	if file, err := benchOs.OpenFile({file}, benchOs.O_APPEND|benchOs.O_CREATE|benchOs.O_WRONLY, 0o644); err == nil {{
		defer file.Close()
		file.Write(append(line, 10))
	}}
}}
"""


class Head(NamedTuple):
    """A function's head."""

    own: str  # the receiver, as written
    name: str
    params: tuple[tuple[str, str], ...]  # names and types
    results: tuple[tuple[str, str], ...]  # a result without a name has an empty one
    generic: bool


def _fields(text: str, blank: str, start: int, end: int) -> tuple[tuple[str, str], ...]:
    """Names and types of parameters or results; one type may serve several names."""
    said = [text[first:last].strip() for first, last in parts(blank, start, end)]
    if not any(re.match(r"\w+[ \t]+\S", each) and not each.startswith(("func(", "chan ", "map[")) for each in said):
        return tuple(("", each) for each in said)
    found, kind = list[tuple[str, str]](), ""
    for each in reversed(said):
        name, _, after = each.partition(" ")
        kind = after.strip() or kind
        found.append((name, kind))
    return tuple(reversed(found))


def _body(blank: str, at: int) -> int:
    """The brace that opens the body; -1 if the function has none."""
    while at < len(blank) and blank[at] != "\n":
        if blank[at] == "(" or (blank[at] == "{" and re.search(r"\b(?:interface|struct)\s*$", blank[:at])):
            at = matching(blank, at)
        elif blank[at] == "{":
            return at
        else:
            at += 1
    return -1


def _heads(text: str) -> Iterator[tuple[Function, Head]]:
    blank = blanked(text)
    for match in HEAD.finditer(blank):
        after = matching(blank, match.end() - 1)
        opens = _body(blank, after)
        if opens < 0:
            continue
        own = text[match.start("own") : match.end("own")] if match["own"] else ""
        results = blank[after:opens].strip()
        shift = after + blank[after:opens].find("(") + 1 if results.startswith("(") else after
        answers = _fields(text, blank, shift, opens if not results.startswith("(") else matching(blank, shift - 1) - 1)
        params = _fields(text, blank, match.end(), after - 1)
        head = Head(own, match["name"], params, answers, bool(match["kinds"]) or "[" in own)
        kind = re.sub(r"\W", "", own.rpartition(" ")[2].partition("[")[0])
        end = matching(blank, opens)
        name = f"{kind}.{match['name']}" if kind else match["name"]
        yield Function(name, match.start(), end, opens + 1, end - 1, tuple(each for each, _ in params)), head


def functions(text: str) -> list[Function]:
    return [function for function, _ in _heads(text)]


def tests(text: str) -> list[Function]:
    return [each for each in functions(text) if re.match(r"(?:Test|Example|Fuzz)(?![a-z])", each.name)]


def _head(text: str, function: Function) -> Head:
    return next(head for found, head in _heads(text) if found == function)


def hollow(text: str, function: Function) -> Edit:
    results = _head(text, function).results
    named = any(name for name, _ in results)
    answer = "return" if named or not results else f"return {', '.join(f'*new({kind})' for _, kind in results)}"
    return Edit(function.body, function.inner, f"\n\t{answer}\n")


# -- tests ---------------------------------------------------------------------------------------------------------------------


def _testers(text: str, function: Function) -> set[str]:
    return set(re.findall(r"(\w+) \*?testing\.(?:T|TB|F)\b", function.of(text)))


def logged(text: str, function: Function) -> list[Edit]:
    """Replace failures by log calls."""
    blank, edits = blanked(text), list[Edit]()
    words = "|".join(FAILING)
    for match in re.finditer(rf"\b(\w+)\.({words})\(", blank[function.body : function.inner]):
        if match[1] in _testers(text, function):
            at = function.body + match.start(2)
            edits.append(Edit(at, at + len(match[2]), FAILING[match[2]]))
    for match in ASKING.finditer(blank[function.body : function.inner]):
        edits.append(Edit(function.body + match.start(), function.body + match.end(), f"{match[1]}.Log("))
    return edits


def recovered(text: str, function: Function) -> list[Edit]:
    """Replace failures by log calls, and swallow panics."""
    blank = blanked(text)
    places = [function.body, *(match.end() for match in re.finditer(r"func\(\w+ \*testing\.\w+\) {", blank) if function.body < match.end() < function.inner)]  # fmt: skip
    return [*logged(text, function), *(Edit(at, at, "\n\tdefer func() { _ = recover() }()\n") for at in places)]


def emptied(text: str, function: Function) -> list[Edit]:
    return [Edit(function.body, function.inner, "")]


def without(text: str, gone: Sequence[Function]) -> str:
    starts = [re.search(r"(?m)(?:^//.*\n)*\Z", text[: each.start]) for each in gone]
    edits = [Edit(start.start() if start else each.start, each.end, "") for start, each in zip(starts, gone, strict=True)]
    return tidied(text, edited(text, edits))


def _used(text: str) -> set[str]:
    return set(re.findall(r"\b(\w+)\.", re.sub(r"(?m)^import[ \t]*\((?:.|\n)*?^\)", "", blanked(text))))


def tidied(before: str, after: str) -> str:
    """Without unused imports, with which Go does not compile."""
    idle = _used(before) - _used(after)
    edits = []
    for match in re.finditer(r'(?m)^(?:import[ \t]+|[ \t]+)(?:(\w+) )?"([^"\n]+)"[ \t]*(?://.*)?\n', after):
        name = match[1] or re.sub(r"^go-|\.v\d+$", "", PurePosixPath(re.sub(r"/v\d+$", "", match[2])).name)
        if name in idle:
            edits.append(Edit(match.start(), match.end(), ""))
    return edited(after, edits)


# -- code ----------------------------------------------------------------------------------------------------------------------


def breaks(text: str, function: Function) -> list[Edit]:
    """The ways to break a function: negate a condition, flip a boolean result, or return zero values."""
    blank, edits = blanked(text), list[Edit]()
    for match in re.finditer(r"\bif (.*) {[ \t]*$", blank[function.body : function.inner], re.MULTILINE):
        start, end = function.body + match.start(1), function.body + match.end(1)
        start = max([start, *(first for first, _ in parts(blank, start, end, ";"))])
        edits.append(Edit(start, end, f" !({text[start:end].strip()})"))
    for match in re.finditer(r"\breturn (true|false)\b", blank[function.body : function.inner]):
        at = function.body + match.start(1)
        edits.append(Edit(at, at + len(match[1]), "false" if match[1] == "true" else "true"))
    nothing = ", ".join(f"*new({kind})" for _, kind in _head(text, function).results)
    for match in re.finditer(r"^\treturn (\S.*[^\s{(,])$", blank[function.body : function.inner], re.MULTILINE):
        if nothing and match[1] not in ("true", "false"):
            edits.append(Edit(function.body + match.start(1), function.body + match.end(1), nothing))
    return edits


def _is_recorded(head: Head) -> bool:
    """Whether calls can be recorded: parameters are named, and all results can be written down."""
    named = all(name not in ("", "_") and not kind.startswith("...") for name, kind in head.params)
    own = not head.own or " " in head.own
    return named and own and not head.generic and bool(head.results) and all(ANSWERS.match(kind) for _, kind in head.results)


def recording(text: str, chosen: Sequence[Function], file: str) -> str:
    recorder, edits, more = f"benchRecorded{crc32(file.encode())}", list[Edit](), list[str]()
    for function, head in _heads(text):
        if function in chosen and _is_recorded(head):
            at = text.index(f"{head.name}(", function.start + (text[function.start : function.body].index(")") if head.own else 0))
            edits.append(Edit(at, at + len(head.name), f"{head.name}BenchReal"))
            more.append(_wrapper(function, head, recorder))
    package = PACKAGE.search(text)
    if not edits or not package:
        return text
    edits.append(Edit(package.end(), package.end(), IMPORTS))
    return edited(text, edits) + RECORDER.format(recorder=recorder, file=json.dumps(file)) + "".join(more)


def _wrapper(function: Function, head: Head, recorder: str) -> str:
    own, me = (f"({head.own}) ", head.own.partition(" ")[0]) if head.own else ("", "")
    names = ", ".join(name for name, _ in head.params)
    kinds = ", ".join(f"{name} {kind}" for name, kind in head.params)
    answers = [f"benchAnswer{n}" for n in range(len(head.results))]
    results = ", ".join(f"{name} {kind}" for name, (_, kind) in zip(answers, head.results, strict=True))
    call = f"{me}.{head.name}BenchReal({names})" if me else f"{head.name}BenchReal({names})"
    asked, said = ", ".join(filter(None, (me, names))), ", ".join(answers)
    told = f'\t{recorder}("{function.name}", []any{{{asked}}}, []any{{{said}}})\n'
    return f"\nfunc {own}{head.name}({kinds}) ({results}) {{\n\t{said} = {call}\n{told}\treturn\n}}\n"


def example(line: str) -> Example | None:
    name, exact, shown, answers = json.loads(line)
    given = [BOTH.join(each) for each in zip(exact, shown, strict=True)]
    said = [re.sub(r"^(?:<nil>|.*\(nil\))$", "nil", each) for each in answers]
    if any("0xc0" in each for each in (*shown, *said)) or any(re.match(r"[&(]", each) for each in said):
        return None
    return Example(name, tuple(given), f"return {', '.join(said)}")


def coded(text: str, function: Function, examples: Sequence[Example]) -> list[Edit]:
    head = _head(text, function)
    names = [*([head.own.partition(" ")[0]] if head.own else []), *(name for name, _ in head.params)]
    kinds = [*(["?"] if head.own else []), *(kind for _, kind in head.params)]
    lines = []
    for each in examples:
        asked = [
            f"{name} == {value.partition(BOTH)[0]}"
            if SIMPLE.match(kind)
            else f"fmt.Sprint({name}) == {json.dumps(value.partition(BOTH)[2], ensure_ascii=False)}"
            for name, kind, value in zip(names, kinds, each.given, strict=True)
        ]
        lines.append(f"\n\tif {' && '.join(asked)} {{\n\t\t{each.answer}\n\t}}")
    return [*_imported(text, "".join(lines)), Edit(function.body, function.body, "".join(lines))]


def _imported(text: str, code: str) -> list[Edit]:
    missing = [name for name in ("fmt", "errors") if f"{name}." in code and not re.search(rf'(?m)^(?:import[ \t]+|[ \t]+)"{name}"', text)]
    head = PACKAGE.search(text)
    return [Edit(head.end(), head.end(), "".join(f'\nimport "{name}"\n' for name in missing))] if head and missing else []


GO = Language(
    functions=functions,
    tests=tests,
    hollow=hollow,
    weaker=(("failures are only logged", logged), ("failures are logged, panics swallowed", recovered), ("nothing is asked", emptied)),
    without=without,
    breaks=breaks,
    tidied=tidied,
    recording=recording,
    example=example,
    coded=coded,
)
