"""What the bench of `check` measures by: one run of the suite in the same run, test runs that were counted, and a second call that knows the first."""

from math import isinf
from pathlib import Path

import pytest

from bench.__main__ import BENCHES, LONG
from bench.check import BUDGET, SUITES, figures


@pytest.mark.slow
def test_a_check_is_measured_against_one_run_of_its_suite_and_against_a_second(tmp_path: Path) -> None:
    found = {figure.what: figure for figure in figures(tmp_path, 0.02, 2)}
    parts = ("check, wall", "check, CPU", "check without probes, wall", "check without probes, CPU")
    assert list(found) == [*parts, "test runs without probes", "check again, the quickest of five"]
    whole, wall, cpu, bare = (found[part] for part in ("check, wall", *parts[2:], parts[1]))
    assert whole.goal == round(SUITES + BUDGET / whole.theirs, 2) and isinf(wall.goal)
    assert whole.theirs == wall.theirs and cpu.theirs == bare.theirs, "both by the same runs of the suite"
    assert cpu.ratio > 2, "the suite runs on base and tip"
    assert found["test runs without probes"].ours == 3
    assert found["check again, the quickest of five"].ours < whole.ours


def test_the_long_one_is_run_by_its_name_only() -> None:
    assert "check-60s" in LONG and set(LONG) < set(BENCHES)
