"""`detent check`: judges any change, by anyone, without a run. The same judgement as when a branch lands.

Settings and the test command come from the base commit; what the change itself configures has no say.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.app.check_install import installed_for, with_lock_notes
from detent.app.check_parts import agreed, card_from_root, in_no_project, joined
from detent.app.check_projects import Affected, Installs, affected
from detent.app.check_span import What, change_of, each_of
from detent.app.commit_settings import committed_settings, main_at, reader_at
from detent.app.gate_steps import steps_are_known
from detent.app.judges import judges_now, written_meanwhile
from detent.app.preflight import default_preflight
from detent.app.preload import preload
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.evidence.changes.install_lines import in_clean_checkouts, install_hint_at
from detent.evidence.looks.branch_look import BranchSpan
from detent.evidence.looks.own_gates import GatedTree, on_card
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.evidence.running.collect import Collector
from detent.evidence.running.project_site import Site
from detent.evidence.running.suite import Suite
from detent.gates.judge import weighed_card
from detent.git import fingerprint
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.git.snapshot import stamp
from detent.kernel.model import CHECK, Flag, commands_of, gates_at
from detent.kernel.redact import keys_of
from detent.sandbox.sandbox_protocol import always
from detent.world.furnish import lay_copies, named_in
from detent.world.whole_branch import CardPlace, card_file, known_card, new_card

Say = Callable[[str], None]
Wanted = Callable[[], bool]
SECONDS = 60.0  # time for probes, by default
SHORTEST_KEY = 32  # characters of DETENT_CHECK_SECRET


class Wish(NamedTuple):
    """The options of `detent check`."""

    what: What = "range"
    text: str = ""  # the range, as typed
    seconds: float = 0.0  # for the probes; 0: as the settings of the base say
    declared: str = ""
    fresh: bool = False  # ignore cached cards
    jobs: int = 0  # 0: one per core
    install: str = ""  # a command that installs dependencies, run in a clean checkout of the base and of the change


class Inquiry(NamedTuple):
    """One change to judge, with everything needed for it."""

    git: Git
    change: Change
    wish: Wish
    settings: Settings  # of the commit that the change starts from
    env: Mapping[str, str]
    say: Say
    wanted: Wanted


def check(start: Path, wish: Wish, env: Mapping[str, str], say: Say, wanted: Wanted = always) -> Checked:
    """Judge one change as a whole. `wanted` turns false when the caller no longer waits."""
    git = find_repository(start, env)
    change = change_of(git, wish.what, wish.text, main_at(git, env), wish.declared)
    return _checked(Inquiry(git, change, wish, committed_settings(git, change.base, env), env, say, wanted))


def check_each(
    start: Path, wish: Wish, env: Mapping[str, str], say: Say, wanted: Wanted = always, done: Callable[[Checked], None] = lambda one: None
) -> list[Checked]:
    """Judge a range commit by commit. `done` is called with each result at once."""
    if wish.what != "range":
        raise DetentError("--each goes through commits, and nothing of this is committed", "leave --each out, or name a range")
    git = find_repository(start, env)
    changes = each_of(git, change_of(git, "range", wish.text, main_at(git, env), wish.declared), wish.declared)
    says = [_named(say, f"commit {n} of {len(changes)}") for n in range(1, len(changes) + 1)]
    asked = [
        Inquiry(git, change, wish, committed_settings(git, change.base, env), env, say_change, wanted)
        for change, say_change in zip(changes, says, strict=True)
    ]
    found = []
    for each in asked:
        found.append(_checked(each))
        done(found[-1])
    return found


def _named(say: Say, name: str) -> Say:
    return lambda words: say(f"{name}: {words}")


def find_repository(start: Path, env: Mapping[str, str]) -> Git:
    """The repository that a folder is in, after its fingerprint was checked."""
    place = find_place(start)
    fingerprint.check(place)
    return Git(place, env)


def _checked(asked: Inquiry) -> Checked:
    """Judge each project that the change touches with its own tests, and merge the results."""
    git, change, wish, settings, env = asked.git, asked.change, asked.wish, asked.settings, asked.env
    steps_are_known(settings)
    try:
        installs, had = installed_for(git, change, settings, wish.install, env, asked.say, asked.wanted) if wish.install else ({}, "")
        asked.say("1 of 5: looking for the tests")
        projects = affected(git, change, settings, env, installs)
    except (CannotTell, GitError, OSError) as e:
        return Checked(change, Card(change.before, change.after, unclear=str(e)), "", "none", installed=wish.install)
    tested = max(sum(each.suite.base is not None for each in projects), 1)
    seconds = (wish.seconds or float(settings.evidence.seconds or SECONDS)) / tested
    says = [_named(asked.say, each.folder or "outside of projects") if len(projects) > 1 else asked.say for each in projects]
    found = [_of_project(asked._replace(say=say), each, seconds) for each, say in zip(projects, says, strict=True)]
    found = _gated(asked, projects, found, installs)
    cards = agreed([in_no_project(each.card) if project.is_rest else each.card for each, project in zip(found, projects, strict=True)])
    cards = [
        with_lock_notes(declared_card(card, change.declared), each.paths, bool(had)) for card, each in zip(cards, projects, strict=True)
    ]
    found = [each._replace(card=weighed_card(card, settings.flat())) for each, card in zip(found, cards, strict=True)]
    return _whole(change, found)._replace(installed=f"{wish.install} ({had})" if had else "")


def _gated(asked: Inquiry, projects: list[Affected], found: list[Checked], installs: Installs) -> list[Checked]:
    """The results with those of the project's own gates, run over the whole change and put on the card of the root or of the first project."""
    if not (gates := gates_at(asked.settings.gate, CHECK)) or not projects:
        return found
    asked.say(f"running the gates of this project: {', '.join(gate.name for gate in gates)}")
    at = next((n for n, each in enumerate(projects) if not each.folder), 0)
    root, change = asked.git.place.root, asked.change
    collector = _collector(asked, projects[at].suite, Site(root, root, installed=installs))
    card = on_card(found[at].card, GatedTree(gates, collector, change.after, change.before, asked.wanted), CHECK)
    return [each._replace(card=card) if n == at else each for n, each in enumerate(found)]


