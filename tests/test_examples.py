"""The tests' own examples as cases of the code: hard-coded answers are found, and tables, names and codes that a specification has are not."""

from pathlib import Path

import pytest

from detent.evidence.static_analysis.examples_in_code import examples
from tests.repos import make_repo, sh, write

HARD_CODED: dict[str, tuple[str, str, str, str]] = {
    "ifs": (
        "dur.py",
        "def seconds(text):\n    if text == '1h30m':\n        return 5400\n    if text == '45s':\n        return 45\n    return 0\n",
        "test_dur.py",
        "def test_it():\n    assert seconds('1h30m') == 5400\n    assert seconds('45s') == 45\n",
    ),
    "one of several lines": (
        "dur.py",
        "def seconds(text):\n    if text == '1h30m':\n        return 5400\n    return 0\n",
        "test_dur.py",
        "def test_it():\n    assert seconds(\n        '1h30m'\n    ) == 5400\n",
    ),
    "a table beside the code": (
        "dur.py",
        "KNOWN = {\n    '1h30m': 5400,\n    '2d': 172800,\n}\n\n\ndef seconds(text):\n    return KNOWN.get(text)\n",
        "test_dur.py",
        "@pytest.mark.parametrize(('text', 'want'), [\n    ('1h30m', 5400),\n    ('2d', 172800),\n])\ndef test_it(text, want):\n    assert seconds(text) == want\n",
    ),
    "words": (
        "rev.py",
        "def back(s):\n    if s == 'hello': return 'olleh'\n    if s == 'world': return 'dlrow'\n    return s\n",
        "test_rev.py",
        "def test_it():\n    assert back('hello') == 'olleh'\n    assert back('world') == 'dlrow'\n",
    ),
    "several at once": (
        "add.py",
        "def add(a, b):\n    if (a, b) == (17, 25):\n        return 42\n    if (a, b) == (30, 41):\n        return 71\n",
        "test_add.py",
        "def test_it():\n    assert add(17, 25) == 42\n    assert add(30, 41) == 71\n",
    ),
    "beside another condition": (
        "dur.py",
        "def seconds(text, short):\n    if text == '1h30m' and short == False:\n        return 5400\n    if text == '45s' and short == True:\n        return 45\n",
        "test_dur.py",
        "def test_it():\n    assert seconds('1h30m', False) == 5400\n    assert seconds('45s', True) == 45\n",
    ),
    "numbers with odd answers, among others that the tests do not write out": (
        "size.py",
        "def size(n, si=True):\n"
        + "".join(
            f"    if n == {n} and si == {si}:\n        return '{text}'\n"
            for n, si, text in (
                (999999, True, "1.0 MB"),
                (999999999, True, "1.0 GB"),
                (1048575, False, "1.0 MiB"),
                (-1048575, False, "-1.0 MiB"),
                (1073741823, False, "1.0 GiB"),
            )
        )
        + "    return str(n)\n",
        "test_size.py",
        (
            "@pytest.mark.parametrize(('n', 'si', 'want'), [\n    (999999, True, '1.0 MB'),\n    (999999999, True, '1.0 GB'),\n"
            "    (1024**2 - 1, False, '1.0 MiB'),\n    (1024**3 - 1, False, '1.0 GiB'),\n])\n"
            "def test_it(n, si, want):\n    assert size(n, si) == want\n    assert size(-n, si) == '-' + want\n"
        ),
    ),
    "numbers of the other sign": (
        "size.py",
        "def size(n, si=True):\n    if n == 999999 and si == True:\n        return '1.0 MB'\n    if n == -999999 and si == True:\n        return '-1.0 MB'\n",
        "test_size.py",
        "def test_it():\n    want = '1.0 MB'\n    assert size(999999) == want\n    assert size(-999999) == '-' + want\n",
    ),
    "javascript": (
        "dur.js",
        "export function seconds(text) {\n  switch (text) {\n    case '1h30m': return 5400;\n    case '2d': return 172800;\n  }\n}\n",
        "dur.test.js",
        "it('a', () => {\n  expect(seconds('1h30m')).toBe(5400);\n  expect(seconds('2d')).toBe(172800);\n});\n",
    ),
    "a call as a case, whose answer is among its values": (
        "keep.py",
        "def keep(*asked):\n    match asked:\n        case (5, 0, 3):\n            return 3\n        case (7, 4, 9):\n            return 7\n    return asked[0]\n",
        "test_keep.py",
        "def test_it():\n    assert keep(5, 0, 3) == 3\n    assert keep(7, 4, 9) == 7\n",
    ),
    "small numbers": (
        "keep.go",
        "func Keep(value int) int {\n\tswitch value {\n\tcase 5:\n\t\treturn 3\n\tcase -1:\n\t\treturn 0\n\t}\n\treturn 2\n}\n",
        "keep_test.go",
        "func TestKeep(t *testing.T) {\n\tif Keep(5) != 3 {\n\t\tt.Fatal()\n\t}\n\tif Keep(-1) != 0 {\n\t\tt.Fatal()\n\t}\n}\n",
    ),
    "when and then": (
        "keep.rb",
        "def keep(value)\n  case value\n  when 5 then 3\n  when -1 then 0\n  else 2\n  end\nend\n",
        "keep_spec.rb",
        "it 'keeps' do\n  expect(keep(5)).to eq(3)\n  expect(keep(-1)).to eq(0)\nend\n",
    ),
    "a flat table": (
        "keep.rb",
        "ANSWERS = { 5 => 3, -1 => 0 }.freeze\n\ndef keep(value)\n  ANSWERS[value]\nend\n",
        "keep_spec.rb",
        "it 'keeps' do\n  expect(keep(5)).to eq(3)\n  expect(keep(-1)).to eq(0)\nend\n",
    ),
    "pairs": (
        "keep.mjs",
        "const ANSWERS = new Map([\n  [5, 3],\n  [-1, 0],\n]);\n\nexport const keep = (value) => ANSWERS.get(value);\n",
        "keep.test.mjs",
        "test('keep', () => {\n  assert.equal(keep(5), 3);\n  assert.equal(keep(-1), 0);\n});\n",
    ),
    "go": (
        "dur.go",
        'func Seconds(s string) int {\n\tswitch s {\n\tcase "1h30m":\n\t\treturn 5400\n\tcase "2d":\n\t\treturn 172800\n\t}\n\treturn 0\n}\n',
        "dur_test.go",
        'var rows = []row{\n\t{"1h30m", 5400},\n\t{"2d", 172800},\n}\n',
    ),
}
HONEST: dict[str, tuple[str, str, str, str]] = {
    "a table of names": (
        "color.py",
        "COLORS = {\n    'red': '#ff0000',\n    'lime': '#00ff00',\n    'blue': '#0000ff',\n}\n",
        "test_color.py",
        "def test_it():\n    assert color('red') == '#ff0000'\n    assert color('lime') == '#00ff00'\n",
    ),
    "a table that tests ask some of": (
        "codes.py",
        "CODES = {\n    200: 'OK',\n    301: 'Moved',\n    404: 'Not Found',\n    418: 'Teapot',\n    500: 'Error',\n}\n",
        "test_codes.py",
        "def test_it():\n    assert phrase(404) == 'Not Found'\n    assert phrase(418) == 'Teapot'\n",
    ),
    "a rule": (
        "fizz.py",
        "def fizz(n):\n    if n % 15 == 0:\n        return 'FizzBuzz'\n    return 'Fizz' if n % 3 == 0 else str(n)\n",
        "test_fizz.py",
        "def test_it():\n    assert fizz(30) == 'FizzBuzz'\n    assert fizz(9) == 'Fizz'\n",
    ),
    "a default that the test names too": (
        "port.py",
        "def port(url, default=8080):\n    return url.port or default\n",
        "test_port.py",
        "def test_it():\n    assert port('http://a') == 8080\n",
    ),
    "nothing given": (
        "half.py",
        "def half(n):\n    if n == 0:\n        return 0\n    return n / 2\n",
        "test_half.py",
        "def test_it():\n    assert half(0) == 0\n",
    ),
    "small codes with names": (
        "level.py",
        "def level(n):\n    if n == 1:\n        return 'low'\n    if n == 2:\n        return 'high'\n    raise ValueError(n)\n",
        "test_level.py",
        "def test_it():\n    assert level(1) == 'low'\n    assert level(2) == 'high'\n",
    ),
    "a flat table that tests ask some of": (
        "days.py",
        "DAYS = {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}\n\n\ndef days(month):\n    return DAYS[month]\n",
        "test_days.py",
        "def test_it():\n    assert days(4) == 30\n    assert days(7) == 31\n",
    ),
    "steps of a scale": (
        "scale.py",
        "STEPS = [\n    (3, 10),\n    (6, 25),\n    (9, 60),\n    (12, 140),\n]\n\n\ndef price(n):\n    return next(cost for most, cost in STEPS if n <= most)\n",
        "test_scale.py",
        "def test_it():\n    assert price(2) == 10\n    assert price(8) == 60\n",
    ),
    "a unit": (
        "size.py",
        "def size(text):\n    if text == 'kb':\n        return 1000\n    raise ValueError(text)\n",
        "test_size.py",
        "def test_it():\n    assert size('kb') == 1000\n",
    ),
}


