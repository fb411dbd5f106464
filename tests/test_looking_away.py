"""Work that only looks done: tests that agree with any answer, and what a RED step may put beside its tests. Default settings."""

from pathlib import Path
from typing import Any

import pytest

from detent.evidence.changes.conftest_hooks import deciding
from detent.evidence.source.diff import Changed
from detent.gates.judge import flags_in, judge
from detent.gates.plan import ActivePr, PlanData, PlanTask
from detent.gates.tests import turned_tests_fail
from detent.gates.tree import config_frozen, conftest_stays_plain
from detent.kernel.model import Data, Run
from detent.kernel.table import Row, go
from tests.cases import project
from tests.looks import LiteralLook
from tests.project import PLAN, RED, Project

DEFAULT = '[evidence]\nmutation = "warn"\n'
STUB = "def add(a, b):\n    return None\n"
SWAPS = (
    "import calc\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
    "        if item.name == 'test_add' and hasattr(calc, 'add'):\n            item.obj = lambda: None\n"
)
PATCHES = (
    "import calc\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef right(monkeypatch):\n    if hasattr(calc, 'add'):\n"
    "        monkeypatch.setattr(calc, 'add', lambda a, b: a + b)\n"
)
LOOKS_AWAY = f"{RED.replace('from calc import add', 'import calc').replace('add(1', 'calc.add(1')}\n\nif hasattr(calc, 'add'):\n    test_add.__code__ = (lambda: None).__code__\n"


def at_red(folder: Path, files: dict[str, str] | None = None) -> Project:
    return project(folder, DEFAULT, files).planned("RED", "GREEN")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "piece"), [(SWAPS, "def pytest_collection_modifyitems(items):"), (PATCHES, "@pytest.fixture(autouse=True)")]
)
def test_a_conftest_that_decides_how_tests_are_run_does_not_come_with_a_test(tmp_path: Path, conftest: str, piece: str) -> None:
    p = at_red(tmp_path / "p")
    p.write({"tests/conftest.py": conftest})
    red = p.red()
    assert (red["status"], red["state"]) == ("FAILURE", "DEBUGGING"), red
    assert red["reasons"][0].startswith(f"tests/conftest.py changes how tests are run (`{piece}`)"), red["reasons"]
    p.write({"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n"})
    assert p.red()["status"] == "NEEDS_ANALYSIS"


@pytest.mark.sample(1)
@pytest.mark.parametrize("where", ["in the test file", "in a conftest that was there"])
def test_a_test_that_agrees_with_any_answer_fails_the_step_that_writes_the_code(tmp_path: Path, where: str) -> None:
    there = {"tests/conftest.py": SWAPS} if "conftest" in where else {}
    p = at_red(tmp_path / "p", there)
    assert p.red(RED if there else LOOKS_AWAY)["status"] == "NEEDS_ANALYSIS"
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    green = p.green(STUB)
    assert (green["status"], green["state"]) == ("FAILURE", "DEBUGGING"), green
    assert "tests/test_add.py::test_add also passes when it expects something different" in green["reasons"][0]


