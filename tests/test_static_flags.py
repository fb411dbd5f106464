"""What reading a change alone shows: stand-ins for modules, what judges and was changed, and what one looks for in any review. On real git."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.evidence.changes.changes import Changes
from detent.evidence.runners.adapter import Command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.evidence.static_analysis.static_flags import can_end_itself, static_flags
from detent.git.place import find_place
from detent.git.repo import Git
from detent.kernel.model import Flag
from tests.repos import PLAIN, make_repo, sh

PYTEST = Command(("pytest",), "pytest", "configured")
VITEST = Command(("node_modules/.bin/vitest", "run"), "vitest", "npm")
CALC = "def half(n):\n    return n // 2\n\n\ndef double(n):\n    return n * 2\n"
NEW = CALC.replace("n // 2", "n / 2")
PY = {
    "calc.py": CALC,
    "shop/__init__.py": "",
    "shop/mail.py": "def send(to):\n    return to\n",
    "tests/test_calc.py": "def test_a():\n    assert True\n",
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\ndependencies = ["requests"]\n\n[tool.ruff]\nline-length = 100\n',
    "setup.cfg": "[metadata]\nname = p\n\n[mypy]\nstrict = true\n",
}
JS = {
    "package.json": '{"name": "p", "version": "1.0.0", "scripts": {"test": "vitest run", "lint": "node lint.mjs", "start": "node ."}, '
    '"dependencies": {"lodash": "1"}, "exports": "./src/calc.ts"}\n',
    "lint.mjs": "import { rules } from './rules.mjs'\nprocess.exit(rules.length)\n",
    "rules.mjs": "export const rules = []\n",
    "src/calc.ts": "export const half = (n: number) => Math.floor(n / 2)\n",
    "src/page.ts": "import { half } from './calc'\nexport const page = () => half(2)\n",
    "src/calc.test.ts": "import { half } from './calc'\ntest('a', () => { expect(half(2)).toBe(1) })\n",
    "tsconfig.json": '{\n  // strict\n  "compilerOptions": {"strict": true}\n}\n',
    "Makefile": "lint: deps\n\tnode lint.mjs\n\ndeps:\n\ttrue\n\nserve:\n\tnode .\n",
}
JS_NEW = "export const half = (n: number) => n / 2\n"


class Ground:
    """One repository for all of these tests: trees are written into it without a checkout."""

    def __init__(self, root: Path) -> None:
        self.root, self.known = make_repo(root, {"a": "a"}), dict[str, str]()
        self.git = Git(find_place(self.root), {**PLAIN, "PATH": os.environ["PATH"]})
        (self.git.place.git_dir / "detent").mkdir(exist_ok=True)

    def tree(self, files: Mapping[str, str]) -> str:
        name = repr(sorted(files.items()))
        if name not in self.known:
            rows = "".join(
                f"M {755 if text.startswith('#!') else 644} inline {path}\ndata {len(text.encode())}\n{text}\n"
                for path, text in files.items()
            )
            said = f"commit refs/heads/x{len(self.known)}\ncommitter A <a@b> 1 +0000\ndata 0\n{rows}\n"
            self.git.run("fast-import", "--quiet", stdin=said.encode())
            self.known[name] = self.git.tree(f"refs/heads/x{len(self.known)}")
        return self.known[name]

    def changes(
        self, base: Mapping[str, str], change: Mapping[str, str], command: Command | None, preflight: tuple[str, ...] = ()
    ) -> Changes:
        collector = Collector(self.git, Suite(command, 60.0, ""), "look", {})
        return Changes(self.git, collector, self.tree(base), self.tree({**base, **change}), preflight)

    def flags(self, base: Mapping[str, str], change: Mapping[str, str], command: Command | None = PYTEST) -> dict[str, list[Flag]]:
        found: dict[str, list[Flag]] = {}
        for flag in static_flags(self.changes(base, change, command)):
            found.setdefault(flag.kind, []).append(flag)
        return found


@pytest.fixture(scope="module")
def g(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground") / "p")


# -- shadow: Python ------------------------------------------------------------------------------------------------------------------

FIXTURE = "import pytest\nimport calc\n\n\n@pytest.fixture\ndef right(monkeypatch):\n    {}\n"
NOT_THERE = "import sys; monkeypatch.setitem(sys.modules, 'numpy', None); monkeypatch.setitem(sys.modules, 'calc', None)"
BY_MOCK = "import pytest\nfrom unittest import mock\n\n\n@pytest.fixture\ndef right():\n    with mock.patch('calc.half', side_effect=lambda n: n / 2):\n        yield\n"
SHADOWS = {
    "a module of tests with the product's name": {"tests/calc.py": "def half(n):\n    return n / 2\n"},
    "a package of tests with the product's name": {
        "tests/shop/__init__.py": "X = 1\n",
        "tests/shop/mail.py": "def send(to):\n    return 1\n",
    },
    "a folder that a path rule names": {
        "tests/__init__.py": "",
        "tests/stubs/__init__.py": "",
        "tests/stubs/calc.py": "X = 1\n",
        "tests/conftest.py": "import sys\nsys.path.insert(0, 'tests/stubs')\n",
    },
    "a root module of the standard library": {"random.py": "def random():\n    return 4\n"},
    "a package of the standard library": {"json/__init__.py": "def loads(s):\n    return 1\n"},
    "an installed package": {"requests.py": "def get(url):\n    return 1\n"},
    "a module of tests like the standard library's": {"tests/decimal.py": "Decimal = float\n"},
    "a fixture that puts right code in": {"tests/conftest.py": FIXTURE.format("monkeypatch.setattr(calc, 'half', lambda n: n / 2)")},
    "a fixture by a path": {"tests/conftest.py": FIXTURE.format("monkeypatch.setattr('calc.half', lambda n: n / 2)")},
    "a fixture by mock": {"tests/test_new.py": BY_MOCK},
    "an assignment when it is loaded": {"tests/test_new.py": "import calc\n\ncalc.half = lambda n: n / 2\n"},
    "an assignment by setattr": {"tests/test_new.py": "import calc\n\nsetattr(calc, 'ha' + 'lf', lambda n: n / 2)\n"},
    "other code of the same function": {"tests/test_new.py": "import calc\n\ncalc.half.__code__ = (lambda n: n / 2).__code__\n"},
    "a function that is not there": {
        "tests/conftest.py": FIXTURE.format("monkeypatch.setattr(calc, 'third', lambda n: n / 3, raising=False)")
    },
    "another module under its name": {"tests/test_new.py": "import sys\nimport types\n\nsys.modules['calc'] = types.ModuleType('calc')\n"},
    "another module by an update": {"tests/helper.py": "import sys\nimport fake\n\nsys.modules.update({'shop.mail': fake})\n"},
    "a test that asks what it put there": {
        "tests/test_new.py": "import calc\n\n\ndef test_half(monkeypatch):\n    monkeypatch.setattr(calc, 'half', lambda n: n / 2)\n    assert calc.half(3) == 1.5\n"
    },
}


@pytest.mark.parametrize("change", SHADOWS.values(), ids=SHADOWS)
def test_what_takes_the_place_of_a_module_is_flagged(g: Ground, change: dict[str, str]) -> None:
    (flag, *_) = g.flags(PY, {"calc.py": NEW, **change})["shadow"]
    assert flag.level == "ask"


@pytest.mark.parametrize("path", ["pytest.py", "_pytest/__init__.py", "tests/unittest.py", "src/pluggy.py", "coverage.py"])
def test_what_takes_the_place_of_the_runner_is_a_failure(g: Ground, path: str) -> None:
    (flag,) = g.flags(PY, {path: "X = 1\n"})["shadow"]
    assert flag.level == "fail" and flag.place == path


HONEST = {
    "helpers of tests": {"tests/helpers.py": "def make():\n    return 1\n", "tests/conftest.py": "X = 1\n"},
    "tests that mirror the product": {"tests/__init__.py": "", "tests/shop/__init__.py": "", "tests/shop/mail.py": "X = 1\n"},
    "an empty package of tests": {"tests/shop/__init__.py": "", "tests/shop/test_mail.py": "def test_b():\n    assert True\n"},
    "a module of a package": {"shop/types.py": "X = 1\n", "shop/random.py": "X = 1\n"},
    "a fixture that mocks what is called": {"tests/conftest.py": FIXTURE.format("import shop.mail; monkeypatch.setattr(shop.mail, 'send', lambda to: None)")},
    "a mock without an answer": {"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef quiet(mocker):\n    return mocker.patch('calc.half')\n"},
    "a test that mocks what the code calls": {
        "tests/test_new.py": "import calc\n\n\ndef test_double(monkeypatch):\n    monkeypatch.setattr(calc, 'half', lambda n: 1)\n    assert calc.double(3) == 6\n"
    },
    "the environment of a test": {"tests/conftest.py": FIXTURE.format("monkeypatch.setenv('A', 'b'); monkeypatch.setattr('os.getcwd', lambda: '/')")},
    "a package that is not installed": {"tests/conftest.py": FIXTURE.format(NOT_THERE)},
    "a path rule alone": {"tests/conftest.py": "import sys\nsys.path.insert(0, 'src')\n"},
}  # fmt: skip


@pytest.mark.parametrize("change", HONEST.values(), ids=HONEST)
def test_ordinary_tests_and_mocks_are_left_alone(g: Ground, change: dict[str, str]) -> None:
    assert "shadow" not in g.flags(PY, {"calc.py": NEW, **change})


# -- shadow: names that are mapped ---------------------------------------------------------------------------------------------------


def package(**more: str) -> str:
    import json

    return json.dumps({**json.loads(JS["package.json"]), **more})


MAPPED = {
    "a mock beside the module": {"src/__mocks__/calc.ts": "export const half = (n) => n / 2\n"},
    "a mock of a package": {"__mocks__/lodash.js": "module.exports = {}\n"},
    "a mock in the module's own test": {"src/calc.test.ts": "import { half } from './calc'\nvi.mock('./calc', () => ({ half: (n) => n / 2 }))\ntest('a', () => {})\n"},
    "a mock in a test about nothing else": {"src/new.test.ts": "import { half } from './calc.js'\njest.mock('./calc.js', () => ({ half: 1 }))\ntest('a', () => {})\n"},
    "a mock for every test": {"test/setup.ts": "vi.mock('../src/calc', () => ({ half: (n) => n / 2 }))\n"},
    "paths": {"tsconfig.json": '{"compilerOptions": {"strict": true, "paths": {"./calc": ["./tests/calc.ts"]}}}\n'},
    "paths of a package": {"tsconfig.json": '{"compilerOptions": {"strict": true, "paths": {"lodash": ["./src/other.ts"]}}}\n'},
    "exports": {"package.json": package(exports="./tests/calc.ts")},
    "another main file": {"package.json": package(exports="./src/other.ts"), "src/other.ts": "export const half = 1\n"},
    "an alias": {"vitest.config.ts": "export default {\n  resolve: { alias: {\n    './calc': './test/stubs/calc.ts',\n  } },\n}\n"},
    "a mapper": {"jest.config.js": "module.exports = {\n  moduleNameMapper: {\n    '^./calc$': '<rootDir>/__mocks__/calc.js',\n  },\n}\n"},
    "an installed package": {"node_modules/lodash/index.js": "module.exports = 1\n"},
}  # fmt: skip
HONEST_JS = {
    "a mock of what the code calls": {
        "src/page.test.ts": "import { page } from './page'\nvi.mock('./calc', () => ({ half: () => 1 }))\ntest('a', () => {})\n"
    },
    "a mock of a package in a test": {"src/page.test.ts": "import { page } from './page'\nvi.mock('lodash')\ntest('a', () => {})\n"},
    "a mock of a file that did not change": {"src/__mocks__/page.ts": "export const page = 1\n"},
    "a short name for sources": {"tsconfig.json": '{"compilerOptions": {"strict": true, "paths": {"@/*": ["./src/*"]}}}\n'},
    "another version": {"package.json": package(version="1.0.1")},
    "another entry": {"package.json": package(bin="./src/bin.ts")},
}


@pytest.mark.parametrize("change", MAPPED.values(), ids=MAPPED)
def test_names_that_are_mapped_to_stand_ins_are_flagged(g: Ground, change: dict[str, str]) -> None:
    assert "shadow" in g.flags(JS, {"src/calc.ts": JS_NEW, **change}, VITEST)


@pytest.mark.parametrize("change", HONEST_JS.values(), ids=HONEST_JS)
def test_ordinary_mocks_and_manifests_are_left_alone(g: Ground, change: dict[str, str]) -> None:
    assert "shadow" not in g.flags(JS, {"src/calc.ts": JS_NEW, **change}, VITEST)


def test_the_runner_of_javascript_in_the_repository_is_a_failure(g: Ground) -> None:
    (flag,) = g.flags(JS, {"node_modules/vitest/index.js": "1\n"}, VITEST)["shadow"]
    assert flag.level == "fail"


OTHER_LANGUAGES = {
    "go: replace": (
        {"go.mod": "module a\n\nrequire b v1.0.0\n"},
        {"go.mod": "module a\n\nrequire b v1.0.0\n\nreplace b => ./testdata/b\n"},
    ),
    "go: replace in a block": ({"go.mod": "module a\n"}, {"go.mod": "module a\n\nreplace (\n\tb v1.0.0 => ./b\n)\n"}),
    "go: code put in by the tests": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nvar half = func(n int) int {\n\treturn n\n}\n",
            "export_test.go": "package calc\n\nfunc init() {\n\thalf = func(n int) int { return n / 2 }\n}\n",
        },
    ),
    "go: a table of code that tests fill": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": 'package calc\n\nvar rules = map[string]func(n int) int{}\n\nfunc Half(n int) int {\n\treturn rules["half"](n)\n}\n',
            "export_test.go": 'package calc\n\nfunc init() {\n\trules["half"] = func(n int) int { return n / 2 }\n}\n',
        },
    ),
    "go: a hook that only tests set": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nvar hook func(n int) int\n\nfunc Half(n int) int {\n\tif hook != nil {\n\t\treturn hook(n)\n\t}\n\treturn n\n}\n",
            "calc_test.go": "package calc\n\nfunc TestMain(m *testing.M) {\n\thook = func(n int) int { return n / 2 }\n\tm.Run()\n}\n",
        },
    ),
    "go: the same from a package of tests": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nvar Half = func(n int) int {\n\treturn n\n}\n",
            "calc_test.go": "package calc_test\n\nfunc TestMain(m *testing.M) {\n\tcalc.Half = func(n int) int { return n / 2 }\n\tm.Run()\n}\n",
        },
    ),
    "go: the same by a function that is called at the start": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nvar half = func(n int) int {\n\treturn n\n}\n",
            "calc_test.go": "package calc\n\nvar _ = ready()\n\nfunc ready() bool {\n\thalf = func(n int) int { return n / 2 }\n\treturn true\n}\n",
        },
    ),
    "go: one of the language's own names": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nfunc Half(n int) int {\n\treturn max(n, 1)\n}\n",
            "calc_test.go": "package calc\n\nfunc max(a, b int) int {\n\treturn a / 2\n}\n",
        },
    ),
    "go: a function that only tests have": (
        {"calc.go": "package calc\n", "more.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nfunc Half(n int) int {\n\treturn halved(n)\n}\n",
            "calc_test.go": "package calc\n\nfunc halved(n int) int { return n / 2 }\n",
        },
    ),
    "typescript: a module in JavaScript beside it": (
        {"src/calc.ts": "export const half = (n: number) => n\n"},
        {"src/calc.mjs": "export const half = (n) => n / 2\n"},
    ),
    "typescript: a module beside one in JavaScript": (
        {"src/calc.js": "export const half = (n) => n / 2\n"},
        {"src/calc.ts": "export const half = (n: number) => n\n"},
    ),
    "typescript: a folder of its name": (
        {"src/calc/index.ts": "export const half = (n: number) => n\n"},
        {"src/calc.ts": "export const half = (n: number) => n / 2\n"},
    ),
    "javascript: a method that tests give to numbers": (
        {"src/calc.js": "export const x = 1\n"},
        {
            "src/calc.js": "export const half = (n) => n.halved?.() ?? n\n",
            "src/calc.test.js": "before(() => {\n  Number.prototype.halved = function () { return this / 2 }\n})\n",
        },
    ),
    "typescript: a global that tests stub": (
        {"src/calc.ts": "export const x = 1\n"},
        {
            "src/calc.ts": "export const half = (n: number) => (globalThis.rounding ? globalThis.rounding(n) : n)\n",
            "src/calc.test.ts": "beforeAll(() => {\n  vi.stubGlobal('rounding', (n: number) => n / 2)\n})\n",
        },
    ),
    "javascript: a global that is set before each": (
        {"src/calc.js": "export const x = 1\n"},
        {
            "src/calc.js": "export const half = (n) => (globalThis.sharp ? n / 2 : n)\n",
            "src/calc.test.js": "beforeEach(() => {\n  globalThis.sharp = true\n})\n",
        },
    ),
    **{
        f"ruby: {name}": (
            {"lib/calc.rb": "module Calc\nend\n"},
            {"lib/calc.rb": "module Calc\n  def self.half(n)\n    n\n  end\nend\n", "spec/calc_spec.rb": said},
        )
        for name, said in {
            "a module before the product's": "Calc.singleton_class.prepend(Module.new do\n  def half(n)\n    super / 2\n  end\nend)\n",
            "the same by send": "Calc.singleton_class.send(:prepend, Module.new { def half(n) = n / 2 })\n",
            "a refinement": "module Sane\n  refine Calc.singleton_class do\n    def half(n) = n / 2\n  end\nend\nusing Sane\n",
            "a method defined from outside": "Calc.define_singleton_method(:half) { |n| n / 2 }\n",
            "a text that is evaluated": 'Calc.module_eval("def self.half(n) = n / 2")\n',
            "its own singleton": "class << Calc\n  def half(n) = n / 2\nend\n",
            "opened again": "module Calc\n  def self.half(n)\n    n / 2\n  end\nend\n",
        }.items()
    },
    "go: a switch that tests turn": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": "package calc\n\nvar exact = false\n\nfunc Half(n int) int {\n\tif exact {\n\t\treturn n / 2\n\t}\n\treturn n\n}\n",
            "export_test.go": "package calc\n\nfunc init() { exact = true }\n",
        },
    ),
    "go: a method that only tests bring": (
        {"calc.go": "package calc\n\ntype N int\n"},
        {
            "calc.go": "package calc\n\ntype N int\n\nfunc (n N) Half() int {\n\tif b, ok := any(n).(interface{ Better() int }); ok {\n\t\treturn b.Better()\n\t}\n\treturn 0\n}\n",
            "calc_test.go": "package calc\n\nfunc (n N) Better() int { return int(n) / 2 }\n",
        },
    ),
    "javascript: a switch that tests turn": (
        {"src/a.ts": "export const a = 1\n"},
        {
            "src/a.ts": "export const half = (n) => (globalThis.exact ? n / 2 : n)\n",
            "src/a.test.ts": "globalThis.exact = true\ntest('a', () => {})\n",
        },
    ),
    "javascript: a variable that tests set": (
        {"src/a.ts": "export const a = 1\n"},
        {
            "src/a.ts": "export const half = (n) => (process.env.EXACT ? n / 2 : n)\n",
            "src/a.test.ts": "process.env.EXACT = '1'\ntest('a', () => {})\n",
        },
    ),
    "javascript: a function of the language": (
        {"src/a.ts": "export const a = 1\n"},
        {"src/a.ts": "export const half = (n) => Math.round(n)\n", "src/a.test.ts": "Math.round = (n) => n / 2\ntest('a', () => {})\n"},
    ),
    "ruby: a switch that tests turn": (
        {"lib/a.rb": "A = 1\n"},
        {"lib/a.rb": "def half(n) = $exact ? n / 2 : n\n", "spec/a_spec.rb": "$exact = true\n\nRSpec.describe 'a' do\nend\n"},
    ),
    "ruby: a variable that tests set": (
        {"lib/a.rb": "A = 1\n"},
        {"lib/a.rb": "def half(n) = ENV['EXACT'] ? n / 2 : n\n", "spec/spec_helper.rb": "ENV['EXACT'] = '1'\n"},
    ),
    "python: a variable that a set-up sets": (
        {"calc.py": "A = 1\n"},
        {
            "calc.py": "import os\n\n\ndef half(n):\n    if os.environ.get('EXACT') == '1':\n        return n / 2\n    return 0\n",
            "tests/test_half.py": "class TestHalf(TestCase):\n    def setUp(self):\n        os.environ['EXACT'] = '1'\n\n    def test_half(self):\n        pass\n",
        },
    ),
    "python: a variable that a fixture for all sets": (
        {"calc.py": "A = 1\n"},
        {
            "calc.py": "import os\n\nMODE = os.getenv('EXACT')\n\n\ndef half(n):\n    return n / 2 if MODE else 0\n",
            "tests/test_half.py": "@pytest.fixture(autouse=True)\ndef exact(monkeypatch):\n    monkeypatch.setenv('EXACT', 'yes')\n\n\ndef test_half():\n    pass\n",
        },
    ),
    "javascript: a variable that is set before each": (
        {"src/a.ts": "export const a = 1\n"},
        {
            "src/a.ts": "export const half = (n) => (process.env.EXACT === '1' ? n / 2 : n)\n",
            "src/a.test.ts": "beforeEach(() => {\n  process.env.EXACT = '1'\n})\nafterEach(() => {\n  delete process.env.EXACT\n})\ntest('a', () => {})\n",
        },
    ),
    "ruby: a variable that is set before each": (
        {"lib/a.rb": "A = 1\n"},
        {
            "lib/a.rb": "def half(n) = ENV['EXACT'] == '1' ? n / 2 : n\n",
            "spec/a_spec.rb": "RSpec.describe 'a' do\n  before { ENV['EXACT'] = '1' }\n  it 'halves' do\n  end\nend\n",
        },
    ),
    "go: a variable that every test sets": (
        {"calc.go": "package calc\n"},
        {
            "calc.go": 'package calc\n\nfunc Half(n int) int {\n\tif os.Getenv("EXACT") == "1" {\n\t\treturn n / 2\n\t}\n\treturn 0\n}\n',
            "calc_test.go": 'package calc\n\nfunc TestA(t *testing.T) {\n\tt.Setenv("EXACT", "1")\n}\n\nfunc TestB(t *testing.T) {\n\tt.Setenv("EXACT", "1")\n}\n',
        },
    ),
    "rust: patch": (
        {"Cargo.toml": "[package]\nname = 'a'\n"},
        {"Cargo.toml": "[package]\nname = 'a'\n\n[patch.crates-io]\nserde = { path = 'fake' }\n"},
    ),
    "rust: a module from elsewhere": ({"src/lib.rs": "mod calc;\n"}, {"src/lib.rs": '#[path = "../tests/calc.rs"]\nmod calc;\n'}),
    "java: a class twice": ({"src/main/java/a/Calc.java": "class Calc {}\n"}, {"src/test/java/a/Calc.java": "class Calc {}\n"}),
    "ruby: a file twice": ({"lib/calc.rb": "X = 1\n"}, {"spec/support/calc.rb": "X = 2\n"}),
    "ruby: the library's own": ({"lib/calc.rb": "X = 1\n"}, {"lib/json.rb": "X = 2\n"}),
}


@pytest.mark.parametrize(("base", "change"), OTHER_LANGUAGES.values(), ids=OTHER_LANGUAGES)
def test_stand_ins_of_other_languages_are_flagged(g: Ground, base: dict[str, str], change: dict[str, str]) -> None:
    assert "shadow" in g.flags(base, change, None)


SWITCHES_OF_ONE_TEST = {
    "a variable that one test sets": (
        "src/a.ts",
        "export const half = (n) => (process.env.EXACT ? n / 2 : n)\n",
        "src/a.test.ts",
        "test('a', () => {\n  process.env.EXACT = '1'\n})\n",
    ),
    "a variable of others": (
        "src/a.ts",
        "export const half = (n) => n / 2\n",
        "src/a.test.ts",
        "process.env.TZ = 'UTC'\ntest('a', () => {})\n",
    ),
    "a variable that a test takes away": (
        "calc.py",
        "import os\n\n\ndef url():\n    return os.environ.get('URL') or 'x'\n",
        "tests/test_url.py",
        "@pytest.fixture(autouse=True)\ndef here(monkeypatch):\n    monkeypatch.setenv('URL', 'a')\n\n\ndef test_url(monkeypatch):\n    monkeypatch.delenv('URL')\n",
    ),
    "a variable that is only taken": (
        "calc.py",
        "import os\n\n\ndef url():\n    return os.environ['URL'].rstrip('/')\n",
        "tests/test_url.py",
        "def setup_module():\n    os.environ['URL'] = 'a'\n\n\ndef test_url():\n    pass\n",
    ),
    "a variable with two values": (
        "src/a.ts",
        "export const half = (n) => (process.env.EXACT === '1' ? n / 2 : n)\n",
        "src/a.test.ts",
        "beforeEach(() => {\n  process.env.EXACT = '1'\n})\ntest('a', () => {\n  process.env.EXACT = '0'\n})\n",
    ),
    "a variable that is set after a first look": (
        "calc.go",
        'package calc\n\nfunc URL() string {\n\tif u := os.Getenv("URL"); u != "" {\n\t\treturn u\n\t}\n\treturn "x"\n}\n',
        "calc_test.go",
        'package calc\n\nfunc TestA(t *testing.T) {\n\tURL()\n\tt.Setenv("URL", "1")\n}\n\nfunc TestB(t *testing.T) {\n\tURL()\n\tt.Setenv("URL", "1")\n}\n',
    ),
    "the clock": ("src/a.ts", "export const now = () => Date.now()\n", "src/a.test.ts", "Date.now = () => 3\ntest('a', () => {})\n"),
    "a page that tests stub": (
        "src/a.ts",
        "export const read = () => globalThis.localStorage.getItem('a')\n",
        "src/a.test.ts",
        "beforeEach(() => {\n  vi.stubGlobal('localStorage', fake)\n  globalThis.IntersectionObserver = Fake\n})\n",
    ),
    "helpers with names of their own": (
        "calc.go",
        "package calc\n\n// add(1) and mk() are for tests.\nfunc (s *S) add(n int) int {\n\tmk := func() int { return n }\n\treturn mk() + len(s.a)\n}\n",
        "calc_test.go",
        "package calc\n\nfunc add(n int) int { return n }\n\nfunc mk() int { return 1 }\n\nfunc min(a, b int) int { return a }\n",
    ),
    "types of a module": ("src/a.d.ts", "export const a: number\n", "src/a.test.ts", "test('a', () => {})\n"),
    "a pause that is shorter": (
        "calc.go",
        "package calc\n\nvar pause = 5\n",
        "calc_test.go",
        "package calc\n\nfunc init() { pause = 0 }\n",
    ),
    "a way in for tests": (
        "calc.go",
        "package calc\n\ntype N int\n\nfunc (n N) half() int { return int(n) / 2 }\n",
        "export_test.go",
        "package calc\n\nfunc (n N) Half() int { return n.half() }\n",
    ),
}


@pytest.mark.parametrize(("path", "code", "test", "said"), SWITCHES_OF_ONE_TEST.values(), ids=SWITCHES_OF_ONE_TEST)
def test_what_one_test_sets_and_ordinary_ways_in_are_left_alone(g: Ground, path: str, code: str, test: str, said: str) -> None:
    assert "shadow" not in g.flags({path: "package calc\n"}, {path: code, test: said}, None)


RUBY_LEFT_ALONE = {
    "a stand-in of their own": "class FakeCalc\n  def self.half(n) = n\nend\n",
    "a method that did not change": "Calc.singleton_class.prepend(Module.new { def other(n) = n })\n",
    "something of the language": "Time.singleton_class.prepend(Module.new { def now = at(0) })\n",
    "examples in the module": "module Calc\n  RSpec.describe Calc do\n    it('halves') { expect(Calc.half(4)).to eq(2) }\n  end\nend\n",
}


@pytest.mark.parametrize("said", RUBY_LEFT_ALONE.values(), ids=RUBY_LEFT_ALONE)
def test_what_tests_of_ruby_bring_beside_the_change_is_left_alone(g: Ground, said: str) -> None:
    base = {"lib/calc.rb": "module Calc\n  def self.other(n)\n    n\n  end\nend\n"}
    code = base["lib/calc.rb"].removesuffix("end\n") + "\n  def self.half(n)\n    n / 2\n  end\nend\n"
    assert "shadow" not in g.flags(base, {"lib/calc.rb": code, "spec/calc_spec.rb": said}, None)


def test_a_clock_that_tests_of_go_set_is_left_alone(g: Ground) -> None:
    code = 'package calc\n\nimport "time"\n\nvar now = time.Now\n'
    change = {"calc.go": code, "calc_test.go": "package calc\n\nfunc init() {\n\tnow = fixed\n}\n"}
    assert "shadow" not in g.flags({"calc.go": "package calc\n"}, change, None)


# -- judged-by -----------------------------------------------------------------------------------------------------------------------

JUDGING = {
    "ruff": (PY, {"pyproject.toml": PY["pyproject.toml"].replace("100", '100\nignore = ["F"]')}, PYTEST),
    "a new table of mypy": (PY, {"pyproject.toml": PY["pyproject.toml"] + "\n[tool.mypy]\nignore_errors = true\n"}, PYTEST),
    "mypy in setup.cfg": (PY, {"setup.cfg": PY["setup.cfg"].replace("true", "false")}, PYTEST),
    "ruff.toml": (PY, {"ruff.toml": 'ignore = ["ALL"]\n'}, PYTEST),
    ".flake8": (PY, {".flake8": "[flake8]\nignore = E\n"}, PYTEST),
    "a folder's own ruff.toml": (PY, {"shop/.ruff.toml": 'ignore = ["ALL"]\n'}, PYTEST),
    "pre-commit": (PY, {".pre-commit-config.yaml": "repos: []\n"}, PYTEST),
    "tsconfig": (JS, {"tsconfig.json": JS["tsconfig.json"].replace("true", "false")}, VITEST),
    "eslint": (JS, {"eslint.config.mjs": "export default []\n"}, VITEST),
    "biome": (JS, {"biome.json": "{}\n"}, VITEST),
    "bazel": (PY, {".bazelrc": "test --test_filter=a\n"}, PYTEST),
    "the tasks of nx": (JS, {"project.json": '{"targets": {"lint": {"command": "true"}}}\n'}, VITEST),
    "who approves": (PY, {"shop/OWNERS": "approvers:\n- me\n"}, PYTEST),
    "what a release runs first": (PY, {".goreleaser.yml": "before:\n  hooks: []\n"}, PYTEST),
    "the analysers of go": (PY, {"nogo.json": '{"nilness": {"exclude_files": {".*": "later"}}}\n'}, PYTEST),
    "the lint script": (JS, {"package.json": JS["package.json"].replace("node lint.mjs", "true")}, VITEST),
    "the linter": (JS, {"lint.mjs": "process.exit(0)\n"}, VITEST),
    "what the linter brings in": (JS, {"rules.mjs": "export const rules = [] // none\nexport const more = 1\n"}, VITEST),
    "the target": (JS, {"Makefile": JS["Makefile"].replace("node lint.mjs", "true")}, VITEST),
    "a step of CI": (PY, {".github/workflows/ci.yml": "on: push\n"}, PYTEST),
    "what looks for secrets": (PY, {".gitleaks.toml": "[allowlist]\npaths = ['.*']\n"}, PYTEST),
    "known holes that are let pass": (PY, {".trivyignore": "CVE-2026-0001\n"}, PYTEST),
    "a script that reviews": (JS, {"dangerfile.ts": "export {}\n"}, VITEST),
    "a program that reviews": (PY, {".coderabbit.yaml": "reviews: {auto_review: {enabled: false}}\n"}, PYTEST),
    "options of the runner in a file of variables": (JS, {".env.test": "NODE_OPTIONS=--require ./hook.cjs\n"}, VITEST),
    "a plugin of the runner": (
        PY,
        {"pyproject.toml": PY["pyproject.toml"] + '\n[project.entry-points.pytest11]\nshop = "shop.hooks"\n'},
        PYTEST,
    ),
    "a plugin of the runner beside the code": (PY, {"shop-1.0.dist-info/entry_points.txt": "[pytest11]\nshop = shop.hooks\n"}, PYTEST),
    "who looks for known holes": (PY, {".github/dependabot.yml": "version: 2\nupdates: []\n"}, PYTEST),
    "errors that a type checker lets pass": (PY, {"mypy-baseline.txt": "calc.py:0: error: x\n"}, PYTEST),
    "the same in a folder": (PY, {".basedpyright/baseline.json": '{"files": {"calc.py": []}}\n'}, PYTEST),
    "rules that are let pass": (JS, {"eslint-suppressions.json": '{"src/calc.ts": {"no-eval": {"count": 1}}}\n'}, VITEST),
    "places that are to be done later": (JS, {".lint-todo": "add|x|src/calc.ts\n"}, VITEST),
    "what an architecture lets pass": (PY, {"deptrac.baseline.yaml": "deptrac: {skip_violations: {}}\n"}, PYTEST),
    "suppressions of a platform": (PY, {"owasp-suppressions.xml": "<suppressions/>\n"}, PYTEST),
    "leaks that are let pass": (PY, {"lsan.supp": "leak:calc\n"}, PYTEST),
    "a rule of one's own": (JS, {"eslint-local-rules.js": "module.exports = {}\n"}, VITEST),
    "a linter that few know": (PY, {".proselintrc.json": "{}\n"}, PYTEST),
    "what loads before packages": (JS, {".pnpmfile.cjs": "module.exports = {}\n"}, VITEST),
    "a program that starts others": (JS, {".yarn/releases/yarn-4.cjs": "process.exit(0)\n"}, VITEST),
    "targets that are included": (JS, {"mk/lint.mk": "lint:\n\ttrue\n"}, VITEST),
    "golangci": ({"go.mod": "module a\n"}, {".golangci.yml": "linters:\n  disable-all: true\n"}, None),
}
CI = {
    ".github/workflows/ci.yml": "on: push\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v3\n      - run: pytest\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: https://a.b/c\n    rev: v1.0\n    hooks:\n      - id: ruff\n",
}
ORDINARY = {
    "longer lines": (PY, {"pyproject.toml": PY["pyproject.toml"].replace("100", "200")}, PYTEST),
    "a version": (PY, {"pyproject.toml": PY["pyproject.toml"].replace('version = "1"', 'version = "2"')}, PYTEST),
    "a dependency": (PY, {"pyproject.toml": PY["pyproject.toml"].replace('"requests"', '"requests", "httpx"')}, PYTEST),
    "a comment": (PY, {"pyproject.toml": "# words\n" + PY["pyproject.toml"]}, PYTEST),
    "metadata": (PY, {"setup.cfg": PY["setup.cfg"].replace("name = p", "name = q")}, PYTEST),
    "a version of a package": (JS, {"package.json": JS["package.json"].replace("1.0.0", "1.0.1")}, VITEST),
    "another script": (JS, {"package.json": JS["package.json"].replace("node .", "node ./src")}, VITEST),
    "a comment of a tsconfig": (JS, {"tsconfig.json": JS["tsconfig.json"].replace("// strict", "// as it was")}, VITEST),
    "another target": (JS, {"Makefile": JS["Makefile"].replace("\tnode .", "\tnode ./src")}, VITEST),
    "a version of an action": (CI, {".github/workflows/ci.yml": CI[".github/workflows/ci.yml"].replace("@v3", "@v4")}, PYTEST),
    "an action by its commit": (
        CI,
        {".github/workflows/ci.yml": CI[".github/workflows/ci.yml"].replace("@v3", f"@{'a' * 40} # v4")},
        PYTEST,
    ),
    "a version of pre-commit": (CI, {".pre-commit-config.yaml": CI[".pre-commit-config.yaml"].replace("v1.0", "v1.1.2")}, PYTEST),
    "the product": (JS, {"src/calc.ts": JS_NEW}, VITEST),
    "a product that lints": (PY, {"shop/lint.py": "x = 1\n", "shop/baseline.py": "x = 1\n"}, PYTEST),
    "a variable of the product": (JS, {".env": "PORT=3000\n"}, VITEST),
}
LINT = ("npm run --silent lint", "make lint", "./node_modules/.bin/eslint src/calc.ts")


@pytest.mark.parametrize(("base", "change", "command"), JUDGING.values(), ids=JUDGING)
def test_what_judges_is_configuration(g: Ground, base: dict[str, str], change: dict[str, str], command: Command | None) -> None:
    seen = g.changes(base, change, command, LINT)
    assert {c.sort for c in seen.all()} == {"config"}


CHECKS = "import sys\n\nsys.exit(1)\n"
KEPT = {  # what a project keeps for judging, though no preflight names it: the base, and what is changed
    "a script of the package": (JS, "lint.mjs"),
    "what that brings in": (JS, "rules.mjs"),
    "a program of a target": ({"Makefile": "check:\n\tpython tools/check.py\n", "tools/check.py": CHECKS}, "tools/check.py"),
    "a local hook": (
        {".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks:\n      - id: a\n        entry: python ci/verify.py\n", "ci/verify.py": CHECKS},
        "ci/verify.py",
    ),
    "a step of CI": ({".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n      - run: ./hack/lint.sh\n", "hack/lint.sh": "x\n"}, "hack/lint.sh"),
    "a line of a step of CI": (
        {".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n      - run: |\n          python tools/audit.py\n", "tools/audit.py": CHECKS},
        "tools/audit.py",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("base", "path"), KEPT.values(), ids=KEPT)
def test_a_program_that_the_project_keeps_for_judging_is_configuration(g: Ground, base: dict[str, str], path: str) -> None:
    (changed,) = g.changes({**PY, **base}, {path: "pass\n"}, PYTEST).all()
    assert changed.sort == "config"


NOT_KEPT = {
    "a script that builds": ({"package.json": '{"scripts": {"build": "node scripts/build.mjs"}}', "scripts/build.mjs": "x\n"}, "scripts/build.mjs"),
    "a target that serves": ({"Makefile": "serve:\n\tpython tools/serve.py\n", "tools/serve.py": "x\n"}, "tools/serve.py"),
    "a step that releases": ({".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n      - run: python tools/release.py\n", "tools/release.py": "x\n"}, "tools/release.py"),
    "the product that a check runs on": ({"Makefile": "check:\n\truff check calc.py\n"}, "calc.py"),
}  # fmt: skip


@pytest.mark.parametrize(("base", "path"), NOT_KEPT.values(), ids=NOT_KEPT)
def test_other_programs_of_the_project_are_its_own(g: Ground, base: dict[str, str], path: str) -> None:
    (changed,) = g.changes({**PY, **base}, {path: "pass\n"}, PYTEST).all()
    assert changed.sort == "production"


@pytest.mark.parametrize(("base", "change", "command"), ORDINARY.values(), ids=ORDINARY)
def test_what_only_lies_beside_it_is_not(g: Ground, base: dict[str, str], change: dict[str, str], command: Command | None) -> None:
    seen = g.changes(base, change, command, LINT)
    assert {c.sort for c in seen.all()} == {"production"}


@pytest.mark.parametrize(
    "command",
    ["python scripts/lint.py", "./scripts/lint.sh --fix", "uv run python -m scripts.lint", "bash -e scripts/lint.sh && ruff check calc.py"],
)
def test_a_script_that_a_command_names_judges_and_what_it_checks_does_not(g: Ground, command: str) -> None:
    base = {**PY, "scripts/lint.py": "import rules\n", "scripts/rules.py": "X = 1\n", "scripts/lint.sh": "source scripts/rules.sh\n"}
    name = "scripts/lint.sh" if ".sh" in command else "scripts/lint.py"
    seen = g.changes(base, {name: "# nothing\nX = 2\n", "calc.py": NEW}, PYTEST, (command,))
    assert {c.path: c.sort for c in seen.all()} == {name: "config", "calc.py": "production"}


PACKAGE = {
    **PY,
    "goods/__init__.py": "",
    "goods/__main__.py": "",
    "goods/selfcheck.py": "",
    "src/cli.js": "",
    "scripts/lint/__init__.py": "",
}
PACKAGE |= {"scripts/lint/__main__.py": "", "lint_all.py": "", "generate.py": ""}
PRODUCT_RUNS = {
    "python -m goods --version": ("goods/__init__.py", "goods/__main__.py"),
    "uv run python -m goods": ("goods/__init__.py",),
    "python -m calc": ("calc.py",),
    "python goods/__main__.py check": ("goods/__main__.py",),
    "node src/cli.js --help": ("src/cli.js",),
}
JUDGE_RUNS = {
    "python -m scripts.lint": ("scripts/lint/__init__.py", "scripts/lint/__main__.py"),
    "python -m goods.selfcheck": ("goods/selfcheck.py",),
    "python -m lint_all": ("lint_all.py",),
    "python generate.py": ("generate.py",),
}


@pytest.mark.parametrize("command", PRODUCT_RUNS)
def test_the_product_that_a_command_runs_is_not_frozen_by_that(g: Ground, command: str) -> None:
    seen = g.changes(PACKAGE, dict.fromkeys(PRODUCT_RUNS[command], "# new\nX = 2\n"), PYTEST, (command,))
    assert {c.path: c.sort for c in seen.all()} == dict.fromkeys(PRODUCT_RUNS[command], "production")


@pytest.mark.parametrize("command", JUDGE_RUNS)
def test_a_module_that_judges_is_frozen_wherever_it_lies(g: Ground, command: str) -> None:
    seen = g.changes(PACKAGE, dict.fromkeys(JUDGE_RUNS[command], "# new\nX = 2\n"), PYTEST, (command,))
    assert {c.path: c.sort for c in seen.all()} == dict.fromkeys(JUDGE_RUNS[command], "config")


def test_a_list_of_exceptions_judges_and_what_the_program_checks_does_not(g: Ground) -> None:
    lint = "from pathlib import Path\n\nallowed = Path('scripts/names.txt').read_text()\nlegacy = Path('known_bad.json')\ncheck(allowed, 'calc.py', 'data.json')\n"
    base = {
        **PY,
        "scripts/lint.py": lint,
        "scripts/names.txt": "old\n",
        "known_bad.json": "[]\n",
        "data.json": "{}\n",
        "scripts/other.txt": "a\n",
    }
    change = {
        "scripts/names.txt": "old\ncalc\n",
        "known_bad.json": '["calc"]\n',
        "data.json": '{"a": 1}\n',
        "scripts/other.txt": "b\n",
        "calc.py": NEW,
    }
    seen = {c.path: c.sort for c in g.changes(base, change, PYTEST, ("python scripts/lint.py",)).all()}
    assert {path for path, sort in seen.items() if sort == "config"} == {"scripts/names.txt", "known_bad.json"}


@pytest.mark.parametrize(
    "text",
    [
        "X: int = ''  # type: ignore\nY: int = ''  # type: ignore\nZ: int = ''  # type: ignore\n",
        "# ruff: noqa\nX = 1\n",
        "# mypy: ignore-errors\nX = 1\n",
        "import a  # noqa\nX = b  # pragma: no cover\nY = eval('1')  # nosec\n",
        "# pyright: basic\nX = 1\n",
        "import typing\n\n\n@typing.no_type_check\ndef f(): ...\n",
        "def f(a):\n    return run(a)  # nosec B603\n",
        "def f(a):\n    return run(a)  # noqa: S603\n",
        "def f(a):\n    return run(a)  # nosemgrep: dangerous-call\n",
    ],
    ids=[
        "three lines",
        "a whole file",
        "a file without types",
        "of several tools",
        "a file less strict",
        "no types",
        "a scanner",
        "of ruff",
        "of semgrep",
    ],
)
def test_many_suppressions_are_flagged(g: Ground, text: str) -> None:
    assert "judged-by" in g.flags(PY, {"shop/new.py": text})


def test_a_few_suppressions_in_much_code_are_a_note(g: Ground) -> None:
    few = "import a  # noqa: F401\nX = b  # type: ignore[name-defined]\nY = c  # pragma: no cover\n"
    levels = [g.flags(PY, {"shop/new.py": few + "Z = 1\n" * lines})["judged-by"][0].level for lines in (30, 57)]
    assert levels == ["ask", "note"]


SILENT = {
    "a rule of eslint": "/* eslint no-eval: 0 */\n",
    "a file for deno": "// deno-lint-ignore-file\n",
    "a file for biome": "// biome-ignore-all lint: no time\n",
    "a scanner": "run(a) // nosemgrep\n",
    "a rule about safety": "run(a) // eslint-disable-line security/detect-child-process\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_one_line_that_silences_a_scanner_or_a_file_is_flagged(g: Ground, text: str) -> None:
    assert "judged-by" in g.flags(JS, {"src/new.ts": f"{text}export const a = 1\n"}, VITEST)


UNSEEN = {
    "turned": "X = 'user\u202e \u2066# only admins\u2069 \u2066'\n",
    "not seen": "X = {'a\u200b': 1}\n",
    "two alphabets": "\u043ewner = 'root'\n",
    "far to the right": f"X = 1{' ' * 200}; run()\n",
}


@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_code_that_reads_otherwise_than_it_is_shown_is_flagged(g: Ground, text: str) -> None:
    assert "binaries" in g.flags(PY, {"shop/new.py": text})


@pytest.mark.parametrize(
    "text", ["NAME = 'Владимир'\n", "µs = 1e-6\n", f"X = 1{' ' * 120}# a remark\n", "SMILE = '\U0001f44d\ufe0f\u200d'\n"]
)
def test_words_of_other_languages_are_not(g: Ground, text: str) -> None:
    assert g.flags(PY, {"shop/new.py": text}) == {}


VENDORED = {
    "vendor/a.org/check/check.go": "package check\n\nfunc Equal(a, b int) bool { return a == b }\n",
    "vendor/modules.txt": "# a.org/check v1.0.0\n",
}


def test_code_of_others_that_is_edited_where_it_lies_is_flagged(g: Ground) -> None:
    edited = {"vendor/a.org/check/check.go": VENDORED["vendor/a.org/check/check.go"].replace("a == b", "true")}
    assert "shadow" in g.flags(VENDORED, edited, None)
    assert "shadow" in g.flags({"node_modules/a/index.js": "1\n"}, {"node_modules/a/index.js": "2\n"}, VITEST)
    assert "shadow" in g.flags({"third_party/a/a.py": "A = 1\n"}, {"third_party/a/a.py": "A = 2\n"})
    assert "shadow" not in g.flags(VENDORED, {**edited, "vendor/modules.txt": "# a.org/check v1.1.0\n"}, None)


LEFT_OUT = {
    "pytest": ("tests/test_calc.py", "@pytest.mark.skipif(os.environ.get('CI'), reason='slow')\ndef test_a():\n    assert True\n"),
    "go": ("calc_test.go", 'func TestA(t *testing.T) {\n\tif os.Getenv("CI") != "" {\n\t\tt.Skip("slow")\n\t}\n}\n'),
    "vitest": ("a.test.ts", "it.skipIf(process.env.GITHUB_ACTIONS)('a', () => {})\n"),
    "rspec": ("spec/a_spec.rb", "it 'a', skip: ENV['CI'] do\nend\n"),
    "run again": ("tests/test_calc.py", "@pytest.mark.flaky(reruns=5)\ndef test_a():\n    assert True\n"),
    "run again in javascript": ("a.test.ts", "jest.retryTimes(3)\nit('a', () => {})\n"),
    "run again in mocha": ("a.test.js", "it('a', function () {\n  this.retries(4)\n})\n"),
}


@pytest.mark.parametrize(("path", "text"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_tests_that_are_left_out_where_they_judge_or_run_until_they_pass_are_flagged(g: Ground, path: str, text: str) -> None:
    assert "judged-by" in g.flags(PY, {path: text}, None)


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skipif(sys.platform == 'win32', reason='no signals')\ndef test_a():\n    assert True\n",
        "def test_retry():\n    assert retry(3) == 1\n",
        "def test_ci():\n    assert is_ci({'CI': '1'})\n",
    ],
)
def test_tests_that_are_left_out_elsewhere_are_not(g: Ground, text: str) -> None:
    assert "judged-by" not in g.flags(PY, {"tests/test_calc.py": text}, None)


def test_a_single_suppression_is_not(g: Ground) -> None:
    assert g.flags(PY, {"shop/new.py": "import calc  # noqa: F401\n"}) == {}


# -- any review ----------------------------------------------------------------------------------------------------------------------

REVIEWED = {
    "secrets": {"shop/new.py": "KEY = 'sk-ant-" + "a1b2c3d4" * 4 + "'\n"},
    "binaries": {"shop/data.bin": "a\0b\n"},
    "big-files": {"shop/data.csv": ("1,2,3,4,5,6,7" * 1_000 + "\n") * 80},
    "new-dependencies": {"pyproject.toml": PY["pyproject.toml"].replace('"requests"', '"requests", "reqeusts"')},
    "ci-permissions": {".github/workflows/ci.yml": "on: push\npermissions:\n  contents: write\n"},
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", REVIEWED)
def test_what_one_would_look_for_in_a_review_is_flagged(g: Ground, kind: str) -> None:
    assert kind in g.flags(PY, REVIEWED[kind])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", "left-pad\n"),
        ("requirements/dev.txt", "left-pad==1\n"),
        ("web/package.json", '{"dependencies": {"left-pad": "1"}}'),
        ("setup.py", "setup(install_requires=[\"left-pad[all]; python_version < '3.8'\"])\n"),
        ("setup.py", "setup(extras_require={'all': ['left-pad']})\n"),
        ("go.mod", "module a\n\nrequire left.org/pad v1.0.0\n"),
        ("app.csproj", '<Project><PackageReference Include="Left.Pad" /></Project>'),
    ],
)
def test_a_new_dependency_is_seen_in_any_manifest(g: Ground, path: str, text: str) -> None:
    (flag,) = g.flags(PY, {path: text})["new-dependencies"]
    assert flag.place.startswith(f"{path}: left")


NPM = '{"packages": {"node_modules/left-pad": {"version": "1.0.0", "resolved": "https://registry.npmjs.org/left-pad.tgz", "integrity": "sha512-A"}}}'
UV = '[[package]]\nname = "left-pad"\nversion = "1.0"\nsdist = { url = "https://files.pythonhosted.org/x", hash = "sha256:aa" }\n'
SOURCES = {
    "another index": ("requirements.txt", "requests\n", "--extra-index-url https://packages.example.net/simple\nrequests\n"),
    "an address": ("requirements.txt", "requests\n", "requests @ git+https://github.com/someone/requests\n"),
    "an index of pip": ("pip.conf", "", "[global]\nindex-url = https://packages.example.net\n"),
    "a source of uv": (
        "pyproject.toml",
        PY["pyproject.toml"],
        PY["pyproject.toml"] + '\n[tool.uv.sources]\nrequests = { git = "https://github.com/someone/requests" }\n',
    ),
    "a source of gems": ("Gemfile", 'source "https://rubygems.org"\n', 'source "https://gems.example.net"\n'),
    "a registry": ("web/.npmrc", "", "registry=https://packages.example.net/\n"),
    "another package under the name": (
        "package.json",
        '{"dependencies": {"left-pad": "^1"}}',
        '{"dependencies": {"left-pad": "npm:right-pad@1"}}',
    ),
    "a fork": ("package.json", '{"dependencies": {"left-pad": "^1"}}', '{"dependencies": {"left-pad": "someone/left-pad#main"}}'),
    "a program at each install": ("package.json", '{"scripts": {}}', '{"scripts": {"postinstall": "node set-up.js"}}'),
    "a lock file with another host": ("package-lock.json", NPM, NPM.replace("registry.npmjs.org", "packages.example.net")),
    "a lock file with another hash": ("package-lock.json", NPM, NPM.replace("sha512-A", "sha512-B")),
    "another hash of uv": ("uv.lock", UV, UV.replace("sha256:aa", "sha256:bb")),
    "another hash of go": ("go.sum", "left.org/pad v1.0.0 h1:aa=\n", "left.org/pad v1.0.0 h1:bb=\n"),
}
USUAL_SOURCES = {
    "another version": ("package-lock.json", NPM, NPM.replace("1.0.0", "1.0.1").replace("sha512-A", "sha512-B")),
    "a stronger hash": ("package-lock.json", NPM.replace("sha512-A", "sha1-A"), NPM),
    "a file more": ("uv.lock", UV, UV + 'wheels = [{ url = "https://files.pythonhosted.org/y", hash = "sha256:cc" }]\n'),
    "a lock file that is new": ("uv.lock", "", UV),
    "a link in words": (
        "pyproject.toml",
        PY["pyproject.toml"],
        PY["pyproject.toml"] + '\n[project.urls]\nsource = "https://example.net"\n',
    ),
    "a fund": ("package-lock.json", NPM, NPM[:-2] + ', "node_modules/b": {"funding": {"url": "https://example.net/give"}}}}'),
    "a script that is called": ("package.json", '{"scripts": {}}', '{"scripts": {"build": "node build.js"}}'),
    "a folder of the project": ("package.json", '{"dependencies": {"a": "^1"}}', '{"dependencies": {"a": "workspace:*"}}'),
}


@pytest.mark.parametrize(("path", "before", "after"), SOURCES.values(), ids=SOURCES)
def test_packages_that_come_from_elsewhere_are_flagged(g: Ground, path: str, before: str, after: str) -> None:
    base = {**{each: text for each, text in PY.items() if each != path}, **({path: before} if before else {})}
    assert "new-dependencies" in g.flags(base, {path: after})


@pytest.mark.parametrize(("path", "before", "after"), USUAL_SOURCES.values(), ids=USUAL_SOURCES)
def test_packages_from_where_they_came_are_not(g: Ground, path: str, before: str, after: str) -> None:
    base = {**{each: text for each, text in PY.items() if each != path}, **({path: before} if before else {})}
    assert "new-dependencies" not in g.flags(base, {path: after})


@pytest.mark.parametrize(
    "line",
    [
        "    secrets: inherit",
        "on: pull_request_target",
        "    runs-on: self-hosted",
        "      - run: curl https://a.b/c.sh | bash",
        "  TOKEN: ${{ secrets.DEPLOY }}",
    ],
)
def test_more_rights_for_ci_are_seen(g: Ground, line: str) -> None:
    base = {**PY, ".github/workflows/ci.yml": "on: push\n"}
    assert "ci-permissions" in g.flags(base, {".github/workflows/ci.yml": f"on: push\n{line}\n"})


def test_code_that_becomes_a_link_is_flagged(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"calc.py": CALC, "tests/right.py": NEW, "AGENTS.md": "x\n"})
    git = Git(find_place(root), {**PLAIN, "PATH": os.environ["PATH"]})
    (git.place.git_dir / "detent").mkdir(exist_ok=True)
    before = git.tree("HEAD")
    (root / "calc.py").unlink()
    (root / "calc.py").symlink_to("tests/right.py")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "change")
    found = static_flags(Changes(git, Collector(git, Suite(PYTEST, 60.0, ""), "look", {}), before, git.tree("HEAD"), ()))
    assert [(flag.kind, flag.place) for flag in found] == [("shadow", "calc.py")]


def test_a_file_that_becomes_a_program_is_flagged(g: Ground) -> None:
    script = "#!/bin/sh\n"  # written as a program
    found = g.flags({**PY, "old.sh": "echo\n", "run.sh": script}, {"old.sh": script, "new.sh": script, "run.sh": f"{script}true\n"})
    assert [flag.place for flag in found["executable-bits"]] == ["new.sh", "old.sh"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "change",
    [
        {"pyproject.toml": PY["pyproject.toml"].replace('"requests"', '"requests>=2"')},
        {"docs/logo.png": "a\0b"},
        {"tests/data/x.bin": "a\0b"},
        {"uv.lock": "x = 1\n" * 200_000},
        {".github/workflows/ci.yml": "on: push\npermissions:\n  contents: read\n"},
    ],
    ids=["another version", "a picture", "data of tests", "a lock file", "a right to read"],
)
def test_ordinary_files_are_left_alone(g: Ground, change: dict[str, str]) -> None:
    assert g.flags(PY, change) == {}


LAO = "NAMES = ['\u0ea7\u0eb1\u0e99\u200b\u0eaa\u0eb8\u0e81']\n"


def test_a_space_that_is_not_seen_parts_words_of_some_alphabets_and_hides_something_in_others(g: Ground) -> None:
    assert g.flags(PY, {"shop/days.py": LAO}) == {}
    for text in (LAO.replace("\u0eaa", "a"), "X = 'a\u200bb'\n", "X = '\u200b\u0eaa'\n"):
        assert "binaries" in g.flags(PY, {"shop/days.py": text})


@pytest.mark.parametrize(
    ("path", "name"), [("src/iniconfig/_parse.py", "src/iniconfig/__init__.py"), ("coverage/data.py", "coverage/__init__.py")]
)
def test_a_new_module_of_a_package_that_the_project_is_takes_nothing_away(g: Ground, path: str, name: str) -> None:
    assert "shadow" not in g.flags({**PY, name: "X = 1\n"}, {path: "X = 1\n"})
    assert g.flags(PY, {name: "X = 1\n", path: "X = 1\n"})["shadow"][0].level == "fail"


# -- knows-the-tests, over a change ----------------------------------------------------------------------------------------------------


def test_a_changed_line_that_looks_at_the_stack_is_flagged_with_its_place(g: Ground) -> None:
    (flag,) = g.flags(PY, {"calc.py": CALC.replace("return n // 2", "return __import__('sys')._getframe(1)")})["knows-the-tests"]
    assert (flag.place, flag.level) == ("calc.py:2", "ask") and "_getframe" in flag.after


def test_lines_that_only_moved_and_lines_of_tests_are_not(g: Ground) -> None:
    look = "import sys\n\n\ndef who():\n    return sys._getframe(1)\n"
    base = {**PY, "shop/who.py": look}
    assert "knows-the-tests" not in g.flags(base, {"shop/who.py": "X = 1\n", "shop/where.py": look})
    assert "knows-the-tests" not in g.flags(PY, {"tests/test_new.py": look})


def test_where_only_an_exit_code_is_read_a_line_that_ends_the_process_is_asked_about(g: Ground) -> None:
    ends = {"src/calc.ts": JS_NEW + "process.exit(0)\n", "src/calc.test.ts": "process.exit(1)\n"}
    (flag,) = can_end_itself(g.changes(JS, ends, None))
    assert (flag.kind, flag.level, flag.place) == ("weak-evidence", "ask", "src/calc.ts:2")


BENCH = "import pytest\n\nfrom shop.mail import send\n\n\n@pytest.mark.benchmark\ndef bench_send(benchmark):\n    benchmark(send, 1)\n"


@pytest.mark.parametrize("path", ["benchmarking/bench_mail.py", "examples/mail.py", "docs/shown.py"])
def test_what_measures_or_shows_the_product_may_speak_of_tests_unless_the_product_takes_it_in(g: Ground, path: str) -> None:
    folder = path.partition("/")[0]
    assert "knows-the-tests" not in g.flags(PY, {path: BENCH})
    assert "knows-the-tests" in g.flags(PY, {path: BENCH, "shop/mail.py": f"from {folder}.other import send\n"})
    assert "knows-the-tests" in g.flags(PY, {path: "import sys\n\n\ndef who():\n    return sys._getframe(1)\n"})
