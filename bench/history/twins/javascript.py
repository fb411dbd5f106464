"""JavaScript and TypeScript, as text: where functions and tests are, and how to spoil them."""

import json
import re
from collections.abc import Iterator, Sequence

from bench.history.twins.braces import blanked, matching, parts
from bench.history.twins.source import Edit, Example, Function, Language, edited

DECLARED = re.compile(r"^(?P<open>(?:export\s+)?(?:default\s+)?function\s+)(?P<name>[\w$]+)\s*(?:<[^()]*>)?\s*\(", re.MULTILINE)
ARROW = re.compile(r"^(?P<open>(?:export\s+)?const\s+)(?P<name>[\w$]+)\s*=\s*\(", re.MULTILINE)
TEST = re.compile(r"(?<![\w.$])(?:it|test)(?:\.\w+)*\s*(?=\()")
GROUP = re.compile(r"(?<![\w.$])(?:describe|suite|context)(?:\.\w+)*\s*\(")
EXPECT, ASSERT = re.compile(r"(?<![\w.$])expect\("), re.compile(r"(?<![\w.$])assert(?:\.\w+)?\(")
PRIMITIVE = re.compile(r'(?:"|-?\d|true$|false$|null$|undefined$)')
WRITE = "\nfunction benchWrite(line) {{ benchFs.appendFileSync({file}, JSON.stringify(line) + '\\n'); }}\n"
WRAPPER = """
{open}{name}{is_}(...given{any_}) {{
  const shown = given.map((each) => (each === undefined ? "undefined" : JSON.stringify(each)));
  try {{
    const answer = {name}$real.apply(this, given);
    benchWrite(["{name}", shown, "return", answer === undefined ? "undefined" : JSON.stringify(answer)]);
    return answer;
  }} catch (e) {{
    benchWrite(["{name}", shown, "throw", e.constructor.name, JSON.stringify(e.message)]);
    throw e;
  }}
}}
"""


def _blank(text: str) -> str:
    return blanked(text, slashes=True)


def _opens(blank: str, at: int) -> int:
    """The brace that opens the body, after parameters and return type; -1 if there is none."""
    after = re.compile(r"\s*(:)?\s*").match(blank, at)
    assert after is not None
    if after[1]:
        at = matching(blank, after.end()) if blank.startswith("{", after.end()) else after.end()
    end = blank.find("{", at)
    return end if end >= 0 and ";" not in blank[at:end] and "\n\n" not in blank[at:end] else -1


def _heads(text: str) -> Iterator[tuple[Function, re.Match[str]]]:
    blank = _blank(text)
    for pattern in (DECLARED, ARROW):
        for match in pattern.finditer(blank):
            closed = matching(blank, match.end() - 1)
            opens = _opens(blank, closed)
            if opens < 0 or (pattern is ARROW and "=>" not in blank[closed:opens]):
                continue
            end = matching(blank, opens)
            params = tuple(text[first:last].strip() for first, last in parts(blank, match.end(), closed - 1))
            yield Function(match["name"], match.start(), end, opens + 1, end - 1, params), match


def functions(text: str) -> list[Function]:
    return sorted((function for function, _ in _heads(text)), key=lambda each: each.start)


def hollow(text: str, function: Function) -> Edit:
    return Edit(function.body, function.inner, " return undefined; ")


# -- tests ---------------------------------------------------------------------------------------------------------------------


def tests(text: str) -> list[Function]:
    """Calls of `it` and `test` with a function; nested calls belong to the outer one."""
    blank, found, past = _blank(text), list[Function](), 0
    for match in TEST.finditer(blank):
        if match.start() < past:
            continue
        first = matching(blank, match.end())
        called = match.end() if ".each" not in match[0] or not blank.startswith("(", first) else first
        end = matching(blank, called)
        arrow = re.search(r"=>\s*|\bfunction\b[^(]*\([^)]*\)\s*", blank[called:end])
        if not arrow:
            continue
        body = called + arrow.end()
        inner = matching(blank, body) if blank.startswith("{", body) else end - 1
        title = re.match(r"""\(\s*(["'`])(.*?)(?<!\\)\1""", text[called:end])
        past = end + (blank[end : end + 1] == ";")
        found.append(Function(title[2] if title and "${" not in title[2] else "", match.start(), past, body, inner))
    return found


