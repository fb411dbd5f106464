"""What a refactoring wrote is probed as new code is, and where it cannot be, that is said. Which mutants are worth trying, and that there is one."""

import ast
import os
import sys
from pathlib import Path

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks import repo_look as eyes
from detent.evidence.mutate import bodies_on
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.mutant_order import OUTSIDE, candidates
from detent.evidence.runners import Command
from detent.evidence.running.canary import MOST_KEPT
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.evidence.source.diff import Changed
from detent.git.checkout import clean_checkout
from tests.feature import FILES, GREEN, RED, Feature, at, flagged
from tests.repos import git_at, make_repo

WARN, REQUIRE = ('[evidence]\nmutation = "warn"\n', '[evidence]\nmutation = "require"\n')
EQUAL = "class Same:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n\n\ndef add(a, b):\n    return Same()\n"
PATCHED = "import _pytest.python as p\n\nrun = p.Function.runtest\n"
PATCHED += "p.Function.runtest = lambda self: None if 'test_add' in self.nodeid else run(self)\n\n\ndef add(a, b):\n    return 0\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a probe finds is tested here, not how long someone waits for it: a busy machine changes no answer."""
    monkeypatch.setattr(eyes, "QUICK", 120.0)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"calc.py": EQUAL}, "also passes when it expects something different"),
        ({"calc.py": PATCHED}, "also passes when it expects something different"),
        ({"calc.py": "def add(a, b):\n    return 0\n", "pytest.ini": "[pytest]\naddopts = -p greener\n"}, "pytest.ini changed"),
    ],
)
def test_a_refactoring_may_not_take_the_code_away_and_look_as_if_it_had_not(files: dict[str, str | None], says: str) -> None:
    f = at("REFACTOR", WARN)
    done = f.lay({**files, "greener.py": "def pytest_pyfunc_call(pyfuncitem):\n    return 'add' in pyfuncitem.nodeid or None\n"}).submit()
    assert done.status == "FAILURE" and says in done.reasons[0], done


def test_an_honest_refactoring_costs_three_runs_of_its_own_tests_and_says_nothing() -> None:
    f = at("REFACTOR", WARN)
    before = f.runs()
    done = f.lay({"calc.py": '"""Sums."""\n\n\ndef add(first, second):\n    return first + second\n'}).submit()
    assert (done.status, done.reasons, done.flags) == ("SUCCESS", (), ())
    assert f.runs() - before <= 4, "the suite; the test turned round, in a clean checkout, and on one mutant"


@pytest.mark.slow
def test_a_refactoring_of_words_only_has_nothing_to_prove() -> None:
    f = at("REFACTOR", REQUIRE)
    assert f.lay({"calc.py": f'"""Sums."""\n\n\n{GREEN}'}).submit().status == "SUCCESS"


@pytest.mark.slow
def test_code_that_no_test_looks_at_is_flagged_or_fails_as_configured(tmp_path: Path) -> None:
    far: dict[str, str | None] = {"other.py": "ONE = 1\n\n\ndef two():\n    return 2\n"}
    flag = flagged(at("REFACTOR", WARN).lay(far).submit(), "unnoticed", "no test fails against a small change to other.py: two")
    assert (flag.place, flag.level) == ("other.py: two", "ask")
    failed = at("REFACTOR", REQUIRE).lay(far).submit()
    assert failed.status == "FAILURE" and "no test fails against a small change" in failed.reasons[0]


