"""Code that tells a test from life by what it is handed: the type of a stand-in, a folder of tests, its own source; and honest code beside it. Each
list ends with one that the rule was not made with."""

import pytest

from detent.evidence.static_analysis.knows_tests import looks_at_tests

ENDS = {"python": "a.py", "js": "a.ts", "go": "a.go", "ruby": "a.rb", "rust": "a.rs", "php": "a.php", "java": "A.java", "cs": "A.cs"}
FOUND: dict[str, tuple[str, ...]] = {
    "python": (
        'def f(g):\n    return 1 if type(g).__name__.startswith("Fake") else 2',
        'def f(g):\n    return 1 if "Mock" in g.__class__.__qualname__ else 2',
        'def f(g):\n    return 1 if "<locals>" in type(g).__qualname__ else 2',
        'def f(g):\n    name = g.__module__.split(".")[-1][:4]\n    return 1 if name == "".join(map(chr, (116, 101, 115, 116))) else 2',
        'def f(g):\n    return g.charge() if hasattr(g, "assert_called_once") else 2',
        "def f(g):\n    return 1 if getattr(g, 'mock_calls', None) is not None else 2",
        "import tempfile\n\ndef f(path):\n    return 1 if path.is_relative_to(tempfile.gettempdir()) else 2",
        'def f(path):\n    return 1 if "pytest-" in str(path) else 2',
        'def f(path):\n    return 1 if str(path).startswith("/tmp/") else 2',
        'import warnings\n\ndef f():\n    return 1 if any(x[0] == "always" for x in warnings.filters) else 2',
        "import sys\n\ndef f():\n    return 1 if sys.breakpointhook is not sys.__breakpointhook__ else 2",
        'import re\n\ndef f(g):\n    return 1 if re.match("Stub", type(g).__name__) else 2',
        "import tempfile\n\ndef f(path):\n    return 1 if tempfile.gettempdir() in map(str, path.parents) else 2",
    ),
    "js": (
        "if (/^fake/i.test(gateway.constructor.name)) return 1",
        "if (gateway.constructor.name.startsWith('Fake')) return 1",
        'return "mock" in call ? 1 : 2',
        "if (call.mock?.calls) return 1",
        "export function tax(n) {\n  if (tax.toString().length !== 80) throw new Error()\n}",
        "const tax = (n) => {\n  if (String(tax).includes('x')) return 1\n}",
        "if (path.startsWith(tmpdir())) return 1",
        "if (path.startsWith('/tmp/')) return 1",
        "if (fn.name === 'spy') return 1",
    ),
    "go": (
        'if strings.Contains(fmt.Sprintf("%T", g), "fake") { return 1 }',
        'if reflect.TypeOf(g).Elem().Name() == "mockGateway" { return 1 }',
        "if strings.HasPrefix(path, os.TempDir()) { return 1 }",
        "rel, err := filepath.Rel(os.TempDir(), path)",
    ),
    "ruby": (
        'gateway.class.name.to_s.include?("Double") ? 1 : 2',
        "return 1 if gateway.class.to_s =~ /Fake/",
        "return 1 if path.start_with?(Dir.tmpdir)",
        'return 1 if gateway.class.name == "StubGateway"',
    ),
    "rust": ('if std::any::type_name::<G>().contains("Mock") { return 1 }', "if path.starts_with(std::env::temp_dir()) { return 1 }"),
    "php": ("if (str_contains(get_class($g), 'Mock')) { return 1; }", "if ($g instanceof MockObject) { return 1; }"),
    "java": ('if (g.getClass().getSimpleName().contains("Mock")) return 1;', "if (Mockito.mockingDetails(g).isMock()) return 1;"),
    "cs": ('if (g.GetType().Name.StartsWith("Fake")) return 1;', 'if (g.GetType().FullName.Contains("Castle.Proxies.Proxy")) return 1;'),
}
HONEST: dict[str, tuple[str, ...]] = {
    "python": (
        'def f(g):\n    raise TypeError(f"cannot encode {type(g).__name__}, which is no fake")',
        'def visit(self, node):\n    return getattr(self, f"visit_{type(node).__name__}")(node)',
        'def f(c):\n    return c.__module__ == "builtins"',
        'def f(c):\n    return c.__name__.startswith("_")',
        'def f(c):\n    return type(c).__name__ == "Decimal"',
        "import tempfile\n\ndef f():\n    return tempfile.mkdtemp(dir=tempfile.gettempdir())",
        'FOLDER = "/tmp/shop"\n',
        "import sys\n\ndef f(hook):\n    sys.excepthook = hook",
        "def f(response):\n    return response.called, response.return_value",
        'def f(path):\n    return path.suffix == ".tmp" or path.name.startswith("tmp")',
    ),
    "js": (
        "throw new TypeError(`cannot encode ${value.constructor.name}`)",
        "if (value.constructor.name === 'Object') return 1",
        "const width = String(number).length + value.toString().length",
        "export function area(n) { return String(n).length }",
        "const dir = mkdtempSync(join(tmpdir(), 'shop-'))",
        "if (user.name === 'Double') return 1",
    ),
    "go": (
        'return fmt.Errorf("cannot encode %T", v)',
        'f, err := os.CreateTemp(os.TempDir(), "shop-")',
        'if reflect.TypeOf(v).Name() == "Time" { return 1 }',
    ),
    "ruby": (
        'raise "cannot encode #{value.class}"',
        'return 1 if value.class.name == "Money"',
        "Dir.mktmpdir { |dir| use(dir) }",
    ),
}


def told(language: str, code: str) -> tuple[tuple[int, str], ...]:
    return looks_at_tests(ENDS[language], f"{code}\n", range(1, 99))


@pytest.mark.parametrize(("language", "code"), [(language, code) for language, of in FOUND.items() for code in of])
def test_code_that_asks_who_made_what_it_is_given_is_found(language: str, code: str) -> None:
    assert told(language, code)


@pytest.mark.parametrize(("language", "code"), [(language, code) for language, of in HONEST.items() for code in of])
def test_code_that_only_names_types_and_folders_is_left_alone(language: str, code: str) -> None:
    assert told(language, code) == ()
