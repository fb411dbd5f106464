"""An execution that is killed at any point and driven on ends the same: it is completed, committed, pushed and followed up once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.driven import scripted, workspaces
from tests.executions import CONFIG, FAILS, WORKS, Till
from tests.project import ROOT
from tests.proofs import claimed

CASES: dict[str, tuple[dict[str, Any], ...]] = {"completed": (WORKS,), "failed": ({**FAILS, "again": True},)}
ENDS = {"completed": "COMPLETED", "failed": "FAILED"}


def child(till: Till, case: str, point: int | None = None) -> subprocess.CompletedProcess[str]:
    env = {**till.project.env, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    agent = scripted(till.project, *CASES[case])
    argv = [
        sys.executable,
        "-m",
        "tests.execute_crash_child",
        str(till.project.root),
        agent,
        "it-1",
        *([] if point is None else [str(point)]),
    ]
    return subprocess.run(argv, env=env, capture_output=True, text=True)


def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Till:
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    till = Till(folder, CONFIG)
    till.file()
    return till


def outcome(till: Till) -> dict[str, object]:
    """What must not depend on when the machine was killed."""
    with till.app() as app:
        moves = [(e.on, e.state, e.status, e.tree) for e in app.journal.events("execute-it-1-1", limit=1000)]
        runs, fault, owed = len(app.journal.heads()), app.journal.first_fault(), app.journal.owed("execute-it-1-1")
    items = [(i.id, i.title, i.status, i.assignee, i.labels, i.found_in, i.notes) for i in till.items()]
    refs = till.there("for-each-ref", "--format=%(refname) %(tree)", "refs/heads").splitlines()
    return {
        "moves": moves,
        "runs": runs,
        "fault": fault,
        "owed": owed,
        "items": items,
        "pushed": [*refs, till.there("log", "--branches", "--format=%s %T", "--topo-order")],
        "claimed": claimed(till.remote),
        "branches": till.git("for-each-ref", "--format=%(refname) %(tree)", "refs/heads"),
        "workspaces": workspaces(till.project),
        "status": till.git("status", "--porcelain"),
    }


def calm(folder: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, dict[str, object]]:
    till = made(folder / "calm", monkeypatch)
    done = child(till, case)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["state"] == ENDS[case]
    return said["points"], outcome(till)


def killed_again_and_again(till: Till, case: str, first: int, stride: int) -> int:
    """Kill it, start it again, kill it a stride later, until it comes to its end; how often it was killed."""
    kills, point = 0, first
    while (done := child(till, case, point)).returncode:
        assert done.returncode == -signal.SIGKILL, done.stderr
        kills, point = kills + 1, stride
    return kills


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", [c if c == "completed" else pytest.param(c, marks=pytest.mark.slow) for c in CASES])
def test_an_execution_killed_a_few_times_ends_the_same(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, expected = calm(tmp_path, case, monkeypatch)
    till = made(tmp_path / "cut", monkeypatch)
    assert killed_again_and_again(till, case, points // 9, points // 4) >= 3
    assert outcome(till) == expected


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("case", CASES)
def test_an_execution_killed_at_every_point_ends_the_same(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, expected = calm(tmp_path, case, monkeypatch)
    for point in range(1, points, 3):
        till = made(tmp_path / f"cut{point}", monkeypatch)
        assert child(till, case, point).returncode == -signal.SIGKILL
        done = child(till, case)
        assert done.returncode == 0, (point, done.stderr)
        assert outcome(till) == expected, point
