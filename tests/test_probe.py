"""Tests that prove nothing, configuration that decides how tests are run, and files that no tree has: what a step says of them."""

from pathlib import Path
from typing import Any, Literal, cast

import pytest

from detent.config import Settings
from detent.config.settings import EvidenceSettings
from detent.evidence.look import Probed
from detent.evidence.looks import repo_look as eyes
from detent.evidence.mutate import spots_on
from detent.evidence.probes.mutant_order import changed_lines
from detent.evidence.source.diff import Changed
from detent.gates.judge import flags_in, judge
from detent.gates.testlist import CurrentTest, ListData
from detent.gates.tests import new_tests_kill_mutants, refactoring_is_tested
from detent.gates.tree import config_flagged, config_frozen
from detent.kernel.model import Data, Run
from detent.kernel.table import Row, go
from tests.feature import ADD, FILES, GREEN, RED, Feature, at, flagged
from tests.looks import LiteralLook

# -- mutants of some lines -------------------------------------------------------------------------------------------------------

LINES: tuple[tuple[str, str, set[int], list[str]], ...] = (
    ("a.py", "x = 1\ny = 2\n", {2}, ["x = 1\ny = 3\n"]),
    ("a.py", "def f(a):\n    return [\n        a,\n    ]\n", {3}, ["def f(a):\n    return None and ([\n        a,\n    ])\n"]),
    ("a.js", "f(a == b);\nf(a < b);\n", {2}, ["f(a == b);\nf(a >= b);\n"]),
    ("a.go", "if a == b && c {\n\treturn 1 // a == b\n}\n", {1}, ["if a != b && c {\n\treturn 1 // a == b\n}\n", "if a == b || c {\n\treturn 1 // a == b\n}\n"]),
    ("a.go", 'return "1 + 1" + name\n', {1}, []),
    ("a.rs", "f<'a>(x: &'a V<u8>) { x.n() > 3 }\n", {1}, ["f<'a>(x: &'a V<u8>) { x.n() <= 3 }\n", "f<'a>(x: &'a V<u8>) { x.n() > 4 }\n"]),
    ("a.rb", "a = b + c # 1 + 1\n", {1}, ["a = b - c # 1 + 1\n"]),
    ("a.rb", "p 'x == y' if a and true\n", {1}, ["p 'x == y' if a or true\n", "p 'x == y' if a and false\n"]),
    ("a.php", "<?php return $a2 - 1; # 2\n", {1}, ["<?php return $a2 + 1; # 2\n", "<?php return $a2 - 2; # 2\n"]),
    ("a.java", "/* 1 < 2 */ List<String> l = x < y ? null : 'c';\n", {1}, ["/* 1 < 2 */ List<String> l = x >= y ? null : 'c';\n"]),
    ("a.c", "int *p = &q; return a * b;\n", {1}, ["int *p = &q; return a + b;\n"]),
    ("a.c", "return a * b;\n", {2}, []),
    ("a.txt", "1 + 1\n", {1}, []),
)  # fmt: skip


@pytest.mark.parametrize(("path", "text", "lines", "mutants"), LINES)
def test_only_the_lines_asked_for_are_mutated_and_no_comment_or_text(path: str, text: str, lines: set[int], mutants: list[str]) -> None:
    assert [spot.make() for spot in spots_on(path, text, lines)] == mutants


def test_the_lines_that_a_step_wrote_are_those_that_were_not_there() -> None:
    assert changed_lines("a\nb\nc\n", "a\nx\nc\nd\n") == {2, 4}
    assert changed_lines("", "a\nb\n") == {1, 2}
    assert changed_lines("a\nb\n", "a\n") == frozenset()
    assert changed_lines("a" * 300_000, "b" * 300_000) == frozenset()


