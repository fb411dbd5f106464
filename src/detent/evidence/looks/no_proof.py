"""Branches without a proof: code changed that no test needs, or no code changed at all although the work asked for some."""

import re

from detent.evidence.changes.projects import is_beside
from detent.evidence.look import ChangeLook
from detent.kernel.model import Data, Flag

ONLY_WORDS = re.compile(
    r"(?i)^\s*(?:docs?|chore|style|ci|build|tests?|refactor|revert)(?:\([^)]*\))?!?:"
    r"|\b(?:readme|documentation|documents?|docs|docstrings?|changelog|comments?|typos?|wording|spelling|licen[cs]e)\b"
    r"|^\W*(?:add|write|extend|improve|more|update|pin)\s+(?:\w+\s+){0,2}(?:tests?|coverage|CI|workflow|pipeline)\b"
)  # work that needs no code change


def no_proof(look: ChangeLook[Data], proved: frozenset[str], about: str, unloaded: str = "", idle: str = "") -> list[Flag]:
    """The flag for a branch that no test needs. `about`: what people asked for; if unknown, a change without code is only a note. `unloaded`: a
    test file that does not load without the change. `idle`: a changed test file of which no test ran."""
    if proved:
        return []
    substance = look.substance()
    if changed := [c for c in substance if not is_beside(c.path)]:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        sentence = f"code changed ({changed[0].path}{more}), but no test fails without this change and passes with it"
        sentence += (
            f"; {unloaded} does not load without it, which proves nothing by itself"
            if unloaded
            else f"; no test of {idle} ran"
            if idle
            else ""
        )
        return [Flag("no-proof", sentence, changed[0].path)]
    paths = [c.path for c in look.changed()]
    if not paths:
        return []
    sentence = f"no code {'of the product ' if substance else ''}changed, but no test fails without this change and passes with it"
    if not about.strip() or ONLY_WORDS.search(about.strip().splitlines()[0]):
        return [Flag("no-proof", sentence, paths[0], level="note")]
    return [Flag("no-proof", f"{sentence}; the work is about: {' '.join(about.split())[:80]}", paths[0])]
