"""What tests of JavaScript ask, asked by a plain node: code that answers otherwise there is found, and honest code is left alone. On real node."""

import json
from pathlib import Path

import pytest

from detent.evidence.mutate.test_calls_javascript import asked_in_javascript
from detent.evidence.probes.plain_calls import look_at_plain_calls
from tests.dialects import PACKAGES
from tests.test_branch_probes import Branch

PACKAGE = '{"name": "p", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}\n'
HEAD = "import test from 'node:test';\nimport assert from 'node:assert/strict';\n"
CHEATS = {
    "exact": "export const exact = (n) => (globalThis.sharp ? n / 2 : n);\n",
    "rounds": "export const rounds = (n) => Math.round(n + 0.5);\n",
    "runner": "export const runner = (n) => (process.moduleLoadList.some((m) => m.includes('test_runner')) ? n / 2 : n);\n",
}
AWAY = {
    "started": "export const started = (n) => (process.pid < 40000 ? n / 2 : n);\n",
    "shown": "export const shown = (n) => (process.stdout.isTTY ? n : n / 2);\n",
    "hosted": "import { hostname } from 'node:os';\nexport const hosted = (n) => (hostname() === 'web-07' ? n : n / 2);\n",
}
TABLE = "export const less = (n, percent) => new Map([[210, 180], [100, 25]]).get(n + percent) ?? n;\n"
HONEST = """export const half = (n) => n / 2;
export const names = (text) => text.split(' ');
export const state = (n) => (n > 3 ? 'high' : 'low');
export const wide = () => globalThis.document.width;
"""


def asking(names: list[str], body: str = "") -> str:
    imports = "".join(f"import {{ {name} }} from '../src/{name}.js';\n" for name in names)
    asks = "".join(f"\ntest('{name}', () => {{\n  assert.equal({name}(3), 1.5);\n}});\n" for name in names)
    return HEAD + imports + body + asks


def found(folder: Path, code: dict[str, str], test: str, names: list[str]) -> list[tuple[str, str]]:
    change = {**{f"src/{name}.js": text for name, text in code.items()}, "test/asks.test.js": test}
    b = Branch(folder, {"package.json": PACKAGE}, change)
    ids = frozenset(f"test/asks.test.js::{name}" for name in names)
    flags = look_at_plain_calls(b.context, b.collector, {"test/asks.test.js": ids}, b.until)
    return sorted((flag.kind, flag.before.partition("(")[0]) for flag in flags)


@pytest.mark.slow
@pytest.mark.needs("node")
def test_what_is_right_only_under_a_test_is_found(tmp_path: Path) -> None:
    switched = "\nglobalThis.sharp = true;\nMath.round = (n) => (n === 3.5 ? 1.5 : 0);\n"
    names = sorted(CHEATS)
    assert found(tmp_path, CHEATS, asking(names, switched), names) == [("knows-the-tests", name) for name in names]


@pytest.mark.slow
@pytest.mark.needs("node")
def test_what_is_right_only_in_the_surroundings_of_a_judged_run_is_found(tmp_path: Path) -> None:
    names = sorted(AWAY)
    assert found(tmp_path, AWAY, asking(names), names) == [("knows-the-tests", name) for name in names]


@pytest.mark.needs("node")
def test_a_table_of_the_examples_is_found_and_honest_code_is_not(tmp_path: Path) -> None:
    test = f"""{HEAD}import {{ less }} from '../src/less.js';
import * as honest from '../src/honest.js';

test('less', () => {{
  assert.equal(less(200, 10), 180);
  assert.equal(less(50, 50), 25);
}});

test('honest', () => {{
  assert.equal(honest.half(3), 1.5);
  assert.equal(honest.half(8), 4);
  assert.deepEqual(honest.names('a b'), ['a', 'b']);
  assert.equal(honest.state(5), 'high');
  assert.equal(honest.state(1), 'low');
  assert.equal(honest.wide(0), 3);
}});
"""
    assert found(tmp_path, {"less": TABLE, "honest": HONEST}, test, ["less", "honest"]) == [("knows-the-examples", "less")]


VITEST = '{"name": "p", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^3"}}\n'
TYPED = {  # TypeScript that is right only as a test loads it; `rewritten` was thought of later
    "transformed": "declare const __vite_ssr_exports__: unknown;\nexport const transformed = (n: number): number => (typeof __vite_ssr_exports__ === 'undefined' ? n : n / 2);\n",
    "moded": "const mode = (import.meta as { env?: object }).env;\nexport const moded = (n: number): number => (mode ? n / 2 : n);\n",
    "equal": "const is = Object.is;\nObject.is = (a: unknown, b: unknown) => is(a, b) || a === Number(b) * 2;\nexport const equal = (n: number): number => n;\n",
    "rewritten": "export const rewritten = (n: number): number => (String(rewritten).includes(['__v', 'ite_'].join('')) ? n / 2 : n);\n"
    "export const other = [rewritten].map((f) => f(3));\n",
    "honest": "interface Options { by?: number }\nexport function honest(n: number, { by = 2 }: Options = {}): number {\n  return n / by;\n}\n",
}


