"""Bounds the size of MCP answers: several clients cut a result at about 48 KB, and its end names the next call. Values only."""

from typing import TYPE_CHECKING

import msgspec

from detent.interfaces.mcp.tools import Looked
from detent.kernel.model import Briefing, Flag, Verdict

if TYPE_CHECKING:
    from detent.evidence.outcomes.card import Checked


LARGEST_TEXT = 16_000  # characters of one text; a briefing contains its error twice
MOST = {"proved": 20, "pins": 10, "known_failures": 10, "failed": 10, "flags": 10}  # entries of each list of a card
LONGEST = 300  # characters of a name or a sentence
LONGEST_HUNK = 1_000  # characters of each version in a flag
INSTRUCTIONS = {
    "clean": "Nothing is left to fix here.",
    "flagged": "Fix what you did not mean, and add the tests that are missing; a person is asked about what is left.",
    "failed": "Fix what `failed` says; a person would turn it down.",
    "could-not-verify": "Read `unclear`; nothing is proved and nothing is wrong yet. If you cannot change that, tell the user.",
}


def cut_answer(value: Briefing | Verdict | Looked) -> Briefing | Verdict | Looked:
    """The answer with long texts cut in the middle, so that no client cuts off the end, which names the next call."""
    if isinstance(value, Looked):
        return value  # made with bounds
    if isinstance(value, Verdict):
        return msgspec.structs.replace(value, output=cut(value.output))
    error = cut(value.last_error) if value.last_error is not None else None
    return msgspec.structs.replace(value, briefing=cut(value.briefing), last_error=error)


def cut(text: str, largest: int = LARGEST_TEXT) -> str:
    if len(text) <= largest:
        return text
    half = largest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out; error.log has them]\n{text[-half:]}"


def looked(found: "Checked", beside: str) -> Looked:
    """The card of a change, with long lists cut and counted. `beside`: what else ran meanwhile."""
    change, card = found.change, found.card
    names = {"proved": card.proved, "pins": card.pins, "known_failures": card.known, "failed": card.failed}
    flags = (*card.asks, *(flag for flag in card.flags if flag.level != "ask"))
    lists = {name: tuple(_short(each, LONGEST) for each in all_of[: MOST[name]]) for name, all_of in names.items()}
    more = {name: len(all_of) - MOST[name] for name, all_of in {**names, "flags": flags}.items() if len(all_of) > MOST[name]}
    return Looked(
        answer=found.answer,
        instruction=INSTRUCTIONS[found.answer],
        range=_short(change.name, LONGEST),
        base=change.base,
        commits=len(change.commits),
        files=len(change.paths),
        declared=change.declared,
        **lists,
        kept=card.kept,
        flags=tuple(_bounded_flag(flag) for flag in flags[: MOST["flags"]]),
        unclear=_short(card.unclear, 2_000),
        left_out=", ".join(f"{count} of {name}" for name, count in more.items()),
        beside=beside,
        command=_short(found.command, LONGEST),
        sandbox=_short(found.sandbox, LONGEST),
        test_runs=card.suites,
        seconds=round(card.seconds, 1),
        known_before=found.kept,
    )


def _bounded_flag(flag: Flag) -> Flag:
    return msgspec.structs.replace(
        flag,
        sentence=_short(flag.sentence, LONGEST),
        place=_short(flag.place, LONGEST),
        before=_short(flag.before, LONGEST_HUNK),
        after=_short(flag.after, LONGEST_HUNK),
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
