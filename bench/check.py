"""The cost of `detent check` in runs of the project's suite, CPU and wall, and the time of a second check of the same trees. Goals: a check takes at most
2.5 suites plus the budget of its probes, and a second one takes a second."""

import json
import sys
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from bench import Figure
from bench.step_cost import Walk

SUITES, BUDGET = 2.5, 60.0  # limits of a check: runs of the suite, and seconds for its probes
FIXED = 5.0  # CPU seconds for everything but tests, in a new environment
PRICE = "def price(amount, rate):\n    return amount\n"
OLD = "from price import price\n\n\ndef test_nothing_to_pay():\n    assert price(0, 20) == 0\n"
TAXED = """def price(amount, rate):
    if amount < 0:
        raise ValueError("an amount is never below zero")
    return amount + tax(amount, rate)


def tax(amount, rate):
    return amount * rate // 100
"""
NEW = """import pytest

from price import price, tax


def test_with_tax():
    assert price(100, 20) == 120
    assert tax(50, 10) == 5


def test_below_zero():
    with pytest.raises(ValueError):
        price(-1, 20)
"""
ALLOWED = "[flags]\nunnoticed = 'allow'\nvacuous-test = 'allow'\n"  # with these settings nothing is probed


class Took(NamedTuple):
    """One call: wall seconds, CPU seconds, and its answer."""

    wall: float
    cpu: float
    card: dict[str, Any]


class Branch(Walk):
    """A project with a branch of one commit: code, and tests that need it."""

    def __init__(self, folder: Path, seconds: float, files: int, settings: str = "") -> None:
        super().__init__(folder, seconds, files)
        self.write({"price.py": PRICE, "tests/test_price.py": OLD})
        if settings:
            self.write({"detent.toml": (self.root / "detent.toml").read_text() + settings})
        self.git("add", "-A")
        self.git("commit", "-qm", "price")
        self.git("switch", "-qc", "work")
        self.write({"price.py": TAXED, "tests/test_tax.py": NEW})
        self.git("add", "-A")
        self.git("commit", "-qm", "tax")

    def check(self) -> Took:
        """Run the check. Any answer but clean ends the bench, because its cost would mean nothing."""
        got = self.run(sys.executable, "-m", "detent", "check", "--json")
        assert got.code == 0, got.out[-2000:] + got.err[-2000:]
        return Took(got.seconds, got.cpu, json.loads(got.out))


def figures(folder: Path, seconds: float, files: int) -> list[Figure]:
    """The figures for the whole check, the check without probes, and a second check."""
    times = 5 if seconds < 1 else 2 if seconds < 10 else 1
    whole, bare = Branch(folder / "whole", seconds, files), Branch(folder / "bare", seconds, files, ALLOWED)
    wall, cpu = whole.plain(times)
    first, runs = whole.check(), bare.check()
    again = [whole.check() for _ in range(5)]
    assert all(each.card["known_before"] for each in again)
    suite = f"one run of a suite of {seconds:g} s"
    return [
        Figure("check, wall", first.wall, suite, wall, round(SUITES + BUDGET / wall, 2)),
        Figure("check, CPU", first.cpu, f"{suite}, CPU", cpu, round(SUITES + BUDGET / cpu, 2)),
        Figure("check without probes, wall", runs.wall, suite, wall, inf),
        Figure("check without probes, CPU", runs.cpu, f"{suite}, CPU", cpu, round(SUITES + FIXED / cpu, 2)),
        Figure("test runs without probes", runs.card["test_runs"], "base, tip and the new tests without the change", 3, 1.0, "runs"),
        Figure("check again, the quickest of five", min(each.wall for each in again), "one second", 1.0, 1.0),
    ]


def quick(folder: Path) -> list[Figure]:
    """Suites of 0.2 and 5 seconds; the smaller is mostly the start of pytest."""
    return [*figures(folder / "small", 0.2, 20), *figures(folder / "middle", 5, 20)]


def long(folder: Path) -> list[Figure]:
    """A suite of a minute; runs only by name or with --all."""
    return figures(folder / "large", 60, 60)
