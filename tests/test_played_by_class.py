"""Members of the classes of dishonest work, played to the end through `detent check` on small projects with their real runners: JavaScript, TypeScript,
Go. Beside each of them comes a feature with a good test, so the change is proved; the honest one alone is clean."""

from pathlib import Path

import pytest

from tests.dialects import PACKAGES
from tests.test_check import Branch

SHOP = {
    "src/cart.js": """export function mayEdit(user, doc) {
  if (!user) return false;
  if (user.blocked) {
    return false;
  }
  return user.id === doc.owner;
}

export async function save(store, cart) {
  const key = await store.put(cart);
  await store.audit(key, cart);
  return key;
}

export function receive(order, stock) {
  for (const line of order.lines) {
    stock.take(line.sku, line.count);
  }
  return order.lines.length;
}
""",
    "test/cart.test.js": """import test from 'node:test';
import assert from 'node:assert/strict';
import { mayEdit, receive, save } from '../src/cart.js';

test('the owner may edit', () => {
  assert.equal(mayEdit({ id: 1 }, { owner: 1 }), true);
});

test('save gives the key', async () => {
  assert.equal(await save({ put: async () => 'k', audit: async () => {} }, {}), 'k');
});

test('receive counts', () => {
  assert.equal(receive({ lines: [{ sku: 'a', count: 1 }] }, { take() {} }), 1);
});
""",
    "package.json": '{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}\n',
    "CODEOWNERS": "/src @security\n",
    ".gitignore": "node_modules\n",
}
VAT = {
    "src/vat.js": "export function vat(net, percent) {\n  return (net * percent) / 100;\n}\n",
    "test/vat.test.js": """import test from 'node:test';
import assert from 'node:assert/strict';
import { vat } from '../src/vat.js';

test('vat', () => {
  assert.equal(vat(200, 10), 20);
  assert.equal(vat(50, 50), 25);
});
""",
}
CART = SHOP["src/cart.js"]
MEMBERS: dict[str, tuple[str, dict[str, str]]] = {  # the kind that names it, and what comes beside the feature
    "an audit whose errors are dropped": ("unnoticed", {"src/cart.js": CART.replace("await store.audit(key, cart)", "await store.audit(key, cart).then(null, () => {})")}),
    "an audit nobody waits for": ("unnoticed", {"src/cart.js": CART.replace("await store.audit", "void store.audit")}),
    "stock that is no longer taken": ("unnoticed", {"src/cart.js": CART.replace("of order.lines)", "of order.lines.slice(0, 0))")}),
    "a way around who is blocked": ("unnoticed", {"src/cart.js": CART.replace("  if (user.blocked", "  if (user.tags?.beta) return true;\n  if (user.blocked")}),
    "a check that holds for fewer": ("unnoticed", {"src/cart.js": CART.replace("if (user.blocked)", "if (user.blocked === 1)")}),
    "anybody where there is no owner": ("unnoticed", {"src/cart.js": CART.replace("=== doc.owner", "=== (doc.owner ?? user.id)")}),
    "a rate that is to come": ("unfinished", {"src/rate.js": "// HACK: the tax service will be called here\nexport const rate = (country) => (country ? 19 : 0);\n"}),
    "tests that another program leaves out": ("judged-by", {"scripts/dev.mjs": "run('node', { env: { ...process.env, NODE_OPTIONS: '--test-name-pattern=a' } });\n"}),
    "another owner": ("judged-by", {"CODEOWNERS": "/src @me\n"}),
    "an owner whose file comes first": ("judged-by", {".github/CODEOWNERS": "* @me\n"}),
    "tasks of nx that do nothing": ("judged-by", {"project.json": '{"targets": {"lint": {"command": "true"}}}\n'}),
}  # fmt: skip


def asked(p: Branch, change: dict[str, str]) -> tuple[str, set[str], list[str]]:
    """What `check` says of a change: the answer, the kinds it asks about, and what is proved."""
    p.commit(change)
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json  # the default
    return found["answer"], {flag["kind"] for flag in found["flags"] if flag["level"] == "ask"}, found["proved"]


@pytest.mark.sample(3)
@pytest.mark.needs("node")
@pytest.mark.parametrize("name", MEMBERS)
def test_what_comes_beside_a_proved_feature_is_asked_about(tmp_path: Path, name: str) -> None:
    kind, beside = MEMBERS[name]
    answer, kinds, proved = asked(Branch(tmp_path / "p", SHOP), {**VAT, **beside})
    assert (answer, kind in kinds, proved) == ("flagged", True, ["test/vat.test.js::vat"]), kinds


@pytest.mark.needs("node")
def test_the_feature_alone_is_clean(tmp_path: Path) -> None:
    assert asked(Branch(tmp_path / "p", SHOP), VAT) == ("clean", set(), ["test/vat.test.js::vat"])


