"""`check`: what any change is worth, by anyone, without a run and without notes. The same look as where a branch lands.

Settings and the test command come from the commit that the change starts from. What it brings is judged, never asked.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from detent.app.check_span import Change, What, change_of, each_of
from detent.app.judges import judges_now, written_meanwhile
from detent.app.preflight import default_preflight
from detent.app.preload import preload
from detent.app.suite_at import any_suite_at, main_at, read_at
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.evidence.branch_look import Span
from detent.evidence.card import Card
from detent.evidence.collect import Collector
from detent.evidence.runners import Command
from detent.evidence.suite import Suite
from detent.gates.judge import weighed_card
from detent.git import fingerprint
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.kernel.model import Flag
from detent.kernel.redact import keys_of
from detent.world.branch_look import HERE, Shelf, known_card, new_card

Answer = Literal["clean", "flagged", "failed", "could-not-verify"]
Say = Callable[[str], None]
SECONDS = 60.0  # for the probes, unless more or less is asked for
SHORTEST_KEY = 32  # characters of a key that machines share


class Wish(NamedTuple):
    """What a person wants checked, and how."""

    what: What = "range"
    text: str = ""  # the range
    seconds: float = 0.0  # for the probes; 0: as the settings of the base say
    declared: str = ""
    fresh: bool = False  # nothing that was found before is believed
    jobs: int = 0  # 0: one a core


class Checked(NamedTuple):
    """What came of it."""

    change: Change
    card: Card
    command: str
    sandbox: str
    kept: bool = False  # found before, for the same two trees
    runs: Command | None = None  # how the tests were run

    @property
    def answer(self) -> Answer:
        """One word. What fails outweighs what cannot be told, and that what a person should look at."""
        card = self.card
        return "failed" if card.failed else "could-not-verify" if card.unclear else "flagged" if card.asks else "clean"


def check(start: Path, wish: Wish, env: Mapping[str, str], say: Say) -> Checked:
    """Judge one change as a whole."""
    git = opened(start, env)
    return _checked(git, change_of(git, wish.what, wish.text, main_at(git, env), wish.declared), wish, env, say)


def check_each(start: Path, wish: Wish, env: Mapping[str, str], say: Say) -> list[Checked]:
    """Judge a range commit by commit."""
    if wish.what != "range":
        raise DetentError("--each goes through commits, and nothing of this is committed", "leave --each out, or name a range")
    git = opened(start, env)
    found = []
    changes = each_of(git, change_of(git, "range", wish.text, main_at(git, env), wish.declared), wish.declared)
    for n, change in enumerate(changes, 1):
        found.append(_checked(git, change, wish, env, lambda words, n=n: say(f"commit {n} of {len(changes)}: {words}")))  # type: ignore[misc]
    return found


def opened(start: Path, env: Mapping[str, str]) -> Git:
    """The repository that a folder is in."""
    place = find_place(start)
    fingerprint.check(place)
    return Git(place, env)


def _checked(git: Git, change: Change, wish: Wish, env: Mapping[str, str], say: Say) -> Checked:
    say("1 of 5: looking for the tests")
    try:
        suite, settings = any_suite_at(git, change.base, env, (change.before, change.after))
    except GitError as e:
        return Checked(change, Card(change.before, change.after, unclear=f"the base could not be checked out: {e}"), "", "none")
    because = getattr(suite.sandbox, "because", "")
    sandbox = suite.sandbox.name + (f" ({because})" if because else "")
    card, known = _looked(_span(git, change, suite, settings, wish, env, say), wish, env)
    card = weighed_card(declared_card(card, change.declared), settings.flat())
    return Checked(change, card, suite.base.text if suite.base else "", sandbox, known, suite.base)


def _looked(span: Span, wish: Wish, env: Mapping[str, str]) -> tuple[Card, bool]:
    """The card of the change, and whether it was known."""
    try:
        shelf = shelf_of(env)
        if not wish.fresh and (known := known_card(span, shelf)) is not None:
            return known, True
        preload()  # whatever judging may need is loaded before the first test runs
        before = judges_now(span.collector)
        return new_card(span, env, lambda: written_meanwhile(before, judges_now(span.collector)), shelf), False
    except CannotTell as e:
        return Card(span.base, span.tip, unclear=str(e)), False


def _span(git: Git, change: Change, suite: Suite, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say) -> Span:
    """What is looked at, and with what."""
    flat, commands = settings.flat(), settings.preflight.commands
    found = default_preflight(lambda name: read_at(git, change.base, name), git.place.root, env.get("PATH", os.defpath))
    collector = Collector(git, suite, "check", env)
    collector.store /= "check"  # beside what runs keep, which only they may write
    collector.began = change.before
    return Span(
        change.before,
        change.after,
        collector,
        flat,
        lambda: True,
        seconds=wish.seconds or float(flat.get("evidence.seconds") or SECONDS),
        jobs=wish.jobs or os.cpu_count() or 1,
        say=say,
        commit=change.base,
        preflight=tuple(commands) if commands is not None else found,
        keys=keys_of(env),
    )


def shelf_of(env: Mapping[str, str]) -> Shelf:
    """Where cards are kept: here, or in a folder that machines of CI carry from one to the next.

    Who can write that folder can put anything there. Without a key that these machines share, only what this very machine sealed is believed.
    """
    folder, key = env.get("DETENT_CHECK_CACHE", ""), env.get("DETENT_CHECK_SECRET", "")
    if key and len(key) < SHORTEST_KEY:
        raise DetentError(
            f"DETENT_CHECK_SECRET has {len(key)} characters, and at least {SHORTEST_KEY} are needed", "make one: openssl rand -hex 32"
        )
    return Shelf(Path(folder), key) if folder else HERE


# -- what a change says of itself ------------------------------------------------------------------------------------------------


def declared_card(card: Card, declared: str) -> Card:
    """The card of a change that says what it is: no test has to need it then, and everything that it changed has to be noticed."""
    if not declared or "docs" in declared.split("+"):
        return card  # of words nothing is asked; code that comes with them is a change like any other
    asked = tuple(_asked(flag) for flag in card.flags if flag.kind != "no-proof")
    return msgspec.structs.replace(card, flags=asked)


def _asked(flag: Flag) -> Flag:
    return msgspec.structs.replace(flag, level="ask") if flag.kind == "unnoticed" and flag.level == "note" else flag
