"""The demo does what the README says, and leaves nothing behind."""

import tempfile
from pathlib import Path

import pytest

from tests.project import Project


def test_the_demo_goes_through_two_pull_requests_and_catches_what_it_should(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    before = set(Path(tempfile.gettempdir()).glob("detent-demo-*"))
    ran = project.run("demo", XDG_STATE_HOME=str(tmp_path / "state"))
    assert ran.code == 0, ran
    for said in (
        "REFUSED",
        "FAILURE",
        "findings (add does not say what it does)",
        "was deleted",
        "Merge branch 'feat/subtract-numbers'",
        "chain unbroken",
    ):
        assert said in ran.out
    assert ran.out.count("the machine: merged") == 2
    assert set(Path(tempfile.gettempdir()).glob("detent-demo-*")) == before
    assert not (tmp_path / "state").exists()


def test_a_demo_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = Project(tmp_path / "p").run("demo", "pipeline")
    assert ran.code == 2 and "no demo 'pipeline'" in ran.err


@pytest.mark.slow
def test_the_tdd_demo_builds_a_feature_test_by_test_and_catches_what_it_should(tmp_path: Path) -> None:
    """Four cycles from one command: two cheats and a test that passes at once are caught, and every phase has its commit and its note."""
    ran = Project(tmp_path / "p").run("demo", "tdd", XDG_STATE_HOME=str(tmp_path / "state"))
    assert ran.code == 0, ran
    said = ran.out
    assert "slugify/__init__.py changed; a RED step writes tests only" in said
    assert "tests/test_longest.py was modified; tests are frozen while the code is written" in said
    assert "passes already, so it proves nothing" in said
    assert "4 tests done, 0 open" in said and '"nextPhase": "COMPLETE"' in said
    prefixes = [
        line.split()[2] for line in said.splitlines() if line.startswith("  ") and len(line.split()) > 2 and line.split()[2].endswith(":")
    ]
    cycle = ["plan:", "test:", "feat:", "refactor:"]
    assert prefixes == [*cycle * 3, "plan:", "test:", "plan:"]
