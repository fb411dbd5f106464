"""Records what was tried for a card so that it can be repeated: the diff that a run was made with, and its result in words. Pure apart from
reading trees."""

from collections.abc import Callable, Iterable, Mapping
from difflib import unified_diff

from detent.evidence.outcomes.card import Trial
from detent.evidence.probes.context import ProbeContext
from detent.evidence.report import TestReport

LONGEST = 60_000  # characters of a patch
LONGEST_MESSAGE = 1_500  # characters of a runner's message for one test
MOST_TESTS = 200  # tests whose message is kept
NO_END = "\\ No newline at end of file\n"
Overlay = Mapping[str, bytes | None]


def trial_of(
    context: ProbeContext,
    about: Iterable[str],
    what: str,
    result: str,
    overlay: Overlay,
    tests: Iterable[str] = (),
    messages: Mapping[str, str] | None = None,
    on_base: bool = False,
) -> Trial:
    """Make the record of a run. Overlaid files that equal those of the other tree are only named; all others go into a patch."""
    here, there = (context.reference.good, context.tree) if on_base else (context.tree, context.reference.good)
    laid = tuple(sorted(path for path, data in overlay.items() if data is not None and data == context.git.read(there, path)))
    rest = {path: data for path, data in sorted(overlay.items()) if path not in laid}
    patch = patch_of(lambda path: context.git.read(here, path), rest)
    short = patch is not None and len(patch) <= LONGEST
    return Trial(
        tuple(about),
        what,
        result,
        "base" if on_base else "tip",
        laid,
        patch if patch is not None and short else "",
        tuple(sorted(tests)),
        said=dict(messages or {}),
        whole=short,
    )


def result_in_words(report: TestReport) -> str:
    """The result of a run, in words."""
    if not report.ids:
        return "no test ran"
    counts = [(len(report.having("passed")), "passed"), (len(report.bad), "failed"), (len(report.having("skipped")), "skipped")]
    return ", ".join(f"{count} {how}" for count, how in counts if count)


def failure_messages(report: TestReport, tests: Iterable[str]) -> dict[str, str]:
    """The runner's messages for some tests, or for their file if a test has none."""
    found = {test: report.messages.get(test) or report.messages.get(test.partition("::")[0]) or "" for test in sorted(tests)[:MOST_TESTS]}
    return {test: text[:LONGEST_MESSAGE] for test, text in found.items() if text}


def patch_of(read: Callable[[str], bytes | None], overlay: Overlay) -> str | None:
    """A patch for `git apply`; None if a file is not text."""
    try:
        parts = [_patch(path, _text(read(path)), _text(data)) for path, data in overlay.items()]
    except UnicodeDecodeError:
        return None
    return "".join(parts)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8")


def _patch(path: str, old: str | None, new: str | None) -> str:
    if old == new:
        return ""
    name = f"{path}\t" if " " in path else path
    was, now = (f"{side}/{name}" if text is not None else "/dev/null" for side, text in (("a", old), ("b", new)))
    lines = unified_diff(_lines(old), _lines(new), was, now)
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_END}" for line in lines)


def _lines(text: str | None) -> list[str]:
    """Lines as git splits them: only at line feeds."""
    parts = (text or "").split("\n")
    return [*(f"{part}\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]
