"""Merges the cards of several projects of a repository into one, with every path seen from the root. Pure."""

import re
from collections.abc import Callable, Iterable

import msgspec

from detent.evidence.outcomes.card import Card
from detent.evidence.source.file_patterns import is_outside
from detent.kernel.model import KINDS, Flag

NAMED = re.compile(r"[^\s`'\"(),:;]+")
ELSEWHERE = "; tests of another project need this change"


def card_from_root(card: Card, folder: str, names: frozenset[str], understood: bool) -> Card:
    """The card of the project in `folder`, with every test and place as seen from the root. `names`: the files of the project.

    `understood`: its runner is known, so tests have names; otherwise only an exit code is read and the command stands for the tests.
    """
    if not folder:
        return card

    def test(name: str) -> str:
        return f"{folder}: {name}" if not understood else name if is_outside(name) else f"{folder}/{name}"

    return msgspec.structs.replace(
        card,
        proved=tuple(map(test, card.proved)),
        pins=tuple(map(test, card.pins)),
        out=tuple(map(test, card.out)),
        known=tuple(map(test, card.known)),
        failed=tuple(_with_root_paths(failure, folder, names) for failure in card.failed),
        flags=tuple(_placed(flag, folder, names) for flag in card.flags),
        tried=tuple(
            msgspec.structs.replace(trial, about=tuple(_about(name, test, folder) for name in trial.about)) for trial in card.tried
        ),
        places={_from_root(name, folder): f"{folder}/{place}" for name, place in card.places.items()},
        unclear=f"{folder}: {_with_root_paths(card.unclear, folder, names)}" if card.unclear else "",
    )


def _from_root(place: str, folder: str) -> str:
    return f"{folder}/{place}" if place and not is_outside(place) else place or folder


def _about(name: str, test: Callable[[str], str], folder: str) -> str:
    """The subject of a trial, a test or `KIND PLACE`, as seen from the root."""
    kind, _, place = name.partition(" ")
    return f"{kind} {_from_root(place, folder)}" if kind in KINDS else test(name)


def _placed(flag: Flag, folder: str, names: frozenset[str]) -> Flag:
    return msgspec.structs.replace(flag, place=_from_root(flag.place, folder), sentence=_with_root_paths(flag.sentence, folder, names))


def _with_root_paths(text: str, folder: str, names: frozenset[str]) -> str:
    """A sentence with every file of the project written as a path from the root."""

    def named(found: re.Match[str]) -> str:
        word = found[0]
        file = word.rstrip(".")
        return f"{folder}/{word}" if file in names and ("/" in file or "." in file) else word

    return NAMED.sub(named, text)


def in_no_project(card: Card) -> Card:
    """The card of files outside every project, without notes about missing tests: documents and settings need none."""
    return msgspec.structs.replace(
        card, flags=tuple(f for f in card.flags if f.level != "note" or f.kind not in ("no-proof", "weak-evidence"))
    )


def agreed(cards: list[Card]) -> list[Card]:
    """The cards of one change, where a proof in one project turns missing proof in the others from a question into a note."""
    if not any(card.proved for card in cards):
        return cards
    return [card if card.proved else msgspec.structs.replace(card, flags=tuple(map(_elsewhere, card.flags))) for card in cards]


def _elsewhere(flag: Flag) -> Flag:
    if flag.kind != "no-proof" or flag.level != "ask":
        return flag
    return msgspec.structs.replace(flag, level="note", sentence=flag.sentence + ELSEWHERE)


def joined(base: str, tip: str, cards: Iterable[Card]) -> Card:
    """The cards of all projects as one."""
    of = tuple(cards)
    return Card(
        base,
        tip,
        proved=tuple(name for card in of for name in card.proved),
        pins=tuple(name for card in of for name in card.pins),
        kept=sum(card.kept for card in of),
        out=tuple(name for card in of for name in card.out),
        known=tuple(name for card in of for name in card.known),
        unstable=tuple(name for card in of for name in card.unstable),
        failed=tuple(failure for card in of for failure in card.failed),
        flags=tuple(flag for card in of for flag in card.flags),
        tried=tuple(trial for card in of for trial in card.tried),
        places={name: place for card in of for name, place in card.places.items()},
        unclear="; ".join(card.unclear for card in of if card.unclear),
        suites=sum(card.suites for card in of),
        seconds=round(sum(card.seconds for card in of), 3),
    )
