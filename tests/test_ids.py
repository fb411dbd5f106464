"""Ids of tests: the same from run to run and from checkout to checkout, one bounded line each, distinct, and fit for every file."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import msgspec
import pytest

from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder
from detent.evidence.running.suite import placed
from detent.evidence.source.test_ids import family, package_path, readable, stable, without_root
from tests.dialects import lend_runners
from tests.repos import write

PYTEST = Command((sys.executable, "-m", "pytest", "-p", "no:cacheprovider"), "pytest")


def run(folder: Path, base: Command, selectors: tuple[str, ...] = ()) -> TestReport:
    """The real runner, read by its adapter."""
    lend_runners(folder, base)
    report = folder.parent / f"{folder.name}.report"
    runner = RUNNERS[base.runner]
    env = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))}
    ran = subprocess.run(runner.argv(base, selectors, str(report), Folder(folder)), cwd=folder, capture_output=True, text=True, env=env)
    return runner.read(report.read_bytes() if report.exists() else None, ran.returncode, ran.stdout + ran.stderr)


@pytest.mark.parametrize(
    ("test", "plain"),
    [
        ("t[<object object at 0x7f76eaec5740>]", "t[<object object <address>>]"),
        ("t[#<Foo:0x000078aa12>]", "t[#<Foo:<address>>]"),
        ("t[com.x.Foo@1b2c3d4e]", "t[com.x.Foo<address>]"),
        ("t[2026-11-17 02:22:24.260017-a]", "t[<time>-a]"),
        ("t[2026-11-17T02:22:24Z]", "t[<time>]"),
        ("t[Tue Nov 17 2026 02:22:24 GMT+0000 (Coordinated Universal Time)]", "t[<time>]"),
        ("t[Tue, 17 Nov 2026 02:22:24 GMT]", "t[<time>]"),
        ("t[Tue Nov 17 02:22:24 2026]", "t[<time>]"),
        ("t[datetime.datetime(2026, 11, 17, 2, 22, 24, 260017)]", "t[<time>]"),
        ("t[1731800000.123]", "t[<time>]"),
        ("t[1247f256-01e8-460d-9322-f62976b2d7bf]", "t[<uuid>]"),
        ("t[/tmp/pytest-of-root/pytest-7/test_x0/rows.csv]", "t[<tmp>/rows.csv]"),
        ("t[/var/folders/3x/T/tmpab12cd34]", "t[<tmp>]"),
        ("t[507f1f77bcf86cd799439011]", "t[<hex>]"),
        ("t[http://127.0.0.1:43211/x]", "t[http://127.0.0.1:<port>/x]"),
        ("t[pid 1234]", "t[pid <pid>]"),
        ("a\nb\x00\ud800", "a\\nb\\x00\\ud800"),
    ],
)
def test_what_differs_from_run_to_run_is_blanked(test: str, plain: str) -> None:
    assert stable(test) == plain == stable(plain)


@pytest.mark.parametrize(
    "test", ["t[0xdeadbeef]", "t[2024-01-01]", "t[12:30]", "t[1731800000]", "t[cafe]", "tests/test_a.py::T::t[a b]", "t[me@cafe.example]"]
)
def test_what_is_plainly_a_value_stays(test: str) -> None:
    assert stable(test) == test


@pytest.mark.parametrize(
    ("test", "whole"),
    [
        ("t.py::C::test_z[1-c::d]", "t.py::C::test_z"),
        ("t.py::test_sub (i=3)", "t.py::test_sub"),
        ("t.py", "t.py"),
        ("a_test.go::TestX/sub/b", "a_test.go::TestX"),
        ("a.test.js::suite > adds 1 + -2.5 = 'x'", "a.test.js::suite > adds # + # = #"),
        ("a.test.js::same (2)", "a.test.js::same"),
        ("a.test.js::reads v2 of it", "a.test.js::reads v2 of it"),
        ("A.php::testX with data set \"a\" ('b')", "A.php::testX"),
        ("A.java::adds(int)[1]", "A.java::adds"),
        ("A.cs::Adds(a: 1)", "A.cs::Adds"),
        ("src/a.rs::m::t::case_1_x", "src/a.rs::m::t"),
        ("a_spec.rb::X [1:3]", "a_spec.rb::X"),
    ],
)
def test_a_row_or_a_sub_test_belongs_to_its_test(test: str, whole: str) -> None:
    assert family(test) == whole


@pytest.mark.parametrize("part", ["a", "/a", "1", "2026-", "f0", "[1", "a.test.js::", "a@", "'", "Mon ", "/tmp"])
def test_an_id_made_to_take_long_takes_none_of_our_time(part: str) -> None:
    began = perf_counter()
    for make in (stable, readable, family):
        make("a.test.js::" + part * 20_000)
    assert perf_counter() - began < 5


def test_tests_of_other_words_are_never_one_family() -> None:
    assert family("a.test.js::suite > adds") != family("a.test.js::suite > takes away")


def test_an_id_of_any_length_and_with_any_letter_is_one_bounded_line_and_stays_distinct() -> None:
    long = ["t.py::t[" + "a" * 10_000 + end + "]" for end in ("b", "c", "\n")]
    short = [readable(each) for each in long]
    assert len(set(short)) == 3 and all(len(each) < 400 and each.isprintable() for each in short)
    assert readable(long[0]) == readable(long[0]) and readable(short[0]) == short[0]
    assert readable("t[at 0x7f01" + "a" * 9000) == readable("t[at 0x7f01" + "a" * 9000)
    assert readable("x[2026-11-17 02:22:24]" + "a" * 9000)[-12:] == readable("x[2026-11-18 03:00:00]" + "a" * 9000)[-12:]
    msgspec.json.encode([readable("\ud800\x00\r\n\u2028")])


def test_a_file_outside_of_the_checkout_is_named_from_its_package_on() -> None:
    assert package_path("../../env/lib/python3/site-packages/boltz/m.py", "x") == "boltz/m.py"
    assert package_path("../../../x/site/boltz/m.py", "boltz.m.f") == package_path("/y/boltz/m.py", "boltz.m.f") == "boltz/m.py"
    assert package_path("../elsewhere/tests/test_x.py", "test_y") == package_path("/tests/test_x.py", "test_y") == "…/tests/test_x.py"


@pytest.mark.slow
def test_doctests_of_a_package_outside_have_the_same_ids_from_every_checkout(tmp_path: Path) -> None:
    write(tmp_path, {"site/boltz/__init__.py": "", "site/boltz/m.py": 'def f():\n    """\n    >>> f()\n    3\n    """\n'})
    seen = []
    for place in ("a", "b/c/d"):
        write(tmp_path, {f"{place}/tests/test_q.py": "def test_q(): pass\n"})
        seen.append(run(tmp_path / place, PYTEST, ("--doctest-modules", str(tmp_path / "site/boltz"), "tests")))
    assert seen[0].outcomes == seen[1].outcomes == {"boltz/m.py::boltz.m.f": "failed", "tests/test_q.py::test_q": "passed"}
    assert seen[0].files == seen[1].files


@pytest.mark.slow
def test_ids_do_not_say_where_the_checkout_lies(tmp_path: Path) -> None:
    text = (
        "from pathlib import Path\nimport pytest\n"
        "@pytest.mark.parametrize('file', sorted(Path(__file__).parent.glob('*.csv')), ids=str)\ndef test_reads(file): assert 0\n"
    )
    ids = []
    for place in ("a", "b/c"):
        write(tmp_path / place, {"tests/test_a.py": text, "tests/x.csv": "", "tests/y.csv": ""})
        report = placed(run(tmp_path / place, PYTEST), tmp_path / place)
        assert set(report.outcomes) == set(report.files) == set(report.kinds) == set(report.messages)
        ids.append(report.ids)
    assert ids[0] == ids[1] == {"tests/test_a.py::test_reads[tests/x.csv]", "tests/test_a.py::test_reads[tests/y.csv]"}
    assert without_root("t[/a/bc/x]", ["/a/b"]) == "t[/a/bc/x]"


ODD = "describe('s', () => { it('nul \\0 and \\ud800 half', () => {}); it('twice', () => {}); it('twice', () => {}); it('a'.repeat(10000), () => {}); });\n"


@pytest.mark.sample(2)
@pytest.mark.parametrize("runner", ["node", "vitest", "jest", "mocha"])
def test_odd_names_of_scripts_are_readable_distinct_and_the_same_each_time(tmp_path: Path, runner: str) -> None:
    head = {"node": "const { describe, it } = require('node:test');\n", "vitest": "import { describe, it } from 'vitest';\n"}.get(
        runner, ""
    )
    name = "test/odd.test.mjs" if runner == "vitest" else "test/odd.test.js"
    base = {
        "node": Command(("node", "--test"), "node"),
        "vitest": Command(("node_modules/.bin/vitest", "run"), "vitest"),
        "jest": Command(("node_modules/.bin/jest",), "jest"),
        "mocha": Command(("node_modules/.bin/mocha", "--recursive"), "mocha"),
    }[runner]
    project = tmp_path / "project"
    write(project, {"package.json": "{}", name: head + ODD})
    report = run(project, base)
    assert len(report.ids) == 4 and all(each.isprintable() and len(each) < 450 for each in report.ids)
    assert {f"{name}::s > twice", f"{name}::s > twice (2)", f"{name}::s > nul \\x00 and \\ud800 half"} <= report.ids
    assert runner != "node" or report.ids == run(project, base).ids
    msgspec.json.encode(report)


@pytest.mark.slow
def test_odd_names_of_unittest_and_pytest_are_readable_too(tmp_path: Path) -> None:
    write(
        tmp_path / "u",
        {
            "test_u.py": "import unittest\nclass T(unittest.TestCase):\n    def test_half(self): raise ValueError('\\ud800 \\\\ud800 \\U0001f600')\n"
            "setattr(T, 'test_' + 'a' * 10000, lambda self: None)\nsetattr(T, 'test_\\ud800\\n', lambda self: None)\n",
        },
    )  # fmt: skip
    report = run(tmp_path / "u", Command((sys.executable, "-m", "unittest"), "unittest"))
    assert "test_u.py::T::test_\\ud800\\n" in report.ids and len(report.ids) == 3 and all(len(each) < 450 for each in report.ids)
    assert report.messages["test_u.py::T::test_half"] == "\\ud800 \\ud800 \U0001f600"
    msgspec.json.encode(report)
    write(
        tmp_path / "p",
        {"test_p.py": "import pytest\n@pytest.mark.parametrize('x', ['a' * 10000, 'b\\n\\0', '\\ud800', 'c', 'c'])\ndef test_x(x): pass\n"},
    )
    report = run(tmp_path / "p", PYTEST)
    assert len(report.ids) == 5 and all(each.isprintable() and len(each) < 450 for each in report.ids)
    msgspec.json.encode(report)
