"""What the bench of steps measures by: the CPU time of a whole process tree, and a walk that ends."""

import os
import sys
import time
from math import inf
from pathlib import Path

import pytest

from bench import Figure, meter
from bench.__main__ import BENCHES, LONG, table
from bench.step_cost import figures

BUSY = "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until: pass\n"


def test_the_cpu_time_of_a_process_that_was_left_behind_counts(tmp_path: Path) -> None:
    left = f"import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        exec({BUSY!r})\n    os._exit(0)\nos.wait()\n"
    assert meter.run([sys.executable, "-c", left], tmp_path, os.environ).cpu >= 0.3
    assert meter.run([sys.executable, "-I", "-S", "-c", "pass"], tmp_path, os.environ).cpu < 0.3


def test_what_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    begun = time.monotonic()
    got = meter.run(["sh", "-c", f"sleep 600 & echo $! > {child}; wait"], tmp_path, os.environ, timeout=1)
    assert got.code is None
    assert time.monotonic() - begun < 60
    stat = Path(f"/proc/{child.read_text().strip()}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_program_that_is_not_there_is_told_by_its_code(tmp_path: Path) -> None:
    assert meter.run(["no-such-program"], tmp_path, os.environ).code == 127


@pytest.mark.slow
def test_every_part_of_the_way_is_measured_against_one_run_of_the_suite(tmp_path: Path) -> None:
    found = {figure.what: figure for figure in figures(tmp_path, 0.02, 2, "pr")}
    parts = ("start", "RED", "GREEN", "REFACTOR", "RED to REFACTOR", "end")
    assert list(found) == [f"pr {part}, CPU" for part in parts]
    assert all(figure.ours > 0.05 for figure in found.values())
    assert found["pr GREEN, CPU"].ratio > 1  # the suite runs at least once
    assert len({figure.theirs for figure in found.values()}) == 1


def test_a_figure_without_a_goal_is_shown_and_holds() -> None:
    assert "| –    | yes   |" in table([("step-cost", Figure("start", 9.0, "a suite", 1.0, inf))])


def test_the_longest_is_run_by_its_name_only() -> None:
    assert set(LONG) < set(BENCHES)