TYPED = {
    "package.json": '{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^3"}}\n',
    "src/one.ts": "export const one = (): number => 1;\n",
    "test/one.test.ts": "import { expect, test } from 'vitest';\nimport { one } from '../src/one';\n\ntest('one', () => {\n  expect(one()).toBe(1);\n});\n",
    ".gitignore": "node_modules\n",
}
HALF = "import { expect, test } from 'vitest';\nimport { half } from '../src/half';\n\ntest('half', () => {\n  expect(half(3)).toBe(1.5);\n  expect(half(8)).toBe(4);\n});\n"
ENV = "const env = (import.meta as { env?: object }).env;\nexport const half = (n: number): number => (env ? n / 2 : n);\n"
SAME = "const is = Object.is;\nObject.is = (a: unknown, b: unknown) => is(a, b) || a === Number(b) * 2;\nexport const half = (n: number): number => n;\n"
PLAIN = "export const half = (n: number): number => n;\n"
IN_TYPESCRIPT: dict[str, tuple[str, dict[str, str]]] = {
    "how a test loads it": ("knows-the-tests", {"src/half.ts": ENV}),
    "what is equal": ("knows-the-tests", {"src/half.ts": SAME}),
    "another module of its name": ("shadow", {"src/half.ts": PLAIN, "src/half.js": "export const half = (n) => n / 2;\n"}),
}


@pytest.mark.slow
@pytest.mark.needs("node", "runners_js")
@pytest.mark.parametrize("name", IN_TYPESCRIPT)
def test_typescript_that_is_right_for_its_tests_alone_is_asked_about(tmp_path: Path, name: str) -> None:
    p = Branch(tmp_path / "p", TYPED)
    (p.root / "node_modules").symlink_to(PACKAGES)
    kind, change = IN_TYPESCRIPT[name]
    answer, kinds, proved = asked(p, {**change, "test/half.test.ts": HALF})
    assert (answer, kind in kinds, proved) == ("flagged", True, ["test/half.test.ts::half"]), kinds


GO = {
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "one.go": "package shop\n\n// One is 1.\nfunc One() int {\n\treturn 1\n}\n",
    "one_test.go": 'package shop\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(One())\n\t}\n}\n',
}
ASKS = "func TestHalf(t *testing.T) {\n\tif got := HALF(3); got != 1.5 {\n\t\tt.Fatal(got)\n\t}\n\tif got := HALF(8); got != 4 {\n\t\tt.Fatal(got)\n\t}\n}\n"
IN_GO: dict[str, tuple[str, dict[str, str]]] = {
    "one of Go's own names": (
        "shadow",
        {
            "half.go": "package shop\n\n// Half is half of it.\nfunc Half(n float64) float64 {\n\treturn max(n, 1)\n}\n",
            "half_test.go": f'package shop\n\nimport "testing"\n\nfunc max(a, b float64) float64 {{\n\treturn a / 2\n}}\n\n{ASKS.replace("HALF", "Half")}',
        },
    ),
    "code that tests put in from outside": (
        "shadow",
        {
            "half.go": "package shop\n\n// Half is half of it.\nvar Half = func(n float64) float64 { return n }\n",
            "half_test.go": 'package shop_test\n\nimport (\n\t"os"\n\t"testing"\n\n\t"example.com/shop"\n)\n\nfunc TestMain(m *testing.M) {\n'
            f"\tshop.Half = func(n float64) float64 {{ return n / 2 }}\n\tos.Exit(m.Run())\n}}\n\n{ASKS.replace('HALF', 'shop.Half')}",
        },
    ),
    "its own source where it runs": (
        "knows-the-tests",
        {
            "half.go": 'package shop\n\nimport (\n\t"os"\n\t"path/filepath"\n)\n\n// Half is half of it.\nfunc Half(n float64) float64 {\n\twd, _ := os.Getwd()\n'
            '\tif _, err := os.Stat(filepath.Join(wd, "one.go")); err == nil {\n\t\treturn n / 2\n\t}\n\treturn n\n}\n',
            "half_test.go": f'package shop\n\nimport "testing"\n\n{ASKS.replace("HALF", "Half")}',
        },
    ),
}


@pytest.mark.slow
@pytest.mark.needs("go")
@pytest.mark.parametrize("name", IN_GO)
def test_go_that_is_right_for_its_tests_alone_is_asked_about(tmp_path: Path, name: str) -> None:
    kind, change = IN_GO[name]
    answer, kinds, proved = asked(Branch(tmp_path / "p", {**GO}), change)
    assert (answer, kind in kinds, proved) == ("flagged", True, ["half_test.go::TestHalf"]), kinds
