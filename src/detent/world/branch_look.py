"""The look at a whole branch before it lands: outcomes from base to tip, what no test notices, and every flag. Kept by its two trees."""

import os
from hashlib import sha256
from pathlib import Path

import msgspec

from detent.door import AnyRun
from detent.evidence.card import Card, redacted
from detent.evidence.collect import Collector
from detent.gates.judge import weighed_card
from detent.gates.reading import as_named
from detent.gates.tree import asked
from detent.kernel.flags import KINDS
from detent.kernel.model import Sent
from detent.kernel.redact import keys_of, redactor, secrets_of
from detent.kernel.seal import keep, kept
from detent.world.repo import RepoWorld


def look_over(world: RepoWorld, run: AnyRun, tip: str) -> Card:
    """The card of a run's branch, whose tip has this tree. Flags of what was done on the way stay, whatever the trees say."""
    base = world.git.tree(run.data.base) if run.data.base else ""
    if not base or base == tip:
        return Card(base, tip, flags=tuple(flag for flag in run.flags if flag.stays))
    wish = asked(world.look(run, Sent("due"), tip))
    card = _looked(world, run, base, tip, wish)
    card = msgspec.structs.replace(card, flags=tuple(as_named(flag, wish) for flag in card.flags))
    said = {(flag.kind, flag.place): flag for flag in (*card.flags, *(flag for flag in run.flags if flag.stays))}
    return weighed_card(msgspec.structs.replace(card, flags=tuple(said.values())), world.kit_of(run).settings)


def _looked(world: RepoWorld, run: AnyRun, base: str, tip: str, about: str) -> Card:
    from detent.evidence.branch_look import Span, is_probed, look_over  # most submits land nothing

    collector, kit = world.collector(run), world.kit_of(run)
    settings = dict(kit.settings)
    allowed = sorted(kind for kind in KINDS if settings.get(f"flags.{kind}") == "allow")
    file = _file(collector, base, tip, f"{is_probed(settings)} {allowed}\n{kit.preflight}\n{about}")
    if (text := kept(file)) is not None:
        return msgspec.json.decode(text, type=Card)
    seconds = float(settings.get("evidence.seconds") or 60)
    card = look_over(
        Span(
            base,
            tip,
            collector,
            settings,
            world.gear.wanted,
            seconds=seconds,
            jobs=os.cpu_count() or 1,
            run=run,
            commit=run.data.base,
            known=frozenset(run.data.setup.baseline),
            reds=run.data.reds,
            preflight=kit.preflight,
            keys=keys_of(world.outer),
            about=about,
        )
    )
    card = redacted(card, redactor(secrets_of(world.outer)))
    if not card.unclear:
        keep(file, msgspec.json.encode(card).decode())
    return card


def _file(collector: Collector, base: str, tip: str, how: str) -> Path:
    """Where the card of two trees is kept, under the very same conditions."""
    digest = sha256(f"{collector.key(base)}\n{collector.key(tip)}\n{how}".encode()).hexdigest()[:24]
    return collector.store / f"card-{digest}.json"
