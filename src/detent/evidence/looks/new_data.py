"""New data for older tests: entries added to data files that the tests read, which may themselves need the change.

A test that lists what is unsupported has to change whenever something becomes supported. If the new data fails without the change under the old
tests, the changed behaviour has a proof of its own beside the rewritten test. Owns that one run; `rewritten_tests` raises the flags.
"""

import re

from detent.errors import CannotTell, Disturbed
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.report import TestReport

WORDS = re.compile(r"[\w.:+-]+")
LARGEST = 1_000_000  # characters of a data file


def asked_by_new_data(look: RepoLook, before: TestReport, tests: frozenset[str]) -> frozenset[str]:
    """The rewritten tests in whose file a test fails on the old code once it reads the new data."""
    data = _added(look, before) if tests else {}
    if not data:
        return frozenset()
    files = tuple(sorted({file_of(before, test) for test in tests}))
    try:
        seen = look.subject.collect.clean(look.changes.good, look.subject.wanted, files, data)
    except Disturbed:
        raise
    except CannotTell:
        return frozenset()
    needed = {file_of(before, test) for test in seen.bad & before.having("passed") & look.tests().having("passed")}
    return frozenset(test for test in tests if file_of(before, test) in needed)


def _added(look: RepoLook, before: TestReport) -> dict[str, bytes]:
    """The data files that are new, or that kept their content and gained some."""
    holding = {*before.files.values(), *look.tests().files.values()}
    overlay = look.changes.overlay(look.changes.good)
    return {path: data for path, data in overlay.items() if path not in holding and _only_adds(look, path)}


def _only_adds(look: RepoLook, path: str) -> bool:
    old, new = map(look.changes.text(path), (look.changes.good, look.changes.tree))
    if max(len(old), len(new)) > LARGEST:
        return False
    words = iter(WORDS.findall(new))
    return old != new and all(word in words for word in WORDS.findall(old))  # the old words in the same order, with new ones between
