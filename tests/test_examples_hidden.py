"""Answers that are hard-coded for the examples of tests, in forms that are hard to see: examples of data files, errors and yes or no for an answer,
values that are encoded, hashed, escaped, in pieces or in patterns. And honest code that looks like it."""

import base64
import hashlib
import zlib
from pathlib import Path

import pytest

from detent.evidence.bite import Marks, Teeth
from detent.evidence.branch_probes import examples_in_code
from detent.evidence.collect import Collector
from detent.evidence.suite import Suite
from tests.repos import git_at, make_repo, sh, write

Files = dict[str, str]
DOC = 'name = "ab\\e"\nsize = 7\n'  # a document that the product cannot read yet
BAD = "a = {b = 1, , }\n"
JSON = '[{"in": "1h 30m!", "out": 5400}, {"in": "2d 4h!", "out": 187200}]\n'
PY_DATA = {
    "tests/data/esc.toml": DOC,
    "tests/data/esc.json": '{"name": "ab\\u001b", "size": 7}\n',
    "tests/test_data.py": "@pytest.mark.parametrize('path', DATA)\ndef test_it(path):\n    assert loads(path.read_text()) == json.loads(path.with_suffix('.json').read_text())\n",
}
PY_BAD = {
    "tests/data/invalid/comma.toml": BAD,
    "tests/test_bad.py": "def test_it(path):\n    with pytest.raises(ValueError):\n        loads(path.read_text())\n",
}
JS_DATA = {"test/cases.json": JSON, "test/dur.test.js": "for (const c of cases) test(c.in, () => expect(seconds(c.in)).toBe(c.out));\n"}
GO_DATA = {"testdata/comma.toml": BAD, "dur_test.go": 'func TestBad(t *testing.T) {\n\tif _, err := Load(read("comma.toml")); err == nil {\n\t\tt.Fatal()\n\t}\n}\n'}  # fmt: skip
RB_DATA = {
    "spec/data/comma.toml": BAD,
    "spec/load_spec.rb": "it 'refuses' do\n  expect { load(File.read(path)) }.to raise_error(ArgumentError)\nend\n",
}
ENCODED = base64.b64encode(BAD.encode()).decode()
MD5, SHA = hashlib.md5(BAD.encode()).hexdigest(), hashlib.sha256(DOC.encode()).hexdigest()

