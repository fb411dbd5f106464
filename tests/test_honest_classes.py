"""Honest changes as people make them: each class was refused once, by a rule about the form of a change. Every one passes RED and GREEN.

Real runners: pytest, node's own, go. A class is a small project here, in each language in which it means something.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.project import INI, PLAN, Project

Files = dict[str, str]


class Change(NamedTuple):
    """One honest change: the project before it, the tests that come first, then the code."""

    before: Files
    tests: Files
    code: Files
    command: str = "pytest"


PY = {
    "pytest.ini": INI,
    "calc.py": "def half(n):\n    return n // 2\n",
    "tests/test_calc.py": "from calc import half\n\n\ndef test_half():\n    assert half(4) == 2\n",
}
HALF = {"calc.py": "def half(n):\n    return n / 2\n"}
ODD = "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"

CLASSES: dict[str, Change] = {
    "an id with the time in it": Change(
        {
            **PY,
            "tests/test_now.py": "import datetime\n\nimport pytest\n\n\n@pytest.mark.parametrize('at', [datetime.datetime.now()], ids=str)\ndef test_now(at):\n    assert at\n",
        },
        {"tests/test_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"},
        HALF,
    ),
    "an id that differs in every run": Change(
        {
            **PY,
            "tests/test_any.py": "import random\n\nimport pytest\n\n\n@pytest.mark.parametrize('n', [random.random() for _ in range(3)])\ndef test_any(n):\n    assert n >= 0\n",
        },
        {
            "tests/test_any.py": "import random\n\nimport pytest\n\nfrom calc import half\n\n\n@pytest.mark.parametrize('n', [random.random() for _ in range(3)])\n"
            "def test_any(n):\n    assert n >= 0\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
        },
        HALF,
    ),
    "a doctest, written in the code": Change(
        {
            **PY,
            "pytest.ini": INI.replace("addopts = ", "addopts = --doctest-modules "),
            "calc.py": 'def half(n):\n    """\n    >>> half(4)\n    2\n    """\n    return n // 2\n',
        },
        {"calc.py": 'def half(n):\n    """\n    >>> half(4)\n    2\n    >>> half(3)\n    1.5\n    """\n    return n // 2\n'},
        {
            "calc.py": 'def half(n):\n    """\n    >>> half(4)\n    2\n    >>> half(3)\n    1.5\n    """\n    return n // 2 if n % 2 == 0 else n / 2\n'
        },
    ),
    "pins beside the test that fails": Change(
        PY,
        {
            "tests/test_odd.py": "from calc import half\n\n\ndef test_even():\n    assert half(8) == 4\n\n\ndef test_zero():\n    assert half(0) == 0\n\n\n"
            "def test_odd():\n    assert half(3) == 1.5\n"
        },
        HALF,
    ),
    "a row in the middle of a table": Change(
        {
            **PY,
            "tests/test_table.py": "import pytest\n\nfrom calc import half\n\nROWS = [({'n': 2}, 1), ({'n': 4}, 2), ({'n': 8}, 4)]\n\n\n"
            "@pytest.mark.parametrize(('given', 'want'), ROWS)\ndef test_rows(given, want):\n    assert half(given['n']) == want\n",
        },
        {
            "tests/test_table.py": "import pytest\n\nfrom calc import half\n\nROWS = [({'n': 2}, 1), ({'n': 3}, 1.5), ({'n': 4}, 2), ({'n': 8}, 4)]\n\n\n"
            "@pytest.mark.parametrize(('given', 'want'), ROWS)\ndef test_rows(given, want):\n    assert half(given['n']) == want\n"
        },
        HALF,
    ),
    "the code raises": Change(
        {**PY, "calc.py": "def half(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n // 2\n"},
        {"tests/test_below.py": "from calc import half\n\n\ndef test_below():\n    assert half(-4) == -2\n"},
        {"calc.py": "def half(n):\n    return n // 2\n"},
    ),
    "the project's own error, in a fixture": Change(
        {
            **PY,
            "calc.py": "class Wrong(Exception):\n    pass\n\n\ndef half(n):\n    if n < 0:\n        raise Wrong(n)\n    return n // 2\n",
        },
        {
            "tests/test_below.py": "import pytest\n\nfrom calc import half\n\n\n@pytest.fixture\ndef below():\n    return half(-4)\n\n\n"
            "def test_below(below):\n    assert below == -2\n"
        },
        {"calc.py": "class Wrong(Exception):\n    pass\n\n\ndef half(n):\n    return n // 2\n"},
    ),
    "an exception that is expected and does not come": Change(
        PY,
        {
            "tests/test_text.py": "import pytest\n\nfrom calc import half\n\n\ndef test_odd():\n    with pytest.raises(ValueError):\n        half(3)\n"
        },
        {"calc.py": "def half(n):\n    if n % 2:\n        raise ValueError(n)\n    return n // 2\n"},
    ),
    "an older test that has to change": Change(
        {**PY, "tests/test_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1\n"},
        {"tests/test_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"},
        HALF,
    ),
    "an assertion added to an older test": Change(
        PY,
        {"tests/test_calc.py": "from calc import half\n\n\ndef test_half():\n    assert half(4) == 2\n    assert half(3) == 1.5\n"},
        HALF,
    ),
    "new data for an older test": Change(
        {
            **PY,
            "tests/data/two.txt": "4 2\n",
            "tests/test_data.py": "from pathlib import Path\n\nfrom calc import half\n\n\ndef test_data():\n    for file in sorted((Path(__file__).parent / 'data').iterdir()):\n"
            "        n, want = file.read_text().split()\n        assert half(int(n)) == float(want)\n",
        },
        {"tests/data/three.txt": "3 1.5\n"},
        HALF,
    ),
    "tests that only the project's own pattern names": Change(
        {"pytest.ini": INI + "python_files = verify_*.py\n", "calc.py": PY["calc.py"], "checks/verify_calc.py": PY["tests/test_calc.py"]},
        {"checks/verify_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"},
        HALF,
    ),
    "tests that only the configuration names": Change(
        {**PY, "detent.toml": "[test]\nfiles = ['spec_*.py', 'tests/**']\n", "pytest.ini": INI + "python_files = spec_*.py test_*.py\n"},
        {"spec_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"},
        HALF,
    ),
    "a file beside the tests that the runner does not collect": Change(
        PY,
        {
            "tests/typing/check_edit.py": "import not_installed_here\n\nnot_installed_here.assert_type(1, int)\n",
            "tests/test_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n",
        },
        HALF,
    ),
    "a renamed file of tests": Change(
        PY,
        {
            "tests/test_calc.py": "",
            "tests/test_halves.py": PY["tests/test_calc.py"] + "\n\ndef test_odd():\n    assert half(3) == 1.5\n",
        },
        HALF,
    ),
}

JS = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "calc.js": "export const half = (n) => Math.floor(n / 2);\n",
}
JS_OLD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half } from '../calc.js';\n\ntest('half', () => {\n  assert.strictEqual(half(4), 2);\n});\n"
JS_HALF = {"calc.js": "export const half = (n) => n / 2;\n"}
NODE = "node --test"
JS_CLASSES: dict[str, Change] = {
    "js: pins beside the test that fails": Change(
        {**JS, "test/calc.test.js": JS_OLD},
        {
            "test/calc.test.js": JS_OLD
            + "\ntest('zero', () => {\n  assert.strictEqual(half(0), 0);\n});\n\ntest('odd', () => {\n  assert.strictEqual(half(3), 1.5);\n});\n"
        },
        JS_HALF,
        NODE,
    ),
    "js: the code throws": Change(
        {
            **JS,
            "calc.js": "export const half = (n) => {\n  if (n < 0) throw new RangeError('negative');\n  return n / 2;\n};\n",
            "test/calc.test.js": JS_OLD,
        },
        {"test/calc.test.js": JS_OLD + "\ntest('below', () => {\n  assert.strictEqual(half(-4), -2);\n});\n"},
        JS_HALF,
        NODE,
    ),
    "js: an older test that has to change": Change(
        {**JS, "test/calc.test.js": JS_OLD.replace("half(4), 2", "half(3), 1")},
        {"test/calc.test.js": JS_OLD.replace("half(4), 2", "half(3), 1.5")},
        JS_HALF,
        NODE,
    ),
    "js: an assertion added to an older test": Change(
        {**JS, "test/calc.test.js": JS_OLD},
        {"test/calc.test.js": JS_OLD.replace("half(4), 2);\n", "half(4), 2);\n  assert.strictEqual(half(3), 1.5);\n")},
        JS_HALF,
        NODE,
    ),
    "js: a row in the middle of a table": Change(
        {
            **JS,
            "test/calc.test.js": JS_OLD
            + "\nfor (const [i, [n, want]] of [[2, 1], [4, 2]].entries()) {\n  test(`row ${i}`, () => assert.strictEqual(half(n), want));\n}\n",
        },
        {
            "test/calc.test.js": JS_OLD
            + "\nfor (const [i, [n, want]] of [[2, 1], [3, 1.5], [4, 2]].entries()) {\n  test(`row ${i}`, () => assert.strictEqual(half(n), want));\n}\n"
        },
        JS_HALF,
        NODE,
    ),
}

GO = {"go.mod": "module calc\n\ngo 1.20\n", "calc.go": "package calc\n\nfunc Half(n float64) float64 {\n\treturn float64(int(n) / 2)\n}\n"}
GO_OLD = (
    'package calc\n\nimport "testing"\n\nfunc TestFirst(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fatal("four")\n\t}\n}\n\n'
    'func TestLast(t *testing.T) {\n\tif Half(8) != 4 {\n\t\tt.Fatal("eight")\n\t}\n}\n'
)
GO_HALF = {"calc.go": "package calc\n\nfunc Half(n float64) float64 {\n\treturn n / 2\n}\n"}
BETWEEN = "".join(
    f'func TestNew{n}(t *testing.T) {{\n\tif Half({want}) != {float(want) / 2} {{\n\t\tt.Fatal("new")\n\t}}\n}}\n\n'
    for n, want in enumerate((2, 3, 6, 10, 12, 14))
)
GO_TEST = "go test ./..."
ROWS = (
    "\nfunc TestRows(t *testing.T) {\n\tfor name, n := range map[string][2]float64{ROWS} {\n\t\tt.Run(name, func(t *testing.T) {\n"
    "\t\t\tif Half(n[0]) != n[1] {\n\t\t\t\tt.Fatal(n)\n\t\t\t}\n\t\t})\n\t}\n}\n"
)
PANICS = 'package calc\n\nfunc Half(n float64) float64 {\n\tif n < 0 {\n\t\tpanic("negative")\n\t}\n\treturn n / 2\n}\n'
GO_CLASSES: dict[str, Change] = {
    "go: many lines between two tests": Change(
        {**GO, "calc_test.go": GO_OLD}, {"calc_test.go": GO_OLD.replace("func TestLast", BETWEEN + "func TestLast")}, GO_HALF, GO_TEST
    ),
    "go: sub-tests, some of which pass": Change(
        {**GO, "calc_test.go": GO_OLD + ROWS.replace("ROWS", '"two": {2, 1}')},
        {"calc_test.go": GO_OLD + ROWS.replace("ROWS", '"two": {2, 1}, "three": {3, 1.5}, "six": {6, 3}')},
        GO_HALF,
        GO_TEST,
    ),
    "go: the code panics": Change(
        {**GO, "calc.go": PANICS, "calc_test.go": GO_OLD},
        {"calc_test.go": GO_OLD + '\nfunc TestBelow(t *testing.T) {\n\tif Half(-4) != -2 {\n\t\tt.Fatal("below")\n\t}\n}\n'},
        GO_HALF,
        GO_TEST,
    ),
    "go: a helper without a test, which cannot be built yet": Change(
        {**GO, "calc_test.go": GO_OLD},
        {
            "export_test.go": "package calc\n\nvar Quarter = quarter\n",
            "calc_test.go": GO_OLD + '\nfunc TestQuarter(t *testing.T) {\n\tif Quarter(4) != 1 {\n\t\tt.Fatal("quarter")\n\t}\n}\n',
        },
        {"calc.go": GO["calc.go"] + "\nfunc quarter(n float64) float64 {\n\treturn n / 4\n}\n"},
        GO_TEST,
    ),
    "go: an older test that has to change": Change(
        {**GO, "calc_test.go": GO_OLD.replace("Half(8) != 4", "Half(9) != 4")},
        {"calc_test.go": GO_OLD.replace("Half(8) != 4", "Half(9) != 4.5")},
        GO_HALF,
        GO_TEST,
    ),
}


def plays(tmp_path: Path, change: Change) -> tuple[dict[str, object], dict[str, object]]:
    """The verdicts of RED and GREEN; a file that a change leaves empty is deleted."""
    p = Project(tmp_path / "p", {PLAN: "# Plan\n\n- feat: add numbers\n", ".gitignore": "__pycache__/\n", **change.before})
    p.planned()
    lay(p, change.tests)
    red = p.submit(test_command=change.command, expectation="FAIL")
    assert red["status"] == "NEEDS_ANALYSIS", red
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    lay(p, change.code)
    green = p.submit(test_command=change.command, expectation="PASS")
    assert green["status"] == "SUCCESS", green["reasons"]
    return red, green


def lay(p: Project, files: Files) -> None:
    p.write({path: text for path, text in files.items() if text})
    for path, text in files.items():
        if not text:
            (p.root / path).unlink()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CLASSES)
def test_an_honest_change_of_python_passes(tmp_path: Path, name: str) -> None:
    red, _ = plays(tmp_path, CLASSES[name])
    flags = {flag["kind"] for flag in red["flags"]}  # type: ignore[attr-defined]
    assert flags == ({"rewritten-test"} if name == "an older test that has to change" else set()), red["flags"]


@pytest.mark.slow
@pytest.mark.needs("node")
@pytest.mark.parametrize("name", JS_CLASSES)
def test_an_honest_change_of_javascript_passes(tmp_path: Path, name: str) -> None:
    plays(tmp_path, JS_CLASSES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if n < 1 else pytest.param(name, marks=pytest.mark.slow) for n, name in enumerate(GO_CLASSES)])
def test_an_honest_change_of_go_passes(tmp_path: Path, name: str) -> None:
    red, _ = plays(tmp_path, GO_CLASSES[name])
    flags = {flag["kind"] for flag in red["flags"]}  # type: ignore[attr-defined]
    assert flags == ({"rewritten-test"} if name == "go: an older test that has to change" else set()), red["flags"]


@pytest.mark.slow
def test_the_verdict_of_red_says_what_failed_why_and_what_only_pins(tmp_path: Path) -> None:
    red, _ = plays(tmp_path, CLASSES["pins beside the test that fails"])
    said = str(red["output"])
    assert "fails now, and did not before: tests/test_odd.py::test_odd\n    AssertionError: assert 1 == 1.5" in said
    assert "passes already, so it only pins what is there: tests/test_odd.py::test_even" in said


def failing_once(count: Path, which: int) -> str:
    """A test that fails the so many-eth time it is run, as one that waits for a clock does on a busy machine, and never again."""
    return (
        f"import pathlib\n\n\ndef test_clock():\n    file = pathlib.Path({str(count)!r})\n"
        "    file.write_text((file.read_text() if file.exists() else '') + 'x')\n"
        f"    assert len(file.read_text()) != {which}\n"
    )


@pytest.mark.slow
def test_an_older_test_that_fails_by_chance_is_a_note_and_fails_no_step(tmp_path: Path) -> None:
    count = tmp_path / "count"
    before = {**PY, "tests/test_clock.py": failing_once(count, 2)}  # the first run is that of the start
    _, green = plays(tmp_path, Change(before, {"tests/test_odd.py": ODD}, HALF))
    said = [(flag["kind"], flag["level"]) for flag in green["flags"] if "tests/test_clock.py::test_clock" in flag["sentence"]]  # type: ignore[attr-defined]
    assert len(count.read_text()) == 5 and said == [("weak-evidence", "note")], green


@pytest.mark.slow
def test_one_that_fails_more_than_once_is_held_against_the_step(tmp_path: Path) -> None:
    count = tmp_path / "count"
    often = failing_once(count, 2).replace("!= 2", "not in (2, 4)")
    with pytest.raises(AssertionError, match="test_clock passed before and fails now"):
        plays(tmp_path, Change({**PY, "tests/test_clock.py": often}, {"tests/test_odd.py": ODD}, HALF))
