"""How much of a change the tests notice: mutates its lines, several mutants at a time, the most telling first, until the time is up.

The same runs answer two questions: which places of the change no test notices, and which new tests notice nothing.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.probes.mutant_order import OUTSIDE, Mutant, candidates, of_the_same_kind, outside_as_before
from detent.evidence.probes.shallow_tests import shallow
from detent.evidence.probes.trials import trial_of
from detent.evidence.probes.vacuous_tests import still_vacuous, table_in, vacuous_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_ids import family

MOST_PLACES = 12  # places that are mutated, those that the tests name first
MOST_OF_ONE = 4  # mutants of one place
MOST_WHOLE = 6  # places for which the whole suite is run
MOST_KEPT = 3  # mutants of one place that are recorded


class Noticed(NamedTuple):
    """The places that were mutated, and how many of them the tests noticed."""

    places: int = 0
    unnoticed: tuple[str, ...] = ()  # places where no test fails for any mutant
    tried: int = 0
    idle: tuple[str, ...] = ()  # new tests that killed no mutant
    why: str = ""  # why not everything was tried
    by: Mapping[str, frozenset[str]] = {}  # by place: the tests that killed its mutants
    named: int = 0  # how many of the places the new tests name
    unnoticed_named: int = 0
    outside: int = 0  # how many of the places are code outside functions
    elsewhere: bool = False  # the tests that need the change notice none of its functions, so they are about something else
    blunt: tuple[str, ...] = ()  # functions that the new tests name, and that may return any other value of the same kind
    silent_files: frozenset[str] = frozenset()  # files in which no test notices any place that was tried
    shallow: tuple[str, ...] = ()  # functions whose returned value the tests that need the change check only by kind

    @property
    def is_substance(self) -> bool:
        """Whether no test notices most of the change, or most of what the new tests name. Kills in a helper do not make up for either."""
        functions = [place for place in self.unnoticed if not place.endswith(OUTSIDE)]
        most = len(self.unnoticed) * 2 > self.places or len(functions) * 2 > self.places - self.outside > 0
        beside = self.elsewhere and bool(functions)
        return most or beside or (self.unnoticed_named > 0 and self.unnoticed_named * 2 >= self.named)


class MutationTry(NamedTuple):
    """A mutant and the tests that killed it; None: it did not run or a test file did not load, so nothing is known."""

    mutant: Mutant
    bad: frozenset[str] | None
    ran: int = 0  # how many tests ran
    unloaded: bool = False  # no test failed, but a test file did not load


def try_mutants(
    context: ProbeContext,
    tip: TestReport,
    proved: frozenset[str],
    jobs: int,
    new: frozenset[str] = frozenset(),
    say: Callable[[str], None] = lambda words: None,
) -> Noticed:
    """How much of the changed code the tests notice. `proved`: the tests that need the change; `new`: those of them that did not exist before."""
    until = context.clock() + context.seconds
    files = tuple(sorted({file_of(tip, test) for test in proved} | _changed_tests(context, tip)))
    test_code = "\n".join(context.text(path) for path in files)
    chosen = _chosen(context, test_code)
    if not chosen:
        return Noticed()
    words = frozenset(re.findall(r"\w+", test_code)) if proved else frozenset[str]()
    named = {place for place, of in chosen.items() if of[0].place in words}
    files, seen = _of_files(context, tip, chosen, files, until, jobs, new, say)
    quiet = [place for place in chosen if not any(each.bad for each in seen.get(place, ()))]
    telling = {place: _telling(chosen[place], seen.get(place, ())) for place in quiet[:MOST_WHOLE]}
    whole = _rounds(context, tip, telling, (), until, jobs, say=say)
    asked = {place for place, tries in whole.items() if any(each.bad is not None for each in tries)}
    noticed = {place for place, tries in whole.items() if any(each.bad for each in tries)}
    silent = {place for place in asked - noticed if not _is_missed(context, tip, place, proved, files, until)}
    killed = frozenset[str]().union(*(each.bad or frozenset() for tries in seen.values() for each in tries))
    tried = sum(each.bad is not None or each.unloaded for tries in seen.values() for each in tries)
    idle = vacuous_of(proved, killed, table_in(context)) if tried and not _late(context, until) else ()
    left = [place for place in quiet if place not in asked]
    why = f"{context.seconds:.0f} s were not enough for {len(left)} of {len(chosen)} places" if left and _late(context, until) else ""
    by = {place: frozenset[str]().union(*(each.bad or frozenset() for each in tries)) for place, tries in seen.items()}
    for place in silent:
        _note(context, place, {files: seen.get(place, []), (): whole[place]})
    outside = sum(place.endswith(OUTSIDE) for place in chosen)
    blunt = _blunt(context, tip, named - silent, files, until, jobs)
    seen_by_kind = shallow(context, tip, proved, named - silent - set(blunt), until, jobs)
    idle = still_vacuous(context, idle, files, context.one_run(tip.wall, until)) if not why else ()
    elsewhere = bool(proved) and not why and not any(by.get(place, frozenset()) & proved for place in chosen if not place.endswith(OUTSIDE))
    counts = (len(named), len(named & silent), outside, elsewhere, blunt)
    left_files = _silent_files(silent, {place for place in chosen if by.get(place)} | noticed)
    return Noticed(len(chosen), tuple(sorted(silent)), tried, idle, why, by, *counts, left_files, seen_by_kind)


def _silent_files(silent: set[str], noticed: set[str]) -> frozenset[str]:
    return frozenset(map(_file, silent)) - frozenset(map(_file, noticed))


def _file(place: str) -> str:
    return place.rpartition(": ")[0]


def _chosen(context: ProbeContext, test_code: str) -> dict[str, list[Mutant]]:
    """The places that are looked at, each with its small changes."""
    places: dict[str, list[Mutant]] = {}
    for mutant in candidates(context, test_code):
        places.setdefault(f"{mutant.path}: {mutant.place}", []).append(mutant)
    return dict(list(places.items())[:MOST_PLACES])


def _of_files(
    context: ProbeContext,
    tip: TestReport,
    places: dict[str, list[Mutant]],
    files: tuple[str, ...],
    until: float,
    jobs: int,
    new: frozenset[str],
    say: Callable[[str], None],
) -> tuple[tuple[str, ...], dict[str, list[MutationTry]]]:
    """Which files were run and what they notice; the whole suite (no files) if these files fail on their own."""
    seen = _rounds(context, tip, places, files, until, jobs, new, say) if files else {}
    if not _fail_alone(context, tip, files, seen, until):
        return files, seen
    return (), _rounds(context, tip, places, (), until, jobs, new, say)


def _fail_alone(
    context: ProbeContext, tip: TestReport, files: tuple[str, ...], seen: Mapping[str, list[MutationTry]], until: float
) -> bool:
    """Whether tests of these files fail without a mutant when run on their own, so that no failure counts. Checked only if one failed for all."""
    failed = [{family(test) for test in each.bad} for tries in seen.values() for each in tries if each.bad is not None]
    if not failed or not set[str].intersection(*failed):
        return False
    report = context.run(files, {}, context.one_run(tip.wall, until))
    return report is not None and bool(report.bad - tip.bad)


def _is_missed(context: ProbeContext, tip: TestReport, place: str, proved: frozenset[str], files: tuple[str, ...], until: float) -> bool:
    """Whether tests that need the change fail if the code outside functions is reverted. For a limit or a score, many mutated values are fine."""
    path, _, name = place.rpartition(": ")
    if name != OUTSIDE or not (text := outside_as_before(context, path)):
        return False
    report = context.run(files, {path: bytes_of(text)}, context.one_run(tip.wall, until))
    return report is not None and not report.late and not proved.isdisjoint(report.bad)


def _telling(mutants: list[Mutant], tries: Iterable[MutationTry]) -> list[Mutant]:
    """The first mutant of a place for which its tests ran, else its first mutant."""
    return [next((each.mutant for each in tries if each.bad is not None), mutants[0])]


def _blunt(context: ProbeContext, tip: TestReport, named: set[str], files: tuple[str, ...], until: float, jobs: int) -> tuple[str, ...]:
    """The functions that may return any other value of the same kind: tests only check that they can be called, raise, or return a type."""
    places = {place: [mutant] for place, mutant in of_the_same_kind(context).items() if place in named}
    quiet = _unnoticed(_rounds(context, tip, places, files, until, jobs)) if places and files else list(places)
    whole = _rounds(context, tip, {place: places[place] for place in quiet[:MOST_WHOLE]}, (), until, jobs)
    for place in (found := _unnoticed(whole)):
        _note(context, place, {(): whole[place]})
    return tuple(sorted(found))


def _note(context: ProbeContext, place: str, tries: dict[tuple[str, ...], list[MutationTry]]) -> None:
    """Record the surviving mutants of a place, those that the whole suite ran on first."""
    lived = {each.mutant.make(): (files, each) for files, of in tries.items() for each in of if each.bad is not None}
    for text, (files, each) in sorted(lived.items(), key=lambda item: len(item[1][0]))[:MOST_KEPT]:
        result = f"no test fails; {each.ran} ran"
        context.tried(
            trial_of(
                context,
                [f"unnoticed {place}"],
                f"a small change to {each.mutant.place}",
                result,
                {each.mutant.path: bytes_of(text)},
                files,
            )
        )


def _unnoticed(tries: dict[str, list[MutationTry]]) -> list[str]:
    """The places where a mutant ran and no test failed."""
    return [place for place, of in tries.items() if any(each.bad is not None for each in of) and not any(each.bad for each in of)]


def _late(context: ProbeContext, until: float) -> bool:
    return context.clock() >= until


def _changed_tests(context: ProbeContext, tip: TestReport) -> set[str]:
    return {c.path for c in context.changed if c.sort == "test" and c.how != "deleted" and c.path in tip.files.values()}


def _rounds(
    context: ProbeContext,
    tip: TestReport,
    places: dict[str, list[Mutant]],
    files: tuple[str, ...],
    until: float,
    jobs: int,
    new: frozenset[str] = frozenset(),
    say: Callable[[str], None] = lambda words: None,
) -> dict[str, list[MutationTry]]:
    """Run mutants in rounds: one of each place, then more where no test failed yet, or everywhere while a new test has killed none."""
    found: dict[str, list[MutationTry]] = {place: [] for place in places}
    one, rng = max(ONE_RUN, SLOWER * tip.wall), KeyedRandom(context.key, "order")
    with ThreadPoolExecutor(jobs) as pool:
        for turn in range(MOST_OF_ONE):
            idle = new.difference(*(each.bad or () for tries in found.values() for each in tries))
            due = [(p, of[turn]) for p, of in places.items() if turn < len(of) and (idle or not any(t.bad for t in found[p]))]
            if not due or _late(context, until):
                break
            due = rng.shuffled(due)
            say(f"{len(due)} at {len(places)} places, at most {until - context.clock():.0f} s left")
            tries = pool.map(lambda each: _try(context, each[1], files, min(one, until - context.clock())), due)
            for (place, _), tried in zip(due, tries, strict=True):
                found[place].append(tried)
    return found


def _try(context: ProbeContext, mutant: Mutant, files: Iterable[str], seconds: float) -> MutationTry:
    report = context.run(tuple(files), {mutant.path: bytes_of(mutant.make())}, seconds)
    if report is None:
        return MutationTry(mutant, None)
    bad = report.bad - context.reference.baseline
    loads = frozenset(test for test in bad if report.files.get(test) != test)
    unloaded = bool(bad) and not loads
    return MutationTry(mutant, None if report.late or not report.ids or unloaded else loads, len(report.ids), unloaded)
