"""`init` and `doctor` try the test command: what cannot work is told before the first step."""

import json
from pathlib import Path

import pytest

from tests.project import Project


def row(p: Project, name: str, **env: str) -> dict[str, object]:
    return next(c for c in p.run("doctor", "--json", **env).json["checks"] if c["name"] == name)


def test_the_doctor_runs_the_tests_and_says_how_many_pass(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    found = row(p, "tried")
    assert found["ok"] and str(found["says"]).startswith("1 pass, ")


@pytest.mark.slow
def test_failing_tests_and_a_failing_preflight_are_shown_with_the_way_on(tmp_path: Path) -> None:
    files = {"tests/test_a.py": "def test_a():\n    assert 1 == 2\n", "pytest.ini": "[pytest]\npythonpath = .\n"}
    p = Project(tmp_path / "p", {**files, "detent.toml": "[preflight]\ncommands = ['false']\n"})
    found = row(p, "tried")
    assert not found["ok"] and "1 fail (tests/test_a.py::test_a" in str(found["says"]) and "preflight fails: false" in str(found["says"])
    assert "--baseline" in str(found["fix"])


def test_a_command_that_cannot_run_is_told_with_what_helps(tmp_path: Path) -> None:
    p = Project(
        tmp_path / "p", {"tests/test_a.py": "def test_a():\n    pass\n", "detent.toml": "[test]\ncommand = 'python3 -S -m pytest'\n"}
    )
    found = row(p, "tried")
    assert (
        not found["ok"]
        and "No module named" in str(found["says"])
        and "pip install pytest; the tests run with " in str(found["fix"])
        and "[test] command can name another one" in str(found["fix"])
    )


def test_init_tries_the_command_too(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    assert "on the last commit: 1 pass" in p.run("init").out
    assert p.run("init", "--json").json["tried"]["passed"] == 1


@pytest.mark.needs("node")
def test_a_script_that_wraps_a_known_runner_gets_the_line_that_reads_its_tests(tmp_path: Path) -> None:
    scripts = {"scripts": {"test": "vitest run --coverage | tee out.txt"}}
    p = Project(tmp_path / "p", {"package.json": json.dumps(scripts), "a.js": ""})
    found = row(p, "tests", DETENT_TEST_COMMAND="npm test")
    assert not found["ok"] and "only its exit code is read" in str(found["says"]) and 'command = "npx vitest run"' in str(found["fix"])
