"""New data of older tests: rows that were added to what the tests read, and that ask for the change by themselves.

A test that lists what is not supported yet changes with every change that supports more of it. Where new data fail without the change, under
the tests as they were, the change of behaviour has a proof beside the rewritten test. Owns that one run; what follows is told elsewhere.
"""

import re

from detent.errors import CannotTell, Disturbed
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.report import TestReport

WORDS = re.compile(r"[\w.:+-]+")
LARGEST = 1_000_000  # characters of a file of data


def asked_by_new_data(look: RepoLook, before: TestReport, tests: frozenset[str]) -> frozenset[str]:
    """Of older tests that are written differently now: those in whose file a test fails on the old code once it reads the new data."""
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
    """The files beside the tests that came, or that say what they said and more."""
    holding = {*before.files.values(), *look.tests().files.values()}
    overlay = look.changes.overlay(look.changes.good)
    return {path: data for path, data in overlay.items() if path not in holding and _only_adds(look, path)}


def _only_adds(look: RepoLook, path: str) -> bool:
    old, new = map(look.changes.text(path), (look.changes.good, look.changes.tree))
    if max(len(old), len(new)) > LARGEST:
        return False
    words = iter(WORDS.findall(new))
    return old != new and all(word in words for word in WORDS.findall(old))  # in the same order, with others between
