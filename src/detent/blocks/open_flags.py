"""Open flags as a question: asked once when a branch lands, and bound to its tree. Its moves, rows, changes and texts.

Shared by all tables. Knows no git and no look; the job that lands a branch reports what was found.
"""

from collections.abc import Mapping

import msgspec

from detent.blocks.common import because, caused_by
from detent.kernel.model import Flag, Found, Run, Sent
from detent.kernel.table import BACK, STAY, Go, Move, Row, T, by_human, by_system, go

replace = msgspec.structs.replace

QUESTION = "FLAGS"  # the decision's id
CAUSE = "flags"
ACCEPT, FIX, END = "accept", "fix", "abort"
EVENTS = {ACCEPT: "accept-flags", FIX: "fix-flags", END: "abort"}  # answer -> event
MOST_LINES, MOST_SHOWN = 12, 10  # lines of a hunk; flags in a short list

BY_MACHINE: Mapping[str, Move] = {
    "flagged": by_system("a person has to look at the flags first"),
    "flags-accepted": by_system("the independent reviewer accepts the flags"),
}
ACCEPTED: Mapping[str, Move] = {"accept-flags": by_human("answer", f"detent answer {QUESTION} {ACCEPT} [--note TEXT]")}
FIXED: Mapping[str, Move] = {"fix-flags": by_human("answer", f"detent answer {QUESTION} {FIX} --note TEXT")}


# -- changes -----------------------------------------------------------------------------------------------------------------


def keep_flagged(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    """Replace the flags of single steps by those found on the whole branch, except flags that stay."""
    open_now = tuple(flag for flag in run.flags if flag.stays or flag in found.flagged)
    asked = tuple(flag for flag in open_now if flag.level == "ask")
    return replace(run, flags=open_now, asked=sent.facts.get("tree", ""), last_error=sent.output, last_reason=question_of(asked))


def keep_accepted(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    """Record the acceptance, for the tree that was asked about and no other."""
    return replace(run, accepted=sent.facts.get("tree", "") or run.asked, asked="", cause="", last_error="", last_reason="")


def keep_to_fix(run: Run[T], sent: Sent, found: Found) -> Run[T]:
    """Put the person's words and the flags they are about into the next briefing."""
    words = f"A person looked at the flags of this branch and wants them fixed. {sent.note}".strip()
    return replace(run, asked="", cause="", last_error="", last_reason="", guidance=f"{words}\n\n{list_flags(asking(run))}")


# -- rows --------------------------------------------------------------------------------------------------------------------


def flagged_at(state: str) -> tuple[Row[T], ...]:
    """What a look before landing can find instead: flags for a person, or flags that the reviewer has accepted for them."""
    halt: Go[T] = go("HALTED", because(CAUSE), keep_flagged, says="HALTED")
    return (Row(state, "flagged", (), (), halt), Row(state, "flags-accepted", (), (), go(STAY, keep_accepted)))


def answered() -> tuple[Row[T], ...]:
    """The row for a person who accepts: the run returns to landing."""
    return (Row("HALTED", "accept-flags", (caused_by(CAUSE),), (), go(BACK, keep_accepted)),)


def fixed_in(state: str) -> tuple[Row[T], ...]:
    """The row for a person who wants the flags fixed: the run returns to work."""
    return (Row("HALTED", "fix-flags", (caused_by(CAUSE),), (), go(state, keep_to_fix)),)


def event_of(run: Run[T], sent: Sent, takes: tuple[str, ...] = (ACCEPT, FIX, END)) -> str:
    """The event that an answer to this question causes; empty if it is not one."""
    fits = run.cause == CAUSE and sent.decision.upper() == QUESTION and sent.value in takes
    return EVENTS[sent.value] if fits else ""


# -- texts -------------------------------------------------------------------------------------------------------------------


def asking(run: Run[T]) -> tuple[Flag, ...]:
    """The flags that a person is asked about."""
    return tuple(flag for flag in run.flags if flag.level == "ask")


def line_of(flag: Flag) -> str:
    """A flag in one line."""
    return "  ".join(filter(None, (flag.kind, flag.place, " ".join(flag.sentence.split()))))


def hunk_of(flag: Flag, most: int = MOST_LINES) -> tuple[str, ...]:
    """Both versions, as lines of a diff."""
    return (*_side("-", flag.before, most), *_side("+", flag.after, most))


def _side(sign: str, text: str, most: int) -> tuple[str, ...]:
    lines = text.rstrip("\n").splitlines() if text.strip() else []
    rest = (f"{sign} [{len(lines) - most} more lines]",) if len(lines) > most else ()
    return (*(f"{sign} {line}" for line in lines[:most]), *rest)


def list_flags(flags: tuple[Flag, ...], most: int = MOST_LINES) -> str:
    """Flags as markdown, each with both versions."""
    parts = []
    for flag in flags:
        hunk = hunk_of(flag, most)
        parts.append("\n".join([f"- {line_of(flag)}", *(["", "  ~~~~diff", *(f"  {line}" for line in hunk), "  ~~~~"] if hunk else [])]))
    return "\n".join(parts)


def question_of(flags: tuple[Flag, ...]) -> str:
    """The question in a sentence."""
    kinds = ", ".join(dict.fromkeys(flag.kind for flag in flags))
    some = "1 flag" if len(flags) == 1 else f"{len(flags)} flags"
    return f"The branch is ready to land and has {some} to look at: {kinds}. Do you accept {'it' if len(flags) == 1 else 'them'}?"


def for_reviewer(flags: tuple[Flag, ...]) -> str:
    """What a reviewer reads about flags: all of them, with both versions."""
    return f"## Flags of this branch\n\nSay in your review whether each of them is acceptable.\n\n{list_flags(flags)}" if flags else ""


def list_remarks(remarks: tuple[str, ...]) -> str:
    """What people said that let the run go on, for whoever reviews the branch; empty if nobody said anything."""
    lines = "\n".join(f"- {line}" for line in remarks)
    return f"## Said by people on the way\n\nIf you did not say one of these, do not land this branch.\n\n{lines}\n" if remarks else ""


def remarks_as_trailers(remarks: tuple[str, ...]) -> str:
    """The same as trailers of a merge's message."""
    return "\n".join(f"Said-By-People: {line}" for line in remarks)


def briefing_flags(run: Run[T], actor: str, role: str) -> str:
    """A briefing's part about open flags: with hunks for a person who is asked and for a reviewer, a short list for other agents."""
    if actor == "human" and run.cause == CAUSE:
        before = f"\n{list_remarks(run.said)}" if run.said else ""
        return f"\n\n## Flags to look at\n\n{list_flags(asking(run), 60)}\n\n{WHAT_IT_MEANS}\n{before}"
    if actor != "agent" or not run.flags:
        return ""
    if role.lower() == "reviewer":
        return f"\n\n{for_reviewer(run.flags)}\n"
    short = "\n".join(f"- {line_of(flag)}" for flag in run.flags[:MOST_SHOWN])
    more = f"\n- and {len(run.flags) - MOST_SHOWN} more" if len(run.flags) > MOST_SHOWN else ""
    left = LEFT if asking(run) else NOTED
    return f"\n\n## Open flags of this branch\n\nFix them now if you did not mean them. {left}\n\n{short}{more}\n"


LEFT = "A person is asked about any that are left before the branch lands."
NOTED = "They are notes: recorded, but they do not keep the branch from landing."
WHAT_IT_MEANS = "What each kind means and how to get rid of it: docs/flags.md. The answer is recorded and applies to this tree only."
