"""The claims of a run of `tdd`: one commit per phase."""

from collections.abc import Mapping

import msgspec

from detent.blocks.proved import AnyEvent, Chain, Proved, claim, step_of
from detent.evidence.outcomes.claims import Phase

PHASES: Mapping[str, Phase] = {
    "planned": "plan",
    "complete": "complete",
    "red": "red",
    "already": "already",
    "green": "green",
    "refactor": "refactor",
}


def claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    phase = PHASES.get(event.on)
    if phase is None or "commit_judged_tree" not in event.owes:
        return []
    step = step_of(event, phase, event.run.data.subject.partition(": ")[2], event.found.tree)
    over = event.run.data.red_over if phase == "red" else ""
    return [claim(event, (msgspec.structs.replace(step, over=over),), "phase")]
