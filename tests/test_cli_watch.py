"""`detent status --watch`: the run as it goes on, in place at a terminal and line by line elsewhere."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.driven import CYCLE, project, running, scripted
from tests.machine import need
from tests.patience import LONG
from tests.project import Project

QUICK = "[git]\nremote = ''\n[sandbox]\nlevel = 'none'\n[limits]\nusd = 5.0\nturns = 9\n"


def at_terminal(p: Project, *args: str) -> str:
    """What a command writes to a terminal."""
    need("terminals")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        p.argv(*args), cwd=p.root, env={**p.env, "TERM": "xterm", "COLUMNS": "120"}, stdout=theirs, stdin=theirs, stderr=theirs
    ) as child:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        child.wait(LONG)
    os.close(ours)
    return seen.decode("utf-8", "replace")


@pytest.mark.slow
def test_a_run_is_followed_to_its_end_line_by_line_and_in_place(tmp_path: Path) -> None:
    p = project(tmp_path / "p", QUICK)
    hostile = {**CYCLE[-1], "say": ["spoken \x1b[2J words"], "usage": {"usd": 0.1}}
    with running(p, "run", "add numbers", "--agent", scripted(p, *CYCLE[:-1], hostile), "--events") as child:
        assert child.stdout is not None
        next(line for line in child.stdout if '"turn"' in line)
        ran = p.run("status", "--watch")
        child.communicate()
    told = [line.split()[2:] for line in ran.out.splitlines()]
    assert ran.code == 0 and [row[0] for row in told] == ["start", "planned", "red", "green", "refactor", "complete", "offered"], ran
    shown = at_terminal(p, "status", "--watch")
    for words in ("add numbers", "✓", "adds", "→ COMPLETE", "$0.10 of $5.00", "5 of 9 turns"):
        assert words in shown, shown
    assert "spoken" in shown and "\x1b[2J words" not in shown, "what an agent says cannot clear the screen"
    assert p.run("status", "--watch", "--json").code == 2


def test_a_driven_run_shows_phase_test_cycle_cost_time_and_last_words_in_colour(tmp_path: Path) -> None:
    p = project(tmp_path / "p", QUICK)
    spent = {"usage": {"input_tokens": 5, "usd": 0.25}}
    slow = {"state": "RED", "fail": {"sort": "ModelUnavailable"}, "say": ["thinking \x1b[2J hard"], "wait": 0.6}
    agent = scripted(p, {**CYCLE[0], **spent}, slow)
    shown = at_terminal(p, "run", "add numbers", "--agent", agent)
    assert "\x1b[32m" in shown or "\x1b[1;32m" in shown, shown
    for words in ("PLAN", "SUCCESS", "→ RED", "RED  adds  cycle 1  $0.25  0:0", "│ thinking \\x1b[2J hard", "HALTED"):
        assert words in shown, (words, shown)
    said = p.run("status").out
    assert f"Agent: {agent}" in said and "List: 0 of 1 tests done" in said
