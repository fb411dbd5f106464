"""Runs the tests of a change again in disguise: other names, order, folder and line numbers, and an extra word at the end of the code files.
Honest code gives the same outcomes; code that checks who is calling does not.

Owns what is run, and what counts as a difference: one that recurs under other names while the plain tests pass again.
"""

from typing import Literal, NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.renamed import Renamed, looks_at_itself, original_id, renamed, with_comment
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.trials import failure_messages, result_in_words, trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_patterns import ALWAYS_DATA, is_below_tests
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_blocks import blocks
from detent.kernel.model import Flag

MOST_SHOWN = 5
CODE = (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rb", ".rs", ".md", ".rst")


class DisguisedTests(NamedTuple):
    """Test files in disguise: the overlay to run, and the mapping back to the real names."""

    overlay: dict[str, bytes | None]
    files: dict[str, Renamed]  # by their real path
    folder: str


def look_disguised(context: ProbeContext, tip: TestReport, files: tuple[str, ...], until: float) -> list[Flag]:
    """Flags for tests that pass only under their own name."""
    first = _seen(context, tip, files, KeyedRandom(context.key, "disguise"), False, until)
    if first is None or not (differs := _differing(tip, *first)):
        return []
    again = _seen(context, tip, files, KeyedRandom(context.key, "again"), True, until)
    plain = _run(context, tip, files, {}, "", until)
    if again is None or plain is None:
        return []
    steady = set(differs) & plain.having("passed")
    named = {test: differing for test, differing in _differing(tip, *again).items() if test in steady}
    _note(context, differs, *(again if named else first), steady)
    if named:
        return [_flag(context, test, *differing) for test, differing in sorted(named.items())[:MOST_SHOWN]]
    sentence = "passes only in the order of its file: another test, or another call, decides what the code returns"
    return [Flag("knows-the-tests", f"{test} {sentence}", test, level="note") for test in sorted(steady)[:MOST_SHOWN]]


def _note(context: ProbeContext, differs: dict[str, tuple[str, str]], made: DisguisedTests, report: TestReport, tests: set[str]) -> None:
    about = [f"knows-the-tests {test}" for test in sorted(tests)]
    messages = failure_messages(report, (differs[test][0] for test in tests))
    files = [each.path for each in made.files.values()]
    context.tried(
        trial_of(
            context,
            about,
            "the tests under other names, in another order and place",
            result_in_words(report),
            made.overlay,
            files,
            messages,
        )
    )


def _flag(context: ProbeContext, test: str, name: str, message: str) -> Flag:
    """A question, but only a note if the test's own text inspects its name or lines."""
    sentence = f"{test} passes, but fails under another name ({name}): the code, or something it loads, checks who is calling"
    path = test.partition("::")[0]
    level: Literal["note", "ask"] = "note" if looks_at_itself(path, context.text(path)) else "ask"
    return Flag("knows-the-tests", sentence, test, f"{test}: passed", f"{name}: failed\n{message[:500]}".strip(), level=level)


def disguised(context: ProbeContext, files: tuple[str, ...], rng: KeyedRandom, ordered: bool) -> DisguisedTests:
    """Disguise test files. A file that other tests refer to keeps its name; one whose names are keys of data files is left out."""
    overlay, made = dict[str, bytes | None](), dict[str, Renamed]()
    texts = {path: context.text(path) for path in files}
    for path, text in texts.items():
        if _keys_data(context, path, text):
            continue
        found = renamed(path, text, rng, ordered, moves=not _is_named_elsewhere(context, path))
        if found is not None:
            made[path] = found
            overlay |= {path: None, found.path: bytes_of(found.text)}
    for change in context.changed:
        if made and change.sort == "production" and change.how != "deleted" and not change.inside:
            more = with_comment(change.path, context.text(change.path), rng)
            overlay |= {change.path: bytes_of(more)} if more else {}
    return DisguisedTests(overlay, made, rng.word())


def _seen(
    context: ProbeContext, tip: TestReport, files: tuple[str, ...], rng: KeyedRandom, ordered: bool, until: float
) -> tuple[DisguisedTests, TestReport] | None:
    made = disguised(context, files, rng, ordered)
    if not made.files:
        return None
    report = _run(context, tip, tuple(each.path for each in made.files.values()), made.overlay, made.folder, until)
    if report is not None and not ordered and any(report.files.get(test) == test for test in report.bad):
        return _seen(context, tip, files, rng, True, until)  # a file did not load: in the new order something is used before it is defined
    return None if report is None else (made, report)


def _run(
    context: ProbeContext, tip: TestReport, files: tuple[str, ...], overlay: dict[str, bytes | None], folder: str, until: float
) -> TestReport | None:
    report = context.run(files, overlay, context.one_run(tip.wall, until), name=folder)
    return None if report is None or report.late or not report.ids else report


def _differing(tip: TestReport, made: DisguisedTests, report: TestReport) -> dict[str, tuple[str, str]]:
    """The tests that pass plainly but fail in disguise, each with its other name and the message of the failure."""
    found = dict[str, tuple[str, str]]()
    passed = tip.having("passed")
    for test in report.bad:
        file = report.files.get(test, test.partition("::")[0])
        of = next((each for each in made.files.values() if each.path == file), None)
        if of is None:
            continue
        ours = {original_id(test, of)} if file != test else _of_file(tip, made, file) if _is_of_code(report, test, made) else set()
        found |= {plain: (test, report.messages.get(test, "")) for plain in ours & passed}
    return found


def _of_file(tip: TestReport, made: DisguisedTests, file: str) -> set[str]:
    """The plain tests of a file that does not load in disguise."""
    plain = {old for old, each in made.files.items() if each.path == file}
    return {test for test in tip.ids if tip.files.get(test, test.partition("::")[0]) in plain}


def _is_of_code(report: TestReport, test: str, made: DisguisedTests) -> bool:
    """Whether a file did not load because of the changed code, rather than because the test file lacks something."""
    return report.places.get(test, "").rpartition(":")[0] in set(made.overlay) - {each.path for each in made.files.values()}


def _is_named_elsewhere(context: ProbeContext, path: str) -> bool:
    """Whether another test file or configuration mentions a test file."""
    return any(
        each != path and context.sort(each) in ("test", "config") and each.endswith(CODE) for each in _speaking(context, [_stem(path)])
    )


def _keys_data(context: ProbeContext, path: str, text: str) -> bool:
    """Whether data is keyed by the name of a test file or its tests: a snapshot, a cassette, a folder of that name."""
    stem = _stem(path)
    paths = context.paths()
    names = [stem, *(name.rpartition("::")[2] for name in blocks(path, text))]
    if any(each != path and _is_data(each) and any(name in each.rpartition("tests/")[2] for name in names) for each in paths):
        return True
    return any(_is_data(each) for each in _speaking(context, names[:50]))


def _is_data(path: str) -> bool:
    return path.endswith(ALWAYS_DATA) or (is_below_tests(path) and not path.endswith(CODE))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _speaking(context: ProbeContext, words: list[str]) -> list[str]:
    """The files in the tree that contain one of these words."""
    out = context.git.call("grep", "-l", "-z", "-w", "-F", *(arg for word in words for arg in ("-e", word)), context.tree, "--")
    return [each.partition(":")[2] for each in out.items] if out.code == 0 else []
