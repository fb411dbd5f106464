"""The look at a whole branch, from base to tip: what its tests prove, what broke, what no test notices, and what a person should see.

Landing, `verify` and `check` all use the same function. Owns how the card is made; its callers decide what follows from it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.changes.documents_alone import documents_alone
from detent.evidence.changes.edited_files import has_test_name
from detent.evidence.changes.install_lines import in_clean_checkouts, install_hint_at
from detent.evidence.changes.no_substance import is_only_words
from detent.evidence.changes.projects import BesideProduct, is_tooling
from detent.evidence.looks.branch_probes import ProbedBranch, examples_in_code, look_without_mutating
from detent.evidence.looks.card_trials import TrialRun, places, trials
from detent.evidence.looks.exit_code import CommandSpan, by_exit_code
from detent.evidence.looks.no_proof import no_proof
from detent.evidence.looks.not_installed import flag_lacking, unknown_for_want_of_packages
from detent.evidence.looks.old_tests import MOST_SHOWN, Judging, certain_failures, old_tests
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.looks.rewritten_tests import beside_new_tests, flag_replaced, flag_rewritten
from detent.evidence.looks.subject import Subject
from detent.evidence.looks.without_change import failing_by_old_answers, flag_endless, without_change
from detent.evidence.outcomes.card import Card, Trial
from detent.evidence.outcomes.outcomes import Outcomes, compare, file_of
from detent.evidence.outcomes.shared_test_files import out_of_reach
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.doubted_values import doubt_again, is_doubt
from detent.evidence.probes.mutant_order import OUTSIDE
from detent.evidence.probes.noticed_lines import Noticed, try_mutants
from detent.evidence.probes.test_probes import probe_vacuous
from detent.evidence.report import TestReport
from detent.evidence.running.busy import idle_clock
from detent.evidence.running.cannot_run import hint_for, left_behind, messages_in, not_fetched
from detent.evidence.running.clean_runs import CleanRuns
from detent.evidence.running.collect import Collector
from detent.evidence.source.changed_tests import speaking_of_imports
from detent.evidence.source.file_patterns import is_document
from detent.evidence.source.generated_code import is_generated
from detent.evidence.source.test_ids import family, is_named
from detent.evidence.static_analysis.static_flags import can_end_itself
from detent.kernel.model import Data, Flag, Run, Sent

OF_PROBES = ("unnoticed", "vacuous-test")
SLOWED = 2.0  # a suite this many times slower than before raises a question, if no mutant could be tried for lack of time
Say = Callable[[str], None]


class BranchSpan(NamedTuple):
    """The branch to look at, and what is needed for it."""

    base: str  # a tree
    tip: str  # a tree
    collector: Collector
    settings: dict[str, str]
    wanted: Callable[[], bool]
    seconds: float = 60.0  # the time limit for all probes together, on an idle machine
    jobs: int = 2
    say: Say = lambda words: None
    run: Run[Any] | None = None
    commit: str = ""  # the base commit, if the failures of its tree count as known
    known: frozenset[str] = frozenset()  # accepted failures
    reds: tuple[str, ...] = ()  # the trees of the RED steps, if any
    preflight: tuple[str, ...] = ()  # commands that must pass beside the tests
    keys: Mapping[str, str] = MappingProxyType({})  # secrets that must not be committed, with their variable names
    request: str = ""  # what people asked for; empty: unknown


Tried = list[Trial]


def look_over(span: BranchSpan) -> Card:
    """The proof card of a branch. What could not be verified is stated on it, never left out."""
    begun, runs, tried = time.monotonic(), span.collector.runs, Tried()
    try:
        card = _card(span, tried)
    except CannotTell as e:
        behind = left_behind(span.collector, span.tip, [str(e)]) if span.run is None else []
        card = Card(span.base, span.tip, unclear="\n".join([str(e), *([hint_for(behind)] if behind else [])]))
    took, kept = round(time.monotonic() - begun, 3), tuple(sorted(tried, key=lambda trial: trial.about))
    return msgspec.structs.replace(card, seconds=took, suites=float(span.collector.runs - runs), tried=kept)


def _card(span: BranchSpan, tried: Tried) -> Card:
    base, runs = span.collector.suite.base, _clean_runs(span)
    look = _repo_look(span, runs)
    if span.run is None and base is not None and base.runner and documents_alone(look.changes, base.argv):
        return _of_documents(span, look)
    _run_both(span, runs)
    if base is None and span.run is None:
        return _without_tests(span, look)
    if base is None or not base.runner:
        return _by_command(span, look, tried)
    before, tip = look.tests_before(), look.tests()
    if tip.fault:
        return Card(span.base, span.tip, failed=(f"the tests of the tip cannot be run: {tip.fault}",))
    if reason := f"the tests of the base cannot be run: {before.fault}" if before.fault else _helpless(span, look, before, tip):
        return Card(span.base, span.tip, unclear=reason)
    return _compared(span, look, tried)


def _compared(span: BranchSpan, look: RepoLook, tried: Tried) -> Card:
    """The card of a branch whose tests run both with and without the change."""
    before, tip = look.tests_before(), look.tests()
    span.say("3 of 5: running the new tests without the change")
    seen, mixed = look.outcomes(), without_change(span.collector, look, before, span.wanted)
    proved = _proved(look, before, mixed, tip, seen)
    if reason := unknown_for_want_of_packages(span.collector, look, proved, seen.newly_failing):
        return Card(span.base, span.tip, unclear=reason)
    old = old_tests(span.collector, look, span.wanted)
    failed, flags = certain_failures(Judging(span.collector, look, span.wanted, _context(look, 0.0, tried)), seen, old)
    flags += [*_without_probes(span, look, proved, _unloaded(mixed)), *_without_files(span, seen, before)]
    flags += [*flag_endless(mixed, tip), *_idle_here(before, tip), *flag_lacking(span.collector, look)]
    seen_by = Noticed()
    if not failed and is_probed(span.settings):
        branch = ProbedBranch(span.base, look.changes.patch(), look.changes.overlay(span.base), before, mixed, tip, proved, span.reds)
        probed, seen_by = _probed(span, look, branch, tried)
        flags += probed
    context = _context(look, 0.0, tried) if is_probed(span.settings) and not failed else None
    old = beside_new_tests(old, proved - before.ids, seen_by, seen)
    flags += [*flag_replaced(look, seen, before, context), *flag_rewritten(look, seen, before, old, context)]
    pins = (seen.pins & mixed.having("passed")) - proved
    tried += trials(look, TrialRun(mixed, tip, old.report), proved | pins, flags)
    return Card(
        span.base,
        span.tip,
        proved=tuple(sorted(proved)),
        pins=tuple(sorted(pins)),
        kept=len(seen.kept),
        out=tuple(sorted({family(test) for test in seen.lost})),
        known=tuple(sorted(seen.still_failing)),
        failed=failed,
        flags=tuple(flags),
        places=places(look, tip, (*proved, *pins), flags),
    )


def _without_probes(span: BranchSpan, look: RepoLook, proved: frozenset[str], unloaded: frozenset[str]) -> Iterator[Flag]:
    """The flags that need no probe. `unloaded`: test files that do not load without the change."""
    yield from no_proof(look, proved, span.request, min(unloaded, default=""), _idle(look))
    yield from _judged_by(look)
    yield from look.read_through()
    yield from _deleted(look)
    yield from examples_in_code(look.probe_context(span.seconds), look.changes.patch())


def _context(look: RepoLook, seconds: float, tried: Tried) -> ProbeContext:
    return look.probe_context(seconds)._replace(tried=tried.append)


def _probed(span: BranchSpan, look: RepoLook, branch: ProbedBranch, tried: Tried) -> tuple[list[Flag], Noticed]:
    """The flags of the probes: first those without mutants, then mutants in the time that is left."""
    begun = idle_clock()
    span.say(f"4 of 5: running the new tests under other names, and restoring what was removed (at most {span.seconds / 2:.0f} s)")
    flags = look_without_mutating(
        _context(look, span.seconds, tried), span.collector, branch, lambda kind: span.settings.get(f"flags.{kind}") == "allow", span.jobs
    )
    flags += doubt_again(_context(look, span.seconds, tried), branch.tip, doubts_of(span), begun + span.seconds)
    left = max(span.seconds / 2, span.seconds - (idle_clock() - begun))
    new = branch.proved - branch.before.ids  # an older test may fail without the change only because its file does not load
    small = "5 of 5: trying small changes to the code"
    seen_by = try_mutants(
        _context(look, left, tried), branch.tip, branch.proved, span.jobs, new, lambda done: span.say(f"{small} ({done})")
    )
    rest = max(begun + span.seconds - idle_clock(), 0.0)
    unsure = new & set(seen_by.idle)
    idle = probe_vacuous(_context(look, rest, tried), branch.tip, unsure - failing_by_old_answers(look, branch.mixed, unsure))
    found = seen_by._replace(idle=idle.idle, tried=seen_by.tried + idle.tried)
    return [*flags, *_unnoticed(found, branch.tip.wall > SLOWED * branch.before.wall + 1.0, _new_files(look)), *_generated(look)], seen_by


def doubts_of(span: BranchSpan) -> tuple[Flag, ...]:
    """What the run's refactorings brought and no test noticed then."""
    return tuple(filter(is_doubt, span.run.flags)) if span.run is not None else ()


