"""Mutations: small, one at a time, and each of them changes what the code does. In every language a mutant loads as well as the code."""

import ast
import json
import subprocess
from pathlib import Path

import pytest

from detent.evidence.mutate import MOST, MUTATORS, bodies_on, can_mutate, mutants, spots_on


@pytest.mark.parametrize(
    ("code", "mutant"),
    [
        ("def f(a, b):\n    return a + b", "return a - b"),
        ("def f(a, b):\n    return a + b", "return None"),
        ("x = a == b", "x = a != b"),
        ("x = a < b", "x = a >= b"),
        ("x = a and b", "x = a or b"),
        ("x = 1", "x = 2"),
        ("x = True", "x = False"),
        ("x = 'a'", "x = 'ax'"),
        ("x = not a", "x = a"),
        ("x = a.b", "x = ..."),
        ("from a import b, c as d", "b = d = ..."),
    ],
)
def test_a_piece_of_code_has_this_mutant(code: str, mutant: str) -> None:
    assert any(mutant in text for text in mutants("a.py", code))


def differing(one: str, other: str) -> int:
    """The lines that differ in two texts; as many lines as both have."""
    pairs = zip(one.split("\n"), other.split("\n"), strict=True)
    return sum(a != b for a, b in pairs)


WRITTEN = """# what it is for
import os  # and why

from a import (
    b,  # the first
    c,
)

é = "ü" + f"{1 + 2}" + 'it\\'s'


def f(a, b):
    \"\"\"Words.\"\"\"
    if a > 1 and b:  # a check
        return a * 2
    return 'x' + str(
        b,  # why
    )


def g(n):
    # first a loop
    for x in range(n):
        yield x

    if not n:
        yield (n
               not in  [é])


async def h(n):
    async for x in n:
        yield x


class C:
    def __init__(self):
        if True:
            self.a = 1

    @property
    def b(self): return self.a
"""


def test_every_mutant_parses_and_differs_in_one_line_only_and_keeps_comments_and_layout() -> None:
    found = list(mutants("a.py", WRITTEN))
    assert len(found) == len(set(found)) >= 12
    for text in found:
        ast.parse(text)
        assert text.count("#") >= WRITTEN.count("#") - 1 and "def b(self): return " in text, text
        assert 1 <= differing(WRITTEN, text) <= 4, "only an import of several lines changes more than the two ends of an expression"


def test_every_body_that_answers_something_else_keeps_what_stands_in_it() -> None:
    found = {body.name: body.make() for body in bodies_on("a.py", WRITTEN, range(1, 100))}
    assert set(found) == {"f", "g", "h", "__init__", "b"}
    for text in found.values():
        ast.parse(text)
        assert text.count("\n") == WRITTEN.count("\n") or "self.a = 1\n    @property" in text or "yield x\n\nclass" in text, text
        assert text.count("#") == WRITTEN.count("#") and "Words" in text and "return a * 2" in text
    assert '"""Words."""; return ...' in found["f"] and "def b(self): return ...; return self.a" in found["b"]


ARID = """import logging  # and why
from typing import TYPE_CHECKING, Any

log = logging.getLogger()
LIMIT: "list[int]" = 3


def f(a: "A" = 1) -> "B":
    log.info("n is %s", a + 1)
    assert a > 0
    if a > 9:
        raise ValueError("too large: " + str(9))
    print(a + 1)
    return a


class C:
    def __repr__(self):
        return "C" + str(1)
"""


def test_what_only_says_something_is_never_mutated() -> None:
    changed = {
        next(n for n, (a, b) in enumerate(zip(ARID.split("\n"), text.split("\n"), strict=True), 1) if a != b)
        for text in mutants("a.py", ARID)
    }
    assert changed == {5, 8, 11, 14}, "a value, a default, a condition, what is returned"
    assert {body.name for body in bodies_on("a.py", ARID, range(1, 30))} == {"f"}
    for path, line in (
        ("a.js", "console.log(1 + 1);"),
        ("a.mjs", "throw new Error('no ' + 1);"),
        ("a.go", "log.Printf(a + b)"),
        ("a.go", "fmt.Println(1 + 1)"),
        ("a.rs", "debug_assert!(a == 1);"),
        ("a.rb", "raise ArgumentError if a == 1"),
        ("a.php", "error_log(1 + 1);"),
    ):
        assert list(spots_on(path, line, {1})) == [], line


def test_what_cannot_be_parsed_has_no_mutants() -> None:
    assert list(mutants("a.py", "def f(:")) == []
    assert list(mutants("a.py", "")) == []


# JavaScript.

