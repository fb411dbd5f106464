"""Whether an older test that was changed still notices what it noticed: small changes of the code that it failed for make it fail again.

Owns which changes are tried, and for how long; knows no gates.
"""

import re
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from detent.evidence.mutate import bodies_on, mutants
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.outcomes.shared_test_files import is_shared_code, shared_files, speaks_of
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.trials import trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.changed_tests import changed_tests, standing_otherwise
from detent.evidence.source.test_ids import is_named

MOST_NOTICED = 3  # changes that a test failed for before: if it fails for none of them now, it is weakened
PATIENCE = 9  # times the usual time, where a test missed something and it is not yet known whether that is all
MOST_FILES = 20
MOST_WORDS = 60
MOST_TRIED = 40


def weakened(
    context: ProbeContext, now: TestReport, before: TestReport, replaced: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> tuple[str, ...]:
    """The tests that were changed, pass before and now, and no longer fail for anything that they failed for. Those that others came in the
    place of (`replaced`) are asked by what these notice.

    Where time runs out, a test counts only if that was seen often enough, of it or of all tests of its file: that it was changed is shown in any case.
    """
    changed = changed_older(context, now, before) | (replaced.keys() & before.having("passed"))
    if not changed:
        return ()
    files = tuple(sorted({file_of(now, test) for test in changed}))
    helpers = _helpers(context, before)
    older = {path: context.git.read(context.reference.good, path) or b"" for path in (*files, *helpers)}
    changed -= failing(context, files, older) or frozenset()  # what the older one asks for is not so any more: shown, and nothing to notice
    missed: dict[str, int] = {}
    heard = set[str]()  # files of which a test still notices
    until, open_ = time.monotonic() + context.seconds, set(changed)
    for path, text in _mutants(context, (*files, *helpers)):
        if not open_ or time.monotonic() > (until + PATIENCE * context.seconds if open_ & missed.keys() else until):
            break
        failed = open_ & (failing(context, files, {**older, path: text.encode()}) or frozenset())
        noticing = failing(context, files, {path: text.encode()}) if failed else None
        if noticing is None:
            continue
        failed -= {test for test in failed if file_of(now, test) in noticing}  # its file does not load: it had no chance to notice
        noticing |= {test for test, came in replaced.items() if came & noticing}
        open_ -= noticing
        heard |= {file_of(now, test) for test in failed & noticing}
        for test in failed - noticing:
            missed[test] = missed.get(test, 0) + 1
        _note(context, [test for test in sorted(failed - noticing) if missed[test] == 1], files, older, (path, text))
        open_ -= {test for test, n in missed.items() if n >= MOST_NOTICED}
        missed = {test: n for test, n in missed.items() if test not in noticing}
    else:
        return tuple(sorted(missed))  # everything was tried
    deaf = {
        path for path in files if path not in heard and sum(n for test, n in missed.items() if file_of(now, test) == path) >= MOST_NOTICED
    }
    return tuple(sorted(test for test, n in missed.items() if n >= MOST_NOTICED or file_of(now, test) in deaf))


def noticing_less(context: ProbeContext, before: TestReport, replaced: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Of the tests that others came in the place of: those that failed for a small change of the code for which none of these fails.

    Stricter than of a test that was changed: who sees its name in a report knows that it was there.
    """
    open_ = {test for test in replaced if test in before.having("passed")}
    files = tuple(sorted({file_of(before, test) for test in open_}))
    older = {path: context.git.read(context.reference.good, path) or b"" for path in (*files, *_helpers(context, before))}
    open_ -= failing(context, files, older) or frozenset() if open_ else frozenset()  # what it asks for is not so any more: shown elsewhere
    found, until = set[str](), time.monotonic() + context.seconds
    for path, text in _mutants(context, files) if open_ else ():
        if open_ == found or time.monotonic() > until:
            break
        failed = (open_ - found) & (failing(context, files, {**older, path: text.encode()}) or frozenset())
        noticing = failing(context, files, {path: text.encode()}) if failed else None
        less = {test for test in failed if noticing is not None and not replaced[test] & noticing}
        _note(context, sorted(less), files, older, (path, text))
        found |= less
    return frozenset(found)


def _note(context: ProbeContext, tests: list[str], files: tuple[str, ...], older: dict[str, bytes], mutant: tuple[str, str]) -> None:
    """The first change that a test failed for and passes for now, with both versions of it."""
    path, text = mutant
    if tests:
        context.tried(
            trial_of(
                context,
                tests,
                f"a small change of {path}, and the tests as they were",
                f"{len(tests)} failed",
                {**older, path: text.encode()},
                files,
            )
        )
        context.tried(trial_of(context, tests, "the same change, and the tests as they are now", "they pass", {path: text.encode()}, files))


def failing(context: ProbeContext, files: tuple[str, ...], overlay: dict[str, bytes]) -> frozenset[str] | None:
    """The tests of some files that fail on the judged tree where files of it say something else; None where that cannot be told."""
    report = context.run(files, overlay, context.seconds)
    return None if report is None else report.bad


def changed_older(context: ProbeContext, now: TestReport, before: TestReport) -> frozenset[str]:
    """The older tests that were changed, or that lean on something that was, and that pass before and now."""
    passed = now.having("passed") & before.having("passed")
    found = set()
    for path in (c.path for c in context.changed if c.sort == "test" and c.how == "modified"):
        both = context.text(path, context.reference.good), context.text(path)
        names = changed_tests(path, *both) | standing_otherwise(path, *both)
        found |= {t for t in passed if file_of(now, t) == path and any(is_named(t, name) for name in names)}
    helpers = _helpers(context, before)
    users = {path for path in (set(now.files.values()) if helpers else ()) if any(_uses(context, path, helper) for helper in helpers)}
    return frozenset(found) | frozenset(test for test in passed if file_of(now, test) in users)


def _helpers(context: ProbeContext, before: TestReport) -> tuple[str, ...]:
    """Code that tests share, and that was changed."""
    return tuple(filter(is_shared_code, shared_files(context.changed, set(before.files.values()))))


def _uses(context: ProbeContext, path: str, helper: str) -> bool:
    return speaks_of(context.text(path, context.reference.good), helper)


def _mutants(context: ProbeContext, files: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Changes of the code that the older tests speak of: first functions that they name and that answer something else altogether."""
    said = "\n".join(context.text(path, context.reference.good) for path in files)
    words = {word for word in re.findall(r"[A-Za-z_]\w{2,}", said) if not word.startswith("test")}
    paths = speaking_of(context, words)
    tried = 0
    for path in paths:
        text = context.text(path)
        every = range(1, text.count("\n") + 2)
        for body in bodies_on(path, text, every):
            if body.name in words and tried < MOST_TRIED:
                tried += 1
                yield path, body.make()
    for path in paths:
        for mutant in mutants(path, context.text(path)):
            if tried >= MOST_TRIED:
                return
            tried += 1
            yield path, mutant


def speaking_of(context: ProbeContext, words: set[str]) -> list[str]:
    """The files of code that define something that the tests name."""
    named = sorted(words, key=lambda w: (-len(w), w))[:MOST_WORDS]
    if not named:
        return []
    pattern = [arg for word in named for arg in ("-e", word)]
    out = context.git.call("grep", "-l", "-z", "-w", "-F", *pattern, context.tree, "--")
    paths = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
    return [path for path in paths if context.sort(path) == "production"][:MOST_FILES]