def is_probed(settings: Mapping[str, str]) -> bool:
    """Whether mutants are tried: not if both kinds of flags that they raise are allowed."""
    return any(settings.get(f"flags.{kind}") != "allow" for kind in OF_PROBES)


def _clean_runs(span: BranchSpan) -> CleanRuns:
    """Test runs in clean checkouts. Trees with a known report are not run again."""
    span.collector.began = span.base
    known = {tree: report for tree in (span.base, span.tip) if (report := _whole(span.collector, tree)) is not None}
    return CleanRuns(span.collector, known)


def _run_both(span: BranchSpan, runs: CleanRuns) -> None:
    missing = [tree for tree in dict.fromkeys((span.base, span.tip)) if _whole(span.collector, tree) is None]
    if span.collector.suite.base is not None and span.collector.suite.base.runner and missing:
        span.say("2 of 5: running the tests of base and tip")
        runs.run_all(missing, span.jobs, threading.Event(), lambda tree: None, span.wanted)


def _repo_look(span: BranchSpan, runs: CleanRuns) -> RepoLook:
    """The look at the tip, compared with the base."""
    run: Run[Any] = span.run or Run("look", "", "", 0, Data())
    return RepoLook(
        Subject(
            git=span.collector.git,
            collect=runs,
            run=run,
            sent=Sent("due"),
            tree=span.tip,
            reference=ReferenceTrees(span.base, (), span.commit, span.known),
            settings=span.settings,
            preflight=span.preflight,
            keys=span.keys,
            published=lambda name: None,
            tampered=lambda: (),
            left_out=(),
            wanted=span.wanted,
            quick=False,
        )
    )


