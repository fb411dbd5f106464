"""Whether the tests that need a change check the returned values or only their kind: its functions run as they are, but return a look-alike.

A test that fails for an alien value does look at it. If no test that names the function fails for another value of the same kind, near or far,
these tests accept whatever looks right, even if older tests notice.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from detent.evidence.mutate.look_alikes import LookAlikes, look_alikes
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.probes.mutant_order import changed_text, is_tried
from detent.evidence.probes.trials import trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_blocks import texts_of
from detent.evidence.source.test_ids import is_named

MOST_ASKED = 5  # functions
Place = tuple[str, LookAlikes, frozenset[str]]  # a file, the look-alike values of its function, and the tests that name it


def shallow(
    context: ProbeContext, tip: TestReport, proved: frozenset[str], named: Collection[str], until: float, jobs: int
) -> tuple[str, ...]:
    """The functions whose returned values the tests that need the change check only by kind. `named`: the functions to try."""
    places = [place for place in _places(context, tip, proved) if _name(place) in named][:MOST_ASKED]
    for make in (_near, _far):
        places = [place for place, bad in _asked(context, tip, places, make, until, jobs) if bad is not None and not bad & place[2]]
    left = [place for place, bad in _asked(context, tip, places, _alien, until, jobs) if bad is not None and bad & place[2]]
    for path, of, tests in left:
        what, name = f"{of.name} answers something else of the same kind", f"unnoticed {path}: {of.name}"
        context.tried(trial_of(context, [name], what, "no new test about it fails", {path: bytes_of(of.near())}, tests))
    return tuple(sorted(map(_name, left)))


def _name(place: Place) -> str:
    return f"{place[0]}: {place[1].name}"


def _near(of: LookAlikes) -> str:
    return of.near()


def _far(of: LookAlikes) -> str:
    return of.far()


def _alien(of: LookAlikes) -> str:
    return of.alien()


def _places(context: ProbeContext, tip: TestReport, proved: frozenset[str]) -> Iterator[Place]:
    """The changed functions that a test which needs the change names."""
    words_by_test = _words_of(context, tip, proved)
    for change in context.changed:
        if is_tried(context, change):
            text, lines = changed_text(context, change.path)
            for of in look_alikes(change.path, text, lines):
                tests = frozenset(test for test, words in words_by_test.items() if of.name in words)
                if tests:
                    yield change.path, of, tests


def _words_of(context: ProbeContext, tip: TestReport, proved: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """The words in the body of each of these tests."""
    files = {file_of(tip, test) for test in proved}
    blocks = [(path, name, words) for path in sorted(files) for name, words in texts_of(path, context.text(path))]
    return {
        test: frozenset[str]().union(*(words for path, name, words in blocks if path == file_of(tip, test) and is_named(test, name)))
        for test in proved
    }


def _asked(
    context: ProbeContext, tip: TestReport, places: list[Place], make: Callable[[LookAlikes], str], until: float, jobs: int
) -> list[tuple[Place, frozenset[str] | None]]:
    """Each place with the tests that fail for its look-alike; None if they could not be run."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(zip(places, pool.map(partial(_failing, context, tip, make, until), places), strict=True))


def _failing(
    context: ProbeContext, tip: TestReport, make: Callable[[LookAlikes], str], until: float, place: Place
) -> frozenset[str] | None:
    path, of, tests = place
    if (left := until - context.clock()) <= 0:
        return None
    files = tuple(sorted({file_of(tip, test) for test in tests}))
    report = context.run(files, {path: bytes_of(make(of))}, min(max(ONE_RUN, SLOWER * tip.wall), left))
    if report is None or report.late or not tests <= report.ids:
        return None
    return report.bad - context.reference.baseline
