"""The gate that keeps keys out of what is committed."""

from detent.evidence.look import ChangeLook
from detent.gates.tree import names
from detent.kernel.model import Data


def no_keys_added(look: ChangeLook[Data]) -> str | None:
    """No added line holds a key or another secret, except in files that a person has named: what is committed stays in the history."""
    said = " ".join((*look.run.steers, look.run.guidance))
    wrong = [place for place in look.keys_added() if not names(said, place.partition(":")[0])]
    if not wrong:
        return None
    file, more = wrong[0].partition(":")[0], f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return (
        f"{wrong[0]}{more}; a commit would keep it for good: take it out, and read it from the environment instead. "
        f'If it is none, a person allows it: detent steer "{file} holds no real key"'
    )
