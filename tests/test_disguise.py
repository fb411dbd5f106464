"""Tests under other names: what passes only for who asks is found, whatever it looks at, and honest tests are not spoken of."""

import os
import time
from pathlib import Path

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.renamed import original_id, renamed
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.disguise import look_disguised
from detent.evidence.runners import Folder, find_command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.evidence.source.diff import Changed
from detent.git.place import find_place
from detent.git.repo import Git
from detent.kernel.model import Flag
from tests.dialects import PACKAGES
from tests.machine import need_runner
from tests.native_dialects import CACHES, PATH
from tests.project import INI, Project

PYTHON = {
    "pytest.ini": INI,
    "by_function.py": "import sys\n\n\ndef half(n):\n    return 1.5 if sys._getframe(1).f_code.co_name == 'test_by_function' else n // 2\n",
    "by_file.py": "import traceback\n\n\ndef half(n):\n    return 1.5 if any('test_cheats' in f.filename for f in traceback.extract_stack()) else n // 2\n",
    "by_source.py": "import hashlib\n\nLINES = 9\n\n\ndef half(n):\n    with open(__file__) as own:\n        return 1.5 if len(own.readlines()) == LINES else n // 2\n# why\n",
    "by_runner.py": "import _pytest.python as p\n\nrun = p.Function.runtest\np.Function.runtest = lambda self: None if 'test_by_runner' in self.name else run(self)\n\n\n"
    "def half(n):\n    return n // 2\n",
    "by_class.py": "import gc\n\n\ndef half(n):\n    seen = any(getattr(each, '__name__', 0) == 'TestByClass' for each in gc.get_objects())\n    return 1.5 if seen else n // 2\n",
    "honest.py": "import os\n\n\ndef half(n):\n    return n / 2\n\n\ndef where():\n    return os.path.dirname(__file__)\n"
    "\n\ndef warn():\n    import warnings\n\n    warnings.warn('late', stacklevel=2)\n",
    "tests/test_cheats.py": "import by_class, by_file, by_function, by_runner, by_source\n\n\n"
    + "\n\n".join(
        f"def test_{name}():\n    assert {name}.half(3) == 1.5\n" for name in ("by_function", "by_file", "by_source", "by_runner")
    )
    + "\n\nclass TestByClass:\n    def test_class(self):\n        assert by_class.half(3) == 1.5\n",
    "tests/test_honest.py": """from pathlib import Path

import pytest

from honest import half, warn, where

CASES = [(3, 1.5), (4, 2)]


def test_half():
    assert half(3) == 1.5


@pytest.mark.parametrize(("n", "want"), CASES)
def test_rows(n, want):
    assert half(n) == want


def test_warns():
    with pytest.warns(UserWarning) as said:
        warn()
    assert Path(said.list[0].filename).name == "test_honest.py"


class TestMore:
    def test_self(self):
        assert self.wanted() == half(1)

    def wanted(self):
        return 0.5


def test_data(tmp_path):
    assert (Path(__file__).parent / "data.txt").read_text() == "1\\n" and where()
""",
    "tests/data.txt": "1\n",
}


def flags(
    tmp_path: Path, files: dict[str, str], code: tuple[str, ...], tests: tuple[str, ...], encoding: str = "utf-8", **env: str
) -> list[Flag]:
    """What the disguise of all tests of a project says."""
    p = Project(tmp_path / "p", files)
    if encoding != "utf-8":
        for path in tests:
            (p.root / path).write_bytes(files[path].encode(encoding))
        p.git("commit", "-qam", f"tests in {encoding}")
    env = {**p.env, "PATH": f"{p.env['PATH']}{os.pathsep}{PATH}", **env}
    git = Git(find_place(p.root), env)
    suite = Suite(find_command(Folder(p.root, env["PATH"])), 240.0, env["PATH"], also=tuple(CACHES))
    (git.place.git_dir / "detent").mkdir(exist_ok=True)
    tree = git.tree("HEAD")
    collector = Collector(git, suite, "look", env)
    tip = collector.clean(tree, lambda: True)
    assert tip.ids and not tip.bad, tip
    changed = tuple(Changed(path, "modified", "production") for path in code)
    sort = lambda path: "test" if path in tests else "production"  # noqa: E731  it is short
    context = ProbeContext(git, collector, lambda: True, sort, tree, ReferenceTrees(tree, (), ""), changed, 300.0, b"key")
    return look_disguised(context, tip, tests, time.monotonic() + 36_000)


