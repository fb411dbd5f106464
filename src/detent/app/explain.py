"""`check --explain`: one finding of a card with everything known about it, and the shell commands
that repeat what was tried. Reads the card and the two trees; runs nothing."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from detent.errors import DetentError
from detent.evidence.outcomes.card import LINE, Card, Change, Checked, Trial
from detent.evidence.runners import Command
from detent.git.place import find_place
from detent.git.repo import Git
from detent.git.snapshot import BORROWED
from detent.kernel.model import KINDS

MEANS = {
    "proved": "the test fails without this change and passes with it",
    "pin": "the test is new, and passes with this change and without it",
    "known": "the test failed before and still fails",
    "failed": "what the change breaks for certain",
    "could-not-verify": "the tests could not be run properly",
}
MOST_LINES = 60  # of a diff
MOST_NAMES = 8
NEAR = 10  # lines of context


class Thing(NamedTuple):
    """One finding of a card: a failure, a flag or a test."""

    kind: str  # of a flag, or a word of MEANS
    level: str  # ask, note or fail; empty: nothing for a person to look at
    place: str
    says: str = ""
    before: str = ""
    after: str = ""


class Repeated(NamedTuple):
    """A trial, and the shell commands that repeat it."""

    trial: Trial
    lines: list[str]


class Explained(NamedTuple):
    """A finding, and all that is known about it."""

    thing: Thing
    checked: Checked
    at: str  # `path:line`, or only one of the two
    diff: str  # of the change, at that place
    tried: list[Repeated]
    lines: list[str]  # the commands that show it

    @property
    def means(self) -> str:
        """The meaning of its kind, in a sentence."""
        return MEANS.get(self.thing.kind) or KINDS[self.thing.kind].when


def explain(start: Path, env: Mapping[str, str], found: Sequence[Checked], wanted: str) -> list[Explained]:
    """The findings that `wanted` names: by place, else by kind, else by file, line or test name. Several may match."""
    git = Git(find_place(start), env)
    things = [(thing, part) for checked in found for part in checked.parts or (checked,) for thing in things_of(part.card)]
    for names in (_whole_names, _kinds, _parts):
        if meant := [(thing, checked) for thing, checked in things if wanted.removeprefix("./") in names(thing, checked.card)]:
            return [_explained(git, thing, checked) for thing, checked in meant]
    raise _unknown(wanted, things)


def things_of(card: Card) -> Iterator[Thing]:
    """The findings of a card, the worst first."""
    for failure in card.failed:
        kind = failure.rpartition(" (")[2].removesuffix(")")
        yield Thing(kind if kind in KINDS else "failed", "fail", place_of_failure(failure, card), failure)
    if card.unclear:
        yield Thing("could-not-verify", "fail", "", card.unclear)
    for flag in (*card.asks, *(flag for flag in card.flags if flag.level != "ask")):
        yield Thing(flag.kind, flag.level, flag.place, flag.sentence, flag.before, flag.after)
    for kind, tests in (("proved", card.proved), ("pin", card.pins), ("known", card.known)):
        yield from (Thing(kind, "", test) for test in tests)


def place_of_failure(failure: str, card: Card) -> str:
    """The place of a failure: the test it names, or the path it begins with."""
    tests = sorted((name for trial in card.tried for name in trial.about if failure.startswith(f"{name} ")), key=len)
    first = failure.partition(" ")[0].removesuffix(":")
    return tests[-1] if tests else first if "/" in first or "::" in first or "." in first.strip(".") else ""


# -- names -------------------------------------------------------------------------------------------------------------------


def _whole_names(thing: Thing, card: Card) -> set[str]:
    at = card.places.get(thing.place, thing.place)
    return {name for name in (thing.place, at) for name in (name, f"{thing.kind} {name}")} - {"", f"{thing.kind} "}


def _kinds(thing: Thing, card: Card) -> set[str]:
    return {thing.kind, "failed" if thing.level == "fail" else thing.kind}


def _parts(thing: Thing, card: Card) -> set[str]:
    """Short names of a finding: its file, and the function or test without the file."""
    path = _path(card.at(thing.place))
    name = thing.place.rpartition("::")[2].rpartition(": ")[2]
    return {path, name, name.partition("[")[0]} - {""}


def _shown_names(thing: Thing, card: Card) -> list[str]:
    return [name for name in (card.places.get(thing.place, thing.place), thing.kind, *sorted(_parts(thing, card))) if name]


def _unknown(wanted: str, things: Sequence[tuple[Thing, Checked]]) -> DetentError:
    names = list(dict.fromkeys(name for thing, checked in things for name in _shown_names(thing, checked.card)))
    near = get_close_matches(wanted, names, MOST_NAMES, 0.5) or names[:MOST_NAMES]
    hint = f"did you mean: {', '.join(near)}" if near else "there is nothing on it to explain"
    return DetentError(f"nothing on this card is called '{wanted}'", hint)


# -- the explanation -------------------------------------------------------------------------------------------------------------


def _explained(git: Git, thing: Thing, checked: Checked) -> Explained:
    card, change = checked.card, checked.change
    names = (f"{thing.kind} {thing.place}", thing.place) if thing.place else ()
    tried = next(filter(None, ([trial for trial in card.tried if name in trial.about] for name in names)), [])
    at = card.at(thing.place)
    file = _path(at).removeprefix(f"{checked.project}/") if checked.project else _path(at)  # the path inside its project
    own = [replace(trial, tests=(file,)) if "::" in thing.place and file in trial.tests else trial for trial in tried]
    repeated = [Repeated(trial, lines_that_repeat(trial, change, checked.runs, git.place.root, checked.project)) for trial in own]
    lines = next((each.lines for each in repeated if each.lines), []) or _looking(git, thing, checked, at)
    return Explained(thing, checked, at, _diff(git, checked, at), repeated, lines)


def _diff(git: Git, checked: Checked, at: str) -> str:
    """The diff at a place: the hunk around its line, or the diff of the whole file."""
    found = LINE.search(at)
    path, line = _path(at), int(found[1]) if found else 0
    if path not in checked.change.paths:
        return ""
    how = ("diff", "--no-color", "--no-ext-diff", "--no-renames")
    text = git.call(*how, checked.change.before, checked.change.after, "--", f":(literal){path}").text
    head, *hunks = text.split("\n@@ ")
    around = [near for hunk in hunks if (near := _around(hunk, line))]
    lines = "\n".join(f"@@ {hunk}" for hunk in around or hunks).split("\n") if hunks else head.split("\n")
    return "\n".join([*lines[:MOST_LINES], *([f"[{len(lines) - MOST_LINES} more lines]"] if len(lines) > MOST_LINES else [])])


def _around(hunk: str, line: int) -> str:
    """The part of a hunk near a line of the new file; empty if the line is not in it."""
    head, *lines = hunk.split("\n")
    first = int(head.partition("+")[2].partition(" ")[0].partition(",")[0])
    numbers = [*accumulate(int(not each.startswith("-")) for each in lines)]
    if line - first + 1 not in numbers:
        return ""
    at = numbers.index(line - first + 1)
    start = max(at - NEAR, 0)
    return "\n".join([head, *(["…"] if start else []), *lines[start : at + NEAR + 1], *(["…"] if len(lines) > at + NEAR + 1 else [])])


def _looking(git: Git, thing: Thing, checked: Checked, at: str) -> list[str]:
    """The commands for a finding without a trial of its own: show the diff, or run the tests."""
    change, path = checked.change, _path(at)
    if path in change.paths and thing.level != "fail":
        return [f"git diff {change.before[:12]} {change.after[:12]} -- {shlex.quote(path)}"]
    file = path.removeprefix(f"{checked.project}/") if checked.project else path
    plain = Trial((), "", "", "base" if thing.kind == "known" else "tip", tests=(file,) if path and "::" in thing.place else ())
    return lines_that_repeat(plain, change, checked.runs, git.place.root, checked.project)


def _path(at: str) -> str:
    return LINE.sub("", at)


TAKE_FILES = ("pytest", "vitest", "jest", "mocha", "node", "rspec", "phpunit")  # runners that take test files as arguments
END = "END"


def lines_that_repeat(trial: Trial, change: Change, runs: Command | None, home: Path, project: str = "") -> list[str]:
    """The shell commands that repeat a trial, in the folder of its project; none where its patch was too long to keep."""
    if not trial.whole:
        return []
    here, there = (_base(change), _tip(change)) if trial.on == "base" else (_tip(change), _base(change))
    laid = [f"git checkout -q {there} -- {shlex.join(trial.laid)}"] if trial.laid else []
    return [
        "look=$(mktemp -d)",
        f'git worktree add -q --detach "$look" {here}',
        'cd "$look"',
        *(f"ln -s {shlex.quote(str(home / name))} {name}" for name in BORROWED if (home / name).is_dir()),
        *([f"cd {shlex.quote(project)}"] if project else []),
        *laid,
        *_patched(trial.patch, project),
        trial.command or _command(trial, runs),
        f'cd {shlex.quote(str(home))} && git worktree remove --force "$look"',
    ]


def _base(change: Change) -> str:
    return change.base[:12]


def _tip(change: Change) -> str:
    """The tip for a shell command: its commit, or a commit made of the uncommitted tree."""
    return change.commits[-1].hash[:12] if change.commits else f"$(git commit-tree {change.after[:12]} -p HEAD -m look)"


def _patched(patch: str, project: str) -> list[str]:
    below = f" --directory={shlex.quote(project)}" if project else ""
    return [f"git apply{below} <<'{END}'", *patch.removesuffix("\n").split("\n"), END] if patch else []


def _command(trial: Trial, runs: Command | None) -> str:
    """The test command, limited to the trial's test files where the runner can."""
    if runs is None:
        return "true  # no test framework is recognised here"
    if runs.runner not in TAKE_FILES or not trial.tests:
        return _ours(runs) + runs.text
    return _ours(runs) + shlex.join([*(word for word in runs.argv if word not in runs.paths), *trial.tests])


def _ours(runs: Command) -> str:
    """Put the code beside the tests first: an editable install would import the person's checkout."""
    return "PYTHONPATH=.:src " if runs.runner in ("pytest", "unittest") else ""
