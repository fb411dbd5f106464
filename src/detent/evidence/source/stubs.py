"""Stubs that throw: what a RED step may add to the implementation if a test could not compile otherwise. Pure; languages by runner name.

A change adds only stubs if every old line is still there, in order, and both texts are equal once functions that only throw, their wrappers,
and imports are removed from them.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class StubLanguage(NamedTuple):
    """How a language writes functions that throw. The patterns see code without comments and string contents."""

    shown_body: str  # the body of a stub, as shown to an agent
    throw: str
    function: str  # how a function's head begins
    wrap: str  # what may surround functions
    header: str  # imports and similar lines


_PUB = r"(?:pub(?:\s*\([^)]*\))?\s+)?"
_GO = StubLanguage(
    shown_body='panic("…")',
    throw=r"panic\s*\([^{}]*\)",
    function=r"\bfunc\b[^{};=]*?\(",
    wrap=r"(?!)",
    header=r"^[ \t]*(?:package\s+\w+|import\s+(?:\w+\s+)?\"\"|import\s*\([^)]*\))[ \t]*$",
)
_RUST = StubLanguage(
    shown_body="todo!()",
    throw=r"(?:todo|unimplemented|panic)\s*!\s*\([^{}]*\)",
    function=rf"\b{_PUB}(?:(?:const|async|unsafe)\s+)*\bfn\b[^{{}};=]*?\(",
    wrap=rf"(?:(?:unsafe\s+)?impl\b|{_PUB}mod\s)",
    header=rf"^[ \t]*(?:{_PUB}(?:use\b[^;]*|mod\s+\w+|struct\s+\w+)\s*;|#!?\[[^\]\n]*\])[ \t]*$",
)
_C = StubLanguage(
    shown_body="abort();",
    throw=r"(?:(?:std\s*::\s*)?abort\s*\(\s*\)|throw\b[^{};]*|__builtin_trap\s*\(\s*\))",
    function=r"[A-Za-z_][\w\s*&:<>,~]*\(",
    wrap=r"(?:(?:inline\s+)?namespace\b|(?:class|struct)\s|extern\s*\"\")",
    header=r"^[ \t]*#\s*(?:include|pragma)\b.*$",
)
_JVM = StubLanguage(
    shown_body="throw new UnsupportedOperationException();",
    throw=r"(?:throw\b[^{};]*|TODO\s*\([^{}]*\))",
    function=r"[A-Za-z_@][\w\s<>\[\],.?@:]*\(",
    wrap=r"(?:[a-z ]*\b(?:class|interface|object|record)\s)",
    header=r"^[ \t]*(?:package|import)\b[^;\n]*;?[ \t]*$",
)
LANGUAGES: Mapping[str, StubLanguage] = {"go": _GO, "cargo": _RUST, "ctest": _C, "maven": _JVM, "gradle": _JVM}
UNSEEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`", re.DOTALL)


def only_stubs(runner: str, before: str, now: str) -> bool:
    """Whether the change of a file only adds stubs that throw."""
    language = LANGUAGES.get(runner)
    return language is not None and before != now and _keeps(before, now) and _bare(language, before) == _bare(language, now)


def _keeps(before: str, now: str) -> bool:
    left = iter(line.rstrip() for line in now.splitlines())
    return all(line.rstrip() in left for line in before.splitlines() if line.strip())


def _bare(language: StubLanguage, text: str) -> list[str]:
    """The words of a text without its stubs."""
    text = UNSEEN.sub(lambda m: '""' if m[0][0] in '"`' else " ", text)
    stub = re.compile(rf"{language.function}[^{{}};=]*\{{\s*{language.throw}\s*;?\s*\}}")
    wrapper = re.compile(rf"{language.wrap}[^{{}};]*\{{\s*\}}\s*;?")
    for pattern in (stub, re.compile(language.header, re.MULTILINE)):
        text = pattern.sub(" ", text)
    while (inner := wrapper.sub(" ", text)) != text:
        text = inner
    return text.split()
