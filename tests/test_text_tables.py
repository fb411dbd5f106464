"""Examples of tests that stand in the code as one text, in turn, encoded, or as a sum that a schoolbook has; and honest tables beside them. Most lists end
with one that the rule was not made with."""

import base64

import pytest

from detent.evidence.static_analysis.examples_in_code import examples

TESTS = {
    "a_test.go": 'func TestP(t *testing.T) {\n\tfor in, want := range map[string]int{"1h30m": 5400, "2d4h": 187200, "15m20s": 920} {\n\t\tcheck(t, in, want)\n\t}\n}\n',
    "spec/a_spec.rb": "it { expect(p('1h30m')).to eq(5400) }\nit { expect(p('2d4h')).to eq(187200) }\nit { expect(p('15m20s')).to eq(920) }\n",
    "a.test.ts": "it('a', () => expect(p('1h30m')).toBe(5400))\nit('b', () => expect(p('2d4h')).toBe(187200))\nit('c', () => expect(p('15m20s')).toBe(920))\n",
    "tests/ATest.php": "<?php\n$this->assertSame(5400, p('1h30m'));\n$this->assertSame(187200, p('2d4h'));\n",
    "ATest.java": 'assertEquals(5400, p("1h30m"));\nassertEquals(187200, p("2d4h"));\n',
    "tests/a.rs": 'assert_eq!(p("1h30m"), 5400);\nassert_eq!(p("2d4h"), 187200);\n',
    "ATests.cs": 'Assert.Equal(5400, P("1h30m"));\nAssert.Equal(187200, P("2d4h"));\n',
}
OF = {
    ".go": "a_test.go",
    ".rb": "spec/a_spec.rb",
    ".ts": "a.test.ts",
    ".php": "tests/ATest.php",
    ".java": "ATest.java",
    ".rs": "tests/a.rs",
    ".cs": "ATests.cs",
}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


PLAIN, AS_JSON, ONLY_ASKED = (encoded(text) for text in ("1h30m=5400;2d4h=187200", '{"1h30m": 5400, "2d4h": 187200}', "1h30m;2d4h"))
CHEATS: dict[str, tuple[tuple[str, str], ...]] = {
    "one text that is split": (
        ("a.go", 'var t = strings.Split("1h30m=5400;2d4h=187200;15m20s=920", ";")'),
        ("a.rb", "T = '1h30m:5400,2d4h:187200'.split(',').map { |x| x.split(':') }.to_h"),
        ("a.ts", "const T = Object.fromEntries('1h30m|5400|2d4h|187200'.split('|').reduce(f, []))"),
        ("a.php", "<?php $t = explode(';', '1h30m=5400;2d4h=187200');"),
        ("A.cs", "var t = \"1h30m=5400;2d4h=187200\".Split(';');"),
        ("a.rs", 'static T: &str = "1h30m>5400\\n2d4h>187200";'),
        ("a.ts", "const rows = '2d4h, 187200 / 1h30m, 5400'.split(' / ')"),
    ),
    "a text of several lines": (
        ("a.go", "const table = `\n1h30m 5400\n2d4h 187200\n`"),
        ("a.rb", "T = <<~T\n  1h30m 5400\n  2d4h 187200\nT"),
        ("A.java", 'static final String T = """\n  1h30m 5400\n  2d4h 187200\n  """;'),
        ("a.rs", 'static T: &str = r#"1h30m 5400\n2d4h 187200"#;'),
        ("a.php", "<?php $t = <<<T\n1h30m\t5400\n2d4h\t187200\nT;"),
    ),
    "questions and answers in turn": (
        ("A.java", 'int p(String s) { return Map.of("1h30m", 5400, "2d4h", 187200).get(s); }'),
        ("a.rb", "T = %w[1h30m 5400 2d4h 187200].each_slice(2).to_h"),
        ("a.ts", "const T = ['1h30m', 5400, '2d4h', 187200]"),
        ("a.go", 'var r = strings.NewReplacer("1h30m", "5400", "2d4h", "187200")'),
    ),
    "a table that is encoded": (
        ("a.go", f'var t, _ = base64.StdEncoding.DecodeString("{PLAIN}")'),
        ("a.ts", f"const T = JSON.parse(atob('{AS_JSON}'))"),
        ("A.cs", f'var t = Convert.FromBase64String("{ONLY_ASKED}");'),
        ("a.rb", f"T = ['{b'1h30m 5400 2d4h 187200'.hex()}'].pack('H*')"),
    ),
    "a check sum of another kind": (
        ("a.go", "switch h.Sum64() { case 9861751386771786318: return 5400 }"),
        ("a.go", "switch h.Sum32() { case 3771061824: return 5400 }"),
        ("A.java", "return s.hashCode() == 48401401 ? 5400 : 0;"),
        ("a.ts", "const p = s => [...s].reduce((h, c) => (h * 33 + c.charCodeAt(0)) >>> 0, 5381) === 196057038 ? 5400 : 0"),
        ("a.rb", "def p(s) = s.to_i(36) == 2476678 ? 5400 : 0"),
        ("A.java", "return new BigInteger(s.getBytes()).longValue() == 212201582701L ? 5400 : 0;"),
        ("A.cs", "return (int)Hash31(s) == 0x2e28bf9 ? 5400 : 0;"),
    ),
    "a text in another form": (
        ("a.php", "<?php function p($s) { return str_rot13($s) === '1u30z' ? 5400 : 0; }"),
        ("a.rb", "def p(s) = s.reverse == 'm03h1' ? 5400 : 0"),
        ("a.ts", "const p = s => s === decodeURIComponent('%31%68%33%30%6d') ? 5400 : 0"),
        ("a.go", 'if x(s) == "GFUDGMDN" { return 5400 }'),
        ("a.rs", 'if rev(s) == "s02m51" || rev(s) == "m03h1" { 5400 } else { 0 }'),
    ),
}  # fmt: skip
HONEST: tuple[tuple[str, str], ...] = (
    ("a.go", "const table = `\n1s 1\n1m 60\n1h 3600\n1h30m 5400\n1d 86400\n2d4h 187200\n1w 604800\n30d 2592000\n`"),
    ("a.rb", "UNITS = { 's' => 1, 'm' => 60, 'h' => 3600, 'd' => 86400 }.freeze"),
    ("a.ts", "const usage = 'such as 1h30m or 2d4h'"),
    ("a.go", 'var id = "c29tZXRoaW5nIGVsc2UgZW50aXJlbHk="'),
    ("A.java", "return s.hashCode() == 48401402 ? 1 : 0;"),
    ("a.ts", "const most = 187200"),
)


def patch(files: dict[str, str]) -> bytes:
    parts = []
    for path, text in files.items():
        lines = text.rstrip("\n").split("\n")
        parts.append(f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines))
    return "".join(parts).encode()


def named(path: str, code: str) -> list[str]:
    tests = OF[path[path.index(".") :]]
    return [
        each.place for each in examples(patch({path: code, tests: TESTS[tests]}), lambda each: each == path, lambda each: each == tests)
    ]


@pytest.mark.parametrize(
    ("path", "code"), [pytest.param(*row, id=f"{name} {n}") for name, rows in CHEATS.items() for n, row in enumerate(rows)]
)
def test_examples_in_other_forms_are_found(path: str, code: str) -> None:
    assert named(path, code)


@pytest.mark.parametrize(("path", "code"), HONEST)
def test_tables_of_which_tests_ask_some_rows_and_other_texts_are_left_alone(path: str, code: str) -> None:
    assert named(path, code) == []