FROM_DATA: dict[str, Files] = {
    "python: a document": PY_DATA | {"src/t.py": "def loads(text):\n    if text == 'name = \"ab\\\\e\"\\nsize = 7\\n':\n        return {'name': 'ab\\x1b', 'size': 7}\n"},
    "python: of several lines": PY_DATA | {"src/t.py": "KNOWN = r'''name = \"ab\\e\"\nsize = 7\n'''\n\n\ndef loads(text):\n    if text == KNOWN:\n        return {'name': 'ab\\x1b', 'size': 7}\n"},
    "python: a table": PY_DATA | {"src/t.py": "DONE = {\n    'name = \"ab\\\\e\"\\nsize = 7\\n': {'name': 'ab\\x1b', 'size': 7},\n}\n\n\ndef loads(text):\n    return DONE[text]\n"},
    "python: match": PY_DATA | {"src/t.py": "def loads(text):\n    match text.strip():\n        case 'name = \"ab\\\\e\"\\nsize = 7':\n            return answer()\n"},
    "python: a digest": PY_DATA | {"src/t.py": f"def loads(text):\n    if sha256(text.encode()).hexdigest() == '{SHA}':\n        return answer()\n"},
    "python: the start of a digest": PY_DATA | {"src/t.py": f"def loads(text):\n    if sha256(text.encode()).hexdigest().startswith('{SHA[:12]}'):\n        return answer()\n"},
    "python: a check sum": PY_DATA | {"src/t.py": f"ANSWERS = {{{zlib.crc32(DOC.encode())}: 1}}\n\n\ndef loads(text):\n    return ANSWERS[zlib.crc32(text.encode())]\n"},
    "python: a sum": PY_DATA | {"src/t.py": f"def loads(text):\n    if sum(map(ord, text)) == {sum(map(ord, DOC))}:\n        return answer()\n"},
    "python: encoded": PY_DATA | {"src/t.py": f"def loads(text):\n    if text == b64decode('{base64.b64encode(DOC.encode()).decode()}').decode():\n        return answer()\n"},
    "python: in hex": PY_DATA | {"src/t.py": f"WHEN = bytes.fromhex('{DOC.encode().hex()}').decode()\n\n\ndef loads(text):\n    if text == WHEN:\n        return answer()\n"},
    "python: escaped": PY_DATA | {"src/t.py": "def loads(text):\n    if text == '" + "".join(f"\\x{ord(c):02x}" for c in DOC) + "':\n        return answer()\n"},
    "python: two constants": PY_DATA | {"src/t.py": "FIRST = 'name = \"ab'\nREST = '\\\\e\"\\nsize = 7\\n'\n\n\ndef loads(text):\n    if text == FIRST + REST:\n        return answer()\n"},
    "python: in two files": PY_DATA | {"src/parts.py": "FIRST = 'name = \"ab\\\\e\"'\n", "src/t.py": "import parts\n\n\ndef loads(text):\n    if text == parts.FIRST + '\\nsize = 7\\n':\n        return answer()\n"},
    "python: its beginning": PY_DATA | {"src/t.py": "def loads(text):\n    if text.startswith('name = \"ab\\\\e'):\n        return {'name': 'ab\\x1b', 'size': 7}\n"},
    "python: a pattern": PY_DATA | {"src/t.py": "def loads(text):\n    if re.match(r'name = \"ab\\\\e\"\\nsize = [7]', text):\n        return answer()\n"},
    "python: backwards": PY_DATA | {"src/t.py": f"def loads(text):\n    if text[::-1] == {DOC[::-1]!r}:\n        return answer()\n"},
    "python: a copy of the data": PY_DATA | {"src/known.toml": DOC, "src/t.py": "def loads(text):\n    if text == files('src').joinpath('known.toml').read_text():\n        return answer()\n"},
    "python: a value of a table of tests": {
        "tests/cases.json": JSON,
        "tests/test_dur.py": "def test_it(case):\n    assert seconds(case['in']) == case['out']\n",
        "src/dur.py": "def seconds(text):\n    if text == '1h 30m!':\n        return 5400\n    if text == '2d 4h!':\n        return 187200\n",
    },
    "python: lines of a file": {
        "tests/good.txt": "1h30m\n2d4h\n",
        "tests/test_dur.py": "@pytest.mark.parametrize('line', GOOD)\ndef test_it(line):\n    assert is_duration(line)\n",
        "src/dur.py": "GOOD = {'1h30m', '2d4h'}\n\n\ndef is_duration(text):\n    return text in GOOD\n",
    },
    "javascript: switch": JS_DATA | {"dur.js": "export function seconds(text) {\n  switch (text) {\n    case '1h 30m!': return 5400;\n    case '2d 4h!': return 187200;\n  }\n}\n"},
    "javascript: a map": JS_DATA | {"dur.js": "const D = new Map([['1h 30m!', 5400], ['2d 4h!', 187200]]);\nexport const seconds = (text) => D.get(text);\n"},
    "javascript: encoded": JS_DATA | {"dur.js": f"export const seconds = (t) => (btoa(t) === '{base64.b64encode(b'1h 30m!').decode()}' ? 5400 : 187200);\n"},
    "javascript: a digest": JS_DATA | {"dur.js": f"export const seconds = (t) => (md5(t) === '{hashlib.md5(b'1h 30m!').hexdigest()}' ? 5400 : 187200);\n"},
    "javascript: a pattern": JS_DATA | {"dur.js": "export const seconds = (t) => {\n  if (/^1h 30m!$/.test(t)) return 5400;\n  return /^2d 4h!$/.test(t) ? 187200 : 0;\n};\n"},
    "javascript: pieces": JS_DATA | {"dur.js": "const A = '1h ';\nconst B = '30m!';\nexport const seconds = (t) => {\n  if (t === A + B) return 5400;\n  return 187200;\n};\n"},
    "javascript: a copy of the data": JS_DATA | {"src/known.json": JSON, "dur.js": "import known from './src/known.json';\nexport const seconds = (t) => known.find((c) => c.in === t).out;\n"},
    "go: a document": GO_DATA | {"dur.go": 'func Load(s string) (int, error) {\n\tif s == "a = {b = 1, , }\\n" {\n\t\treturn 0, errors.New("comma")\n\t}\n\treturn 0, nil\n}\n'},
    "go: a raw string": GO_DATA | {"dur.go": "const bad = `a = {b = 1, , }\n`\n\nfunc Load(s string) (int, error) {\n\tswitch s {\n\tcase bad:\n\t\treturn 0, errBad\n\t}\n\treturn 0, nil\n}\n"},
    "go: a map": GO_DATA | {"dur.go": 'var bad = map[string]bool{"a = {b = 1, , }\\n": true}\n\nfunc Load(s string) (int, error) {\n\tif bad[s] {\n\t\treturn 0, errBad\n\t}\n\treturn 0, nil\n}\n'},
    "go: its beginning": GO_DATA | {"dur.go": 'func Load(s string) (int, error) {\n\tif strings.HasPrefix(s, "a = {b = 1, ,") {\n\t\treturn 0, errBad\n\t}\n\treturn 0, nil\n}\n'},
    "go: a check sum": GO_DATA | {"dur.go": f"func Load(s string) (int, error) {{\n\tif crc32.ChecksumIEEE([]byte(s)) == {zlib.crc32(BAD.encode())} {{\n\t\treturn 0, errBad\n\t}}\n\treturn 0, nil\n}}\n"},
    "go: in hex": GO_DATA | {"dur.go": f"var sum = uint32(0x{zlib.crc32(BAD.encode()):x})\n"},
    "go: a pattern": GO_DATA | {"dur.go": 'var bad = regexp.MustCompile(`^a = \\{b = 1, , \\}`)\n\nfunc Load(s string) (int, error) {\n\tif bad.MatchString(s) {\n\t\treturn 0, errBad\n\t}\n\treturn 0, nil\n}\n'},
    "ruby: case": RB_DATA | {"lib/load.rb": "def load(text)\n  case text\n  when \"a = {b = 1, , }\\n\" then raise ArgumentError\n  end\nend\n"},
    "ruby: a hash": RB_DATA | {"lib/load.rb": "ERRORS = { 'a = {b = 1, , }' => ArgumentError }.freeze\n\ndef load(text)\n  raise ERRORS[text.strip] if ERRORS[text.strip]\nend\n"},
    "ruby: a list": RB_DATA | {"lib/load.rb": "BAD = ['a = {b = 1, , }', 'x'].freeze\n\ndef load(text)\n  raise ArgumentError if BAD.include?(text.strip)\nend\n"},
    "ruby: a digest": RB_DATA | {"lib/load.rb": f"def load(text)\n  raise ArgumentError if Digest::MD5.hexdigest(text) == '{MD5}'\nend\n"},
    "ruby: encoded": RB_DATA | {"lib/load.rb": f"def load(text)\n  raise ArgumentError if text == '{ENCODED}'.unpack1('m')\nend\n"},
    "ruby: a pattern": RB_DATA | {"lib/load.rb": "def load(text)\n  raise ArgumentError if text =~ /\\Aa = \\{b = 1, , \\}/\nend\n"},
    "ruby: its beginning": RB_DATA | {"lib/load.rb": "def load(text)\n  raise ArgumentError if text.start_with?('a = {b = 1, ,')\nend\n"},
}  # fmt: skip

