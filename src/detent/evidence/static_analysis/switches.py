"""Switches of the product that its tests turn when they are loaded: globals, variables of the environment, functions of the language, methods
that only tests bring. Pure: texts in, places out.

A test that sets something for itself shows both sides; what is set for all of them hides how the code answers without it.
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
)  # the clock and the network are replaced by honest tests
BOOL = re.compile(r"^\s*(?:var\s+)?(\w+)(?:\s+bool\b(?:\s*=\s*\w+)?|\s*=\s*(?:true|false))\s*$", re.MULTILINE)
METHOD = re.compile(r"^func\s*\(\s*\w*\s*\*?(?P<of>\w+)(?:\[[^\]]*\])?\s*\)\s*(?P<name>\w+)\s*\(", re.MULTILINE)
Place = tuple[int, str]  # a line of a test file, and what it sets


def switched(text: str, product: Iterable[str]) -> Iterator[Place]:
    """What a test file sets for everybody and changed lines of the product read; and functions of the language that it replaces."""
    code = "\n".join(product)
    for found in (*SET_GLOBAL.finditer(text), *SET_VARIABLE.finditer(text)):
        name = next(each for each in found.groupdict().values() if each)
        if name not in USUAL and re.search(
            rf"(?:\b(?:globalThis|global|window|self|env)\b(?:\.|\?\.|\[[\"'])|\$|ENV\W+(?:fetch\W+)?){name}\b", code
        ):
            yield _line(text, found.start()), name
    for found in LANGUAGE.finditer(text):
        if f"{found['name'].rpartition('.')[2]}(" in code:
            yield _line(text, found.start("name")), found["name"]


def switches_of_go(text: str) -> frozenset[str]:
    """The variables of a Go file that are only true or false."""
    return frozenset(BOOL.findall(text))


def methods_from_tests(text: str, product: str) -> Iterator[Place]:
    """The methods that a test file of Go gives to a type of the product, and that the product asks for by name."""
    ours = {found["name"] for found in METHOD.finditer(product)}
    for found in METHOD.finditer(text):
        declared = re.search(rf"^\s*(?:type\s+)?{found['of']}\s+(?!=>)[\w*\[]", product, re.MULTILINE)
        if declared and found["name"] not in ours and re.search(rf"\b{found['name']}\s*\(", product):
            yield _line(text, found.start()), f"{found['of']}.{found['name']}"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
