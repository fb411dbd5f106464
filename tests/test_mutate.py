"""Mutations: small, one at a time, and each of them changes what the code does. In every language a mutant loads as well as the code."""

import ast
import json
import subprocess
from pathlib import Path

import pytest

from detent.evidence.mutate import MOST, MUTATORS, can_mutate, mutants


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


def test_every_mutant_parses_and_differs_in_one_place_only() -> None:
    code = "def f(a, b):\n    if a > 1 and b:\n        return a * 2\n    return 'x' + str(b)\n"
    plain = ast.unparse(ast.parse(code)).splitlines()
    found = list(mutants("a.py", code))
    assert len(found) == len(set(found)) >= 8
    for text in found:
        lines = ast.unparse(ast.parse(text)).splitlines()
        assert sum(a != b for a, b in zip(plain, lines, strict=True)) == 1


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
    ("() => {\n  return a\n    .b(c)\n}", ["() => {\n  return undefined\n}"]),
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
