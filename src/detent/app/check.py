"""`check`: what any change is worth, by anyone, without a run and without notes. The same look as where a branch lands.

Settings and the test command come from the commit that the change starts from. What it brings is judged, never asked.
"""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

import detent
from detent.app.check_span import What, change_of, each_of
from detent.app.preflight import default_preflight
from detent.app.preload import preload
from detent.app.suite_at import any_suite_at, read_at, settings_at
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.evidence.branch_look import Span, look_over
from detent.evidence.card import Card, Change, Checked
from detent.evidence.collect import Collector
from detent.evidence.suite import Suite
from detent.evidence.toolchain import listing, stamps
from detent.gates.judge import weighed_card
from detent.git import fingerprint
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.kernel.flags import KINDS
from detent.kernel.model import Flag
from detent.kernel.redact import keys_of, redactor, secrets_of
from detent.kernel.seal import keep, kept

Say = Callable[[str], None]
SECONDS = 60.0  # for the probes, unless more or less is asked for


class Wish(NamedTuple):
    """What a person wants checked, and how."""

    what: What = "range"
    text: str = ""  # the range
    seconds: float = 0.0  # for the probes; 0: as the settings of the base say
    declared: str = ""
    fresh: bool = False  # nothing that was found before is believed
    jobs: int = 0  # 0: one a core
    wanted: Callable[[], bool] = lambda: True  # whoever asked still waits


def check(start: Path, wish: Wish, env: Mapping[str, str], say: Say) -> Checked:
    """Judge one change as a whole."""
    git = opened(start, env)
    return _checked(git, change_of(git, wish.what, wish.text, _main(git, env), wish.declared), wish, env, say)


def check_each(start: Path, wish: Wish, env: Mapping[str, str], say: Say) -> list[Checked]:
    """Judge a range commit by commit."""
    if wish.what != "range":
        raise DetentError("--each goes through commits, and nothing of this is committed", "leave --each out, or name a range")
    git = opened(start, env)
    found = []
    changes = each_of(git, change_of(git, "range", wish.text, _main(git, env), wish.declared))
    for n, change in enumerate(changes, 1):
        found.append(_checked(git, change, wish, env, lambda words, n=n: say(f"commit {n} of {len(changes)}: {words}")))  # type: ignore[misc]
    return found


def opened(start: Path, env: Mapping[str, str]) -> Git:
    """The repository that a folder is in; whatever judging may need is loaded before the first test runs."""
    preload()
    place = find_place(start)
    fingerprint.check(place)
    return Git(place, env)


def _main(git: Git, env: Mapping[str, str]) -> str:
    return settings_at(git, "HEAD", env).git.main


def _checked(git: Git, change: Change, wish: Wish, env: Mapping[str, str], say: Say) -> Checked:
    say("looking for the tests")
    try:
        suite, settings = any_suite_at(git, change.base, env, (change.before, change.after))
    except GitError as e:
        return Checked(change, Card(change.before, change.after, unclear=f"the base could not be checked out: {e}"), "", "none")
    card, known, suite_seconds = _looked(git, change, suite, settings, wish, env, say)
    card = weighed_card(declared_card(card, change.declared), settings.flat())
    return Checked(change, card, suite.base.text if suite.base else "", suite.walls, suite_seconds, known)


def _looked(
    git: Git, change: Change, suite: Suite, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say
) -> tuple[Card, bool, float]:
    """The card of the change, whether it was known, and how long the suite takes."""
    collector = Collector(git, suite, "check", env)
    collector.store /= "check"  # the reports of a run stay as its journal knows them
    span = _span(collector, change, settings, wish, env, say)
    try:
        file = _file(span, change)
    except CannotTell as e:
        return Card(change.before, change.after, unclear=str(e)), False, 0.0
    if not wish.fresh and (text := kept(file)) is not None:
        return msgspec.json.decode(text, type=Card), True, 0.0
    before = _judges(collector)
    card = look_over(span)
    redact = redactor(secrets_of(env))
    card = msgspec.structs.replace(
        card,
        flags=tuple(_redacted(flag, redact) for flag in card.flags),
        failed=(*map(redact, card.failed), *_written(before, _judges(collector))),
        unclear=redact(card.unclear),
    )
    if not card.unclear:
        keep(file, msgspec.json.encode(card).decode())
    whole = collector.known(change.after) or collector.known(change.before)
    return card, False, whole.wall if whole else 0.0


def _span(collector: Collector, change: Change, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say) -> Span:
    """What is looked at, and with what."""
    git, flat, commands = collector.git, settings.flat(), settings.preflight.commands
    found = default_preflight(lambda name: read_at(git, change.base, name), git.place.root, env.get("PATH", os.defpath))
    return Span(
        change.before,
        change.after,
        collector,
        flat,
        wish.wanted,
        seconds=wish.seconds or float(flat.get("evidence.seconds") or SECONDS),
        jobs=wish.jobs or os.cpu_count() or 1,
        say=say,
        commit=change.base,
        preflight=tuple(commands) if commands is not None else found,
        keys=keys_of(env),
    )


def _file(span: Span, change: Change) -> Path:
    """Where the card of two trees is kept, under the very same conditions."""
    allowed = sorted(kind for kind in KINDS if span.settings.get(f"flags.{kind}") == "allow")
    trees = f"{span.collector.key(change.before)}\n{span.collector.key(change.after)}"
    text = f"check\n{trees}\n{allowed}\n{span.seconds}\n{span.preflight}\n{detent.__version__}"
    return span.collector.store / f"card-{sha256(text.encode()).hexdigest()[:24]}.json"


def _judges(collector: Collector) -> dict[str, str]:
    """How the installed test runner and Detent itself look."""
    found = listing(collector.suite.base, collector.home, {"PATH": collector.suite.path}, collector.store)
    return stamps(found, Path(detent.__file__).parent)


def _written(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What judges must not have been written while tests ran."""
    other = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    more = f" and {len(other) - 1} more" if len(other) > 1 else ""
    return [f"{other[0]}{more} was written while the tests ran, and it is part of what judges them (toolchain)"] if other else []


def _redacted(flag: Flag, redact: Callable[[str], str]) -> Flag:
    return msgspec.structs.replace(flag, sentence=redact(flag.sentence), before=redact(flag.before), after=redact(flag.after))


# -- what a change says of itself ------------------------------------------------------------------------------------------------


def declared_card(card: Card, declared: str) -> Card:
    """The card of a change that says what it is: no test has to need it then, and everything that it changed has to be noticed."""
    if not declared or "docs" in declared.split("+"):
        return card  # of words nothing is asked; code that comes with them is a change like any other
    asked = tuple(_asked(flag) for flag in card.flags if flag.kind != "no-proof")
    return msgspec.structs.replace(card, flags=asked)


def _asked(flag: Flag) -> Flag:
    return msgspec.structs.replace(flag, level="ask") if flag.kind == "unnoticed" and flag.level == "note" else flag
