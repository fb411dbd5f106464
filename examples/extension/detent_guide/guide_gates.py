"""The gates of `guide`: functions over what they may look at. The name is the gate's name, the docstring is its rule."""

import re

from detent.evidence.look import Look
from detent.kernel.model import Data, Flag, Kind
from detent.kernel.table import GateResult

GUIDE = "guide.md"
NO_EXAMPLE = Kind("ask", "a section of the guide has no example that is run")


def only_the_guide_changed(look: Look[Data]) -> str | None:
    """Nothing but the guide changed."""
    others = sorted(each.path for each in look.changed() if each.path != GUIDE)
    return f"{others[0]} changed; write {GUIDE} and nothing else" if others else None


def guide_is_there(look: Look[Data]) -> str | None:
    """The guide is written, and nothing in it is left to do."""
    text = look.read(GUIDE)
    if not text:
        return f"there is no {GUIDE}; write it"
    return f"{GUIDE} still says TODO" if "TODO" in text else None


def sections_have_examples(look: Look[Data]) -> GateResult:
    """Every section shows an example; one that does not is flagged.

    The look at the whole branch knows the built-in kinds alone: `stays` keeps this one until it is asked about.
    """
    sections = re.split(r"(?m)^## ", look.read(GUIDE) or "")[1:]
    bare = [each.splitlines()[0] for each in sections if ">>> " not in each]
    return tuple(Flag("no-example", f"the section '{title}' has no example", f"{GUIDE}::{title}", stays=True) for title in bare)