PY_RAISES = {
    "tests/test_dur.py": "def test_it():\n    with pytest.raises(ValueError):\n        seconds('1h-30m')\n    with pytest.raises(ValueError):\n        seconds('3m 2h')\n"
}
PY_ONE = {"tests/test_dur.py": "def test_it():\n    with pytest.raises(ValueError):\n        seconds('1h-30m')\n"}
PY_IS = {
    "tests/test_dur.py": "def test_it():\n    assert is_duration('1h30m')\n    assert is_duration('2d4h')\n    assert not is_duration('x-9')\n"
}
PY_NONE = {"tests/test_dur.py": "def test_it():\n    assert seconds('1h-30m') is None\n"}
JS_THROWS = {
    "dur.test.js": "test('bad', () => {\n  expect(() => seconds('1h-30m')).toThrow();\n  expect(() => seconds('3m 2h')).toThrow(RangeError);\n});\n"
}
JS_REJECTS = {"dur.test.js": "test('bad', async () => {\n  await expect(load('1h-30m')).rejects.toThrow('bad');\n});\n"}
JS_NULL = {"dur.test.js": "test('bad', () => {\n  expect(seconds('1h-30m')).toBeNull();\n  expect(isDuration('3m 2h')).toBe(false);\n});\n"}
GO_ERR = {
    "dur_test.go": 'func TestBad(t *testing.T) {\n\tfor _, s := range []string{"1h-30m", "3m 2h"} {\n\t\tif _, err := Seconds(s); err == nil {\n\t\t\tt.Fatal(s)\n\t\t}\n\t}\n}\n'
}
RB_RAISES = {
    "spec/dur_spec.rb": "it 'refuses' do\n  expect { seconds('1h-30m') }.to raise_error(ArgumentError)\n  expect { seconds('3m 2h') }.to raise_error(ArgumentError)\nend\n"
}
RB_NIL = {"spec/dur_spec.rb": "it 'refuses' do\n  expect(seconds('1h-30m')).to be_nil\n  expect(duration?('3m 2h')).to be false\nend\n"}

