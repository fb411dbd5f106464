"""What a long command shows while it works: at once, a line that moves in a terminal, and one plain line a phase in a log."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import ROOT

SAYS = """
from detent.interfaces.cli.progress import progress

with progress("detent check") as say:
    for words in ("1 of 2: looking", "2 of 2: trying [red]x (3 left)", "2 of 2: trying [red]x (2 left)"):
        say(words)
"""
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"}


def test_a_log_gets_one_line_a_phase() -> None:
    done = subprocess.run([sys.executable, "-c", SAYS], env=ENV, capture_output=True, text=True)
    assert done.stderr.splitlines() == ["detent check: 1 of 2: looking", "detent check: 2 of 2: trying [red]x"] and not done.stdout


@pytest.mark.needs("terminals")
def test_a_terminal_gets_a_line_that_says_what_is_left_and_is_gone_at_the_end() -> None:
    ours, theirs = os.openpty()
    done = subprocess.run([sys.executable, "-c", SAYS], env=ENV, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    said = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0 and "trying [red]x (2 left)" in said and not done.stdout
    assert said.rstrip().endswith("\x1b[2K") or said.rstrip().endswith("\x1b[?25h\r\x1b[1A\x1b[2K"), repr(said[-40:])


def test_the_first_line_comes_before_anything_is_loaded(tmp_path: Path) -> None:
    slow = "import sys; sys.modules['detent.app.checking'] = None; from detent.interfaces.cli.group import run; sys.exit(run(['check']))"
    done = subprocess.run([sys.executable, "-c", slow], cwd=tmp_path, env=ENV, capture_output=True, text=True)
    assert done.returncode == 3 and done.stderr.startswith("detent check: 1 of 5: looking for the tests\n"), done
