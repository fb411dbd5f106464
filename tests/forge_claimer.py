"""One machine in a race: waits for a file, claims an issue of a forge, and reports whether it got it."""

import sys
import time
from pathlib import Path

from tests.trackers import at_forge

kind, folder, url, token, who, start, *ids = sys.argv[1:]
tracker = at_forge(kind, Path(folder), url, token)
print("ready", flush=True)
while not Path(start).exists():
    time.sleep(0.001)
print(" ".join(id for id in ids if tracker.claim(id, who)), flush=True)
