"""Ruby tests that override methods of the product: prepended modules, refinements, `class_eval` and the like, methods defined from outside.
Pure: texts in, places out."""

import re
from collections.abc import Collection, Iterator

OVER = re.compile(
    r"\b(?P<of>[A-Z][\w:]*)(?:\.singleton_class|\.method\(:\w+\)\.owner)?\s*\.(?:(?:public_)?send\(?\s*:)?"
    r"(?:prepend|(?:class|module|instance)_(?:eval|exec)|define_(?:singleton_)?method|alias_method|undef_method|remove_method)\b"
    r"|^\s*class\s*<<\s*(?P<singleton>[A-Z][\w:]*)|^\s*refine\(?\s*(?P<refined>[A-Z][\w:]*)|^(?:class|module)\s+(?P<opened>[A-Z][\w:]*)\s*(?:$|#)",
    re.MULTILINE,
)
NAMED = re.compile(r"^\s*def\s+(?:self\.)?(\w+[?!]?)", re.MULTILINE)
METHOD = re.compile(
    r"\bdef\s+(?:self\.)?(\w+[?!]?)|(?:define_(?:singleton_)?method|alias_method|undef_method|remove_method)\(?\s*:(\w+[?!]?)"
)
OWNER = re.compile(r"^\s*(?:class|module)\s+([A-Z][\w:]*)", re.MULTILINE)
REACH = 20  # lines below such a call that may define its methods


def owners(text: str) -> frozenset[str]:
    """The last name parts of the classes and modules in a file."""
    return frozenset(name.rpartition("::")[2] for name in OWNER.findall(text))


def changed_methods(text: str, added: Collection[int]) -> frozenset[str]:
    """The methods that contain the added lines."""
    found, name = set(), ""
    for number, line in enumerate(text.splitlines(), 1):
        name = begins[1] if (begins := NAMED.match(line)) else name
        if number in added and name and line.strip():
            found.add(name)
    return frozenset(found)


def overridden_methods(text: str, of: Collection[str], methods: Collection[str]) -> Iterator[tuple[int, str]]:
    """The lines of a test file that override one of the methods, each with its name."""
    lines = text.splitlines()
    for found in OVER.finditer(text):
        name = next(each for each in found.groupdict().values() if each)
        line = text.count("\n", 0, found.start()) + (2 if found[0].startswith("\n") else 1)
        below = "\n".join(lines[line - 1 : line - 1 + REACH])
        named = (one or other for one, other in METHOD.findall(below))
        if name.rpartition("::")[2] in of and (method := next((each for each in named if each in methods), "")):
            yield line, f"{name}.{method}"
