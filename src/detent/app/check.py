"""`check`: what any change is worth, by anyone, without a run and without notes. The same look as where a branch lands.

Settings and the test command come from the commit that the change starts from. What it brings is judged, never asked.
"""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

import detent
from detent.app.check_parts import agreed, below, in_no_project, joined
from detent.app.check_projects import Affected, affected
from detent.app.check_span import Change, What, change_of, each_of
from detent.app.preflight import default_preflight
from detent.app.preload import preload
from detent.app.suite_at import read_at, settings_at
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.evidence.branch_look import Span, look_over
from detent.evidence.card import Card
from detent.evidence.collect import Collector
from detent.evidence.toolchain import listing, stamps
from detent.gates.judge import weighed_card
from detent.git import fingerprint
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.kernel.flags import KINDS
from detent.kernel.model import Flag
from detent.kernel.redact import keys_of, redactor, secrets_of
from detent.kernel.seal import keep, kept

Answer = Literal["clean", "flagged", "failed", "could-not-verify"]
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


class Checked(NamedTuple):
    """What came of it."""

    change: Change
    card: Card
    command: str
    sandbox: str
    suite_seconds: float = 0.0  # what the suite takes once
    kept: bool = False  # found before, for the same two trees
    project: str = ""  # the folder that it is about; empty: the repository, or what of it is in no project
    parts: tuple["Checked", ...] = ()  # one for each project, where they are not one

    @property
    def answer(self) -> Answer:
        """One word. What fails outweighs what cannot be told, and that what a person should look at."""
        card = self.card
        return "failed" if card.failed else "could-not-verify" if card.unclear else "flagged" if card.asks else "clean"


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
    """Every project that the change touches, each with its own tests, and one answer."""
    say("looking for the tests")
    settings = settings_at(git, change.base, env)
    try:
        projects = affected(git, change, settings, env, {})
    except GitError as e:
        return Checked(change, Card(change.before, change.after, unclear=f"the change could not be checked out: {e}"), "", "none")
    tested = max(sum(each.suite.base is not None for each in projects), 1)
    wish = wish._replace(seconds=(wish.seconds or float(settings.evidence.seconds or SECONDS)) / tested)
    found = [_of_project(git, change, each, settings, wish, env, _named(say, each, len(projects))) for each in projects]
    cards = agreed([in_no_project(each.card) if project.is_rest else each.card for each, project in zip(found, projects, strict=True)])
    found = [
        each._replace(card=weighed_card(declared_card(card, change.declared), settings.flat()))
        for each, card in zip(found, cards, strict=True)
    ]
    if len(found) == 1 and not found[0].project:
        return found[0]
    card = joined(change.before, change.after, (each.card for each in found))
    commands = ", ".join(f"{each.command} in {each.project}" if each.project else each.command for each in found if each.command)
    seconds, known = sum(each.suite_seconds for each in found), all(each.kept for each in found)
    return Checked(change, card, commands, found[0].sandbox, seconds, known, parts=tuple(found))


def _named(say: Say, project: Affected, count: int) -> Say:
    return (lambda words: say(f"{project.folder or 'outside of projects'}: {words}")) if count > 1 else say


def _of_project(git: Git, change: Change, project: Affected, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say) -> Checked:
    """What came of one project, with paths as seen from the root."""
    suite, trees = project.suite, (project.before, project.after)
    because = getattr(suite.sandbox, "because", "")
    sandbox = suite.sandbox.name + (f" ({because})" if because else "")
    card, known, suite_seconds = _looked(git, change, project, settings, wish, env, say)
    names = frozenset(path for tree in trees for path in git.run("ls-tree", "-r", "-z", "--name-only", tree).items)
    card = below(card, project.folder, names, suite.base is not None and bool(suite.base.runner))
    return Checked(
        change._replace(paths=project.paths), card, suite.base.text if suite.base else "", sandbox, suite_seconds, known, project.folder
    )


def _looked(
    git: Git, change: Change, project: Affected, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say
) -> tuple[Card, bool, float]:
    """The card of a project, whether it was known, and how long the suite takes."""
    collector = Collector(git, project.suite, "check", env, site=project.site)
    span = _span(collector, change, project, settings, wish, env, say)
    try:
        file = _file(span)
    except CannotTell as e:
        return Card(span.base, span.tip, unclear=str(e)), False, 0.0
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
    whole = collector.known(span.tip) or collector.known(span.base)
    return card, False, whole.wall if whole else 0.0


def _span(
    collector: Collector, change: Change, project: Affected, settings: Settings, wish: Wish, env: Mapping[str, str], say: Say
) -> Span:
    """What is looked at, and with what."""
    git, flat, commands = collector.git, settings.flat(), settings.preflight.commands
    found = default_preflight(lambda name: read_at(git, project.before, name), collector.home, env.get("PATH", os.defpath))
    return Span(
        project.before,
        project.after,
        collector,
        flat,
        lambda: True,
        seconds=wish.seconds,
        jobs=wish.jobs or os.cpu_count() or 1,
        say=say,
        commit=change.base if project.before == change.before else project.before,
        preflight=tuple(commands) if commands is not None else found,
        keys=keys_of(env),
    )


def _file(span: Span) -> Path:
    """Where the card of two trees is kept, under the very same conditions."""
    allowed = sorted(kind for kind in KINDS if span.settings.get(f"flags.{kind}") == "allow")
    trees = f"{span.collector.key(span.base)}\n{span.collector.key(span.tip)}"
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