WARN = '[evidence]\nmutation = "warn"\n'


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a probe finds is tested here, not how long someone waits for it: a busy machine changes no answer."""
    monkeypatch.setattr(eyes, "QUICK", 120.0)


def settings(how: str) -> dict[str, str]:
    """What [evidence] mutation says of its two kinds of flags."""
    return Settings(evidence=EvidenceSettings(mutation=cast(Literal["off", "warn", "require"], how))).flat()


def test_by_default_people_are_warned() -> None:
    assert Settings().evidence.mutation == "warn"
    levels = {how: (settings(how)["flags.vacuous-test"], settings(how)["flags.unnoticed"]) for how in ("off", "warn", "require")}
    assert levels == {"off": ("allow", "allow"), "warn": ("", ""), "require": ("fail", "fail")}


# -- what is made of a probe -----------------------------------------------------------------------------------------------------

PROBES: tuple[tuple[str, Probed, str, bool], ...] = (
    ("off", Probed(3, ("t::a",)), "", False),
    ("warn", Probed(3, ("t::a", "t::b")), "no small change to the code written for it makes t::b fail (3 tried)", False),
    ("require", Probed(3, ("t::a",)), "no small change to the code written for it makes t::a fail (3 tried) (vacuous-test)", True),
    ("require", Probed(1), "", False),
    ("warn", Probed(why="30 s were not enough"), "could not check whether the tests prove anything: 30 s were not enough", False),
    ("warn", Probed(apart=("t::a",)), "t::a passes here but not in a clean checkout", True),
    ("warn", Probed(), "", False),
)


@pytest.mark.parametrize(("how", "seen", "says", "fails"), PROBES)
def test_an_idle_test_is_flagged_or_fails_the_step_as_configured(how: str, seen: Probed, says: str, fails: bool) -> None:
    look: LiteralLook = LiteralLook(Run("r", "tdd", "GREEN", 1, Data()), settings=settings(how), probe=seen)
    found = judge(Row("GREEN", "green", (), (new_tests_kill_mutants,), go("X"), go("Y")), look)
    said = found.failed if fails else tuple(flag.sentence for flag in found.flagged)
    assert (says in " ".join(said)) and bool(said) == bool(says)
    assert not (found.flagged if fails else found.failed)
    assert len(found.flagged) == (len(seen.idle) or bool(says) if not fails and how != "off" else 0), "a flag for each test"
    assert {flag.level for flag in found.flagged} <= ({"note"} if seen.why else {"ask"})


def test_where_a_probe_is_required_not_to_know_is_an_answer_of_its_own() -> None:
    look: LiteralLook = LiteralLook(
        Run("r", "tdd", "GREEN", 1, Data()), settings=settings("require"), probe=Probed(why="30 s were not enough")
    )
    for gate in (new_tests_kill_mutants, refactoring_is_tested):
        found = judge(Row("GREEN", "green", (), (gate,), go("X"), go("Y")), look)
        assert (
            not found.failed
            and not found.flagged
            and "could not check whether the tests prove anything: 30 s were not enough" in found.unclear
        )


VACUOUS = "import calc\n\n\ndef test_add():\n    assert calc.add\n"


@pytest.mark.slow
def test_a_test_that_kills_no_mutant_is_reported_and_the_step_passes_by_default() -> None:
    f = at("RED", WARN)
    f.lay({"tests/test_add.py": VACUOUS}).submit()
    green = f.lay({"calc.py": GREEN}).submit()
    assert (green.status, green.state) == ("SUCCESS", "REFACTOR"), green
    flag = flagged(green, "vacuous-test", "no small change to the code written for it makes tests/test_add.py::test_add fail (3 tried)")
    assert (flag.place, flag.level, green.reasons) == ("tests/test_add.py::test_add", "ask", ())


@pytest.mark.slow
def test_a_test_that_bites_is_found_out_with_its_first_mutant_and_not_mentioned() -> None:
    f = at("GREEN", WARN)
    before = f.runs()
    green = f.lay({"calc.py": GREEN}).submit()
    assert (green.status, green.reasons, green.flags) == ("SUCCESS", (), ())
    assert f.runs() - before <= 4, "the suite, the new test's file in a clean checkout, turned round, and on one mutant"


@pytest.mark.slow
def test_where_it_is_required_such_a_test_fails_the_step(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", '[evidence]\nmutation = "require"\n').start()
    f.plan()
    f.lay({"tests/test_add.py": VACUOUS}).submit()
    green = f.lay({"calc.py": GREEN}).submit()
    says = "no small change to the code written for it makes tests/test_add.py::test_add fail"
    assert green.status == "FAILURE" and says in green.reasons[0], green


@pytest.mark.slow
def test_where_it_is_off_nothing_is_probed_and_code_without_mutants_is_said_to_be_so(tmp_path: Path) -> None:
    f = Feature(tmp_path / "off", '[evidence]\nmutation = "off"\n').start()
    f.plan()
    f.lay({"tests/test_add.py": VACUOUS}).submit()
    green = f.lay({"calc.py": GREEN}).submit()
    assert (green.status, green.reasons, green.flags) == ("SUCCESS", (), ())
    f = at("RED", WARN)
    f.lay({"tests/test_add.py": VACUOUS}).submit()
    green = f.lay({"calc.py": "class add:\n    pass\n"}).submit()
    assert flagged(green, "weak-evidence", "could not check whether the tests prove anything: no line of the code").level == "note"


# -- protected configuration -------------------------------------------------------------------------------------------------------


ABOUT: tuple[tuple[str, str, bool], ...] = (
    ("make it pass", "conftest.py", False),
    ("move the fixture into conftest.py", "conftest.py", True),
    ("move the fixture into conftest.py", "tests/conftest.py", True),
    ("move the fixture into tests/conftest.py.", "tests/conftest.py", True),
    ("move it into lib/conftest.py", "tests/conftest.py", False),
    ("move it into my-conftest.py", "conftest.py", False),
    ("make it pass", "tox.ini", False),
    ("CI: .github/workflows/ci.yml runs the tests", ".github/workflows/ci.yml", True),
)


@pytest.mark.parametrize(("request_", "path", "about"), ABOUT)
def test_configuration_is_frozen_while_code_is_written_unless_a_person_names_the_file(request_: str, path: str, about: bool) -> None:
    current = CurrentTest(f"adds, see {path}", "t.py", path)  # which the agent wrote
    run: Run[Any] = Run("r", "tdd", "GREEN", 1, ListData(current=current, feature_request=request_))
    said = config_frozen(LiteralLook(run, changes=(Changed(path, "modified", "config"), Changed("calc.py", "modified", "production"))))
    if about:
        assert [(flag.kind, flag.place, flag.level) for flag in flags_in(said)] == [("judged-by", path, "note")]
    else:
        assert isinstance(said, str) and path in said


def test_in_other_steps_such_a_change_is_shown() -> None:
    run: Run[Any] = Run("r", "pr", "RED", 1, Data())
    assert flags_in(config_flagged(LiteralLook(run, changes=(Changed("calc.py", "modified", "production"),)))) == ()
    (flag,) = flags_in(config_flagged(LiteralLook(run, changes=(Changed("tests/conftest.py", "added", "config"),))))
    assert (flag.kind, flag.sentence, flag.level) == ("judged-by", "tests/conftest.py changed; it decides how the work is judged", "ask")


@pytest.mark.slow
def test_a_real_step_shows_refuses_and_lets_through_what_it_must() -> None:
    f = at("RED")
    red = f.lay({"tests/test_add.py": RED, "tests/conftest.py": "ONE = 1\n"}).submit()
    assert red.status == "SUCCESS" and red.flags == (), "a conftest.py that decides nothing is part of the tests"
    for path in (".coveragerc", ".github/workflows/ci.yml", "codecov.yml"):
        green = f.lay({"calc.py": GREEN, path: "# easier\n"}).submit()
        assert green.status == "FAILURE" and f"{path} changed; it decides how the work is judged, so it is frozen" in green.reasons[0]
        if f.run.state == "HALTED":
            f.person("resume")


@pytest.mark.slow
def test_a_step_about_the_configuration_may_change_it(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p").start("measure branches, in setup.cfg")
    f.plan({**ADD, "implFile": "setup.cfg"})
    f.lay({"tests/test_add.py": "def test_add(pytestconfig):\n    assert open('setup.cfg').read()\n", "setup.cfg": ""}).submit()
    red = f.lay({"tests/test_add.py": "from pathlib import Path\n\n\ndef test_add():\n    assert Path('setup.cfg').exists()\n"})
    red.lay({"setup.cfg": None})
    assert red.submit().state == "GREEN"
    green = f.lay({"setup.cfg": "[coverage:run]\nbranch = true\n"}).submit()
    assert flagged(green, "judged-by", "setup.cfg changed, as a person asked").level == "note"


# -- the clean room ----------------------------------------------------------------------------------------------------------------

HIDDEN = {"calc.py": "from answers import add\n", "answers.py": GREEN}


@pytest.mark.slow
@pytest.mark.parametrize("clean", [True, False])
def test_in_a_clean_room_a_file_that_is_in_no_tree_makes_nothing_pass(clean: bool, tmp_path: Path) -> None:
    ignored = {**FILES, ".gitignore": "__pycache__/\n.venv/\nanswers.py\n"}
    f = Feature(tmp_path / "p", f"[evidence]\nclean = {str(clean).lower()}\n", ignored).start()
    f.plan()
    red = f.lay({"tests/test_add.py": RED}).submit()
    assert red.state == "GREEN" and red.evidence and red.evidence.canary == "held"
    green = f.lay(dict(HIDDEN)).submit()
    assert green.status == ("FAILURE" if clean else "SUCCESS"), green
    if clean:
        good = f.lay({"calc.py": GREEN}).submit()
        assert good.status == "SUCCESS", good
        assert f.git("status", "--porcelain") == ""
