"""Whether tests notice what a change removed: restores each removed piece and runs the tests. Likewise removes each new early exit from older
code. Owns what is tried, and the flags."""

from typing import Literal

import msgspec

from detent.evidence.changes.projects import is_tooling
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.removed_lines import SAFETY, ChangedPiece, added, removed
from detent.evidence.probes.trials import result_in_words, trial_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_patterns import is_words
from detent.evidence.source.file_text import bytes_of
from detent.kernel.model import Flag

MOST_CHECKS = 4
MOST_OTHERS = 3
MOST_NEW = 3
MOST_NAMED = 5  # untried places named in a flag


def try_restoring(context: ProbeContext, tip: TestReport, patch: bytes, until: float, files: tuple[str, ...] = ()) -> list[Flag]:
    """Flags for checks whose removal no test notices, and notes for other removed lines. `files`: the test files most likely to notice."""

    def is_code(path: str) -> bool:
        return context.sort(path) == "production" and not is_words(path) and not is_tooling(path)

    removals, new = removed(patch, is_code, context.text), added(patch, is_code, context.text)
    checks, others = [each for each in removals if each.guard], [each for each in removals if not each.guard]
    tried = [*((each, _flag) for each in (*checks[:MOST_CHECKS], *others[:MOST_OTHERS])), *((each, _flag_new) for each in new[:MOST_NEW])]
    seen = [(each, flag, _is_unnoticed(context, tip, each, until, files)) for each, flag in tried]
    late = [each for each, _, unnoticed in seen if unnoticed is None]
    left = [*checks[MOST_CHECKS:], *others[MOST_OTHERS:], *new[MOST_NEW:], *late]
    hides = any(each.sure and (each.what or SAFETY.search(each.text)) for each in (*checks[MOST_CHECKS:], *late))
    noticed = {each.form: f"{each.path}:{each.line}" for each, _, unnoticed in seen if unnoticed is False and each.form}
    flags = [_beside(flag(each), noticed.get(each.form, "")) for each, flag, unnoticed in seen if unnoticed]
    return [*flags, *_left_out(left, len(removals) + len(new), hides)]


def _beside(flag: Flag, place: str) -> Flag:
    """The flag, lowered to a note if a test notices the same change at another place."""
    sentence = f"{flag.sentence}; a test notices the same change at {place}"
    return msgspec.structs.replace(flag, sentence=sentence, level="note") if place else flag


def _left_out(left: list[ChangedPiece], every: int, hides: bool) -> list[Flag]:
    """A flag that names what was not tried. `hides`: it includes a check about permissions or safety, which the sheer number of removals or slow
    tests may have been meant to hide."""
    if not left:
        return []
    places = list(dict.fromkeys(f"{each.path}:{each.line}" for each in left))
    named = ", ".join(places[:MOST_NAMED]) + (f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else "")
    what = "removed pieces of code, or new early exits, were restored or removed to see whether a test notices"
    level: Literal["note", "ask"] = "ask" if hides else "note"
    return [Flag("weak-evidence", f"not everything was tried: only {every - len(left)} of {every} {what}; not {named}", level=level)]


def _flag_new(piece: ChangedPiece) -> Flag:
    sentence = f"{piece.path} has a new early exit in older code, and no test fails when it is removed"
    if piece.what:
        sentence = f"{piece.what} in {piece.path}, but no test fails when that is undone"
    return Flag("unnoticed", sentence, f"{piece.path}:{piece.line}", after=piece.text, level="ask" if piece.sure else "note")


def _flag(piece: ChangedPiece) -> Flag:
    what = "check" if piece.guard else "piece of code"
    sentence = f"a {what} in {piece.path} was removed or changed, and no test fails when it is restored"
    if piece.what:
        sentence = f"{piece.what} in {piece.path}, but no test fails when that is undone"
    level: Literal["note", "ask"] = "ask" if piece.sure else "note"
    return Flag("unnoticed", sentence, f"{piece.path}:{piece.line}", before=piece.text, level=level)


def _is_unnoticed(context: ProbeContext, tip: TestReport, piece: ChangedPiece, until: float, files: tuple[str, ...]) -> bool | None:
    """Whether no further test fails with the piece restored at one of its possible places; None: out of time.

    `files` run first: if one of their tests fails, the rest need not run."""
    for make in piece.make:
        if not (text := make()):
            continue
        few = _ran(context, tip, piece.path, text, files, until) if files else None
        if few is not None and few.bad - tip.bad:
            continue
        report = _ran(context, tip, piece.path, text, (), until)
        if report is None and context.clock() >= until:
            return None
        if report is not None and len(report.ids) >= len(tip.ids) and not report.bad - tip.bad:
            what = "the code restored, or the new early exit removed"
            context.tried(
                trial_of(context, [f"unnoticed {piece.path}:{piece.line}"], what, result_in_words(report), {piece.path: bytes_of(text)})
            )
            return True
    return False


def _ran(context: ProbeContext, tip: TestReport, path: str, text: str, files: tuple[str, ...], until: float) -> TestReport | None:
    """The report of some test files, or of all, with another text in one file; None if they did not run to the end."""
    report = context.run(files, {path: bytes_of(text)}, context.one_run(tip.wall, until))
    return None if report is None or report.late else report