JS: tuple[tuple[str, list[str]], ...] = (
    ("f(a === b)", ["f(a !== b)"]),
    ("f(a != b)", ["f(a == b)"]),
    ("f(a<b)", ["f(a>=b)"]),
    ("f(a >= b)", ["f(a < b)"]),
    ("f(a && b || c)", ["f(a || b || c)", "f(a && b && c)"]),
    ("f(a+-b)", ["f(a - -b)", "f(a+ + b)"]),
    ("f(a * b / c % d)", ["f(a + b / c % d)", "f(a * b * c % d)", "f(a * b / c * d)"]),
    ("a += b", ["a -= b"]),
    ("a++", ["a--"]),
    ("f(true)", ["f(false)"]),
    ("f(5, 0, 1.5, 7n)", ["f(6, 0, 1.5, 7n)", "f(4, 0, 1.5, 7n)", "f(5, 1, 1.5, 7n)", "f(5, 0, 2.5, 7n)", "f(5, 0, 1.5, 8n)", "f(5, 0, 1.5, 6n)"]),
    ("f('it\\'s', \"\")", ["f('', \"\")"]),
    ("() => { return a }", ["() => { return undefined }"]),
    ("() => { return { a }; }", ["() => { return undefined; }"]),
    ("() => {\n  return a // why\n    .b(c)\n}", ["() => {\n  return undefined && (a // why\n    .b(c))\n}"]),
    ("() => {\n  return a\n  f(b)\n}", ["() => {\n  return undefined\n  f(b)\n}"]),
    ("() => { return; }", []),
    ("() => { return undefined; }", []),
    ("const o = { return() { f() }, return: a }", []),
    ("x.true", []),
    ("const f = (a) => a;", []),
    ("// a + b\n/* 1 + 1 */", []),
    ("f(`a + ${b + `${1}` + '}'} 1`)", []),
    ("f(/a+[/'\"]1/g)", []),
    ("if (a) /'1/.test(b)", []),
    ("f(a / b / c)", ["f(a * b / c)", "f(a / b * c)"]),
    ("import a from 'a';\nimport 'b';\nexport { c } from 'c';\nexport * from 'd';\nimport * as e from 'e';\nimport('f');", []),
    ("import a from './a.json' with { type: 'json' };", []),
    ("const a = require('a');", []),
    ("'use strict';", []),
    ("function* f() { yield* g }\nclass A { static *b() {}\n async *c() {} }", []),
    ("#!/usr/bin/env node 1\nf(2)", ["#!/usr/bin/env node 1\nf(3)", "#!/usr/bin/env node 1\nf(1)"]),
    ("f(0x10, 1e3, 08)", []),
    ("", []),
    ("f('not closed)", []),
    ("f(`not closed", []),
    ("} / 2 + 1", []),
)  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), JS)
def test_a_piece_of_javascript_has_these_mutants_and_no_others(code: str, expected: list[str]) -> None:
    assert list(mutants("a.js", code)) == expected


CHECK = """
import vm from 'node:vm';
const texts = JSON.parse(process.argv[1]);
const wrong = texts.flatMap((text) => { try { new vm.SourceTextModule(text); return []; } catch (e) { return [`${e.message}: ${text}`]; } });
console.log(JSON.stringify(wrong));
"""
WHOLE = Path(__file__).parent.parent / "examples" / "js-cart" / "src"


def broken(texts: list[str]) -> list[str]:
    """Those that node cannot parse as modules."""
    options = ["--experimental-vm-modules", "--no-warnings", "--input-type=module", "-e", CHECK]
    said = subprocess.run(["node", *options, json.dumps(texts)], capture_output=True, text=True, check=True).stdout
    found = json.loads(said)
    assert isinstance(found, list)
    return found


@pytest.mark.needs("node")
def test_every_mutant_of_javascript_is_javascript() -> None:
    files = [path.read_text("utf-8") for path in sorted(WHOLE.glob("*.js"))]
    parses = [code for code, expected in JS if expected]
    found = [text for code in (*parses, *files) for text in mutants("a.js", code)]
    assert len(found) > 50
    assert broken([*parses, *files]) == []
    assert broken(found) == []
    assert broken(["f("]) != []


def test_mutants_of_javascript_come_in_the_order_of_the_text_and_the_same_each_time() -> None:
    code = "\n".join(f"const a{n} = {n} + {n};" for n in range(200))
    found = list(mutants("a.mjs", code))
    assert found == list(mutants("a.mjs", code))
    lines = [next(i for i, (a, b) in enumerate(zip(code.split("\n"), text.split("\n"), strict=True)) if a != b) for text in found]
    assert lines == sorted(lines)
    assert len(found) == MOST


def test_a_language_is_known_by_the_end_of_the_name() -> None:
    assert set(MUTATORS) == {".py", ".js", ".mjs", ".cjs"}
    assert can_mutate("src/a.mjs") and not can_mutate("src/a.ts") and not can_mutate("README")
    assert list(mutants("a.ts", "f(1)")) == []