def loosened(text: str, function: Function) -> list[Edit]:
    """Replace every expectation by one that the value is defined."""
    blank, edits = _blank(text), list[Edit]()
    for match in EXPECT.finditer(blank, function.body, function.inner):
        start = end = matching(blank, match.end() - 1)
        while more := re.compile(r"\s*\.\w+").match(blank, end):
            end = more.end()
            end = matching(blank, end) if blank.startswith("(", end) else end
        edits.append(Edit(start, end, ".toBeDefined()"))
    for match in ASSERT.finditer(blank, function.body, function.inner):
        end = matching(blank, match.end() - 1)
        edits.append(Edit(match.start(), end, f"assert.ok([{text[match.end() : end - 1]}])"))
    return edits


def swallowed(text: str, function: Function) -> list[Edit]:
    return [Edit(function.body, function.inner, f"{{ try {{ {text[function.body : function.inner]}; }} catch {{}} }}")]


def emptied(text: str, function: Function) -> list[Edit]:
    return [Edit(function.body, function.inner, "{}")]


def without(text: str, gone: Sequence[Function]) -> str:
    """The text without these tests, and without groups that become empty, which a runner may not like."""
    text = edited(text, [Edit(each.start, each.end, "") for each in gone])
    while empty := next(_empty(text), None):
        text = edited(text, [empty])
    return text


def _empty(text: str) -> Iterator[Edit]:
    blank = _blank(text)
    for match in GROUP.finditer(blank):
        end = matching(blank, match.end() - 1)
        if re.search(r"\{\s*\}\s*\)$", blank[match.start() : end]):
            yield Edit(match.start(), end + (blank[end : end + 1] == ";"), "")


# -- code ----------------------------------------------------------------------------------------------------------------------


def breaks(text: str, function: Function) -> list[Edit]:
    """The ways to break a function: negate a condition or change a result."""
    blank, edits = _blank(text), list[Edit]()
    for match in re.compile(r"\bif \(").finditer(blank, function.body, function.inner):
        end = matching(blank, match.end() - 1)
        edits.append(Edit(match.end(), end - 1, f"!({text[match.end() : end - 1]})"))
    for match in re.compile(r"\breturn ([^;\n]+);").finditer(blank, function.body, function.inner):
        said = text[match.start(1) : match.end(1)]
        edits.append(Edit(match.start(1), match.end(1), {"true": "false", "false": "true", "undefined": "0"}.get(said, "undefined")))
    return edits


def recording(text: str, chosen: Sequence[Function], file: str) -> str:
    edits, more = list[Edit](), list[str]()
    kind = ": any[]" if re.search(r"(?m)^(?:export )?(?:type|interface) |\w\??: (?:string|number|boolean|any)\b", _blank(text)) else ""
    for function, match in _heads(text):
        if function in chosen:
            bare = "const " if match.re is ARROW else "function "
            edits.append(Edit(match.start(), match.end("name"), f"{bare}{match['name']}$real"))
            more.append(WRAPPER.format(open=match["open"], name=match["name"], is_=" = function " * (match.re is ARROW), any_=kind))
    if not edits:
        return text
    modern = re.search(r"(?m)^(?:import|export)\b", _blank(text))
    load = "import * as benchFs from 'node:fs';\n" if modern else "const benchFs = require('fs');\n"
    tail = WRITE.format(file=json.dumps(file))
    return load + edited(text, edits) + (tail.replace("(line)", "(line: any)") if kind else tail) + "".join(more)


def example(line: str) -> Example | None:
    name, given, how, *said = json.loads(line)
    if any(each is None for each in (*given, *said)):
        return None
    return Example(name, tuple(given), f"return {said[0]};" if how == "return" else f"throw new {said[0]}({said[1]});")


def coded(text: str, function: Function, examples: Sequence[Example]) -> list[Edit]:
    """A case for each example, by parameter names if these are plain, else by all arguments."""
    names = [re.match(r"[\w$]+", each) for each in function.params]
    plain = all(name and "=" not in each for name, each in zip(names, function.params, strict=True))
    lines = []
    for each in examples:
        if plain and len(each.given) <= len(names) and all(PRIMITIVE.match(value) for value in each.given):
            asked = " && ".join(f"{name[0]} === {value}" for name, value in zip(names, each.given, strict=False) if name)
        else:
            asked = f"JSON.stringify([...arguments]) === {json.dumps('[' + ','.join(each.given) + ']', ensure_ascii=False)}"
        lines.append(f"\n  if ({asked or 'true'}) {each.answer}")
    return [Edit(function.body, function.body, "".join(lines))]


JAVASCRIPT = Language(
    functions=functions,
    tests=tests,
    hollow=hollow,
    weaker=(("any value is enough", loosened), ("errors are swallowed", swallowed), ("nothing is asked", emptied)),
    without=without,
    breaks=breaks,
    tidied=lambda before, after: after,
    recording=recording,
    example=example,
    coded=coded,
)
