"""The seconds of a probe on a machine that is busy with other things."""

import pytest

from detent.evidence.running.busy import MOST, patient


@pytest.mark.parametrize(("load", "seconds"), [(0.0, 60.0), (1.0, 60.0), (2.5, 150.0), (12.0, 60.0 * MOST), (400.0, 60.0 * MOST)])
def test_a_probe_gets_the_seconds_that_its_tries_take_at_this_load(load: float, seconds: float) -> None:
    assert patient(60.0, lambda: load) == seconds


def test_a_machine_is_asked_for_its_load_and_an_answer_never_shortens_a_probe() -> None:
    assert 60.0 <= patient(60.0) <= 60.0 * MOST
