"""A session, killed at any point and gone on with, ends the same: no question is asked twice, no role is judged twice, no commit is made twice."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import pytest

from detent.journal.journal import SqliteJournal
from tests.driven import scripted
from tests.project import ROOT, Project
from tests.proofs import claimed
from tests.sessions import ROUGH, TEAM, S, till


def child(p: Project, mode: str, point: int | None = None) -> subprocess.CompletedProcess[str]:
    env = {**p.env, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    team = ROUGH if mode.startswith("rough") else TEAM
    argv = [sys.executable, "-m", "tests.session_crash_child", str(p.root), scripted(p, *team), mode]
    return subprocess.run([*argv, *([] if point is None else [str(point)])], env=env, capture_output=True, text=True)


def made(folder: Path) -> Project:
    p = till(folder)
    p.env["XDG_STATE_HOME"] = str(folder.parent / f"{folder.name}.state")
    return p


def outcome(p: Project) -> dict[str, object]:
    """What must not depend on when the machine was killed."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", p.env["XDG_STATE_HOME"])
        with closing(SqliteJournal(p.root / ".git" / "detent" / "journal.db")) as journal:
            runs = sorted(h.run for h in journal.heads())
            moves = [(run.partition(".")[2], e.on, e.state, e.status, e.tree) for run in runs for e in journal.events(run, limit=1000)]
            fault, owed = journal.first_fault(), [o for run in runs for o in journal.owed(run)]
    status = json.loads((p.root / S / "status.json").read_text())
    return {
        "moves": moves,
        "fault": fault,
        "owed": owed,
        "commits": p.git("log", "--reverse", "--first-parent", "--format=%s %T", "main^1..main^2").splitlines(),
        "claimed": claimed(p.root),
        "main": p.git("log", "-1", "--format=%s %T", "main"),
        "status": p.git("status", "--porcelain"),
        "workspaces": [*Path(p.env["XDG_STATE_HOME"]).glob("detent/workspaces/*"), *(p.root / ".git").glob("worktrees/*")],
        "decisions": [(d["decision_id"], d["status"], d["answer"], d["channel"]) for d in status["user_decisions"]],
        "state": (status["current_state"], status["session_changed_files"]),
        "tasks": (p.root / S / "tasks.yaml").read_text(),
        "documents": sorted(f.name for f in (p.root / S).iterdir()),
        "turns": turns(p),
    }


def turns(p: Project) -> dict[str, int]:
    """How often an agent was asked, by run: each time it plays an entry of its script, its transcript says so."""
    files = (p.root / ".git" / "detent" / "transcripts").glob("*/*.jsonl")
    played = [file.parent.name.partition(".")[2] for file in files for line in file.read_text().splitlines() if '"entry"' in line]
    return dict(Counter(played))


def calm(folder: Path, mode: str) -> tuple[int, dict[str, Any]]:
    p = made(folder / "calm")
    done = child(p, mode)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["state"] == "DONE"
    return said["points"], outcome(p)


def killed(p: Project, mode: str, first: int, *strides: int) -> int:
    """Kill it, start it again, kill it a stride later, until it comes to its end; how often it was killed."""
    for kills, point in enumerate(chain((first,), cycle(strides))):
        done = child(p, mode, point)
        if done.returncode == 0:
            return kills
        assert done.returncode == -signal.SIGKILL, done.stderr
    raise AssertionError("strides never end")


def ends_the_same(folder: Path, mode: str, cuts: int, shift: int = 0) -> None:
    points, expected = calm(folder, mode)
    p = made(folder / "cut")
    assert killed(p, mode, 1 + shift * 7, points // cuts + shift * 13) >= cuts // 2
    assert outcome(p) == expected


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_lean_session_in_which_much_goes_wrong_killed_a_few_times_ends_the_same(tmp_path: Path) -> None:
    ends_the_same(tmp_path, "rough-lean", 4)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_lean_session_killed_a_few_times_ends_the_same(tmp_path: Path) -> None:
    ends_the_same(tmp_path, "lean", 3)


ROUGH_STATES = {
    "ASK_USER", "BLOCKED", "FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY", "FIX_BUILD", "FIX_BUILD_CODE", "DESIGN_RESEARCH", "DESIGN_UI", "APPROVE_DESIGN"
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_session_killed_at_every_event_of_every_repair_question_and_correction_ends_the_same(tmp_path: Path) -> None:
    points, expected = calm(tmp_path, "rough")
    assert {move[2] for move in expected["moves"]} >= ROUGH_STATES
    assert [move[1] for move in expected["moves"]].count("correct-architecture") == 1
    p = made(tmp_path / "cut")
    assert killed(p, "rough", 1, 4, 3, 2) > points // 4  # after an event, before one, and between an agent's end and its event; then anew
    assert outcome(p) == expected


def answers(p: Project) -> list[str]:
    """What people said to a session, by event."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", p.env["XDG_STATE_HOME"])
        with closing(SqliteJournal(p.root / ".git" / "detent" / "journal.db")) as journal:
            return [
                e.on
                for head in journal.heads()
                for e in journal.events(head.run, limit=1000)
                if e.on in ("approved", "per-batch", "invalid")
            ]


def said(p: Project, stride: int) -> int:
    """A person who is cut off again and again while they answer; how often."""
    kills, point = 0, 1
    while (done := child(p, "say", point)).returncode != 0:
        assert done.returncode == -signal.SIGKILL, done.stderr
        kills, point = kills + 1, point + stride
    return kills


def asks_once(p: Project, stride: int) -> None:
    for expected, waits in ((["approved"], "REVIEW_STRATEGY"), (["approved", "per-batch"], "")):
        assert json.loads(child(p, "asked").stdout)["state"] in ("APPROVE_DESIGN", "REVIEW_STRATEGY")
        assert said(p, stride) > 0
        assert answers(p) == expected
        if waits:
            assert json.loads(child(p, "asked").stdout)["state"] == waits  # what was answered is not asked again


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_killed_around_a_persons_answer_asks_nothing_twice(tmp_path: Path) -> None:
    asks_once(made(tmp_path / "p"), 17)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_session_killed_at_every_point_of_a_persons_answer_asks_nothing_twice(tmp_path: Path) -> None:
    asks_once(made(tmp_path / "p"), 1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shift", range(4))
def test_a_full_session_killed_again_and_again_ends_the_same(tmp_path: Path, shift: int) -> None:
    ends_the_same(tmp_path, "full", 30, shift)