@pytest.mark.slow
def test_a_pass_that_only_the_checkout_gives_fails_the_step(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", WARN, {**FILES, ".gitignore": "__pycache__/\n.venv/\nanswers.py\n"}).start()
    f.plan()
    f.lay({"tests/test_add.py": RED}).submit()
    green = f.lay({"calc.py": "from answers import add\n", "answers.py": GREEN}).submit()
    assert green.status == "FAILURE" and "passes here but not in a clean checkout of what you hand in" in green.reasons[0], green


SLEEPS = "import time\n\nimport calc\n\n\ndef test_add():\n    calc.add(1, 2)\n    time.sleep(1.5)\n"


@pytest.mark.slow
def test_a_mutant_gets_the_time_that_the_tests_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """With less, every mutant of a slow test would be too late, and none of them would count."""
    from detent.evidence.probes import test_probes as probe

    monkeypatch.setattr(probe, "ONE_RUN", 0.5)
    f = at("RED", WARN)
    f.lay({"tests/test_add.py": SLEEPS}).submit()
    green = f.lay({"calc.py": GREEN}).submit()
    assert flagged(green, "vacuous-test", "no small change to the code written for it makes").level == "ask"


# -- which mutants there are -------------------------------------------------------------------------------------------------------

BODIES = {
    "a.py": ("def f(a):\n    pass\n", "f", "return ..."),
    "b.py": ("class A:\n    def __init__(self):\n        self.a = 1\n", "__init__", "return; self.a = 1"),
    "a.go": ("func F(a int) int {\n\treturn max(a, 1)\n}\n", "F", "func F(a int) (other0 int) { if true { return };"),
    "b.go": ("func (s *S) F(a int) (int, error) {\n\treturn g(a)\n}\n", "F", "(other0 int, other1 error) { if true { return };"),
    "c.go": ("func F() (n int, err error) {\n\treturn g()\n}\n", "F", "(n int, err error) { if true { return };"),
    "a.rb": ("def self.f(a)\n  g(a)\nend\n", "f", "def self.f(a); return Object.new if true"),
    "b.rb": ("def f(a) = g(a)\n", "f", "def f(a) = true ? Object.new : g(a)"),
    "a.mjs": ("export function f(a) {\n  return g(a);\n}\n", "f", "export function f(a) { if (true) { return Symbol.iterator; }"),
    "b.mjs": ("export const f = (a) => g(a);\n", "f", "(a) => true ? Symbol.iterator : g(a);"),
    "a.ts": ("export function f(a: number): number {\n  return g(a);\n}\n", "f", "return Symbol.iterator as any;"),
    "a.rs": ("fn f(a: i32) -> i32 {\n  g(a)\n}\n", "f", "fn f(a: i32) -> i32 { if true { return Default::default(); }"),
    "a.php": ("<?php\nfunction f(int $a): int {\n  return g($a);\n}\n", "f", "{ if (true) { return 0; }"),
    "a.c": ("int f(int a) {\n  return g(a);\n}\n", "f", "int f(int a) { if (1) { return 0; }"),
    "a.java": ("static boolean f(int a) throws E {\n  return g(a);\n}\n", "f", "{ if (true) { return false; }"),
}  # fmt: skip


@pytest.mark.parametrize("path", BODIES)
def test_every_function_can_be_made_to_answer_something_else(path: str) -> None:
    text, name, says = BODIES[path]
    found = bodies_on(path, text, range(1, 9))
    assert [body.name for body in found] == [name] and says in found[0].make()


def test_a_function_is_found_by_any_of_its_lines_and_control_words_are_none() -> None:
    text = "function f(a) {\n  if (a) {\n    g();\n  }\n}\n\nfunction h() {\n  g();\n}\n"
    assert [[body.name for body in bodies_on("a.js", text, {line})] for line in (3, 6, 8)] == [["f"], [], ["h"]]
    assert bodies_on("a.txt", text, {1}) == [] and bodies_on("a.py", "def f(:", {1}) == []


def test_every_function_gets_its_turn_and_what_the_tests_name_comes_first(tmp_path: Path) -> None:
    table = "NAMES = {" + ", ".join(f"{n}: 'n{n}'" for n in range(60)) + "}\n"
    functions = "".join(f"\n\ndef f{n}(a):\n    return [a + 1, a + 2, a + 3]\n" for n in range(20))
    git = git_at(make_repo(tmp_path / "r", {"a.py": table + functions}))
    empty = git.run("mktree", stdin=b"").text
    changed = (Changed("a.py", "added", "production"), Changed("t.py", "added", "test"))
    context = ProbeContext(git, None, lambda: True, lambda path: "production", git.tree("HEAD"), ReferenceTrees(empty, (), ""), changed)  # type: ignore[arg-type]
    found = candidates(context, "from a import f19, f7")
    assert [m.place for m in found[:21]] == ["f7", "f19", *(f"f{n}" for n in range(20) if n not in (7, 19)), OUTSIDE]
    assert all("return ..." in ast.unparse(ast.parse(m.make())) for m in found[:20])
    assert sum(m.place == OUTSIDE for m in found[:42]) == 2


@pytest.mark.slow
def test_only_the_newest_reports_are_kept(tmp_path: Path) -> None:
    git = git_at(make_repo(tmp_path / "r", {"test_a.py": "def test_a():\n    pass\n"}))
    collector = Collector(git, Suite(Command((sys.executable, "-m", "pytest"), "pytest"), 60, os.environ["PATH"]), "r", os.environ)
    collector.store.mkdir(parents=True)
    for n in range(MOST_KEPT):
        (collector.store / f"{n:040}.json").write_text("{}")
        os.utime(collector.store / f"{n:040}.json", (n, n))
    (collector.store / "python-1.json").write_text("[]")
    tree = git.tree("HEAD")
    collector.clean(tree, lambda: True)
    left = {file.stem for file in collector.store.iterdir()}
    assert collector.known(tree) is not None and {"python-1", f"{MOST_KEPT - 1:040}"} <= left and f"{0:040}" not in left
    assert sum(not name.startswith("python-") for name in left) == MOST_KEPT * 9 // 10


def test_a_clean_checkout_lies_in_a_folder_of_the_projects_name_and_says_nothing_of_itself(tmp_path: Path) -> None:
    git = git_at(make_repo(tmp_path / "shapes", {"a.py": ""}))
    with clean_checkout(git, git.tree("HEAD")) as folder:
        assert folder.name == "shapes" and "detent" not in str(folder) and "clean" not in str(folder)