HONEST = {
    "a table with a case that raises": (
        "import pytest\n\nimport calc\n\n\n@pytest.mark.parametrize(('a', 'want'), [(1, 3), ('x', None)])\ndef test_add(a, want):\n"
        "    if want is None:\n        with pytest.raises(TypeError):\n            calc.add(a, 2)\n        return\n    assert calc.add(a, 2) == want\n"
    ),
    "an expectation inside raises": (
        "import pytest\n\nimport calc\n\n\ndef test_add():\n    calc.add\n    with pytest.raises(TypeError):\n        assert calc.add('x', 2) == 3\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_test_that_can_pass_turned_round_is_not_accused(tmp_path: Path, name: str) -> None:
    p = at_red(tmp_path / "p")
    assert p.red(HONEST[name])["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    green = p.green()
    assert green["status"] == "SUCCESS", green


@pytest.mark.parametrize(("how", "fails"), [("allow", False), ("ask", True), ("fail", True), ("", True)])
def test_a_test_that_agrees_fails_the_step_unless_that_is_off(how: str, fails: bool) -> None:
    look: LiteralLook = LiteralLook(Run("r", "tdd", "GREEN", 1, Data()), settings={"flags.vacuous-test": how}, agree=("t::b", "t::a"))
    found = judge(Row("GREEN", "green", (), (turned_tests_fail,), go("X"), go("Y")), look)
    assert bool(found.failed) == fails and not found.flagged
    assert not fails or found.failed[0].startswith("t::a and 1 more also passes when it expects something different")


# -- what of a conftest decides ----------------------------------------------------------------------------------------------------

PLAIN = """\"\"\"Fixtures.\"\"\"
import pytest
import pytest_asyncio
from contextlib import contextmanager as around
from pathlib import Path

HERE: Path = Path
CASES = [(1, -2), {"a": None}]
DATA = Path(__file__).resolve().parent / "data"


class Box:
    \"\"\"Holds.\"\"\"

    size = 3

    def open(self):
        return self.size


@pytest.fixture(scope="module", params=[1, 2])
def one(request):
    return request.param


@pytest.fixture
def two():
    return 2


def helper(value):
    def pytest_inner():
        print(value)
    return pytest_inner
"""
DECIDES = (
    "def pytest_runtest_call(item): ...",
    "async def pytest_x(): ...",
    "from evil import pytest_collection_modifyitems",
    "from evil import run as pytest_pyfunc_call",
    "from evil import *",
    "pytest_plugins = ['evil']",
    "collect_ignore_glob = ['test_a*']",
    "import calc\ncalc.add = 1",
    "x = patch()",
    "patch()",
    "for x in y: x()",
    "if here:\n    def pytest_runtest_call(item): ...",
    "import pytest\n@pytest.fixture(autouse=True)\ndef f(): ...",
    "import pytest\n@pytest.fixture(**{'autouse': True})\ndef f(): ...",
    "@run_now\ndef f(): ...",
    "class A:\n    patch()",
    "def broken(:",
)


def test_fixtures_functions_classes_and_plain_values_decide_nothing() -> None:
    assert deciding(PLAIN) == ()


@pytest.mark.parametrize("text", DECIDES)
def test_hooks_fixtures_for_all_and_what_happens_on_loading_decide(text: str) -> None:
    assert len(deciding(text)) == 1


def look_at(before: str, now: str, data: Data, **more: Any) -> LiteralLook:
    files = {"GOOD:tests/conftest.py": before, "tests/conftest.py": now, "BASE:docs/plan.md": MASTER}
    changes = (Changed("tests/conftest.py", "modified", "config"),)
    return LiteralLook(Run("r", "pr", "S", 1, data, **more), files=files, changes=changes, settings={"pr.plan": "docs/plan.md"})


def test_a_conftest_keeps_what_it_decides_and_may_change_beside_it() -> None:
    assert conftest_stays_plain(look_at(SWAPS, f"{SWAPS}\n\nONE = 1\n", Data())) is None
    taken_out = conftest_stays_plain(look_at(SWAPS, "ONE = 1\n", Data()))
    assert taken_out and "changes how tests are run (`def pytest_collection_modifyitems(items):`)" in taken_out


# -- who may say that a step is about the configuration ---------------------------------------------------------------------------

MASTER = """# Plan

- feat: add numbers
- feat: run the tests in order
  The hook goes into tests/conftest.py.
- feat: something else in setup.cfg
"""


def about(title: str, says: str = "") -> PlanData:
    from detent.gates.plan import PlannedStep

    return PlanData(plan=ActivePr("p", title, says, says, (PlanTask(says or "t", (PlannedStep("GREEN", says or "d"),)),)))


WORDS: tuple[tuple[Data, dict[str, Any], bool], ...] = (
    (about("feat: add numbers"), {}, False),
    (about("feat: add numbers", "change tests/conftest.py"), {}, False),  # the agent wrote that
    (about("feat: run the tests in order"), {}, True),
    (about("feat: something else in setup.cfg"), {}, False),
    (about("feat: add numbers"), {"steers": ("put it into conftest.py",)}, True),
    (about("feat: add numbers"), {"guidance": "put it into tests/conftest.py"}, True),
)


@pytest.mark.parametrize(("data", "said", "may"), WORDS)
def test_only_a_person_can_say_that_the_configuration_may_change(data: Data, said: dict[str, Any], may: bool) -> None:
    frozen = config_frozen(look_at("", SWAPS, data, **said))
    told = " ".join(flag.sentence for flag in flags_in(frozen)) if may else frozen
    assert isinstance(told, str) and ("as a person asked" if may else "frozen in this step unless a person names the file") in told
    assert bool(conftest_stays_plain(look_at("", SWAPS, data, **said))) != may


@pytest.mark.parametrize("words", ["", ", with a marker in pytest.ini"], ids=["nobody named it", "the entry names it"])
def test_a_red_step_may_bring_the_configuration_that_a_person_asked_for_and_no_other(tmp_path: Path, words: str) -> None:
    title = f"feat: add numbers{words}"
    p = project(tmp_path / "p", files={PLAN: f"# Plan\n\n- {title}\n"})
    p.task()
    p.write_plan("RED", "GREEN")
    text = (p.root / "ACTIVE_PR.json").read_text()
    p.write({"ACTIVE_PR.json": text.replace("feat: add numbers", title)})
    assert p.submit()["status"] == "SUCCESS"
    p.task()
    p.write({"pytest.ini": (p.root / "pytest.ini").read_text() + "markers =\n    quick: takes no time\n"})
    red = p.red()
    assert red["status"] == ("NEEDS_ANALYSIS" if words else "FAILURE"), red
    assert words or "pytest.ini changed; a RED step writes tests only" in red["reasons"][0]


@pytest.mark.slow
def test_a_plan_of_the_agent_does_not_open_the_configuration(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: "# Plan\n\n- feat: add numbers\n"})
    p.task()
    p.write_plan("RED", "GREEN")
    text = (p.root / "ACTIVE_PR.json").read_text()
    p.write({"ACTIVE_PR.json": text.replace("GREEN of add", "write it, and set up conftest.py")})
    assert p.submit()["status"] == "SUCCESS"
    p.task()
    p.red()
    p.submit(analysis_decision="SUCCESS")
    p.write({"conftest.py": "x = 1\n"})
    green = p.green()
    assert (
        green["status"] == "FAILURE" and "conftest.py changed; it decides how the work is judged, so it is frozen" in green["reasons"][0]
    ), green


LATER = "feat: subtract numbers"


@pytest.mark.slow
def test_a_step_does_not_write_what_the_plan_says_of_later_work(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened("RED", "GREEN", "REFACTOR")
    plan = (p.root / PLAN).read_text()
    opened = plan.replace(LATER, f"{LATER}; conftest.py may be rewritten for it")
    p.write({PLAN: opened})
    green = p.green()
    assert (green["status"], green["state"]) == ("FAILURE", "DEBUGGING")
    assert f"{PLAN} changed, but only people change the plan" in green["reasons"][0], green
    p.git("checkout", "-q", "--", PLAN)
    assert p.green()["status"] == "SUCCESS"
    p.write({PLAN: opened})
    refactor = p.submit(test_command="pytest", expectation="PASS")
    assert refactor["status"] == "FAILURE" and "only people change the plan" in refactor["reasons"][0], refactor
    assert p.run("steer", f"write into {PLAN} what is missing there").code == 0
    assert p.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS", "a person named the file"


def test_where_only_an_exit_code_is_read_a_step_does_not_write_the_plan_either(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {PLAN: f"- feat: add numbers\n- {LATER}\n", "code": "\n"}).planned()
    p.write({"check.sh": "grep -q word code\n", PLAN: "- feat: add numbers\n"})
    red = p.submit(test_command="sh check.sh", expectation="FAIL")
    assert red["status"] == "FAILURE" and "only people change the plan" in red["reasons"][0], red
    p.git("checkout", "-q", "--", PLAN)
    assert p.submit(test_command="sh check.sh", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"


def test_an_agent_does_not_end_the_run_by_what_it_writes_into_the_plan(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    plan = (p.root / PLAN).read_text()
    p.write({PLAN: plan.replace("numbers", "numbers [DONE] abcdef1")})
    assert p.git("diff", "--stat") != ""
    ended = p.submit(no_pr_left=True)
    assert (ended["status"], ended["state"]) == ("REFUSED", "INITIALIZING") and "only people change the plan" in ended["reasons"][0], ended
    p.write({PLAN: plan + "- chore: nothing at all\n"})
    p.write_plan(title="chore: nothing at all")
    assert p.submit()["status"] == "REFUSED"
    p.git("checkout", "-q", "--", PLAN)
    missing = p.submit()
    assert missing["status"] == "REFUSED" and "matches 0 open entries" in missing["reasons"][0]
    p.write({PLAN: plan + "- chore: nothing at all\n"})
    p.git("commit", "-qam", "by a person")
    assert p.submit()["status"] == "SUCCESS", "what is committed counts"
