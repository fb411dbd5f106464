"""How busy this machine is with other things: the seconds that a probe is given are those of an idle machine.

Without it a verdict would depend on what else is running: on a machine with ten other programs a probe would give up after a tenth of its tries.
"""

import os
from collections.abc import Callable

MOST = 10.0  # times the seconds, however busy: somebody waits


def _load() -> float:
    """Programs that want a core, for each core there is: over the last minute, our own among them."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # this system does not say
        return 1.0


def patient(seconds: float, load: Callable[[], float] = _load) -> float:
    """As many seconds as it takes here, now, to do what an idle machine does in these."""
    return seconds * min(MOST, max(1.0, load()))