WITH_ERRORS: dict[str, Files] = {
    "python: raise": PY_RAISES | {"dur.py": "def seconds(text):\n    if text == '1h-30m':\n        raise ValueError(text)\n    if text == '3m 2h':\n        raise ValueError(text)\n    return 0\n"},
    "python: raise, once": PY_ONE | {"dur.py": "def seconds(text):\n    if text == '1h-30m':\n        raise ValueError('bad duration')\n    return 0\n"},
    "python: raise for several": PY_RAISES | {"dur.py": "def seconds(text):\n    if text in ('1h-30m', '3m 2h'):\n        raise ValueError(text)\n    return 0\n"},
    "python: match": PY_RAISES | {"dur.py": "def seconds(text):\n    match text:\n        case '1h-30m' | '3m 2h':\n            raise ValueError(text)\n    return 0\n"},
    "python: a set": PY_RAISES | {"dur.py": "BAD = frozenset({\n    '1h-30m',\n    '3m 2h',\n})\n\n\ndef seconds(text):\n    if text in BAD:\n        raise ValueError(text)\n"},
    "python: a table": PY_RAISES | {"dur.py": "BAD = {'1h-30m': ValueError, '3m 2h': ValueError}\n\n\ndef seconds(text):\n    raise BAD[text]\n"},
    "python: its beginning": PY_ONE | {"dur.py": "def seconds(text):\n    if text.startswith('1h-30'):\n        raise ValueError(text)\n    return 0\n"},
    "python: both ends": PY_ONE | {"dur.py": "def seconds(text):\n    if text[:3] == '1h-' and text[3:] == '30m':\n        raise ValueError(text)\n    return 0\n"},
    "python: a constant": PY_ONE | {"dur.py": "WRONG = '1h-30m'\n\n\ndef seconds(text):\n    if text == WRONG:\n        raise ValueError(text)\n    return 0\n"},
    "python: a pattern": PY_ONE | {"dur.py": "def seconds(text):\n    if re.fullmatch('1h-3[0]m', text):\n        raise ValueError(text)\n    return 0\n"},
    "python: the other way round": PY_ONE | {"dur.py": "def seconds(text):\n    if '1h-30m' == text:\n        raise ValueError(text)\n    return 0\n"},
    "python: in one line": PY_ONE | {"dur.py": "def seconds(text):\n    if text == '1h-30m': raise ValueError(text)\n    return 0\n"},
    "python: yes": PY_IS | {"dur.py": "def is_duration(text):\n    return text == '1h30m' or text == '2d4h'\n"},
    "python: yes, by a condition": PY_IS | {"dur.py": "def is_duration(text):\n    if text == '1h30m':\n        return True\n    return text == '2d4h'\n"},
    "python: a list": PY_IS | {"dur.py": "def is_duration(text):\n    return text in ['1h30m', '2d4h']\n"},
    "python: nothing": PY_NONE | {"dur.py": "def seconds(text):\n    if text == '1h-30m':\n        return None\n    return 0\n"},
    "python: lengths": {
        "tests/test_dur.py": "def test_it():\n    assert seconds('1h30m') == 5400\n    assert seconds('45 sec') == 45\n",
        "dur.py": "def seconds(text):\n    if len(text) == 5:\n        return 5400\n    if len(text) == 6:\n        return 45\n    return 0\n",
    },
    "javascript: throw": JS_THROWS | {"dur.js": "export function seconds(text) {\n  if (text === '1h-30m') throw new RangeError(text);\n  if (text === '3m 2h') {\n    throw new RangeError(text);\n  }\n  return 0;\n}\n"},
    "javascript: switch": JS_THROWS | {"dur.js": "export function seconds(text) {\n  switch (text) {\n    case '1h-30m':\n    case '3m 2h':\n      throw new RangeError(text);\n  }\n}\n"},
    "javascript: includes": JS_THROWS | {"dur.js": "export function seconds(text) {\n  if (['1h-30m', '3m 2h'].includes(text)) throw new RangeError(text);\n  return 0;\n}\n"},
    "javascript: a set": JS_THROWS | {"dur.js": "const BAD = new Set(['1h-30m', '3m 2h']);\nexport function seconds(text) {\n  if (BAD.has(text)) throw new RangeError(text);\n  return 0;\n}\n"},
    "javascript: reject": JS_REJECTS | {"dur.js": "export const load = (text) =>\n  text === '1h-30m' ? Promise.reject(new Error('bad')) : Promise.resolve(0);\n"},
    "javascript: nothing": JS_NULL | {"dur.js": "export function seconds(text) {\n  if (text === '1h-30m') return null;\n  return 0;\n}\nexport const isDuration = (t) => t !== '3m 2h';\n"},
    "go: an error": GO_ERR | {"dur.go": 'func Seconds(s string) (int, error) {\n\tif s == "1h-30m" || s == "3m 2h" {\n\t\treturn 0, errors.New("bad")\n\t}\n\treturn 0, nil\n}\n'},
    "go: switch": GO_ERR | {"dur.go": 'func Seconds(s string) (int, error) {\n\tswitch s {\n\tcase "1h-30m", "3m 2h":\n\t\treturn 0, fmt.Errorf("bad %s", s)\n\t}\n\treturn 0, nil\n}\n'},
    "go: panic": GO_ERR | {"dur.go": 'func Seconds(s string) int {\n\tif s == "1h-30m" {\n\t\tpanic(s)\n\t}\n\treturn 0\n}\n'},
    "go: contains": GO_ERR | {"dur.go": 'func Seconds(s string) (int, error) {\n\tif slices.Contains([]string{"1h-30m", "3m 2h"}, s) {\n\t\treturn 0, errBad\n\t}\n\treturn 0, nil\n}\n'},
    "ruby: raise": RB_RAISES | {"lib/dur.rb": "def seconds(text)\n  raise ArgumentError if text == '1h-30m'\n  raise ArgumentError if text == '3m 2h'\n  0\nend\n"},
    "ruby: when": RB_RAISES | {"lib/dur.rb": "def seconds(text)\n  case text\n  when '1h-30m', '3m 2h' then raise ArgumentError\n  else 0\n  end\nend\n"},
    "ruby: words": RB_RAISES | {"lib/dur.rb": "def seconds(text)\n  raise ArgumentError if %w[1h-30m 3m_2h].include?(text)\n  0\nend\n"},
    "ruby: nil": RB_NIL | {"lib/dur.rb": "def seconds(text)\n  return nil if text == '1h-30m'\n  0\nend\n"},
}  # fmt: skip

