"""Whether a test notices the values that a refactoring brought: mutates each of them, at the step and again before the branch lands.

Owns what is tried, and the flags. Must not know phases or gates.
"""

from collections.abc import Iterable

from detent.evidence.changes.projects import is_tooling
from detent.evidence.mutate.other_values import other_values
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.report import TestReport
from detent.evidence.source.file_patterns import is_words
from detent.evidence.source.file_text import bytes_of
from detent.evidence.static_analysis.refactored_values import NewValue, new_values, still_there
from detent.evidence.static_analysis.weaker_code import weaker
from detent.kernel.model import Flag

MOST_VALUES = 4
MOST_OF_ONE = 5  # mutants of one line
BROUGHT = "a refactoring brought "  # how these flags begin


def doubt_values(context: ProbeContext, now: TestReport, patch: bytes) -> tuple[Flag, ...]:
    """The flags for what a refactoring changed and no test notices. What there is no time to try is a note: it is tried before the branch lands."""

    def is_code(path: str) -> bool:
        return context.sort(path) == "production" and not is_words(path) and not is_tooling(path)

    until = context.clock() + context.seconds
    return tuple(flag for value in new_values(patch, is_code)[:MOST_VALUES] if (flag := _flag(context, now, value, until)) is not None)


def doubt_again(context: ProbeContext, tip: TestReport, flags: Iterable[Flag], until: float) -> list[Flag]:
    """Those of a run's earlier flags about refactorings whose code still stands at the tip, and that no test notices there either."""
    return [flag for each in flags if is_doubt(each) and (flag := _again(context, tip, each, until)) is not None]


def is_doubt(flag: Flag) -> bool:
    """Whether a flag is one of these."""
    return flag.kind == "unnoticed" and flag.sentence.startswith(BROUGHT)


def _again(context: ProbeContext, tip: TestReport, flag: Flag, until: float) -> Flag | None:
    path, _, line = flag.place.rpartition(":")
    text = context.text(path)
    new = flag.after.split("\n")
    less = weaker(flag.before.split("\n"), new, new)
    value = NewValue(path, int(line), flag.before, flag.after, less)
    at = still_there(value, text)
    return _flag(context, tip, value._replace(line=at), until, last=True) if at else None


def _flag(context: ProbeContext, now: TestReport, value: NewValue, until: float, last: bool = False) -> Flag | None:
    place = f"{value.path}:{value.line}"
    first = value.after.strip().partition("\n")[0]
    message = f"{BROUGHT}{f'{value.what}: ' if value.what else ''}`{first}`"
    if value.what:
        seen = _is_noticed(context, now, value.path, [_restored(context, value)], until) if last else False
    else:
        text = context.text(value.path)
        made = [spot.make() for spot in other_values(value.path, text, {value.line})][:MOST_OF_ONE]
        seen = _is_noticed(context, now, value.path, made, until) if made else True
    if seen:
        return None
    if seen is None and not last:
        return Flag(
            "unnoticed", f"{message}; whether a test notices it is tried before the branch lands", place, value.before, value.after, "note"
        )
    sentence = "no test fails when that is undone" if value.what else "no test fails when its numbers or condition change"
    return Flag("unnoticed", f"{message}, and {sentence}", place, value.before, value.after)


def _restored(context: ProbeContext, value: NewValue) -> str:
    lines, after = context.text(value.path).split("\n"), value.line - 1 + len(value.after.split("\n"))
    return "\n".join([*lines[: value.line - 1], value.before, *lines[after:]])


def _is_noticed(context: ProbeContext, now: TestReport, path: str, made: list[str], until: float) -> bool | None:
    """Whether a test fails for each of these versions of a file; None: out of time. A version that does not load shows nothing."""
    for text in made:
        one, left = max(ONE_RUN, SLOWER * now.wall), until - context.clock()
        report = context.run((), {path: bytes_of(text)}, min(one, left))
        if left < one and (report is None or report.late):
            return None
        if report and not report.late and not report.bad - now.bad and len(report.ids) >= len(now.ids):
            return False
    return True
