"""What reading a change shows: flags that need no test to be run. Where a person named the file, or the package, it is told and not asked."""

import msgspec

from detent.evidence.look import ChangeLook
from detent.gates.tree import asked, names
from detent.kernel.model import Data, Flag
from detent.kernel.rows import Said

CAN_BE_NAMED = frozenset({"judged-by", "secrets", "binaries", "big-files", "executable-bits", "new-dependencies", "ci-permissions"})


def reading_is_flagged(look: ChangeLook[Data]) -> Said:
    """What one would see by reading the change is flagged: code that knows the tests, stand-ins, secrets, binaries, new dependencies and the like."""
    found = look.read_through()
    said = asked(look) if any(flag.kind in CAN_BE_NAMED for flag in found) else ""
    return tuple(as_named(flag, said) for flag in found)


def as_named(flag: Flag, said: str) -> Flag:
    """A flag about something that a person asked for is a note."""
    if flag.kind not in CAN_BE_NAMED or flag.level != "ask":
        return flag
    path, _, rest = flag.place.partition(":")
    wanted = names(said, path) or (flag.kind == "new-dependencies" and bool(rest.strip()) and names(said.lower(), rest.strip().lower()))
    return msgspec.structs.replace(flag, level="note") if wanted else flag
