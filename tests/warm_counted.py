"""The process of `tests/warm.py` with coverage of the core: each call leaves what it ran in a folder when it ends, once for all calls that ran the same.

It must start before any of the source is loaded, so it is the program that is started, and loads `tests/warm.py` itself.
"""

import atexit
import marshal
import os
import sys
from pathlib import Path

from tests.covered import FOLDER, core_counter


def main() -> None:
    counter = core_counter()
    folder = Path(os.environ[FOLDER])

    def leave_word() -> None:
        seen = {name: counter.all_seen[name] | counter.newly_seen[name] for name in {*counter.all_seen, *counter.newly_seen}}
        same = hash(frozenset((name, frozenset(found)) for name, found in seen.items()))
        place = folder / f"{os.getsid(0)}-{same:x}"
        if not place.exists() and folder.exists():
            part = folder / f"{os.getpid()}.part"
            part.write_bytes(marshal.dumps(seen))
            part.rename(place)

    atexit.register(leave_word)
    from tests.warm import serve_forks

    serve_forks(int(sys.argv[1]))


if __name__ == "__main__":
    main()
