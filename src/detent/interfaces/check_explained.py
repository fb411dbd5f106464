"""Renders the findings of `check --explain` as text and as JSON. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from detent.app.explain import MEANS, Explained, Repeated
from detent.blocks.check_card import SCHEMA, clickable, cut, fit_lines, row, wrapped
from detent.blocks.open_flags import hunk_of
from detent.kernel.model import Flag

MOST_OUTPUT = 12  # lines of a runner's output
MOST_CHANGED = 8  # lines that were changed for a trial
LEVELS = {"ask": "flag", "note": "note", "fail": "failed"}


def explained_lines(found: Sequence[Explained], width: int = 80) -> list[str]:
    """Each finding: what it is, both versions, what was tried, and the commands that show it, unwrapped so that they can be copied."""
    return [line for n, each in enumerate(found) for line in ([""] if n else []) + [*_lines(each, width)]]


def _lines(each: Explained, width: int) -> Iterator[str]:
    thing = each.thing
    label = LEVELS.get(thing.level, thing.kind)
    head = "  ".join(filter(None, (thing.kind if label != thing.kind else "", clickable(thing.place, each.checked.card))))
    yield cut(row(label, head), width)
    yield from wrapped("", thing.says, width, "  ") if thing.says else ()
    yield from wrapped("means", each.means if thing.kind in MEANS else f"{each.means}; see docs/flags.md", width)
    if hunk := hunk_of(Flag(thing.kind, "", before=thing.before, after=thing.after)):
        yield from ["both", *fit_lines(hunk, width)]
    if each.diff:
        yield from ["change", *fit_lines(each.diff.split("\n"), width)]
    for repeated in each.tried:
        yield from _tried(repeated, thing.place, width)
    yield from () if each.tried else [row("tried", "no test run was made for this alone")]
    yield from ["To see it yourself:", *each.lines]


def _tried(repeated: Repeated, place: str, width: int) -> Iterator[str]:
    """A trial and the first changed lines of its patch; the whole patch is in the commands that repeat it."""
    trial = repeated.trial
    yield from wrapped("tried", f"{trial.what}: {trial.came}", width)
    message = trial.said.get(place, "") if place in trial.about else "\n".join(trial.said.values())
    yield from fit_lines(message.splitlines()[:MOST_OUTPUT], width)
    changed = [line for line in trial.patch.splitlines() if line[:1] in ("-", "+") and line[:4] not in ("--- ", "+++ ")]
    yield from fit_lines(changed[:MOST_CHANGED], width)
    yield from () if trial.whole else [row("", "  the change that was tried is too long to keep")]


def explained_object(found: Sequence[Explained], wanted: str) -> dict[str, Any]:
    """The findings as a JSON object, documented in docs/check.md."""
    return {"schema": SCHEMA, "explains": wanted, "found": [_object(each) for each in found]}


def _object(each: Explained) -> dict[str, Any]:
    thing, change = each.thing, each.checked.change
    return {
        "range": change.name,
        "kind": thing.kind,
        "level": thing.level,
        "place": thing.place,
        "at": each.at,
        "says": thing.says,
        "means": each.means,
        "before": thing.before,
        "after": thing.after,
        "diff": each.diff,
        "tried": [_trial(repeated) for repeated in each.tried],
        "repeat": each.lines,
    }


def _trial(repeated: Repeated) -> dict[str, Any]:
    trial = repeated.trial
    return {
        "what": trial.what,
        "came": trial.came,
        "on": trial.on,
        "laid_over": list(trial.laid),
        "patch": trial.patch,
        "tests": list(trial.tests),
        "said": trial.said,
        "repeat": repeated.lines,
    }