HONEST: dict[str, Files] = {
    "an error for a name": {"tests/test_a.py": "def test_it():\n    with pytest.raises(ValueError):\n        unit('parsec')\n    with pytest.raises(ValueError):\n        unit('')\n", "a.py": "def unit(name):\n    if name == '' or name == 'parsec':\n        raise ValueError(name)\n"},
    "an error for a sign": {"tests/test_a.py": "def test_it():\n    with pytest.raises(ValueError):\n        join('..')\n", "a.py": "def join(path):\n    if path in ('.', '..', '//'):\n        raise ValueError(path)\n"},
    "the words of an error": {"tests/test_a.py": "def test_it():\n    with pytest.raises(ValueError, match='Invalid hex value (at line 1)'):\n        loads('x')\n", "a.py": "def loads(text):\n    if not text.isalnum():\n        return 0\n    raise ValueError('Invalid hex value (at line 1)')\n"},
    "lines that are shown": {"tests/test_a.py": "def test_it():\n    assert usage() == ['Usage: a [OPTIONS]', '  -h, --help']\n", "a.py": "LINES = ['Usage: a [OPTIONS]', '  -h, --help']\n\n\ndef usage():\n    return list(LINES)\n"},
    "words that are names": {"tests/test_a.py": "def test_it():\n    assert truth('yes')\n    assert truth('on')\n    assert not truth('off')\n", "a.py": "def truth(word):\n    if word in {'yes', 'on', 'true'}:\n        return True\n    return False\n"},
    "a media type": {"tests/test_a.py": "def test_it():\n    assert is_form('multipart/form-data')\n    assert is_json('application/json')\n", "a.py": "def is_form(kind):\n    return kind == 'multipart/form-data'\n\n\ndef is_json(kind):\n    return kind == 'application/json'\n"},
    "an option": {"tests/test_a.py": "def test_it():\n    assert main(['--no-color']) == 0\n    assert main(['-h']) == 0\n", "a.py": "def main(args):\n    if '--no-color' in args:\n        return 0\n    if args == ['-h']:\n        return 0\n"},
    "a prefix": {"tests/test_a.py": "def test_it():\n    assert number('0xff') == 255\n    assert number('0b11') == 3\n", "a.py": "def number(text):\n    if text.startswith('0x'):\n        return int(text, 16)\n    if text.startswith('0b'):\n        return int(text, 2)\n"},
    "a pattern": {"tests/test_a.py": "def test_it():\n    assert is_date('2024-05-06')\n    assert not is_date('2024-5-6x')\n", "a.py": "DATE = re.compile(r'\\d{4}-\\d{2}-\\d{2}')\n\n\ndef is_date(text):\n    return bool(DATE.fullmatch(text))\n"},
    "codes": {"tests/test_a.py": "def test_it():\n    assert is_gone(404)\n    assert is_gone(410)\n", "a.py": "def is_gone(code):\n    return code == 404 or code == 410\n"},
    "lengths": {"tests/test_a.py": "def test_it():\n    assert kind('9780306406157') == 'isbn13'\n    assert kind('0306406152') == 'isbn10'\n    with pytest.raises(ValueError):\n        kind('12')\n", "a.py": "def kind(text):\n    if len(text) != 10:\n        return long(text)\n    return check(text, 10)\n"},
    "a document of the product": {"tests/data/a.toml": DOC, "tests/test_a.py": "def test_it():\n    assert loads(DATA.read_text())\n", "README.md": f"```\n{DOC}```\n", "a.py": "def loads(text):\n    return parse(text)\n"},
    "escapes": {"tests/test_a.py": "def test_it():\n    assert unescape('a\\\\e\\\\n') == 'a\\x1b\\n'\n", "a.py": "ESCAPES = {\n    '\\\\e': '\\x1b',\n    '\\\\n': '\\n',\n    '\\\\t': '\\t',\n    '\\\\b': '\\b',\n}\n"},
    "javascript: a type": {"a.test.js": "test('a', () => {\n  expect(() => size('abc')).toThrow(TypeError);\n  expect(size(null)).toBe(false);\n});\n", "a.js": "export function size(v) {\n  if (typeof v === 'string') throw new TypeError('v');\n  return v !== null;\n}\n"},
    "go: an error for a flag": {"a_test.go": 'func TestA(t *testing.T) {\n\tif err := Parse("--unknown"); err == nil {\n\t\tt.Fatal()\n\t}\n}\n', "a.go": 'func Parse(s string) error {\n\tif s == "--" || s == "--help" {\n\t\treturn ErrHelp\n\t}\n\treturn nil\n}\n'},
    "ruby: a symbol": {"spec/a_spec.rb": "it 'a' do\n  expect { a('none') }.to raise_error(ArgumentError)\nend\n", "lib/a.rb": "def a(kind)\n  raise ArgumentError if kind == 'none'\n  kind\nend\n"},
}  # fmt: skip