def _whole(collector: Collector, tree: str) -> TestReport | None:
    known = collector.known(tree)
    return known if known is not None and not known.partial else None


def _by_command(span: BranchSpan, look: RepoLook, tried: Tried) -> Card:
    """The card if only the test command's exit code can be read."""
    flags = (*can_end_itself(look.changes), *_judged_by(look), *look.read_through())
    asked = CommandSpan(span.base, span.tip, span.collector, span.wanted, span.say, span.request, span.run is not None)
    return by_exit_code(asked, look, flags, tried)


def _without_tests(span: BranchSpan, look: RepoLook) -> Card:
    """The card if no test framework is recognised, so that nothing is proved."""
    flags = (*no_proof(look, frozenset(), span.request), *_judged_by(look), *look.read_through())
    note = Flag("weak-evidence", "no test framework is recognised here; set [test] command in detent.toml", level="note")
    return Card(span.base, span.tip, flags=(note, *flags))


def _of_documents(span: BranchSpan, look: RepoLook) -> Card:
    """The card if only documents changed that nothing in the project reads: static analysis, and no test run."""
    sentence = "only documents changed, and no other file of the project reads them: no tests were run"
    note = Flag("no-proof", sentence, look.changes.all()[0].path, level="note")
    asked = [flag for flag in no_proof(look, frozenset(), span.request) if flag.level == "ask"]  # asked for, but no code
    return Card(span.base, span.tip, flags=(*(asked or (note,)), *look.read_through()))


