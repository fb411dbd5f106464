"""The proof card: what a branch is worth as a whole, from its base to its tip; and the newest of each run, which is only shown.

Made once for a pair of trees, and used alike where a branch lands, by `verify` and by `check`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from detent.evidence.runners import Command
from detent.git.commits import Commit
from detent.kernel.model import Flag, Value
from detent.storage.state import keep, kept

Answer = Literal["clean", "flagged", "failed", "could-not-verify"]
LINE = re.compile(r"(?<!:):([1-9]\d*)$")  # of a place


class Trial(Value, frozen=True):
    """One run that something on the card stands on: on which tree, with what in it, and what came of it. It can be repeated by hand."""

    about: tuple[str, ...]  # tests, and flags as `KIND PLACE`
    what: str
    came: str
    on: Literal["base", "tip"] = "tip"
    laid: tuple[str, ...] = ()  # files of the other tree that were laid over it
    patch: str = ""  # what else was changed, as a diff
    tests: tuple[str, ...] = ()  # the test files that were run; none: all of them
    command: str = ""  # what was run instead of the tests
    said: dict[str, str] = {}  # of single tests: what the runner said
    whole: bool = True  # the patch is all that was changed; one that is too long is not kept


class Card(Value, frozen=True, omit_defaults=False):
    """What was found of a branch. Failures are sentences; what a person should look at is a flag."""

    base: str  # the trees
    tip: str
    proved: tuple[str, ...] = ()  # fail-to-pass: tests that fail without this change and pass with it
    pins: tuple[str, ...] = ()  # new tests that pass on both sides
    kept: int = 0  # old tests that pass as before
    out: tuple[str, ...] = ()  # old tests that are not there any more; a flag or a failure tells of them
    known: tuple[str, ...] = ()  # fail-to-fail: they failed before, and are not held against the change
    unstable: tuple[str, ...] = ()  # ids that differ between two runs of one tree
    failed: tuple[str, ...] = ()  # what is certainly wrong: a regression, a lost or skipped test, a weakened one
    flags: tuple[Flag, ...] = ()
    tried: tuple[Trial, ...] = ()
    places: dict[str, str] = {}  # of tests, and of flags whose place has no line: `path:line`
    unclear: str = ""  # why it could not be verified
    suites: float = 0.0  # the cost, in runs of the whole suite
    seconds: float = 0.0

    @property
    def asks(self) -> tuple[Flag, ...]:
        """The flags that a person is asked about before the branch lands."""
        return tuple(flag for flag in self.flags if flag.level == "ask")

    def at(self, place: str) -> str:
        """Where something on the card stands: `path:line`, or its file."""
        return self.places.get(place) or (place if LINE.search(place) else place.partition("::")[0].partition(": ")[0])


def redacted(card: Card, redact: Callable[[str], str]) -> Card:
    """The card without keys, wherever the words of others stand on it."""
    replace = msgspec.structs.replace
    flags = (replace(f, sentence=redact(f.sentence), before=redact(f.before), after=redact(f.after)) for f in card.flags)
    tried = (
        replace(t, came=redact(t.came), patch=redact(t.patch), said={test: redact(text) for test, text in t.said.items()})
        for t in card.tried
    )
    return replace(card, flags=tuple(flags), tried=tuple(tried), failed=tuple(map(redact, card.failed)), unclear=redact(card.unclear))


class Change(NamedTuple):
    """What a card is about: everything that one tree has over another."""

    name: str  # as people say it
    base: str  # the commit that it starts from
    before: str  # the trees
    after: str
    commits: tuple[Commit, ...]  # none where it is not committed
    declared: str = ""  # what it says of itself: refactor, docs, chore; empty: nothing
    paths: tuple[str, ...] = ()


class Checked(NamedTuple):
    """A change, its card, and how it was looked at."""

    change: Change
    card: Card
    command: str
    sandbox: str
    kept: bool = False  # found before, for the same two trees
    project: str = ""  # the folder that it is about; empty: the repository, or what of it is in no project
    parts: tuple["Checked", ...] = ()  # one for each project, where they are not one
    installed: str = ""  # by --install, and what it had
    runs: Command | None = None  # how the tests were run

    @property
    def answer(self) -> Answer:
        """One word. What fails outweighs what cannot be told, and that what a person should look at."""
        card = self.card
        return "failed" if card.failed else "could-not-verify" if card.unclear else "flagged" if card.asks else "clean"


def keep_card(common: Path, run: str, found: Checked) -> None:
    text = msgspec.json.encode(found).decode()
    if kept(_file(common, run)) != text:
        keep(_file(common, run), text, durable=False)


def kept_card(common: Path, run: str) -> Checked | None:
    """None: no look was taken yet, or not by this version."""
    text = kept(_file(common, run))
    try:
        return msgspec.json.decode(text, type=Checked) if text is not None else None
    except msgspec.ValidationError:
        return None


def _file(common: Path, run: str) -> Path:
    return common / "detent" / "cards" / f"{run}.json"
