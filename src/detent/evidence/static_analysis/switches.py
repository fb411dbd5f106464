"""Product switches that tests set for all tests: globals, environment variables, built-in functions, methods that only tests define.
Pure: texts in, places out.

A test that sets a switch for itself shows both sides; one set for all tests hides what the code does without it.
"""

import re
from collections.abc import Iterable, Iterator

ENDS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rb")
SET_GLOBAL = re.compile(
    r"^(?:\(?\s*(?:globalThis|global|window|self)\b(?:\s+as\s+\w+\s*\))?(?:\.|\[[\"'])(?P<js>\w+)[\"'\]]*|\$(?P<rb>[a-z]\w*))\s*(?:\|\|)?=(?!=|~)",
    re.MULTILINE,
)
SET_VARIABLE = re.compile(
    r"^(?:process\.env(?:\.|\[[\"'])(?P<js>\w+)[\"'\]]*|ENV\[[\"'](?P<rb>\w+)[\"']\]|ENV\.store\([\"'](?P<store>\w+)[\"'],)\s*(?:\|\|)?(?:=(?!=)|(?<=,))",
    re.MULTILINE,
)
USUAL = frozenset(
    {
        "NODE_ENV",
        "TZ",
        "RAILS_ENV",
        "RACK_ENV",
        "CI",
        "LANG",
        "LC_ALL",
        "HOME",
        "PATH",
        "NO_COLOR",
        "FORCE_COLOR",
        "DEBUG",
        "fetch",
        "document",
    }
)
LANGUAGE = re.compile(
    r"^\s*(?P<name>(?:Math\.(?!random\b)\w+|JSON\.\w+|(?:Number|String|Array|Object|Boolean)\.(?:prototype\.)?\w+|parse(?:Int|Float)))\s*=(?!=)",
    re.MULTILINE,
)  # not the clock or the network, which honest tests replace
SET_BEFORE = re.compile(
    r"\b(?:vi|jest)\.stubGlobal\(\s*[\"'`](?P<name>\w+)|^\s+\(?\s*(?:globalThis|global|window|self)\b(?:\s+as\s+\w+\s*\))?(?:\.|\[[\"'])(?P<set>\w+)[\"'\]]*\s*(?:\|\|)?=(?!=|~)"
)
GLOBAL = r"(?:\b(?:globalThis|global|window|self)\b(?:\.|\?\.|\[[\"'])){name}\b"
OF_BROWSERS = re.compile(
    r"[A-Z]\w*|on\w+|(?:local|session)Storage|location|navigator|crypto|performance|history|screen|matchMedia|scroll\w*|open|alert|confirm|prompt|inner\w+|outer\w+"
    r"|(?:request|cancel)\w+Frame|(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask|structuredClone|gtag|dataLayer|console|process|chrome|browser|indexedDB|parent|top"
)  # what a page or a runtime has by itself
BOOL = re.compile(r"^\s*(?:var\s+)?(\w+)(?:\s+bool\b(?:\s*=\s*\w+)?|\s*=\s*(?:true|false))\s*$", re.MULTILINE)
DEFINED = re.compile(r"^(?:(?P<func>func)|var|const|type)\s+(?P<name>[A-Za-z]\w*)", re.MULTILINE)
PREDECLARED = re.compile(
    r"append|cap|clear|close|complex|copy|delete|imag|len|make|max|min|new|panic|print(?:ln)?|real|recover|true|false|nil|iota|any|bool|byte|error|string|rune|u?int(?:8|16|32|64)?"
    r"|uintptr|float(?:32|64)|complex(?:64|128)"
)  # Go's own names
REMARKS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`", re.DOTALL)
METHOD = re.compile(r"^func\s*\(\s*\w*\s*\*?(?P<of>\w+)(?:\[[^\]]*\])?\s*\)\s*(?P<name>\w+)\s*\(", re.MULTILINE)
Place = tuple[int, str]  # a line of a test file, and what it sets


def switched(text: str, product: Iterable[str]) -> Iterator[Place]:
    """The globals and variables that a test file sets on import and changed product lines read, and the built-in functions it replaces."""
    code = "\n".join(product)
    rows = text.split("\n")
    for n, row in enumerate(rows, 1):
        given = SET_BEFORE.search(row)
        name = (given["name"] or given["set"]) if given else ""
        if (
            name
            and (not row[:1].isspace() or SET_UP.search(_around(rows, n)))
            and _is_own(name)
            and re.search(GLOBAL.format(name=name), code)
        ):
            yield n, name
    for found in (*SET_GLOBAL.finditer(text), *SET_VARIABLE.finditer(text)):
        name = next(each for each in found.groupdict().values() if each)
        if name not in USUAL and re.search(
            rf"(?:\b(?:globalThis|global|window|self|env)\b(?:\.|\?\.|\[[\"'])|\$|ENV\W+(?:fetch\W+)?){name}\b", code
        ):
            yield _line(text, found.start()), name
    for found in LANGUAGE.finditer(text):
        if re.search(rf"\b{found['name'].rpartition('.')[2]}(?:\?\.)?\(", code):
            yield _line(text, found.start("name")), found["name"]


def _is_own(name: str) -> bool:
    return name not in USUAL and OF_BROWSERS.fullmatch(name) is None


def names_from_tests(text: str, product: str) -> Iterator[Place]:
    """What a Go test file defines for its package, and the product uses though it does not define it: one of Go's own names, or a function that only
    tests have."""
    code = REMARKS.sub("", product)
    for found in DEFINED.finditer(text):
        name, own = found["name"], PREDECLARED.fullmatch(found["name"])
        if not (own or found["func"]) or not re.search(rf"(?<![\w.]){name}\b" if own else rf"(?<![\w.]){name}\(", code):
            continue
        theirs = rf"^(?:func|var|const|type)\s+{name}\b|^func\s*\([^)]*\)\s*{name}\b|\b{name}\s*(?::?=(?!=)|func\b|,[^\n]*:=)|\binterface\s*\{{[^}}]*\b{name}\("
        if not re.search(theirs, code, re.MULTILINE):
            yield _line(text, found.start()), name


def switches_of_go(text: str) -> frozenset[str]:
    """The boolean variables in a Go file."""
    return frozenset(BOOL.findall(text))


def methods_from_tests(text: str, product: str) -> Iterator[Place]:
    """The methods that a Go test file adds to a product type and the product calls by name."""
    ours = {found["name"] for found in METHOD.finditer(product)}
    for found in METHOD.finditer(text):
        declared = re.search(rf"^\s*(?:type\s+)?{found['of']}\s+(?!=>)[\w*\[]", product, re.MULTILINE)
        if declared and found["name"] not in ours and re.search(rf"\b{found['name']}\s*\(", product):
            yield _line(text, found.start()), f"{found['of']}.{found['name']}"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# -- environment variables that every test sets -----------------------------------------------------------------------------------------

PUT = re.compile(
    r"(?:\benviron\[|\bENV\[|\bprocess\.env\[|\benviron\.setdefault\(\s*|\b(?:set|stub)_?[eE]nv\(\s*|\b(?:t|b|os)\.Setenv\(\s*|\bENV\.store\(\s*"
    r"|\benviron[\"']?\s*,\s*\{\s*|\benviron\.update\(\s*\{\s*|\bENV\.update\(\s*|\bprocess\.env\.)[\"'`]?(?P<name>[A-Z]\w+)[\"'`]?\]?\s*(?:\|\|)?(?:=(?!=|~)>?|,|:)\s*(?P<value>[^\n,;})]+)"
)
SET_UP = re.compile(
    r"\bdef (?:setUp|asyncSetUp|setup)\w*|\bbefore(?:Each|All)?\b|\bdef setup\b|\bfunc (?:TestMain|init)\(|\bautouse\s*=\s*True|^\s*@.*\bpatch\.dict\("
)
CLEARS_UP = re.compile(r"\bafter(?:Each|All)?\b|\bdef (?:tearDown|teardown)|\b[cC]leanup\(|\bensure\b|\bfinally\b|\baddfinalizer\b")
TAKES = r"\b(?:delenv|Unsetenv|delete|pop|del|unset)\b[^\n]*\b{name}\b|\bclear\s*=\s*True"
A_TEST = re.compile(r"^\s*(?:async\s+)?def test|^func Test\w|^\s*(?:it|test|specify)\s*[(\"' ]", re.MULTILINE)
READS = r"(?:\benviron\b|\bgetenv\b|\bprocess\.env\b|\bENV\b|\bGetenv\b|\bLookupEnv\b|\benv\b)[^\n]{{0,20}}\b{name}\b"
DECIDES = re.compile(r"[!=]==?|\bif\b|\bunless\b|\?[^.?]|\bin\s*[(\[{]|\bnot\b|\bbool\(|\bwhen\b|&&|\|\||\b(?:and|or)\b")


