"""The GitHub action, its steps played as a runner plays them: files for outputs and summary, inputs as variables, a merge ref in a fresh clone."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import ROOT
from tests.repos import sh
from tests.test_check import PROVED, THIRD, Branch

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


class Runner:
    """One job on a pull request: the merge of branch and base, detached, in a clone."""

    def __init__(self, p: Branch, folder: Path) -> None:
        self.base = p.git("rev-parse", "main")
        p.git("switch", "-q", "main")
        sh(folder, "git", "clone", "-q", str(p.root), "job")
        self.root = folder / "job"
        sh(self.root, "git", "switch", "-q", "--detach", "origin/main")
        sh(self.root, "git", "merge", "-q", "--no-ff", "-m", "Merge into main", "origin/work")
        self.summary, self.outputs = folder / "summary.md", folder / "outputs.txt"
        for file in (self.summary, self.outputs):
            file.touch()
        self.env = {**p.env, "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(self.summary), "RUNNER_TEMP": str(folder)}
        self.env["GITHUB_OUTPUT"] = str(self.outputs)

    def play(self, step: str, **given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", STEPS[step]["run"]], cwd=self.root, env={**self.env, **given}, capture_output=True, text=True
        )

    def check(self, **given: str) -> subprocess.CompletedProcess[str]:
        how = {"DETENT": f"{sys.executable} -m detent", "BASE": self.base, "FAIL_ON": "flagged", "BUDGET": "60", "SARIF": ""}
        return self.play("Check", **{**how, **given})


@pytest.fixture
def p(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "p")


def test_every_variable_of_the_script_is_given_by_the_action() -> None:
    assert set(STEPS["Check"]["env"]) == {"BASE", "FAIL_ON", "BUDGET", "SARIF", "DETENT"}
    inputs = {name for name in ACTION["inputs"] for step in STEPS.values() if f"inputs.{name}" in str(step)}
    assert inputs == set(ACTION["inputs"]), "an input that nobody reads"


def test_a_proved_pull_request_is_green_and_its_card_stands_in_the_summary(p: Branch, tmp_path: Path) -> None:
    p.commit(PROVED)
    job = Runner(p, tmp_path)
    done = job.check()
    assert done.returncode == 0, done
    assert "### Detent: clean" in job.summary.read_text() and job.outputs.read_text() == "answer=clean\n"


def test_a_flagged_one_is_annotated_and_red_unless_only_failures_are_to_be(p: Branch, tmp_path: Path) -> None:
    p.commit(THIRD)
    job = Runner(p, tmp_path)
    done = job.check(SARIF=str(tmp_path / "found.sarif"))
    assert done.returncode == 10 and "::warning file=calc.py" in done.stdout, done
    assert '"no-proof"' in (tmp_path / "found.sarif").read_text() and "answer=flagged" in job.outputs.read_text()
    assert job.check(FAIL_ON="failed").returncode == 0


def test_the_first_push_of_a_branch_is_compared_with_main(p: Branch, tmp_path: Path) -> None:
    p.commit(PROVED)
    assert Runner(p, tmp_path).check(BASE="0" * 40).returncode == 0


def test_what_the_tests_need_is_installed_first_and_its_failure_stops_the_job(p: Branch, tmp_path: Path) -> None:
    p.commit(PROVED)
    job = Runner(p, tmp_path)
    assert job.play("Install what the tests need", INSTALL="touch installed").returncode == 0 and (job.root / "installed").exists()
    assert job.play("Install what the tests need", INSTALL="false; true").returncode == 1


@pytest.mark.slow
def test_the_action_installs_detent_itself(p: Branch, tmp_path: Path) -> None:
    p.commit(PROVED)
    job = Runner(p, tmp_path)
    assert job.play("Install Detent").returncode == 0
    assert job.check(DETENT="", PYTHONPATH="").returncode == 0
