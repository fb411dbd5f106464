"""The proof card: what is proved about a branch as a whole, from its base to its tip. Also stores each run's newest card, for display only.

A card is made once for a pair of trees; landing, `verify` and `check` use the same one.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from detent.evidence.runners import Command
from detent.git.commits import Commit
from detent.kernel.model import Flag, Value
from detent.storage.state import read_sealed, write_sealed

Answer = Literal["clean", "flagged", "failed", "could-not-verify"]
LINE = re.compile(r"(?<!:):([1-9]\d*)$")  # the line number at the end of a place


class Trial(Value, frozen=True):
    """A test run that backs something on the card: which tree, which changes in it, and the result. Enough to repeat it by hand."""

    about: tuple[str, ...]  # what it backs: test ids, and flags as `KIND PLACE`
    what: str
    came: str
    on: Literal["base", "tip"] = "tip"
    laid: tuple[str, ...] = ()  # files replaced by those of the other tree
    patch: str = ""  # any other change, as a diff
    tests: tuple[str, ...] = ()  # the test files that ran; empty: all of them
    command: str = ""  # the command that ran instead of the tests
    said: dict[str, str] = {}  # the runner's message, by test id
    whole: bool = True  # False: the patch was too long to keep


class Card(Value, frozen=True, omit_defaults=False):
    """What was found out about a branch: failures as sentences, and flags for a person to look at."""

    base: str  # a tree
    tip: str  # a tree
    proved: tuple[str, ...] = ()  # fail-to-pass: tests that fail without this change and pass with it
    pins: tuple[str, ...] = ()  # new tests that pass on both sides
    kept: int = 0  # old tests that pass as before
    out: tuple[str, ...] = ()  # old tests that are gone; each has a flag or a failure
    known: tuple[str, ...] = ()  # fail-to-fail: already failing before, so not held against the change
    unstable: tuple[str, ...] = ()  # ids that differ between two runs of the same tree
    failed: tuple[str, ...] = ()  # what is certainly wrong: a regression, a lost or skipped test, a weakened one
    flags: tuple[Flag, ...] = ()
    tried: tuple[Trial, ...] = ()
    places: dict[str, str] = {}  # `path:line` of tests, and of flags whose place has no line
    unclear: str = ""  # why it could not be verified
    suites: float = 0.0  # cost, in runs of the whole suite
    seconds: float = 0.0

    @property
    def asks(self) -> tuple[Flag, ...]:
        """The flags that a person must answer before the branch lands."""
        return tuple(flag for flag in self.flags if flag.level == "ask")

    def at(self, place: str) -> str:
        """The location of a test or flag: `path:line`, or only its file."""
        return self.places.get(place) or (place if LINE.search(place) else place.partition("::")[0].partition(": ")[0])


def redacted(card: Card, redact: Callable[[str], str]) -> Card:
    """The card with secrets redacted from all text that did not come from Detent."""
    replace = msgspec.structs.replace
    flags = (replace(f, sentence=redact(f.sentence), before=redact(f.before), after=redact(f.after)) for f in card.flags)
    tried = (
        replace(t, came=redact(t.came), patch=redact(t.patch), said={test: redact(text) for test, text in t.said.items()})
        for t in card.tried
    )
    return replace(card, flags=tuple(flags), tried=tuple(tried), failed=tuple(map(redact, card.failed)), unclear=redact(card.unclear))


class Change(NamedTuple):
    """What a card is about: the difference between two trees."""

    name: str  # for people
    base: str  # the commit it starts from
    before: str  # a tree
    after: str  # a tree
    commits: tuple[Commit, ...]  # empty if not committed
    declared: str = ""  # what the change claims to be: refactor, docs, chore; empty: nothing
    paths: tuple[str, ...] = ()


class Checked(NamedTuple):
    """A change, its card, and how it was checked."""

    change: Change
    card: Card
    command: str
    sandbox: str
    kept: bool = False  # from an earlier check of the same two trees
    project: str = ""  # the folder it covers; empty: the whole repository, or the part outside all projects
    parts: tuple["Checked", ...] = ()  # one per project, if the change touches several
    installed: str = ""  # the command given by --install, and what it installed
    runs: Command | None = None  # how the tests were run

    @property
    def answer(self) -> Answer:
        """The result in one word: a failure outweighs what could not be verified, and that outweighs a flag."""
        card = self.card
        return "failed" if card.failed else "could-not-verify" if card.unclear else "flagged" if card.asks else "clean"


def keep_card(common: Path, run: str, found: Checked) -> None:
    text = msgspec.json.encode(found).decode()
    if read_sealed(_file(common, run)) != text:
        write_sealed(_file(common, run), text, durable=False)


def kept_card(common: Path, run: str) -> Checked | None:
    """The run's newest card, or None if there is none that this version can read."""
    text = read_sealed(_file(common, run))
    try:
        return msgspec.json.decode(text, type=Checked) if text is not None else None
    except msgspec.ValidationError:
        return None


def _file(common: Path, run: str) -> Path:
    return common / "detent" / "cards" / f"{run}.json"
