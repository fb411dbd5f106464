"""Tests that misbehave, and projects that are laid out oddly, through RED and GREEN. Each has its sentence, and no attempt is lost to the machine's own trouble."""

import time
from pathlib import Path

import pytest

from tests.project import INI, PLAN, Project
from tests.test_check import PROVED as CHECKED
from tests.test_check import Branch
from tests.test_honest_classes import PY, Change, lay, plays

OLD = PY["tests/test_calc.py"]
ODD = "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
HALF = {"calc.py": "def half(n):\n    return n / 2\n"}
GONE_ON_IMPORT = (
    "from pathlib import Path\n\nfrom calc import half\n\nPath(__file__).unlink()\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
)
CHILD = (
    "import subprocess\nimport sys\n\nfrom calc import half\n\n\ndef test_odd():\n"
    "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n    assert half(3) == 1.5\n"
)

FINE: dict[str, Change] = {
    "a test that changes the working directory": Change(
        PY, {"tests/test_odd.py": f"import os\n\n{ODD}    os.chdir('/')\n".replace("    assert", "    os.chdir('/')\n    assert", 1)}, HALF
    ),
    "a test that starts a program that goes on": Change(PY, {"tests/test_odd.py": CHILD}, HALF),
    "a test that prints a million lines": Change(
        PY, {"tests/test_odd.py": ODD.replace("    assert", "    print('line\\n' * 1_000_000)\n    assert")}, HALF
    ),
    "two tests of one name in one file": Change(PY, {"tests/test_odd.py": f"{ODD}\n\ndef test_odd():\n    assert half(5) == 2.5\n"}, HALF),
    "a suite that is empty before": Change(
        {"pytest.ini": INI, "calc.py": PY["calc.py"], "tests/__init__.py": ""}, {"tests/test_odd.py": ODD}, HALF
    ),
    "an older test file that gets another name": Change(PY, {"tests/test_calc.py": "", "tests/test_halves.py": OLD, "tests/test_odd.py": ODD}, HALF),
    "an older test that moves to another file": Change(
        {**PY, "tests/test_more.py": f"{OLD}\n\ndef test_none():\n    assert half(0) == 0\n".replace("test_half", "test_eight").replace("4) == 2", "8) == 4")},
        {
            "tests/test_more.py": "from calc import half\n\n\ndef test_none():\n    assert half(0) == 0\n",
            "tests/test_odd.py": f"{ODD}\n\ndef test_eight():\n    assert half(8) == 4\n",
        },
        HALF,
    ),
    "tests that are generated": Change(
        PY,
        {
            "tests/test_odd.py": "from calc import half\n\n\ndef made(n):\n    def test():\n        assert half(n) == n / 2\n\n    return test\n\n\n"
            "for n in range(300):\n    globals()[f'test_{n}'] = made(n)\n"
        },
        HALF,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FINE)
def test_odd_tests_that_prove_something_are_taken(tmp_path: Path, name: str) -> None:
    plays(tmp_path, FINE[name])


@pytest.mark.slow
def test_a_folder_of_tests_that_is_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {PLAN: "# Plan\n\n- feat: add numbers\n", ".gitignore": "__pycache__/\n", **PY})
    p.git("mv", "tests", "checks")
    (p.root / "tests").symlink_to("checks")
    p.git("add", "-A")
    p.git("commit", "-qm", "tests are a link")
    p.planned()
    lay(p, {"checks/test_odd.py": ODD})
    red = p.submit(test_command="pytest tests", expectation="FAIL")
    assert red["status"] == "NEEDS_ANALYSIS", red["reasons"]
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    lay(p, HALF)
    assert p.submit(test_command="pytest tests", expectation="PASS")["status"] == "SUCCESS"


@pytest.mark.slow
def test_a_test_that_hangs_is_told_with_the_setting_and_ends_in_time(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {PLAN: "# Plan\n\n- feat: add numbers\n", ".gitignore": "__pycache__/\n", **PY})
    p.env["DETENT_BASH_TIMEOUT"] = "20"
    p.planned()
    lay(p, {"tests/test_odd.py": "import time\n\n\ndef test_odd():\n    time.sleep(3000)\n"})
    began = time.monotonic()
    red = p.submit(test_command="pytest tests/test_odd.py", expectation="FAIL")
    assert red["status"] == "FAILURE" and any("took longer than 20 s (`test.timeout`)" in reason for reason in red["reasons"]), red
    assert time.monotonic() - began < 1500


def test_a_test_file_that_deletes_itself_costs_no_attempt_and_is_named(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {PLAN: "# Plan\n\n- feat: add numbers\n", ".gitignore": "__pycache__/\n", **PY})
    p.planned()
    lay(p, {"tests/test_odd.py": GONE_ON_IMPORT})
    red = p.submit(test_command="pytest tests/test_odd.py", expectation="FAIL")
    assert red["status"] == "ERROR" and any("tests/test_odd.py" in reason for reason in red["reasons"]), red
    assert p.state["debug_attempt_counter"] == 0


@pytest.mark.slow
def test_a_folder_of_tests_that_becomes_a_link_is_judged_by_the_files_behind_it(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p")
    p.git("mv", "tests", "checks")
    (p.root / "tests").symlink_to("checks")
    p.commit({"calc.py": CHECKED["calc.py"], "checks/test_odd.py": CHECKED["tests/test_odd.py"]})
    found = p.run("check", "--json").json
    assert found["answer"] == "flagged" and [flag["kind"] for flag in found["flags"]] == ["shadow"], found
    assert any("test_odd" in each for each in found["proved"]), found
