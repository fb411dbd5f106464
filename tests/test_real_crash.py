"""Killed at any journal write, effect, job or git call, a run of the real machine comes to the same trees, messages and states."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from detent.journal.journal import SqliteJournal
from tests.project import ROOT
from tests.real_crash_child import PLAN, TITLE
from tests.repos import PLAIN, make_repo, sh

FILES = {PLAN: f"- {TITLE}\n", "code": "\n", "detent.toml": f"[pr]\nplan = '{PLAN}'\n[git]\nremote = ''\n"}


def child(folder: Path, point: int | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **PLAIN, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "XDG_STATE_HOME": str(folder.parent / "state")}
    argv = [sys.executable, "-m", "tests.real_crash_child", str(folder), *([] if point is None else [str(point)])]
    return subprocess.run(argv, env=env, capture_output=True, text=True)


def finish(folder: Path) -> dict[str, object]:
    done = child(folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def outcome(folder: Path) -> dict[str, object]:
    """What must not depend on when the machine was killed."""
    os.environ["XDG_STATE_HOME"] = str(folder.parent / "state")
    journal = SqliteJournal(folder / ".git" / "detent" / "journal.db")
    run = journal.heads()[0].run
    moves = [(e.on, e.state, e.status) for e in journal.events(run)]
    fault, owed = journal.first_fault(), list(journal.owed(run))
    journal.close()
    plan = [line.split("[DONE]")[0] for line in sh(folder, "git", "show", f"main:{PLAN}").splitlines()]
    return {
        "runs": 1,
        "moves": moves,
        "messages": sh(folder, "git", "log", "--topo-order", "--format=%s", "main").splitlines(),
        "code": sh(folder, "git", "show", "main:code", "main:check.sh"),
        "plan": plan,
        "branches": sh(folder, "git", "branch", "--format=%(refname)"),
        "status": sh(folder, "git", "status", "--porcelain"),
        "fault": fault,
        "owed": owed,
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, object]]:
    folder = make_repo(tmp_path_factory.mktemp("calm") / "p", FILES)
    result = finish(folder)
    assert result["state"] == "DONE"
    points = result["points"]
    assert isinstance(points, int) and points > 100
    return points, outcome(folder)


def killed_at(tmp_path: Path, point: int) -> dict[str, object]:
    folder = make_repo(tmp_path / "p", FILES)
    done = child(folder, point)
    assert done.returncode == -signal.SIGKILL, f"point {point} was not reached: {done.stderr}"
    assert finish(folder)["state"] == "DONE"
    return outcome(folder)


SAMPLE = 16


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(SAMPLE))
def test_killed_at_a_sample_of_points_the_run_ends_the_same(tmp_path: Path, undisturbed: tuple[int, dict[str, object]], part: int) -> None:
    points, calm = undisturbed
    assert killed_at(tmp_path, 1 + part * (points - 1) // SAMPLE) == calm


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_every_point_the_run_ends_the_same(tmp_path: Path, undisturbed: tuple[int, dict[str, object]]) -> None:
    points, calm = undisturbed
    different = [point for point in range(1, points + 1) if killed_at(tmp_path / str(point), point) != calm]
    assert not different
