"""How a fork exits that became another program."""

import atexit
import os
import sys
import threading


def leave(code: object) -> None:
    """Exit like Python, but without tearing down modules, which would copy the memory that the fork shares."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code) if isinstance(code, int) else 0 if code is None else 1)
