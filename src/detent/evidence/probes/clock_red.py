"""Detects a RED caused by the clock: runs the tests that failed without the change again on the same tree, now and with other dates.

A test that later passes there by itself proves nothing. Tests are run twice, so that a flaky test stays a RED if it fails once. Owns which trees
are run again.
"""

import re
from collections.abc import Mapping

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.trials import result_in_words, trial_of
from detent.evidence.report import TestReport
from detent.kernel.model import Flag

CLOCK = re.compile(rb"\btime\.time|\bdatetime\b|\bdate\.today|monotonic|perf_counter|utcnow|mtime|\btime_ns\b|\bfrom time import")
HOUR, DAY = 3600, 86400
MOST_SHOWN = 5
SHIFTED = "sitecustomize.py"  # Python imports it at startup; projects that have their own are skipped
SHIFT = """import datetime as _d
import time as _t

_by = {by}
_real, _day = _d.datetime, _d.date
for _name in ("time", "monotonic", "perf_counter"):
    setattr(_t, _name, lambda _of=getattr(_t, _name): _of() + _by)
for _name in ("time_ns", "monotonic_ns", "perf_counter_ns"):
    setattr(_t, _name, lambda _of=getattr(_t, _name): _of() + _by * 10**9)
for _name in ("localtime", "gmtime", "ctime"):
    setattr(_t, _name, lambda at=None, _of=getattr(_t, _name): _of(_t.time() if at is None else at))


class _Is(type):
    def __instancecheck__(cls, thing):
        return isinstance(thing, cls.__mro__[1])


class _DateTime(_real, metaclass=_Is):
    @classmethod
    def now(cls, tz=None):
        return _real.now(tz) + _d.timedelta(seconds=_by)

    @classmethod
    def utcnow(cls):
        return _real.utcnow() + _d.timedelta(seconds=_by)

    @classmethod
    def today(cls):
        return cls.now()


class _Date(_day, metaclass=_Is):
    @classmethod
    def today(cls):
        return _DateTime.now().date()


_d.datetime, _d.date = _DateTime, _Date
"""


def look_at_reds(context: ProbeContext, reds: Mapping[str, TestReport], known: frozenset[str], until: float) -> list[Flag]:
    """Flags for tests that failed in a RED of this run but pass on the same tree now. `reds`: the reports from then, by tree."""
    found = dict[str, Flag]()
    for red, then in reds.items():
        failed = then.bad - known - context.reference.baseline
        files = tuple(sorted({file_of(then, test) for test in failed}))
        for test in sorted(failed & _passing(context, red, files, then.wall, until)) if files else ():
            sentence = (
                f"{test} failed in RED, but now passes on the same tree, without the change: something other than the code made it fail"
            )
            found[test] = Flag("clock-red", sentence, test, level="fail")
    return list(found.values())[:MOST_SHOWN]


def _passing(context: ProbeContext, red: str, files: tuple[str, ...], wall: float, until: float) -> frozenset[str]:
    """The tests that pass in two runs; the second run happens only if some passed in the first."""
    first = _run(context, red, files, {}, wall, until).having("passed")
    return first & _run(context, red, files, {}, wall, until).having("passed") if first else first


def look_at_dates(
    context: ProbeContext, base: str, overlay: Mapping[str, bytes], mixed: TestReport, proved: frozenset[str], until: float
) -> list[Flag]:
    """Flags for tests that fail without the change today but pass without it on another date. Only Python test files that mention the clock."""
    speaking = tuple(path for path, data in overlay.items() if path.endswith(".py") and CLOCK.search(data))
    failing = frozenset(test for test in mixed.bad & proved if file_of(mixed, test) in speaking)
    if not failing or context.git.read(base, SHIFTED) is not None:
        return []
    rng, files = KeyedRandom(context.key, "dates"), tuple(sorted({file_of(mixed, test) for test in failing}))
    for by in rng.shuffled([HOUR + rng.below(HOUR), DAY + rng.below(DAY), 400 * DAY + rng.below(400 * DAY)]):
        shifted = {**overlay, SHIFTED: SHIFT.format(by=by).encode()}
        seen = _run(context, base, files, shifted, mixed.wall, until)
        if by_itself := sorted(failing & seen.having("passed")):
            later = f"{by // DAY} days" if by >= DAY else f"{by // 60} minutes"
            about = [f"clock-red {test}" for test in by_itself]
            context.tried(
                trial_of(
                    context, about, f"without the change, with the clock {later} ahead", result_in_words(seen), shifted, files, on_base=True
                )
            )
            sentence = f"failed without the change, but passes without it when the clock is {later} ahead: something other than the code made it fail"
            return [Flag("clock-red", f"{test} {sentence}", test, level="fail") for test in by_itself[:MOST_SHOWN]]
    return []


def _run(context: ProbeContext, tree: str, files: tuple[str, ...], overlay: Mapping[str, bytes], wall: float, until: float) -> TestReport:
    """The report of some test files; empty if they could not be run."""
    return context.run(files, overlay, context.one_run(wall, until), tree) or TestReport()