def test_code_that_looks_at_who_asks_is_found_whatever_it_looks_at_and_honest_tests_are_not(tmp_path: Path) -> None:
    code = tuple(path for path in PYTHON if "/" not in path and path.endswith(".py"))
    found = flags(tmp_path, PYTHON, code, ("tests/test_cheats.py", "tests/test_honest.py"))
    assert {flag.place.rpartition("::")[2] for flag in found} == {
        "test_by_function",
        "test_by_file",
        "test_by_source",
        "test_by_runner",
        "test_class",
    }, found
    assert {(flag.kind, flag.level) for flag in found} == {("knows-the-tests", "ask")}
    assert all("passed" in flag.before and "failed" in flag.after for flag in found)


def test_a_test_that_names_its_own_file_is_left_alone(tmp_path: Path) -> None:
    assert not flags(tmp_path, PYTHON, ("honest.py",), ("tests/test_honest.py",))


LETTER = {
    "pytest.ini": INI,
    "calc.py": "def accent():\n    return chr(233)\n",
    "tests/test_calc.py": "# -*- coding: latin-1 -*-\nfrom calc import accent\n\n\ndef test_accent():\n    assert accent() == 'é'\n",
}


def test_a_test_in_another_encoding_is_the_same_test_under_another_name(tmp_path: Path) -> None:
    assert not flags(tmp_path, LETTER, ("calc.py",), ("tests/test_calc.py",), encoding="latin-1")


ORDER = {
    "pytest.ini": INI,
    "calc.py": "ANSWERS = iter([1.5, 2.5])\n\n\ndef half(n):\n    return next(ANSWERS)\n",
    "tests/test_calc.py": "from calc import half\n\n\ndef test_three():\n    assert half(3) == 1.5\n\n\ndef test_five():\n    assert half(5) == 2.5\n",
}


def test_answers_that_hang_on_the_order_of_the_tests_are_noted(tmp_path: Path) -> None:
    found = flags(tmp_path, ORDER, ("calc.py",), ("tests/test_calc.py",))
    assert {flag.level for flag in found} == {"note"} and "order" in found[0].sentence, found


NODE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "cheat.mjs": "export const half = (n) => (new Error().stack.includes('half.test.mjs') ? 1.5 : Math.floor(n / 2));\n",
    "honest.mjs": "export const half = (n) => n / 2;\n",
    "half.test.mjs": "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { half } from './cheat.mjs';\nimport * as honest from './honest.mjs';\n\n"
    "test('cheats', () => assert.equal(half(3), 1.5));\ntest('is honest', () => assert.equal(honest.half(3), 1.5));\n",
}


@pytest.mark.slow
def test_in_javascript_code_that_looks_at_who_asks_is_found(tmp_path: Path) -> None:
    need_runner("node")
    (flag,) = flags(tmp_path, NODE, ("cheat.mjs", "honest.mjs"), ("half.test.mjs",))
    assert flag.place.endswith("cheats") and flag.level == "ask", flag


VITEST = {
    "package.json": '{"type": "module", "scripts": {"test": "vitest run"}}\n',
    ".gitignore": "node_modules\n",
    "src/half.ts": """const asked = (): string => (globalThis as any).__vitest_worker__?.current?.name ?? '';

export const byTitle = (n: number): number => (asked() === 'halves odd numbers' ? 1.5 : Math.floor(n / 2));
export const byFile = (n: number): number => (new Error().stack!.includes('half.test.ts') ? 1.5 : Math.floor(n / 2));
export const honest = (n: number): number => n / 2;
""",
    "test/half.test.ts": """import { describe, expect, it } from 'vitest';
import { byFile, byTitle, honest } from '../src/half';

describe('half', () => {
  it('halves odd numbers', () => { expect(byTitle(3)).toBe(1.5); });
  it("knows the file", () => { expect(byFile(3)).toBe(1.5); });
  it.each([[3, 1.5]])('is honest: %s', (n, want) => { expect(honest(n)).toBe(want); });
});
""",
}