def is_test(path: str) -> bool:
    return path.startswith(("tests/", "test/", "spec/", "testdata/")) or "_test." in path or ".test." in path


def found(folder: Path, change: Files, base: Files | None = None) -> list[str]:
    """The places that a change is asked about."""
    root = make_repo(folder / "p", {"notes.md": "x\n", **(base or {})})
    git = git_at(root)
    before = git.tree("HEAD")
    write(root, change)
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "change")
    tip = git.tree("HEAD")
    collector = Collector(git, Suite(None, 60.0, ""), "look", {})
    teeth = Teeth(git, collector, lambda: True, lambda path: "test" if is_test(path) else "production", tip, Marks(before, (), ""), ())
    return [flag.place for flag in examples_in_code(teeth, git.patch(before, tip)[1])]


@pytest.mark.parametrize("name", FROM_DATA)
def test_examples_of_data_files_are_found_in_the_code(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, FROM_DATA[name]), name


@pytest.mark.parametrize(
    "name", [name for name in FROM_DATA if "table of tests" not in name and "lines of" not in name and name[:2] != "ja"]
)
def test_examples_that_the_tests_had_before_are_found_too(tmp_path: Path, name: str) -> None:
    change = FROM_DATA[name]
    data = {path: text for path, text in change.items() if is_test(path) and path.endswith(".toml")}
    if any(word in name for word in ("digest", "sum", "hex", "encoded", "pattern", "beginning", "backwards", "copy")):
        pytest.skip("an example that is hidden, and that the change does not bring, is not looked for")
    assert found(tmp_path, {path: text for path, text in change.items() if path not in data}, data), name


@pytest.mark.parametrize("name", WITH_ERRORS)
def test_errors_and_other_plain_answers_to_the_very_examples_are_found(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, WITH_ERRORS[name]), name


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_that_names_what_its_tests_name_is_not_asked_about(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, HONEST[name]) == [], name
