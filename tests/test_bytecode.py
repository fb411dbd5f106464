"""Bytecode of what is installed, which a test could write anew: no step after it is proved by that where it counts."""

import fcntl
import os
import sys
import threading
from pathlib import Path

import pytest

from detent.evidence.running.installed import Bytecode
from detent.evidence.running.suite import BYTECODE, Suite, environment
from tests.cases import WRONG
from tests.patience import LONG
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


def poisoned(folder: Path, keep: bool = False) -> Project:
    """At a GREEN step, with bytecode that makes its test pass where it is read: that which tests write is kept, or Detent's own."""
    p = Project(folder)
    if keep:
        p.env["PYTHONPYCACHEPREFIX"] = str(folder.parent / "bytecode")
    else:  # bytecode is kept as Detent does, not where all tests do
        del p.env["DETENT_TEST_ENV"]
    p.task()
    p.write_plan()
    p.submit()
    p.task()
    assert p.red(POISON + RED)["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    return p


@pytest.mark.slow
@pytest.mark.parametrize("level", ["none", pytest.param("auto", marks=pytest.mark.needs("namespaces"))])
def test_a_step_is_not_proved_by_bytecode_that_a_test_wrote_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    monkeypatch.setenv("DETENT_SANDBOX_PULL", level)
    verdict = poisoned(tmp_path / "p").green(WRONG)
    assert verdict["status"] == "FAILURE" and "still fails" in verdict["reasons"][0], verdict


@pytest.mark.slow
def test_bytecode_that_somebody_touched_is_made_anew(tmp_path: Path) -> None:
    def kept() -> bytes:
        return next(Path(os.environ["XDG_STATE_HOME"]).rglob("_pytest/python.*.pyc")).read_bytes()

    p = poisoned(tmp_path / "p")
    assert b"meant" in kept(), "without a sandbox a test can write it"
    assert p.green()["status"] == "SUCCESS" and b"meant" not in kept()


@pytest.mark.slow
def test_the_poison_is_a_real_one(tmp_path: Path) -> None:
    assert poisoned(tmp_path / "p", keep=True).green(WRONG)["status"] == "SUCCESS", "where a person has tests write it, it counts"


def test_a_persons_own_place_for_bytecode_is_written_to_only_where_test_env_names_it(tmp_path: Path) -> None:
    outer = {BYTECODE: str(tmp_path / "mine"), "PATH": os.environ["PATH"]}
    suite = Suite(None, 1.0, "")
    assert environment(suite, outer, tmp_path / "ours")[BYTECODE] == str(tmp_path / "ours")
    assert environment(suite._replace(also=(BYTECODE,)), outer, tmp_path / "ours")[BYTECODE] == str(tmp_path / "mine")


def test_runs_that_begin_together_make_it_one_after_the_other(tmp_path: Path) -> None:
    project, source, scratch = tmp_path / "project", tmp_path / "installed" / "module.py", tmp_path / "scratch"
    project.mkdir()
    source.parent.mkdir()
    source.write_text("ONE = 1\n")
    written = scratch / str(source.parent).lstrip("/") / f"module.{sys.implementation.cache_tag}.pyc"
    written.parent.mkdir(parents=True)
    written.touch()
    kept = Bytecode(project, "k" * 64, Path(sys.executable))
    lock = kept.folder.parent.with_name(f"{kept.folder.parent.name}.lock")
    lock.parent.mkdir(parents=True)
    other = threading.Thread(target=kept.fill, args=(scratch, project))
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # another run makes it
        other.start()
        other.join(1)
        assert other.is_alive() and not kept.folder.exists()
    other.join(LONG)
    assert kept.holds() and [path.name for path in kept.folder.rglob("*.pyc")] == [written.name]
