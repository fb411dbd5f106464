"""Tests that look only at the kind of an answer: functions that do all they do and answer what looks alike, in three languages, run for real."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detent.evidence.mutate.look_alikes import look_alikes
from detent.evidence.source.test_blocks import texts_of

PYTHON = """
class Book:
    async def total(self, rows, rate=1):
        self.asked = True
        if not rows:
            raise ValueError("nothing")
        return sum(rows) * rate, str(rate)

    def names(self):
        def first(row):
            return row[0]
        return {"a": [first("xy")]}
"""
SCRIPT = """
class Book {
  constructor(rows) { this.rows = rows; }
  async total(rate) { this.asked = true; if (!this.rows) { throw new Error('none'); } return this.rows.length * rate; }
  names() { return { a: ['x'] }; }
}
const half = (n) => n / 2;
function word(text = 'a') { for (const each of [text]) { return each + 'b'; } }
"""
RUBY = """
class Book
  def total(rows, rate = 1)
    raise IndexError if rows.empty?
    rows.each { |row| return row * rate if row > 5 }
    1.5
  rescue ArgumentError
    0
  end

  def names(key) = { key => ['x'] }
end
"""
ASKS = {
    ".py": (
        PYTHON,
        "import asyncio\nb = Book()\nprint([asyncio.run(b.total([1, 2])), b.names(), b.asked])",
        ["[(10, '1k'), {'a': ['xk']}, True]", "[('1k',), {'k': 7}, True]", "[Ellipsis, Ellipsis, True]"],
    ),
    ".js": (
        SCRIPT,
        "const b = new Book([1, 2]);\nb.total(2).then((t) => console.log(String(t), JSON.stringify(b.names()), b.asked, String(half(8)), String(word())));",
        ['11 {"a":["xk"]} true 11 abk', '-17 {"k":7} true -17 kba', "Symbol(Symbol.iterator) undefined true Symbol(Symbol.iterator) Symbol(Symbol.iterator)"],
    ),
    ".rb": (
        RUBY,
        "b = Book.new\nputs [b.total([9]), b.total(['x', 1]), b.names(:a)].map { |a| a.class == Object ? 'alien' : a.to_s.delete(' ') }.join(' ')",
        ["16 7 {:a=>[\"xk\"]}", "-22 -13 {:k=>7}", "alien alien alien"],
    ),
}  # fmt: skip
PROGRAMS = {".py": [sys.executable, "-c"], ".js": ["node", "-e"], ".rb": ["ruby", "-e"]}


@pytest.mark.parametrize("suffix", ASKS)
def test_a_function_answers_what_looks_alike_and_does_what_it_did(tmp_path: Path, suffix: str) -> None:
    if shutil.which(PROGRAMS[suffix][0]) is None:
        pytest.skip("its interpreter is not here")
    text, asks, wanted = ASKS[suffix]
    said = []
    for kind in ("near", "far", "alien"):
        made = text
        for name in [each.name for each in look_alikes(f"a{suffix}", text, range(1, 99)) if each.name != "first"]:
            made = getattr(next(each for each in look_alikes(f"a{suffix}", made, range(1, 99)) if each.name == name), kind)()
        assert made.count("\n") == text.count("\n")
        ran = subprocess.run([*PROGRAMS[suffix], f"{made}\n{asks}"], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        said.append(ran.stdout.strip())
    assert [each.replace(" ", "") for each in said] == [each.replace(" ", "") for each in wanted]


def test_what_answers_nothing_or_piece_by_piece_is_left_alone() -> None:
    text = "def a():\n    yield 1\n    return 2\n\n\ndef b():\n    print(1)\n\n\ndef c():\n    return 1\n"
    assert [each.name for each in look_alikes("a.py", text, range(1, 99))] == ["c"]
    assert [each.name for each in look_alikes("a.py", text, [2])] == []
    assert [each.name for each in look_alikes("a.js", "function* a() { return 1; }\nfunction b() { return 1; }", [1, 2])] == ["b"]


def test_each_test_has_words_of_its_own() -> None:
    python = "def test_a():\n    assert half(2)\n\n\ndef test_b():\n    assert third(3)\n"
    assert {name: words & {"half", "third"} for name, words in texts_of("t.py", python)} == {"test_a": {"half"}, "test_b": {"third"}}
    script = "test('a', () => {\n  half(2);\n});\ntest('b', () => {\n  third(3);\n});\n"
    assert {name: words & {"half", "third"} for name, words in texts_of("t.js", script)} == {"a": {"half"}, "b": {"third"}}
