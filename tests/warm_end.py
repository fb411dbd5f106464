"""How a fork ends that was made to be another program."""

import atexit
import os
import sys
import threading


def leave(code: object) -> None:
    """End as Python does, but for taking all modules apart: that would copy what the fork shares."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code) if isinstance(code, int) else 0 if code is None else 1)
