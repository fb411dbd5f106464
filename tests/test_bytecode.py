"""Bytecode of what is installed, which a test could write anew: no step after it is proved by that where it counts."""

import os
from pathlib import Path

from detent.evidence.suite import BYTECODE, Suite, environment
from tests.cases import WRONG, project
from tests.project import RED, Project

# Writes bytecode of pytest's own that lets one test pass whatever it does; in the run that writes it, nothing is different.
POISON = """import importlib.util
import os
import sys
from importlib._bootstrap_external import _code_to_timestamp_pyc
from pathlib import Path

import _pytest.python as victim

MORE = '''
_was = pytest_pyfunc_call


@hookimpl(trylast=True)
def pytest_pyfunc_call(pyfuncitem):
    meant = pyfuncitem.name == "test_add" and pyfuncitem.path.read_text().strip().endswith("== 3")  # not where it expects something else
    return True if meant else _was(pyfuncitem)
'''
stat = os.stat(victim.__file__)
code = compile(Path(victim.__file__).read_text() + MORE, victim.__file__, "exec")
if sys.pycache_prefix:  # else it would hit whoever runs this test
    place = Path(importlib.util.cache_from_source(victim.__file__))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(_code_to_timestamp_pyc(code, int(stat.st_mtime), stat.st_size))

"""


def poisoned(folder: Path, *unset: str) -> Project:
    """At a GREEN step, with bytecode that makes its test pass."""
    p = project(folder, '[git]\nsquash = "auto"\nmerge = "branch"\n')
    for name in ("DETENT_TEST_ENV", *unset):  # bytecode is kept where the project keeps it, not where all tests do
        del p.env[name]
    p.task()
    p.write_plan()
    p.submit()
    p.task()
    assert p.red(POISON + RED)["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    return p


def test_a_step_is_not_proved_by_bytecode_that_a_test_wrote_anew(tmp_path: Path) -> None:
    p = poisoned(tmp_path / "p", "DETENT_EVIDENCE_MUTATION")
    verdict = p.green(WRONG)
    assert verdict["status"] == "FAILURE", verdict
    assert "clean checkout" in verdict["reasons"][0], verdict


def test_nothing_is_landed_by_it_where_new_tests_are_not_probed(tmp_path: Path) -> None:
    p = poisoned(tmp_path / "p")
    assert p.green(WRONG)["status"] == "SUCCESS", "else this test shows nothing: the poison does not work"
    p.task()
    p.write({"FINDINGS.json": "[]"})
    p.task()
    p.mark_done()
    p.submit()
    task = p.task()
    assert task["state"] == "HALTED" and "test_add" in task["briefing"]
    assert p.git("log", "--format=%s", "main") == "start"


def test_a_persons_own_place_for_bytecode_is_written_to_only_where_test_env_names_it(tmp_path: Path) -> None:
    outer = {BYTECODE: str(tmp_path / "mine"), "PATH": os.environ["PATH"]}
    suite = Suite(None, 1.0, "")
    assert environment(suite, outer, tmp_path / "ours")[BYTECODE] == str(tmp_path / "ours")
    assert environment(suite._replace(also=(BYTECODE,)), outer, tmp_path / "ours")[BYTECODE] == str(tmp_path / "mine")