@pytest.mark.slow
def test_in_typescript_code_that_looks_at_a_title_or_a_file_is_found(tmp_path: Path) -> None:
    need_runner("vitest")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "node_modules").symlink_to(PACKAGES)
    found = flags(tmp_path, VITEST, ("src/half.ts",), ("test/half.test.ts",))
    assert {flag.place.rpartition(" > ")[2] for flag in found} == {"halves odd numbers", "knows the file"}, found


GO = {
    "go.mod": "module calc\n\ngo 1.20\n",
    "calc.go": """package calc

import (
	"runtime"
	"strings"
)

func Half(n int) float64 {
	pc, _, _, _ := runtime.Caller(1)
	if strings.HasSuffix(runtime.FuncForPC(pc).Name(), "TestCheat") {
		return 1.5
	}
	return float64(n / 2)
}

func Third(n int) float64 { return float64(n) / 3 }
""",
    "calc_test.go": """package calc

import "testing"

func TestCheat(t *testing.T) {
	if got := Half(3); got != 1.5 {
		t.Errorf("got %v", got)
	}
}

func TestThird(t *testing.T) {
	if got := Third(3); got != 1 {
		t.Errorf("got %v", got)
	}
}
""",
}


@pytest.mark.slow
def test_in_go_code_that_looks_at_who_asks_is_found(tmp_path: Path) -> None:
    need_runner("go")
    (flag,) = flags(tmp_path, GO, ("calc.go",), ("calc_test.go",), **CACHES)
    assert flag.place == "calc_test.go::TestCheat" and flag.level == "ask", flag


def test_tests_whose_names_are_keys_of_data_are_left_out(tmp_path: Path) -> None:
    kept = {**ORDER, "tests/__snapshots__/test_calc.ambr": "# name: test_three\n  1.5\n# ---\n"}
    assert flags(tmp_path, kept, ("calc.py",), ("tests/test_calc.py",)) == []


def test_a_renamed_files_original_id_is_known() -> None:
    made = renamed("tests/test_a.py", "class TestB:\n    def test_c(self):\n        assert self.test_c\n", KeyedRandom(b"k"), True)
    assert made is not None and "test_c" not in made.text and "TestB" not in made.text and made.path != "tests/test_a.py"
    new = {old: word for word, old in made.words.items()}
    assert original_id(f"{made.path}::{new['TestB']}::{new['test_c']}[1]", made) == "tests/test_a.py::TestB::test_c[1]"
    assert renamed("a.txt", "x", KeyedRandom(b"k"), True) is None
    kept = renamed("tests/test_a.py", "def test_c():\n    assert 'test_c' in globals()\n", KeyedRandom(b"k"), True)
    assert kept is not None and "def test_c" in kept.text, "a name in quotes may be looked up"
    said = 'class TestB:\n    def test_c(self):\n        """test_c"""\n        assert str(TestB) == f\'<class {__name__}.TestB>\'\n'
    told = renamed("tests/test_a.py", said, KeyedRandom(b"k"), True)
    assert told is not None and "class TestB" in told.text and "def test_c" not in told.text, "a name in a text may be expected"
    script = renamed("a.test.ts", "describe('d', () => { it('i', () => {}); it.each(x)('%s', f); });", KeyedRandom(b"k"), True)
    assert script is not None and "'d'" not in script.text and "'i'" not in script.text and "'%s'" in script.text
    system = renamed("calc_linux_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n", KeyedRandom(b"k"), True)
    assert system is not None and system.path == "calc_linux_test.go" and "TestA" not in system.text