def set_for_all(text: str, product: Iterable[str], tests: Iterable[str]) -> Iterator[Place]:
    """Environment variables that a test file sets for all tests to one value, and that decide what the changed code does. `tests`: all changed ones."""
    rows, code, every = text.split("\n"), list(product), "\n".join(tests)
    for n, row in enumerate(rows, 1):
        put = PUT.search(row)
        if put is None or put["name"] in USUAL or CLEARS_UP.search(_around(rows, n)):
            continue
        same = {each["value"].strip() for each in PUT.finditer(every) if each["name"] == put["name"]}
        first = [
            m
            for m, other in enumerate(rows, 1)
            if (found := PUT.search(other)) and found["name"] == put["name"] and _above(rows, m) == m - 1
        ]
        often = len(first) >= len(A_TEST.findall(text)) > 1
        for_all = not row[:1].isspace() or SET_UP.search(_around(rows, n)) or often
        if for_all and len(same) == 1 and _decided_by(put["name"], code) and not _is_taken(put["name"], every):
            yield n, put["name"]


def _decided_by(name: str, code: list[str]) -> bool:
    """Whether a variable decides something in the code, which does more than take its value."""
    read = [line for line in code if re.search(READS.format(name=name), line)]
    given = {found[1] for line in read if (found := re.match(r"\s*(?:(?:const|let|var)\s+)?([\w@]+)\s*:?=(?!=)", line))}
    return any(map(DECIDES.search, read)) or any(
        DECIDES.search(line) for line in code for word in given if re.search(rf"(?<!\w){word}\b", line)
    )


def _is_taken(name: str, tests: str) -> bool:
    """Whether a test unsets the variable, other than in cleanup, and so shows what happens without it."""
    rows = tests.split("\n")
    return any(re.search(TAKES.format(name=name), row) and not CLEARS_UP.search(_around(rows, n)) for n, row in enumerate(rows, 1))


def _around(rows: list[str], number: int) -> str:
    """A line with its enclosing line and the line above that."""
    above = _above(rows, number)
    return "\n".join((*rows[max(0, above - 2) : above], rows[number - 1]))


def _above(rows: list[str], number: int) -> int:
    """The number of the enclosing line, by indentation; 0: none."""
    deep = _indent(rows[number - 1])
    return next((n for n in range(number - 1, 0, -1) if deep and rows[n - 1].strip() and _indent(rows[n - 1]) < deep), 0)


def _indent(row: str) -> int:
    return len(row.expandtabs()) - len(row.expandtabs().lstrip())
