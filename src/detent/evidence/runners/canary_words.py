"""The words of a canary: made anew for each run, so that nobody can guess them, and found again to take them out of what is shown."""

import secrets

from detent.evidence.runners.adapter import Canary, Nest

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = 6


def word() -> str:
    """A word that nobody can guess and that looks like one of a person's."""
    return "".join(secrets.choice(CONSONANTS) + secrets.choice(VOWELS) for _ in range(SYLLABLES))


def words_in(nest: Nest) -> tuple[str, ...]:
    """Every word that only this file has."""
    return nest.word, nest.passes, nest.fails, nest.says


def words_of(canary: Canary) -> tuple[str, ...]:
    """Every word that only the canary has."""
    return tuple(w for nest in canary.nests for w in words_in(nest))
