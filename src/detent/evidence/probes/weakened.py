"""Whether an older test that was changed still notices what it noticed: small changes of the code that it failed for make it fail again.

Owns which changes are tried, and for how long; knows no gates.
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

MOST_NOTICED = 3  # changes that a test failed for before: if it fails for none of them now, it is weakened
ENOUGH = 10  # changes of the code that lines were about: if all of them are still noticed, nothing was lost with these lines
PATIENCE = 9  # times the usual time, where a test missed something and it is not yet known whether that is all
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
MOST_OF_ONE = 4  # small changes of one definition
MOST_LINES = 40  # of a definition that are looked at
DEFINED = re.compile(
    r"\s*(?:export |default |public |static |async |abstract )*(?:def|class|function\*?|func(?: \([^)]*\))?|fn|const|module) (?:self\.)?(\w+)"
)


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
    until, open_ = context.clock() + context.seconds, set(changed)
    for path, text in _mutants(context, (*files, *helpers)):
        if not open_ or context.clock() > (until + PATIENCE * context.seconds if open_ & missed.keys() else until):
            break
        failed = open_ & (failing(context, files, {**older, path: bytes_of(text)}) or frozenset())
        noticing = failing(context, files, {path: bytes_of(text)}) if failed else None
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


class Noticing(NamedTuple):
    """How what tests notice now compares with what they noticed."""

    less: frozenset[str] = frozenset()  # failed for a small change of the code for which nothing in its place fails
    same: frozenset[str] = frozenset()  # failed for several, and for each of them something in its place fails


def compare_noticed(
    context: ProbeContext, before: TestReport, replaced: Mapping[str, frozenset[str]], about: Mapping[str, str] = MappingProxyType({})
) -> Noticing:
    """What older tests noticed, against what the tests in their place do. `about`: by file, the words that say which code it is about; else all of the file.

    Stricter than of a test that was changed: who sees its name in a report knows that it was there.
    """
    open_ = {test for test in replaced if test in before.having("passed")}
    files = tuple(sorted({file_of(before, test) for test in open_}))
    older = {path: context.git.read(context.reference.good, path) or b"" for path in (*files, *_helpers(context, before))}
    open_ -= failing(context, files, older) or frozenset() if open_ else frozenset()  # what it asks for is not so any more: shown elsewhere
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
    """The first change that a test failed for and passes for now, with both versions of it."""
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


def _mutants(context: ProbeContext, files: tuple[str, ...], about: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[str, str]]:
    """Changes of the code that the older tests speak of: first functions that they name and that answer something else altogether."""
    said = "\n".join(about[path] if path in about else context.text(path, context.reference.good) for path in files)
    words = {word for word in re.findall(r"[A-Za-z_]\w{2,}", said) if not word.startswith("test")}
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
    """For each definition of one of these words, a few small changes of it, from all over it: a class may be named where its methods are not."""
    for path, text in texts.items():
        heads = [n for n, line in enumerate(text.split("\n"), 1) if (found := DEFINED.match(line)) and found[1] in words]
        for head in heads:
            spots = [*spots_on(path, text, range(head, head + MOST_LINES))]
            yield [(path, spot.make()) for spot in spots[:: max(1, len(spots) // MOST_OF_ONE)][:MOST_OF_ONE]]


def speaking_of(context: ProbeContext, words: set[str]) -> list[str]:
    """The files of code that define or use something that the tests name, in a language that their tests can load: those that define most first."""
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
    return ([path for path in code if _language(path) in spoken] or code)[:MOST_FILES]  # only data of tests may have changed


def _language(path: str) -> str:
    """What a file is written in, by its end: files of one language can load each other."""
    end = PurePosixPath(path).suffix
    return next((ends for ends in LANGUAGES if end in ends.split()), end)