def _helpless(span: BranchSpan, look: RepoLook, before: TestReport, tip: TestReport) -> str:
    """Why the tests cannot verify a change made outside a run: none passes on either side, or their dependencies were not fetched. Empty if they can."""
    bad = before.bad & tip.bad
    if span.run is not None or not bad:
        return ""
    lacks = not_fetched(span.collector, span.tip)
    if lacks:
        return "\n".join([f"{min(bad)} fails on both sides" + (f", and {len(bad) - 1} more" if len(bad) > 1 else ""), *lacks])
    if before.having("passed") or tip.having("passed"):
        return ""
    behind = left_behind(span.collector, span.tip, messages_in((before, tip), bad))
    message = f"no test passes in a clean checkout, with the change or without it: {min(bad)}: {look.why(min(bad)).sentence}"
    hint = hint_for(behind) if behind else in_clean_checkouts(install_hint_at(span.collector, span.base, message))
    return "\n".join([message, hint or "install what they need first, or give --install CMD"])


def _without_files(span: BranchSpan, seen: Outcomes, before: TestReport) -> list[Flag]:
    """A note if tests fail on both sides because they need files that only the person's checkout has."""
    behind = left_behind(span.collector, span.tip, messages_in((before,), seen.still_failing)) if span.run is None else []
    return [Flag("weak-evidence", f"{min(seen.still_failing)} fails on both sides: {hint_for(behind)}", level="note")] if behind else []


def _idle_here(before: TestReport, tip: TestReport) -> list[Flag]:
    """A note if new tests are skipped here, perhaps because they are for another system or version: they check nothing."""
    new = sorted({family(test) for test in tip.having("skipped") - before.ids} - {family(test) for test in before.ids})
    sentence = f"{new[0]} is new and skipped here{f', and {len(new) - 1} more' if new[1:] else ''}, so it checked nothing" if new else ""
    return [Flag("weak-evidence", sentence, new[0], level="note")] if new else []


# -- what the tests prove --------------------------------------------------------------------------------------------------------


def _proved(look: RepoLook, before: TestReport, mixed: TestReport, tip: TestReport, seen: Outcomes) -> frozenset[str]:
    """Fail-to-pass: tests that pass on the tip and, without the change, fail or cannot be run."""
    passed = tip.having("passed")
    fixed = compare(mixed, tip).fixed
    absent = {test for test in seen.pins if test not in mixed.ids}
    found = frozenset(test for test in fixed | absent if test in passed) - _only_unloaded(look, before, mixed)
    return found - _by_themselves(look, before, tip, found)


def _by_themselves(look: RepoLook, before: TestReport, tip: TestReport, proved: frozenset[str]) -> frozenset[str]:
    """Older tests that passed before and that the changed test files cannot have broken: they must be flaky."""
    passed = {test: file_of(tip, test) for test in proved & before.having("passed")}
    return out_of_reach(passed, look.changed(), {*before.files.values(), *tip.files.values()}, lambda path: look.read(path) or "")


def _idle(look: RepoLook) -> str:
    """A changed file that is named as a test, of which no test ran: the runner does not collect it, or its process ended early."""
    ran = frozenset(look.tests().files.values())
    ends = {PurePosixPath(file).suffix for file in ran}
    named = [c.path for c in look.changed() if c.sort == "test" and c.how != "deleted" and has_test_name(c.path)]
    return min((path for path in named if path not in ran and PurePosixPath(path).suffix in ends), default="")


def _unloaded(report: TestReport) -> frozenset[str]:
    """The files that could not be loaded."""
    return frozenset(test for test in report.bad if report.files.get(test) == test)