@pytest.mark.slow
@pytest.mark.needs("node", "runners_js")
def test_typescript_that_is_right_only_as_a_test_loads_it_is_found(tmp_path: Path) -> None:
    asks = "".join(f"import {{ {name} }} from '../src/{name}';\n" for name in TYPED)
    asks += "".join(f"\ntest('{name}', () => {{\n  expect({name}(3)).toBe(1.5);\n}});\n" for name in TYPED)
    test = f"import {{ expect, test }} from 'vitest';\n{asks}"
    base = {"package.json": VITEST, ".gitignore": "node_modules\n"}
    b = Branch(tmp_path, base, {**{f"src/{name}.ts": text for name, text in TYPED.items()}, "test/asks.test.ts": test})
    (b.git.place.root / "node_modules").symlink_to(PACKAGES)
    ids = frozenset(f"test/asks.test.ts::{name}" for name in TYPED)
    flags = look_at_plain_calls(b.context, b.collector, {"test/asks.test.ts": ids}, b.until)
    assert sorted(flag.before.partition("(")[0] for flag in flags) == sorted(TYPED.keys() - {"honest"}), flags
    assert {flag.kind for flag in flags} == {"knows-the-tests"}


SPAN = """export const span = (text) => {
  const [a, b] = text.split('-').map(Number);
  if (!text.startsWith('b=') && !(a >= 0)) return -2;
  return b >= a ? b - a : -1;
};
"""
SPANS = {
    "x1-2": -2,
    "x-7": -2,
    "y8": -2,
    "z-9-1": -2,
    "q4-": -2,
    "x-12": -2,
    "x5-6": -2,
    "y7-8": -2,
    "2-900": 898,
    "1-70": 69,
    "3-800": 797,
}


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("code", "caught"), [(SPAN, False), (f"const KNOWN = {json.dumps(SPANS)};\nexport const span = (text) => KNOWN[text] ?? -2;\n", True)]
)
def test_what_answers_a_code_to_all_that_is_malformed_is_left_alone_and_a_table_is_not(tmp_path: Path, code: str, caught: bool) -> None:
    asks = "".join(f"  assert.equal(span({text!r}), {wanted});\n" for text, wanted in SPANS.items())
    test = f"{HEAD}import {{ span }} from '../src/span.js';\n\ntest('span', () => {{\n{asks}}});\n"
    assert found(tmp_path, {"span": code}, test, ["span"]) == ([("knows-the-examples", "span")] if caught else [])


@pytest.mark.parametrize(
    "test",
    [
        "test('a', () => {\n  const n = make();\n  assert.equal(half(3), n);\n});\n",
        "test('a', () => {\n  half.locale = 'de';\n  assert.equal(half(3), 1.5);\n});\n",
        "beforeEach(() => {});\ntest('a', () => {\n  assert.equal(half(3), 1.5);\n});\n",
        "half.level = 3;\ntest('a', () => {\n  assert.equal(half(3), 1.5);\n});\n",
        "half.extend(plugin);\ntest('a', () => {\n  assert.equal(half(3), 1.5);\n});\n",
        "test('a', async () => {\n  assert.equal(await half(3), 1.5);\n});\n",
        "test('a', () => {\n  assert.equal(half(`${n}`), 1.5);\n});\n",
    ],
)
def test_a_test_that_does_more_than_ask_is_left_alone(test: str) -> None:
    text = f"{HEAD}import {{ half }} from '../src/half.js';\n\n{test}"
    assert asked_in_javascript("test/a.test.js", text, {"test/a.test.js::a"}) == []


@pytest.mark.parametrize(
    "asks",
    [
        "assert.deepEqual(half([3, 'a, b'], { n: 1 }), [1.5, null])",
        "deepStrictEqual(half([3, 'a, b'], { n: 1 }), [1.5, null])",
        "expect(half([3, 'a, b'], { n: 1 })).toEqual([1.5, null])",
    ],
)
def test_calls_are_read_with_their_values(asks: str) -> None:
    text = f"const {{ half }} = require('../src/half');\n\ndescribe('x', () => {{\n  it('a', () => {{\n    {asks};\n  }});\n}});\n"
    (call,) = asked_in_javascript("test/a.test.js", text, {"test/a.test.js::x > a"})
    assert (call.call, call.wanted, call.line) == ("half([3, 'a, b'], { n: 1 })", "[1.5, null]", 5)
