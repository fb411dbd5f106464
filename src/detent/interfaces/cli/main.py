"""Where a call begins. Imports as little as the call needs."""

import sys


def main() -> None:
    """Run one command and leave with its exit code."""
    from detent.interfaces.cli.group import run

    sys.exit(run(sys.argv[1:]))
