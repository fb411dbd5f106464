"""The seconds of a probe on a machine that is busy with other things."""

import os

import pytest

from detent.evidence.report import TestReport
from detent.evidence.running.busy import MOST, idle_clock, patient, run_within


@pytest.mark.parametrize(("load", "seconds"), [(0.0, 60.0), (1.0, 60.0), (2.5, 150.0), (12.0, 60.0 * MOST), (400.0, 60.0 * MOST)])
def test_a_probe_gets_the_seconds_that_its_tries_take_at_this_load(load: float, seconds: float) -> None:
    assert patient(60.0, lambda: load) == seconds


def test_a_machine_is_asked_for_its_load_and_an_answer_never_shortens_a_probe() -> None:
    assert 60.0 <= patient(60.0) <= 60.0 * MOST


@pytest.mark.parametrize(
    ("free", "ours", "passed"),
    [
        pytest.param(120.0, 0.0, 60.0, id="nobody works"),
        pytest.param(0.0, 120.0, 60.0, id="only our own tests work"),
        pytest.param(60.0, 60.0, 60.0, id="our tests on one core, the other is free"),
        pytest.param(0.0, 12.0, 60 * (0.9 * 0.1 + 0.1), id="nine others want each core"),
        pytest.param(0.0, 0.0, 6.0, id="others have everything"),
    ],
)
def test_what_other_programs_take_of_the_cores_is_not_counted(free: float, ours: float, passed: float) -> None:
    """A minute on two cores, which is 120 seconds of cores in all."""
    before, after = idle_clock(lambda: 0.0, lambda: (0.0, 2), lambda: 0.0), idle_clock(lambda: 60.0, lambda: (free, 2), lambda: ours)
    assert after - before == pytest.approx(passed)


def test_where_the_machine_does_not_say_the_clock_on_the_wall_counts() -> None:
    def says_nothing() -> tuple[float, int]:
        raise FileNotFoundError

    assert idle_clock(lambda: 7.0, says_nothing) == 7.0


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="not Linux")
def test_this_machine_says_it_and_the_clock_goes_on() -> None:
    first, later = idle_clock(), sum(n * n for n in range(2_000_000)) and idle_clock()
    assert later > first


@pytest.mark.parametrize(
    ("late", "passed", "runs"),
    [
        pytest.param(0, 1.0, 1, id="it ended"),
        pytest.param(1, 3.0, 2, id="others had the cores"),
        pytest.param(5, 3.0, 2, id="others had the cores twice"),
        pytest.param(1, 30.0, 1, id="it had its time, and hangs"),
    ],
)
def test_a_run_that_did_not_end_since_others_had_the_cores_is_made_once_more(late: int, passed: float, runs: int) -> None:
    limits = list[float]()

    def run(limit: float) -> TestReport:
        limits.append(limit)
        return TestReport(late=len(limits) <= late)

    report = run_within(30.0, run, lambda: passed * len(limits))
    assert len(limits) == runs and report.late == (late >= runs)
    assert limits[1:] == [MOST * 30.0] * (runs - 1)
