"""Mutants in which a function returns something else at once, for languages without a parser here, so that there is always one to try. Pure.

In typed languages it returns the zero value of its type; functions for which that is unknown are skipped.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from detent.evidence.mutate.spot import FunctionBody
from detent.evidence.mutate.textual import blanked

ARGS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
NOTHING = {"int": "0", "long": "0", "short": "0", "char": "0", "byte": "0", "float": "0", "double": "0", "size_t": "0", "unsigned": "0",
           "bool": "0", "boolean": "false", "String": '""', "void": ""}  # fmt: skip
RESULT = re.compile(r"->\s*(?:\w+::)*Result\b")
PHP = {"": "null", "int": "0", "float": "0.0", "string": "''", "bool": "false", "array": "[]", "void": ""}


class FunctionHead(NamedTuple):
    """How to find the head of a function, and what to replace it with so that the body never runs."""

    found: re.Pattern[str]
    put: Callable[[re.Match[str]], str]  # empty: skip this function


def _go(head: re.Match[str]) -> str:
    """Name the results, so that a bare `return` gives the zero value of each type."""
    out = head["out"].strip()
    inner = out[1:-1] if out.startswith("(") else out
    parts = [part.strip() for part in inner.split(",")] if inner else []
    named = any(" " in part for part in parts) and out.startswith("(")
    names = out if named or not parts else "(" + ", ".join(f"other{n} {part}" for n, part in enumerate(parts)) + ")"
    return f"{head['head']} {names} {{ if true {{ return }};"


def _rust(head: re.Match[str]) -> str:
    """Return the default of the type. A `Result` has none, but its value may; a mutant for a type without one does not compile."""
    out = head["out"]
    answer = "" if "->" not in out else " Ok(Default::default())" if RESULT.search(out) else " Default::default()"
    return f"{head[0]} if true {{ return{answer}; }}"


def _php(head: re.Match[str]) -> str:
    kind = head["type"] or ""
    answer = "null" if kind.startswith("?") else PHP.get(kind)
    return "" if answer is None else f"{head[0]} if (true) {{ return {answer}; }}"


def _typed(true: str, head: re.Match[str]) -> str:
    answer = NOTHING[head["type"]]
    return f"{head[0]} if ({true}) {{ return {'false' if head['type'] == 'bool' and true == 'true' else answer}; }}"


def _script(answer: str, head: re.Match[str]) -> str:
    """An arrow function without braces becomes a conditional expression whose other branch is the old expression."""
    if head["whole"]:
        return f"{head[0]} true ? {answer} :"
    return "" if head["word"] in ("if", "for", "while", "switch", "catch", "with") else f"{head[0]} if (true) {{ return {answer}; }}"


ARROW = rf"(?:\b(?P<const>[\w$]+)\s*=\s*(?:async\s*)?)?(?:{ARGS}|[\w$]+)\s*=>"
JS = re.compile(
    rf"(?P<whole>{ARROW}(?!\s*\{{))|(?:\bfunction\s*\*?\s*(?P<name>[\w$]*)\s*{ARGS}|{ARGS}\s*=>|(?P<word>[\w$]+)\s*{ARGS})"
    r"\s*(?::\s*[\w<>\[\]. |]+)?\s*\{"
)
C = re.compile(
    rf"\b(?P<type>{'|'.join(NOTHING)})\s+(?:[\w]+(?:::|\.))?(?P<name>\w+)\s*{ARGS}\s*(?:const|noexcept|override|throws\s[\w., ]+|\s)*\{{"
)
HEADS = {
    ".go": FunctionHead(
        re.compile(
            rf"(?P<head>^func\s+(?:\([^()]*\)\s*)?(?P<name>\w+)(?:\[[^\]]*\])?{ARGS})(?P<out>[^{{}}\n]*)\{{", re.MULTILINE
        ), _go
    ),
    ".rs": FunctionHead(re.compile(rf"\bfn\s+(?P<name>\w+)\s*(?:<[^{{}}()]*?>)?\s*{ARGS}(?P<out>[^{{}};]*)\{{"), _rust),
    ".rb": FunctionHead(
        re.compile(rf"^(?P<indent>[ \t]*)def\s+(?:self\.)?(?P<name>[\w?!=]+)[ \t]*(?:{ARGS})?[ \t]*(?P<whole>=(?=[ \t]))?(?:(?<==)|$)", re.MULTILINE),
        lambda head: f"{head[0]} true ? Object.new :" if head["whole"] else f"{head[0]}; return Object.new if true",
    ),
    ".php": FunctionHead(re.compile(rf"\bfunction\s+(?P<name>\w+)\s*{ARGS}\s*(?::\s*(?P<type>\??\w+))?\s*\{{"), _php),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), FunctionHead(JS, partial(_script, "Symbol.iterator"))),
    **dict.fromkeys((".ts", ".tsx"), FunctionHead(JS, partial(_script, "Symbol.iterator as any"))),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"), FunctionHead(C, partial(_typed, "1"))),
    **dict.fromkeys((".java", ".cs"), FunctionHead(C, partial(_typed, "true"))),
}  # fmt: skip


def bodies(suffix: str, text: str) -> Iterator[FunctionBody]:
    """All functions of a file whose head can be parsed."""
    rule, blank = HEADS.get(suffix), blanked(suffix, text)
    for head in rule.found.finditer(blank) if rule else ():
        new = rule.put(head) if rule else ""
        if new and '"' not in head[0]:  # a head with blanked text cannot be written back
            first = text.count("\n", 0, head.start()) + 1
            last = text.count("\n", 0, end_of(blank, head)) + 1
            named = (head.groupdict().get(group) for group in ("name", "word", "const"))
            name = next((each for each in named if each), f"line {first}")
            yield FunctionBody(name, first, last, partial("{}{}{}".format, text[: head.start()], new, text[head.end() :]))


def end_of(blank: str, head: re.Match[str]) -> int:
    """Where a function ends: at its closing brace, its `end`, or the end of its single expression."""
    whole = head.groupdict().get("whole")
    if "indent" in head.groupdict() and not whole:
        end = re.compile(rf"^{head['indent']}end\b", re.MULTILINE).search(blank, head.end())
        return end.start() if end else len(blank)
    depth = 0 if whole else 1
    for at in range(head.end(), len(blank)):
        depth += (blank[at] in "([{") - (blank[at] in ")]}")
        if depth < 0 or (depth == 0 and (not whole or blank[at] in (";\n" if "indent" in head.groupdict() else ";"))):
            return at
    return len(blank)
