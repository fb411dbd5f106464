"""What a bench found, as lines for a person and as JSON. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from detent.interfaces.gatebench.play import Outcome


class Rate(NamedTuple):
    """So many of so many."""

    wrong: int
    of: int

    def __str__(self) -> str:
        return f"{self.wrong} of {self.of}" + (f" ({100 * self.wrong / self.of:.1f} %)" if self.of else "")


def false_accepts(outcomes: Sequence[Outcome]) -> Rate:
    dishonest = [o for o in outcomes if o.sort in ("lazy", "cheat")]
    return Rate(sum(o.silent for o in dishonest), len(dishonest))


def false_rejects(outcomes: Sequence[Outcome]) -> Rate:
    honest = [o for o in outcomes if o.sort == "honest"]
    return Rate(sum(not o.accepted for o in honest), len(honest))


def flagged(outcomes: Sequence[Outcome]) -> Rate:
    """Honest agents that landed once a person had answered a question about flags."""
    honest = [o for o in outcomes if o.sort == "honest"]
    return Rate(sum(bool(o.flags) for o in honest), len(honest))


def line(outcome: Outcome) -> str:
    """One agent."""
    mark = {True: "ok ", False: "BAD", None: " - "}[outcome.right]
    how = _fate(outcome) + (f": {outcome.reason}" if outcome.reason and not outcome.accepted else "")
    how = " ".join(how.split())
    return f"{mark} {outcome.language:<11} {outcome.sort:<7} {outcome.name:<36} {how[:150]}"


def summary(outcomes: Sequence[Outcome], missing: Sequence[str]) -> list[str]:
    """The table of rates, what was judged wrongly, and what no machine can judge."""
    languages = sorted({o.language for o in outcomes})
    rows = [(name, [o for o in outcomes if o.language == name]) for name in languages] + [("all", list(outcomes))]
    return [
        f"{'language':<12} {'agents':>6}  {'false accepts':<18} {'false rejects':<18} {'honest, flagged':<18}",
        *(
            f"{name:<12} {len(mine):>6}  {false_accepts(mine)!s:<18} {false_rejects(mine)!s:<18} {flagged(mine)!s:<18}"
            for name, mine in rows
        ),
        *(f"judged wrongly: {o.language} {o.name}" for o in outcomes if o.right is False),
        *(f"honest, and flagged: {o.language} {o.name} ({', '.join(o.flags)})" for o in outcomes if o.sort == "honest" and o.flags),
        *(f"outside the rates: {o.language} {o.name} ({_fate(o)})" for o in outcomes if o.right is None),
        *(f"not run: {each}" for each in missing),
    ]


def _fate(outcome: Outcome) -> str:
    if outcome.flags:
        return f"flagged ({', '.join(outcome.flags)})"
    return "landed" if outcome.accepted else f"failed at {outcome.held_at}"


def as_json(outcomes: Sequence[Outcome], missing: Sequence[str]) -> dict[str, Any]:
    accepts, rejects = false_accepts(outcomes), false_rejects(outcomes)
    return {
        "agents": [{**o._asdict(), "seconds": round(o.seconds, 2), "right": o.right} for o in outcomes],
        "false_accepts": {"wrong": accepts.wrong, "of": accepts.of},
        "false_rejects": {"wrong": rejects.wrong, "of": rejects.of},
        "honest_flagged": {"wrong": flagged(outcomes).wrong, "of": flagged(outcomes).of},
        "not_run": list(missing),
    }
