"""Whether a changed older test was weakened: the mutants that its old version killed should be killed by the new one.

Owns which mutants are tried, and for how long. Must not know gates.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice, zip_longest
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from detent.evidence.changes.projects import is_tooling
from detent.evidence.mutate import bodies_on, mutants, spots_on
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.outcomes.shared_test_files import is_shared_code, shared_files, speaks_of
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.trials import trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.changed_tests import changed_tests, standing_otherwise
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_ids import is_named

MOST_NOTICED = 3  # mutants that the old version killed: if the new one kills none of them, the test is weakened
ENOUGH = 10  # mutants of the code that some lines were about: if all are still killed, nothing was lost with these lines
PATIENCE = 9  # times the usual time limit, if a test missed a mutant but it is not yet certain that it misses all
MOST_FILES = 20
MOST_WORDS = 60
MOST_TRIED = 40
BEGINS = (
    r"(^|[[:space:]])(def|class|function|func|func [(][^)]*[)]|fn|const|let|var|module|struct|interface|type|trait)[[:space:]*]+(self[.])?"
)
LANGUAGES = (
    ".py .pyi",
    ".js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte",
    ".java .kt .groovy .scala",
    ".c .cc .cpp .cxx .h .hpp",
    ".cs .fs .vb",
)
MOST_OF_ONE = 4  # mutants of one definition
MOST_LINES = 40  # lines of a definition that are mutated
DEFINED = re.compile(
    r"\s*(?:export |default |public |static |async |abstract )*(?:def|class|function\*?|func(?: \([^)]*\))?|fn|const|module) (?:self\.)?(\w+)"
)


def weakened(
    context: ProbeContext, now: TestReport, before: TestReport, replaced: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> tuple[str, ...]:
    """The changed tests that pass before and now, and no longer kill any mutant that their old version killed. For tests in `replaced`, what
    their replacements kill counts.

    If time runs out, a test is named only if it, or all tests of its file together, missed enough mutants; that it changed is reported anyway.
    """
    changed = changed_older(context, now, before) | (replaced.keys() & before.having("passed"))
    if not changed:
        return ()
    files = tuple(sorted({file_of(now, test) for test in changed}))
    helpers = _helpers(context, before)
    older = {path: context.git.read(context.reference.good, path) or b"" for path in (*files, *helpers)}
    changed -= failing(context, files, older) or frozenset()  # the old version asks for what no longer holds: reported elsewhere
    missed: dict[str, int] = {}
    killing = set[str]()  # files in which a test still kills mutants
    until, open_ = context.clock() + context.seconds, set(changed)
    for path, text in _mutants(context, (*files, *helpers)):
        if not open_ or context.clock() > (until + PATIENCE * context.seconds if open_ & missed.keys() else until):
            break
        failed = open_ & (failing(context, files, {**older, path: bytes_of(text)}) or frozenset())
        noticing = failing(context, files, {path: bytes_of(text)}) if failed else None
        if noticing is None:
            continue
        failed -= {test for test in failed if file_of(now, test) in noticing}  # its file did not load, so it could not notice
        noticing |= {test for test, successors in replaced.items() if successors & noticing}
        open_ -= noticing
        killing |= {file_of(now, test) for test in failed & noticing}
        for test in failed - noticing:
            missed[test] = missed.get(test, 0) + 1
        _note(context, [test for test in sorted(failed - noticing) if missed[test] == 1], files, older, (path, text))
        open_ -= {test for test, n in missed.items() if n >= MOST_NOTICED}
        missed = {test: n for test, n in missed.items() if test not in noticing}
    else:
        return tuple(sorted(missed))  # everything was tried
    deaf = {
        path for path in files if path not in killing and sum(n for test, n in missed.items() if file_of(now, test) == path) >= MOST_NOTICED
    }
    return tuple(sorted(test for test, n in missed.items() if n >= MOST_NOTICED or file_of(now, test) in deaf))


class Noticing(NamedTuple):
    """What tests notice now, compared with what they noticed before."""

    less: frozenset[str] = frozenset()  # tests that killed a mutant that none of their replacements kills
    same: frozenset[str] = frozenset()  # tests that killed several, each of which a replacement kills


def compare_noticed(
    context: ProbeContext, before: TestReport, replaced: Mapping[str, frozenset[str]], about: Mapping[str, str] = MappingProxyType({})
) -> Noticing:
    """Compare the mutants that older tests killed with those that their replacements kill. `about`: by file, the text that says which code it is
    about, instead of the whole file.

    Stricter than `weakened`: there, the test's name is still in the report, so people know it was changed.
    """
    open_ = {test for test in replaced if test in before.having("passed")}
    files = tuple(sorted({file_of(before, test) for test in open_}))
    older = {path: context.git.read(context.reference.good, path) or b"" for path in (*files, *_helpers(context, before))}
    open_ -= failing(context, files, older) or frozenset() if open_ else frozenset()  # asks for what no longer holds: reported elsewhere
    found, until, noticed = set[str](), context.clock() + context.seconds, Counter[str]()
    for path, text in _mutants(context, files, about) if open_ else ():
        sure = {test for test in open_ if about and noticed[test] >= ENOUGH}
        if open_ == found | sure or context.clock() > until:
            break
        failed = (open_ - found) & (failing(context, files, {**older, path: bytes_of(text)}) or frozenset())
        noticing = failing(context, files, {path: bytes_of(text)}) if failed else None
        if noticing is None:
            continue
        less = {test for test in failed if not replaced[test] & noticing and file_of(before, test) not in noticing}
        _note(context, sorted(less), files, older, (path, text))
        found |= less
        noticed.update(failed - less)
    return Noticing(frozenset(found), frozenset(test for test in open_ - found if noticed[test] >= MOST_NOTICED))


def _note(context: ProbeContext, tests: list[str], files: tuple[str, ...], older: dict[str, bytes], mutant: tuple[str, str]) -> None:
    """Record the first mutant that tests killed before but not now, with both versions of the tests."""
    path, text = mutant
    if tests:
        context.tried(
            trial_of(
                context,
                tests,
                f"a small change to {path}, and the tests as they were",
                f"{len(tests)} failed",
                {**older, path: bytes_of(text)},
                files,
            )
        )
        context.tried(
            trial_of(context, tests, "the same change, and the tests as they are now", "they pass", {path: bytes_of(text)}, files)
        )


def failing(context: ProbeContext, files: tuple[str, ...], overlay: dict[str, bytes]) -> frozenset[str] | None:
    """The tests of some files that fail on the judged tree with an overlay; None if they could not be run."""
    report = context.run(files, overlay, context.seconds)
    return None if report is None else report.bad


def changed_older(context: ProbeContext, now: TestReport, before: TestReport) -> frozenset[str]:
    """The older tests that pass before and now, and that were changed or use a changed helper."""
    passed = now.having("passed") & before.having("passed")
    found = set()
    for path in (c.path for c in context.changed if c.sort == "test" and c.how == "modified"):
        versions = context.text(path, context.reference.good), context.text(path)
        names = changed_tests(path, *versions) | standing_otherwise(path, *versions)
        found |= {t for t in passed if file_of(now, t) == path and any(is_named(t, name) for name in names)}
    helpers = _helpers(context, before)
    users = {path for path in (set(now.files.values()) if helpers else ()) if any(_uses(context, path, helper) for helper in helpers)}
    return frozenset(found) | frozenset(test for test in passed if file_of(now, test) in users)


def _helpers(context: ProbeContext, before: TestReport) -> tuple[str, ...]:
    """The changed code files that tests share."""
    return tuple(filter(is_shared_code, shared_files(context.changed, set(before.files.values()))))


def _uses(context: ProbeContext, path: str, helper: str) -> bool:
    return speaks_of(context.text(path, context.reference.good), helper)


def _mutants(context: ProbeContext, files: tuple[str, ...], about: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[str, str]]:
    """Mutants of the code that the older tests use: first, functions they name that return something else entirely."""
    test_code = "\n".join(about[path] if path in about else context.text(path, context.reference.good) for path in files)
    words = {word for word in re.findall(r"[A-Za-z_]\w{2,}", test_code) if not word.startswith("test")}
    texts = {path: context.text(path) for path in speaking_of(context, words)}
    blunt = (
        (path, body.make())
        for path, text in texts.items()
        for body in bodies_on(path, text, range(1, text.count("\n") + 2))
        if body.name in words
    )
    near = (each for turn in zip_longest(*_defining(texts, words)) for each in turn if each is not None)
    anywhere = ((path, mutant) for path, text in texts.items() for mutant in mutants(path, text))
    yield from islice(chain(near, blunt, anywhere) if about else chain(blunt, anywhere), MOST_TRIED)


def _defining(texts: Mapping[str, str], words: set[str]) -> Iterator[list[tuple[str, str]]]:
    """For each definition named by one of these words, a few mutants spread over it: tests may name a class but not its methods."""
    for path, text in texts.items():
        heads = [n for n, line in enumerate(text.split("\n"), 1) if (found := DEFINED.match(line)) and found[1] in words]
        for head in heads:
            spots = [*spots_on(path, text, range(head, head + MOST_LINES))]
            yield [(path, spot.make()) for spot in spots[:: max(1, len(spots) // MOST_OF_ONE)][:MOST_OF_ONE]]


def speaking_of(context: ProbeContext, words: set[str]) -> list[str]:
    """The code files that define or use what the tests name, in a language that the tests can load; those that define most first."""
    named = sorted(words, key=lambda w: (-len(w), w))[:MOST_WORDS]
    if not named:
        return []
    defines = f"{BEGINS}({'|'.join(named)})([^[:alnum:]_]|$)"
    counted = context.git.call("grep", "-c", "-E", "-e", defines, context.tree, "--")
    rows = [line.removeprefix(f"{context.tree}:").rpartition(":") for line in counted.text.splitlines()] if counted.code == 0 else []
    most = sorted(rows, key=lambda row: -int(row[2]))
    out = context.git.call("grep", "-l", "-z", "-w", "-F", *(arg for word in named for arg in ("-e", word)), context.tree, "--")
    using = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
    spoken = {_language(c.path) for c in context.changed if c.sort == "test"}
    paths = dict.fromkeys((*(path for path, _, _ in most), *using))
    code = [path for path in paths if context.sort(path) == "production" and not is_tooling(path)]
    return ([path for path in code if _language(path) in spoken] or code)[:MOST_FILES]  # all of them if only test data changed


def _language(path: str) -> str:
    """The language of a file by its suffix; files of one language can load each other."""
    end = PurePosixPath(path).suffix
    return next((ends for ends in LANGUAGES if end in ends.split()), end)