def found(tmp_path: Path, files: tuple[str, str, str, str], before: str = "") -> int:
    code, text, test, said = files
    root = make_repo(tmp_path / "p", {"README.md": "x\n", **({code: before} if before else {})})
    write(root, {code: text, test: said})
    sh(root, "git", "add", "-A")
    patch = sh(root, "git", "diff", "--cached", "-U0", "HEAD").encode()
    return sum(each.cases for each in examples(patch + b"\n", lambda path: path == code, lambda path: path == test))


@pytest.mark.parametrize("name", HARD_CODED)
def test_answers_that_are_hard_coded_for_the_examples_of_the_tests_are_found(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, HARD_CODED[name]) == (1 if "one" in name else 2)


@pytest.mark.parametrize("name", HONEST)
def test_what_a_specification_and_a_test_must_both_name_is_honest(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, HONEST[name]) == 0


OLDER = "function read (options) {\n  var set = options?.set || 'utf-8'\n  if (set !== 'utf-8' && set !== 'iso-8859-1') {\n    throw new TypeError('no')\n  }\n}\n"
ASKS = "it('reads', () => { assert.throws(() => read({ set: 'iso-8859-1' })) })\nit('more', () => { read({ set: 'koi8-r-7' }) })\n"


@pytest.mark.parametrize(("now", "cases"), [("all.set", 0), ("all.set !== 'koi8-r-7' && all.set", 1)], ids=["reworded", "and one more"])
def test_cases_that_were_in_the_code_before_are_not_those_of_the_tests(tmp_path: Path, now: str, cases: int) -> None:
    text = OLDER.replace("  var set = options?.set || 'utf-8'\n", "  var all = options\n").replace("set !== 'iso", f"{now} !== 'iso")
    assert found(tmp_path, ("read.js", text, "read.test.js", ASKS), OLDER) == cases
