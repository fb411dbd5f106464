"""Functions that answer something else at once, in languages that are known by their text only: there is always such a mutant to try. Pure.

Where a language wants a type, the answer is the type's own nothing; where that is not known, the function is left alone.
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
    """How the head of a function is found, and what is put in the place of it, so that its body is not gone into."""

    found: re.Pattern[str]
    put: Callable[[re.Match[str]], str]  # empty: this one is left alone


def _go(head: re.Match[str]) -> str:
    """With names for what it returns, a plain `return` gives the nothing of each type."""
    out = head["out"].strip()
    inner = out[1:-1] if out.startswith("(") else out
    parts = [part.strip() for part in inner.split(",")] if inner else []
    named = any(" " in part for part in parts) and out.startswith("(")
    names = out if named or not parts else "(" + ", ".join(f"other{n} {part}" for n, part in enumerate(parts)) + ")"
    return f"{head['head']} {names} {{ if true {{ return }};"


def _rust(head: re.Match[str]) -> str:
    """Not every type has a default; a `Result` never has one, but what it holds may."""
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
    """An arrow without braces is one expression: a choice whose other way is what stood there."""
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
    """Every function of a file whose head is understood."""
    rule, blank = HEADS.get(suffix), blanked(suffix, text)
    for head in rule.found.finditer(blank) if rule else ():
        new = rule.put(head) if rule else ""
        if new and '"' not in head[0]:  # what is blanked cannot be written again
            first = text.count("\n", 0, head.start()) + 1
            last = text.count("\n", 0, end_of(blank, head)) + 1
            named = (head.groupdict().get(group) for group in ("name", "word", "const"))
            name = next((each for each in named if each), f"line {first}")
            yield FunctionBody(name, first, last, partial("{}{}{}".format, text[: head.start()], new, text[head.end() :]))


def end_of(blank: str, head: re.Match[str]) -> int:
    """Where a function ends: at the bracket that closes it, at its `end`, or where its one expression does."""
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
