"""Judges a whole branch before it lands, as a card: outcomes from base to tip, what no test notices, and all flags. Cached by both trees.

Also describes what a card is about: the branch's range, its commits, its files.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

import detent.evidence
from detent.door import AnyRun
from detent.errors import DetentError
from detent.evidence.outcomes.card import Card, Change, Checked, redacted
from detent.gates.judge import weighed_card
from detent.gates.tree import as_named, asked
from detent.git.commits import commits_between, main_branch, paths_between, short
from detent.kernel.model import LAND, Flag, Sent, commands_of
from detent.kernel.redact import keys_of, redactor, secrets_of
from detent.storage.state import read_sealed, write_sealed
from detent.world.work_tree import RepoWorld

if TYPE_CHECKING:
    from detent.evidence.looks.branch_look import BranchSpan


def base_of(world: RepoWorld, run: AnyRun) -> str:
    """The base for judging a run's branch: its merge base with main if it will land there, since earlier commits land with it; else the
    run's base."""
    base: str = run.data.base
    ways = world.config_of(run).ways
    if not base or ways.merge == "branch":
        return base
    try:
        main = world.git.resolve(f"{main_branch(world.git, ways.main)}^{{commit}}")
    except DetentError:
        return base
    left = world.git.call("merge-base", main, base)
    return left.text if left.code == 0 else base


def checked_branch(world: RepoWorld, run: AnyRun, tip: str, card: Card) -> Checked:
    """The card of a run's branch, with its range."""
    git, suite = world.git, world.config_of(run).suite
    base = base_of(world, run)
    commits = tuple(commits_between(git, base, tip)) if base else ()
    paths = paths_between(git, card.base, card.tip) if card.base else ()
    change = Change(_name(world, run), base, card.base, card.tip, commits, "", paths)
    return Checked(change, card, suite.base.text if suite.base else "", suite.sandbox_text)


def is_about(world: RepoWorld, run: AnyRun, found: Checked) -> bool:
    """Whether a card is about the run's current pull request, not an earlier one."""
    return found.change.base in (run.data.base, base_of(world, run))


def has_moved_on(world: RepoWorld, run: AnyRun, found: Checked) -> bool:
    """Whether the branch of a card has another tree by now."""
    tree = world.git.tree(run.data.branch or "HEAD") if is_about(world, run, found) else ""
    return tree not in ("", found.card.tip)


def _name(world: RepoWorld, run: AnyRun) -> str:
    """The range in words, `main…branch`; for work on main itself, or without a main, with the base commit."""
    branch = run.data.branch or world.git.branch()
    try:
        main = main_branch(world.git, world.config_of(run).ways.main)
    except DetentError:
        main = branch
    return f"{short(main) if branch != main else run.data.base[:12]}…{short(branch) or 'HEAD'}"


JUDGING = Path(detent.evidence.__file__).parent


def look_over(world: RepoWorld, run: AnyRun, tip: str) -> Card:
    """The card of a run's branch, whose tip has this tree. Keeps flags of the run that stay whatever the trees show."""
    commit = base_of(world, run)
    base = world.git.tree(commit) if commit else ""
    if not base or base == tip:
        return Card(base, tip, flags=tuple(flag for flag in run.flags if flag.stays))
    wish = asked(world.look(run, Sent("due"), tip))
    card = _gated(world, run, _looked(world, run, commit, tip, wish))
    card = msgspec.structs.replace(card, flags=tuple(_as_asked(run, as_named(flag, wish)) for flag in card.flags))
    flags = {(flag.kind, flag.place): flag for flag in (*card.flags, *(flag for flag in run.flags if flag.stays))}
    return weighed_card(msgspec.structs.replace(card, flags=tuple(flags.values())), world.config_of(run).settings)


def _as_asked(run: AnyRun, flag: Flag) -> Flag:
    """A flag of the branch as a question, if a step asked the same about the same place: a look at more code does not lower it."""
    asked = any((each.kind, each.place, each.level) == (flag.kind, flag.place, "ask") for each in run.flags)
    return msgspec.structs.replace(flag, level="ask") if asked and flag.kind == "unnoticed" else flag


def _looked(world: RepoWorld, run: AnyRun, commit: str, tip: str, about: str) -> Card:
    from detent.evidence.looks.branch_look import BranchSpan  # most submits land nothing

    config = world.config_of(run)
    settings = dict(config.settings)
    span = BranchSpan(
        world.git.tree(commit),
        tip,
        world.collector(run),
        settings,
        world.runs.wanted,
        seconds=float(settings.get("evidence.seconds") or 60),
        jobs=os.cpu_count() or 1,
        run=run,
        commit=commit,
        known=frozenset(run.data.setup.baseline),
        reds=run.data.reds,
        preflight=(*config.preflight, *commands_of(config.gates)),
        keys=keys_of(world.outer),
        request=about,
    )
    at = CardPlace(card_file(span))
    return known_card(at) or new_card(span, world.outer, at)


def _gated(world: RepoWorld, run: AnyRun, card: Card) -> Card:
    """The card with the results of the project's own gates, which are not cached."""
    if not world.config_of(run).gates:
        return card
    from detent.evidence.looks.own_gates import on_card

    return on_card(card, world.gated(run, card.tip, card.base), LAND)


class CardPlace(NamedTuple):
    """The file of a cached card, and the key of its seal if several machines share it."""

    file: Path
    key: str = ""


def known_card(at: CardPlace) -> Card | None:
    """The cached card, or None."""
    text = read_sealed(*at)
    return msgspec.json.decode(text, type=Card) if text is not None else None


def new_card(span: "BranchSpan", outer: Mapping[str, str], at: CardPlace, wrong: Callable[[], str] = str) -> Card:
    """Judge two trees; returns the card, redacted, and caches it. `wrong`: what else failed, called after all tests have run."""
    from detent.evidence.looks.branch_look import look_over

    card, written = look_over(span), wrong()
    card = msgspec.structs.replace(card, failed=(*card.failed, *filter(None, (written,))))
    card = redacted(card, redactor(secrets_of(outer)))
    if not card.unclear and not written:
        write_sealed(at.file, msgspec.json.encode(card).decode(), key=at.key)
    return card


def card_file(span: "BranchSpan", also: str = "") -> Path:
    """The cache file of the card of two trees, named by everything it depends on. `also`: further input."""
    from detent.evidence.looks.branch_look import doubts_of, is_probed

    allowed = sorted(name for name, level in span.settings.items() if name.startswith("flags.") and level == "allow")
    doubts = sorted((flag.place.rpartition(":")[0], flag.before, flag.after) for flag in doubts_of(span))
    how = f"{span.run is None} {doubts} {is_probed(span.settings)} {allowed} {span.seconds}\n{span.preflight}\n{span.request}\n{also}\n{sources_digest(JUDGING)}"
    text = f"{span.collector.key(span.base)}\n{span.collector.key(span.tip)}\n{how}"
    return span.collector.store / f"card-{sha256(text.encode()).hexdigest()[:24]}.json"


@cache
def sources_digest(folder: Path) -> str:
    """The digest of a folder's sources. A card belongs to the exact code that made it; a version number is not enough for installs from a branch."""
    files = (file.relative_to(folder).as_posix().encode() + file.read_bytes() for file in sorted(folder.rglob("*.py")))
    return sha256(b"\0".join(files)).hexdigest()
