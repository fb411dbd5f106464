"""The runs behind every card, as trials: the change's tests without the change, the old tests with it, and failures on the tip. Also the places
of what a card names."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.card import Trial
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.trials import failure_messages, result_in_words, trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.diff import hunks
from detent.evidence.source.test_lines import line_of_test, line_of_word
from detent.kernel.model import Flag


class TrialRun(NamedTuple):
    """The reports of the runs behind a card."""

    mixed: TestReport  # the base with the tests of the tip
    tip: TestReport
    old: TestReport  # the tip with the base's version of older tests


def trials(look: RepoLook, ran: TrialRun, tests: frozenset[str], flags: Iterable[Flag]) -> list[Trial]:
    """The trials for tests that prove or pin something, for tests that fail, and for rewritten tests."""
    found = [without_the_change(look, look.changes.overlay(look.changes.good), ran.mixed, tests, flags)]
    seen = look.outcomes()
    if bad := seen.newly_failing | seen.skipped:
        files = {file_of(ran.tip, test) for test in bad}
        messages = failure_messages(ran.tip, bad)
        found.append(
            trial_of(look.probe_context(), sorted(bad), "the tests with this change", result_in_words(ran.tip), {}, files, messages)
        )
    if ran.old.ids:
        about = [f"{flag.kind} {flag.place}" for flag in flags if flag.kind == "rewritten-test"]
        older = {path: look.changes.git.read(look.changes.good, path) or b"" for path in sorted(set(ran.old.files.values()))}
        what, messages = "the older tests as they were, with this change", failure_messages(ran.old, ran.old.bad)
        found.append(trial_of(look.probe_context(), [*sorted(seen.lost), *about], what, result_in_words(ran.old), older, older, messages))
    return found


def without_the_change(
    look: RepoLook, overlay: Mapping[str, bytes], mixed: TestReport, tests: Iterable[str], flags: Iterable[Flag]
) -> Trial:
    """The trial of running the change's tests without the change."""
    about = [*sorted(tests), *(f"{flag.kind} {flag.place}" for flag in flags if flag.kind == "no-proof")]
    files = {path for path in overlay if path in mixed.files.values()}
    messages = failure_messages(mixed, tests)
    return trial_of(
        look.probe_context(),
        about,
        "the tests of this change, without the change",
        result_in_words(mixed),
        overlay,
        files,
        messages,
        on_base=True,
    )


def places(look: RepoLook, report: TestReport, tests: Iterable[str], flags: Iterable[Flag]) -> dict[str, str]:
    """The `path:line` of tests, and of flags whose place has no line."""
    found = dict[str, str]()
    for test in sorted({*tests, *look.outcomes().newly_failing, *look.outcomes().skipped, *(f.place for f in flags if "::" in f.place)}):
        path = file_of(report, test)
        found[test] = _at(path, line_of_test(path, look.changes.text(path)(look.tree), test))
    first = {hunk.path: hunk.at for hunk in reversed(list(hunks(look.changes.patch())))}
    for flag in flags:
        path, colon, word = flag.place.partition(": ")
        if colon:
            found[flag.place] = _at(path, line_of_word(look.changes.text(path)(look.tree), word))
        elif path in first:
            found[path] = _at(path, max(first[path], 1))
    return {name: place for name, place in found.items() if place}


def _at(path: str, line: int) -> str:
    return f"{path}:{line}" if line else ""