def _collector(asked: Inquiry, suite: Suite, site: Site) -> Collector:
    """A Collector for `check`: runs the project's programs in clean checkouts."""
    furnish = partial(lay_copies, asked.git, asked.git.place.root, asked.settings.workspace.copy)
    collector = Collector(asked.git, suite, "check", asked.env, furnish=furnish, site=site)
    collector.store /= "check"  # apart from the store of runs, which only runs may write
    return collector


def _whole(change: Change, found: list[Checked]) -> Checked:
    """The results of all projects as one."""
    if len(found) == 1 and not found[0].project:
        return found[0]
    card = joined(change.before, change.after, (each.card for each in found))
    commands = ", ".join(f"{each.command} in {each.project}" if each.project else each.command for each in found if each.command)
    return Checked(change, card, commands, found[0].sandbox, all(each.kept for each in found), parts=tuple(found))


def _of_project(asked: Inquiry, project: Affected, seconds: float) -> Checked:
    """Judge one project; paths in the result are seen from the root."""
    suite, trees = project.suite, (project.before, project.after)
    card, known = _looked(asked, project, seconds)
    names = frozenset(path for tree in trees for path in asked.git.run("ls-tree", "-r", "-z", "--name-only", tree).items)
    card = card_from_root(card, project.folder, names, suite.base is not None and bool(suite.base.runner))
    change = asked.change._replace(paths=project.paths)
    return Checked(change, card, suite.base.text if suite.base else "", suite.sandbox_text, known, project.folder, runs=suite.base)


def _looked(asked: Inquiry, project: Affected, seconds: float) -> tuple[Card, bool]:
    """The card of a project, and whether it came from the cache."""
    root, copies = asked.git.place.root, asked.settings.workspace.copy
    collector = _collector(asked, project.suite, project.site)
    collector.began = project.before
    span = _span(asked, collector, project, seconds)
    try:
        also = "\n".join(f"{path} {stamp(path)}" for name in copies for path in named_in(root, name))
        at = kept_by(card_file(span, also), asked.env)
        if not asked.wish.fresh and (known := known_card(at)) is not None:
            return known, True
        preload()  # load all code that judging may need before the first test can write to it
        before = judges_now(collector)
        card = new_card(span, asked.env, at, lambda: _toolchain(written_meanwhile(before, judges_now(collector))))
    except (CannotTell, GitError, OSError) as e:  # the disk is full, or objects are missing: cannot tell
        return Card(span.base, span.tip, unclear=str(e)), False
    hint = "" if "--install" in card.unclear else in_clean_checkouts(install_hint_at(collector, project.before, card.unclear))
    return msgspec.structs.replace(card, unclear="\n".join(filter(None, (card.unclear, hint)))), False


def _toolchain(sentence: str) -> str:
    return f"{sentence} (toolchain)" if sentence else ""


def _span(asked: Inquiry, collector: Collector, project: Affected, seconds: float) -> BranchSpan:
    """The BranchSpan to judge for one project."""
    commands = asked.settings.preflight.commands
    found = default_preflight(reader_at(asked.git, project.before), collector.home, asked.env.get("PATH", os.defpath))
    return BranchSpan(
        project.before,
        project.after,
        collector,
        asked.settings.flat(),
        asked.wanted,
        seconds=seconds,
        jobs=asked.wish.jobs or os.cpu_count() or 1,
        say=asked.say,
        commit=asked.change.base if project.before == asked.change.before else project.before,
        preflight=(*(commands if commands is not None else found), *commands_of(asked.settings.gate)),
        keys=keys_of(asked.env),
    )


def kept_by(file: Path, env: Mapping[str, str]) -> CardPlace:
    """Where a card is cached, and the key of its seal: on this machine, or in the cache folder that CI machines pass on.

    That folder may be writable by others, so without DETENT_CHECK_SECRET only cards that this machine sealed are believed.
    """
    folder, key = env.get("DETENT_CHECK_CACHE", ""), env.get("DETENT_CHECK_SECRET", "")
    if key and len(key) < SHORTEST_KEY:
        raise DetentError(
            f"DETENT_CHECK_SECRET has {len(key)} characters, and at least {SHORTEST_KEY} are needed", "make one: openssl rand -hex 32"
        )
    return CardPlace(Path(folder) / file.name, key) if folder else CardPlace(file)


# -- declared changes ------------------------------------------------------------------------------------------------------------


def declared_card(card: Card, declared: str) -> Card:
    """The card of a change that declares its kind: it needs no fail-to-pass test, but every change that no test notices becomes a question."""
    if not declared or "docs" in declared.split("+"):
        return card  # documents need no tests; code that comes with them is judged as usual
    asked = tuple(_asked(flag) for flag in card.flags if flag.kind != "no-proof")
    return msgspec.structs.replace(card, flags=asked)


def _asked(flag: Flag) -> Flag:
    return msgspec.structs.replace(flag, level="ask") if flag.kind == "unnoticed" and flag.level == "note" else flag
