"""Runs a program that makes calls to the code in a clean checkout, without any test. Owns how it is run and how its output is parsed.

The program prints one line: a mark, and a list with `[right, text]` for each call, or null if it could not be made.
"""

import json
import shlex
from copy import copy
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed
from detent.evidence.probes.context import ProbeContext
from detent.evidence.running.busy import patient
from detent.evidence.running.collect import Collector

LONGEST = 60_000  # characters of the program
EQUAL_TOO = "equal to the wanted value, and to "  # begins the text of a result that equals more than one value


class CallResult(NamedTuple):
    """The result of a call: whether it is the expected one, and its text."""

    right: bool
    text: str


def ask_program(
    context: ProbeContext, collector: Collector, interpreter: str, program: str, mark: str, until: float
) -> list[CallResult | None]:
    """Run a program with an interpreter and return its results; empty if it cannot be run."""
    if len(program) > LONGEST or context.clock() >= until:
        return []
    short = copy(collector)
    short.suite = collector.suite._replace(timeout=min(collector.suite.timeout, patient(until - context.clock())))
    try:
        with short.checkout(context.tree) as folder:
            ran = short.line(f"{interpreter} {shlex.quote(program)}", folder, context.wanted)
    except Disturbed:
        raise
    except (CannotTell, OSError):
        return []
    line = next((line for line in reversed(ran.output.splitlines()) if line.startswith(mark)), "")
    try:
        results = json.loads(line.removeprefix(mark)) if line else []
        return [CallResult(bool(each[0]), str(each[1])) if each else None for each in results]
    except (ValueError, TypeError, IndexError):
        return []