def _only_unloaded(look: RepoLook, before: TestReport, mixed: TestReport) -> frozenset[str]:
    """Older tests in files that do not load without the change, if they are unchanged or do not use the new imports: they fail only because of an
    import, which proves nothing."""
    found = set[str]()
    for path in _unloaded(mixed):
        text = look.changes.text(path)
        names = speaking_of_imports(path, text(look.changes.good), text(look.changes.tree))
        ours = (test for test in before.ids if file_of(before, test) == path)
        found |= {test for test in ours if not any(is_named(test, name) for name in names)}
    return frozenset(found)


# -- what a person should see ------------------------------------------------------------------------------------------------------


def _judged_by(look: RepoLook) -> list[Flag]:
    paths = sorted(c.path for c in look.changed() if c.sort == "config" and not is_only_words(look.changes, c))
    return [Flag("judged-by", f"{path} changed; it decides how the work is judged", path) for path in paths[:MOST_SHOWN]]


def _deleted(look: RepoLook) -> list[Flag]:
    """Notes on deleted product files, since no test can prove that something is not needed."""
    deleted = [c for c in look.changed() if c.how == "deleted" and c.sort in ("production", "unknown") and c.path not in look.changes.moves]
    sentence = "was deleted, but nothing shows that it is not needed"
    return [Flag("weak-evidence", f"{c.path} {sentence}", c.path, level="note") for c in deleted if not is_only_words(look.changes, c)][
        :MOST_SHOWN
    ]


def _generated(look: RepoLook) -> list[Flag]:
    """Notes on generated files, which are not mutated."""
    sentence = "this file is generated, so no small changes to its lines were tried"
    paths = [
        c.path
        for c in look.changed()
        if c.sort == "production"
        and not is_tooling(c.path)
        and not is_document(c.path)
        and is_generated(c.path, *map(look.changes.text(c.path), (look.changes.good, look.tree)))
    ]
    return [Flag("unnoticed", sentence, path, level="note") for path in paths[:MOST_SHOWN]]


def _otherwise(place: str) -> str:
    path, _, name = place.rpartition(": ")
    return f"what {path} has outside its functions is changed" if name == OUTSIDE else f"{place} returns something else"


def _new_files(look: RepoLook) -> frozenset[str]:
    """The product files that the change added, without those that are renamed or stand beside the product."""
    beside = BesideProduct(look.subject.git, look.tree, lambda path: look.changes.sort(path) == "production")
    added = (c.path for c in look.changed() if c.how == "added" and c.sort == "production" and c.path not in look.changes.moves.values())
    return frozenset(path for path in added if not beside(path))


def _unnoticed(seen: Noticed, slowed: bool, new_files: frozenset[str]) -> list[Flag]:
    """Flags for what no test notices: questions if that is most of the change or all of a new file, else notes. Also for tests that notice nothing, and for a suite that
    the change made too slow to try mutants."""
    level: Literal["note", "ask"] = "ask" if seen.is_substance else "note"
    apart = [place for place in seen.unnoticed if place.rpartition(": ")[0] in new_files & seen.silent_files]
    shown = [*apart, *(place for place in seen.unnoticed if place not in apart)][:MOST_SHOWN]
    flags = [
        Flag("unnoticed", f"no test fails when {_otherwise(place)}", place, level="ask" if place in apart else level) for place in shown
    ]
    flags += [
        Flag("unnoticed", f"no test fails when {place} returns another value of the same kind", place) for place in seen.blunt[:MOST_SHOWN]
    ]
    sentence = "the tests that need this change do not notice when {} returns another value of the same kind"
    flags += [Flag("unnoticed", sentence.format(place), place) for place in seen.shallow[:MOST_SHOWN]]
    idle = [
        Flag("vacuous-test", f"no small change to the code it came with makes {test} fail ({seen.tried} tried)", test) for test in seen.idle
    ]
    late = [Flag("weak-evidence", f"not everything was tried: {seen.why}", level="note")] if seen.why else []
    if late and slowed and not any(seen.by.values()):
        late = [Flag("weak-evidence", f"the tests of this change are so slow that nothing could be tried: {seen.why}")]
    return [*flags, *idle[:MOST_SHOWN], *late]
