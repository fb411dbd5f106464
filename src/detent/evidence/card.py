"""The proof card: what a branch is worth as a whole, from its base to its tip. Values only.

Made once for a pair of trees, and used alike where a branch lands, by `verify` and by `check`.
"""

from typing import Literal, NamedTuple

from detent.git.history import Commit
from detent.kernel.model import Flag, Value

Answer = Literal["clean", "flagged", "failed", "could-not-verify"]


class Card(Value, frozen=True, omit_defaults=False):
    """What was found of a branch. Failures are sentences; what a person should look at is a flag."""

    base: str  # the trees
    tip: str
    proved: tuple[str, ...] = ()  # fail-to-pass: tests that fail without this change and pass with it
    pins: tuple[str, ...] = ()  # new tests that pass on both sides
    kept: int = 0  # old tests that pass as before
    known: tuple[str, ...] = ()  # fail-to-fail: they failed before, and are not held against the change
    unstable: tuple[str, ...] = ()  # ids that differ between two runs of one tree
    failed: tuple[str, ...] = ()  # what is certainly wrong: a regression, a lost or skipped test, a weakened one
    flags: tuple[Flag, ...] = ()
    unclear: str = ""  # why it could not be verified
    suites: float = 0.0  # the cost, in runs of the whole suite
    seconds: float = 0.0

    @property
    def asks(self) -> tuple[Flag, ...]:
        """The flags that a person is asked about before the branch lands."""
        return tuple(flag for flag in self.flags if flag.level == "ask")


class Change(NamedTuple):
    """What a card is about: everything that one tree has over another."""

    name: str  # as people say it
    base: str  # the commit that it starts from
    before: str  # the trees
    after: str
    commits: tuple[Commit, ...]  # none where it is not committed
    declared: str  # what it says of itself: refactor, docs, chore; empty: nothing
    paths: tuple[str, ...]


class Checked(NamedTuple):
    """A change, its card, and how it was looked at."""

    change: Change
    card: Card
    command: str
    sandbox: str
    suite_seconds: float = 0.0  # what the suite takes once
    kept: bool = False  # found before, for the same two trees

    @property
    def answer(self) -> Answer:
        """One word. What fails outweighs what cannot be told, and that what a person should look at."""
        card = self.card
        return "failed" if card.failed else "could-not-verify" if card.unclear else "flagged" if card.asks else "clean"
